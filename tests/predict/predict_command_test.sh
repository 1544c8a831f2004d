#!/bin/sh
# eventspace predict from outside: predict_command_test.sh EVENTSPACE PRINT
# What it prints, in all formats, and how it refuses. The numbers are those of
# paper 001 (tests/predict/table1.h).
set -u
eventspace=$1
print=$2
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
failed=0

# expect NAME EXIT_CODE PART -- ARGUMENTS: what it prints has PART in it.
expect() {
    name=$1 code=$2 part=$3
    shift 4
    "$eventspace" predict "$@" >"$folder/out" 2>"$folder/err"
    got=$?
    if [ "$got" -ne "$code" ]; then
        echo "$name: exit code $got, not $code"
        failed=1
    fi
    if ! cat "$folder/out" "$folder/err" | grep -q -e "$part"; then
        echo "$name: does not say '$part':"
        cat "$folder/out" "$folder/err"
        failed=1
    fi
}

cg=$folder/cg.profile
"$print" --profile CG "$cg" || exit 1

expect "nothing changed" 0 '^best  dedicated  .*25.6 ' -- "$cg"
expect "the dedicated time" 0 '^dedicated: 25.600 s' -- "$cg"
expect "the papers' law" 0 \
    '^best,node by phases,"000, 2.1; 001, 3.2",credit,.*,1.4545' -- \
    "$cg" --node n0:load=1 --law credit --format csv
expect "eevdf is the default" 0 '^best,node by phases,.*,eevdf:2.8ms,' -- \
    "$cg" --node n0:load=1 -f csv
expect "the papers' law is told too" 0 'node by totals.*credit.*1.454' -- \
    "$cg" --node n0:load=1
expect "a link" 0 'bytes of messages  *n0-n1  *15.948 ' -- \
    "$cg" --link n1-n0:bandwidth=10mbit
expect "bounds" 0 '3.008' -- "$cg" '--node=*:load=1' --law credit
expect "both" 0 'node and link' -- \
    "$cg" --node n0:load=1 --link '*:bandwidth=10mbit'
expect "JSON has terms" 0 '"what": *"competing processes"' -- \
    "$cg" --node n0:load=1 --format json
expect "CSV has terms" 0 '^competing processes,n0,11.6' -- \
    "$cg" --node n0:load=1 --law credit --table=terms --format csv
expect "terms alone" 0 '^why ' -- "$cg" --node n0:load=1 --table=terms
expect "answers alone" 0 '^ *model ' -- "$cg" --node n0:load=1 --table=answers
expect "no such table" 2 "'nodes' is not one of answers, terms, histories" -- \
    "$cg" --table=nodes
expect "another link when profiled" 0 'link' -- \
    "$cg" --profiled-link '*:latency=1ms,bandwidth=1mbit' \
    --link n0-n1:bandwidth=10mbit
expect "the same of all links" 0 'link' -- \
    "$cg" --profiled-link latency=1ms,bandwidth=1mbit,busy=0.3 \
    --link n0-n1:bandwidth=10mbit
expect "standard input" 0 'dedicated: 25.600' -- - <"$cg"

# Measured beside others, of whom there is no end.
others=$folder/others.profile
busy() {
    for _ in $(seq "$(nproc)"); do
        (while :; do :; done) &
        busy_pids="$busy_pids $!"
    done
}
busy_pids=
busy
# shellcheck disable=SC2016 # it is for the inner shell
"$eventspace" profile --no-packets -o "$others" -- \
    sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done' \
    >"$folder/out" 2>"$folder/err" || failed=1
# shellcheck disable=SC2086
kill $busy_pids
if ! grep -q 'other programs had [1-9][0-9]* % of the processors' "$folder/err"
then
    echo "a profile beside others does not say so:"
    cat "$folder/err"
    failed=1
fi
expect "a profile beside others" 0 \
    'others.profile: other programs had [1-9][0-9]* % of' -- "$others"

expect "no profile" 2 'the profile is missing' --
expect "no such file" 1 "none.profile" -- "$folder/none.profile"
echo no >"$folder/other"
expect "not a profile" 1 "$folder/other" -- "$folder/other"
expect "no such node" 1 'no node "n7"' -- "$cg" --node n7:load=1
expect "no such link" 1 'no link "n0-n7"' -- "$cg" --link n0-n7:bandwidth=1mbit
expect "negative bandwidth" 2 '"-10mbit"' -- \
    "$cg" --link n0-n1:bandwidth=-10mbit
expect "negative load" 2 '"-1"' -- "$cg" --node n0:load=-1
expect "an older node" 2 'write it as n0:load=1,law=credit' -- \
    "$cg" --node n0=load:1,law:credit
expect "an older link" 2 'write it as n0-n1:bandwidth=10mbit,latency=400us' -- \
    "$cg" --link n0-n1=10mbit,400us
expect "an older word" 2 '--wire is called --profiled-link now' -- \
    "$cg" --wire '*=10mbit,400us'
expect "a rate without a unit" 2 '"10" is not a rate' -- \
    "$cg" --link n0-n1:bandwidth=10
