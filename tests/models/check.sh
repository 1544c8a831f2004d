#!/bin/sh
# check.sh MODEL.pml - checks a Promela model with spin, and that it finds each
# fault that it can put back.
#
# The model as it is must be free of errors, and be searched to its end. Then,
# for each FAULT_NAME that stands in it, the model with that one defined must
# have an error. Lines of the model that say how to check it:
#
#     /* with: -DWAYS=2 */      what to define; one check for each such line
#     /* cc: -DSAFETY */        flags for compiling the verifier
#     /* pan: -a -m100000 */    flags for running it
#     /* FAULT_NAME: -DWAYS=3 */ with what it is found; else each is tried
#
# Prints one line for each check; exits with 1 when one has gone otherwise.
set -u
model=$1
name=${model##*/}
here=$(cd "$(dirname "$model")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2

flags() { # flags WORD: what the model says behind it
    sed -n "s|^/\* $1: \(.*\) \*/\$|\1|p" "$here/$name" | tr '\n' ' '
}

# verify LOG CC [-DFAULT]: searches all states; says how many errors there are.
# CC: more flags for compiling the verifier.
verify() {
    log=$1 more=$2
    shift 2
    rm -f pan pan.* ./*.trail
    # shellcheck disable=SC2046,SC2086 # several words
    spin "$@" -a "$here/$name" >"$log" 2>&1 &&
        ${CC:-cc} -O0 -w $(flags cc) $more -o pan pan.c >>"$log" 2>&1 &&
        ./pan $(flags pan) >"$log" 2>&1
    sed -n 's/.*errors: \([0-9]*\).*/\1/p' "$log"
}

is_whole() { # it was searched to its end
    ! grep -qE 'max search depth too small|out of memory|aborted|VECTORSZ' "$1"
}

# configurations: one a line, at least an empty one.
configurations() {
    sed -n 's|^/\* with: \(.*\) \*/$|\1|p' "$here/$name" | grep . || echo
}

failed=0
configurations >"$work/with"
while read -r with; do
    # shellcheck disable=SC2086 # several words
    errors=$(verify "$work/log" "" $with)
    states=$(sed -n 's/ *\([0-9.e+]*\) states, stored.*/\1/p' "$work/log")
    if [ "$errors" = 0 ] && is_whole "$work/log"; then
        echo "$name $with: no error in $states states"
    else
        echo "$name $with: FAILED"
        tail -n 40 "$work/log"
        # shellcheck disable=SC2086
        [ -f "$name.trail" ] &&
            spin $with -t -p -g -k "$name.trail" "$here/$name" | tail -n 100
        failed=1
    fi
done <"$work/with"
# A fault is soon found: compiling the verifier well would take longer.
# shellcheck disable=SC2013 # they are words
for fault in $(grep -o 'FAULT_[A-Z0-9_]*' "$here/$name" | sort -u); do
    flags "$fault" | grep . >"$work/with" || configurations >"$work/with"
    while read -r with; do
        # shellcheck disable=SC2086
        errors=$(verify "$work/log" -O0 $with "-D$fault")
        case $errors in
        '' | 0) ;;
        *) echo "$name $with: $fault is found" && break ;;
        esac
    done <"$work/with"
    if ! [ "${errors:-0}" -gt 0 ]; then
        echo "$name: $fault is NOT found"
        tail -n 20 "$work/log"
        failed=1
    fi
done
exit $failed
