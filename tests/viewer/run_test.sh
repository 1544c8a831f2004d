#!/bin/sh
# run_test.sh - what `eventspace run` says of programs that fail, and of those
# that it cannot even start.
#
#     run_test.sh EVENTSPACE GSUM
set -u
eventspace=$1
gsum=$2
. "$(dirname "$0")/check.sh"
folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
cd "$folder" || exit 1

"$gsum" mapping --threads 2 >application.dot
"$eventspace" map generate -a application.dot --processes 2 |
    "$eventspace" map instrument - -o map.dot

gives() { # CODE COMMAND...
    wanted=$1
    shift
    "$@" >out 2>err
    code=$?
    [ $code -eq "$wanted" ] && return 0
    echo "exit code $code, not $wanted"
    cat err
    return 1
}
last_is() { # LINE
    [ "$(tail -n 1 err)" = "$1" ] && return 0
    echo "the last line is not '$1', but:"
    cat err
    return 1
}
runs() { # CODE SCRIPT
    rm -rf RUN
    gives "$1" "$eventspace" run map.dot --output RUN --grace 100s -- sh -c "$2"
}

# --- who was the first to fail ---

first="eventspace: the first to fail was"

killed() { # NUMBER TEXT
    runs $((128 + $1)) "[ \$EVENTSPACE_PROCESS = h1 ] && kill -$1 \$\$; exit 0" &&
        last_is "$first process h1: killed by signal $1 ($2)"
}
check "a process that is killed gives 128 + its signal" killed 9 Killed
check "so does a segmentation fault" killed 11 "Segmentation fault"
check "and a signal to end" killed 15 Terminated

ends_well() {
    runs 1 "exit 0" && ! grep "first to fail" err
}
check "no process failed: none is named" ends_well

# h0 would stay, as it does not need h1.
ends_all() {
    rm -rf RUN
    # shellcheck disable=SC2016 # the processes' own
    gives 137 "$eventspace" run map.dot --output RUN --end-all --grace 50ms -- \
        sh -c '[ "$EVENTSPACE_PROCESS" = h1 ] && kill -9 $$; exec sleep 1000' &&
        says "^process h0: killed by signal 15 .*because process h1 failed" err
}
check "with --end-all a killed process ends the others" ends_all

# In the order in which they end, though the launcher sees both at once.
state() { # PID: R, S, T, Z ...
    sed 's/.*) \(.\).*/\1/' "/proc/$1/stat"
}
both_failed() { # FIRST SECOND
    rm -rf RUN pids
    mkdir pids
    # shellcheck disable=SC2016 # the processes' own
    "$eventspace" run map.dot --output RUN --grace 100s -- sh -c '
        echo $$ >pids/$EVENTSPACE_PROCESS.new
        mv pids/$EVENTSPACE_PROCESS.new pids/$EVENTSPACE_PROCESS
        while [ ! -e pids/$EVENTSPACE_PROCESS.end ]; do sleep 0.05; done
        exit 3' >out 2>err &
    run=$!
    until [ -e pids/h0 ] && [ -e pids/h1 ]; do
        kill -0 $run || return 1
        sleep 0.05
    done
    kill -STOP $run
    until [ "$(state $run)" = T ]; do sleep 0.05; done
    for process in "$1" "$2"; do
        touch "pids/$process.end"
        until [ "$(state "$(cat "pids/$process")")" = Z ]; do sleep 0.05; done
    done
    kill -CONT $run
    wait $run
    code=$?
    echo "exit code $code"
    [ $code -eq 1 ] && last_is "$first process $1: exit code 3" &&
        says "process $2: exit code 3" err
}
check "of two that failed, h1 was first" both_failed h1 h0
check "or h0" both_failed h0 h1

# What the processes of a real program say when they lose one.
loses_one() {
    rm -rf RUN
    "$eventspace" run map.dot --output RUN -- "$gsum" run --rounds 1000000000 \
        >out 2>err &
    run=$!
    pid=
    until [ -n "$pid" ]; do
        kill -0 $run || return 1
        sleep 0.05
        pid=$("$eventspace" info RUN --format csv 2>/dev/null |
            sed -n 's/^h1,running,\([0-9]*\),.*/\1/p')
    done
    kill -KILL "$pid"
    wait $run
    code=$?
    echo "exit code $code"
    [ $code -eq 137 ] && says "^h0| error: .*process h1 died" err &&
        last_is "$first process h1: killed by signal 9 (Killed)"
}
check "the one that died is named, not those that lost it" loses_one

