#!/bin/sh
# project_test.sh BIN PRINT - eventspace contract project, and a contract that changes
# while a run is held against it.
set -eu
PATH=$1:$PATH
print=$2
folder=$(mktemp -d)
program=
watch=
lines=
ends() {
    for one in $watch $lines $program; do kill "$one" 2> /dev/null || :; done
    wait || :
    rm -rf "$folder"
}
trap ends EXIT
cd "$folder"

fail() {
    echo "project_test.sh: $1" >&2
    exit 1
}
refuse() { # WHAT IS SAID, then the command
    want=$1
    shift
    if eventspace "$@" > out 2> said; then
        fail "$* was taken"
    fi
    grep -q -- "$want" said || fail "$*: $(cat said)"
}

cat > plain <<'END'
interval 0.1;
violated 2;
metric intrinsic size = bytes / operations;
metric performance rate = operations / seconds;
metric performance sent = bytes / seconds;
group "both" of "h0", "h1";
class intrinsic of "h0" (100) deviates (1) seen 9;
class performance of "h0" (1000, 2000) deviates (1, 1) seen 9 with 1;
class performance of "h0" (500, 2000) deviates (1, 1) seen 9 with 1;
class performance of "h1" (1000, 2000) deviates (1, 1) seen 9;
class performance of "both" (1000, 2000) deviates (1, 1) seen 9;
class performance of all (1000, 2000) deviates (1, 1) seen 9;
END
eventspace contract project plain --by=0.5 --output=half
grep ^project half | diff - /dev/fd/3 3<<'END' || fail 'what is projected'
project "h0" rate by 0.5;
project "h0" sent by 0.5;
project "h1" rate by 0.5;
project "h1" sent by 0.5;
END
grep -v ^project half | diff - /dev/fd/3 3<<END || fail 'the rest has changed'
$(sed 's/violated 2/tolerance 0.1;\nviolated 2/' plain)
END
# Anew, not once more; of some of them.
eventspace contract project half --by=3 '--process=*1' --metric=sent > third
diff third half > changes && fail 'nothing has changed'
printf '%s\n' '< project "h1" sent by 3;' '> project "h1" sent by 0.5;' |
    diff - /dev/fd/3 3<<END || fail 'of one metric of one process'
$(grep '^[<>]' changes)
END

# By a forecast, and by a prediction.
yes 0.25 | head -n 10 > series
eventspace forecast series --format=json > shares
eventspace contract project plain --predicted=shares --process=h0 > out
grep -q '^project "h0" rate by 0.25;$' out || fail "$(cat out)"
eventspace contract project plain --predicted=- < shares > out
grep -q '^project "h1" sent by 0.25;$' out || fail 'by standard input'
cat > prediction <<'END'
{"dedicated_s": 10, "answers": [
 {"best": "", "lower_slowdown": 9, "upper_slowdown": 9},
 {"best": "best", "lower_slowdown": 1, "upper_slowdown": 3}]}
END
eventspace contract project plain --predicted=prediction |
    grep -q '^project "h1" rate by 0.5;$' || fail 'by a prediction'
sed 's/]}/], "time": {"time_s": 40}}/' prediction > with
eventspace contract project plain --predicted=with |
    grep -q '^project "h1" rate by 0.25;$' || fail 'by histories'
# A prediction as it is made: paper 001 has 1.4545 times as long.
"$print" --profile CG profile
eventspace predict profile --node=n0:load=1 --law=credit --format=json > prediction
eventspace contract project plain --predicted=prediction > out
grep -q '^project "h1" rate by 0\.687' out || fail "$(cat prediction out)"

refuse 'one of --by and --predicted is needed' contract project plain
refuse '--by and --predicted exclude each other' contract project plain --by=1 \
    --predicted=shares
refuse 'cannot be the same file' contract project - --predicted=-
yes 250 | head -n 10 > series
eventspace forecast series --format=json > rates
refuse 'rates: this is neither .* of shares, from 0 to 1' \
    contract project plain --predicted=rates
