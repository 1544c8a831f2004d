#!/bin/sh
# nodes.sh up COUNT|down - network namespaces esbench-0 ... for the nodes of
# node.sh, with a switch between them in one more. Needs the rights of root.
down() {
    for space in $(ip netns list | sed -n 's/^\(esbench-[a-z0-9]*\).*/\1/p'); do
        ip netns del "$space"
    done
}

down # of somebody who was killed
[ "$1" = up ] || exit 0
set -e
trap 'down' EXIT
# Not ip -n, which has mounts of its own as well: not to be had in a chroot.
within() { # SPACE COMMAND...
    space=$1
    shift
    nsenter --net="/run/netns/$space" "$@"
}
ip netns add esbench-switch
within esbench-switch ip link add name switch up type bridge
for i in $(seq 0 $(($2 - 1))); do
    ip netns add "esbench-$i"
    within "esbench-$i" ip link set lo up
    within "esbench-$i" ip link add eth0 type veth peer name "port$i" \
        netns esbench-switch
    within "esbench-$i" ip addr add "10.77.77.$((i + 1))/24" dev eth0
    within "esbench-$i" ip link set eth0 up
    within esbench-switch ip link set "port$i" master switch up
done
trap - EXIT
