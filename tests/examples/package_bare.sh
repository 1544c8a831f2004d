#!/bin/sh
# package_bare.sh - the Debian packages in a bare Debian: they can be installed,
# the demo runs, and a program can be built. Needs root and the network.
#
#     package_bare.sh SOURCE BUILD CPACK MIRROR
#
# The system is made by debootstrap, below BUILD, and removed afterwards.
set -eu
source=$1
build=$2
cpack=$3
mirror=$4
root=$(mktemp -d -p "$build" bare.XXXXXX)
chmod 755 "$root" # apt downloads as somebody else

clean() {
    ! mountpoint -q "$root/proc" || umount -l "$root/proc"
    rm -rf --one-file-system "$root"
}
trap clean EXIT
trap 'exit 1' HUP INT TERM

debootstrap --variant=minbase bookworm "$root" "$mirror"
mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
mkdir "$root/es/"
"$cpack" -G DEB --config "$build/CPackConfig.cmake" -B "$root/es/packages"
mkdir "$root/es/tests"
cp -r "$source/tests/examples" "$root/es/tests"
cp -r "$source/examples" "$root/es"

# inside COMMAND...: in the bare system, as if from the start of a day.
inside() {
    chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
        DEBIAN_FRONTEND=noninteractive "$@"
}
inside apt-get update
inside sh -c 'apt-get install -y --no-install-recommends \
    /es/packages/eventspace_*.deb'
if inside dpkg-query -W libgraphviz-dev gcc 2>/dev/null; then
    echo "package_bare.sh: eventspace brings packages for development"
    exit 1
fi
inside sh /es/tests/examples/package_demo.sh /usr

# Now what only those need who write programs.
inside sh -c 'apt-get install -y --no-install-recommends \
    gcc pkg-config cmake make /es/packages/libeventspace-dev_*.deb'
# shellcheck disable=SC2016 # it is for the inner shell
inside sh -c 'cc -o /es/hello /es/examples/hello/hello.c \
    $(pkg-config --cflags --libs eventspace)'
inside sh /es/tests/examples/hello_test.sh /usr/bin/eventspace /es/hello \
    /es/examples/hello/hello.dot
inside cmake -S /es/examples/hello -B /es/build
inside cmake --build /es/build
inside sh /es/tests/examples/hello_test.sh /usr/bin/eventspace /es/build/hello \
    /es/examples/hello/hello.dot
