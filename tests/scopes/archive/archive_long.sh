#!/bin/sh
# archive_long.sh - a run of gsum with trace elements of 64 KiB and an archive,
# for so many seconds: archived plus lost must be what was made, exactly.
#
#   archive_long.sh EVENTSPACE GSUM [SECONDS [THREADS [PROCESSES]]]
#
# Prints one JSON object; exit code 1 when the counts do not agree. What was
# made is known without any count of a collector: each has one event a round.
set -eu

if [ $# -lt 2 ]; then
    echo "usage: $0 EVENTSPACE GSUM [SECONDS [THREADS [PROCESSES]]]" >&2
    exit 2
fi
eventspace=$1
gsum=$2
seconds=${3:-600}
threads=${4:-8}
processes=${5:-2}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

"$gsum" mapping --threads "$threads" >application.dot
"$eventspace" map generate -a application.dot --processes "$processes" -o plain.dot
"$eventspace" map instrument plain.dot --collectors all \
    --trace-policy discard --trace-size 1820 -o map.dot
collectors=$(grep -c 'kind=collector' map.dot)

# run_gsum ROUNDS: how many milliseconds it took, in `took`.
run_gsum() {
    begin=$(date +%s%3N)
    "$eventspace" run map.dot --output run --replace --archive -- \
        "$gsum" run --rounds "$1" >out.txt 2>err.txt || {
        cat out.txt err.txt >&2
        exit 1
    }
    took=$(($(date +%s%3N) - begin))
}

# How many rounds are so many seconds is not known before.
run_gsum 20000
rounds=$((seconds * 1000 * 20000 / took + 1))
run_gsum "$rounds"

told=$(sed -n 's/^events: .* \([0-9]*\) archived, \([0-9]*\) lost.*/\1 \2/p' \
    err.txt)
archived=${told% *}
lost=${told#* }
recorded=$((rounds * collectors))
bytes=$(cat run/*.archive | wc -c)
exact=false

# Once more, by whoever reads the archives alone.
rm -f run/*.space run/*.drained
read_back=$("$eventspace" info run --format json |
    sed -n '1s/.*"events_present": *\([0-9]*\).*/\1/p')

[ $((archived + lost)) -eq "$recorded" ] && [ "$read_back" = "$archived" ] &&
    exact=true

printf '{"seconds": %d.%03d, "rounds": %d, "collectors": %d, "recorded": %d, ' \
    $((took / 1000)) $((took % 1000)) "$rounds" "$collectors" "$recorded"
printf '"archived": %d, "lost": %d, "archive_bytes": %d, ' \
    "$archived" "$lost" "$bytes"
printf '"read_back": %s, "exact": %s}\n' "${read_back:-null}" "$exact"
[ "$exact" = true ]
