#!/bin/sh
# headers_test.sh - each installed header alone, in C11 and in C++17, and no
# struct with fields in it that is not filled in, or read, by programs.
#
#     headers_test.sh SOURCE COMPILER
set -u
source=$1
compiler=$2
. "$source/tests/viewer/check.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

headers=$(sed -n '/^set(installed_headers/,/)/p' "$source/cmake/install.cmake" |
    tr -d ')' | sed 1d)
[ -n "$headers" ] || exit 1

# As installed: nothing else is there to be included.
for header in $headers; do
    mkdir -p "include/${header%/*}"
    cp "$source/$header" "include/$header"
done

compiles() { # HEADER LANGUAGE STANDARD: twice, as its guard must hold
    printf '#include "%s"\n#include "%s"\nint nothing;\n' "$1" "$1" >alone.c
    "$compiler" -x "$2" "-std=$3" -pedantic -Wall -Wextra -Werror -Iinclude \
        -c alone.c -o alone.o
}
for header in $headers; do
    check "$header alone in C11" compiles "$header" c c11
    check "$header alone in C++17" compiles "$header" c++ c++17
done

# Programs fill these in, or are given them to read: options, arguments, what a
# wrapper type is, and the operation that it sees. To a metric they add,
# and of a tunable they load.
known='eventspace_instrument_options eventspace_metric eventspace_options
eventspace_tunable paths_arguments paths_generate_options paths_operation paths_wrapper_context
paths_wrapper_type pastset_field pastset_pattern pastset_type'
opaque() {
    for header in $headers; do
        grep -oE 'struct [a-z_]+ \{' "include/$header" || :
    done | sed 's/struct //; s/ {//' | sort -u >structs
    for name in $known; do
        echo "$name"
    done | sort -u | comm -13 - structs >"$folder/more"
    cat "$folder/more"
    [ ! -s "$folder/more" ]
}
check "no other struct has fields" opaque

# What C++ calls is what C has made.
links() {
    cat >main.cc <<'END'
#include "eventspace/eventspace.h"
#include "eventspace/instrument.h"
#include "paths/generate/generate.h"
#include "paths/wrappers/reduction.h"
#include "paths/wrappers/wrapper.h"
void *all[] = {(void *)eventspace_start, (void *)eventspace_instrument,
               (void *)paths_generate, (void *)paths_reduction_register,
               (void *)paths_wrapper_register, (void *)paths_map_read,
               (void *)paths_write, (void *)pastset_fail,
               (void *)pastset_type_parse, (void *)pastset_verb_name};
END
    "$compiler" -x c++ -std=c++17 -Iinclude -c main.cc -o main.o &&
        nm -u main.o >names && ! grep '_Z' names && grep -q paths_write names
}
check "their functions are C's for C++, too" links

[ $failures -eq 0 ]
