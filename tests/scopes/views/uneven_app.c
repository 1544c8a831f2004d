/* uneven_app.c - threads that sum up round after round, and compute in between
 * for as long as their attribute `compute_ms` in the map says.
 *
 * They compute by waiting for that time, so that it does not matter how many
 * processors there are. How long that really took, in all rounds but the first,
 * they write into the run directory, RUN/THREAD.computed, in nanoseconds. */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "eventspace/eventspace.h"
#include "pastset/status.h"

#define ROUNDS 25

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int tell(const char *directory, const char *thread, int64_t computed_ns)
{
    char name[512];
    FILE *file;

    snprintf(name, sizeof(name), "%s/%s.computed", directory, thread);
    file = fopen(name, "w");
    if (!file)
        return pastset_fail(PASTSET_EIO, "cannot write %s", name);
    fprintf(file, "%" PRId64 "\n", computed_ns);
    return fclose(file) ? pastset_fail(PASTSET_EIO, "%s", name) : 0;
}

static int work(paths_thread *self, void *argument)
{
    const char *text = paths_thread_attribute(self, "compute_ms");
    int compute_ms = text ? atoi(text) : 0;
    int64_t computed_ns = 0;
    paths_path *total;
    int err = paths_open(&total, self, "total");

    for (int i = 0; i < ROUNDS && !err; i++) {
        int64_t own = 1, sum, began_ns = now_ns();
        poll(NULL, 0, compute_ms);
        if (i > 0)
            computed_ns += now_ns() - began_ns;
        err = paths_exchange(total, &own, sizeof(own), &sum, sizeof(sum));
    }
    return err ? err : tell(argument, paths_thread_name(self), computed_ns);
}

int main(void)
{
    eventspace *es;
    int err = eventspace_start(&es);

    if (!err)
        err = eventspace_program(es, "*", work,
                                 (void *)(uintptr_t)eventspace_directory(es));
    return eventspace_finish(es, err);
}
