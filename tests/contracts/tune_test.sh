#!/bin/sh
# tune_test.sh BIN - eventspace tune, with a program that waits to be told.
set -eu
PATH=$1:$PATH
folder=$(mktemp -d)
program=
trap '[ -z "$program" ] || kill "$program" || :; rm -rf "$folder"' EXIT
cd "$folder"

fail() {
    echo "tune_test.sh: $1" >&2
    exit 1
}
refused() { # MESSAGE ARGUMENT ...
    message=$1
    shift
    wanted=1
    case $message in *'with a number' | *missing) wanted=2 ;; esac
    code=0
    eventspace tune "$@" > said 2>&1 || code=$?
    [ $code -eq $wanted ] || fail "$*: code $code, not $wanted"
    grep -q "$message" said || fail "$* says $(cat said)"
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
eventspace map instrument plain.dot --collectors=all --output=map.dot

eventspace run map.dot --output=RUN -- tunable_app > printed &
program=$!
rows() {
    eventspace tune RUN --format=csv 2> /dev/null | tr -d '\r' || :
}
until [ "$(rows | grep -c ,pace,)" -eq 2 ] &&
    [ "$(rows | grep -c ',left over,')" -eq 2 ]; do
    kill -0 "$program" || fail 'the program has ended'
done
rows | diff - /dev/fd/3 3<<'EOF' || fail 'what can be changed'
process,tunable,value,initial,least,most
h0,pace,1,1,0.5,8
h0,left over,0,0,,
h1,pace,1,1,0.5,8
h1,left over,0,0,,
EOF
refused "'pace' is not NAME=VALUE with a number" RUN pace
refused "'pace=x' is not NAME=VALUE with a number" RUN pace=x
refused "'=1' is not NAME=VALUE with a number" RUN =1
for value in nan inf 1e400 - '' 0x4 1e; do
    refused "'pace=$value' is not NAME=VALUE with a number" RUN "pace=$value"
done
refused 'pace=9: pace of process h0 is from 0.5 to 8' RUN pace=9
refused 'has no tunable peace (yet)' RUN peace=4
refused "no process matches 'z\*'" RUN '--process=z*' pace=4
refused 'the run directory is missing'
# One that cannot be: nothing is changed.
refused 'pace=9: ' RUN 'left over=7' pace=9
[ "$(rows | grep -c ',left over,0,')" -eq 2 ] || fail "$(rows)"

# In one process, then in all. Nobody goes on before all have seen it.
eventspace tune RUN --process=h1 'left over=-2.5' --format=csv | tr -d '\r' |
    grep -q '^h1,left over,-2.5,0,,$' || fail 'one process'
rows | grep -q '^h0,left over,0,' || fail 'the other process'
eventspace tune RUN pace=0.425e1 > said
wait "$program" || fail 'the program has failed'
program=
sed 's/^h[01]| //' printed | sort | diff - /dev/fd/3 3<<'EOF' || fail 'what the program has seen'
0 4.25 3 4.25 in 1
1 4.25 -2.5 4.25 in 1
2 4.25 3 4.25 in 1
EOF
eventspace view RUN regions --detail --format=csv > marks
for mark in 'pace = 4.25' 'left over = 3' 'left over = -2.5'; do
    grep -q "^$mark,mark," marks || fail "no mark '$mark': $(cat marks)"
done
[ "$(grep -c "^pace = 4.25,mark," marks)" -eq 3 ] || fail 'a thread left no mark'
refused 'process h0 has ended: pace cannot be changed' RUN pace=5
# What it was at the end is there to be seen.
rows | grep -q '^h1,pace,4.25,' || fail "$(rows)"
