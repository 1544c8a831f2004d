#!/bin/sh
# package_test.sh - the Debian packages hold what they should and no more, name
# what they need, and work where they are unpacked.
#
#     package_test.sh SOURCE BUILD CPACK COMPILER
#
# package_bare.sh installs them in a system that has nothing else.
set -eu
source=$1
build=$2
cpack=$3
compiler=$4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$cpack" -G DEB --config "$build/CPackConfig.cmake" -B "$folder" \
    >"$folder/log" 2>&1 || {
    cat "$folder/log"
    exit 1
}
failures=0
fail() {
    echo "FAILED  $*"
    failures=$((failures + 1))
}

# --- what is in them ---

runtime=$(echo "$folder"/eventspace_*.deb)
development=$(echo "$folder"/libeventspace-dev_*.deb)
root=$folder/root
dpkg-deb -x "$runtime" "$root"
(cd "$root" && find . -type f | sort) >"$folder/runtime"
for file in bin/eventspace libexec/eventspace-whole \
    share/bash-completion/completions/eventspace lib/libeventspace_sql.so lib/libeventspace_mpi.so \
    lib/libeventspace_openmpi.so lib/libeventspace_mpich.so \
    share/doc/eventspace/copyright; do
    echo "./usr/$file"
done >"$folder/wanted"
printf '%s\n' ./usr/share/eventspace/perfetto.proto \
    ./usr/lib/systemd/system/eventspace-watch.service >>"$folder/wanted"
for view in "$source"/examples/views/*.sql; do
    echo "./usr/share/eventspace/views/${view##*/}"
done >>"$folder/wanted"
apps=$(sed -n 's/^add_executable(\([a-z]*\).*/\1/p' \
    "$source"/apps/*/CMakeLists.txt)
for app in $apps; do
    echo "./usr/libexec/eventspace/$app"
done >>"$folder/wanted"
for page in "$source"/docs/man/*.1; do
    echo "./usr/share/man/man1/${page##*/}"
done >>"$folder/wanted"
sort "$folder/wanted" | diff - "$folder/runtime" ||
    fail "files of eventspace (<: wanted, >: there)"

dpkg-deb --fsys-tarfile "$development" | tar -t >"$folder/development"
for file in lib/libes_pastset.a lib/libes_paths.a lib/libes_eventspace.a \
    lib/pkgconfig/eventspace.pc lib/cmake/eventspace/eventspaceConfig.cmake \
    include/eventspace/eventspace/eventspace.h \
    share/doc/libeventspace-dev/copyright; do
    grep -qx "./usr/$file" "$folder/development" ||
        fail "libeventspace-dev has no /usr/$file"
done
if grep -E '^./usr/(bin|libexec|share/man)|_internal\.h$|libes_(scopes|viewer)' \
    "$folder/development"; then
    fail "libeventspace-dev has what it should not"
fi

# --- what they need ---

# names DEB PACKAGE...: it depends on just these, in whatever version.
names() {
    deb=$1
    shift
    dpkg-deb -f "$deb" Depends | tr ',' '\n' | sed 's/^ *//; s/ .*//' |
        sort >"$folder/there"
    printf '%s\n' "$@" | sort | diff - "$folder/there" ||
        fail "what ${deb##*/} depends on (<: wanted, >: there)"
}
names "$runtime" libarchive13 libc6 libcgraph6 libgvc6 libjansson4 \
    libmicrohttpd12 libmsgpackc2 libopen-trace-format2-10 libpcap0.8 libpng16-16 \
    libprotobuf-c1 libsodium23 libsqlite3-0 libssl3 libuv1 libzstd1 zlib1g
names "$development" libc6-dev libuv1-dev libmsgpack-dev libgraphviz-dev \
    libsodium-dev libssl3

# --- that they work ---

sh "$source/tests/examples/package_demo.sh" "$root/usr" >"$folder/log" 2>&1 || {
    cat "$folder/log"
    fail "the demo, from $runtime unpacked"
}
dpkg-deb -x "$development" "$root"
export PKG_CONFIG_PATH="$root/usr/lib/pkgconfig"
# shellcheck disable=SC2046 # they are several words
"$compiler" "$source/examples/hello/hello.c" -o "$folder/hello" \
    $(pkg-config --cflags --libs eventspace)
sh "$source/tests/examples/hello_test.sh" "$root/usr/bin/eventspace" \
    "$folder/hello" "$source/examples/hello/hello.dot" ||
    fail "a program, built with $development unpacked"

[ "$failures" -eq 0 ]
