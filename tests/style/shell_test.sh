#!/bin/sh
# shell_test.sh - shellcheck has nothing to say about the shell scripts.
#
#     shell_test.sh SOURCE SHELLCHECK
#
# Scripts are files that end in .sh, whatever else begins as one, and
# completions.
set -u
. "$(dirname "$0")/files.sh"
list=$(mktemp)
trap 'rm -f "$list"' EXIT
cd "$1" || exit 1
files . '*.sh' >"$list"
files . '[!.]*' | xargs -0 awk '
    FNR == 1 && /^#!.*sh$/ && FILENAME !~ /\.sh$/ { printf "%s%c", FILENAME, 0 }
    { nextfile }' >>"$list"
files completions '*' >>"$list"
some "shell scripts" "$list"
xargs -0 "$2" --external-sources --source-path=SCRIPTDIR --format=gcc <"$list"
