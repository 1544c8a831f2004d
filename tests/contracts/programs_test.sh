#!/bin/sh
# programs_test.sh BIN - contracts of several programs: the same again keeps them, and
# another problem is the program's fault.
set -eu
PATH=$1:$PATH
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() {
    echo "programs_test.sh: $1" >&2
    exit 1
}
run_of() { # DIRECTORY PROGRAM OPTION ...
    directory=$1
    program=$2
    shift 2
    "$program" mapping "$@" > app.dot
    eventspace map generate --application=app.dot --processes=2 --output=map.dot
    eventspace map instrument map.dot --output=all.dot
    eventspace run all.dot --output="$directory" -- "$program" run > /dev/null
}
cat > metrics << 'EOF'
interval 0.05;
violated 2;
tolerance 0.3;
metric intrinsic operation_bytes = bytes / operations;
EOF
judge() { # CODE DIRECTORY
    code=0
    eventspace contract check made "$2" --format=csv > said 2> warned || code=$?
    [ $code -eq "$1" ] || fail "$program, $2: code $code, not $1: $(cat said warned)"
}
checked() { # PROGRAM 'OPTIONS' 'OPTIONS OF ANOTHER PROBLEM'
    rm -rf BASE SAME OTHER
    # shellcheck disable=SC2086 # several options
    run_of BASE "$1" $2
    # shellcheck disable=SC2086
    run_of SAME "$1" $2
    # shellcheck disable=SC2086
    run_of OTHER "$1" $3
    eventspace contract make BASE --metrics=metrics --output=made
    judge 0 SAME
    judge 3 OTHER
    grep -q ',intrinsic,.*,operation_bytes,.*,program,' said || fail "$1: $(cat said)"
}
# What is promised is of the one with many operations in each interval: on a slow machine
# the other has a few, and their bytes are scattered.
checked cg '--threads=2 --size=S --rounds=2000' '--threads=2 --size=W --rounds=10'
checked river '--threads=2 --size=W --rounds=600' '--threads=2 --size=S --rounds=6000'
checked windtunnel '--threads=2 --steps=8000' \
    '--threads=2 --steps=16000 --width=256'
