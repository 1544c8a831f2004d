#!/bin/sh
# pack_test.sh - run directories that are as large as what is in them, and runs
# in one file.
#
#     pack_test.sh EVENTSPACE GSUM
set -u
eventspace=$1
gsum=$2
. "$(dirname "$0")/check.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

"$gsum" mapping --threads 4 >application.dot
"$eventspace" map generate -a application.dot --processes 2 -o plain.dot
"$eventspace" map instrument plain.dot --collectors all -o map.dot
"$eventspace" map instrument plain.dot --collectors all --trace-policy grow \
    --trace-size 100000000 -o grow.dot
"$eventspace" map instrument plain.dot --collectors all --trace-policy block \
    --trace-size 100 -o block.dot
# As grow.dot, for runs that go on until they are killed: they wait most of the
# time, and leave the processors to others.
echo 'digraph cluster { h0; h1; h0 -> h1 [latency="2ms", simulate=true]; }' \
    >cluster.dot
"$eventspace" map generate -a application.dot --cluster cluster.dot -o far.dot
"$eventspace" map instrument far.dot --collectors all --trace-policy grow \
    --trace-size 100000000 -o slow.dot
collectors=$(grep -c kind=collector map.dot)

# --- files end where their data ends ---

# bytes FILE...: as they look; blocks: as the disk has them.
bytes() { stat -c %s "$@" | awk '{ sum += $1 } END { print sum }'; }
blocks() { stat -c %b "$@" | awk '{ sum += $1 * 512 } END { print sum }'; }

