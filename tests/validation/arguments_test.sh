#!/bin/sh
# arguments_test.sh - what `./bootstrap validate` cannot do it says at once, and
# neither installs, builds nor runs anything.
#
#     arguments_test.sh SOURCE
set -u
source=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
. "$source/tests/viewer/check.sh"

# Programs that leave a note of being called, and fail; and who is asking.
mkdir fake
for program in apt-get sudo cmake; do
    printf '#!/bin/sh\necho %s >>%s/called\nexit 1\n' $program "$folder" \
        >fake/$program
done
# shellcheck disable=SC2016 # it is for the script
printf '#!/bin/sh\necho "$WHO"\n' >fake/id
chmod +x fake/*

# validate WHO ARGUMENT...
validate() {
    who=$1
    shift
    WHO=$who PATH=$folder/fake:$PATH bash "$source/bootstrap" validate "$@" \
        >out 2>err
}

refuses() { # CODE PATTERN WHO ARGUMENT...
    code=$1
    pattern=$2
    shift 2
    validate "$@"
    got=$?
    [ $got -eq "$code" ] || echo "exit code $got"
    [ $got -eq "$code" ] && says "$pattern" err && [ ! -s out ] &&
        [ ! -e called ]
}

check "it needs root, and says how" refuses 1 "sudo ./bootstrap validate" 1000
check "also to whom it does not belong" refuses 2 \
    "no program 'gsum'" 1000 1 gsum
check "it tells the programs that there are" refuses 2 \
    "no program 'gsum'; those that can be validated are ep, is, cg," 0 1 gsum
check "a name of JavaScript's is no program" refuses 2 \
    "no program 'toString'" 0 1 toString
check "the number of runs comes first" refuses 2 \
    "the number of runs is 'ep'" 0 ep

check "runs of diff are a number" refuses 2 \
    "'few' is not a number of runs" 1000 diff few
check "of which there are enough" refuses 2 \
    "'5' is not a number of runs" 1000 diff 5
check "those of shifts, too" refuses 2 \
    "shifts: 'x' is not a number of runs" 1000 shifts x

models() {
    node "$source/tests/validation/models.mjs" /nowhere results 1 gsum 2>err
    [ $? -eq 2 ] && says "no program 'gsum'" err && [ ! -e results ]
}
check "so does the program by itself" models

[ $failures -eq 0 ]
