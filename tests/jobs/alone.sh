#!/bin/sh
# alone.sh - a command as if it were alone on a machine of its own: processes,
# sockets, shared memory and temporary files that it sees are its own, and
# whatever it leaves ends with it.
#
#     alone.sh [--slurm] COMMAND [ARGUMENT...]
#
# FOLDER becomes where it may write; with --slurm a Slurm of four nodes runs
# beside it. Exits with 0, and a message, where this cannot be had.
set -u
here=$(cd "$(dirname "$0")" && pwd)

# Also becomes the parent of those whose own has died, and waits for them.
if [ -z "${EVENTSPACE_TEST_INSIDE-}" ]; then
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    apart="--mount --pid --fork --kill-child --net --ipc --mount-proc"
    # shellcheck disable=SC2086 # words
    if ! unshare $apart ip link set lo up 2>"$folder/why"; then
        echo "skipped: it takes root: $(cat "$folder/why")"
        exit 0
    fi
    # shellcheck disable=SC2086 # words
    EVENTSPACE_TEST_INSIDE=$folder unshare $apart sh "$0" "$@" &
    inside=$!
    trap 'kill -KILL $inside' INT TERM # all that is in it ends with it
    wait $inside
    exit
fi
FOLDER=$EVENTSPACE_TEST_INSIDE
export FOLDER
unset EVENTSPACE_TEST_INSIDE
# An address besides loopback: otherwise no host's name has an address.
ip link set lo up && ip address add 10.99.0.1/32 dev lo &&
    mount -t tmpfs none /dev/shm || exit 1
mkdir "$FOLDER/tmp"
TMPDIR=$FOLDER/tmp
export TMPDIR
unset PMIX_NAMESPACE PMI_FD SLURM_JOB_ID SLURM_JOBID SLURM_STEP_NUM_TASKS
if [ "$1" = --slurm ]; then
    shift
    . "$here/../viewer/slurm.sh"
    mkdir "$FOLDER/slurm"
    chmod 755 "$FOLDER"
    if ! slurm_start "$FOLDER/slurm"; then
        # shellcheck disable=SC2154 # of slurm.sh
        echo "skipped: no Slurm for this test: $slurm_why"
        exit 0
    fi
    rm -rf "$TMPDIR"
    mkdir "$TMPDIR"
fi
"$@"
