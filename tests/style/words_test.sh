#!/bin/sh
# words_test.sh - the pages of words.pages have none of the phrases of
# words.banned.
#
#     words_test.sh SOURCE [PAGE ...]
#
# With pages it looks at these instead: for pages that are not on the list yet.
set -u
here=$(cd "$(dirname "$0")" && pwd)
cd "$1" || exit 1
shift
# shellcheck disable=SC2046 # names of pages have no blanks
[ $# -gt 0 ] || set -- $(grep -v '^#' "$here/words.pages")
[ $# -gt 0 ] || { echo "no pages"; exit 1; }

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
