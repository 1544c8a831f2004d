#!/bin/sh
# machines_test.sh BIN - a scope over machines that are all this one, reached by
# commands that stand in for ssh: what it brings together, and what it says of
# machines that do not answer as they should.
set -eu
PATH=$1:$PATH
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir tmp
export TMPDIR="$folder/tmp"

fail() {
    echo "machines_test.sh: $1" >&2
    exit 1
}
gsum mapping --threads=6 --rounds=50 |
    eventspace map generate --application=- --processes=3 |
    eventspace map instrument - --output=map.dot
eventspace run map.dot --output=RUN -- gsum run > said 2>&1 || fail "$(cat said)"
recorded=$(eventspace scope RUN --output=plain)

# A command without {machine} gets it behind it; a shell may say something first.
echo 'digraph { alpha; }' > alpha
echo 'digraph { beta; }' > beta
echo 'digraph { alpha; beta; }' > both
cat > far <<'EOF2'
#!/bin/sh
echo "Welcome to $1"
shift
exec "$@"
EOF2
chmod +x far
for fanout in 2 1000; do
    eventspace scope RUN --cluster=both --remote=./far --output=mirror$fanout \
        --fanout=$fanout > said 2>&1 || fail "$(cat said)"
    [ "$(cat said)" = "$recorded" ] || fail "said '$(cat said)', not '$recorded'"
    for view in calls last-arriver; do
        eventspace view RUN $view --format=csv > of-run
        eventspace view mirror$fanout $view --format=csv > of-mirror
        cmp of-run of-mirror || fail "$view is another one of the mirror"
    done
done
eventspace scope RUN --cluster=alpha --remote='env M={machine}' --statistics=1s --format=csv \
    > sums || fail 'there are no sums'
[ "$(tail -n +2 sums | awk -F, 'NF > 5 && $5 ~ /^[0-9]+$/ {n += $5} END {print n}')" = \
    "$(echo "$recorded" | sed 's/.*, \([0-9]*\) read.*/\1/')" ] || fail "sums: $(cat sums)"
eventspace scope RUN --cluster=both --remote=./far --fanout=2 --print-map > tree.dot
grep -q 'cluster_scope ' tree.dot || fail 'the tree has no root'
[ "$(grep -c 'subgraph' tree.dot)" = 2 ] || fail 'all leaves are on one machine'

# What is wrong is said once, and names the machine; nothing is left behind.
refused() { # WORDS OF THE TEXT, ARGUMENTS OF scope
    words=$1
    shift
    if timeout 100 eventspace scope "$@" --output=none > said 2>&1; then
        fail "$* is let pass"
    fi
    grep -q -- "$words" said || fail "$*: '$(cat said)' does not say '$words'"
}
refused 'machine alpha: .eventspace scope. has not started there' \
    RUN --cluster=alpha --remote='false'
refused 'machine beta: .*elsewhere' "$folder/elsewhere" --cluster=beta --remote=./far
echo 'digraph { "a;b"; }' > strange
refused 'machine "a;b": the name has characters' RUN --cluster=strange --remote=./far
echo 'digraph { }' > nobody
refused 'nobody' RUN --cluster=nobody --remote=./far
refused 'nowhere' RUN --cluster=nowhere --remote=./far
refused 'has version 9' RUN --cluster=alpha --remote='echo eventspace scope 9; true'
refused 'says more than 200 lines' RUN --cluster=alpha --remote='yes; true'
refused 'no collector' RUN --cluster=alpha --remote=./far --collector=nobody
# shellcheck disable=SC2016 # it is for the other shell
refused 'machine beta has ended, or the connection' RUN --cluster=both --remote='sh -c '\''
    if [ $0 = beta ]; then "$@" | { head -c 60; kill -9 0; }; else exec "$@"; fi'\'
mv RUN/h2.space .
refused 'process h2 cannot be gathered' RUN --cluster=alpha --remote=./far
rm -r none
mv RUN/h2.meta .
refused 'none of the machines of alpha has the files of process h2' \
    RUN --cluster=alpha --remote=./far
mv h2.space h2.meta RUN
refused '--cluster excludes' RUN --cluster=alpha --serve --listen=127.0.0.1:0 --key=none
refused '--cluster is missing' RUN --remote=ssh
[ -e none ] && rmdir none
[ -z "$(ls tmp)" ] || fail "$(ls tmp) is left"
