/* command_mpi.h - MPI programs as they are, with their launcher. */
#ifndef VIEWER_COMMAND_MPI_H
#define VIEWER_COMMAND_MPI_H

#include <stdbool.h>
#include <stdint.h>

#include "viewer/cli/command_deadlocks.h"

/* Becomes the launcher of the program's MPI, which starts `eventspace mpi` for
 * each rank, or starts it and watches the run. Returns the exit code, if it has
 * not become it. */
int cli_mpi_launch(uint64_t ranks, const char *directory, bool replace,
                   command_deadlocks how, char *const *program);

#endif
