#!/bin/sh
# watch_command_test.sh - eventspace watch and history: real sensors, a real
# link, kills, other machines by a command, and what is refused.
#
#     watch_command_test.sh EVENTSPACE
set -u
eventspace=$1
here=$(dirname "$0")
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$folder"' EXIT
cd "$folder" || exit 1
. "$here/../viewer/check.sh"

watch() { "$eventspace" watch --machine n0 --interval 50ms "$@"; }
# rows FILE: samples, without remarks
rows() { grep -vc '^#' "$1"; }
no_process() { ! pgrep -f "$1" >/dev/null; }
more_rows() { [ "$(rows "$1")" -gt "$2" ]; }
refused() { # EXIT-CODE PATTERN COMMAND...
    code=$1
    pattern=$2
    shift 2
    "$@" >out 2>&1
    got=$?
    [ "$got" -eq "$code" ] || { echo "exit code $got"; cat out; return 1; }
    says "$pattern" out
}
until_there() { # COMMAND...: within a minute
    tries=0
    until "$@" >/dev/null 2>&1; do
        tries=$((tries + 1))
        [ $tries -lt 1200 ] || return 1
        sleep 0.05
    done
}

# --- one machine ---
watch -o here --samples 5 2>err
check "five samples" test "$(rows here/availability.n0.history)" = 5
check "nothing is said" test ! -s err
within() { awk -F, '!/^#/ && !($2 > 0 && $2 <= 1) { exit 1 }' "$1"; }
check "shares are from 0 to 1" within here/availability.n0.history
watch -o here --samples 2
check "it is gone on with" test "$(rows here/availability.n0.history)" = 7
check "for its owner's own tools, too" says '^# series: availability of n0$' \
    here/availability.n0.history

# --- a link ---
port=$((20000 + $$ % 20000))
"$eventspace" watch --machine n1 -o there --listen "127.0.0.1:$port" &
listener=$!
check "the other one answers" until_there "$eventspace" netbench \
    "127.0.0.1:$port" --duration 50ms
"$eventspace" watch --machine n0 --interval 50ms -o here --link-interval 50ms \
    --measure-link "n1=127.0.0.1:$port" &
watcher=$!
check "the link is sampled" until_there says '^1[0-9]*,[0-9]' \
    here/bandwidth.n0-n1.history
check "it answers once it listens" kill -0 "$listener"

# --- what is refused ---
check "a port that is taken" refused 1 "127.0.0.1:$port" \
    watch -o other --samples 1 --listen "127.0.0.1:$port"
check "no address of a link" refused 2 "nohost" \
    watch -o other --measure-link n1=nohost
into_full() { watch --lines >/dev/full; }
check "an output that takes nothing" refused 1 "standard output" into_full
check "nobody else writes" refused 1 "being written by another process" \
    watch -o here
kill "$watcher"
wait "$watcher"
check "it ends when it is told to" test $? -eq 0
kill "$listener"
check "a name with a slash" refused 1 "cannot be a part of the name of a file" \
    "$eventspace" watch --machine ../n0 -o here
check "a processor that is not there" refused 1 "no processor 4095" \
    watch -o other --processor 4095
check "half of --remote" refused 2 "go together" watch --remote "ssh {machine}"
check "no address" refused 2 "MACHINE=ADDRESS" watch --measure-link n1
check "no such unit" refused 2 "has no unit" watch --interval 5
check "a link that nobody answers" refused 0 "n0-n9: nothing listens" \
    watch -o dead --samples 20 --measure-link n9=127.0.0.1:1
check "and it has no sample" test "$(rows dead/latency.n0-n9.history)" = 0
echo "0.5" >there/availability.n2.history
check "not a history" refused 1 "is no history" "$eventspace" history there
rm there/availability.n2.history

# --- kills ---
before=$(rows here/availability.n0.history)
i=0
while [ $i -lt 20 ]; do
    "$eventspace" watch --machine n0 --interval 50ms -o here &
    victim=$!
    until_there more_rows here/availability.n0.history "$before"
    kill -9 "$victim"
    wait "$victim" 2>/dev/null
    before=$(rows here/availability.n0.history)
    i=$((i + 1))
done
"$eventspace" history here --format csv >table.csv 2>err
check "twenty kills leave whole histories" test ! -s err
check "with all samples" says "^availability of n0,share,$before," table.csv

# --- other machines ---
cat >cluster.dot <<E
digraph { m0; m1; m0 -> m1 [bandwidth="1gbit" latency="50us"] }
E
mkdir bin
ln -s "$eventspace" bin/eventspace
other=$((port + 1))
PATH=$PWD/bin:$PATH "$eventspace" watch --cluster cluster.dot -o all \
    --remote 'env AT={machine}' --interval 50ms --link-interval 50ms \
    --measure-link "m1=127.0.0.1:$other" 2>err &
watcher=$!
for series in availability.m0 availability.m1 latency.m0-m1 bandwidth.m0-m1; do
    check "$series comes over" until_there says '^1[0-9]*,[0-9]' \
        "all/$series.history"
done
# A machine that dies is started again.
before=$(rows all/availability.m1.history)
pkill -9 -f "machine=m1 .*listen=127.0.0.1:$other"
check "a machine comes again" until_there more_rows \
    all/availability.m1.history $((before + 2))
check "and that is told" says "m1: its command has ended" err
kill "$watcher"
wait "$watcher"
check "it ends well" test $? -eq 0
check "and nothing is left" until_there no_process \
    "machine=m[01] .*interval=50ms"
PATH=$PWD/bin:$PATH "$eventspace" watch --cluster cluster.dot -o strange \
    --remote 'printf "1,2,availability of n9\nnonsense\n"; : {machine}' 2>err &
watcher=$!
check "who tells of others is not heard" until_there says \
    'none of the lines of' err
kill "$watcher"
check "and has no file" none strange/*

# Commands that ignore what should end them, and those that fail.
cat >deaf.sh <<E
trap '' TERM
exec >&-
while :; do sleep 1; done
E
"$eventspace" watch --cluster cluster.dot -o deaf \
    --remote "exec sh $folder/deaf.sh {machine}" 2>deaf_err &
watcher=$!
check "who has closed its output is started again" until_there says \
    "m1: its command has ended" deaf_err
kill "$watcher"
wait "$watcher"
check "a deaf command holds nobody up" test $? -eq 0
check "and is gone" until_there no_process "$folder/deaf.sh"
check "what fails is a failure" refused 1 "2 of 2 machines cannot be sampled" \
    "$eventspace" watch --cluster cluster.dot -o fails --samples 2 \
    --remote 'false {machine} #'
check "a clock that is off is told" refused 1 "more than an hour off" \
    "$eventspace" watch --cluster cluster.dot -o future --samples 2 --remote \
    'echo "9223372036854775807,0.5,availability of {machine}"; false'
check "and has no sample" none future/*

# --- forecasts ---
"$eventspace" forecast here/availability.n0.history >forecast.txt
check "a forecast of a history" says "^Next: " forecast.txt
"$eventspace" forecast - <here/availability.n0.history >again.txt
check "the same from standard input" cmp forecast.txt again.txt

[ $failures -eq 0 ]
