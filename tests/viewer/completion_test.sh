#!/bin/bash
# completion_test.sh - what Tab offers in bash, in lines as bash divides them:
# at blanks, and at "=".
#
#     completion_test.sh SOURCE EVENTSPACE
set -u
source=$1
eventspace=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
# shellcheck source=tests/viewer/check.sh
. "$source/tests/viewer/check.sh"
# shellcheck source=completions/eventspace
. "$source/completions/eventspace"
touch map.dot "two words"

# offers "WANTED" WORDS...: what is offered for the last word, sorted
offers() {
    local wanted=$1
    shift
    COMP_WORDS=("$eventspace" "$@")
    COMP_CWORD=$#
    _eventspace
    local got
    got=$(printf '%s\n' "${COMPREPLY[@]}" | sort | paste -s -d,)
    [ "$got" = "$wanted" ] && return
    echo "\"$got\", not \"$wanted\""
    return 1
}
# has "WANTED" WORDS...: this is among what is offered; lacks: it is not
has() {
    local wanted=$1
    shift
    offers "" "$@" >/dev/null
    printf '%s\n' "${COMPREPLY[@]}" | grep -qxF -e "$wanted"
}
lacks() { ! has "$@"; }

check "the commands" has choose ""
check "but not those of map" lacks draw ""
check "a command that is begun" offers "merge" me
check "several of them" offers "pack,predict,profile" p
check "those of map" offers "check,draw,generate,instrument" map ""
check "one of them" offers "instrument" map i
check "those that help can tell of" offers "view" help v
check "also below map" offers "draw" help map d
check "nothing of a command that is not there" offers "" fly ""
check "an option, with its =" offers "--format=" view RUN --form
check "a flag, without it" offers "--detail" view RUN --det
check "options of a command of map" offers "--trace-per=,--trace-policy=,--trace-size=" \
    map instrument --trace
check "no option that was renamed" offers "" view RUN --eac
check "values behind =" offers "csv,json,table" view RUN --format =
check "one of them" offers "csv" view RUN --format = c
check "values behind a blank" offers "json" info --format j
check "values of a letter" offers "table" top RUN -f t
check "values of an option of map" offers "block,discard,grow" \
    map instrument --trace-policy ""
check "files of an option" offers "map.dot" map draw --output m
check "files behind =" offers "map.dot" map generate --output = m
check "files of arguments" offers "map.dot" map check m
check "a file with a blank is one" offers "two words" map check t
check "files behind a flag" offers "map.dot" map instrument --prefault m
check "programs behind --" has ls run map.dot --output RUN -- l
check "no options of ours for them" offers "" run map.dot -- ls --form

[ $failures -eq 0 ]
