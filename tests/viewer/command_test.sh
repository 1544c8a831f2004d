#!/bin/sh
# command_test.sh - the command from outside: exit codes, where texts go, and
# lists that agree with each other.
#
#     command_test.sh EVENTSPACE REPORT_TEST_RUN
set -u
eventspace=$1
make_run=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0

# check NAME COMMAND...: the command succeeds.
check() {
    name=$1
    shift
    if "$@" >out 2>err; then
        echo "ok      $name"
    else
        echo "FAILED  $name"
        cat out err
        failures=$((failures + 1))
    fi
}

# gives CODE COMMAND...: the exit code of the command.
gives() {
    wanted=$1
    shift
    "$@" >out 2>err
    code=$?
    [ $code -eq "$wanted" ] && return 0
    echo "exit code $code, not $wanted"
    return 1
}

says() { # TEXT FILE
    grep -q -- "$1" "$2" && return 0
    echo "no \"$1\" in:"
    cat "$2"
    return 1
}

wrong_usage() {
    gives 2 "$eventspace" "$@" && [ ! -s out ] && says eventspace err
}

helps() {
    gives 0 "$eventspace" "$@" --help && says Usage out && [ ! -s err ]
}

for words in "" "map" "map check" "map generate" "map instrument" "map draw" \
    "run" "key" "info" "view" "report"; do
    check "'$words --help' helps" helps $words
done
check "no command is wrong usage" wrong_usage
check "an unknown command is wrong usage" wrong_usage fly
check "an unknown map command is wrong usage" wrong_usage map fly
check "an unknown option is wrong usage" wrong_usage info --fly RUN
check "a missing map is wrong usage" wrong_usage map check
check "two maps are wrong usage" wrong_usage map check a b
check "a bad number is wrong usage" wrong_usage map generate -a a --hosts 0
check "an unknown shape is wrong usage" wrong_usage map generate -a a \
    --shape star
check "a fan-out of 1 is wrong usage" wrong_usage map generate -a a --fanout 1
check "binomial with a fan-out is wrong usage" wrong_usage map generate -a a \
    --shape binomial --fanout 2
check "a bad format is wrong usage" wrong_usage info --format xml RUN
check "an unknown view is wrong usage" wrong_usage view RUN weather
check "a run without a program is wrong usage" wrong_usage run a --out RUN
check "--host without a key is wrong usage" \
    wrong_usage run a --out RUN --host h0 -- true

missing_run() {
    gives 1 "$eventspace" info nowhere && says nowhere err && [ ! -s out ]
}
check "a missing run is told on standard error" missing_run

cat >application.dot <<'END'
digraph pair {
    t0 [kind=thread, number=0];
    t1 [kind=thread, number=1];
    pipe [kind=element, type="u8[8]"];
    t0 -> pipe [as=out, use=write];
    t1 -> pipe [as=in, use=read];
}
END

generates() {
    "$eventspace" map generate --application - --hosts 2 <application.dot \
        >map.dot && says 'kind=proxy' map.dot &&
        "$eventspace" map check map.dot
}
instruments() {
    "$eventspace" map instrument - <map.dot >all.dot && says ec1 all.dot &&
        "$eventspace" map check all.dot &&
        "$eventspace" map instrument --collectors none -o none.dot all.dot &&
        ! grep -q collector none.dot
}
draws() {
    "$eventspace" map draw all.dot >map.svg && says '<svg' map.svg &&
        "$eventspace" map draw all.dot -o map.png && [ -s map.png ]
}
complains() {
    sed 's/kind=proxy/kind=pigeon/' map.dot >bad.dot
    gives 1 "$eventspace" map check bad.dot && says '^bad.dot:[0-9]*: ' out &&
        says pigeon out
}
refuses_to_run() {
    gives 1 "$eventspace" run bad.dot --out RUN -- true && says pigeon err &&
        [ ! -e RUN ]
}
check "a map is made from standard input" generates
check "a map is instrumented, and back" instruments
check "a map is drawn" draws
check "check names file and line" complains
check "run refuses a bad map with its complaints" refuses_to_run

