/* twin.h - what the twins share: programs of MPI that solve the problem of a
 * kernel in apps/ in the same way, on as many ranks as that has threads. They
 * take the problem itself from apps/NAME/problem.c and print its results, one
 * "NAME VALUE" a line.
 *
 *     twin ROUNDS                                 always of size S, seed 1 */
#ifndef TWINS_TWIN_H
#define TWINS_TWIN_H

#include <mpi.h>
#include <stddef.h>

#include "apps/common/program.h"

extern int twin_rank, twin_count;

/* MPI_Init, and the options: `own_bytes` of zeros are the program's own. */
program_options twin_begin(int argc, char **argv, size_t own_bytes);
/* Ends all ranks if it has failed. */
void twin_check(int err, const char *what);
/* Memory of zeros. */
void *twin_memory(size_t count, size_t bytes);

#endif
