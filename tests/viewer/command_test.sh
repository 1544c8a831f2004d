#!/bin/sh
# command_test.sh - the command from outside: exit codes, where texts go, and
# lists that agree with each other.
#
#     command_test.sh EVENTSPACE REPORT_TEST_RUN GSUM
set -u
eventspace=$1
make_run=$2
gsum=$3
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

# listed WORDS...: the commands below a command, each with these words in front.
listed() {
    "$eventspace" "$@" --list-commands 2>/dev/null | cut -f 1 |
        while read -r command; do
            echo "$@" "$command"
            listed "$@" "$command"
        done
}
listed >commands
# helps_alike WORDS...: `help` in front is `--help` behind.
helps_alike() {
    helps "$@" && cp out behind && gives 0 "$eventspace" help "$@" &&
        cmp out behind
}
check "'--help' helps" helps
while read -r words; do
    # shellcheck disable=SC2086 # they are several words
    check "'$words --help' and 'help $words' help" helps_alike $words
done <commands
check "these were all commands" [ "$(wc -l <commands)" -ge 23 ]
check "those below map are among them" grep -x "map draw" commands
check "no command is wrong usage" wrong_usage
check "an unknown command is wrong usage" wrong_usage fly
check "an unknown map command is wrong usage" wrong_usage map fly
suggests() { # WRONG RIGHT
    gives 2 "$eventspace" "$1" && says "no command '$1'; did you mean '$2'?" err
}
for pair in "veiw view" "rport report" "inof info" "clok clock" \
    "experment experiment" "choose2 choose" "key. key" "hlep help"; do
    # shellcheck disable=SC2086
    check "'${pair% *}' is '${pair#* }', misspelt" suggests $pair
done
suggests_nothing() {
    gives 2 "$eventspace" weather && says "eventspace --help. lists them" err
}
check "what is no command at all gets no suggestion" suggests_nothing
check "an unknown option is wrong usage" wrong_usage info --fly RUN
check "a missing map is wrong usage" wrong_usage map check
check "two maps are wrong usage" wrong_usage map check a b
check "a bad number is wrong usage" wrong_usage map generate -a a --processes 0
check "an unknown shape is wrong usage" wrong_usage map generate -a a \
    --shape star
check "a fan-out of 1 is wrong usage" wrong_usage map generate -a a --fanout 1
check "binomial with a fan-out is wrong usage" wrong_usage map generate -a a \
    --shape binomial --fanout 2
check "a bad format is wrong usage" wrong_usage info --format xml RUN
check "an unknown view is wrong usage" wrong_usage view RUN weather
check "--detail is wrong usage where there is no such" \
    wrong_usage view RUN process --detail
check "a window that ends before it begins is wrong usage" \
    wrong_usage view RUN process --from 2s --to 1s
check "so it is for a report" wrong_usage report RUN --from 2s --to 1s
check "--last excludes --from" wrong_usage report RUN --last 2s --from 1s
check "a run without a program is wrong usage" wrong_usage run a --output RUN
check "--process without a key is wrong usage" \
    wrong_usage run a --output RUN --process h0 -- true

is_called() { # TEXT ARGUMENTS...: which are wrong usage, and this is said
    text=$1
    shift
    wrong_usage "$@" && says "$text" err
}
older="called --process now"
check "--host of run says its name" is_called "--host is $older" \
    run a --output RUN --key key --host h0 -- true
check "--host alone, too" is_called "--host is $older" run --host h0
check "--host of archive says its name" is_called "--host is $older" \
    archive RUN --host h0
check "--hosts of map generate says its name" \
    is_called "--hosts is called --processes now" map generate -a a --hosts 2
check "--hosts of top says its name" \
    is_called "--hosts is called --table=processes now" top RUN --hosts
check "the view host says its name" \
    is_called "the view host is called process now" view RUN host
# COMMAND OLD NEW, one a line: the words that were renamed
renamed() {
    gives 2 "$eventspace" "$@" && [ ! -s out ] &&
        says "--$old is called --$new now\$" err
}
while read -r old new words; do
    for form in "--$old" "--$old=x"; do
        # shellcheck disable=SC2086 # they are several words
        check "'$words $form' says --$new" renamed $words "$form"
    done
