#!/bin/sh
# warnings_test.sh - a warning of the compiler stops a build by a preset, and no
# other build.
#
#     warnings_test.sh SOURCE CMAKE COMPILER
set -u
source=$1
cmake=$2
compiler=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$source" || exit 1
echo '#warning "as a newer compiler has more of them"' >"$folder/warn.h"

# build NAME OPTION...: the lowest layer, with a warning in each file.
build() {
    name=$1
    shift
    "$cmake" -B "$folder/$name" -G Ninja "$@" -DCMAKE_C_COMPILER="$compiler" \
        -DEVENTSPACE_TESTS=OFF -DCMAKE_C_FLAGS="-include $folder/warn.h" \
        >"$folder/$name.log" 2>&1 || {
        cat "$folder/$name.log"
        exit 1
    }
    "$cmake" --build "$folder/$name" --target es_pastset \
        >"$folder/$name.log" 2>&1
}

if ! build plain || ! grep -q 'warning: #warning' "$folder/plain.log"; then
    cat "$folder/plain.log"
    echo "FAILED  a build without a preset does not get over a warning"
    exit 1
fi
if build preset --preset release || ! grep -q Werror "$folder/preset.log"; then
    cat "$folder/preset.log"
    echo "FAILED  a build by a preset gets over a warning"
    exit 1
fi
