#!/bin/sh
# hello_test.sh - runs the example on one host and on two: same words.
#
#     hello_test.sh EVENTSPACE HELLO HELLO.DOT
set -eu
eventspace=$1
hello=$2
mapping=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

for hosts in 1 2; do
    last=$((hosts - 1))
    "$eventspace" map generate --application "$mapping" --hosts $hosts |
        "$eventspace" map instrument - -o "$folder/map.dot"
    "$eventspace" run "$folder/map.dot" --out "$folder/run$hosts" -- "$hello" \
        >"$folder/out"
    for i in 1 2 3; do
        echo "h$last| $i: hello from alice on h0"
    done >"$folder/wanted"
    diff "$folder/wanted" "$folder/out"
done

# Each of six operations leaves the collector of its thread a tuple, and those
# of alice two more: behind the proxy, on either side of the network.
"$eventspace" info "$folder/run2" --format json >"$folder/info"
grep -Eq '"made": *9\b' "$folder/info" || {
    echo "not 9 events in:"
    cat "$folder/info"
    exit 1
}
"$eventspace" report "$folder/run2" -o "$folder/report.html"
test -s "$folder/report.html"
