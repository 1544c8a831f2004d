#!/bin/sh
# seeds.sh COUNT FIRST PROGRAM [ARGUMENT ...] - runs a stress program once for
# each seed from FIRST on: the seed chooses what its threads do
# (EVENTSPACE_STRESS_SEED), and, in a build with EVENTSPACE_SCHEDULE, where they
# are delayed.
#
# A program that does not end within two minutes has failed. Prints what a
# failing seed has printed, and how to run it again; and at the end one JSON
# object. Exits with 1 when one has failed.
count=$1
first=$2
shift 2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed=
seed=$first
while [ "$seed" -lt $((first + count)) ]; do
    if ! EVENTSPACE_STRESS_SEED=$seed EVENTSPACE_SCHEDULE=$seed \
        timeout -k 5 120 "$@" >"$log" 2>&1; then
        failed="$failed${failed:+, }$seed"
        tail -n 60 "$log"
        echo "again: EVENTSPACE_STRESS_SEED=$seed EVENTSPACE_SCHEDULE=$seed $*"
    fi
    seed=$((seed + 1))
done
echo "{\"stress\": \"${1##*/}\", \"first\": $first, \"seeds\": $count," \
    "\"failed\": [$failed]}"
[ -z "$failed" ]
