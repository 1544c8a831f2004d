/* feed_test.c - following lanes while they are written. */
#include "scopes/reading/tail_reader.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "tests/scopes/lane_files.h"

#define H0 0
#define H1 1

TestSuite(feed, .timeout = 120, .init = lanes_begin, .fini = scratch_remove);

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
        eventspace_trace want = lane_tuple(batch->index + i);
        cr_assert_eq(memcmp(&batch->events[i], &want, sizeof(want)), 0);
    }
    if (c->answer)
        return c->answer;
    snprintf(c->text + used, sizeof(c->text) - used, "%s %lu+%zu; ",
             batch->lane, (unsigned long)batch->index, batch->count);
    c->count += batch->count;
    return 0;
}

static void check_pull(scopes_feed *feed, const char *want, bool want_more)
{
    came c = {.text = ""};
    bool more;

    check_status(scopes_feed_pull(feed, take, &c, &more), 0);
    cr_assert_str_eq(c.text, want, "pulled \"%s\", not \"%s\"", c.text, want);
    cr_assert_eq(more, want_more);
}

static void check_ledger(scopes_feed *feed, size_t host, uint64_t made,
                         uint64_t seen, uint64_t missed, uint64_t beside)
{
    scopes_ledger got;

    scopes_feed_ledger(feed, host, &got);
    cr_assert(got.made == made && got.seen == seen && got.missed == missed &&
                  got.beside == beside,
              "made %lu seen %lu missed %lu beside %lu",
              (unsigned long)got.made, (unsigned long)got.seen,
              (unsigned long)got.missed, (unsigned long)got.beside);
}

static scopes_feed *feed_of(eventspace_run *run, size_t host,
                            const scopes_pace *pace)
{
    scopes_feed *feed;
    check_status(scopes_feed_create(&feed, run, host, pace), 0);
    return feed;
}

/* --- one after the other --- */

Test(feed, gives_what_came_since_and_finds_new_lanes_and_hosts)
{
    eventspace_run *run = lane_run();
    scopes_feed *feed = feed_of(run, SIZE_MAX, NULL);
    pastset_space *h0, *h1;
    pastset_element *t0, *t1;

    check_pull(feed, "", false);
    h0 = lane_space("h0.space");
    t0 = lane_make(h0, "trace.t0", PASTSET_GROW, 100);
    check_status(lane_write(t0, 0, 3), 0);
    check_pull(feed, "trace.t0 0+3; ", false);
    check_pull(feed, "", false);
    t1 = lane_make(h0, "trace.t0~2", PASTSET_GROW, 100);
    lane_make(h0, "e", PASTSET_GROW, 100);
    check_status(lane_write(t1, 0, 1), 0);
    check_status(lane_write(t0, 3, 5), 0);
    h1 = lane_space("h1.space");
    check_status(lane_write(lane_make(h1, "trace.h1", PASTSET_GROW, 9), 0, 2),
                 0);
    check_pull(feed, "trace.t0 3+2; trace.t0~2 0+1; trace.h1 0+2; ", false);
    check_ledger(feed, H0, 6, 6, 0, 0);
    check_ledger(feed, H1, 2, 2, 0, 0);
    check_ledger(feed, SIZE_MAX, 8, 8, 0, 0);
    scopes_feed_destroy(feed);
    eventspace_run_close(run);
    pastset_space_close(h0);
    pastset_space_close(h1);
}

Test(feed, follows_one_host_only_when_told_so)
{
    pastset_space *h0 = lane_space("h0.space"), *h1 = lane_space("h1.space");
    eventspace_run *run = lane_run();
    scopes_feed *feed = feed_of(run, H1, NULL);

    check_status(lane_write(lane_make(h0, "trace.t0", PASTSET_GROW, 9), 0, 2),
                 0);
    check_status(lane_write(lane_make(h1, "trace.h1", PASTSET_GROW, 9), 0, 3),
                 0);
    check_pull(feed, "trace.h1 0+3; ", false);
    check_ledger(feed, SIZE_MAX, 3, 3, 0, 0);
    check_ledger(feed, H0, 0, 0, 0, 0);
    scopes_feed_destroy(feed);
    eventspace_run_close(run);
    pastset_space_close(h0);
    pastset_space_close(h1);
}

