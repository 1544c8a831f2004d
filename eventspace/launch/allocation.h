/* allocation.h - on which machines the tasks of a job are, or will be.
 *
 * Threads:   none shared.
 * Ownership: the caller's, who gives it back by fini. */
#ifndef EVENTSPACE_ALLOCATION_H
#define EVENTSPACE_ALLOCATION_H

#include <stdint.h>

#include "eventspace/launch/job.h"
#include "paths/map/map.h"

typedef struct eventspace_allocation {
    char **machines; /* by task, in the order of their ranks */
    uint32_t count;
} eventspace_allocation;

/* What Slurm has allocated to this script, or to the step of this task:
 * SLURM_JOB_NODELIST and SLURM_TASKS_PER_NODE, or SLURM_STEP_NODELIST and
 * SLURM_STEP_TASKS_PER_NODE, with tasks in blocks or in turn
 * (SLURM_DISTRIBUTION).
 * Errors: PASTSET_ENOENT (no allocation), PASTSET_EINVAL (cannot be read),
 * PASTSET_ENOTSUP (another distribution), PASTSET_ENOMEM. */
int eventspace_allocation_slurm(eventspace_allocation *out);
/* The machines and slots of the file that Open MPI's hosts are taken from
 * (OMPI_MCA_orte_default_hostfile), or of PBS (PBS_NODEFILE).
 * Errors as above, and PASTSET_EIO. */
int eventspace_allocation_mpirun(eventspace_allocation *out);
/* Of a job whose tasks are there already: each says where it is.
 * Errors: PASTSET_EAPP, PASTSET_ETIMEDOUT, PASTSET_EHOST, PASTSET_ENOMEM. */
int eventspace_allocation_job(eventspace_allocation *out, eventspace_job *job);
void eventspace_allocation_fini(eventspace_allocation *allocation);

/* A cluster mapping (paths/generate/generate.h) with a process h0, h1 ... for
 * each task, those of one machine in a cluster of its name if there are several
 * machines. Errors: PASTSET_ENOMEM. */
int eventspace_allocation_cluster(paths_map **out,
                                  const eventspace_allocation *allocation);

#endif
