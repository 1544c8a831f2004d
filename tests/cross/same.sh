#!/bin/sh
# same.sh - an application on two processes computes the same as without
# threads, bit for bit, and leaves all of its events.
#
#     same.sh EVENTSPACE APPLICATION [OPTION...]
#
# The options are for what computes without threads.
set -eu
eventspace=$1
application=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

"$application" mapping --threads 4 --size S >application.dot
"$eventspace" map generate --application application.dot --processes 2 \
    -o plain.dot
"$eventspace" map instrument plain.dot --collectors all -o map.dot
"$eventspace" run map.dot --output RUN -- "$application" run >many
"$application" single --size S "$@" >one

# checksum FILE: as it was printed, with or without a process in front.
checksum() {
    sed -n 's/.*checksum  *//p' "$1"
}
if [ -z "$(checksum one)" ] || [ "$(checksum one)" != "$(checksum many)" ]; then
    echo "without threads, and on two processes:"
    cat one many
    exit 1
fi

# Columns 7 to 9: events recorded, present and lost.
"$eventspace" info RUN --format csv >info.csv
awk -F, 'NR > 1 { recorded += $7; present += $8; lost += $9 }
         END { exit !(recorded > 0 && recorded == present && !lost) }' info.csv || {
    echo "not all events are there:"
    cat info.csv
    exit 1
}
