/* gives_way.c - a library to be put before an MPI program (LD_PRELOAD): ranks
 * of MPICH that wait for others leave the processor to these. Debian's MPICH
 * waits by looking into UCX again and again, and knows no other way; where
 * there are more ranks than processors, most of the time goes into that. */
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

enum { IN_VAIN = 50, SLEEP_NS = 50000 };

typedef unsigned progress(void *worker);
EXPORT progress ucp_worker_progress;

/* UCX is not in the scope of names where a program has loaded MPI for itself.
 */
static progress *next_find(void)
{
    void *found = dlsym(RTLD_NEXT, "ucp_worker_progress");
    void *ucx = found ? NULL : dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);

    if (ucx)
        found = dlsym(ucx, "ucp_worker_progress");
    if (!found)
        abort(); /* who has called this? */
    return (progress *)found;
}

/* Returns how much there was to do. */
unsigned ucp_worker_progress(void *worker)
{
    static _Thread_local progress *next;
    static _Thread_local unsigned in_vain;
    unsigned found;

    if (!next)
        next = next_find();
    found = next(worker);
    in_vain = found ? 0 : in_vain + 1;
    if (in_vain >= IN_VAIN) {
        in_vain = 0;
        nanosleep(&(struct timespec){.tv_nsec = SLEEP_NS}, NULL);
    }
    return found;
}
