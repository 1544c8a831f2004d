#!/bin/sh
# package_demo.sh - what a user does first with an installed EventSpace.
#
#     package_demo.sh PREFIX
#
# The wind tunnel is run on two processes and looked at in all ways there are,
# below a temporary folder. Needs nothing but what the package depends on.
set -eu
prefix=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
PATH=$prefix/bin:$prefix/libexec/eventspace:$PATH

windtunnel mapping --threads 4 --width 128 --height 64 >application.dot
eventspace map generate --application application.dot --processes 2 -o plain.dot
eventspace map instrument plain.dot --collectors all -o map.dot
eventspace run map.dot --output RUN -- windtunnel run --steps 200 >said
eventspace info RUN >info.txt
eventspace view RUN steps >steps.txt
eventspace view RUN communication >threads.txt
eventspace report RUN -o report.html
eventspace map draw map.dot -o map.svg

wanted() { # PATTERN FILE
    grep -q -- "$1" "$2" && return
    echo "package_demo.sh: no \"$1\" in $2:"
    head -n 50 "$2"
    exit 1
}
wanted '^h0 *finished' info.txt
wanted '^h1 *finished' info.txt
wanted ' 0 lost' info.txt
wanted '^ *200  *4 ' steps.txt
wanted '^ *3  *t3 ' threads.txt
wanted '</html>' report.html
wanted '</svg>' map.svg
wanted '>t3<' map.svg
test -s RUN/flow.png
echo "package_demo.sh: it works"
