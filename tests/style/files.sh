# shellcheck shell=sh
# files.sh - the files that the tests of style look at; read with `.` from the
# folder of the test.

# files SOURCE PATTERN...: the files below a folder whose names match one of the
# patterns of find, each ended by a NUL. Build folders are left out.
files() {
    folder=$1
    shift
    for pattern in "$@"; do
        find "$folder" -type d \( -name .git -o -name build -o \
            -exec test -e '{}/CMakeCache.txt' \; \) -prune -o \
            -type f -name "$pattern" -print0
    done
}

# some WHAT LIST: fails when a list of files is empty, since then nothing would
# be looked at.
some() {
    [ -s "$2" ] && return
    echo "no $1 found"
    exit 1
}
