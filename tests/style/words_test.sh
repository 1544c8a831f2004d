#!/bin/sh
# words_test.sh - the pages of words.pages and the help of all commands and
# applications have none of the phrases of words.banned.
#
#     words_test.sh SOURCE BIN [PAGE ...]
#
# With pages it looks only at these: for pages that are not on the list yet.
set -u
here=$(cd "$(dirname "$0")" && pwd)
bin=$2
cd "$1" || exit 1
shift 2
help=$(mktemp -d) || exit 1
trap 'rm -rf "$help"' EXIT

# The help of a command and of the commands below it, each in a file.
help_of() (
    program=$1
    shift
    "$bin/$program" "$@" --help > "$help/$(echo "$program" "$@" |
        tr ' ' -)" || exit 1
    for command in $("$bin/$program" "$@" --list-commands 2> "$help/.no" |
        cut -f 1); do
        help_of "$program" "$@" "$command" || exit 1
    done
)

if [ $# -eq 0 ]; then
    for program in eventspace $(sed -n 's/^add_executable(\([a-z]*\).*/\1/p' \
        apps/*/CMakeLists.txt); do
        help_of "$program" || { echo "$program: no help"; exit 1; }
    done
    # shellcheck disable=SC2046 # names of pages have no blanks
    set -- $(grep -v '^#' "$here/words.pages") "$help"/*
fi

# The words of a line in small letters, with one blank before and after each.
# Whatever ends a part of a sentence is a word of its own, so that no phrase goes
# over it. A line is looked at together with the one before it.
awk '
function words(line) {
    line = tolower(line)
    gsub(/[.,:;!?()|]/, " . ", line)
    gsub(/[^a-z.\047-]+/, " ", line)
    return line
}
FNR == NR {
    if ($0 ~ /^#/ || $0 == "") next
    split($0, part, / = /)
    banned[part[1]] = part[2]
    next
}
FNR == 1 { before = ""; code = 0; pages++ }
/^ *```/ { code = !code; before = ""; next }
code { next }
{
    line = words($0)
    both = " " before " " line " "
    gsub(/ +/, " ", both)
    old = " " before " "
    gsub(/ +/, " ", old)
    for (phrase in banned) {
        if (!index(both, " " phrase " ") || index(old, " " phrase " ")) continue
        printf "%s:%d: \"%s\"; write: %s\n", FILENAME, FNR, phrase, banned[phrase]
        found++
    }
    before = $0 == "" ? "" : line
}
END {
    printf "%d pages, %d phrases to be said otherwise\n", pages, found
    exit found > 0 || pages == 0
}' "$here/words.banned" "$@"
