#!/bin/sh
# sql_test.sh - `eventspace sql` as people use it, view scripts, and the extension
# in programs that are not ours.
#
#     sql_test.sh EVENTSPACE GSUM SOURCE [EXTENSION]
#
# Without the extension (a build with sanitizers, which SQLite's programs cannot
# load) only the command is tested.
# shellcheck disable=SC2317 # the functions are called by check
. "$(dirname "$0")/check.sh"
eventspace=$1
gsum=$2
source=$3
extension=${4:-}
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
mkdir -p home/eventspace/views
export XDG_CONFIG_HOME="$folder/home"

"$gsum" mapping --threads=4 |
    "$eventspace" map generate --application=- --processes=2 |
    "$eventspace" map instrument - --output=map.dot || exit 1
"$eventspace" run map.dot --output=RUN -- "$gsum" run --rounds=50 >log || exit 1
all=$("$eventspace" view RUN tuples --format=csv | tail -n +2 | wc -l)

sql() { "$eventspace" sql RUN "$@" >out 2>err; }
fails() { ! "$@"; }
last() { [ "$(tail -n 1 out | tr -d '\r')" = "$1" ] || { cat out err; return 1; }; }

# --- statements ---

several() {
    sql "create table a as select 1 as x; select x from a; select count(*) as n
        from event -- no semicolon" --format=csv && last "$all" &&
        says '^x' out
}
check "several statements" several
input() {
    printf 'select count(*) as n\n from event;\n.schema clock\n\nselect 7' |
        "$eventspace" sql RUN --format=csv >out 2>err && last 7 &&
        says '"offset_ns"' out && says "^$all" out
}
check "statements from standard input" input
stops() {
    printf 'select 1;\nselect nothing;\nselect 3;\n' |
        fails "$eventspace" sql RUN >out 2>err && says 'select nothing' err &&
        fails says 3 out
}
check "a file ends at the statement that fails" stops
no_text() { # nothing behind a 0 is left out without a word
    printf 'select 1;\0select 2;\n' | fails "$eventspace" sql RUN >out 2>err &&
        says 'no text' err
}
check "statements with a 0 in them" no_text
memory() { # the same with a limit, for all commands that have one
    sql "select * from tuples" --format=csv && mv out whole &&
        sql "select * from tuples" --format=csv --memory=64M && cmp whole out &&
        "$eventspace" view RUN hops --format=csv >whole &&
        "$eventspace" view RUN hops --format=csv --memory=64M | cmp whole - &&
        "$eventspace" clock RUN --format=csv >whole &&
        "$eventspace" clock RUN --format=csv --memory=64M | cmp whole - &&
        fails sql "select 1" --memory=1M && says "must be 64M at least" err &&
        fails sql "select 1" --memory=64MB && says "such as 500M or 2G" err
}
check "a limit on memory" memory
many="with recursive n(i) as (select 1 union all select i + 1 from n
    where i < 1000000) select i, 'text ' || i as t from n"
# Without a limit its rows take more memory than there is here, in a process that
# is not counted by what its pages of files take.
limited() {
    # shellcheck disable=SC3045 # all shells here have it
    (ulimit -d 56000 && fails sql "$many" --format=csv &&
        says "no memory" err && sql "$many" --format=csv --memory=64M) &&
        last "1000000,text 1000000"
}
[ -z "$extension" ] || check "also on that of a result" limited
large() { # is an error and no signal
    # shellcheck disable=SC3045
    (ulimit -f 20000 && sql "$many" --memory=64M)
    [ $? -eq 1 ] && says "File too large" err && says "ulimit -f" err
}
check "a temporary file that may not be so large" large
folder() {
    TMPDIR=$folder/nowhere fails sql "select 1" --memory=64M &&
        says "nowhere: cannot make a temporary file" err &&
        says "Set TMPDIR" err
}
check "a folder for it that is not there" folder
parameter() {
    sql "select :a || :b as text" --param=a=x --param b=y=z --format=csv &&
        last xy=z && fails sql "select :c" && says ':c has no value' err
}
check "parameters" parameter
nearest() {
    fails sql "select * from wait_for" && says "did you mean 'waits_for'" err &&
        fails sql ".schema evnt" && says "did you mean 'event'" err &&
        sql .tables && says '^critical_path_detail' out
}
check "names of tables" nearest
json() {
    sql "select name, number from thread order by 2 limit 1" --format=json &&
        last ']' && says '{"name":"t0","number":0}' out
}
check "JSON" json
no_file() {
    fails sql "attach 'made' as m" && fails sql "vacuum into 'made'" &&
        fails sql "pragma writable_schema=1" &&
        fails sql "select writefile('made', 'x')" &&
        fails sql "select load_extension('x')" && none made
}
check "no file is made" no_file
terminal() { # `script` gives the command a terminal
    printf 'select 41 +\n1 as answer;\nselect bad;\n.tables\n.quit\n' |
        script -qec "'$eventspace' sql RUN" /dev/null >out 2>&1 &&
        says 'eventspace> ' out && says '   ...> ' out && says 42 out &&
        says 'no such column' out && says '^waits_for' out
}
check "a terminal" terminal

