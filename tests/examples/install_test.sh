#!/bin/sh
# install_test.sh - a project outside builds against what was installed.
#
#     install_test.sh SOURCE BUILD CMAKE COMPILER
set -eu
source=$1
build=$2
cmake=$3
compiler=$4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$cmake" --install "$build" --prefix "$folder/prefix" >"$folder/log"
for file in bin/eventspace libexec/eventspace-whole libexec/eventspace/gsum \
    share/man/man1/eventspace.1 include/eventspace/eventspace/eventspace.h; do
    test -f "$folder/prefix/$file" || { echo "no $file"; exit 1; }
done

# By CMake.
cp -r "$source/examples/hello" "$folder/hello"
"$cmake" -G Ninja -S "$folder/hello" -B "$folder/build" \
    -DCMAKE_C_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$folder/prefix"
"$cmake" --build "$folder/build"
sh "$source/tests/examples/hello_test.sh" "$folder/prefix/bin/eventspace" \
    "$folder/build/hello" "$folder/hello/hello.dot"

# By pkg-config.
pc=$(find "$folder/prefix" -name eventspace.pc)
export PKG_CONFIG_PATH="${pc%/*}"
# shellcheck disable=SC2046 # they are several words
"$compiler" "$folder/hello/hello.c" -o "$folder/hello_pc" \
    $(pkg-config --cflags --libs eventspace)
sh "$source/tests/examples/hello_test.sh" "$folder/prefix/bin/eventspace" \
    "$folder/hello_pc" "$folder/hello/hello.dot"
