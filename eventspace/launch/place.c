/* place.c - where a process runs: its processors and its network namespace.
 *
 * A child begins on the processors and in the namespace of the thread that
 * starts it, and a socket belongs to the namespace of the thread that opens
 * it. So the launcher goes there for a moment, and comes back. */
#include "eventspace/launch/launch_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "paths/engine/processors.h"
#include "pastset/status.h"

#define NAMESPACES "/run/netns/" /* where ip-netns(8) keeps them */

static int namespace_enter(launch_place *place, const char *name)
{
    char file[PATH_MAX];
    int fd, err = 0;

    snprintf(file, sizeof(file), NAMESPACES "%s", name);
    place->back = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    fd = open(file, O_RDONLY | O_CLOEXEC);
    if (place->back < 0 || fd < 0)
        err = pastset_fail(PASTSET_ENOENT,
                           "netns=%s: %s: %s; `ip netns add` makes one", name,
                           file, strerror(errno));
    else if (setns(fd, CLONE_NEWNET) != 0)
        err = pastset_fail(
            PASTSET_ENOTSUP,
            "netns=%s: %s; entering it requires CAP_SYS_ADMIN, which root has",
            name, strerror(errno));
    if (fd >= 0)
        close(fd);
    if (err && place->back >= 0) {
        close(place->back);
        place->back = -1;
    }
    return err;
}

static int processors_take(launch_place *place, const char *text)
{
    cpu_set_t set;
    int err = paths_processors_parse(&set, text);

    if (!err && (sched_getaffinity(0, sizeof(place->set), &place->set) != 0 ||
                 sched_setaffinity(0, sizeof(set), &set) != 0))
        err =
            pastset_fail(PASTSET_EINVAL, "affinity=%s: %s", text,
                         errno == EINVAL ? "this machine has no such processor"
                                         : strerror(errno));
    place->bound = !err;
    return err;
}

int eventspace__place_enter(launch_place *place,
                            const paths_map_process *process)
{
    const char *processors =
        paths_attributes_get(&process->attributes, "affinity");
    const char *name = paths_attributes_get(&process->attributes, "netns");
    int err = 0;

    *place = (launch_place){.back = -1};
    if (name && *name)
        err = namespace_enter(place, name);
    if (!err && processors && *processors)
        err = processors_take(place, processors);
    if (err)
        eventspace__place_leave(place);
    return err;
}

void eventspace__place_leave(launch_place *place)
{
    if (place->bound)
        sched_setaffinity(0, sizeof(place->set), &place->set);
    place->bound = false;
    if (place->back < 0)
        return;
    /* It was ours a moment ago, so this cannot fail. */
    if (setns(place->back, CLONE_NEWNET) != 0)
        perror("eventspace: cannot leave a network namespace");
    close(place->back);
    place->back = -1;
}
