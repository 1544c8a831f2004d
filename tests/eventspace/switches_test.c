/* switches_test.c - what comes out of the kernel's records of context switches,
 * made by hand: in a ring that goes on at its begin, with records that are
 * lost, and with some that nobody expects. */
#include <criterion/criterion.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "eventspace/collect/scheduling_internal.h"

#define RING (8 * 4096) /* as in scheduling_switches.c */

static eventspace_scheduling told[100];
static size_t told_count;

static bool refuse;

static bool tell(const eventspace_scheduling *tuple)
{
    cr_assert_lt(told_count, 100);
    if (!refuse)
        told[told_count++] = *tuple;
    return !refuse;
}

typedef struct world {
    scheduled_thread thread;
    struct perf_event_mmap_page *page;
    unsigned char *data;
} world;

/* The ring has been read up to `begin`. Ticks are two for a nanosecond. */
static world *begin(uint64_t begin)
{
    world *w = calloc(1, sizeof(*w));
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    told_count = 0;
    refuse = false;
    w->thread.put = tell;
    w->thread.ring = aligned_alloc(page, page + RING);
    memset(w->thread.ring, 0, page + RING);
    w->page = (void *)w->thread.ring;
    w->data = w->thread.ring + page;
    w->page->data_head = w->page->data_tail = begin;
    return w;
}

static void end(world *w)
{
    free(w->thread.ring);
    free(w);
}

static void put(world *w, const void *record, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        w->data[w->page->data_head++ % RING] =
            ((const unsigned char *)record)[i];
}

static void switched(world *w, uint16_t misc, uint64_t ns)
{
    struct {
        struct perf_event_header head;
        uint64_t ns;
    } record = {{PERF_RECORD_SWITCH, misc, sizeof(record)}, ns};

    put(w, &record, sizeof(record));
}

#define OUT PERF_RECORD_MISC_SWITCH_OUT
#define PREEMPTED (OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT)

static void look(world *w, int64_t from_ns, int64_t to_ns)
{
    eventspace__switches_take(
        &w->thread, (scheduling_moment){from_ns, (uint64_t)from_ns * 2},
        (scheduling_moment){to_ns, (uint64_t)to_ns * 2});
}

/* Looks, and finds nothing that is not of that time. */
static void take(world *w, int64_t from_ns, int64_t to_ns)
{
    look(w, from_ns, to_ns);
    cr_expect_eq(w->page->data_tail, w->page->data_head);
}

static void check(size_t i, uint32_t kind, uint64_t start_ns, uint64_t end_ns,
                  uint64_t runnable_ns, uint64_t sleeping_ns)
{
    cr_assert_lt(i, told_count);
    cr_expect_eq(told[i].kind, kind);
    cr_expect_eq(told[i].start, start_ns * 2, "%zu: %llu", i,
                 (unsigned long long)told[i].start);
    cr_expect_eq(told[i].end, end_ns * 2);
    cr_expect_eq(told[i].runnable, runnable_ns * 2);
    cr_expect_eq(told[i].sleeping, sleeping_ns * 2);
}

Test(switches, are_told_one_by_one_also_where_the_ring_begins_anew)
{
    for (uint64_t at = RING - 64; at <= RING; at += 8) {
        world *w = begin(at);
        switched(w, OUT, 1100000);
        switched(w, 0, 2200000);
        switched(w, PREEMPTED, 2300000);
        switched(w, 0, 2500000);
        take(w, 1000000, 3000000);
        cr_assert_eq(told_count, 2);
        check(0, EVENTSPACE_THREAD_OFF, 1100000, 2200000, 0, 1100000);
        check(1, EVENTSPACE_THREAD_OFF, 2300000, 2500000, 200000, 0);
        cr_expect_eq(told[0].sleeps, 1);
        cr_expect_eq(told[1].preemptions, 1);
        end(w);
    }
}

Test(switches, short_ones_are_put_together_in_order)
{
    world *w = begin(0);

    for (uint64_t i = 0; i < 10; i++) {
        switched(w, i % 2 ? OUT : PREEMPTED, 1000000 + i * 10000);
        switched(w, 0, 1000000 + i * 10000 + 1000);
    }
    switched(w, PREEMPTED, 1200000);
    switched(w, 0, 1300000);
    switched(w, OUT, 1400000);
    switched(w, 0, 1450000);
    take(w, 1000000, 2000000);
    cr_assert_eq(told_count, 3);
    check(0, EVENTSPACE_THREAD_OFF, 1000000, 1091000, 5000, 5000);
    cr_expect_eq(told[0].preemptions, 5);
    cr_expect_eq(told[0].sleeps, 5);
    check(1, EVENTSPACE_THREAD_OFF, 1200000, 1300000, 100000, 0);
    check(2, EVENTSPACE_THREAD_OFF, 1400000, 1450000, 0, 50000);
    end(w);
}

Test(switches, a_sleep_may_last_longer_than_one_look)
{
    world *w = begin(0);

    switched(w, OUT, 1500000);
    take(w, 1000000, 2000000);
    take(w, 2000000, 3000000);
    cr_assert_eq(told_count, 0);
    switched(w, 0, 3500000);
    take(w, 3000000, 4000000);
    cr_assert_eq(told_count, 1);
    check(0, EVENTSPACE_THREAD_OFF, 1500000, 3500000, 0, 2000000);
    end(w);
}

/* A record that comes while others are read is later than the moment up to
 * which the ticks are known. */