# Nor those that could not join it.
no_path() {
    sed 's/^\( *\)total \[/\1totl [/; s/-> total /-> totl /' application.dot >other.dot
    "$eventspace" map generate -a other.dot --processes 2 -o other.map &&
        rm -rf RUN &&
        gives 1 "$eventspace" run other.map --output RUN -- "$gsum" run &&
        tail -n 1 err >last &&
        says "^$first process h\([01]\): exit code 1: thread t\1: the map gives \
thread t\1 no path \"total\": it has \"totl\"$" last
}
check "a path that the map does not have is told once" no_path

# An operation that failed is not pending any more; where to read of it is said.
says_why() {
    sed 's/use=sum/use=write/' application.dot >write.dot
    "$eventspace" map generate -a write.dot --processes 2 -o write.map &&
        rm -rf RUN &&
        gives 1 "$eventspace" run write.map --output RUN -- "$gsum" run &&
        "$eventspace" view RUN pending >out 2>err &&
        says "of 2 processes .*did not end well: .eventspace info RUN. says why" \
            err &&
        "$eventspace" info RUN >out 2>err &&
        says "^h0 failed: .*thread t0: exchange over path \"total\"" out
}
check "an operation that failed is in info, and views say so" says_why

# The other process says for whom it has ended, and why if it knows, or what it
# was doing when the run ended: its own name first, and then that of the other.
names_both() {
    sed 's/t0 -> total .*/t0 -> total [as=other, use=sum];/' application.dot \
        >one.dot
    "$eventspace" map generate -a one.dot --processes 2 -o one.map &&
        rm -rf RUN &&
        gives 1 "$eventspace" run one.map --output RUN -- \
            "$gsum" run &&
        last_is "$first process h0: exit code 1: thread t0: the map gives \
thread t0 no path \"total\": it has \"other\"" &&
        "$eventspace" info RUN >out 2>err &&
        says "^h1 failed: process h1: \(ended because process h0 failed$\|\
ended because process h0 failed: thread t0: the map gives\|\
thread t1: .*: the run ends: process h0: thread t0: the map gives\)" out
}
check "who ends for another one says so" names_both

# --- what the run is made of ---

# By its definitions, or by the map where these are damaged, which is said; with
# neither, what is left.
defined() {
    rm -rf RUN && "$eventspace" run write.map --output RUN -- "$gsum" run \
        >/dev/null 2>&1
    mv RUN/pathmap.dot kept &&
        "$eventspace" info RUN --format=csv >out 2>err && [ ! -s err ] &&
        mv kept RUN/pathmap.dot && echo x >RUN/definitions &&
        "$eventspace" info RUN --format=csv >again 2>err && cmp out again &&
        says "definitions.*: the map is read from pathmap.dot" err &&
        rm RUN/definitions &&
        "$eventspace" info RUN --format=csv >again 2>err && cmp out again &&
        [ ! -s err ] && rm RUN/pathmap.dot &&
        gives 1 "$eventspace" info RUN && says "not a run directory" err
}
check "a run is known by its definitions or its map" defined

# --- others on the processors ---

# Two processes on one processor are in each other's way.
one_processor=$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')
together_on_one() { # SCHEDULING
    rm -rf RUN
    EVENTSPACE_SCHEDULING=$1 taskset -c "$one_processor" "$eventspace" run \
        map.dot --output RUN -- "$gsum" run --rounds 20 --compute 10ms >out \
        2>err || { cat err; return 1; }
}
is_disturbed() {
    together_on_one switches || return 1
    for view in communication delays waits-for last-arriver critical-path hops \
        all; do
        "$eventspace" view RUN $view >out 2>err &&
            says "disturbed: in [0-9]* % of the computing time" \
                err &&
            says "less else running, or compare computing minus runnable in \
.eventspace view RUN communication.$" err || return 1
    done
    for view in scheduling tuples; do
        "$eventspace" view RUN $view >out 2>err && ! grep disturbed err ||
            return 1
    done
}
check "views of times say when others had the processors" is_disturbed
is_not_known() {
    together_on_one none || return 1
    for view in delays critical-path; do
        "$eventspace" view RUN $view >out 2>err && ! grep disturbed err ||
            return 1
    done
}
check "they say nothing where that was not recorded" is_not_known

