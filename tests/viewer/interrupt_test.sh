#!/bin/sh
# interrupt_test.sh - what Ctrl-C ends says so in one sentence, and what it has
# done until then is there.
#
#     interrupt_test.sh EVENTSPACE GSUM
#
# As a terminal does, all processes of a command get the signal at once.
set -u
eventspace=$1
gsum=$2
. "$(dirname "$0")/check.sh"
folder=$(mktemp -d)
run=
trap '[ -z "$run" ] || kill $run; wait; rm -rf "$folder"' EXIT
cd "$folder" || exit 1

lines() { # COUNT FILE
    [ "$(wc -l <"$2")" -eq "$1" ] && return 0
    echo "not $1 lines in $2:"
    cat "$2"
    return 1
}

# begin COMMAND...: in a process group of its own, whose number is $group.
begin() {
    rm -f out err
    env --default-signal=INT setsid "$@" >out 2>err &
    group=$!
}

# interrupt: gives the exit code.
interrupt() {
    kill -INT -"$group"
    wait "$group"
}

# until_true COMMAND...: as long as the group lives.
until_true() {
    until "$@" >/dev/null 2>&1; do
        kill -0 "$group" 2>/dev/null || return 1
        sleep 0.05
    done
}

"$gsum" mapping --threads 8 >application.dot
"$eventspace" map generate -a application.dot --processes 4 -o plain.dot
# What goes on all the time waits most of it.
echo 'digraph cluster { h0; h1; h2; h3; h0 -> h1 [latency="2ms", simulate=true];
    h0 -> h2 [latency="2ms", simulate=true];
    h0 -> h3 [latency="2ms", simulate=true]; }' >cluster.dot
"$eventspace" map generate -a application.dot --cluster cluster.dot -o slow.dot
"$eventspace" map instrument slow.dot --collectors all -o map.dot
"$eventspace" run map.dot --output RUN -- "$gsum" run --rounds 1000000000 >run.out \
    2>run.err &
run=$!
until [ "$("$eventspace" info RUN 2>/dev/null | grep -c "^h.*running")" -eq 4 ]; do
    kill -0 $run || exit 1
    sleep 0.05
done

# holds COUNT RUN: events of so many processes.
holds() {
    "$eventspace" info "$2" --format json >has &&
        [ "$(grep -c '^{"process".*"events_present":[1-9]' has)" -ge "$1" ]
}
# gathering COUNT OPTIONS...: a scope that has events of so many processes.
gathering() {
    count=$1
    shift
    rm -rf MIRROR
    begin "$eventspace" scope RUN --output MIRROR "$@"
    until_true holds "$count" MIRROR || { cat err; return 1; }
}
# It has just what the root has counted.
whole() {
    echo "exit code $code"
    cat err out
    [ "$code" -eq 0 ] && lines 1 err && lines 1 out &&
        says "^eventspace: interrupted; MIRROR holds what was gathered" err &&
        says "^events: [1-9][0-9]* recorded, [1-9][0-9]* read" out || return 1
    gathered=$(sed 's/.* \([0-9]*\) read.*/\1/' out)
    "$eventspace" view MIRROR performance >seen 2>&1 || { cat seen; return 1; }
    "$eventspace" info MIRROR --format json >has &&
        says "\"events_present\":$gathered," has
}
scope() { # OPTIONS...: when all of the tree has come up
    gathering 4 "$@" || return 1
    interrupt
    code=$?
    whole
}
check "a scope" scope
check "and one with a deeper tree" scope --fanout 2
# What has not come up by then cannot end well, but is told.
coming_up() {
    gathering 1 --fanout 2 || return 1
    interrupt
    code=$?
    [ $code -eq 0 ] && { whole; return; }
    [ $code -eq 1 ] && lines 1 err &&
        says "^eventspace: interrupted before all events that were read had" err &&
        "$eventspace" view MIRROR performance >/dev/null && holds 1 MIRROR
}
check "one that is still coming up" coming_up
# Its processes have seen the signal and ended before it was let in again.
late() {
    gathering 4 || return 1
    kill -STOP "$group"
    kill -INT -"$group"
    while pgrep -g "$group" -r R,S,D >/dev/null; do
        sleep 0.05
    done
    kill -CONT "$group"
    wait "$group"
    code=$?
    whole
}
check "one that sees the ends of its processes first" late
# As soon as it has files of its own, whatever it does then.
early() {
    mkdir -p tmp
    for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        rm -rf MIRROR
        begin env TMPDIR="$folder/tmp" "$eventspace" scope RUN --output MIRROR
        until set -- tmp/* && [ -e "$1" ]; do
            kill -0 $group || return 1
        done
        interrupt
        code=$?
        echo "try $try: exit code $code, in tmp: $(ls tmp)"
        [ $code -le 1 ] && [ -z "$(ls tmp)" ] && lines 1 err &&
            says "^eventspace: interrupted" err || return 1
    done
}
check "one that has just begun" early
statistics() {
    begin "$eventspace" scope RUN --statistics 200ms
    until_true test -s out || return 1
    interrupt
    code=$?
    [ $code -eq 0 ] && lines 1 err && says "^eventspace: interrupted$" err
}
check "statistics" statistics
archive() {
    begin "$eventspace" archive RUN
    until_true test -s RUN/h0.archive || return 1
    interrupt
    code=$?
    [ $code -eq 0 ] && lines 1 err &&
        says "^events: [0-9]* recorded, [0-9]* archived, [0-9]* lost .*; interrupted$" err
}
check "an archive" archive
kill $run
wait $run 2>/dev/null
run=

one_line() { # what an experiment says
    echo "exit code $code"
    [ "$code" -eq 1 ] && lines 1 err && says "interrupted$" err
}
profiling() {
    begin "$eventspace" experiment plain.dot -- "$gsum" run --rounds 1000000000
    until_true pgrep -g "$group" -x gsum || return 1
    interrupt
    code=$?
    one_line
}
check "an experiment that is profiling" profiling
measuring() {
    begin "$eventspace" experiment plain.dot --runs 10000 --scenario '*:load=1' \
        --profile profile -- "$gsum" run --rounds 100
    until_true test -s profile || return 1
    interrupt
    code=$?
    one_line
}
check "one that is measuring" measuring
left() {
    ! pgrep -g "$group"
}
check "and nothing of it is left" left

# --- a run itself ---

interrupted_run() {
    begin "$eventspace" run map.dot --output RUN2 -- "$gsum" run --rounds 1000000000
    until_true test -s RUN2/h3.meta || return 1
    interrupt
    code=$?
    cat err
    [ $code -eq 130 ] && [ "$(grep -c "killed by signal" err)" -le 2 ]
}
check "a run says it once for all processes" interrupted_run

[ $failures -eq 0 ]