makes_key() {
    "$eventspace" key key && [ "$(stat -c %a key)" = 600 ] &&
        gives 1 "$eventspace" key key
}
check "a key is made once, for its owner" makes_key

# 8 threads on 4 hosts, 50 steps: 50 * (6 * 4 + 2 * 2) operations.
check "a run is made" "$make_run" RUN 8 4 50

info_table() {
    "$eventspace" info RUN >list && says '1,400' list && says '0 lost' list
}
info_json() {
    "$eventspace" info RUN --format json | node -e '
        const info = JSON.parse(require("fs").readFileSync(0));
        const sum = (list, key) => list.reduce((s, row) => s + row[key], 0);
        const assert = require("assert");
        assert.equal(info.total.events_made, 1400);
        assert.equal(sum(info.hosts, "events_made"), 1400);
        assert.equal(sum(info.threads, "operations"), 1400);
        assert.equal(sum(info.collectors, "events"), 1400);
        assert.equal(sum(info.elements, "written"), 1400);
        assert.equal(info.hosts.length, 4);
        assert.equal(info.threads.length, 8);'
}
info_csv() {
    "$eventspace" info RUN --format csv --elements >list &&
        says '^element,host,trace,' list && [ "$(wc -l <list)" -eq 9 ]
}
view_json() {
    "$eventspace" view RUN communication --format json >totals &&
        "$eventspace" view RUN communication --format json --steps >steps &&
        node -e '
        const read = (f) => JSON.parse(require("fs").readFileSync(f));
        const totals = read("totals"), steps = read("steps");
        const assert = require("assert");
        assert.equal(totals.length, 8);
        assert.equal(steps.length, 400);
        for (const t of totals) {
            const own = steps.filter((s) => s.number === t.number);
            const sum = (key) => own.reduce((s, row) => s + row[key], 0);
            for (const key of ["communicating_ns", "computing_ns",
                               "operations"])
                assert.equal(sum(key), t[key]);
            assert.equal(t.communicating_ns + t.computing_ns,
                         t.end_ns - t.start_ns);
        }'
}
view_thread() {
    "$eventspace" view RUN communication --thread 3 --format csv >list &&
        [ "$(wc -l <list)" -eq 2 ] && says '^3,t3,h1,200,50,' list &&
        gives 1 "$eventspace" view RUN communication --thread 8
}
report_default() {
    [ "$("$eventspace" report RUN)" = RUN/report.html ] &&
        [ -s RUN/report.html ]
}
report_nowhere() {
    gives 1 "$eventspace" report RUN -o no/such/folder.html &&
        says no/such/folder.html err
}
pipe_written() { # COMMAND ... PIPE: what is no file is not replaced by one
    cat pipe >from_pipe &
    "$@" && wait $! && [ -p pipe ] && [ -s from_pipe ]
}
report_to_pipe() {
    rm -f pipe && mkfifo pipe &&
        pipe_written "$eventspace" report RUN -o pipe &&
        pipe_written "$eventspace" map instrument RUN/pathmap.dot -o pipe
}
full_disk() {
    "$eventspace" info RUN >/dev/full 2>err
    [ $? -eq 1 ] && says 'standard output' err
}
check "info tells totals" info_table
check "info's lists agree" info_json
check "info lists elements as CSV" info_csv
check "the steps of a view sum up to its totals" view_json
check "a view of one thread" view_thread
check "report goes into the run" report_default
check "a page that cannot be written is told" report_nowhere
check "pipes are written to" report_to_pipe
check "a full disk is told" full_disk

killed_run() {
    "$make_run" KILLED 8 4 50 killed && rm KILLED/h1.space KILLED/h2.meta &&
        "$eventspace" info KILLED >list && says 'h3 *killed' list &&
        says 'h2 *missing' list &&
        "$eventspace" view KILLED communication >list &&
        "$eventspace" report KILLED >list
}
check "a run with lost files is shown as far as it is there" killed_run

[ $failures -eq 0 ]
