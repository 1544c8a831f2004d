#!/bin/sh
# command_test.sh BIN - eventspace contract and eventspace signature, with runs
# of real programs.
set -eu
bin=$1
PATH=$bin:$PATH
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() {
    echo "command_test.sh: $1" >&2
    exit 1
}

# --- rules ---

eventspace contract rules distance=3,3.5,4,4.5,5,5.5,6 --format=csv |
    tr -d '\r' | cut -d, -f2 > levels
printf '%s\n' contract 0 0.207317 0.363636 0.5 0.636364 0.792683 1 |
    diff levels - || fail 'the levels of figure 4'
eventspace contract rules --detail distance=4 --format=csv | tr -d '\r' |
    grep -q '^distance,4,SHORT,0.666667$' || fail 'degrees'
printf 'var a(0, 1) { set triangle B (1, 1, 1); }\nif (a = B) {}\n' > wrong
if eventspace contract rules --rules=wrong a=1 2> said; then
    fail 'a wrong rulebase was taken'
fi
grep -q '^eventspace: wrong:2:7: expected "==" or "!=", not "="$' said ||
    fail "$(cat said)"

# --- a run, and the same program that does something else ---

run_of() { # DIRECTORY SIZE ROUNDS
    sor mapping --threads=3 --size="$2" --rounds="$3" > app.dot
    eventspace map generate --application=app.dot --processes=3 \
        --output=map.dot
    eventspace map instrument map.dot --output=all.dot
    eventspace run all.dot --output="$1" -- sor run > /dev/null
}
run_of BASE W 3000
run_of SAME W 3000
run_of OTHER S 8000

# Rates are left to the machine, on which other things may go on. At its end a
# run gathers its result, which is no promise of any round: on a busy machine for
# some intervals of a twentieth of a second.
cat > metrics <<'EOF'
interval 0.2;
violated 3;
tolerance 0.2;
metric intrinsic operation_bytes = bytes / operations;
EOF
eventspace contract make BASE --metrics=metrics --output=made
grep -q '^class intrinsic of "h1" (' made || fail "$(cat made)"
eventspace contract make BASE --metrics=made | diff made - ||
    fail 'a contract is no metrics for the same one'
eventspace contract check made SAME > said || fail "$(cat said)"
grep -q '^The contract was kept.$' said || fail "$(cat said)"

# Of several runs, and of processes that are judged together.
eventspace contract make BASE SAME --metrics=metrics --group='ends=h0,h2' --group=ends=h0 \
    --group='all three=h*' --machines --output=both
machine=$(uname -n)
for group in '"ends" of "h0", "h2"' '"all three" of "h0", "h1", "h2"' \
    "\"on $machine\" of \"h0\", \"h1\", \"h2\""; do
    grep -q "^group $group;\$" both || fail "no group $group: $(cat both)"
done
seen_of() { # CONTRACT: intervals that h1 was alike in
    sed -n 's/^class intrinsic of "h1" .* seen \([0-9]*\);$/\1/p' "$1" | head -n 1
}
[ "$(seen_of both)" -gt "$(seen_of made)" ] || fail "$(cat both)"
eventspace contract check both SAME > said || fail "$(cat said)"
code=0
eventspace contract check both OTHER --format=csv > said || code=$?
[ $code -eq 3 ] || fail "code $code, not 3, of groups"
for group in ends 'all three' "on $machine"; do
    grep -q "^$group,intrinsic,.*,program," said || fail "$group: $(cat said)"
done
code=0
eventspace contract check made OTHER --format=csv > said || code=$?
[ $code -eq 3 ] || fail "code $code, not 3"
for process in h0 h1 h2 all; do
    grep "^$process,intrinsic,.*,operation_bytes,.*,program," said ||
        fail "nothing is said of $process: $(cat said)"