Test(feed, counts_what_was_gone_and_what_was_refused)
{
    pastset_space *space = lane_space("h0.space");
    pastset_element *lane = lane_make(space, "trace.t0", PASTSET_DISCARD, 4);
    pastset_element *full = lane_make(space, "trace.t1", PASTSET_GROW, 3);
    eventspace_run *run = lane_run();
    scopes_feed *feed = feed_of(run, SIZE_MAX, NULL);

    check_status(lane_write(lane, 0, 10), 0);
    check_status(lane_write(full, 0, 3), 0);
    check_status(lane_write(full, 3, 4), PASTSET_EFULL);
    check_status(lane_write(full, 3, 4), PASTSET_EFULL);
    check_pull(feed, "trace.t0 6+4; trace.t1 0+3; ", false);
    check_ledger(feed, SIZE_MAX, 15, 7, 8, 0);
    check_status(lane_write(lane, 10, 21), 0);
    check_ledger(feed, SIZE_MAX, 26, 7, 8, 11);
    check_pull(feed, "trace.t0 17+4; ", false);
    check_ledger(feed, SIZE_MAX, 26, 11, 15, 0);
    scopes_feed_destroy(feed);
    eventspace_run_close(run);
    pastset_space_close(space);
}

Test(feed, counts_what_is_gone_without_anything_behind_it)
{
    pastset_space *space = lane_space("h0.space");
    pastset_element *lane = lane_make(space, "trace.t0", PASTSET_DISCARD, 100);
    eventspace_run *run = lane_run();
    scopes_feed *feed = feed_of(run, SIZE_MAX, NULL);

    check_status(lane_write(lane, 0, 10), 0);
    check_status(pastset_element_truncate(lane, UINT64_MAX), 0);
    check_pull(feed, "", false);
    check_ledger(feed, SIZE_MAX, 10, 0, 10, 0);
    scopes_feed_destroy(feed);
    eventspace_run_close(run);
    pastset_space_close(space);
}

Test(feed, reads_what_was_drained_before_it_came)
{
    pastset_space *space = lane_space("h0.space");
    pastset_element *lane = lane_make(space, "trace.t0", PASTSET_BLOCK, 100);
    pastset_space *away;
    eventspace_run *run = lane_run();
    scopes_feed *feed = feed_of(run, SIZE_MAX, NULL);

    check_status(lane_write(lane, 0, 10), 0);
    check_pull(feed, "trace.t0 0+10; ", false);
    /* Drained for the first time when the feed knows the lane already. */
    check_status(lane_write(lane, 10, 20), 0);
    away = lane_space("h0.drained");
    check_status(
        lane_write(lane_make(away, "trace.t0", PASTSET_GROW, 100), 0, 15), 0);
    check_status(pastset_element_truncate(lane, 15), 0);
    check_pull(feed, "trace.t0 10+5; trace.t0 15+5; ", false);
    check_ledger(feed, SIZE_MAX, 20, 20, 0, 0);
    scopes_feed_destroy(feed);
    eventspace_run_close(run);
    pastset_space_close(away);
    pastset_space_close(space);
}

/* --- pace --- */