for map in map grow block; do
    compact() {
        "$eventspace" run "$map.dot" --output "$map" -- "$gsum" run --rounds 2000 || return 1
        bytes=$(bytes "$map"/*)
        # 36 bytes for each event, 56 for each time without a processor, and
        # some pages for each element.
        events=$((2000 * collectors))
        elements=$("$eventspace" info "$map" --table=elements --format csv |
            wc -l)
        times=$("$eventspace" view "$map" scheduling --detail --format csv |
            wc -l)
        echo "$bytes bytes, $(blocks "$map"/*) on disk, $events events," \
            "$times times, $elements elements"
        [ "$bytes" -le $((events * 36 + (times + 8) * 56 +
            (elements + 2 + collectors) * 16384)) ] &&
            tar -cf - "$map" | wc -c >size &&
            [ "$(cat size)" -le $((bytes + 40960)) ] &&
            none "$map"/*settling*
    }
    check "a run with $map.dot is as large as what is in it" compact
done
traces() { # RUN: both of its processes have events, and so all of their files
    [ "$("$eventspace" info "$1" --format json 2>/dev/null |
        grep -c '^{"process".*"events_present":[1-9]')" -eq 2 ]
}
nothing_lost() {
    # shellcheck disable=SC2094 # the command, and a file
    "$eventspace" info grow --format json >info
    says "\"events_present\":$((2000 * collectors))" info
}
check "and has all of it" nothing_lost
# shellcheck disable=SC2016 # it is for the inner shell
killed() {
    "$eventspace" run slow.dot --output killed -- sh -c '
        [ "$EVENTSPACE_PROCESS" = h1 ] || exec "$0" run --rounds 100000000
        "$0" run --rounds 100000000 &
        until "$1" info "$EVENTSPACE_RUN" --format json 2>/dev/null |
            grep -q "^{\"process\":\"h1\".*\"events_present\":[1-9]"
        do sleep 0.05; done; kill -9 $!; wait' "$gsum" "$eventspace"
    [ $? -eq 1 ] && [ "$(bytes killed/*)" -le \
        $(($(blocks killed/*) + 65536)) ] &&
        "$eventspace" view killed performance >/dev/null
}
check "so is one whose process was killed" killed

# --- runs in one file ---

"$eventspace" clock map >clock.there
packs() {
    "$eventspace" pack map/ >out && says "map.tar.zst: 7 files" out &&
        [ "$(bytes map.tar.zst)" -lt $(($(bytes map/*) / 2)) ] &&
        [ "$(stat -c %a map.tar.zst)" = 600 ]
}
check "a run is packed" packs
mkdir tmp
TMPDIR=$folder/tmp
export TMPDIR
same() {
    "$eventspace" "$@" >unpacked || return 1
    shift_run map.tar.zst "$@" >packed || return 1
    cmp unpacked packed && [ -z "$(ls tmp)" ]
}
shift_run() { # FILE COMMAND RUN ...: the same of the file
    file=$1
    command=$2
    shift 3
    "$eventspace" "$command" "$file" "$@"
}
check "view reads it" same view map performance --format csv
check "and all views" same view map all --format json
check "info reads it" same info map --table=elements --format csv
check "clock reads it" same clock map
check "top reads it" same top map --frames 1 --format csv
# What stands behind it, and what is on standard input, comes whole to the program
# that unpacks.
check "sql reads it" same sql map --param=a=1 --format=csv \
    'select :a, count(*) from event'
statements() {
    echo 'select count(*) from event' |
        "$eventspace" sql map.tar.zst --format=csv >packed &&
        says "^$((2000 * collectors))" packed
}
check "and statements of standard input" statements
reports() {
    "$eventspace" report map.tar.zst >out && says "^map.html$" out &&
        says '"directory":"map.tar.zst"' map.html &&
        says "</html>" map.html && [ -z "$(ls tmp)" ]
}
check "report reads it, names it, and writes beside it" reports
gathers() {
    "$eventspace" scope map.tar.zst --output mirror >out &&
        says " $((2000 * collectors)) read, 0 lost" out && [ -z "$(ls tmp)" ]
}
check "scope gathers from it" gathers
merges() {
    "$eventspace" merge map.tar.zst mirror --output merged >out &&
        "$eventspace" view merged performance --format csv >merged.csv &&
        "$eventspace" view map performance --format csv >map.csv &&
        cmp merged.csv map.csv
}
check "merge takes it" merges
merges_by_name() {
    says "process h0: from map.tar.zst$" out && rm map.meta/h0.meta &&
        "$eventspace" pack map.meta >out &&
        "$eventspace" merge map.meta.tar.zst map.meta.tar.zst \
            --output bare >out 2>err
    [ $? -eq 1 ] && says "process h0: from map.meta.tar.zst$" out &&
        says "process h0: .*but map.meta.tar.zst/h0.meta: " err
}
cp -r map map.meta
check "merge says the name that was given" merges_by_name
archives() {
    "$eventspace" archive map.tar.zst 2>err
    [ $? -eq 1 ] && says "eventspace unpack" err
}
check "archive, which writes into a run, says what to do" archives
unpacks() {
    "$eventspace" unpack map.tar.zst -o again >out && says "^again$" out &&
        diff -r map again && none ./*part*
}
check "it is unpacked, and the same" unpacks
not_over() {
    "$eventspace" unpack map.tar.zst 2>err
    [ $? -eq 1 ] && says "map: exists already" err && diff -r map again
}
check "but not over what is there" not_over
by_tar() {
    tar -cf by_tar.tar -C map . && "$eventspace" info by_tar.tar >out &&
        says "h1" out
}
check "what tar has packed is read, too" by_tar
holes() { # a launcher that was killed leaves files as they were
    "$eventspace" run slow.dot --output sparse -- "$gsum" run --rounds 100000000 \
        >/dev/null 2>&1 &
    run=$!
    until traces sparse; do
        kill -0 $run || return 1
        sleep 0.02
    done
    "$eventspace" pack sparse 2>err
    code=$?
    kill -9 $run
    wait $run 2>/dev/null
    [ $code -eq 1 ] && says "is still running" err || return 1
    until "$eventspace" info sparse >out && ! grep -q running out; do
        sleep 0.02
    done
    "$eventspace" view sparse process --format csv >before
    "$eventspace" pack sparse >out &&
        [ "$(bytes sparse/*)" -le $(($(blocks sparse/*) + 65536)) ] &&
        "$eventspace" view sparse.tar.zst process --format csv >after &&
        cmp before after
}
check "a running one is refused; a killed one has no holes" holes

# Each of the two files that have a run's map will do.
either() {
    for name in definitions pathmap.dot; do
        cp -r map "without_$name" && rm "without_$name/$name" &&
            "$eventspace" pack "without_$name" &&
            "$eventspace" view map communication --format csv >before &&
            "$eventspace" view "without_$name.tar.zst" communication \
                --format csv >after &&
            cmp before after || return 1
    done
}
check "a run is packed with one of its maps alone" either

# --- files that are wrong ---

wrong() { # FILE PATTERN
    "$eventspace" info "$1" >out 2>err
    [ $? -eq 1 ] && says "$2" err && [ ! -s out ] && [ -z "$(ls tmp)" ]
}
echo nonsense >nonsense
head -c $(($(bytes map.tar.zst) / 2)) map.tar.zst >half
mkdir -p other/deep && echo 1 >other/deep/file && tar -cf no_map.tar other
check "no packed run" wrong nonsense "not a packed run"
check "half of one" wrong half "not a packed run, or damaged"
check "an archive without a map" wrong no_map.tar "no pathmap.dot"
outside() { # names that lead out of it
    echo 1 >pathmap.dot
    tar -cPf up.tar --transform 's|^|../../../stolen/|' pathmap.dot
    tar -cPf root.tar --transform "s|^|$folder/stolen/|" pathmap.dot
    mkdir -p links && ln -sf "$folder" links/away
    (cd links && tar -cf ../link.tar away)
    mkdir -p links2/away && cp pathmap.dot links2/away/stolen
    (cd links2 && tar -rf ../link.tar away/stolen)
    for file in up.tar root.tar link.tar; do
        "$eventspace" info $file >out 2>err
        [ $? -eq 1 ] || return 1
    done
    [ ! -e stolen ] && [ ! -e "$folder/tmp/stolen" ] && [ -z "$(ls tmp)" ]
}
check "nothing is written outside" outside
no_place() {
    TMPDIR=/nowhere/at/all "$eventspace" info map.tar.zst 2>err
    [ $? -eq 1 ] && says "/nowhere/at/all: No such file" err
}
check "no place to unpack it" no_place
gone() { # also when the command is killed: it waits for a reader here
    mkfifo pipe
    # shellcheck disable=SC2217 # it holds the pipe open, and reads nothing
    sleep 1000 <pipe &
    reader=$!
    "$eventspace" view map.tar.zst tuples --format json >pipe 2>/dev/null &
    view=$!
    # It has unpacked the run, and sleeps: nobody reads what it prints.
    until [ -n "$(ls tmp)" ] && grep -q "^State:.*S" /proc/$view/status &&
        grep -q pipe /proc/$view/wchan; do
        kill -0 $view || return 1
        sleep 0.01
    done
    kill -9 $view
    wait $view 2>/dev/null
    kill $reader
    until [ -z "$(ls tmp)" ]; do sleep 0.01; done
}
check "what was unpacked goes with the command, however that ends" gone

closed() { # standard files that are not there
    for _ in 1 2 3 4 5 6 7 8; do
        "$eventspace" view map.tar.zst performance --format csv <&- >packed ||
            return 1
        cmp packed performance || return 1
    done
    [ -z "$(ls tmp)" ]
}
# shellcheck disable=SC2094 # the view, and a file
"$eventspace" view map performance --format csv >performance
check "nothing is closed that is needed" closed
dot() {
    (cd map && "$eventspace" pack .) >out && says "map.tar.zst: 7 files" out &&
        none map/*zst*
}
check "of the current directory, beside it" dot
inside() {
    "$eventspace" pack map -o map/x.tar.zst 2>err
    [ $? -eq 1 ] && says "is in the run directory itself" err &&
        [ ! -e map/x.tar.zst ]
}
check "but not into itself" inside
device() {
    mkfifo fifo
    cat fifo >through &
    "$eventspace" pack map -o fifo && wait $! && [ -p fifo ] &&
        "$eventspace" pack map -o - >standard && "$eventspace" info standard \
        >out && "$eventspace" info through >out && ln -s linked.zst link &&
        cp map.tar.zst linked.zst && "$eventspace" pack map -o link &&
        [ -h link ] && [ -c /dev/null ] && "$eventspace" pack map -o /dev/null &&
        [ -c /dev/null ]
}
check "pipes, devices and links stay what they are" device
by_dot() {
    "$eventspace" unpack by_tar.tar -o dotted && diff -r map dotted
}
check "what tar -C has made is unpacked" by_dot
both() { # two at once make the same files smaller
    "$eventspace" run grow.dot --output twice -- "$gsum" run --rounds 30000 &
    run=$!
    until [ -s twice/h1.meta ]; do sleep 0.01; done
    until "$eventspace" pack twice 2>/dev/null >&2; do
        kill -0 $run 2>/dev/null || break
    done
    wait $run || return 1
    none twice/*settling* && "$eventspace" info twice --format json |
        grep -q "\"events_present\":$((30000 * collectors)),"
}
check "two at once make files smaller" both
unseen() { # its processes, from another container
    unshare -pf --mount-proc true 2>/dev/null || return 0
    "$eventspace" run slow.dot --output far -- "$gsum" run --rounds 100000000 \
        2>/dev/null >&2 &
    run=$!
    until traces far; do
        kill -0 $run || return 1
        sleep 0.01
    done
    before=$(stat -c %i far/*.space)
    unshare -pf --mount-proc "$eventspace" pack far 2>told
    status=$?
    after=$(stat -c %i far/*.space)
    kill $run
    wait $run
    [ $status -eq 1 ] && [ "$before" = "$after" ] && ! [ -e far.tar.zst ] &&
        says "still running" told
}
check "a run whose processes cannot be seen is left alone" unseen
drafts() { # of one who was killed
    echo half >map/h0.space.settling
    "$eventspace" pack map -o drafts.tar.zst >/dev/null || return 1
    rm map/h0.space.settling
    tar --zstd -tf drafts.tar.zst >listed && ! grep settling listed
}
check "what is half done is not packed" drafts
# One bit of a file, the Kth of 200 places.
flip() {
    bytes=$(stat -c %s "$1")
    at=$((bytes * $2 / 200))
    old=$(od -An -tu1 -j $at -N 1 "$1")
    # shellcheck disable=SC2059 # that is how printf gives a byte
    printf "\\$(printf %03o $((old ^ (1 << $2 % 8))))" |
        dd of="$1" bs=1 seek=$at conv=notrunc 2>/dev/null
}
flipped() {
    "$eventspace" pack map -o whole.tar.zst >/dev/null || return 1
    k=0
    while [ $k -lt 200 ]; do
        cp whole.tar.zst flipped.tar.zst
        flip flipped.tar.zst $k
        if "$eventspace" unpack flipped.tar.zst -o flipped 2>/dev/null \
            >&2 && ! diff -r map flipped; then
            echo "bit $((k % 8)) of the byte at $k/200"
            return 1
        fi
        rm -rf flipped flipped.tar.zst
        k=$((k + 1))
    done
}
check "one flipped bit is noticed, wherever it is" flipped
# Until a process that catches INT sleeps: here, for one who opens the pipe.
sleeps() {
    until [ $((0x$(sed -n 's/SigCgt:\t//p' "/proc/$1/status") & 2)) -ne 0 ] &&
        grep -q '^State:.S' "/proc/$1/status"; do
        kill -0 "$1" || return 1
        sleep 0.01
    done
}
ignoring() { # what nohup ignores
    mkfifo slow
    env --default-signal=INT --ignore-signal=HUP \
        "$eventspace" pack map -o slow 2>told &
    packer=$!
    sleeps $packer && kill -HUP $packer && cat slow >slow.tar.zst &&
        wait $packer && tar --zstd -tf slow.tar.zst >/dev/null || return 1
    env --default-signal=INT "$eventspace" pack map -o slow 2>told &
    packer=$!
    sleeps $packer && kill -INT $packer
    wait $packer
    [ $? -eq 1 ] && says "interrupted" told && rm slow slow.tar.zst
}
check "signals end it where it waits, unless nohup ignores them" ignoring
leaves_nothing() { # PROCESS DRAFT...: a draft is there, and it is interrupted
    process=$1
    # shellcheck disable=SC2086 # a pattern
    while none $2 >/dev/null; do
        kill -0 "$process" || return 1
        sleep 0.01
    done
    kill -INT "$process"
    [ -z "${3:-}" ] || kill "$3"
    wait "$process"
    [ $? -eq 1 ] && says "interrupted" told && none ./*part*
}
packing() { # a hole that takes it longer than this test may take
    truncate -s 3T map/ballast
    env --default-signal=INT "$eventspace" pack map -o big.tar.zst 2>told &
    leaves_nothing $! "./*part*" && none big.tar.zst && rm map/ballast
}
check "one that is interrupted when it packs leaves nothing behind" packing
unpacking() { # what comes through a pipe, and does not come to an end
    head -c $(($(bytes by_tar.tar) / 2)) by_tar.tar >first_half
    mkfifo feed
    { cat first_half; exec sleep 1000; } >feed &
    feeder=$!
    env --default-signal=INT "$eventspace" unpack feed -o bigger 2>told &
    leaves_nothing $! "./*part*/*" $feeder && none bigger && rm feed
}
check "and when it unpacks" unpacking

[ $failures -eq 0 ]
