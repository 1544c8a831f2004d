#!/bin/sh
# job_mpirun_test.sh - `eventspace run` as the tasks of Open MPI's and of MPICH's
# mpirun: the results are those of `eventspace run` alone, the key is nowhere to
# be seen, and whoever is missing or killed keeps nobody waiting.
#
#     job_mpirun_test.sh EVENTSPACE BIN
set -u
eventspace=$1
bin=$2
here=$(dirname "$0")
. "$here/check.sh"
. "$here/job.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
exec 3>&1
# Libraries of others leave memory behind.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
export HYDRA_LAUNCHER=fork
unset PMIX_NAMESPACE PMI_FD SLURM_JOB_ID SLURM_JOBID SLURM_STEP_NUM_TASKS
river_maps

open_mpi() { # TASKS
    tasks=$1
    shift
    mpirun.openmpi --oversubscribe -n "$tasks" "$@"
}
for n in 2 4 8; do
    check "$n tasks of Open MPI" same_as_alone $n open_mpi $n
done
check "4 tasks of MPICH" same_as_alone 4 mpirun.mpich -n 4

# --- what others can see ---

unseen() {
    rm -rf RUN seen && mkdir seen
    # shellcheck disable=SC2016 # the processes' own
    open_mpi 2 "$eventspace" run river2.dot --output RUN -- sh -c '
        for pid in $$ $PPID; do
            cat /proc/$pid/cmdline /proc/$pid/environ
        done | tr "\0" "\n" >seen/$EVENTSPACE_PROCESS
        cp -r "$PMIX_SERVER_TMPDIR" seen/$EVENTSPACE_PROCESS.server
        od -An -tx1 -v <&$EVENTSPACE_KEY_FD | tr -d " \n" \
            >seen/$EVENTSPACE_PROCESS.key
        exit 1' >out 2>&1
    key=$(cat seen/h0.key)
    if [ ${#key} -ne 64 ] || [ "$key" != "$(cat seen/h1.key)" ]; then
        echo "no key: '$key'"
        cat out
        return 1
    fi
    ! grep -i -e "$key" seen/h0 seen/h1 &&
        grep -raq "eventspace.key.1" seen/h0.server &&
        ! grep -rai -e "$key" seen/h0.server
}
check "all have the key, and it is neither in arguments, environment nor server" \
    unseen

# --- options ---

replaced() {
    open_mpi 2 "$eventspace" run river2.dot --output RUN --replace --archive \
        --key key -- "$bin/river" run >out 2>err || { cat err; return 1; }
    finished 2 && [ -s RUN/h0.archive ] && [ -s RUN/h1.archive ]
}
"$eventspace" key key
check "a run is archived, with a key that is there" replaced
check "and replaced" replaced

# --- too few, too many ---

mismatch() { # TASKS MAP PATTERN
    fails open_mpi "$1" "$eventspace" run "$2" --output RUN -- "$bin/river" run &&
        says "$3" all && [ "$(grep -c "needs a task" all)" -eq 1 ] && none RUN
}
check "fewer tasks than processes" mismatch 3 river4.dot \
    "river4.dot has 4 processes, and this job has 3 tasks: .*--processes=3"
check "more tasks than processes" mismatch 3 river2.dot \
    "river2.dot has 2 processes, and this job has 3 tasks"
check "one task" mismatch 1 river2.dot "this job has 1 task: .*--alone starts all"
alone() {
    rm -rf RUN
    open_mpi 1 "$eventspace" run river2.dot --alone --output RUN -- \
        "$bin/river" run >out && says "^h0| river" out
}
check "with --alone, one task starts all" alone

# --- what is wrong with one, or with all ---

once() { # PATTERN ARGUMENTS...
    pattern=$1
    shift
    fails open_mpi 4 "$eventspace" run "$@" || return 1
    [ "$(grep -c "$pattern" all)" -eq 1 ] && return 0
    cat all
    return 1
}
mkdir used && touch used/precious
check "a map that is not there is said once" once "none.dot: cannot open it" \
    none.dot --output RUN -- true
check "a directory that is in use is said once" once "used: is not empty" \
    river4.dot --output used -- true
check "a program that is not there ends the job" fails open_mpi 4 \
    "$eventspace" run river4.dot --output RUN -- ./none
none_shared() {
    # shellcheck disable=SC2016 # the tasks' own
    fails open_mpi 2 sh -c 'mkdir -p at$OMPI_COMM_WORLD_RANK
        cd at$OMPI_COMM_WORLD_RANK
        exec "$@"' sh "$eventspace" run ../river2.dot --output RUN \
        --start-within 1s -- true &&
        says "does not see the run directory that task 0 has made" all &&
        none at0/RUN at1/RUN
}
check "a run directory that is not shared" none_shared
other_map() {
    # shellcheck disable=SC2016 # the tasks' own
    fails open_mpi 2 sh -c '[ $OMPI_COMM_WORLD_RANK = 0 ] || set -- other.dot
        exec "$eventspace" run ${1-river2.dot} --output RUN -- true' sh &&
        says "the tasks have read different maps: that of task 1" all
}
sed 's/kind=thread/kind=thread, stack="64Ki"/; s/river/river_/' river2.dot >other.dot
export eventspace
check "tasks with different maps" other_map
fails_with() {
    # shellcheck disable=SC2016 # the processes' own
    fails open_mpi 4 "$eventspace" run river4.dot --output RUN -- sh -c \
        '[ $EVENTSPACE_PROCESS = h2 ] && exit 3
        exec "$0" run' "$bin/river" && none_left && is_readable
}
check "a process that fails" fails_with

# --- whoever does not come ---

absent() {
    # shellcheck disable=SC2016 # the tasks' own
    fails open_mpi 4 sh -c '[ $OMPI_COMM_WORLD_RANK = 2 ] && exec sleep 600
        exec "$@"' sh "$eventspace" run "$PWD/river4.dot" --output "$PWD/RUN" \
        --start-within 3s -- "$bin/river" run &&
        says "of 4 tasks has waited 3 s for the others" all && none_left
}
check "a task that never comes" absent
no_server() {
    gives=0
    PMIX_NAMESPACE=none PMIX_RANK=0 timeout 60 "$eventspace" run river4.dot \
        --output RUN -- true >all 2>&1 || gives=$?
    [ $gives -eq 1 ] && says "PMIx: cannot reach the launcher of this job" all
}
check "a job that is over" no_server

# --- signals ---

# gsum runs for ever; it is ended.
ended() { # SIGNAL
    rm -rf RUN
    open_mpi 4 "$eventspace" run "$PWD/long.dot" --output "$PWD/RUN" -- \
        "$bin/gsum" run --rounds 1000000000 >all 2>&1 &
    job=$!
    wait_running 4 $job || { cat all; return 1; }
    # Not the subshell: mpirun itself.
    kill "-$1" "$(ours "mpirun.openmpi .*$PWD/")"
    wait $job
    code=$?
    echo "exit code $code"
    [ $code -ne 0 ] && none_left && is_readable
}
check "SIGTERM to mpirun ends all" ended TERM
check "so does SIGINT" ended INT
# mpirun of Open MPI 4.1.4 itself hangs now and then when a task is killed while
# it connects (PMIX ERROR: UNREACHABLE in ptl_base_connection_hdlr.c), with
# nothing left but itself. Once there is a run directory, all have connected.
all_connected() { # JOB
    while [ ! -e RUN ] && kill -0 "$1" 2>/dev/null; do sleep 0.01; done
}
begun=all_connected
check "10 random kills below Open MPI" kills 10 \
    mpirun.openmpi --oversubscribe -n 4

# --- machines ---

# One task takes itself to be on another machine, so loopback will not do.
has_others() {
    unshare -m true 2>/dev/null && ip -o addr show up scope global 2>/dev/null |
        grep -q inet
}
elsewhere() {
    rm -rf RUN
    echo another >boot
    # shellcheck disable=SC2016 # the tasks' own
    open_mpi 2 unshare -m sh -c '[ $OMPI_COMM_WORLD_RANK = 0 ] ||
        mount --bind boot /proc/sys/kernel/random/boot_id
        exec "$@"' sh "$eventspace" run river2.dot --output RUN -- \
        "$bin/river" run >out 2>err || { cat out err; return 1; }
    untimed out | diff expected2 - &&
        says 'address="' RUN/pathmap.dot &&
        ! grep 'address="127\.' RUN/pathmap.dot
}
if has_others; then
    check "tasks of two machines have addresses of theirs" elsewhere
else
    echo "skipped tasks of two machines: it takes root and a network"
fi
local_address() {
    rm -rf RUN
    open_mpi 2 "$eventspace" run river2.dot --output RUN -- "$bin/river" run \
        >out && [ "$(grep -c 'address="127\.0\.0\.1:' RUN/pathmap.dot)" -eq 2 ]
}
check "tasks of one machine have loopback" local_address
own_address() {
    rm -rf RUN
    sed 's/\(subgraph cluster_h1 {\)/\1 address="127.0.0.9";/' river2.dot >own.dot
    open_mpi 2 "$eventspace" run own.dot --output RUN -- "$bin/river" run \
        >out && says 'address="127\.0\.0\.1:' RUN/pathmap.dot &&
        says 'address="127\.0\.0\.9:' RUN/pathmap.dot
}
check "an address of the map wins" own_address

# --- the map ---

generated() { # PATTERN COUNT COMMAND...
    pattern=$1
    count=$2
    shift 2
    "$@" "$eventspace" map generate -a threads.dot --processes $kind >out 2>err ||
        { cat err; return 1; }
    [ "$(grep -c "$pattern" out)" -eq "$count" ] || { cat out; return 1; }
}
kind=mpirun
"$bin/gsum" mapping --threads 8 >threads.dot
check "map generate has a process for each task" generated \
    "subgraph cluster_h" 3 open_mpi 3
printf 'a slots=2 max_slots=4 # two\n\nb:2\nb\n' >hosts
check "and for each slot of a file" generated "cluster=b" 3 env PBS_NODEFILE=hosts
check "or of Open MPI" generated "cluster=a" 2 \
    env OMPI_MCA_orte_default_hostfile=hosts
listed() { # LIST TASKS PATTERN COUNT
    generated "$3" "$4" env PBS_NODEFILE= SLURM_JOB_NODELIST="$1" \
        SLURM_TASKS_PER_NODE="$2"
}
kind=slurm
check "lists of Slurm have ranges" listed 'n[1-2,07],gpu[1-2]x[01-02]' \
    '1(x2),2,1(x4)' 'cluster=gpu[12]x0[12]\|cluster=n07' 6
refused() { # LIST TASKS PATTERN
    ! SLURM_JOB_NODELIST=$1 SLURM_TASKS_PER_NODE=$2 "$eventspace" map generate \
        -a threads.dot --processes slurm >out 2>err && says "$3" err
}
check "one that is cut is refused" refused 'n[1-' 1 'cannot read machines=n.1-'
check "so are tasks for other machines" refused 'n[1-3]' '2(x2)' \
    'cannot read SLURM_TASKS_PER_NODE=2(x2)'
without() {
    ! "$eventspace" map generate -a threads.dot --processes mpirun >out 2>err &&
        says "no list of machines for mpirun here" err
}
check "without any, it says what to do" without

# --- the library ---

# Found, but none: as a file system without it would have it.
library() { # FILE VARIABLE PACKAGE
    file=$(ldconfig -p | sed -n "s/.*$1 .*=> //p" | head -n 1)
    # shellcheck disable=SC2016 # of the shell with mounts of its own
    unshare -m sh -c 'mount --bind /dev/null "$(readlink -f "$1")" && shift &&
        exec env "$@"' sh "$file" "$2" "$eventspace" run river4.dot \
        --output NONE -- true >all 2>&1
    says "library to talk to the other tasks is missing: install the package $3" \
        all
}
if unshare -m true 2>/dev/null; then
    check "without libpmix" library libpmix.so.2 PMIX_NAMESPACE=none libpmix2
    check "without libpmi2" library libpmi2.so.0 PMI_FD=9 libpmi2-0
else
    echo "skipped what is said without a library: it takes root"
fi
needs_none() {
    ! ldd "$eventspace" | grep -i pmi
}
check "the command does not depend on them" needs_none

[ $failures -eq 0 ]