done <<'END'
out output run
key-file key run
host process run
host process archive
hosts processes map generate
threads table=threads info
elements table=elements info
collectors table=collectors info
costs table=overhead info
of name view
each detail view
batch frames top
hosts table=processes top
processes table=processes top
collectives table=collectives top
pending table=pending top
out output scope
collectors collector scope
threads thread scope
verbs verb scope
least min-duration scope
map print-map scope
once clients=1 scope
out output merge
END

cut_short() { # the beginning of one that was renamed, and of no other
    gives 2 "$eventspace" top --batc 1 RUN &&
        says "--batch is called --frames now" err
}
check "a renamed word that is cut short says its name" cut_short

misspelt() { # WRONG RIGHT COMMAND...
    wrong=$1
    right=$2
    shift 2
    wrong_usage "$@" "--$wrong" &&
        says "there is no option '--$wrong'; did you mean '--$right'?" err
}
check "--formats is misspelt" misspelt formats format view RUN hops
check "--outputs is misspelt" misspelt outputs output run map
check "--prefualt is misspelt" misspelt prefualt prefault map instrument map
check "--theads is misspelt" misspelt theads thread scope RUN
not_a_command() {
    wrong_usage hops && says "no command 'hops', but a view: eventspace view RUN" \
        err && wrong_usage hops RIVER &&
        says "but a view: eventspace view RIVER hops$" err
}
check "a view is not a command" not_a_command
misspelt_view() {
    wrong_usage view RUN hosp &&
        says "there is no view 'hosp'; did you mean 'hops'?" err
}
check "a view is misspelt" misspelt_view

no_unit() { # NUMBER COMMAND...
    number=$1
    shift
    wrong_usage "$@" && says \
        "'$number' has no unit; write ${number}ms or ${number}s" err
}
while read -r option words; do
    # shellcheck disable=SC2086 # they are several words
    check "$words $option takes a unit" no_unit 5 $words $option 5
    # shellcheck disable=SC2086
    check "$words $option takes no word" wrong_usage $words $option soon
done <<'END'
--grace run map
--archive-interval run map
--from view RUN hops
--to view RUN hops
--last view RUN hops
--from report RUN
--to report RUN
--last report RUN
--follow view RUN hops
--interval top RUN
--window top RUN
--last clock RUN
--follow clock RUN
--interval archive RUN
--interval scope RUN
--statistics scope RUN
--min-duration scope RUN
END
for option in "-t" "-e" "-C" "-c"; do
    check "info has no $option" wrong_usage info $option RUN
done
for option in "-w" "-s" "-b" "-P" "-p" "-c" "-C"; do
    check "top has no $option" wrong_usage top $option 1 RUN
done
check "a range of threads does not go back" wrong_usage view RUN hops --thread 5-3
check "a list of threads is not empty" wrong_usage view RUN hops --thread ,
check "so it is for a scope" wrong_usage scope RUN --output M --thread 5-3
check "a table that there is not is wrong usage" wrong_usage info RUN \
    --table events
check "nor has top each table" wrong_usage top RUN --table elements
check "--clients is for --serve" wrong_usage scope RUN --output M --clients 1
check "--serve is a flag" wrong_usage scope --serve=RUN --listen 127.0.0.1:7 \
    --key key

is_hidden() { # ARGUMENTS...: of commands that had such an option
    helps "$@" && ! grep -e --host out
}
for words in run archive load top "map generate"; do
    # shellcheck disable=SC2086
    check "'$words --help' has no older names" is_hidden $words
