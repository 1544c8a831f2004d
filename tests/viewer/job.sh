# shellcheck shell=sh disable=SC2154 # read with `.` after check.sh, in a folder
# job.sh - what the tests of mpirun and of srun share. `eventspace` and `bin`
# (the folder of the applications) are set.

# What the application says, without times, and without what is in front of its
# lines.
untimed() { # FILE
    sed '1s/, [0-9.]* s$//; s/^h[0-9]*| //; /^ *strips_[a-z]*_ms /d' "$1"
}

# The maps, and what the application says in runs without a job.
river_maps() {
    for tasks in 2 4 8; do
        "$bin/river" mapping --threads "$tasks" |
            "$eventspace" map generate -a - --processes "$tasks" |
            "$eventspace" map instrument - -o "river$tasks.dot"
        "$eventspace" run "river$tasks.dot" --output ALONE --replace \
            --alone -- "$bin/river" run >alone 2>err || { cat err; exit 1; }
        untimed alone >"expected$tasks"
    done
    "$bin/gsum" mapping --threads 4 |
        "$eventspace" map generate -a - --processes 4 |
        "$eventspace" map instrument - -o long.dot
}

# same_as_alone TASKS JOB...: as it is by `eventspace run` alone, with nothing
# in front of the lines.
same_as_alone() {
    tasks=$1
    shift
    rm -rf RUN
    "$@" "$eventspace" run "river$tasks.dot" --output RUN -- \
        "$bin/river" run >out 2>err || { cat out err; return 1; }
    grep "^h[0-9]*| " out && return 1
    untimed out | diff "expected$tasks" - &&
        finished "$tasks"
}

finished() { # PROCESSES
    "$eventspace" info RUN --format=csv >info.csv || return 1
    [ "$(grep -c ",finished," info.csv)" -eq "$1" ] && return 0
    cat info.csv
    return 1
}

# fails COMMAND...: with a failing exit code; what it says is in `all`.
fails() {
    rm -rf RUN
    "$@" >all 2>&1
    code=$?
    echo "exit code $code"
    [ $code -ne 0 ]
}

# The processes of this test's runs, by how their commands begin. Those of another
# test have other folders.
ours() { # BEGINNING of the command
    for found in $(pgrep -f "^$1"); do
        [ "$(readlink "/proc/$found/cwd")" = "$PWD" ] && echo "$found"
    done
}
none_left() {
    left=200 # those that are killed may be there for a moment
    while [ -n "$(ours "$eventspace run .*$PWD/")" ] ||
        [ -n "$(ours "$bin/gsum .*")" ]; do
        left=$((left - 1))
        [ $left -gt 0 ] || {
            for pid in $(ours "$eventspace run .*$PWD/"); do
                echo "left: $(tr '\0' ' ' <"/proc/$pid/cmdline")"
            done
            return 1
        }
        sleep 0.05
    done
}

# Whatever there is can be read.
is_readable() {
    [ -e RUN/pathmap.dot ] || return 0
    "$eventspace" info RUN >info.out 2>&1 || { cat info.out; return 1; }
    for view in pending communication; do
        "$eventspace" view RUN $view >view.out 2>&1 ||
            says "no events" view.out || return 1
    done
}

# kills COUNT JOB...: a task, or its process, is killed at any moment after
# `begun JOB`. The run must end soon, whatever the moment.
begun=true
kills() {
    count=$1
    shift
    seed=$count
    hits=0
    for i in $(seq "$count"); do
        seed=$(((seed * 1103515245 + 12345) % 2147483648))
        rm -rf RUN
        # Ends by itself when nothing was killed.
        timeout -k 5 60 "$@" "$eventspace" run "$PWD/long.dot" --output "$PWD/RUN" \
            --start-within 5s -- "$bin/gsum" run --rounds 5000 >all 2>&1 &
        job=$!
        "$begun" $job
        sleep "0.$(printf %03d $((seed / 65536 % 500)))"
        if [ $((i % 2)) -eq 0 ]; then
            pids=$(ours "$eventspace run .*$PWD/")
        else
            pids=$(ours "$bin/gsum run")
        fi
        pid=$(echo "$pids" | sed -n "$((seed / 1024 % 4 + 1))p")
        if [ -n "$pid" ] && kill -KILL "$pid" 2>/dev/null; then
            hits=$((hits + 1))
        fi
        wait $job
        code=$?
        [ $code -ne 124 ] || { echo "kill $i: did not end"; cat all; return 1; }
        [ -z "$pid" ] || [ $code -ne 0 ] || grep -q "rounds" all || {
            echo "kill $i of $pid: exit code 0"
            cat all
            return 1
        }
        if ! none_left || ! is_readable; then
            echo "kill $i"
            cat all
            return 1
        fi
    done
    echo "$hits of $count were hit" >&3
}

# Until the processes of the run say that they run: their number is given.
wait_running() { # TASKS JOB
    until [ "$("$eventspace" info RUN --format=csv 2>/dev/null |
        grep -c ,running,)" -eq "$1" ]; do
        kill -0 "$2" || return 1
        sleep 0.05
    done
}
