/* subject.c - a program that does a little of everything, and looks whether it
 * came out right: what the sweep makes fail.
 *
 * Each thread takes part in a global sum, writes to an element and reads it,
 * starts operations and polls for them, and waits in vain with a deadline. The
 * sums are a region of its trace, and counted.
 * What the maps have of it is in one.dot and three.dot; in restart.dot one of
 * its threads dies, and all are started again. */
#include <signal.h>
#include <stdint.h>
#include <string.h>

#include "eventspace/eventspace.h"
#include "eventspace/metric.h"
#include "eventspace/regions.h"

#define ROUNDS 6
#define STARTED 4
#define SHORT_MS 20
#define DEADLINE_MS 10000

#define check(call)                                                            \
    do {                                                                       \
        int check_ = (call);                                                   \
        if (check_)                                                            \
            return check_;                                                     \
    } while (0)
#define holds(condition)                                                       \
    do {                                                                       \
        if (!(condition))                                                      \
            return pastset_fail(PASTSET_EAPP, "WRONG: %s", #condition);        \
    } while (0)

static int sums(paths_thread *self)
{
    int64_t threads = paths_thread_count(self);
    paths_path *total;
    eventspace_metric *counted;

    check(paths_open(&total, self, "total"));
    check(eventspace_metric_open(&counted, self, "sums"));
    for (int64_t i = 0; i < ROUNDS; i++) {
        int64_t mine = i + paths_thread_number(self), all = 0;
        check(eventspace_region_begin(self, "sum"));
        check(paths_exchange(total, &mine, sizeof(mine), &all, sizeof(all)));
        check(eventspace_region_end(self, "sum"));
        check(eventspace_mark(self, "added"));
        eventspace_metric_add(counted, 1);
        holds(all == threads * i + threads * (threads - 1) / 2);
    }
    holds(counted->total > 0 && counted->total % ROUNDS == 0);
    return 0;
}

typedef struct box {
    int64_t number;
    unsigned char rest[248];
} box;

static int boxes(paths_path *path)
{
    for (int64_t i = 0; i < STARTED; i++) {
        box in = {.number = i}, out;
        memset(in.rest, (int)i, sizeof(in.rest));
        check(paths_write(path, &in, sizeof(in)));
        check(paths_read(path, (uint64_t)i, &out, sizeof(out)));
        holds(memcmp(&in, &out, sizeof(in)) == 0);
    }
    return 0;
}

typedef struct started {
    paths_arguments arguments;
    box tuple;
    bool done;
    int status;
} started;

static void note(paths_arguments *arguments, int status, void *context)
{
    started *s = context;

    (void)arguments;
    s->done = true;
    s->status = status;
}

/* Even those that could not be started for an error must be done before what
 * they point at is gone. */
static int starts(paths_thread *self, paths_path *path)
{
    started all[STARTED];
    int err = 0, count = 0;

    for (; count < STARTED && !err; count++) {
        all[count] =
            (started){.arguments = {.verb = PASTSET_READ,
                                    .tuple = &all[count].tuple,
                                    .bytes = sizeof(box),
                                    .index = (uint64_t)count,
                                    .timeout_ms = count % 2 ? DEADLINE_MS
                                                            : PASTSET_FOREVER}};
        err = paths_start(path, &all[count].arguments, note, &all[count]);
        if (err)
            break;
    }
    for (int i = 0; i < count; i++) {
        while (!all[i].done)
            paths_poll(self, PASTSET_FOREVER);
        if (!err)
            err = all[i].status;
        if (!err)
            holds(all[i].tuple.number == i);
    }
    return err;
}

static int in_vain(paths_thread *self)
{
    paths_path *never;
    int64_t tuple;
    paths_arguments late = {.verb = PASTSET_READ,
                            .tuple = &tuple,
                            .bytes = sizeof(tuple),
                            .timeout_ms = SHORT_MS};
    int status;

    check(paths_open(&never, self, "never"));
    status = paths_call(never, &late);
    return status == PASTSET_ETIMEDOUT ? 0 : status;
}

/* Keeps a number; and one thread dies, when all have kept theirs. When they
 * were started again, it is there. */
static int keeps(paths_thread *self)
{
    uint64_t kept = 100 + paths_thread_number(self), found = 0;
    paths_path *path;

    if (!paths_thread_attribute(self, "keeps"))
        return 0;
    check(paths_open(&path, self, "kept"));
    if (paths_restored(self)) {
        holds(paths_restored(self) == 1);
        check(paths_read_last(path, &found, sizeof(found)));
        holds(found == kept);
        return 0;
    }
    check(paths_write(path, &kept, sizeof(kept)));
    check(paths_commit(self, 1));
    check(sums(self));
    if (paths_thread_attribute(self, "dies"))
        raise(SIGKILL);
    return sums(self);
}

static int work(paths_thread *self, void *argument)
{
    paths_path *path;

    (void)argument;
    check(keeps(self));
    check(sums(self));
    check(paths_open(&path, self, "box"));
    check(boxes(path));
    check(starts(self, path));
    check(in_vain(self));
    return sums(self);
}

int main(void)
{
    eventspace *es;
    int err = eventspace_start(&es);

    if (!err)
        err = eventspace_program(es, "*", work, NULL);
    return eventspace_finish(es, err);
}