Test(switches, what_is_made_while_others_are_read_is_for_the_next_look)
{
    world *w = begin(RING - 24);

    switched(w, OUT, 1500000);
    switched(w, 0, 1700000);
    switched(w, OUT, 2000001);
    switched(w, 0, 2600000);
    look(w, 1000000, 2000000);
    cr_expect_eq(w->page->data_tail, RING + 8);
    cr_assert_eq(told_count, 1);
    check(0, EVENTSPACE_THREAD_OFF, 1500000, 1700000, 0, 200000);
    take(w, 2000000, 3000000);
    cr_assert_eq(told_count, 2);
    check(1, EVENTSPACE_THREAD_OFF, 2000001, 2600000, 0, 599999);
    end(w);
}

static void lost_some(world *w, uint64_t ns)
{
    struct {
        struct perf_event_header head;
        uint64_t id, lost, ns;
    } lost = {{PERF_RECORD_LOST, 0, sizeof(lost)}, 1, 7, ns};

    put(w, &lost, sizeof(lost));
}

/* What the kernel could not note is said to be unknown, and the sleep whose end
 * may be among that is not told of. */
Test(switches, lost_records_make_a_time_of_which_nothing_is_known)
{
    world *w = begin(RING - 40);

    switched(w, PREEMPTED, 1100000);
    switched(w, 0, 1200000);
    switched(w, OUT, 1300000);
    lost_some(w, 1800000);
    switched(w, 0, 1850000); /* nobody knows since when */
    switched(w, OUT, 1900000);
    switched(w, 0, 1950000);
    take(w, 1000000, 2000000);
    cr_assert_eq(told_count, 3);
    check(0, EVENTSPACE_THREAD_OFF, 1100000, 1200000, 100000, 0);
    check(1, EVENTSPACE_THREAD_UNKNOWN, 1300000, 1800000, 0, 0);
    check(2, EVENTSPACE_THREAD_OFF, 1900000, 1950000, 0, 50000);
    end(w);
}

/* The kernel notes that only when there is room again and something to be
 * noted: what was lost then was before the look, too. */
Test(switches, what_was_lost_begins_at_the_last_record_however_long_ago)
{
    world *w = begin(0);

    switched(w, PREEMPTED, 1100000);
    switched(w, 0, 1200000);
    take(w, 1000000, 2000000);
    take(w, 2000000, 3000000);
    lost_some(w, 3500000);
    switched(w, OUT, 3500000);
    switched(w, 0, 3600000);
    take(w, 3000000, 4000000);
    cr_assert_eq(told_count, 3);
    check(1, EVENTSPACE_THREAD_UNKNOWN, 1200000, 3500000, 0, 0);
    check(2, EVENTSPACE_THREAD_OFF, 3500000, 3600000, 0, 100000);
    end(w);
}

/* Also when nothing more is noted until the thread ends. */
Test(switches, a_full_ring_says_that_the_rest_is_unknown)
{
    world *w = begin(RING - 8);
    uint64_t ns = 1000000;

    while (w->page->data_head - w->page->data_tail < RING - 16) {
        ns += 100;
        switched(w, ns / 100 % 2 ? OUT : 0, ns);
    }
    take(w, 1000000, 3000000);
    cr_assert_eq(told_count, 2);
    check(1, EVENTSPACE_THREAD_UNKNOWN, ns, 3000000, 0, 0);
    lost_some(w, 3400000);
    switched(w, OUT, 3400000);
    take(w, 3000000, 4000000);
    cr_assert_eq(told_count, 3);
    check(2, EVENTSPACE_THREAD_UNKNOWN, 3000000, 3400000, 0, 0);
    end(w);
}

/* For want of disk: what is told later does not make that look known. */
Test(switches, what_is_refused_is_said_to_be_unknown)
{
    world *w = begin(0);

    refuse = true;
    for (uint64_t ns = 1100000; ns < 1500000; ns += 100000) {
        switched(w, PREEMPTED, ns);
        switched(w, 0, ns + 50000);
    }
    take(w, 1000000, 2000000);
    refuse = false;
    switched(w, PREEMPTED, 2100000);
    switched(w, 0, 2200000);
    take(w, 2000000, 3000000);
    cr_assert_eq(told_count, 2);
    check(0, EVENTSPACE_THREAD_UNKNOWN, 1100000, 2100000, 0, 0);
    check(1, EVENTSPACE_THREAD_OFF, 2100000, 2200000, 100000, 0);
    end(w);
}

/* Of another type, or of a size that no record of ours has: passed over, or all
 * of the rest is, of which nothing is known then. */
Test(switches, records_that_nobody_expects_do_no_harm)
{
    struct {
        struct perf_event_header head;
        uint64_t words[2];
    } other = {{PERF_RECORD_THROTTLE, 0, sizeof(other)}, {0}};
    struct perf_event_header bad = {PERF_RECORD_SWITCH, OUT, 0};
    world *w = begin(0);

    switched(w, OUT, 1100000);
    put(w, &other, sizeof(other));
    switched(w, 0, 1200000);
    put(w, &bad, sizeof(bad));
    switched(w, OUT, 1300000);
    switched(w, 0, 1400000);
    take(w, 1000000, 2000000);
    cr_assert_eq(told_count, 2);
    check(0, EVENTSPACE_THREAD_OFF, 1100000, 1200000, 0, 100000);
    check(1, EVENTSPACE_THREAD_UNKNOWN, 1200000, 2000000, 0, 0);
    end(w);
}
