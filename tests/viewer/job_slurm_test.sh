#!/bin/sh
# job_slurm_test.sh - `eventspace run` as the tasks of srun, on a Slurm of four
# nodes on this machine. Skipped, with a message, if that cannot be started.
#
#     job_slurm_test.sh EVENTSPACE BIN
set -u
eventspace=$1
bin=$2
here=$(dirname "$0")
. "$here/check.sh"
. "$here/job.sh"
. "$here/slurm.sh"
folder=$(mktemp -d)
trap 'slurm_end; rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM
mkdir "$folder/slurm"
cd "$folder" || exit 1
exec 3>&1
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
unset PMIX_NAMESPACE PMI_FD SLURM_JOB_ID SLURM_JOBID SLURM_STEP_NUM_TASKS
if ! slurm_start "$folder/slurm"; then
    # shellcheck disable=SC2154 # of slurm.sh
    echo "skipped: no Slurm for this test: $slurm_why"
    exit 0
fi
river_maps

check "4 tasks on 4 nodes, by PMIx" same_as_alone 4 srun -N4 -n4 --mpi=pmix
check "and by PMI-2" same_as_alone 4 srun -N4 -n4 --mpi=pmi2
check "8 tasks" same_as_alone 8 srun -N4 -n8 --mpi=pmix

labelled() {
    rm -rf RUN
    srun -l -N2 -n2 --mpi=pmix "$eventspace" run river2.dot --output RUN -- \
        "$bin/river" run >out 2>err && says "^0: river: size" out
}
check "srun -l says whose a line is, and nobody else" labelled
mismatch() {
    fails srun -N4 -n5 --mpi=pmix "$eventspace" run river4.dot --output RUN -- \
        "$bin/river" run && none RUN &&
        says "river4.dot has 4 processes, and this job has 5 tasks" all &&
        [ "$(grep -c "needs a task" all)" -eq 1 ]
}
check "more tasks than processes" mismatch
no_mpi() {
    fails srun -N4 -n4 --mpi=none "$eventspace" run river4.dot --output RUN -- \
        "$bin/river" run && none RUN &&
        says "task 0 of 4 tasks, which cannot find each other: .*--mpi=pmix" all &&
        [ "$(grep -c "cannot find each other" all)" -eq 1 ]
}
check "srun without PMIx says what to do" no_mpi
absent() {
    # shellcheck disable=SC2016 # the tasks' own
    fails srun -K -N4 -n4 --mpi=pmix sh -c '[ $SLURM_PROCID = 2 ] && exec sleep 600
        exec "$@"' sh "$eventspace" run "$PWD/river4.dot" --output "$PWD/RUN" \
        --start-within 3s -- "$bin/river" run &&
        says "of 4 tasks has waited 3 s for the others" all && none_left
}
check "a task that never comes" absent
fails_with() {
    # shellcheck disable=SC2016 # the processes' own
    fails srun -N4 -n4 --mpi=pmix "$eventspace" run river4.dot --output RUN -- \
        sh -c '[ $EVENTSPACE_PROCESS = h2 ] && exit 3
        exec "$0" run' "$bin/river" &&
        says "process h2 ended before it had joined the others" all && none_left
}
check "a process that fails" fails_with

# srun passes SIGTERM on to all tasks, and to what they have started.
ended() {
    rm -rf RUN
    srun -N4 -n4 --mpi=pmix "$eventspace" run "$PWD/long.dot" --output \
        "$PWD/RUN" -- "$bin/gsum" run --rounds 1000000000 >all 2>&1 &
    job=$!
    wait_running 4 $job || { cat all; return 1; }
    "$@" || return 1
    wait $job
    code=$?
    echo "exit code $code"
    [ $code -ne 0 ] && none_left && is_readable &&
        ! "$eventspace" info RUN --format=csv | grep -e ",running," -e ",finished,"
}
term() {
    kill -TERM "$job"
}
check "SIGTERM to srun ends all" ended term
cancel() {
    scancel -u root
}
check "so does scancel" ended cancel
check "10 random kills below srun" kills 10 srun -K -N4 -n4 --mpi=pmix

# --- the map ---

generated() { # PATTERN COUNT COMMAND...
    pattern=$1
    count=$2
    shift 2
    "$@" "$eventspace" map generate -a threads.dot --processes slurm >out 2>err ||
        { cat err; return 1; }
    [ "$(grep -c "$pattern" out)" -eq "$count" ] || { cat out; return 1; }
}
"$bin/gsum" mapping --threads 6 >threads.dot
check "map generate has a process for each task of an allocation" generated \
    "subgraph cluster_h" 5 salloc -Q -N3 -n5
check "and knows which are on one machine" generated "cluster=n2" 2 \
    salloc -Q -N3 -n5
check "also in turn" generated "cluster=n2" 2 salloc -Q -N3 -n5 -m cyclic
check "or where tasks are" generated "cluster=n2" 2 srun -N4 -n6 --mpi=pmix

# As in docs/jobs.md.
batch() {
    rm -rf RUN map.dot
    cat >job.sh <<SCRIPT
#!/bin/sh
#SBATCH --nodes=4 --ntasks=4 --output=job.out
eventspace map generate --application=threads.dot --processes=slurm |
    eventspace map instrument - --output=map.dot
srun --mpi=pmix --kill-on-bad-exit=1 \
    eventspace run map.dot --output=RUN -- gsum run
SCRIPT
    PATH=$bin:$PATH sbatch --export=ALL job.sh || return 1
    while squeue -h | grep -q .; do sleep 0.05; done
    cat job.out
    finished 4
}
check "a batch script" batch

[ $failures -eq 0 ]
