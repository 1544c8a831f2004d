#!/bin/sh
# spelling_test.sh - codespell finds no misspelt word in sources and documents.
#
#     spelling_test.sh SOURCE CODESPELL
#
# Words that are meant as they are stand in spelling.ignore, in small letters.
set -u
. "$(dirname "$0")/files.sh"
here=$(cd "$(dirname "$0")" && pwd)
list=$(mktemp)
trap 'rm -f "$list"' EXIT
cd "$1" || exit 1
files . '*' | grep -zvE '/fuzz/corpus/|\.png$' >"$list"
some "sources" "$list"
xargs -0 "$2" --ignore-words="$here/spelling.ignore" <"$list"
