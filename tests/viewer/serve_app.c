/* serve_app.c - a run that makes as many steps as it is told, and no more.
 *
 *     eventspace run MAP --output RUN -- serve_app PIPE
 *
 * On a map of gsum: all threads sum over the path `total`. For each byte that
 * can be read from PIPE the threads make one step together; at its end they
 * end, too. In between they wait. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "eventspace/eventspace.h"
#include "pastset/status.h"

/* The first thread: a byte is a step, the end is a sum below zero. */
static int lead(paths_thread *self, void *argument)
{
    const char *pipe = argument;
    int fd = open(pipe, O_RDONLY | O_CLOEXEC);
    double part = 1, all = 1;
    paths_path *total;
    char byte;
    int err;

    if (fd < 0)
        return pastset_fail(PASTSET_EIO, "%s: %s", pipe, strerror(errno));
    err = paths_open(&total, self, "total");
    while (!err && all > 0) {
        part = read(fd, &byte, 1) == 1 ? 1 : -1;
        err = paths_exchange(total, &part, sizeof(part), &all, sizeof(all));
    }
    close(fd);
    return err;
}

static int follow(paths_thread *self, void *argument)
{
    double part = 0, all = 1;
    paths_path *total;
    int err = paths_open(&total, self, "total");

    (void)argument;
    while (!err && all > 0)
        err = paths_exchange(total, &part, sizeof(part), &all, sizeof(all));
    return err;
}

int main(int argc, char **argv)
{
    eventspace *es;
    int err = eventspace_start(&es);

    if (argc != 2)
        return 2;
    if (!err)
        err = eventspace_program(es, "*", follow, NULL);
    if (!err)
        err = eventspace_program(es, "t0", lead, argv[1]);
    return eventspace_finish(es, err);
}
