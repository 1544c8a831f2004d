#!/bin/sh
# rebalance_test.sh BIN - rows that go from one thread to others while it runs.
set -eu
PATH=$1:$PATH
folder=$(mktemp -d)
program=
trap 'pkill -CONT -f "$folder" || :
    [ -z "$program" ] || kill "$program" 2> said || :
    rm -rf "$folder"' EXIT
cd "$folder"

fail() {
    echo "rebalance_test.sh: $1" >&2
    exit 1
}
map() { # THREADS PROCESSES OPTION ...
    threads=$1
    processes=$2
    shift 2
    sor mapping --threads="$threads" "$@" > app.dot
    eventspace map generate --application=app.dot --processes="$processes" \
        --output=map.dot
}

# To any division from any other one: as many rows as there are threads, too.
map 1 1
eventspace run map.dot --output=MOVED -- strips_app 25 > moved
grep -q 'moved$' moved || fail "1 thread: $(cat moved)"
for threads in 2 5 30 120; do
    map "$threads" 2
    eventspace run map.dot --replace --output=MOVED -- strips_app 25 > moved
    grep -q 'moved$' moved || fail "$threads threads: $(cat moved)"
done

# Programs are told other shares while they stand still. sor has 120 rows, of which
# each thread has 24 by the map, but where that says otherwise.
stopped() { # PROGRAM COUNT FIRST SHARE ...: of processes hFIRST ..., told meanwhile
    name=$1
    processes=$2
    process=$3
    shift 3
    # A path that nobody else's programs have, to stop these.
    cp "$(command -v "$name")" "$folder/$name"
    rm -rf RUN
    eventspace run map.dot --output=RUN -- "$folder/$name" run > said 2>&1 &
    program=$!
    # It stands still but for moments, until it has all of them.
    until pkill -STOP -f "^$folder/$name" &&
        [ "$(eventspace tune RUN --format=csv 2> /dev/null | grep -c ',share,')" \
            -eq "$processes" ]; do
        pkill -CONT -f "^$folder/$name" || :
        kill -0 "$program" || fail "the program has ended: $(cat said)"
    done
    for share in "$@"; do
        eventspace tune RUN "share=$share" "--process=h$process" > told
        process=$((process + 1))
    done
    pkill -CONT -f "^$folder/$name"
    wait "$program" || fail "the program has failed: $(cat said)"
    program=
    grep -q "\"checksum\": \"$(checksum "SINGLE/$name.json")\"" "RUN/$name.json" ||
        fail "$name, $*: $(cat "RUN/$name.json")"
}
checksum() {
    sed -n 's/.*"checksum": "\([0-9a-f]\{16\}\)".*/\1/p' "$1"
}

sor single --rounds=2000 --output=SINGLE > said
rebalanced() { # DIVISION SHARES SHARE ...
    division=$1
    map 5 5 --rounds=2000 --rebalance ${2:+"--shares=$2"}
    shift 2
    stopped sor 5 0 "$@"
    grep -q "\"division\": \"$division\"" RUN/sor.json ||
        fail "$*: not $division: $(cat RUN/sor.json)"
}
rebalanced 13,27,27,26,27 '' 0.5
rebalanced 1,1,1,1,116 '' 0.01 0.01 0.01 0.01 100
rebalanced 24,24,24,24,24 '' 2 2 2 2 2
rebalanced 30,15,30,15,30 2,2,2,1,2 1 0.5
grep -q '"divisions": [1-9]' RUN/sor.json || fail "$(cat RUN/sor.json)"

# The master of farm hands less to a worker of whom that is said. h0 has the
# master alone.
farm single --rounds=1500 --output=SINGLE > said
farm mapping --threads=3 --rounds=1500 > app.dot
eventspace map generate --application=app.dot --processes=3 --output=map.dot
stopped farm 2 1 0.25 1
handed=$(sed -n 's/.*"handed": "\([0-9]*\),\([0-9]*\)".*/\1 \2/p' RUN/farm.json)
slow=${handed% *}
other=${handed#* }
[ "$((slow + other))" -eq 180000 ] || fail "handed $handed"
[ "$slow" -lt "$other" ] || fail "handed $handed"

# A contract that nobody could keep has the shares changed until nobody waits: of
# rows that are divided as 1 to 3, the first gets more.
cat > promise.contract <<'EOF'
interval 0.1;
tolerance 0.1;
violated 2;
metric performance rate = operations / seconds;
class performance of "h0" (1e9) deviates (1) seen 10;
class performance of "h1" (1e9) deviates (1) seen 10;
EOF
watched() { # ROUNDS OPTION ...
    map 2 2 --size=W --rounds="$1" --rebalance --shares=1,3
    eventspace map instrument map.dot --collectors=all --output=all.dot
    shift
    rm -rf RUN
    eventspace run all.dot --output=RUN -- sor run > said 2>&1 &
    program=$!
    until eventspace tune RUN > told 2>&1 && grep -q '^h1 *share' told; do
        kill -0 "$program" || fail "the program has ended: $(cat said)"
    done
    code=0
    eventspace contract watch promise.contract RUN "$@" > watched 2> complaints || code=$?
    [ $code -eq 3 ] || fail "contract watch gives $code: $(cat complaints)"
    wait "$program" || fail "the program has failed: $(cat said)"
    program=
}
watched 4000 --balance=share
grep '  share: ' watched | head -1 | grep -q 's  share: h0 1\.[0-9]*, h1 0\.[0-9]*$' ||
    fail "$(cat watched complaints)"
grep -q '"division": "1[0-4]' RUN/sor.json && fail "$(cat RUN/sor.json)"
sor single --size=W --rounds=4000 --output=SINGLE > said
grep -q "\"checksum\": \"$(checksum SINGLE/sor.json)\"" RUN/sor.json ||
    fail "watched: $(cat RUN/sor.json)"
watched 2500 --balance=shares
grep -q -- '--balance=shares: no process that runs here has a tunable of this' complaints ||
    fail "$(cat complaints)"
grep -q '"division": "150,450"' RUN/sor.json || fail "$(cat RUN/sor.json)"