done
code=0
eventspace contract check made OTHER --detail --format=json > said || code=$?
[ $code -eq 3 ] || fail "code $code, not 3, of --detail"
grep -q '"violated": *"intrinsic"' said || fail 'no violation in the detail'
# From the first interval on that is off, though it was known from the third one on;
# and as often in the detail as in the table.
eventspace contract check made OTHER --detail --format=csv | tr -d '\r' > detail || :
awk -F, '$1 == "h1" && $3 >= 0.5 { exit !($7 == "intrinsic" && $8 == "") }' detail ||
    fail "the first interval that is off: $(grep ^h1 detail)"
eventspace contract check made OTHER --format=csv | tr -d '\r' > table || :
[ "$(grep -c '^h1,.*,intrinsic,' detail)" -eq \
    "$(awk -F, '$1 == "h1" { sum += $5 } END { print sum }' table)" ] ||
    fail "$(cat table detail)"
eventspace report OTHER --last=300ms --contract=made --output=page.html
for title in 'who broke it, and why' 'how far from what the program does'; do
    grep -q "made: $title" page.html || fail "no panel: $title"
done
if eventspace report OTHER --contract=missing --output=no.html 2> said ||
    [ -e no.html ]; then
    fail 'a page of a contract that is not there'
fi
grep -q '^eventspace: cannot open missing: ' said || fail "$(cat said)"

# --- with a network ---

cat > cluster.dot <<'EOF'
digraph cluster {
    s [kind=switch]; h0; h1;
    edge [latency="1us", bandwidth="1gbit"];
    h0 -> s; h1 -> s;
}
EOF
eventspace contract make BASE --metrics=metrics --cluster=cluster.dot \
    --output=with
grep -q '^cluster "cluster.dot";$' with || fail "$(cat with)"
code=0
eventspace contract check with OTHER --format=csv > said 2> warned || code=$?
[ $code -eq 3 ] || fail "code $code, not 3, with a network"
head -n 1 said | tr -d '\r' | grep -q ',cause,other,link$' || fail "$(cat said)"
grep -q '1 of 3 processes, such as h2, are on no machine of cluster.dot' warned ||
    fail "$(cat warned)"
mkdir there
eventspace contract make BASE --metrics=metrics --cluster=cluster.dot \
    --output=there/with
eventspace contract check there/with SAME > /dev/null 2>&1 ||
    fail 'a contract in another folder than its cluster'
eventspace contract make BASE --metrics=there/with --output=new
eventspace contract check new SAME > /dev/null 2>&1 ||
    fail 'a contract with the cluster of another folder'
for name in - /dev/stdin; do
    if eventspace contract make BASE --cluster=$name < cluster.dot 2> said; then
        fail 'a contract of a cluster that has no name'
    fi
    grep -q "^eventspace: $name: the contract names this file" said ||
        fail "$(cat said)"
done
mkdir 'a"b'
cp cluster.dot 'a"b'
if eventspace contract make BASE '--cluster=a"b/cluster.dot' 2> said; then
    fail 'a cluster with quotation marks'
fi
grep -q 'a contract cannot name this file' said || fail "$(cat said)"
printf 'metric performance a = bytes;\ncluster "missing.dot";\n' > wrong
if eventspace contract check wrong SAME 2> said; then
    fail 'a cluster that is not there'
fi
grep -q 'missing.dot' said || fail "$(cat said)"

# --- what the program counts ---

counted_of() { # DIRECTORY CELLS
    cat > counted.dot <<'EOF'
digraph sums {
  t0 [kind=thread, number=0]; t1 [kind=thread, number=1];
  total [kind=element, type="u64", policy=discard];
  t0 -> total [use=sum]; t1 -> total [use=sum];
}
EOF
    eventspace map generate --application=counted.dot --processes=2 \
        --output=map.dot
    eventspace map instrument map.dot --output=all.dot
    eventspace run all.dot --output="$1" -- metric_app 1500 "$2" > /dev/null
}
counted_of CELLS 50
counted_of MORE 80
cat > cells <<'EOF'
interval 0.1;
violated 2;
tolerance 0.3;
metric intrinsic round_cells = program("cells") / rounds;
EOF
eventspace contract make CELLS --metrics=cells --output=made_cells
# Thread 1 counts twice as much, and each round is one operation.
grep -q '^class intrinsic of "h0" (\(4[6-9]\|5[0-4]\)[.)]' made_cells ||
    fail "$(cat made_cells)"