Test(feed, gives_a_batch_at_most_and_takes_lanes_in_turn)
{
    scopes_pace pace = {.batch = 4};
    pastset_space *space = lane_space("h0.space");
    pastset_element *t0 = lane_make(space, "trace.t0", PASTSET_GROW, 100);
    pastset_element *t1 = lane_make(space, "trace.t1", PASTSET_GROW, 100);
    eventspace_run *run = lane_run();
    scopes_feed *feed = feed_of(run, SIZE_MAX, &pace);

    check_status(lane_write(t0, 0, 10), 0);
    check_status(lane_write(t1, 0, 3), 0);
    check_pull(feed, "trace.t0 0+4; ", true);
    check_pull(feed, "trace.t1 0+3; trace.t0 4+1; ", true);
    check_pull(feed, "trace.t0 5+4; ", true);
    check_pull(feed, "trace.t0 9+1; ", false);
    check_ledger(feed, SIZE_MAX, 13, 13, 0, 0);
    check_status(lane_write(t1, 3, 7), 0);
    check_pull(feed, "trace.t1 3+4; ", false); /* just as many as it may */
    scopes_feed_destroy(feed);
    eventspace_run_close(run);
    pastset_space_close(space);
}

Test(feed, skips_what_is_too_far_behind_and_counts_it)
{
    scopes_pace pace = {.lag = 6};
    pastset_space *space = lane_space("h0.space");
    pastset_element *lane = lane_make(space, "trace.t0", PASTSET_GROW, 100);
    eventspace_run *run = lane_run();
    scopes_feed *feed = feed_of(run, SIZE_MAX, &pace);

    check_status(lane_write(lane, 0, 6), 0);
    check_pull(feed, "trace.t0 0+6; ", false);
    check_status(lane_write(lane, 6, 20), 0);
    check_pull(feed, "trace.t0 14+6; ", false);
    check_ledger(feed, SIZE_MAX, 20, 12, 8, 0);
    scopes_feed_destroy(feed);
    eventspace_run_close(run);
    pastset_space_close(space);
}

Test(feed, goes_on_where_it_is_told_to)
{
    pastset_space *space = lane_space("h0.space");
    pastset_element *t0 = lane_make(space, "trace.t0", PASTSET_GROW, 100);
    eventspace_run *run = lane_run();
    scopes_feed *feed = feed_of(run, H0, NULL);

    check_status(lane_write(t0, 0, 20), 0);
    check_status(scopes_feed_seek(feed, H0, "trace.t0", 15), 0);
    check_status(scopes_feed_seek(feed, H0, "trace.t1", 5), 0);
    check_status(scopes_feed_seek(feed, H0, "trace.t1", 2), 0);
    check_status(scopes_feed_seek(feed, H1, "trace.h1", 0), PASTSET_EINVAL);
    check_pull(feed, "trace.t0 15+5; ", false);
    check_status(
        lane_write(lane_make(space, "trace.t1", PASTSET_GROW, 9), 0, 4), 0);
    check_pull(feed, "trace.t1 2+2; ", false);
    check_ledger(feed, SIZE_MAX, 7, 7, 0, 0);
    scopes_feed_destroy(feed);
    eventspace_run_close(run);
    pastset_space_close(space);
}

Test(feed, gives_a_batch_again_that_was_not_taken)
{
    pastset_space *space = lane_space("h0.space");
    pastset_element *lane = lane_make(space, "trace.t0", PASTSET_GROW, 100);
    eventspace_run *run = lane_run();
    scopes_feed *feed = feed_of(run, SIZE_MAX, NULL);
    came c = {.answer = 77};

    check_status(lane_write(lane, 0, 5), 0);
    cr_assert_eq(scopes_feed_pull(feed, take, &c, NULL), 77);
    check_ledger(feed, SIZE_MAX, 5, 0, 0, 5);
    check_pull(feed, "trace.t0 0+5; ", false);
    scopes_feed_destroy(feed);
    eventspace_run_close(run);
    pastset_space_close(space);
}

/* Takes nothing of the first lane. */
static int take_others(const scopes_batch *batch, void *context)
{
    return strcmp(batch->lane, "trace.t0") == 0 ? 77 : take(batch, context);
}

