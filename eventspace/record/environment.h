/* environment.h - what `eventspace mpi` says to the interposer in a program's
 * environment. */
#ifndef EVENTSPACE_RECORD_ENVIRONMENT_H
#define EVENTSPACE_RECORD_ENVIRONMENT_H

#include <stdint.h>

#define EVENTSPACE_MPI_RUN "EVENTSPACE_MPI_RUN"   /* the run directory */
#define EVENTSPACE_MPI_SIZE "EVENTSPACE_MPI_SIZE" /* its processes */
/* Most events of a thread; left out: the recorder's own. */
#define EVENTSPACE_MPI_EVENTS "EVENTSPACE_MPI_EVENTS"
/* The directory with the interposers, one for each MPI. */
#define EVENTSPACE_MPI_LIBRARIES "EVENTSPACE_MPI_LIBRARIES"

/* What is loaded into every process, to find out which of them it is. */
#define EVENTSPACE_MPI_DETECT "libeventspace_mpi.so"

/* The name of the process of a rank: with as many digits as the highest has, so
 * that names are in the order of ranks. */
void eventspace_rank_name(char out[32], uint32_t rank, uint32_t ranks);

#endif