grep -q '^class intrinsic of "h1" (\(9[2-9]\|10[0-8]\)[.)]' made_cells ||
    fail "$(cat made_cells)"
code=0
eventspace contract check made_cells MORE --format=csv > said || code=$?
[ $code -eq 3 ] || fail "code $code, not 3, of a program that counts more"
grep -q '^h1,intrinsic,.*,round_cells,.*,program,' said || fail "$(cat said)"
sed 's/"cells"/"sells"/' made_cells > wrong_name
code=0
eventspace contract check wrong_name MORE > said 2>&1 || code=$?
[ $code -eq 1 ] || fail "code $code, not 1, of what no process counts"
grep -q 'no process counts "sells"' said || fail "$(cat said)"

# --- watching ---

# A run that has ended is seen as `check` sees it, but for what is only known by
# those intervals that follow, and has no cause.
code=0
eventspace contract watch made OTHER --format=json > said || code=$?
[ $code -eq 3 ] || fail "code $code, not 3, of watch"
rows() { # of JSON: process and moment of violations
    sed -n 's/.*"process": *"\([^"]*\)", *"start_ns": *\([0-9]*\),.*/\1 \2/p' |
        sort
}
grep '"intrinsic_violated": *1' said | rows > watched
eventspace contract check made OTHER --detail --format=json |
    grep '"violated": *"intrinsic", *"cause": *"[a-z]' | rows > checked
[ -s checked ] || fail 'no violations'
diff watched checked || fail 'watch and check differ'

# One that is not there.
if eventspace contract watch made NOBODY > said 2>&1; then
    fail 'a run that is not there was watched'
fi
grep -q '^eventspace: .*NOBODY' said || fail "$(cat said)"
sed 's/"h\([0-2]\)"/"other\1"/' made | grep -v ' of all ' > wrong
if eventspace contract watch wrong SAME > said 2>&1; then
    fail 'a contract of other processes'
fi
grep -q 'the contract has classes of none of the processes of this run (the first one is h0)' \
    said || fail "$(cat said)"

# One that goes on. What is started at a violation tells of it.
run_of LIVE S 20000 &
until [ -e LIVE/definitions ]; do
    kill -0 $! || fail 'the run has not begun'
done
code=0
# shellcheck disable=SC2016 # by the shell that it is given to
eventspace contract watch made LIVE \
    --on-violation='echo "$EVENTSPACE_PROCESS $EVENTSPACE_CONTRACT" \
        "$EVENTSPACE_CAUSE" >> told
        eventspace archive LIVE --once' > said || code=$?
wait
[ $code -eq 3 ] || fail "code $code, not 3, of a run that goes on"
grep -q ' s  h1: intrinsic violated, operation_bytes .*: program$' said ||
    fail "$(cat said)"
until grep -q '^h1 intrinsic program$' told 2> /dev/null &&
    [ -s LIVE/h1.archive ]; do
    : # it is started, and nobody waits for it
done

# --- signatures ---

eventspace signature BASE --metrics=metrics --format=csv | tr -d '\r' > said
grep -q '^h2,intrinsic,1,[0-9]*,operation_bytes,' said || fail "$(cat said)"
eventspace signature BASE --metrics=metrics --detail --format=csv |
    head -1 | tr -d '\r' | grep -qx 'process,start_ns,operation_bytes' ||
    fail 'columns of metrics'

