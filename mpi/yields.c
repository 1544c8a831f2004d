/* yields.c - how often MPI has let others have the processor while it waited:
 * `sched_yield` of the C library, as libraries of MPI call it, counted.
 *
 * Who yields leaves the processor to those who compute, and gets it back when
 * they have had their slices; who spins has its own slices. That makes a
 * difference to how long a program takes beside others (docs/prediction.md). */
#include <sys/syscall.h>
#include <unistd.h>

#include "mpi/interpose.h"

int __attribute__((visibility("default"))) sched_yield(void);

int sched_yield(void)
{
    mpi_self *self = mpi__self;

    if (self && self->inside)
        self->thread->yields++;
    return (int)syscall(SYS_sched_yield);
}
