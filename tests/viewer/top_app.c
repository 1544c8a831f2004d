/* top_app.c - the map of figure 3, with a stop.
 *
 *     eventspace run figure3.dot --output RUN -- top_app ROUNDS DIRECTORY
 *
 * Threads 1 to 4 sum, thread 4 tells thread 5 each sum. When a thread has done
 * its rounds it writes its number to the pipe DIRECTORY/done, and ends when it
 * can read from DIRECTORY/go. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "eventspace/eventspace.h"
#include "pastset/status.h"

typedef struct arguments {
    int rounds;
    const char *directory;
} arguments;

/* Opens a pipe and moves a byte. */
static int move(const char *directory, const char *name, int flags, char byte)
{
    char file[512];
    ssize_t moved;
    int fd;

    snprintf(file, sizeof(file), "%s/%s", directory, name);
    fd = open(file, flags);
    if (fd < 0)
        return pastset_fail(PASTSET_EIO, "%s: %s", file, strerror(errno));
    moved = flags == O_RDONLY ? read(fd, &byte, 1) : write(fd, &byte, 1);
    close(fd);
    return moved == 1 ? 0 : pastset_fail(PASTSET_EIO, "%s: no byte", file);
}

static int stop(paths_thread *self, const arguments *a)
{
    int err = move(a->directory, "done", O_WRONLY,
                   (char)('1' + paths_thread_number(self)));

    return err ? err : move(a->directory, "go", O_RDONLY, 0);
}

static int sum(paths_thread *self, void *argument)
{
    const arguments *a = argument;
    int64_t own = paths_thread_number(self) + 1;
    paths_path *total, *news = NULL;
    int err = paths_open(&total, self, "total");

    if (!err && own == 4)
        err = paths_open(&news, self, "news");
    for (int64_t round = 1; round <= a->rounds && !err; round++) {
        int64_t part = own * round, all;
        err = paths_exchange(total, &part, sizeof(part), &all, sizeof(all));
        if (!err && news)
            err = paths_write(news, &all, sizeof(all));
    }
    return err ? err : stop(self, a);
}

static int hear(paths_thread *self, void *argument)
{
    const arguments *a = argument;
    paths_path *news;
    int err = paths_open(&news, self, "news");

    for (int64_t round = 1; round <= a->rounds && !err; round++) {
        int64_t all;
        err = paths_observe(news, &all, sizeof(all));
    }
    return err ? err : stop(self, a);
}

int main(int argc, char **argv)
{
    arguments a = {.rounds = argc > 1 ? atoi(argv[1]) : 1,
                   .directory = argc > 2 ? argv[2] : "."};
    eventspace *es;
    int err = eventspace_start(&es);

    if (!err)
        err = eventspace_program(es, "*", sum, &a);
    if (!err)
        err = eventspace_program(es, "thread5", hear, &a);
    return eventspace_finish(es, err);
}