done

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
    "$eventspace" map generate --application - --processes 2 <application.dot \
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
    gives 1 "$eventspace" run bad.dot --output RUN -- true && says pigeon err &&
        [ ! -e RUN ]
}
check "a map is made from standard input" generates
nobody_joins() {
    gives 1 "$eventspace" run map.dot --output NOBODY -- ls / &&
        says "the program did not join the run" err
}
check "a program that is none of ours is told apart" nobody_joins
cat >wrong.dot <<'END'
digraph wrong {
    a [kind=thread, number=0];
    b [kind=thread, number=0];
    c [kind=thread];
    e [kind=element, type="i33 f64[", polcy=block];
    f [kind=element, type=i32, capacity=0];
    a -> e [use=write]; b -> e [use=raed];
    c -> f [use=read];
}
END
cites_the_mapping() {
    gives 1 "$eventspace" map generate -a wrong.dot && [ ! -s out ] &&
        says "wrong.dot:3: b: number=0: thread a has that number too" err &&
        says "wrong.dot:4: c: has no number" err &&
        says "wrong.dot:5: e: .*i33" err &&
        says "wrong.dot:5: e: has an unknown attribute, polcy" err &&
        says "wrong.dot:6: f: capacity=0" err &&
        says "wrong.dot:7: b -> e: use=raed" err && [ "$(wc -l <err)" -eq 6 ]
}
check "what is wrong in a mapping is told by its lines" cites_the_mapping
cat >ends.dot <<'END'
digraph ends {
    t0 [kind=thread];
    t1 [kind=thread];
    total [kind=element, type=i32];
    t0 -> total [use=sum];
    t9 -> total [use=sum];
    t0 -> nowhere;
}
END
cites_ends() {
    gives 1 "$eventspace" map generate -a ends.dot && [ ! -s out ] &&
        says "ends.dot:6: t9 -> total: there is no thread t9; did you mean t1" \
            err &&
        says "ends.dot:7: t0 -> nowhere: there is no element nowhere: define" err
}
check "an edge of a thread or element that is not there is told" cites_ends
names_idle() { # PROCESSES TEXT
    printf 'digraph g { a [kind=thread]; b [kind=thread];
        e [kind=element, type=i32]; a -> e [use=sum]; b -> e [use=sum] }' |
        "$eventspace" map generate -a - --processes "$1" -o idle.dot 2>err &&
        "$eventspace" map check idle.dot || return 1
    [ "$2" ] || [ ! -s err ] || return 1
    [ ! "$2" ] || says "$2" err
}
check "processes without threads are named" names_idle 4 \
    "nothing runs in h1, h3: the application has 2 threads for 4 processes"
check "where all have threads nothing is said" names_idle 2 ""
as_mpirun() {
    wrong_usage run -n 2 ./primes &&
        says "map generate --application=FILE --processes=2" err
}
check "run -n says where the number of processes is" as_mpirun
check "a map is instrumented, and back" instruments
check "a map is drawn" draws
check "check names file and line" complains
check "run refuses a bad map with its diagnostics" refuses_to_run

makes_key() {
    "$eventspace" key key && [ "$(stat -c %a key)" = 600 ] &&
        gives 1 "$eventspace" key key
}
check "a key is made once, for its owner" makes_key

# 8 threads in 4 processes, 50 steps: 50 * (6 * 4 + 2 * 2) operations.
check "a run is made" "$make_run" RUN 8 4 50