Test(feed, gives_other_lanes_though_one_is_not_taken)
{
    pastset_space *space = lane_space("h0.space");
    pastset_element *refused = lane_make(space, "trace.t0", PASTSET_GROW, 100);
    pastset_element *taken = lane_make(space, "trace.t1", PASTSET_GROW, 100);
    eventspace_run *run = lane_run();
    scopes_feed *feed = feed_of(run, SIZE_MAX, NULL);
    came c = {.text = ""};

    check_status(lane_write(refused, 0, 5), 0);
    check_status(lane_write(taken, 0, 3), 0);
    for (int i = 0; i < 2; i++)
        cr_assert_eq(scopes_feed_pull(feed, take_others, &c, NULL), 77);
    cr_assert_str_eq(c.text, "trace.t1 0+3; ");
    check_ledger(feed, SIZE_MAX, 8, 3, 0, 5);
    check_pull(feed, "trace.t0 0+5; ", false);
    scopes_feed_destroy(feed);
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

Test(feed, keeps_to_its_share_and_says_what_it_cost)
{
    scopes_pace little = {.share = 1e-7}, much = {.interval_ms = 1 << 30};
    pastset_space *space = lane_space("h0.space");
    pastset_element *lane = lane_make(space, "trace.t0", PASTSET_GROW, 100);
    eventspace_run *run = lane_run();
    scopes_feed *feed = feed_of(run, SIZE_MAX, &little);
    scopes_feed_cost cost;
    uint64_t sum = 0;
    bool more;

    check_status(lane_write(lane, 0, 3), 0);
    check_status(scopes_feed_pull(feed, work, &sum, &more), 0);
    scopes_feed_cost_take(feed, &cost);
    cr_assert_eq(cost.pulls, 1);
    cr_assert_eq(cost.tuples, 3);
    cr_assert_eq(cost.bytes, 108);
    cr_assert_gt(cost.processor_ns, 100000);
    /* 0.1 ms at this share: a quarter of an hour. */
    cr_assert_gt(scopes_feed_pause_ns(feed, false), 100000000000);
    cr_assert_gt(scopes_feed_pause_ns(feed, true), 100000000000);
    scopes_feed_destroy(feed);

    much.batch = 2; /* nothing to wait for as long as there is more */
    feed = feed_of(run, SIZE_MAX, &much);
    check_status(scopes_feed_pull(feed, work, &sum, &more), 0);
    cr_assert(more);
    cr_assert_lt(scopes_feed_pause_ns(feed, false), 1000000000);
    check_status(scopes_feed_pull(feed, work, &sum, &more), 0);
    cr_assert_not(more);
    cr_assert_gt(scopes_feed_pause_ns(feed, false), 1000000000000);
    cr_assert_lt(scopes_feed_pause_ns(feed, true), 1000000000);
    scopes_feed_destroy(feed);
    eventspace_run_close(run);
    pastset_space_close(space);
}

Test(feed, refuses_what_cannot_be)
{
    eventspace_run *run = lane_run();
    scopes_pace pace = {.share = 1.5};
    scopes_feed *feed;

    check_status(scopes_feed_create(&feed, run, SIZE_MAX, &pace),
                 PASTSET_EINVAL);
    pace.share = -1;
    check_status(scopes_feed_create(&feed, run, SIZE_MAX, &pace),
                 PASTSET_EINVAL);
    check_status(scopes_feed_create(&feed, run, 2, NULL), PASTSET_EINVAL);
    cr_assert_null(feed);
    scopes_feed_destroy(NULL);
    eventspace_run_close(run);
}

/* --- beside a writer --- */

typedef struct writer {
    pastset_element *lane;
    uint64_t tuples;
    _Atomic bool over;
} writer;

static void *write_all(void *argument)
{
    writer *w = argument;
    for (uint64_t i = 0; i < w->tuples; i++) {
        cr_assert_eq(lane_write(w->lane, i, i + 1), 0);
        if (i % 512 == 0) /* for the feed, on one processor */
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
        eventspace_trace want = lane_tuple(batch->index + i);
        cr_assert_eq(memcmp(&batch->events[i], &want, sizeof(want)), 0,
                     "tuple %lu is torn", (unsigned long)(batch->index + i));
    }
    return 0;
}

Test(feed, loses_nothing_silently_beside_a_fast_writer)
{
    pastset_space *space = lane_space("h0.space");
    writer w = {.lane = lane_make(space, "trace.t0", PASTSET_DISCARD, 1820),
                .tuples = 300000};
    eventspace_run *run = lane_run();
    scopes_feed *feed = feed_of(run, SIZE_MAX, NULL);
    gaps g = {0};
    pthread_t thread;
    bool over, more;

    cr_assert_eq(pthread_create(&thread, NULL, write_all, &w), 0);
    do {
        over = w.over;
        check_status(scopes_feed_pull(feed, count_gaps, &g, &more), 0);
        sched_yield();
    } while (!over || more);
    pthread_join(thread, NULL);
    cr_assert_eq(g.next, w.tuples);
    cr_assert_eq(g.seen + g.lost, w.tuples);
    check_ledger(feed, SIZE_MAX, w.tuples, g.seen, g.lost, 0);
    scopes_feed_destroy(feed);
    eventspace_run_close(run);
    pastset_space_close(space);
}

/* --- beside a drain --- */

typedef struct draining {
    pastset_element *lane;
    uint64_t tuples;
} draining;

static void *write_blocking(void *argument)
{
    draining *d = argument;
    for (uint64_t i = 0; i < d->tuples; i++) {
        eventspace_trace event = lane_tuple(i);
        cr_assert_eq(pastset_write(d->lane, &event, sizeof(event),
                                   PASTSET_FOREVER, NULL),
                     0);
    }
    return NULL;
}

/* As eventspace/collect/drain.c does it: into the file first, then out of the
 * lane; and the file is made when there is something for it. */
static void *drain_all(void *argument)
{
    draining *d = argument;
    pastset_space *space = lane_space("h0.drained");
    pastset_element *to = lane_make(space, "trace.t0", PASTSET_GROW, d->tuples);
    pastset_cursor cursor = {0};

    while (cursor.next < d->tuples) {
        eventspace_trace events[64];
        size_t count;
        int err = pastset_read_many(d->lane, &cursor, events, 64, &count);
        for (size_t i = 0; i < count; i++)
            err |= pastset_write(to, &events[i], sizeof(events[i]),
                                 PASTSET_NOWAIT, NULL);
        cr_assert(err == 0 || (err == PASTSET_EAGAIN && count == 0));
        check_status(pastset_element_truncate(d->lane, cursor.next), 0);
        sched_yield();
    }
    pastset_space_close(space);
    return NULL;
}

Test(feed, misses_nothing_while_its_lane_is_drained)
{
    pastset_space *space = lane_space("h0.space");
    draining d = {.lane = lane_make(space, "trace.t0", PASTSET_BLOCK, 500),
                  .tuples = 50000};
    eventspace_run *run = lane_run();
    scopes_pace pace = {.batch = 100};
    scopes_feed *feed = feed_of(run, SIZE_MAX, &pace);
    pthread_t threads[2];
    gaps g = {0};

    cr_assert_eq(pthread_create(&threads[0], NULL, write_blocking, &d), 0);
    cr_assert_eq(pthread_create(&threads[1], NULL, drain_all, &d), 0);
    while (g.next < d.tuples) {
        check_status(scopes_feed_pull(feed, count_gaps, &g, NULL), 0);
        cr_assert_eq(g.lost, 0, "%lu are lost", (unsigned long)g.lost);
    }
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    cr_assert_eq(g.seen, d.tuples);
    check_ledger(feed, SIZE_MAX, d.tuples, d.tuples, 0, 0);
    scopes_feed_destroy(feed);
    eventspace_run_close(run);
    pastset_space_close(space);
}