# What a process does in an interval adds up, and is what other views count. Where it
# is in no operation, there is no share of them.
cat > sums <<'EOF'
interval 0.05;
metric intrinsic time = (communicating + computing) / (threads * seconds);
metric intrinsic waits = waiting / communicating;
metric intrinsic off = (cpu + ready) / computing;
metric intrinsic all = total(operations);
EOF
eventspace signature BASE --metrics=sums --detail --format=csv | tr -d '\r' |
    awk -F, 'NR > 1 && $1 != "all" && $3 != "" {
        n++
        if ($3 < 0.999999 || $3 > 1.000001 || $6 < before[$1] ||
            ($4 == "" ? $6 != before[$1] : $4 < 0 || $4 > 1.000001) ||
            ($5 != "" && ($5 < 0 || $5 > 1.000001)))
            print
        before[$1] = $6
    }
    END { if (n < 30) print n " intervals" }' > wrong
[ -s wrong ] && fail "sums: $(cat wrong)"
for process in h0 h1 h2; do
    eventspace signature BASE --metrics=sums --detail --format=csv |
        tr -d '\r' | awk -F, -v p=$process '
            $1 == p && $6 != "" { n = $6; to = $2 + 50000000
                                  if (!from) from = $2 }
            END { print n, from, to }' > counted
    read -r operations from to < counted
    eventspace sql BASE --format=csv "select count(*) from communication_detail
        where end_ns >= $from and end_ns < $to and thread in
            (select name from thread where process = '$process')" |
        tail -1 | tr -d '\r' > all
    if [ "$operations" -lt 100 ] || [ "$operations" -ne "$(cat all)" ]; then
        fail "$process: $operations of $(cat all) operations"
    fi
done

# --- what is wrong ---

refuse() { # WHAT IS SAID, then the command
    want=$1
    shift
    if eventspace "$@" > out 2> said; then
        fail "$* was taken"
    fi
    grep -q "$want" said || fail "$*: $(cat said)"
}
refuse 'cannot open missing' contract check missing BASE
refuse 'missing' contract check made missing
refuse 'the run directory is missing' contract check made
sed 's/^interval.*/interval 1000;/' made > long
refuse 'of no interval of 1000 s a metric is known' contract check long BASE
refuse 'in no three intervals of 1000 s' contract make BASE --interval=1000s
refuse "'ends' is not NAME=PROCESSES" contract make BASE --group=ends
refuse "'=h0' is not NAME=PROCESSES" contract make BASE --group==h0
refuse 'no process has such a name (the first one is h0)' \
    contract make BASE '--group=ends=z*'
refuse 'the group h1 of the contract has the name of a process' \
    contract make BASE --group=h1=h0
refuse 'the mean of all processes is called all' contract make BASE --group=all=h0
refuse 'missing' contract make BASE missing --metrics=metrics
sed 's/"h\([0-9]\)"/"g\1"/' made > strange
refuse 'has classes of none of the processes' contract check strange BASE
cat > gap.rules <<'EOF'
var distance(0, 20) {
  set trapez SHORT (0, 3, 0, 3);
  set trapez LONG (6, 8, 3, 0);
}
var contract(-1, 2) { set triangle OK (0, 1, 1); set triangle VIOLATED (1, 1, 1); }
if ( distance == SHORT ) { contract = OK; }
if ( distance == LONG ) { contract = VIOLATED; }
EOF
(echo 'rules "gap.rules";' && cat made) > gaps
refuse 'gap.rules: nothing follows from a distance of 8.06' contract check gaps BASE

# Of what was lost nothing is known, and the rest is: about half of the run, which
# takes some intervals on the fastest machine.
eventspace map instrument map.dot --trace-size=40000 --trace-policy=discard \
    --output=small.dot
eventspace run small.dot --output=LOSSY -- sor run > /dev/null
eventspace signature LOSSY --metrics=metrics --detail --format=csv 2> said |
    tr -d '\r' > lossy
grep -q 'LOSSY has lost [0-9]* events' said || fail "$(cat said)"
awk -F, 'NR > 1 && $1 == "h0" { $3 == "" ? none++ : known++ }
    END { exit !(none > 0 && known > 0) }' lossy || fail "$(cat lossy)"

if eventspace contract make BASE --metrics=metrics --output=/dev/full 2> said; then
    fail 'a full disk was not noticed'
fi
grep -q '/dev/full: No space left on device' said || fail "$(cat said)"
