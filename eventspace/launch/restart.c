/* restart.c - after a process has died all are started again.
 *
 * All of them, and not the one that died alone: the threads of the others have
 * gone on from the step that they go back to as well, and stand in operations
 * that nobody will complete. Where each goes on, and with what, lies in its
 * space (paths/engine/commit.c). The files of the run that was broken off are
 * set aside, as a run directory of its own, with all its events.
 *
 * A process can die while it is being made, or restored. Then its space has no
 * step that it has committed, and what it had kept is still where it was
 * before: to go back further than need be is never wrong. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "eventspace/launch/launch_internal.h"
#include "eventspace/run/run_internal.h"
#include "pastset/status.h"

/* That often nothing came of it: it is the program that is at fault. */
#define IN_VAIN 3

/* The last step that all have committed, of the run in this directory. */
static int step_find(uint64_t *step, const char *directory,
                     const paths_map *map)
{
    int err = 0;

    *step = UINT64_MAX;
    for (uint32_t i = 0; i < map->process_count && !err; i++) {
        const char *name = map->processes[i].name;
        char file[EVENTSPACE_PATH_BYTES];
        uint64_t committed = 0;
        err =
            eventspace_run_file(file, sizeof(file), directory, name, ".space");
        if (!err)
            err = paths_process_committed(&committed, map, name, file);
        if (err == PASTSET_EFORMAT) { /* killed while it was made, say */
            fprintf(stderr, "process %s: all go back further: %s\n", name,
                    pastset_error());
            err = 0;
        }
        *step = committed < *step ? committed : *step;
    }
    return err;
}

int eventspace__restart_prepare(launch_restart *r, const char *directory,
                                const paths_map *map)
{
    char aside[PATH_MAX];
    uint64_t step;
    int err = step_find(&step, directory, map);

    if (err)
        return err;
    r->in_vain = step > r->step ? 0 : r->in_vain + 1;
    if (r->in_vain > IN_VAIN)
        return pastset_fail(PASTSET_EAPP,
                            "that was done %d times without another step that "
                            "all threads have committed",
                            IN_VAIN);
    err = eventspace__directory_set_aside(aside, sizeof(aside), directory, map);
    if (err)
        return err;
    if (step) {
        r->step = step;
        memcpy(r->from, aside, sizeof(aside));
    }
    fprintf(stderr,
            "all processes are started again, and go on after step %" PRIu64
            "; what they did until now is in %s\n",
            r->step, aside);
    return 0;
}
