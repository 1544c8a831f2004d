/* tail_reader_test.c - following streams while they are written. */
#include "scopes/reading/tail_reader.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "tests/scopes/reading/stream_files.h"

#define H0 0
#define H1 1

TestSuite(tail, .timeout = 120, .init = streams_begin, .fini = scratch_remove);

/* --- what came --- */

typedef struct came {
    char text[600]; /* "trace.t0 0+3; " for each batch */
    uint64_t count;
    int answer;
} came;

static int take(const scopes_batch *batch, void *context)
{
    came *c = context;
    size_t used = strlen(c->text);

    cr_assert_gt(batch->count, 0);
    for (size_t i = 0; i < batch->count; i++) {
        eventspace_trace want = stream_tuple(batch->index + i);
        cr_assert_eq(memcmp(&batch->events[i], &want, sizeof(want)), 0);
    }
    if (c->answer)
        return c->answer;
    snprintf(c->text + used, sizeof(c->text) - used, "%s %lu+%zu; ",
             batch->stream, (unsigned long)batch->index, batch->count);
    c->count += batch->count;
    return 0;
}

static void check_pull(scopes_tail_reader *tail, const char *want,
                       bool want_more)
{
    came c = {.text = ""};
    bool more;

    check_status(scopes_tail_reader_pull(tail, take, &c, &more), 0);
    cr_assert_str_eq(c.text, want, "pulled \"%s\", not \"%s\"", c.text, want);
    cr_assert_eq(more, want_more);
}

static void check_ledger(scopes_tail_reader *tail, size_t process,
                         uint64_t recorded, uint64_t read, uint64_t lost,
                         uint64_t unread)
{
    scopes_ledger got;

    scopes_tail_reader_ledger(tail, process, &got);
    cr_assert(got.recorded == recorded && got.read == read &&
                  got.lost == lost && got.unread == unread,
              "recorded %lu read %lu lost %lu unread %lu",
              (unsigned long)got.recorded, (unsigned long)got.read,
              (unsigned long)got.lost, (unsigned long)got.unread);
}

static scopes_tail_reader *tail_of(eventspace_run *run, size_t process,
                                   const scopes_throttle *throttle)
{
    scopes_tail_reader *tail;
    check_status(scopes_tail_reader_create(&tail, run, process, throttle), 0);
    return tail;
}

/* --- one after the other --- */

Test(tail, gives_what_came_since_and_finds_new_lanes_and_processes)
{
    eventspace_run *run = stream_run();
    scopes_tail_reader *tail = tail_of(run, SIZE_MAX, NULL);
    pastset_space *h0, *h1;
    pastset_element *t0, *t1;

    check_pull(tail, "", false);
    h0 = stream_space("h0.space");
    t0 = stream_make(h0, "trace.t0", PASTSET_GROW, 100);
    check_status(stream_write(t0, 0, 3), 0);
    check_pull(tail, "trace.t0 0+3; ", false);
    check_pull(tail, "", false);
    t1 = stream_make(h0, "trace.t0~2", PASTSET_GROW, 100);
    stream_make(h0, "e", PASTSET_GROW, 100);
    check_status(stream_write(t1, 0, 1), 0);
    check_status(stream_write(t0, 3, 5), 0);
    h1 = stream_space("h1.space");
    check_status(
        stream_write(stream_make(h1, "trace.h1", PASTSET_GROW, 9), 0, 2), 0);
    check_pull(tail, "trace.t0 3+2; trace.t0~2 0+1; trace.h1 0+2; ", false);
    check_ledger(tail, H0, 6, 6, 0, 0);
    check_ledger(tail, H1, 2, 2, 0, 0);
    check_ledger(tail, SIZE_MAX, 8, 8, 0, 0);
    scopes_tail_reader_destroy(tail);
    eventspace_run_close(run);
    pastset_space_close(h0);
    pastset_space_close(h1);
}

