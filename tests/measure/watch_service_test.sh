#!/bin/sh
# watch_service_test.sh - the unit file is one for systemd: each line of it is
# known, and the command that it starts is one that can be run.
#
#     watch_service_test.sh EVENTSPACE UNIT
set -eu
eventspace=$1
unit=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# The program as it will be installed is not there yet.
sed "s|^ExecStart=[^ ]*|ExecStart=$eventspace|" "$unit" \
    >"$folder/eventspace-watch.service"
systemd-analyze verify --man=no "$folder/eventspace-watch.service" \
    >"$folder/says" 2>&1 || { cat "$folder/says"; exit 1; }
# Of this unit it has nothing to say; of others it may have.
if grep eventspace-watch "$folder/says"; then exit 1; fi

# Its command, with a folder of ours.
line=$(sed -n 's/^ExecStart=//p' "$folder/eventspace-watch.service" |
    sed "s|--output=[^ ]*|--output=$folder/histories|; s|\$EVENTSPACE_WATCH|--samples=1 --interval=50ms --machine=n0|")
# shellcheck disable=SC2086 # as systemd parts it
$line
grep -c '^1' "$folder/histories/availability.n0.history"
