#!/bin/sh
# histories_test.sh BIN - contracts with metrics that are of histories of machines.
set -eu
PATH=$1:$PATH
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() {
    echo "histories_test.sh: $1" >&2
    exit 1
}
sor mapping --threads=2 --size=S --rounds=20000 > app.dot
eventspace map generate --application=app.dot --processes=2 --output=plain.dot
eventspace map instrument plain.dot --collectors=threads --output=map.dot

# A history of samples from before the run until after it: for the first half of it
# the one value, and then the other.
mkdir histories
history() { # PLACE FROM_MS HALF_MS TO_MS VALUE VALUE
    {
        echo '# eventspace history 1'
        echo "# series: availability of $1"
        printf '# unit: share\n# interval: 100 ms\n'
        awk -v from="$2" -v half="$3" -v to="$4" -v first="$5" -v second="$6" 'BEGIN {
            for (ms = from; ms <= to; ms += 100)
                printf "%.0f,%s\n", ms, ms < half ? first : second }'
    } > "histories/availability.$1.history"
}
from=$(date +%s%3N)
eventspace run map.dot --output=RUN -- sor run > said || fail "$(cat said)"
to=$(date +%s%3N)
half=$(((from + to) / 2))
history h0 $((from - 1000)) "$half" $((to + 1000)) 1 1
history "$(uname -n)" $((from - 1000)) "$half" $((to + 1000)) 1 0.5

cat > metrics <<'EOF'
interval 0.02;
violated 2;
histories "histories";
metric performance availability = history("availability");
EOF
eventspace signature RUN --metrics=metrics --detail --format=csv > said
# One value and then the other, once.
tr -d '\r' < said | awk -F, '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $at["process"] == "h0" { n0++; if ($at["availability"] != 1) bad++ }
    $at["process"] == "h1" { v = $at["availability"]; n1++
        if (v != 1 && v != 0.5) bad++
        if (was == 0.5 && v == 1) bad++
        was = v; seen[v]++ }
    END { if (bad || n0 < 10 || n1 < 10 || seen[1] < 4 || seen[0.5] < 4) exit 1 }' ||
    fail "$(cat said)"

cat > contract <<'EOF'
interval 0.02;
violated 2;
histories "histories";
metric performance availability = history("availability");
class performance of "h0" (1) deviates (0) seen 9;
class performance of "h1" (1) deviates (0) seen 9;
EOF
code=0
eventspace contract check contract RUN --format=csv > said || code=$?
[ $code -eq 3 ] || fail "code $code: $(cat said)"
grep -q '^h1,performance,.*,availability,0.5,1,' said || fail "$(cat said)"
grep -q '^h0,' said && fail "$(cat said)"

# Made of that run: both values of h1 are promised.
eventspace contract make RUN --metrics=metrics --output=made
grep -q '^histories "histories";$' made || fail "$(cat made)"
eventspace contract check made RUN > said || fail "$(cat said)"

# Nothing is there, or nowhere to look for it.
sed 's/history("availability")/history("latency.a-b")/' contract > other
eventspace contract check other RUN > said 2>&1 || :
grep -q 'latency.a-b.history: No such file' said || fail "$(cat said)"
grep -v '^histories' contract > without
if eventspace contract check without RUN > said 2>&1; then
    fail 'histories without a folder'
fi
grep -q 'does not say in which folder' said || fail "$(cat said)"
sed 's/histories "histories"/histories "nowhere"/' metrics > other
if eventspace contract make RUN --metrics=other --output=made > said 2>&1; then
    fail 'a folder that is not there'
fi
grep -q 'nowhere: the contract names this folder' said || fail "$(cat said)"