# --- what cannot even be started: what failed, why, and what to do ---

refused() { # TEXT ARGUMENTS...: one line, and nothing is left
    text=$1
    shift
    rm -rf NEW
    gives 1 "$eventspace" run "$@" && says "^eventspace: .*$text" err &&
        [ "$(wc -l <err)" -eq 1 ] && none NEW
}
program() { # TEXT PROGRAM
    refused "cannot start $2: $1" map.dot --output NEW -- "$2"
}
echo hello >plain
printf '#!/no/such/interpreter\n' >script
printf '#!/bin/sh\n' >here
chmod +x script here
check "no such program" program "there is no such program in PATH" nosuch
check "nor where one says" program "no such file or directory" ./nosuch
check "one that is not in PATH" program "it is not in PATH; .* write ./ in front" here
check "a folder" program "it is a directory" /tmp
check "a file that is not executable" program "it is not executable; make it so by .chmod +x." ./plain
check "a script without its interpreter" program "the interpreter" ./script

no_map() {
    gives 2 "$eventspace" run "$gsum" &&
        says "the map is missing: '$gsum' is a program" err
}
check "a program in place of the map" no_map
map_from_a_pipe() {
    gives 2 "$eventspace" run - --output NEW -- true <map.dot &&
        says "the map must be a file" err
}
check "a map from a pipe" map_from_a_pipe
check "a map that is not there" refused "none.dot: cannot open it: No such file" \
    none.dot --output NEW -- true
check "a run directory in none" refused \
    "no/NEW: cannot make the run directory: the directory that it would be in" \
    map.dot --output no/NEW -- true
check "a file in its place" refused "run directory: plain: Not a directory" \
    map.dot --output plain -- true
mkdir used
touch used/precious
check "a directory with other files" refused "used: is not empty" map.dot \
    --output used -- true
nameless() {
    gives 2 "$eventspace" run map.dot --output= -- true && says "--output is" err
}
check "a run directory without a name" nameless

"$eventspace" key key
echo abc >short
chmod 600 short
# At an address of this process alone, as ports of a map are fixed.
address=127.$((128 + $$ / 65536 % 64)).$(($$ / 256 % 256)).$(($$ % 256))
port=7200
while read -r line; do
    case $line in *"subgraph cluster_h"*)
        line="$line address=\"$address:$port\";"
        port=$((port + 1)) ;;
    esac
    printf '%s\n' "$line"
done <map.dot >ports.dot
check "a process that the map does not have" refused \
    'no process "h9": it has h0 and h1' ports.dot --output NEW --process h9 \
    --key key -- true
check "a key that is too short" refused \
    "short: not a key: it has 3 characters, and not just 64 hex" ports.dot \
    --output NEW --process h0 --key short -- true
check "a key that is not there" refused "nokey: cannot open the key: No such" \
    ports.dot --output NEW --process h0 --key nokey -- true
port_taken() {
    # shellcheck disable=SC2016 # the process's own
    "$eventspace" run ports.dot --output TAKES -- sh -c '
        touch up.$EVENTSPACE_PROCESS; while [ ! -e go ]; do sleep 0.05; done' \
        >taken 2>&1 &
    run=$!
    until [ -e up.h0 ]; do
        kill -0 $run || { cat taken; return 1; }
        sleep 0.05
    done
    refused "cannot listen at $address:7200: Address already in use: another \
program or run listens there" ports.dot --output NEW -- true
    code=$?
    touch go
    wait $run
    return $code
}
check "a port that is taken" port_taken
not_ours() {
    rm -rf NEW
    gives 1 "$eventspace" run map.dot --output NEW -- true &&
        says "did not join the run: true ended without calling" err
}
check "a program that is none of ours is named" not_ours
fails_itself() { # of which one knows why it did not join
    rm -rf NEW
    gives 1 "$eventspace" run map.dot --output NEW -- sh -c 'exit 3' &&
        ! grep "did not join" err
}
check "one that fails is not said to be none of ours" fails_itself

[ $failures -eq 0 ]
