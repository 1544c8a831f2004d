#!/bin/sh
# hello_test.sh - runs the example on one process and on two: same words.
#
#     hello_test.sh EVENTSPACE HELLO HELLO.DOT
set -eu
eventspace=$1
hello=$2
mapping=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

for processes in 1 2; do
    last=$((processes - 1))
    "$eventspace" map generate --application "$mapping" --processes $processes |
        "$eventspace" map instrument - -o "$folder/map.dot"
    "$eventspace" run "$folder/map.dot" --output "$folder/run$processes" \
        -- "$hello" >"$folder/out"
    for i in 1 2 3; do
        echo "h$last| $i: hello from alice on h0"
    done >"$folder/wanted"
    diff "$folder/wanted" "$folder/out"
done

# Three writes and three reads pass the collector of their thread, and the
# writes another one behind the network.
"$eventspace" info "$folder/run2" --format json >"$folder/info"
grep -q '"events_recorded":9,' "$folder/info" || {
    echo "not 9 events in:"
    cat "$folder/info"
    exit 1
}
"$eventspace" report "$folder/run2" -o "$folder/report.html"
test -s "$folder/report.html"