# --- windows ---

number() { "$eventspace" sql RUN "$1" --format=csv | tail -n 1 | tr -d '\r'; }
from=$(number "select min(start_ns) from step where step = 10")
to=$(number "select max(end_ns) from step where step = 40")
windows() { # each view, and its rows in detail, as `view` has them
    full=0
    for view in $("$eventspace" view --list --format=csv | tail -n +2 |
        cut -d, -f1 | grep -v '\.sql$'); do
        for detail in "" --detail; do
            # shellcheck disable=SC2086 # without --detail it is no argument
            "$eventspace" view RUN "$view" $detail --from="${from}ns" \
                --to="${to}ns" --format=csv >wanted 2>err || continue
            table=$(echo "$view" | tr - _ | sed 's/^process$/process_view/')
            table=$table${detail:+_detail}
            sql "select * from $table('${from}ns', $to)" --format=csv &&
                cmp out wanted || return 1
            [ "$(wc -l <wanted)" -le 1 ] || full=$((full + 1))
        done
    done
    [ "$full" -gt 15 ] || { echo "only $full views have rows"; return 1; }
}
check "views of a window" windows
limits() { # of one side, of none, and as conditions
    sql "select sum(operations) as n from communication(NULL, '${to}ns')
        where window_from is null" --format=csv && part=$(tail -n 1 out | tr -d '\r') &&
        sql "select sum(operations) as n from communication" --format=csv &&
        whole=$(tail -n 1 out | tr -d '\r') && [ "$part" -lt "$whole" ] &&
        sql "select sum(operations) as n from communication
            where window_to = :to" --param="to=$to" --format=csv &&
        last "$part" &&
        sql "select sum(operations) as n from communication(null, null)" \
            --format=csv && last "$whole"
}
check "limits of a window" limits
windows_of_rows() { # a window for each row of another table
    sql "select s.step, sum(c.operations) as n, group_concat(c.process) as who
        from (select * from step where thread = 't0' and step in (10, 20)) s,
        communication(s.start_ns, s.end_ns) c group by 1" --format=csv &&
        says '^10,[1-9][0-9]*,.*h[01]' out && says '^20,[1-9][0-9]*,.*h[01]' out
}
check "windows of rows" windows_of_rows
two_windows() { # at once, each with its own rows
    sql "select a.operations || ' ' || b.operations as both, a.thread
        from communication(0, '${from}ns') a
        join communication('${from}ns') b on b.thread = a.thread
        order by 2 limit 1" --format=csv && cp out joined &&
        sql "select a.operations || ' ' || (select operations from
        communication('${from}ns') where thread = 't0'), 't0'
        from communication(0, '${from}ns') a where thread = 't0'" \
            --format=csv && last "$(tail -n 1 joined | tr -d '\r')"
}
check "two windows" two_windows
no_window() {
    fails sql "select * from communication('5')" &&
        says "window_from: '5' is neither a time" err &&
        fails sql "select * from communication('2s', '1s')" &&
        says "window_from is later than window_to" err &&
        fails sql "select * from collector('1s')" && says 'arguments' err &&
        sql ".schema communication" && says 'window_from HIDDEN' out
}
check "what is no window" no_window

damaged() { # what could not be read is no answer
    cp -r RUN DAMAGED && truncate -s 100 DAMAGED/h1.space &&
        printf 'select count(*) as n from event;\n' >count.sql || return 1
    "$eventspace" sql DAMAGED "select count(*) from event" >out 2>err &&
        says 'process h1: .*h1.space' err &&
        "$eventspace" view DAMAGED ./count.sql >out 2>err &&
        says 'process h1: .*h1.space' err
}
check "a file that cannot be read is named" damaged

# --- view scripts ---

scripts() {
    for name in who_communicates who_comes_last who_waits_for_whom; do
        "$eventspace" view RUN "$source/examples/views/$name.sql" \
            --format=csv >out 2>err || { cat err; return 1; }
        [ "$(wc -l <out)" -ge 2 ] || { echo "$name: no rows"; return 1; }
    done
}
check "the scripts of examples/views" scripts
last_of_each() { # 50 rounds have a last one each
    "$eventspace" view RUN "$source/examples/views/who_comes_last.sql" \
        --format=csv >out &&
        [ "$(awk -F, 'NR > 1 { n += $3 } END { print n }' out)" = 50 ]
}
check "each round has a last thread" last_of_each
printf -- '-- title: One number\n-- chart: bar\n-- columns: n\n-- param: add=1\nselect count(*) + :add as n from event;\n' \
    >home/eventspace/views/one.sql
