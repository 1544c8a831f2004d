/* mpi.h - what MPI takes for the same operation: a limit from outside.
 *
 * The program mpi/mpi_bench.c is compiled for Open MPI and for MPICH where
 * these are installed, and started by their launchers. */
#ifndef TESTS_BENCH_MPI_H
#define TESTS_BENCH_MPI_H

#include <stdbool.h>
#include <stddef.h>

/* Is there any? Says on standard error, the first time, which are missing. */
bool mpi_find(void);

/* Runs `operation` ("allreduce8", "allreduce4k", "barrier") with both MPIs,
 * with each of the settings that may be best (see mpi.c), and gives the median
 * of the fastest in microseconds; NAN when none is installed or none came to
 * an end. With `tcp_only` the ranks talk over TCP connections, as hosts do,
 * else by shared memory. `which` gets the name of the fastest and its setting.
 * Takes seconds; a run that has no result after a minute is killed. Forks: call
 * it while there is one thread. */
double mpi_best_us(const char *operation, unsigned ranks, bool tcp_only,
                   char *which, size_t room);

#endif
