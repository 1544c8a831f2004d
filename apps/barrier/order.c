/* order.c - that nobody left a barrier before all had come, without clocks.
 *
 * Each thread writes to the element `order` that it comes to a barrier, and
 * the write has returned before it goes there; when it has left the barrier it
 * writes that too. Tuples of an element have one order, so the element is the
 * clock: at every barrier, the last thread to come stands in it before the
 * first that has left. If a thread left before another had come, it stands in
 * front of that one, unless its second write was slower than all that the
 * other still had to do before its first. */
#include <inttypes.h>
#include <stdlib.h>

#include "apps/barrier/barrier.h"
#include "pastset/status.h"

typedef struct order {
    paths_path *path;
    uint32_t threads, rounds;
    uint32_t *come; /* of each round: how many */
    uint64_t *next; /* of each thread: 2 round + has_left of its next event */
} order;

/* Each writes all of its events, one after another. */
static int event_check(order *o, const barrier_event *e)
{
    uint64_t expected;

    if (e->thread >= o->threads)
        return pastset_fail(PASTSET_EAPP, "%s: there is no thread %" PRIu32,
                            paths_describe(o->path), e->thread);
    expected = o->next[e->thread]++;
    if (expected != 2 * (uint64_t)e->round + e->has_left ||
        e->round >= o->rounds)
        return pastset_fail(PASTSET_EAPP,
                            "%s: an event of thread %" PRIu32
                            " at the barrier of round %" PRIu64 " was lost",
                            paths_describe(o->path), e->thread, expected / 2);
    if (!e->has_left)
        o->come[e->round]++;
    else if (o->come[e->round] < o->threads)
        return pastset_fail(
            PASTSET_EAPP,
            "thread %" PRIu32 " left the barrier of round %" PRIu32
            " when only %" PRIu32 " of %" PRIu32 " threads had arrived",
            e->thread, e->round, o->come[e->round], o->threads);
    return 0;
}

/* All are there, so that none is waited for. */
static int event_read(order *o, barrier_event *e)
{
    paths_arguments arguments = {
        .verb = PASTSET_READ_NEXT,
        .tuple = e,
        .bytes = sizeof(*e),
        .timeout_ms = PASTSET_NOWAIT,
    };

    return paths_call(o->path, &arguments);
}

static int events_check(order *o)
{
    uint64_t count = 2 * (uint64_t)o->threads * o->rounds;
    barrier_event e;

    for (uint64_t i = 0; i < count; i++) {
        int err = event_read(o, &e);
        if (!err)
            err = event_check(o, &e);
        if (err)
            return pastset_fail_while(err, "event %" PRIu64 " of %" PRIu64, i,
                                      count);
    }
    return 0;
}

int order_check(paths_path *path, const program_options *options)
{
    order o = {.path = path,
               .threads = options->threads,
               .rounds = barrier_rounds(options)};
    int err;

    o.come = calloc(o.rounds, sizeof(*o.come));
    o.next = calloc(o.threads, sizeof(*o.next));
    if (o.come && o.next)
        err = events_check(&o);
    else
        err = pastset_no_memory("for the events");
    free(o.come);
    free(o.next);
    return err;
}
