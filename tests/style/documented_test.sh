#!/bin/sh
# documented_test.sh - what one can ask EventSpace for stands where one looks for
# it: each command, view, kind of wrapper and application has its documentation.
#
#     documented_test.sh SOURCE EVENTSPACE
set -u
source=$1
eventspace=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0
count=0

# told WHAT PATTERN FILE: the pattern is found in the file, below the source.
told() {
    count=$((count + 1))
    grep -qs -- "$2" "$source/$3" && return
    echo "$3: nothing of the $1"
    failures=$((failures + 1))
}

# entries PAGE: the options that have an entry of their own below OPTIONS, as
# "-o, --output FILE". A head is the line behind .TP: words that .BR and .BI put
# together; those of .B have blanks in between.
entries() {
    awk '
        function head(line, macro, text, word) {
            macro = substr(line, 1, index(line, " ") - 1)
            line = substr(line, length(macro) + 2)
            text = ""
            while (line != "") {
                if (line ~ /^"/) {
                    line = substr(line, 2)
                    word = substr(line, 1, index(line "\"", "\"") - 1)
                    line = substr(line, length(word) + 2)
                } else {
                    word = substr(line, 1, index(line " ", " ") - 1)
                    line = substr(line, length(word) + 1)
                }
                sub(/^ +/, "", line)
                text = text (macro == ".B" && text != "" ? " " : "") word
            }
            gsub(/\\f[A-Z]/, "", text)
            gsub(/\\-/, "-", text)
            return text
        }
        /^\.SH/ { inside = $0 == ".SH OPTIONS" }
        inside && above == ".TP" { text = head($0); if (text ~ /^-/) print text }
        { above = $0 }' "$source/docs/man/$1"
}

# listed COMMAND: its options, in the same form.
listed() {
    # shellcheck disable=SC2086 # "map check" is two words
    "$eventspace" $1 --list-options | awk -F '\t' '
        $1 ~ /^(help|usage|version)$/ { next }
        { takes = $3 == "" ? "" : $3 ~ /^\[[A-Za-z]+\]$/ ? \
              "[=" substr($3, 2) : " " $3
          print ($2 == "" ? "" : "-" $2 ", ") "--" $1 takes }'
}

# options PAGE COMMAND...: the options of these commands, each with its letter
# and what it takes, have entries on the page, and all entries are options.
options() {
    page=$1
    shift
    entries "$page" | sort -u >"$folder/entries"
    for command in "$@"; do
        listed "$command"
    done | sort -u >"$folder/listed"
    count=$((count + $(wc -l <"$folder/listed")))
    diff "$folder/listed" "$folder/entries" >"$folder/diff" && return
    echo "$page: below OPTIONS (<: options of $*, >: entries)"
    cat "$folder/diff"
    failures=$((failures + 1))
}

for command in $("$eventspace" --list-commands | cut -f 1); do
    told "command $command" . "docs/man/eventspace-$command.1"
    told "command $command" "eventspace-$command (1)" docs/man/eventspace.1
    case $command in
    map) options eventspace-map.1 "map generate" "map instrument" "map check" \
        "map draw" ;;
    contract) options eventspace-contract.1 "contract make" "contract check" \
        "contract watch" "contract project" "contract rules" ;;
    key) ;; # see the page of run
    *) options "eventspace-$command.1" "$command" ;;
    esac
done
for view in $("$eventspace" view --list --format csv |
    sed -n '2,$s/,.*//p'); do
    told "view $view (hyphens written \\-)" "^\.[BR]* \"*$(echo "$view" | sed 's/-/\\\\-/g')" \
        docs/man/eventspace-view.1
    told "view $view" "\`$view\`" README.md
done
# A kind that is none is answered with those that are.
kinds=$(echo 'digraph { subgraph cluster_h { a [kind=nothing]; } }' |
    "$eventspace" map check - 2>&1 |
    sed -n 's/.*the wrappers \([a-z0-9_, ]*\);.*/\1/p' | tr -d ,)
[ "$kinds" ] || {
    echo "no kinds of wrappers are found"
    failures=$((failures + 1))
}
for kind in $kinds; do
    told "wrapper $kind" "\`$kind\`" docs/map.md
done
apps=$(sed -n 's/^add_executable(\([a-z0-9_]*\).*/\1/p' \
    "$source"/apps/*/CMakeLists.txt)
for app in $apps; do
    told "application $app" "^| \`$app\` |" docs/applications.md
    told "application $app" "^applications=(.*\<$app\>" bootstrap
    told "application $app" "^set(applications .*\<$app\>" cmake/install.cmake
done
# Each benchmark is told by `bootstrap --help`.
benches=$(sed -n '/^} benches\[\]/,/^};/p' "$source/tests/bench/bench.c" |
    sed 's/{"\([a-z]*\)"/\n@\1\n/g' | sed -n 's/^@//p')
for bench in $benches; do
    told "benchmark $bench" "^ .*[( ]${bench}[,;]" bootstrap
done
[ "$(echo "$benches" | wc -l)" -gt 10 ] || {
    echo "no benchmarks are found"
    failures=$((failures + 1))
}

echo "$count places, $failures without"
[ "$count" -gt 60 ] && [ "$failures" -eq 0 ]
