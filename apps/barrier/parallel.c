/* parallel.c - a thread of a run.
 *
 * Its paths: `together`, the barrier; `arrivals`, by which thread 0 gets the
 * notes of the others; and, unless unchecked, `order`. In a round it waits,
 * writes to `order` that it comes, is at the barrier, and writes that it has
 * left: see order.c. Notes stay in memory until the last round is over. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "apps/barrier/barrier.h"
#include "pastset/status.h"

typedef struct worker {
    paths_thread *self;
    const program_options *options;
    uint32_t number, rounds;
    paths_path *together, *arrivals, *order; /* order NULL: unchecked */
    barrier_notes *notes;                    /* of all rounds */
    uint32_t notes_count;
} worker;

/* --- a round --- */

static uint64_t wall_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void wait_for(uint64_t ns)
{
    uint64_t until = program_now_ns() + ns;
    struct timespec at = {.tv_sec = (time_t)(until / 1000000000u),
                          .tv_nsec = (long)(until % 1000000000u)};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
        continue;
}

static int event_write(worker *w, uint32_t round, bool has_left)
{
    barrier_event event = {w->number, round, has_left};

    return w->order ? paths_write(w->order, &event, sizeof(event)) : 0;
}

static int round_run(worker *w, uint32_t round)
{
    barrier_note *note =
        &w->notes[round / BARRIER_NOTES].note[round % BARRIER_NOTES];
    int err;

    note->wait_ns = barrier_wait_ns(w->options, w->number, round);
    wait_for(note->wait_ns);
    err = event_write(w, round, false);
    note->arrived_ns = wall_ns();
    if (!err)
        err = paths_barrier(w->together);
    note->left_ns = wall_ns();
    return err ? err : event_write(w, round, true);
}

static int rounds_run(worker *w)
{
    int err = 0;

    for (uint32_t round = 0; round < w->rounds && !err; round++)
        err = round_run(w, round);
    return err;
}

/* --- afterwards --- */

static int notes_write(worker *w)
{
    int err = 0;

    for (uint32_t i = 0; i < w->notes_count && !err; i++)
        err = paths_write(w->arrivals, &w->notes[i], sizeof(w->notes[i]));
    return err;
}

/* Thread 0. Who has sent its last notes has written its last event. */
static int all_report(worker *w, uint64_t took_ns, program_result *r)
{
    arrivals *all;
    int err = arrivals_create(&all, w->options);

    for (uint32_t i = 0; i < w->notes_count && !err; i++)
        err = arrivals_add(all, &w->notes[i]);
    if (err)
        goto done;
    err = arrivals_read(all, w->arrivals);
    if (err)
        goto done;
    if (w->order)
        err = order_check(w->order, w->options);
    if (err)
        goto done;
    err = arrivals_report(all, took_ns, r);
done:
    arrivals_destroy(all);
    return err;
}

/* --- a thread --- */

static int notes_make(worker *w)
{
    w->notes_count = (w->rounds + BARRIER_NOTES - 1) / BARRIER_NOTES;
    w->notes = calloc(w->notes_count, sizeof(*w->notes));
    if (!w->notes)
        return pastset_no_memory("for the notes");
    for (uint32_t i = 0; i < w->notes_count; i++) {
        barrier_notes *n = &w->notes[i];
        uint32_t left = w->rounds - i * BARRIER_NOTES;
        n->thread = w->number;
        n->first = i * BARRIER_NOTES;
        n->count = left < BARRIER_NOTES ? left : BARRIER_NOTES;
        snprintf(n->process, sizeof(n->process), "%s",
                 paths_thread_host(w->self));
    }
    return 0;
}

static int paths_open_all(worker *w)
{
    const barrier_options *own = w->options->own;
    int err = paths_open(&w->together, w->self, "together");

    if (!err)
        err = paths_open(&w->arrivals, w->self, "arrivals");
    if (!err && !own->unchecked)
        err = paths_open(&w->order, w->self, "order");
    return err;
}

int barrier_thread(paths_thread *self, void *argument)
{
    const program_run *run = argument;
    worker w = {.self = self,
                .options = run->options,
                .number = paths_thread_number(self),
                .rounds = barrier_rounds(run->options)};
    uint64_t begin;
    int err = barrier_check(run->options);

    if (err)
        goto done;
    err = paths_open_all(&w);
    if (err)
        goto done;
    err = notes_make(&w);
    if (err)
        goto done;
    begin = program_now_ns();
    err = rounds_run(&w);
    if (err)
        goto done;
    if (run->result)
        err = all_report(&w, program_now_ns() - begin, run->result);
    else
        err = notes_write(&w);
done:
    free(w.notes);
    return err;
}