found() {
    "$eventspace" view RUN one --format=csv >out && last "$((all + 1))" &&
        "$eventspace" view RUN one.sql --param=add=5 --format=csv >out &&
        last "$((all + 5))" && "$eventspace" view RUN one --format=json >out &&
        says '"chart":"bar","columns":\["n"\]' out &&
        "$eventspace" view --list >out && says '^one.sql  *One number' out
}
check "a script in the folder of views" found
no_files() { # of what is no file nothing is read
    mkdir home/eventspace/views/a.sql && mkfifo home/eventspace/views/b.sql &&
        timeout 60 "$eventspace" view --list >out && fails says '^[ab].sql' out
    code=$?
    rm -r home/eventspace/views/[ab].sql
    return "$code"
}
check "a pipe among the scripts" no_files
quotes() { # in what a script says of itself, and what it is given
    printf -- '-- title: "A" \\ title\n-- columns: a"b\n-- param: p=it'"'"'s "1"\nselect :p as "a""b";\n' \
        >quotes.sql
    "$eventspace" view RUN quotes.sql --format=json >out &&
        says '"title":"\\"A\\" \\\\ title"' out &&
        says '"columns":\["a\\"b"\]' out &&
        says "it's \\\\\"1\\\\\"" out &&
        "$eventspace" view RUN quotes.sql --param="p='; drop table x; --" \
            --format=csv >out && last "'; drop table x; --"
}
check "quotes in a script" quotes
in_run() {
    printf -- '-- title: Of this run\nselect 5 as n;\n' >RUN/one.sql
    "$eventspace" view RUN one --format=csv >out && last 5 &&
        "$eventspace" view RUN --list >out && says 'Of this run' out &&
        fails says 'One number' out
    code=$?
    rm RUN/one.sql
    return "$code"
}
check "a script in the run comes first" in_run
refused() {
    printf -- '-- chart: pie\nselect 1;\n' >bad.sql
    fails "$eventspace" view RUN bad.sql 2>err && says 'bad.sql:1: the chart' err
    printf -- '-- columns: x\nselect 1 as y;\n' >bad.sql
    fails "$eventspace" view RUN bad.sql 2>err && says "column 'x'" err
    printf 'create table a(b);\n' >bad.sql
    fails "$eventspace" view RUN bad.sql 2>err && says 'gives no rows' err
    fails "$eventspace" view RUN one --thread=1 2>err &&
        says 'no options but' err &&
        fails "$eventspace" view RUN communication --param=a=1 2>err &&
        says 'has no parameters' err &&
        fails "$eventspace" view RUN nothing.sql 2>err &&
        says 'no view script' err
}
check "what is wrong with a script" refused

# --- the extension ---

if [ "$extension" ]; then
    shell() {
        printf ".load %s\nselect eventspace_open('RUN');\nselect count(*) from event;\nselect eventspace_open('RUN', 'b_');\nselect count(*) from b_event b join collector c on c.id = b.collector;\nselect eventspace_open('RUN');\nselect count(*) from waits_for w join thread t on t.name = w.thread;\n" \
            "$extension" | sqlite3 >out 2>err &&
            [ "$(sed -n 2p out)" = "$all" ] &&
            [ "$(sed -n 4p out)" = "$all" ] && [ ! -s err ] && return
        cat out err
        return 1
    }
    check "the shell sqlite3" shell
    missing() {
        printf ".load %s\nselect eventspace_open('NOTHING');\n" "$extension" |
            sqlite3 >out 2>&1
        says NOTHING out
    }
    check "a run that is not there" missing
    reopened() { # each run that another one replaces is closed
        /usr/bin/python3 - "$extension" >out 2>err <<'END' && says '^closed$' out
import os, sqlite3, sys
db = sqlite3.connect(":memory:")
db.enable_load_extension(True)
db.load_extension(sys.argv[1])
files = []
for i in range(20):
    for prefix in "", "it's \"b\" ", "cC"[i % 2]:
        db.execute("select eventspace_open('RUN', ?)", (prefix,)).fetchall()
    assert db.execute("select (select count(*) from event) = (select count(*) "
                      "from \"it's \"\"b\"\" event\")").fetchall() == [(1,)]
    files.append(len(os.listdir("/proc/self/fd")))
print("closed" if files[0] == files[-1] else files)
END
    }
    python() {
        /usr/bin/python3 "$source/examples/views/who_waits.py" "$extension" RUN \
            >out 2>err && says '^t[0-3] waits for t[0-3]: [0-9.]* ms$' out
    }
    if /usr/bin/python3 -c 'import sqlite3
sqlite3.connect(":memory:").enable_load_extension(True)' 2>err; then
        check "Python" python
        check "a run opened in place of another" reopened
    else
        echo "skipped Python: /usr/bin/python3 loads no extensions"
    fi
fi

exit "$failures"
