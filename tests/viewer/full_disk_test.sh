#!/bin/sh
# full_disk_test.sh - runs and reports on a file system that is full.
#
#     full_disk_test.sh EVENTSPACE GSUM REGIONS_APP
#
# The file system is one in memory, in a mount namespace of this test's own:
# root's without a user namespace, and with propagation as it is, since neither
# can be had below a chroot.
set -u
if [ -z "${FULL_DISK_INSIDE-}" ]; then
    export FULL_DISK_INSIDE=1
    if [ "$(id -u)" -eq 0 ]; then
        exec unshare --mount --propagation unchanged sh "$0" "$@"
    fi
    exec unshare --map-root-user --mount sh "$0" "$@"
fi
eventspace=$1
gsum=$2
regions_app=$3
. "$(dirname "$0")/check.sh"
folder=$(mktemp -d)
disk=$folder/disk
mkdir "$disk"
trap 'umount "$disk"; rm -rf "$folder"' EXIT
cd "$folder" || exit 1

# fresh SIZE: an empty file system of that size.
fresh() {
    umount "$disk" 2>/dev/null
    mount -t tmpfs -o "size=$1" disk "$disk"
}

# full_but_for KIB: something else takes the room.
full_but_for() {
    rm -f "$disk/ballast"
    free=$(df --output=avail "$disk" | tail -1)
    head -c $(((free - $1) * 1024)) /dev/zero >"$disk/ballast"
}

total() { # NAME: of `info`, of the run
    "$eventspace" info "$disk/RUN" --format json |
        sed -n "s/.*\"$1\": *\([0-9]*\).*/\1/p" | head -1
}

adds_up() { # RECORDED: that many, of which some are lost
    recorded=$(total events_recorded) present=$(total events_present)
    lost=$(total events_lost)
    echo "recorded $recorded, present $present, lost $lost"
    [ "$recorded" -eq "$1" ] && [ "$lost" -gt 0 ] &&
        [ $((present + lost)) -eq "$recorded" ]
}

"$gsum" mapping --threads 4 >application.dot
"$eventspace" map generate -a application.dot --processes 2 -o plain.dot
"$eventspace" map instrument plain.dot --collectors all -o map.dot
"$eventspace" map instrument plain.dot --collectors all --trace-size 1000 \
    -o small.dot
collectors=$(grep -c kind=collector map.dot)
{
    echo 'digraph sums {'
    echo 'total [kind=element, type="u64", policy=discard];'
    for thread in 0 1 2; do
        echo "t$thread [kind=thread, number=$thread];"
        echo "t$thread -> total [use=sum];"
    done
    echo '}'
} >sums.dot
"$eventspace" map generate -a sums.dot --processes 2 -o plain.dot
"$eventspace" map instrument plain.dot --collectors all -o regions.dot

# --- spaces that cannot grow ---

rounds=20000
fresh 4m
"$eventspace" run map.dot --output "$disk/RUN" -- "$gsum" run --rounds $rounds \
    >said 2>told
code=$?
counts() {
    if [ $code -ne 1 ] ||
        ! says "its file system $disk (disk, tmpfs) is full" told ||
        ! says "events are lost, [0-9]* of them because the disk was full" told ||
        ! says checksum said; then
        cat told
        return 1
    fi
    # Each round passes each collector once, whatever became of its event.
    adds_up $((rounds * collectors))
}
check "a run on a full disk goes on, says so and counts" counts
finished() {
    "$eventspace" info "$disk/RUN" >out && ! says "killed\|running" out
}
check "its processes have said that they finished" finished

# --- definitions that have no room ---

# Each round has a region of its own, and so a definition of 272 bytes.
defines() {
    fresh 3m
    "$eventspace" run regions.dot --output "$disk/RUN" -- "$regions_app" 3000 \
        named >said 2>told
    if ! says "0 round 3000" said || ! says "events are lost" told ||
        ! "$eventspace" view "$disk/RUN" regions --format=csv >out 2>err; then
        cat said told
        return 1
    fi
    adds_up $((3 * 3000 * 5 + 3000 * $(grep -c kind=collector regions.dot)))
}
check "regions that cannot be defined are counted as lost" defines