expect "a time without a unit" 2 '"10" is not a duration' -- \
    "$cg" --profiled-link latency=10
expect "a link without a name" 2 'write it as n0-n1:latency=' -- \
    "$cg" --link latency=10us
expect "no such law" 2 '"best" is not a law' -- "$cg" --law best
expect "no such format" 2 'xml' -- "$cg" --format xml

# Words of before, of the commands that make profiles and compare with them.
# was COMMAND OLD NEW: an option that has another name.
was() {
    "$eventspace" "$1" "--$2=1" >"$folder/out" 2>"$folder/err"
    got=$?
    if [ $got -ne 2 ] || ! grep -q -e "--$2 is called --$3 now" "$folder/err"
    then
        echo "$1 --$2: exit code $got, not 2, or not called --$3:"
        cat "$folder/err"
        failed=1
    fi
}
was profile out output
was profile wire profiled-link
was profile busy profiled-link=busy=SHARE
was experiment quiet base-rate

# wrong COMMAND OPTION PART: wrong usage, and what it says.
wrong() {
    "$eventspace" "$1" "$2" -- true >"$folder/out" 2>"$folder/err"
    got=$?
    if [ $got -ne 2 ] || ! grep -q -e "$3" "$folder/err"; then
        echo "$1 $2: exit code $got, not 2, or not '$3':"
        cat "$folder/err"
        failed=1
    fi
}
wrong profile --interval=20 "'20' has no unit; write 20ms or 20s"
wrong profile --profiled-link=400us,70mbit \
    'write it as latency=400us,bandwidth=70mbit'
wrong experiment --base-rate=100 "'100' has no unit; write 100mbit or 100gbit"
wrong experiment --scenario=n0=load:1 'write it as n0:load=1'
wrong experiment '--scenario=*:latency=1ms' 'anything else of a link'
wrong experiment --pin=3-1 "is not a number from 3"

# Histories: a share that never changes is a load.
# history SERIES UNIT VALUE...: samples, again and again, up to 2026-01-01 00:00
history() {
    series=$1 unit=$2
    shift 2
    printf '# eventspace history 1\n# series: %s\n# unit: %s\n' "$series" "$unit"
    printf '# time in ms,value,lasts ms,count,deviation,least,most\n'
    printf '# interval: 5000 ms\n'
    echo "$@" | awk '{ for (i = 0; i < 720; i++)
        printf "%.0f,%s\n", 1767225600000 - (720 - i) * 5000, $(i % NF + 1) }'
}
mkdir "$folder/half"
history "availability of n0" share 0.5 >"$folder/half/availability.n0.history"
with() {
    expect "$@" --with "$folder/half" --at '2026-01-01 00:00:00'
}
# same NAME ARGUMENTS -- ARGUMENTS: both print the same answers.
same() {
    name=$1
    shift
    first=
    while [ "$1" != -- ]; do
        first="$first $1"
        shift
    done
    shift
    # shellcheck disable=SC2086 # it is a list
    "$eventspace" predict "$cg" $first --table=answers >"$folder/a" 2>/dev/null
    "$eventspace" predict "$cg" "$@" --table=answers >"$folder/b" 2>/dev/null
    cmp "$folder/a" "$folder/b" || {
        echo "$name: not the same answers"
        failed=1
    }
}
at=--at=1767225600
same "half of a processor" --node=n0:load=1 -- --with "$folder/half" $at
same "another name" --node=n1:load=1 -- --with "$folder/half" $at --on=n1=n0 \
    --on=n0=elsewhere
same "the command line goes before" --node=n0:load=3 -- \
    --with "$folder/half" $at --node=n0:load=3
with "the others are told" 0 'no history of the availability of n1' -- "$cg"
with "a range of nothing" 0 '^time: .* s +- 0 s, by what was measured before 2026-01-01 00:00:00' -- "$cg"
history "availability of n0" share 0.4 0.5 0.6 0.5 0.4 0.6 \
    >"$folder/half/availability.n0.history"
history "bandwidth of n1-n0" B/s 6250000 6000000 >"$folder/half/x.history"
history "latency of n1-n0" s 0.0001 >"$folder/half/y.history"
with "what it comes from" 0 '^availability of n0  *share  *4[0-9.]*  *[0-9][0-9]*  *0.[45]' -- "$cg"
with "a link" 0 '^bandwidth of n1-n0  *B/s .* 4[0-9.]*mbit ' -- "$cg"
with "for who is careful" 0 '; count on [0-9]' -- "$cg" --risk=0.95
with "modes" 0 ' [1-6] modes* ' -- "$cg" --outlook=modes
with "runs before" 0 '^[0-9][0-9]* runs would have ended before, [0-9.]* s apart; the next one by: [a-z]' -- \
    "$cg" --outlook=runs
expect "too few runs before" 0 'room for [0-9]* such runs .* where it takes 20; forecast is taken' -- \
    "$cg" --outlook=runs --with "$folder/half" --at '2025-12-31 23:05:00'
with "histories alone" 0 '^history ' -- "$cg" --table=histories
with "for programs" 0 '^series,unit,piece_s,pieces,value,range,method,added_s' -- \
    "$cg" --table=histories -f csv
