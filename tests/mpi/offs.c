/* offs.c - ranks that share one processor: each computes for a while, and says
 * for how long it had none, as the kernel counts that.
 *
 *     offs MILLISECONDS [killed]
 *
 * killed: rank 0 kills itself then. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long long runnable_ns(void)
{
    FILE *file = fopen("/proc/thread-self/schedstat", "r");
    long long ns = -1;

    if (!file || fscanf(file, "%*s %lld", &ns) != 1)
        MPI_Abort(MPI_COMM_WORLD, 3);
    fclose(file);
    return ns;
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    double until;
    long long before;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    before = runnable_ns();
    until = seconds() + atof(argv[1]) / 1000;
    MPI_Barrier(MPI_COMM_WORLD);
    while (seconds() < until)
        ;
    printf("%d %lld\n", rank, runnable_ns() - before);
    fflush(stdout);
    if (argc > 2 && rank == 0)
        raise(SIGKILL);
    MPI_Finalize();
    return 0;
}
