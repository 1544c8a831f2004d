/* hanging_app.c - a program that hangs on purpose, on the map hanging.dot.
 *
 *     eventspace run hanging.dot --output RUN -- hanging_app DIRECTORY
 *
 * t1, t2 and t3 meet once. Then t0 has two reads under way at an element that
 * t4 would write, t4 reads one that t2 would write, and t1 and t3 are at a
 * barrier to which t2 does not come: it reads from the pipe DIRECTORY/go, which
 * is nothing that can be seen from outside. When there is a byte everything
 * goes on to its end. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "eventspace/eventspace.h"
#include "pastset/status.h"

static int wait_for_byte(const char *directory)
{
    char file[512], byte;
    ssize_t got;
    int fd;

    snprintf(file, sizeof(file), "%s/go", directory);
    fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return pastset_fail(PASTSET_EIO, "%s: %s", file, strerror(errno));
    got = read(fd, &byte, 1);
    close(fd);
    return got == 1 ? 0 : pastset_fail(PASTSET_EIO, "%s: no byte", file);
}

static int meet(paths_thread *self, void *argument)
{
    bool is_late = paths_thread_number(self) == 2;
    uint64_t tuple = 2;
    paths_path *barrier, *element;
    int err = paths_open(&barrier, self, "meet");

    if (!err)
        err = paths_barrier(barrier);
    if (!err && is_late)
        err = wait_for_byte(argument);
    if (!err && is_late)
        err = paths_open(&element, self, "write");
    if (!err && is_late)
        err = paths_write(element, &tuple, sizeof(tuple));
    return err ? err : paths_barrier(barrier);
}

static int pass_on(paths_thread *self, void *argument)
{
    uint64_t tuple;
    paths_path *from, *to;
    int err = paths_open(&from, self, "read");

    (void)argument;
    if (!err)
        err = paths_open(&to, self, "write");
    if (!err)
        err = paths_observe(from, &tuple, sizeof(tuple));
    for (int i = 0; i < 2 && !err; i++)
        err = paths_write(to, &tuple, sizeof(tuple));
    return err;
}

static void done(paths_arguments *arguments, int status, void *context)
{
    int *first = context;

    (void)arguments;
    *first = *first ? *first : status;
}

static int read_two(paths_thread *self, void *argument)
{
    uint64_t tuples[2];
    paths_arguments arguments[2];
    paths_path *path;
    int status = 0, err = paths_open(&path, self, "read");

    (void)argument;
    for (int i = 0; i < 2 && !err; i++) {
        arguments[i] = (paths_arguments){.verb = PASTSET_OBSERVE,
                                         .tuple = &tuples[i],
                                         .bytes = sizeof(tuples[i]),
                                         .timeout_ms = PASTSET_FOREVER};
        err = paths_start(path, &arguments[i], done, &status);
    }
    while (!err && !status && (err = paths_poll(self, PASTSET_FOREVER)) > 0)
        err = 0;
    return err ? err : status;
}

int main(int argc, char **argv)
{
    const char *directory = argc > 1 ? argv[1] : ".";
    eventspace *es;
    int err = eventspace_start(&es);

    if (!err)
        err = eventspace_program(es, "t[123]", meet,
                                 (void *)(uintptr_t)directory);
    if (!err)
        err = eventspace_program(es, "t0", read_two, NULL);
    if (!err)
        err = eventspace_program(es, "t4", pass_on, NULL);
    return eventspace_finish(es, err);
}