Test(tail, follows_one_process_only_when_told_so)
{
    pastset_space *h0 = stream_space("h0.space"),
                  *h1 = stream_space("h1.space");
    eventspace_run *run = stream_run();
    scopes_tail_reader *tail = tail_of(run, H1, NULL);

    check_status(
        stream_write(stream_make(h0, "trace.t0", PASTSET_GROW, 9), 0, 2), 0);
    check_status(
        stream_write(stream_make(h1, "trace.h1", PASTSET_GROW, 9), 0, 3), 0);
    check_pull(tail, "trace.h1 0+3; ", false);
    check_ledger(tail, SIZE_MAX, 3, 3, 0, 0);
    check_ledger(tail, H0, 0, 0, 0, 0);
    scopes_tail_reader_destroy(tail);
    eventspace_run_close(run);
    pastset_space_close(h0);
    pastset_space_close(h1);
}

Test(tail, counts_what_was_gone_and_what_was_refused)
{
    pastset_space *space = stream_space("h0.space");
    pastset_element *stream =
        stream_make(space, "trace.t0", PASTSET_DISCARD, 4);
    pastset_element *full = stream_make(space, "trace.t1", PASTSET_GROW, 3);
    eventspace_run *run = stream_run();
    scopes_tail_reader *tail = tail_of(run, SIZE_MAX, NULL);

    check_status(stream_write(stream, 0, 10), 0);
    check_status(stream_write(full, 0, 3), 0);
    check_status(stream_write(full, 3, 4), PASTSET_EFULL);
    check_status(stream_write(full, 3, 4), PASTSET_EFULL);
    check_pull(tail, "trace.t0 6+4; trace.t1 0+3; ", false);
    check_ledger(tail, SIZE_MAX, 15, 7, 8, 0);
    check_status(stream_write(stream, 10, 21), 0);
    check_ledger(tail, SIZE_MAX, 26, 7, 8, 11);
    check_pull(tail, "trace.t0 17+4; ", false);
    check_ledger(tail, SIZE_MAX, 26, 11, 15, 0);
    scopes_tail_reader_destroy(tail);
    eventspace_run_close(run);
    pastset_space_close(space);
}

Test(tail, counts_what_is_gone_without_anything_behind_it)
{
    pastset_space *space = stream_space("h0.space");
    pastset_element *stream =
        stream_make(space, "trace.t0", PASTSET_DISCARD, 100);
    eventspace_run *run = stream_run();
    scopes_tail_reader *tail = tail_of(run, SIZE_MAX, NULL);

    check_status(stream_write(stream, 0, 10), 0);
    check_status(pastset_element_truncate(stream, UINT64_MAX), 0);
    check_pull(tail, "", false);
    check_ledger(tail, SIZE_MAX, 10, 0, 10, 0);
    scopes_tail_reader_destroy(tail);
    eventspace_run_close(run);
    pastset_space_close(space);
}

Test(tail, reads_what_was_drained_before_it_came)
{
    pastset_space *space = stream_space("h0.space");
    pastset_element *stream =
        stream_make(space, "trace.t0", PASTSET_BLOCK, 100);
    pastset_space *away;
    eventspace_run *run = stream_run();
    scopes_tail_reader *tail = tail_of(run, SIZE_MAX, NULL);

    check_status(stream_write(stream, 0, 10), 0);
    check_pull(tail, "trace.t0 0+10; ", false);
    /* Drained for the first time when the tail reader knows the stream already.
     */
    check_status(stream_write(stream, 10, 20), 0);
    away = stream_space("h0.drained");
    check_status(
        stream_write(stream_make(away, "trace.t0", PASTSET_GROW, 100), 0, 15),
        0);
    check_status(pastset_element_truncate(stream, 15), 0);
    check_pull(tail, "trace.t0 10+5; trace.t0 15+5; ", false);
    check_ledger(tail, SIZE_MAX, 20, 20, 0, 0);
    scopes_tail_reader_destroy(tail);
    eventspace_run_close(run);
    pastset_space_close(away);
    pastset_space_close(space);
}

/* --- pace --- */