info_table() {
    "$eventspace" info RUN >list && says '1,400' list && says '0 lost' list &&
        says '1400 present (50.4 kB)' list &&
        says 'an estimated [0-9.]* us in all' list
}
info_json() {
    "$eventspace" info RUN --format json | node -e '
        const info = JSON.parse(require("fs").readFileSync(0));
        const sum = (list, key) => list.reduce((s, row) => s + row[key], 0);
        const assert = require("assert");
        assert.equal(info.total.events_recorded, 1400);
        assert.equal(sum(info.processes, "events_recorded"), 1400);
        assert.equal(sum(info.threads, "operations"), 1400);
        assert.equal(sum(info.collectors, "events"), 1400);
        assert.equal(sum(info.elements, "written"), 1400);
        assert.equal(info.processes.length, 4);
        assert.equal(info.threads.length, 8);'
}
info_csv() {
    "$eventspace" info RUN --format csv --table elements >list &&
        says '^element,process,trace,' list && [ "$(wc -l <list)" -eq 9 ]
}
# shellcheck disable=SC2094 # `steps` is a view, and a file
view_json() {
    "$eventspace" view RUN communication --format json >totals &&
        "$eventspace" view RUN steps --detail --format json >steps &&
        "$eventspace" view RUN steps --format json >wave &&
        "$eventspace" view RUN process --format json >processes &&
        node -e '
        const assert = require("assert");
        const read = (f) => {
            const view = JSON.parse(require("fs").readFileSync(f));
            assert.equal(view.events_recorded, 1400);
            assert.equal(view.events_read, 1400);
            assert.equal(view.events_lost, 0);
            return view.rows;
        };
        const sum = (rows, key) => rows.reduce((s, row) => s + row[key], 0);
        const totals = read("totals"), steps = read("steps");
        const wave = read("wave"), processes = read("processes");
        assert.equal(totals.length, 8);
        assert.equal(steps.length, 400);
        assert.equal(wave.length, 50);
        assert.equal(processes.length, 4);
        const keys = ["communicating_ns", "computing_ns", "operations"];
        for (const t of totals) {
            const own = steps.filter((s) => s.number === t.number);
            for (const key of keys)
                assert.equal(sum(own, key), t[key]);
            assert.equal(t.communicating_ns + t.computing_ns,
                         t.end_ns - t.start_ns);
        }
        for (const h of processes)
            for (const key of keys)
                assert.equal(
                    sum(totals.filter((t) => t.process === h.process), key),
                    h[key]);
        for (const w of wave) {
            const own = steps.filter((s) => s.step === w.step);
            const ends = own.map((s) => s.end_ns);
            assert.equal(w.first_end_ns, Math.min(...ends));
            assert.equal(w.last_end_ns, Math.max(...ends));
            assert.equal(w.spread_ns,
                         Math.max(...own.map((s) => s.after_first_ns)));
        }'
}
view_thread() {
    "$eventspace" view RUN communication --thread 3 --format csv >list &&
        [ "$(wc -l <list)" -eq 2 ] && says '^3,t3,h1,200,50,' list &&
        gives 1 "$eventspace" view RUN communication --thread 8 &&
        says "there is no thread 8" err &&
        "$eventspace" view RUN communication --thread 0,2-3 --format csv \
            >list && [ "$(wc -l <list)" -eq 4 ] && says '^0,t0,' list &&
        says '^2,t2,' list && says '^3,t3,' list &&
        gives 1 "$eventspace" view RUN communication --thread 0,7-9
}
rows_are() { # NUMBERS OPTIONS...: of the view communication
    wanted=$1
    shift
    "$eventspace" view RUN communication --format csv "$@" >list || return 1
    found=$(sed -n 's/^\([0-9]\),.*/\1/p' list | tr '\n' ' ')
    [ "$found" = "$wanted " ] && return 0
    echo "not '$wanted', but '$found'"
    return 1
}
no_thread() { # LIST TEXT
    gives 1 "$eventspace" view RUN communication --thread "$1" && [ ! -s out ] &&
        says "$2" err
}
view_list() {
    "$eventspace" view --list >list && says '^communication ' list &&
        says '^critical-path ' list && says '^waits-for ' list
}
view_all() {
    "$eventspace" view RUN all >list && says '^element-order: ' list &&
        says '^events: 1400 recorded, 1400 read, 0 lost$' list &&
        "$eventspace" view RUN all --format json | node -e '
        const assert = require("assert");
        const all = JSON.parse(require("fs").readFileSync(0));
        assert(all.length >= 14);
        for (const view of all)
            assert(Array.isArray(view.rows) && view.events_read === 1400);' &&
        wrong_usage view RUN all --format csv
}
# The events of a window are those that meet it, and no others.
# shellcheck disable=SC2016 # it is for node
view_window() {
    "$eventspace" view RUN tuples --format json >whole &&
        "$eventspace" view RUN tuples --format json --from 20ms --to 45.5ms \
            >part &&
        "$eventspace" view RUN tuples --format json --last 30ms >last &&
        node -e '
        const assert = require("assert");
        const read = (f) => JSON.parse(require("fs").readFileSync(f));
        const whole = read("whole").rows;
        const name = (t) => `${t.id} ${t.thread} ${t.sequence}`;
        const check = (part, from, to) => {
            const meets = whole.filter(
                (t) => t.start_ns <= to && t.end_ns >= from);
            assert(meets.length > 0 && meets.length < whole.length);
            assert.deepEqual(part.rows.map(name), meets.map(name));
            assert.equal(part.events_read, meets.length);
            assert.equal(part.events_read + part.events_filtered + part.events_lost,
                part.events_recorded);
        };
        check(read("part"), 20e6, 45.5e6);
        const end = Math.max(...whole.map((t) => t.end_ns));
        check(read("last"), end - 30e6, end);'
}
view_of() {
    "$eventspace" view RUN communication --name down_0 --format csv >list &&
        [ "$(wc -l <list)" -eq 3 ] && says '^0,t0,' list && says '^1,' list &&
        "$eventspace" view RUN element-order --name down_0 --detail --format csv \
            >list && [ "$(wc -l <list)" -eq 101 ] &&
        gives 1 "$eventspace" view RUN communication --name nothing &&
        says nothing err
}
no_regions() {
    gives 0 "$eventspace" view RUN regions --format csv && says '^region,' out &&
        says "there are no regions: .*eventspace_region_begin.*regions.h" err
}
view_follow() { # of a run that is over: once
    "$eventspace" view RUN process --follow 10ms --format csv >list &&
        [ "$(wc -l <list)" -eq 5 ]
}
report_default() {
    [ "$("$eventspace" report RUN)" = RUN/report.html ] &&
        [ -s RUN/report.html ]
}
# The operations of the page are those of the view.
report_window() { # TITLE WINDOW...
    title=$1
    shift
    "$eventspace" report RUN -o part.html "$@" &&
        says "<title>[^<]*, $title - EventSpace</title>" part.html &&
        "$eventspace" view RUN communication --format json "$@" >part &&
        node -e '
        const assert = require("assert");
        const read = (f) => require("fs").readFileSync(f, "utf8");
        const data = JSON.parse(read("part.html")
            .match(/<script[^>]*application\/json[^>]*>([^]*?)<\/script>/)[1]);
        const count = (rows) => rows.map((row) => row.operations);
        const rows = JSON.parse(read("part")).rows;
        assert.deepEqual(count(data.threads), count(rows));
        const all = count(rows).reduce((a, b) => a + b);
        assert(all > 0 && all < 1400, all + " operations");'
}
report_scripts() { # what is wrong with one is said, and then there is no page
    printf 'select nothing;\n' >bad.sql
    printf 'select :x as x;\n' >asks.sql
    rm -f scripts.html
    gives 1 "$eventspace" report RUN -o scripts.html --script=missing.sql &&
        says "no view script 'missing.sql'" err &&
        gives 1 "$eventspace" report RUN -o scripts.html --script=asks.sql \
            --script=bad.sql --param=x=1 && says 'bad.sql: statement 1' err &&
        gives 1 "$eventspace" report RUN -o scripts.html --script asks.sql &&
        says ':x has no value' err && [ ! -e scripts.html ] &&
        gives 2 "$eventspace" report RUN -o scripts.html --param=x=1 &&
        says 'for the scripts of --script' err &&
        "$eventspace" report RUN -o scripts.html --script asks.sql \
            --param=x=1 && says '"title":"asks.sql"' scripts.html
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
check "steps and processes sum up to the threads" view_json
check "a view of one thread" view_thread
check "threads by name" rows_are "3" --thread t3
check "by patterns, numbers and ranges" rows_are "0 2 3 6 7" \
    --thread '0,t[67] 2-3'
check "a pattern of all" rows_are "0 1 2 3 4 5 6 7" --thread 't*'
check "a name that is not there" no_thread 0,worker \
    "there is no thread 'worker': see .eventspace info RUN --table=threads"
check "a name that is misspelt" no_thread t33 \
    "there is no thread 't33'; did you mean 't3'?"
check "a pattern of none" no_thread 'w*' "there is no thread 'w\*'"
check "what is neither number nor range is a name" no_thread 3-x \
    "there is no thread '3-x'"
check "the views are listed" view_list
check "all views at once" view_all
check "a window of a run" view_window
check "a view of one element" view_of
check "a run without regions says what makes them" no_regions
check "following a run that has ended" view_follow
check "report goes into the run" report_default
check "a report of the last part" report_window "the last 100ms" --last 100ms
check "a report from a time to another" report_window "from 100ms, to 200ms" \
    --from 100ms --to 200ms
check "scripts in a report" report_scripts
check "a page that cannot be written is told" report_nowhere
check "pipes are written to" report_to_pipe
check "a full disk is told" full_disk

# Runs without events: nothing is printed but why, and what to do.
eventless() { # RUN TEXT
    for view in communication hops all; do
        gives 1 "$eventspace" view "$1" $view && [ ! -s out ] &&
            says "^eventspace: $1: this run has no events.*$2" err || return 1
    done
    gives 1 "$eventspace" report "$1" -o none.html && [ ! -s out ] &&
        says "^eventspace: $1: this run has no events.*$2" err &&
        says "noEvents.*this run has no events" none.html || return 1
    gives 0 "$eventspace" view "$1" pending --format csv &&
        says "^number,thread,process,process_state,state," out
}
no_collectors() {
    "$gsum" mapping --threads 2 | "$eventspace" map generate -a - -o bare.dot &&
        "$eventspace" run bare.dot --output BARE -- "$gsum" run --rounds 10 >out &&
        eventless BARE "eventspace map instrument MAP --output=FILE.*again"
}
no_operations() {
    "$eventspace" map instrument bare.dot -o rich.dot &&
        gives 1 "$eventspace" run rich.dot --output IDLE -- true &&
        eventless IDLE "eventspace info IDLE"
}
killed_run() {
    "$make_run" KILLED 8 4 50 killed && rm KILLED/h1.space KILLED/h2.meta &&
        "$eventspace" info KILLED >list && says 'h3 *killed' list &&
        says 'h2 *missing' list &&
        "$eventspace" view KILLED communication >list 2>err &&
        says 'processes are missing' err &&
        "$eventspace" report KILLED >list
}
check "a view of a run without collectors says what to do" no_collectors
check "so does one of a run without operations" no_operations
check "a run with lost files is shown as far as it is there" killed_run

# --- clocks ---

# Counters of processes that differ: what tuples' times are depends on the
# method.
clocks_run() {
    "$gsum" mapping --threads 4 | "$eventspace" map generate -a - --processes 2 |
        "$eventspace" map instrument - --collectors all |
        awk '{ print }
            /^ *subgraph / { printf "counter_offset=\"+%ds\";", ++n
                             printf "counter_rate=\"+%dppm\";", 30 * n }' \
            >clocks.dot &&
        "$eventspace" run clocks.dot --output CLOCKS -- "$gsum" run --rounds 200
}
tuples_by() { # METHOD FILE
    "$eventspace" view CLOCKS tuples --format csv --method "$1" >"$2"
}
view_method() {
    "$eventspace" view CLOCKS tuples --format csv >usual &&
        tuples_by hull hull && tuples_by average average &&
        cmp usual hull && ! cmp -s hull average &&
        [ "$(wc -l <hull)" -eq "$(wc -l <average)" ] &&
        wrong_usage view CLOCKS tuples --method mean &&
        says "the method 'mean' is not one of hull, average" err
}
check "a run on processes with other clocks" clocks_run
check "a view by either method of aligning them" view_method

# --- experiments ---

# By the profile of another program: nothing can be predicted of its nodes.
experiment_of_another() {
    "$eventspace" profile --no-packets -o other.profile -- sh -c 'kill -0 $$' &&
        gives 1 "$eventspace" experiment RUN/pathmap.dot --format json \
            --profile other.profile --scenario h1:load=1 -- true &&
        says 'predicting "h1:load=1".*no such node' err && node -e '
        const assert = require("assert");
        const rows = JSON.parse(require("fs").readFileSync("out"));
        assert.deepEqual(rows.map((r) => r.scenario),
                         ["dedicated", "h1:load=1"]);
        assert.equal(rows[0].model, "dedicated");
        const {scenario, runs, ...rest} = rows[1];
        assert.equal(runs, 0);
        assert(Object.values(rest).every((value) => value === null));
        assert.deepEqual(Object.keys(rows[1]), Object.keys(rows[0]));'
}
check "what cannot be predicted is left blank" experiment_of_another

# --- two programs ---

alone() {
    mkdir -p apart/bin && cp "$eventspace" apart/bin/eventspace &&
        apart/bin/eventspace --version >out && says '^eventspace [0-9]' out &&
        gives 1 apart/bin/eventspace report run &&
        says '/libexec/eventspace-whole: .*is EventSpace installed as a whole?' \
            err
}
check "a command of the second program says that it is missing" alone
few_libraries() { # they take most of the time of a short command
    ldd "$eventspace" >libraries && ! grep -E \
        'gnutls|gvc|archive|open-trace|pcap|microhttpd' libraries
}
check "eventspace loads no library that few commands need" few_libraries

[ $failures -eq 0 ]
