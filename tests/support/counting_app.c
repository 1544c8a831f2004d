/* counting_app.c - an application that keeps count of what it has done where
 * a kill does not reach: in a file that is mapped into memory.
 *
 *     counting_app COUNTS
 *
 * Its threads stand in a ring. Each writes to the next by path `out`, reads
 * from the one before by path `in`, and counts each operation that has come
 * back, for ever, or until the file says stop or gives a limit. */
#include "tests/support/counting_app.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "eventspace/eventspace.h"

static int go_round(paths_thread *self, void *argument)
{
    counting *all = argument;
    counting_thread *mine = &all->threads[paths_thread_number(self)];
    paths_path *out, *in;
    int err = paths_open(&out, self, "out");

    if (!err)
        err = paths_open(&in, self, "in");
    atomic_store(&mine->pid, getpid());
    while (!err && !atomic_load(&all->stop)) {
        uint64_t value = atomic_load(&mine->out);
        uint64_t limit = atomic_load(&all->limit);
        if (limit && value >= limit)
            break;
        err = paths_write(out, &value, sizeof(value));
        if (err)
            break;
        atomic_fetch_add(&mine->out, 1);
        err = paths_observe(in, &value, sizeof(value));
        if (!err)
            atomic_fetch_add(&mine->in, 1);
    }
    return err;
}

int main(int argc, char **argv)
{
    int fd = argc == 2 ? open(argv[1], O_RDWR | O_CLOEXEC) : -1;
    counting *all = fd < 0 ? MAP_FAILED
                           : mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE,
                                  MAP_SHARED, fd, 0);
    eventspace *es;
    int err;

    if (all == MAP_FAILED) {
        fprintf(stderr, "usage: counting_app COUNTS\n");
        return 2;
    }
    err = eventspace_start(&es);
    if (!err)
        err = eventspace_program(es, "*", go_round, all);
    return eventspace_finish(es, err);
}