Test(tail, gives_a_batch_at_most_and_takes_lanes_in_turn)
{
    scopes_throttle throttle = {.batch = 4};
    pastset_space *space = stream_space("h0.space");
    pastset_element *t0 = stream_make(space, "trace.t0", PASTSET_GROW, 100);
    pastset_element *t1 = stream_make(space, "trace.t1", PASTSET_GROW, 100);
    eventspace_run *run = stream_run();
    scopes_tail_reader *tail = tail_of(run, SIZE_MAX, &throttle);

    check_status(stream_write(t0, 0, 10), 0);
    check_status(stream_write(t1, 0, 3), 0);
    check_pull(tail, "trace.t0 0+4; ", true);
    check_pull(tail, "trace.t1 0+3; trace.t0 4+1; ", true);
    check_pull(tail, "trace.t0 5+4; ", true);
    check_pull(tail, "trace.t0 9+1; ", false);
    check_ledger(tail, SIZE_MAX, 13, 13, 0, 0);
    check_status(stream_write(t1, 3, 7), 0);
    check_pull(tail, "trace.t1 3+4; ", false); /* just as many as it may */
    scopes_tail_reader_destroy(tail);
    eventspace_run_close(run);
    pastset_space_close(space);
}

Test(tail, skips_what_is_too_far_behind_and_counts_it)
{
    scopes_throttle throttle = {.lag = 6};
    pastset_space *space = stream_space("h0.space");
    pastset_element *stream = stream_make(space, "trace.t0", PASTSET_GROW, 100);
    eventspace_run *run = stream_run();
    scopes_tail_reader *tail = tail_of(run, SIZE_MAX, &throttle);

    check_status(stream_write(stream, 0, 6), 0);
    check_pull(tail, "trace.t0 0+6; ", false);
    check_status(stream_write(stream, 6, 20), 0);
    check_pull(tail, "trace.t0 14+6; ", false);
    check_ledger(tail, SIZE_MAX, 20, 12, 8, 0);
    scopes_tail_reader_destroy(tail);
    eventspace_run_close(run);
    pastset_space_close(space);
}

Test(tail, goes_on_where_it_is_told_to)
{
    pastset_space *space = stream_space("h0.space");
    pastset_element *t0 = stream_make(space, "trace.t0", PASTSET_GROW, 100);
    eventspace_run *run = stream_run();
    scopes_tail_reader *tail = tail_of(run, H0, NULL);

    check_status(stream_write(t0, 0, 20), 0);
    check_status(scopes_tail_reader_seek(tail, H0, "trace.t0", 15), 0);
    check_status(scopes_tail_reader_seek(tail, H0, "trace.t1", 5), 0);
    check_status(scopes_tail_reader_seek(tail, H0, "trace.t1", 2), 0);
    check_status(scopes_tail_reader_seek(tail, H1, "trace.h1", 0),
                 PASTSET_EINVAL);
    check_pull(tail, "trace.t0 15+5; ", false);
    check_status(
        stream_write(stream_make(space, "trace.t1", PASTSET_GROW, 9), 0, 4), 0);
    check_pull(tail, "trace.t1 2+2; ", false);
    check_ledger(tail, SIZE_MAX, 7, 7, 0, 0);
    scopes_tail_reader_destroy(tail);
    eventspace_run_close(run);
    pastset_space_close(space);
}

Test(tail, gives_a_batch_again_that_was_not_taken)
{
    pastset_space *space = stream_space("h0.space");
    pastset_element *stream = stream_make(space, "trace.t0", PASTSET_GROW, 100);
    eventspace_run *run = stream_run();
    scopes_tail_reader *tail = tail_of(run, SIZE_MAX, NULL);
    came c = {.answer = 77};

    check_status(stream_write(stream, 0, 5), 0);
    cr_assert_eq(scopes_tail_reader_pull(tail, take, &c, NULL), 77);
    check_ledger(tail, SIZE_MAX, 5, 0, 0, 5);
    check_pull(tail, "trace.t0 0+5; ", false);
    scopes_tail_reader_destroy(tail);
    eventspace_run_close(run);
    pastset_space_close(space);
}

/* Takes nothing of the first stream. */
static int take_others(const scopes_batch *batch, void *context)
{
    return strcmp(batch->stream, "trace.t0") == 0 ? 77 : take(batch, context);
}