expect "before all of it" 1 'nothing was measured before 1970-01-01 00:00:09' -- \
    "$cg" --with "$folder/half" --at=9
expect "long after" 0 'nothing was measured of "availability of n0" in the last' -- \
    "$cg" --with "$folder/half"
expect "no such machine" 1 'no history is of machine z' -- \
    "$cg" --with "$folder/half" '--on=*=z'
expect "no such node" 1 'has no node "n99"' -- \
    "$cg" --with "$folder/half" --on=n99=n0
expect "no folder" 1 "$folder/none" -- "$cg" --with "$folder/none"
expect "no histories" 2 '--risk needs --with' -- "$cg" --risk=upper
expect "no machine" 2 'not NODE=MACHINE' -- "$cg" --with "$folder/half" --on=n0
expect "no time" 2 'is not a time' -- "$cg" --with "$folder/half" --at=noon
expect "no date" 2 'is not a time' -- "$cg" --with "$folder/half" --at=2026-13-01
expect "no probability" 2 'is not mean, upper' -- \
    "$cg" --with "$folder/half" --risk=95

# What nobody knows well has a wide range; of two of one thing the later counts.
mkdir "$folder/one" "$folder/old"
history "availability of n0" share 0.5 | head -n 6 >"$folder/one/a.history"
history "availability of n0" share 0.5 | head -n 300 >"$folder/old/a.history"
expect "one sample is not certain" 0 '^time: .* +- [1-9]' -- \
    "$cg" --with "$folder/one" $at
expect "of two folders the later one" 0 ' 74  ' -- \
    "$cg" --with "$folder/old" --with "$folder/half" $at
expect "and the other way round" 0 ' 74  ' -- \
    "$cg" --with "$folder/half" --with "$folder/old" $at
expect "no such day" 2 'is not a time' -- \
    "$cg" --with "$folder/half" --at='2026-02-31 10:00'
sed 's/unit: share/unit: s/' "$folder/one/a.history" >"$folder/wrong.history"
expect "another unit" 1 'is in "s", not in "share"' -- \
    "$cg" --with "$folder/wrong.history" $at
same "one node before all" --node=n0:load=1 -- --with "$folder/old" $at \
    --on=n0=n0 '--on=*=elsewhere'

# A model of a profile: with all free, the measured time.
# model PART ARGUMENTS: what `eventspace model` says has PART in it.
model() {
    part=$1
    shift
    "$eventspace" model "$@" >"$folder/out" 2>"$folder/err"
    cat "$folder/out" "$folder/err" | grep -q -e "$part" || {
        echo "model $*: does not say '$part':"
        cat "$folder/out" "$folder/err"
        failed=1
    }
}
"$eventspace" model --from-profile "$cg" >"$folder/cg.model" || failed=1
model '^time: 25.6 s +- 0 s' "$folder/cg.model"
model '^compute(n0) / load(n0) ' "$folder/cg.model" --set 'load(n0) = 0.25'
model 'time: [0-9.]* s +- 0[.][0-9]*[1-9]' "$folder/cg.model" --with "$folder/half" $at
model '^bytes(n0-n1) / bandwidth(n0-n1) .*%' "$folder/cg.model" \
    --set 'bandwidth(n0-n1) = 1mbit' --with "$folder/half" $at
model '--at needs --with' "$folder/cg.model" --at=now
model 'the histories change nothing' "$folder/cg.model" --of=rest \
    --with "$folder/half" $at
model '+- 0[.][0-9]*[1-9]' - --with "$folder/half" $at <"$folder/cg.model"
model 'heeds only' --from-profile "$cg" --set=x=1
model 'it is not a profile' --from-profile "$folder/cg.model"

# What the JSON says is JSON, with the numbers of the CSV.
# Terms have the same columns in all formats.
"$eventspace" predict "$cg" --node n0:load=1 --table=terms -f csv |
    head -n 1 | grep -q '^what,where,added_s,added_share' || {
    echo "CSV has other columns of terms"
    failed=1
}
if command -v node >/dev/null; then
    "$eventspace" predict "$cg" '--node=*:load=1' --law credit -f json |
        node -e '
            const a = JSON.parse(require("fs").readFileSync(0, "utf8"));
            const best = a.answers.find(x => x.best);
            const near = (x, y) => Math.abs(x - y) < 1e-6;
            if (a.dedicated_s !== 25.6 || best.model !== "all nodes" ||
                !near(best.lower_slowdown, 1.454) ||
                !near(best.upper_slowdown, 3.008) || !best.terms.length)
                throw new Error(JSON.stringify(a));' || failed=1
    "$eventspace" predict "$cg" --with "$folder/half" $at -f json --risk=upper |
        node -e '
            const a = JSON.parse(require("fs").readFileSync(0, "utf8"));
            const {time_s, range_s, risk_s, at} = a.time;
            if (!(range_s > 0) || at !== "2026-01-01 00:00:00" ||
                Math.abs(time_s + range_s - risk_s) > 1e-4 * risk_s ||
                a.histories.length !== 3)
                throw new Error(JSON.stringify(a));' || failed=1
fi
exit $failed
