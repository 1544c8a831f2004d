# shellcheck shell=sh
# check.sh - what the shell tests of the viewer share; read with `.` from the
# folder of the test. `failures` counts those that failed.
failures=0

check() { # NAME COMMAND...: the command succeeds
    name=$1
    shift
    if "$@" >checked 2>&1; then
        echo "ok      $name"
    else
        echo "FAILED  $name"
        cat checked
        failures=$((failures + 1))
    fi
}

none() { # FILE...: a pattern that the shell has not matched is no file either
    for found in "$@"; do
        [ ! -e "$found" ] || { echo "there is $found"; return 1; }
    done
}

says() { # PATTERN FILE
    grep -q -- "$1" "$2" && return 0
    echo "no \"$1\" in $2:"
    cat "$2"
    return 1
}
