#!/bin/sh
# format_test.sh - C sources are as clang-format writes them by .clang-format.
#
#     format_test.sh SOURCE CLANG_FORMAT
#
# To mend what it finds: clang-format -i FILE.
set -u
. "$(dirname "$0")/files.sh"
list=$(mktemp)
trap 'rm -f "$list"' EXIT
cd "$1" || exit 1
files . '*.c' '*.h' >"$list"
some "C sources" "$list"
xargs -0 "$2" --style=file --dry-run -Werror <"$list"
