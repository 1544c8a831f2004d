/* mpi.h - what MPI takes for the same operation: a limit from outside.
 *
 * The program mpi/mpi_bench.c is compiled for Open MPI and for MPICH where
 * these are installed, and started by their launchers. */
#ifndef TESTS_BENCH_MPI_H
#define TESTS_BENCH_MPI_H

#include <stdbool.h>
#include <stddef.h>

typedef enum mpi_links {
    MPI_SHARED,  /* all ranks in shared memory */
    MPI_GROUPED, /* in as many groups as there are processes: shared memory
                    within each, TCP between them, as processes with threads
                    have it */
    MPI_TCP,     /* TCP between any two ranks */
} mpi_links;

#define MPI_SETTINGS 5

/* What an operation takes with each of the settings that may be best (see
 * mpi.c): the best of its runs. Begin with 0. */
typedef struct mpi_times {
    struct {
        double us;
        int runs; /* that came to an end */
        bool out; /* so slow, or broken, that it is not run any more */
    } of[MPI_SETTINGS];
} mpi_times;

/* Is there any? Says on standard error, the first time, which are missing. */
bool mpi_find(void);

/* Runs `operation` ("allreduce8", "allreduce4k", "barrier") once with each
 * setting of both MPIs. `groups` for MPI_GROUPED. Takes seconds; a run that has
 * no result after a minute is killed. Forks: call it while there is one
 * thread. */
void mpi_run(mpi_times *times, const char *operation, unsigned ranks,
             unsigned groups, mpi_links links);

/* The median of the fastest run, in microseconds, and the name of its setting;
 * NAN when none is installed or none came to an end. */
double mpi_best_us(const mpi_times *times, mpi_links links, char *which,
                   size_t capacity);

#endif
