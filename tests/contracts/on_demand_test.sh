#!/bin/sh
# on_demand_test.sh BIN - collectors that record while they are asked to, in a program
# that goes on until it is told.
set -eu
PATH=$1:$PATH
folder=$(mktemp -d)
program=
trap '[ -z "$program" ] || kill "$program" || :; rm -rf "$folder"' EXIT
cd "$folder"

fail() {
    echo "on_demand_test.sh: $1" >&2
    exit 1
}
refused() { # CODE MESSAGE ARGUMENT ...
    wanted=$1
    message=$2
    shift 2
    code=0
    eventspace "$@" > said 2>&1 || code=$?
    [ $code -eq "$wanted" ] || fail "$*: code $code, not $wanted"
    grep -q -- "$message" said || fail "$* says $(cat said)"
}
alive() {
    kill -0 "$program" || fail 'the program has ended'
}

cat > app.dot <<'EOF'
digraph app {
    t0 [kind=thread, number=0]; t1 [kind=thread, number=1];
    t2 [kind=thread, number=2];
    total [kind=element, type="u64", policy=discard];
    t0 -> total [use=sum]; t1 -> total [use=sum]; t2 -> total [use=sum];
}
EOF
eventspace map generate --application=app.dot --processes=2 --spread=cyclic \
    --output=plain.dot
eventspace map instrument plain.dot --on-demand=all --trace-policy=block \
    --output=map.dot
eventspace map check map.dot > said || fail "$(cat said)"
[ "$(grep -c 'detail=1' map.dot)" -eq 3 ] || fail 'there are none on demand'
refused 2 'these collectors are there anyway' map instrument plain.dot \
    --collectors=all --on-demand=threads
sed 's/detail=1/detail=10/' map.dot > wrong.dot
refused 1 'a number from 0 to 9' map check wrong.dot
sed 's/trace_policy/trace_detail=12; trace_policy/' map.dot > wrong.dot
refused 1 'trace_detail="12" is not a number from 0 to 9' map check wrong.dot

# How many events there are of each collector, by name, as "name count" lines.
counts() {
    eventspace sql RUN 'select c.name, count(*) from event e
        join collector c on c.id = e.collector group by c.name' --format=csv \
        2> /dev/null | tr -d '\r' | tr ',' ' '
}
sum_of() { # PATTERN: of collectors
    counts | awk -v p="$1" '$1 ~ p { n += $2 } END { print n + 0 }'
}
asked() {
    eventspace tune RUN --format=csv 2> /dev/null | tr -d '\r' |
        grep -c ",trace_detail,$1,0,0,9" || :
}
marks() {
    eventspace view RUN regions --detail --format=csv 2> /dev/null |
        grep -c "^trace_detail = $1,mark," || :
}
ON='ec[2-9]|[.]ec$'
eventspace run map.dot --output=RUN -- tunable_app > printed &
program=$!
until [ "$(asked 0)" -eq 1 ] && [ "$(sum_of ec1)" -gt 30 ]; do alive; done
[ "$(sum_of "$ON")" -eq 0 ] || fail "nobody has asked: $(counts)"

eventspace tune RUN trace_detail=-0 > said # which is 0
before=$(sum_of ec1)
until [ "$(sum_of ec1)" -gt $((before + 30)) ]; do alive; done
[ "$(sum_of "$ON")" -eq 0 ] || fail "-0 is more than 0: $(counts)"
eventspace tune RUN trace_detail=1 > said
[ "$(asked 1)" -eq 1 ] || fail "$(eventspace tune RUN)"
until [ "$(marks 1)" -eq 1 ] && [ "$(sum_of "$ON")" -gt 30 ]; do alive; done
eventspace tune RUN trace_detail=0 > said
until [ "$(marks 0)" -eq 1 ]; do alive; done

# All that had begun before is over when each thread has done some more.
before=$(sum_of ec1)
until [ "$(sum_of ec1)" -gt $((before + 30)) ]; do alive; done
then=$(sum_of "$ON")
before=$(sum_of ec1)
until [ "$(sum_of ec1)" -gt $((before + 30)) ]; do alive; done
[ "$(sum_of "$ON")" -eq "$then" ] || fail 'it goes on recording'

eventspace tune RUN pace=4.25 > said
wait "$program" || fail 'the program has failed'
program=
eventspace info RUN > said || fail "$(cat said)"
[ "$(sum_of "$ON")" -eq "$then" ] || fail 'it went on recording'
# Each operation of a thread is there, and of collectors on demand those of some
# time in the middle, without a gap.
eventspace sql RUN 'select c.name, count(*), min(e.sequence), max(e.sequence)
    from event e join collector c on c.id = e.collector group by c.name' --format=csv |
    tr -d '\r' | awk -F, '
    NR > 1 && $1 ~ /ec1$/ { if ($3 != 1 || $4 != $2) exit 1; last = $4 }
    NR > 1 && $1 ~ /ec[2-9]$|[.]ec$/ { some++; if ($3 == 1) exit 1 }
    END { if (!some || !last) exit 1 }' || fail "$(counts)"
# Every view can do with that.
for view in $(eventspace view --help | sed -n 's/^  \([a-z-]*\)  .*/\1/p'); do
    code=0
    eventspace view RUN "$view" --format=csv > said 2>&1 || code=$?
    [ $code -le 2 ] || fail "$view: code $code, $(cat said)"
done
eventspace report RUN --output=report.html || fail 'no report'