# --- trace elements that have no room ---

# 1300 KiB are taken before anything happens, and 66 more by each stream: of
# the seven or more, those of the regions come before the processes have met,
# and some of the others when there is no room.
streamless() {
    fresh 1600k
    "$eventspace" run regions.dot --output "$disk/RUN" -- "$regions_app" 500 \
        >said 2>told
    if [ $? -ne 1 ] || ! says "0 round 500" said ||
        ! says "process h[01]: [0-9]* events lost: cannot make" told; then
        cat said told
        return 1
    fi
    adds_up $((3 * 500 * 4 + 500 * $(grep -c kind=collector regions.dot)))
}
check "events without a trace element are counted, too" streamless

# --- what is written later ---

for command in "map draw map.dot -o $disk/map.svg" \
    "report $disk/RUN -o $disk/report.html" \
    "export $disk/RUN --format=chrome -o $disk/run.json" \
    "export $disk/RUN --format=perfetto -o $disk/run.pftrace" \
    "map draw map.dot -o $disk/map.dot"; do
    full_but_for 0
    no_room() {
        # shellcheck disable=SC2086
        "$eventspace" $command >out 2>err
        [ $? -eq 1 ] && says "No space left on device on the file system $disk" \
            err && none "$disk"/*part*
    }
    check "${command%% /*} says that there is no room" no_room
done
full_but_for 0
no_mirror() {
    "$eventspace" scope "$disk/RUN" --output "$disk/MIRROR" >out 2>err
    [ $? -eq 1 ] && says "No space left on device" err && ! says "^events: " out
}
check "a scope says that there is no room" no_mirror

# --- packed runs ---

"$eventspace" run map.dot --output RUN -- "$gsum" run --rounds 10000 >/dev/null 2>&1
"$eventspace" pack RUN >/dev/null
fresh 64m
for command in "report RUN -o $disk/report.html" \
    "export RUN --format=chrome -o $disk/run.json" \
    "export RUN --format=csv -o $disk/run.csv" \
    "pack RUN -o $disk/run.tar.zst"; do
    too_large() { # a signal would leave what is there of it
        # shellcheck disable=SC2086,SC3045
        (ulimit -f 1 && "$eventspace" $command >out 2>err)
        [ $? -eq 1 ] && says "File too large" err && none "$disk"/*part* \
            "$disk"/run.*
    }
    check "${command%% /*} says that a file would be too large" too_large
done
no_pack() {
    fresh 40k
    "$eventspace" pack RUN -o "$disk/RUN.tar.zst" >out 2>err
    [ $? -eq 1 ] && says "No space left on device, on the file system $disk" \
        err && [ -z "$(ls "$disk")" ]
}
check "pack says that there is no room" no_pack
no_unpack() {
    for size in 100k 300k 1m 2m; do
        fresh $size
        "$eventspace" unpack RUN.tar.zst -o "$disk/RUN" >out 2>err
        [ $? -eq 1 ] && says "No space left on device" err &&
            [ -z "$(ls "$disk")" ] || return 1
        TMPDIR=$disk "$eventspace" view RUN.tar.zst performance >out 2>err
        [ $? -eq 1 ] && says "TMPDIR" err || return 1
    done
}
check "so do unpack, and commands on a packed run" no_unpack

no_import() {
    "$eventspace" export RUN --format=otf2 -o trace >/dev/null || return 1
    for kib in 0 40 100 400 900; do
        fresh 4m
        full_but_for $kib
        "$eventspace" import trace/traces.otf2 -o "$disk/RUN" >out 2>err
        [ $? -eq 1 ] && says "No space left on device" err &&
            [ "$(ls "$disk")" = ballast ] || return 1
    done
}
check "import says that there is no room, and leaves nothing" no_import

# --- a limit on memory ---

no_temporary() {
    fresh 4m
    TMPDIR=$disk "$eventspace" sql RUN "with recursive n(i) as
        (select 1 union all select i + 1 from n where i < 2000000)
        select i, i, i from n" --memory=64M >out 2>err
    [ $? -eq 1 ] && says "temporary file in $disk, on the file system $disk" err
}
check "so does the temporary file for what is more" no_temporary

# --- archives ---

# What spaces take while they are written: a directory each, and for each stream
# what it gets at first.
spaces_kib() {
    streams=$("$eventspace" info "$disk/RUN" --table=elements --format csv | wc -l)
    echo $((2 * 520 + streams * 66))
}

# archived POLICY ROUNDS: of a run on a disk that has 150 KiB left beside its
# spaces.
archived() {
    fresh 8m
    "$eventspace" run small.dot --output "$disk/RUN" --archive -- "$gsum" run \
        --rounds 10 >said 2>told || return 1
    full_but_for $(($(spaces_kib) + 150))
    "$eventspace" run small.dot --output "$disk/RUN" --replace \
        --when-full="$1" -- "$gsum" run --rounds "$2" >said 2>told
    code=$?
    [ $code -eq 1 ] &&
        says "\.archive: writing: No space left on device, on the file system" \
            told
}
loses() {
    archived lose $rounds && says "events are lost until" told && says checksum said &&
        says "[0-9]* archived, [1-9][0-9]* lost" told &&
        [ "$(total events_recorded)" -eq $((rounds * collectors)) ]
}
check "a run whose archive is full goes on" loses
ends() { # of itself it would not
    archived end 1000000000 && says "the run ends" told && ! grep -q checksum said
}
check "or it ends" ends
waits() { # MAP
    fresh 64m
    "$eventspace" run "$1" --output "$disk/RUN" --archive -- "$gsum" run \
        --rounds 10 >said 2>told || return 1
    full_but_for $(($(spaces_kib) + 150))
    "$eventspace" run "$1" --output "$disk/RUN" --replace \
        --when-full=wait -- "$gsum" run --rounds $rounds >said 2>told &
    run=$!
    until grep -q "the program waits" told; do
        kill -0 $run 2>/dev/null || break
        sleep 0.05
    done
    rm "$disk/ballast"
    if ! wait $run || ! says "the program waits" told ||
        ! says checksum said ||
        ! says " $((rounds * collectors)) archived, 0 lost" told; then
        cat told
        return 1
    fi
}
check "or it waits for room, and loses nothing" waits small.dot
check "also for its trace elements" waits map.dot

# --- two archivers ---

# One beside the run's own, which cannot write, must not make that one lose.
beside() {
    fresh 40m
    "$eventspace" run small.dot --output "$disk/RUN" --archive -- "$gsum" run \
        --rounds 40000 >said 2>told &
    run=$!
    # They are there when the run's own has locked them.
    until [ -e "$disk/RUN/h0.archive" ] && [ -e "$disk/RUN/h1.archive" ]; do
        kill -0 $run 2>/dev/null || break
        sleep 0.01
    done
    "$eventspace" archive "$disk/RUN" >/dev/null 2>&1
    wait $run || return 1
    says "[0-9]* archived, 0 lost" told
}
check "an archiver beside the run's own takes nothing from it" beside

# --- where files can go ---

for place in /dev/shm/es-full-disk-$$.html /dev/stdout /dev/fd/1; do
    goes_to() {
        echo before >out
        "$eventspace" report "$disk/RUN" -o "$place" >>out 2>err || return 1
        case $place in
        /dev/shm/*) grep -q '</html>' "$place" && rm "$place" ;;
        *) grep -q '</html>' out && grep -q before out ;;
        esac
    }
    check "a report goes to ${place%-*}" goes_to
done
linked() {
    echo old >old.svg
    chmod 640 old.svg
    ln -s old.svg link.svg
    "$eventspace" map draw map.dot -o link.svg && [ -L link.svg ] &&
        grep -q '</svg>' old.svg && [ "$(stat -c %a old.svg)" = 640 ]
}
check "or through a link, with the rights that were there" linked

[ "$failures" -eq 0 ]