for wrong in '"lower_slowdown": 2, "upper_slowdown": null' \
    '"lower_slowdown": 2, "upper_slowdown": "2"' \
    '"lower_slowdown": -2, "upper_slowdown": 4'; do
    echo "{\"dedicated_s\": 1, \"answers\": [{\"best\": \"best\", $wrong}]}" > odd
    refuse 'odd: this is neither' contract project plain --predicted=odd
done
echo '{"dedicated_s": -10, "time": {"time_s": -20}}' > odd
refuse 'odd: this is neither' contract project plain --predicted=odd
refuse 'the contract is missing' contract project --by=1
for factor in 0 -1 nan inf x 1e9 ''; do
    refuse "'$factor' is not a factor" contract project plain "--by=$factor"
done
refuse 'promises no performance of such a process' contract project plain \
    --by=2 --process=h7
refuse 'promises no performance of such a process' contract project plain \
    --by=2 --metric=size
echo '{}' > nothing
refuse 'nothing: this is neither' contract project plain --predicted=nothing
echo '{"dedicated_s": 1' > half
refuse 'half:' contract project plain --predicted=half
echo 0 > series
eventspace forecast series --format=json > zero
refuse 'zero: this is neither' contract project plain --predicted=zero
refuse 'cannot open missing\|missing' contract project missing --by=1

# --- a contract that changes ---

sor mapping --threads=2 --size=W --rounds=100000000 > app.dot
eventspace map generate --application=app.dot --processes=2 --output=map.dot
eventspace map instrument map.dot --output=all.dot
eventspace run all.dot --output=LONG -- sor run > /dev/null 2> ended &
program=$!
cat > metrics <<'END'
interval 0.1;
violated 1;
metric performance rate = operations / seconds;
class performance of "h0" (1) deviates (0) seen 3;
class performance of "h1" (1) deviates (0) seen 3;
class performance of all (1) deviates (0) seen 3;
END
# The program is faster than that, whatever the machine, and never as fast as what
# comes then.
cp metrics promised
until eventspace info LONG 2>&1 | grep -q running; do
    kill -0 $program || fail "the program has ended: $(cat ended)"
done
eventspace contract watch promised LONG --format=json > judged 2> told &
watch=$!
eventspace contract watch promised LONG > printed 2> told_too &
lines=$!
seen() { # FILE PATTERN
    until grep -q "$2" "$1"; do
        kill -0 $watch || fail "the watch has ended: $(cat told)"
        kill -0 $lines || fail "the other watch has ended: $(cat told_too)"
        kill -0 $program || fail "the program has ended: $(cat ended)"
    done
}
seen judged '"performance_violated": *0'
# One that cannot be read, one of other processes and one of other intervals: it
# stays as it was.
refused() { # SAID
    mv new promised
    seen told "the contract stays as it was: $1"
    seen told_too "the contract stays as it was: $1"
}
echo 'interval' > new
refused '.*promised:'
sed 's/"h/"g/' metrics > new
refused 'the contract has classes of none'
sed 's/^interval.*/interval 0.2;/' metrics > new
refused 'promised: it has other intervals'
! grep -q '"performance_violated": *1' judged || fail 'violated before'
[ ! -s printed ] || fail "violated before: $(cat printed)"
eventspace contract project metrics --by=500000 --output=promised
seen judged '"process": *"h1".*"performance_violated": *1'
seen told 'promised has changed'
seen printed 'h1: performance violated'
# What is violated still is told once, and that it is kept again, too.
eventspace contract project metrics --by=600000 --output=promised
until [ "$(grep -c 'promised has changed' told_too)" -eq 2 ]; do
    kill -0 $lines || fail "the other watch has ended: $(cat told_too)"
done
cp metrics new
mv new promised
seen printed 'h1: performance kept again'
[ "$(grep -c 'h1: performance violated' printed)" -eq 1 ] || fail "$(cat printed)"
kill $program
for one in $watch $lines; do
    code=0
    wait "$one" || code=$?
    [ $code -eq 3 ] || fail "code $code, not 3: $(cat told told_too)"
done
watch=
lines=
