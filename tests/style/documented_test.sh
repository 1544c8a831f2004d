#!/bin/sh
# documented_test.sh - what one can ask EventSpace for stands where one looks for
# it: each command, view, kind of wrapper and application has its documentation.
#
#     documented_test.sh SOURCE EVENTSPACE
set -u
source=$1
eventspace=$2
failures=0
count=0

# told WHAT PATTERN FILE: the pattern is found in the file, below the source.
told() {
    count=$((count + 1))
    grep -qs -- "$2" "$source/$3" && return
    echo "$3: nothing of the $1"
    failures=$((failures + 1))
}

# options COMMAND PAGE: those of its --help are on the page.
options() {
    # shellcheck disable=SC2086 # "map check" is two words
    for option in $("$eventspace" $1 --help |
        grep -oE '^ +(-[a-zA-Z], )?--[a-z-]+' | grep -oE '[-]-[a-z-]+' |
        grep -vxE -e '--(help|usage|version)'); do
        told "option $option of $1" \
            "$(echo "$option" | sed 's/-/\\\\-/g')\\>" "docs/man/$2"
    done
}

for command in $("$eventspace" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
    told "command $command" . "docs/man/eventspace-$command.1"
    [ "$command" = map ] || options "$command" "eventspace-$command.1"
    told "command $command" "eventspace-$command (1)" docs/man/eventspace.1
done
for command in generate instrument check draw; do
    options "map $command" eventspace-map.1
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
    sed -n 's/.*the wrappers \([a-z, ]*\);.*/\1/p' | tr -d ,)
for kind in $kinds; do
    told "wrapper $kind" "\`$kind\`" docs/map.md
done
apps=$(sed -n 's/^add_executable(\([a-z]*\).*/\1/p' \
    "$source"/apps/*/CMakeLists.txt)
for app in $apps; do
    told "application $app" "^| \`$app\` |" README.md
    told "application $app" "^applications=(.*\<$app\>" bootstrap
    told "application $app" "^set(applications .*\<$app\>" cmake/install.cmake
done

echo "$count places, $failures without"
[ "$count" -gt 60 ] && [ "$failures" -eq 0 ]