Test(tail, gives_other_lanes_though_one_is_not_taken)
{
    pastset_space *space = stream_space("h0.space");
    pastset_element *refused =
        stream_make(space, "trace.t0", PASTSET_GROW, 100);
    pastset_element *taken = stream_make(space, "trace.t1", PASTSET_GROW, 100);
    eventspace_run *run = stream_run();
    scopes_tail_reader *tail = tail_of(run, SIZE_MAX, NULL);
    came c = {.text = ""};

    check_status(stream_write(refused, 0, 5), 0);
    check_status(stream_write(taken, 0, 3), 0);
    for (int i = 0; i < 2; i++)
        cr_assert_eq(scopes_tail_reader_pull(tail, take_others, &c, NULL), 77);
    cr_assert_str_eq(c.text, "trace.t1 0+3; ");
    check_ledger(tail, SIZE_MAX, 8, 3, 0, 5);
    check_pull(tail, "trace.t0 0+5; ", false);
    scopes_tail_reader_destroy(tail);
    eventspace_run_close(run);
    pastset_space_close(space);
}

static int work(const scopes_batch *batch, void *context)
{
    volatile uint64_t *sum = context;
    for (int i = 0; i < 1000000; i++)
        *sum += batch->count;
    return 0;
}

Test(tail, keeps_to_its_share_and_says_what_it_cost)
{
    scopes_throttle little = {.share = 1e-7}, much = {.interval_ms = 1 << 30};
    pastset_space *space = stream_space("h0.space");
    pastset_element *stream = stream_make(space, "trace.t0", PASTSET_GROW, 100);
    eventspace_run *run = stream_run();
    scopes_tail_reader *tail = tail_of(run, SIZE_MAX, &little);
    scopes_tail_reader_cost cost;
    uint64_t sum = 0;
    bool more;

    check_status(stream_write(stream, 0, 3), 0);
    check_status(scopes_tail_reader_pull(tail, work, &sum, &more), 0);
    scopes_tail_reader_cost_take(tail, &cost);
    cr_assert_eq(cost.pulls, 1);
    cr_assert_eq(cost.tuples, 3);
    cr_assert_eq(cost.bytes, 108);
    cr_assert_gt(cost.processor_ns, 100000);
    /* 0.1 ms at this share: a quarter of an hour. */
    cr_assert_gt(scopes_tail_reader_pause_ns(tail, false), 100000000000);
    cr_assert_gt(scopes_tail_reader_pause_ns(tail, true), 100000000000);
    scopes_tail_reader_destroy(tail);

    much.batch = 2; /* nothing to wait for as long as there is more */
    tail = tail_of(run, SIZE_MAX, &much);
    check_status(scopes_tail_reader_pull(tail, work, &sum, &more), 0);
    cr_assert(more);
    cr_assert_lt(scopes_tail_reader_pause_ns(tail, false), 1000000000);
    check_status(scopes_tail_reader_pull(tail, work, &sum, &more), 0);
    cr_assert_not(more);
    cr_assert_gt(scopes_tail_reader_pause_ns(tail, false), 1000000000000);
    cr_assert_lt(scopes_tail_reader_pause_ns(tail, true), 1000000000);
    scopes_tail_reader_destroy(tail);
    eventspace_run_close(run);
    pastset_space_close(space);
}

Test(tail, refuses_what_cannot_be)
{
    eventspace_run *run = stream_run();
    scopes_throttle throttle = {.share = 1.5};
    scopes_tail_reader *tail;

    check_status(scopes_tail_reader_create(&tail, run, SIZE_MAX, &throttle),
                 PASTSET_EINVAL);
    throttle.share = -1;
    check_status(scopes_tail_reader_create(&tail, run, SIZE_MAX, &throttle),
                 PASTSET_EINVAL);
    check_status(scopes_tail_reader_create(&tail, run, 2, NULL),
                 PASTSET_EINVAL);
    cr_assert_null(tail);
    scopes_tail_reader_destroy(NULL);
    eventspace_run_close(run);
}

/* --- beside a writer --- */

typedef struct writer {
    pastset_element *stream;
    uint64_t tuples;
    _Atomic bool over;
} writer;

static void *write_all(void *argument)
{
    writer *w = argument;
    for (uint64_t i = 0; i < w->tuples; i++) {
        cr_assert_eq(stream_write(w->stream, i, i + 1), 0);
        if (i % 512 == 0) /* for the tail reader, on one processor */
            sched_yield();
    }
    w->over = true;
    return NULL;
}

typedef struct gaps {
    uint64_t next, lost, seen;
} gaps;

