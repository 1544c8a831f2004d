#!/bin/sh
# node.sh NODE COMMAND... - runs a command as if on a machine of its own: in the
# network namespace esbench-N of node `nodeN`, and with that as its host name.
# Open MPI starts the daemons of other nodes by it, as it would by ssh, and its
# launcher is started on the first one in the same way.
node=$1
shift
# shellcheck disable=SC2016 # they are for the inner shell
exec nsenter --net="/run/netns/esbench-${node#node}" unshare --uts \
    sh -c 'hostname "$0" && exec sh -c "$1"' "$node" "$*"