static int count_gaps(const scopes_batch *batch, void *context)
{
    gaps *g = context;

    cr_assert_geq(batch->index, g->next);
    g->lost += batch->index - g->next;
    g->next = batch->index + batch->count;
    g->seen += batch->count;
    for (size_t i = 0; i < batch->count; i++) {
        eventspace_trace want = stream_tuple(batch->index + i);
        cr_assert_eq(memcmp(&batch->events[i], &want, sizeof(want)), 0,
                     "tuple %lu is torn", (unsigned long)(batch->index + i));
    }
    return 0;
}

Test(tail, loses_nothing_silently_beside_a_fast_writer)
{
    pastset_space *space = stream_space("h0.space");
    writer w = {.stream = stream_make(space, "trace.t0", PASTSET_DISCARD, 1820),
                .tuples = 300000};
    eventspace_run *run = stream_run();
    scopes_tail_reader *tail = tail_of(run, SIZE_MAX, NULL);
    gaps g = {0};
    pthread_t thread;
    bool over, more;

    cr_assert_eq(pthread_create(&thread, NULL, write_all, &w), 0);
    do {
        over = w.over;
        check_status(scopes_tail_reader_pull(tail, count_gaps, &g, &more), 0);
        sched_yield();
    } while (!over || more);
    pthread_join(thread, NULL);
    cr_assert_eq(g.next, w.tuples);
    cr_assert_eq(g.seen + g.lost, w.tuples);
    check_ledger(tail, SIZE_MAX, w.tuples, g.seen, g.lost, 0);
    scopes_tail_reader_destroy(tail);
    eventspace_run_close(run);
    pastset_space_close(space);
}

/* --- beside a drain --- */

typedef struct draining {
    pastset_element *stream;
    uint64_t tuples;
} draining;

static void *write_blocking(void *argument)
{
    draining *d = argument;
    for (uint64_t i = 0; i < d->tuples; i++) {
        eventspace_trace event = stream_tuple(i);
        cr_assert_eq(pastset_write(d->stream, &event, sizeof(event),
                                   PASTSET_FOREVER, NULL),
                     0);
    }
    return NULL;
}

/* As eventspace/collect/drain.c does it: into the file first, then out of the
 * stream; and the file is made when there is something for it. */
static void *drain_all(void *argument)
{
    draining *d = argument;
    pastset_space *space = stream_space("h0.drained");
    pastset_element *to =
        stream_make(space, "trace.t0", PASTSET_GROW, d->tuples);
    pastset_cursor cursor = {0};

    while (cursor.next < d->tuples) {
        eventspace_trace events[64];
        size_t count;
        int err = pastset_read_many(d->stream, &cursor, events, 64, &count);
        for (size_t i = 0; i < count; i++)
            err |= pastset_write(to, &events[i], sizeof(events[i]),
                                 PASTSET_NOWAIT, NULL);
        cr_assert(err == 0 || (err == PASTSET_EAGAIN && count == 0));
        check_status(pastset_element_truncate(d->stream, cursor.next), 0);
        sched_yield();
    }
    pastset_space_close(space);
    return NULL;
}

Test(tail, misses_nothing_while_its_lane_is_drained)
{
    pastset_space *space = stream_space("h0.space");
    draining d = {.stream = stream_make(space, "trace.t0", PASTSET_BLOCK, 500),
                  .tuples = 50000};
    eventspace_run *run = stream_run();
    scopes_throttle throttle = {.batch = 100};
    scopes_tail_reader *tail = tail_of(run, SIZE_MAX, &throttle);
    pthread_t threads[2];
    gaps g = {0};

    cr_assert_eq(pthread_create(&threads[0], NULL, write_blocking, &d), 0);
    cr_assert_eq(pthread_create(&threads[1], NULL, drain_all, &d), 0);
    while (g.next < d.tuples) {
        check_status(scopes_tail_reader_pull(tail, count_gaps, &g, NULL), 0);
        cr_assert_eq(g.lost, 0, "%lu are lost", (unsigned long)g.lost);
    }
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    cr_assert_eq(g.seen, d.tuples);
    check_ledger(tail, SIZE_MAX, d.tuples, d.tuples, 0, 0);
    scopes_tail_reader_destroy(tail);
    eventspace_run_close(run);
    pastset_space_close(space);
}
