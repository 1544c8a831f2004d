/* tail_reader.c - following the lanes of running hosts.
 *
 * A lane's counter says what is new; asking costs one cache line for a lane.
 * Tuples are copied out of the shared memory by the block, and no collector
 * ever waits for that. The lanes take turns: a pull goes on with the lane
 * behind the last one that it gave tuples of, so that one which is written fast
 * cannot keep it from the others.
 *
 * A pull makes no system call but to take the processor time of its thread,
 * to open files of hosts that have none yet, and when a lane is drained. */
#include "scopes/reading/tail_reader.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pastset/space.h"
#include "pastset/status.h"

#define BATCH_TUPLES 4096 /* given at once: they stay in the cache */
#define DEFAULT_INTERVAL_MS 100
#define DEFAULT_BATCH 65536

/* A lane and the feed's place on it. */
typedef struct feed_lane {
    eventspace_lane lane;
    uint64_t from; /* it began here */
    uint64_t next;
    uint64_t seen; /* of those from `from` to `next`; the others are missed */
} feed_lane;

/* Where a lane that is not there yet is to begin. */
typedef struct later {
    size_t host;
    char *lane;
    uint64_t index;
} later;

struct scopes_feed {
    eventspace_run *run;
    size_t first_host, end_host;
    scopes_pace pace;
    feed_lane *lanes;
    size_t count, room;
    size_t turn;      /* where the next pull begins */
    size_t *elements; /* by host: how many its space had at the last look */
    later *laters;
    size_t later_count;
    eventspace_trace *buffer; /* BATCH_TUPLES */

    scopes_feed_cost cost;
    int64_t created_ns;
    int64_t pull_ns;      /* when the last one began */
    int64_t processor_ns; /* what it took */
    bool more;
};

static int64_t clock_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* --- making --- */

static int pace_take(scopes_pace *out, const scopes_pace *pace)
{
    if (pace)
        *out = *pace;
    if (out->interval_ms == 0)
        out->interval_ms = DEFAULT_INTERVAL_MS;
    if (out->batch == 0)
        out->batch = DEFAULT_BATCH;
    if (!(out->share >= 0 && out->share <= 1)) /* nor what is no number */
        return pastset_fail(PASTSET_EINVAL,
                            "a share of %g of a processor: more than 0 and at "
                            "most 1 is possible",
                            out->share);
    if (out->share == 0)
        out->share = 1;
    return 0;
}

int scopes_feed_create(scopes_feed **out, eventspace_run *run, size_t host,
                       const scopes_pace *pace)
{
    size_t hosts = eventspace_run_host_count(run);
    scopes_pace taken = {0};
    scopes_feed *feed;
    int err = pace_take(&taken, pace);

    *out = NULL;
    if (err)
        return err;
    if (host != SIZE_MAX && host >= hosts)
        return pastset_fail(PASTSET_EINVAL, "%s: no host number %zu",
                            eventspace_run_directory(run), host);
    feed = calloc(1, sizeof(*feed));
    if (feed) {
        feed->elements = calloc(hosts + 1, sizeof(*feed->elements));
        feed->buffer = malloc(BATCH_TUPLES * sizeof(*feed->buffer));
    }
    if (!feed || !feed->elements || !feed->buffer) {
        scopes_feed_destroy(feed);
        return pastset_fail(PASTSET_ENOMEM, "no memory for a feed");
    }
    feed->run = run;
    feed->first_host = host == SIZE_MAX ? 0 : host;
    feed->end_host = host == SIZE_MAX ? hosts : host + 1;
    feed->pace = taken;
    feed->created_ns = feed->pull_ns = clock_ns(CLOCK_MONOTONIC);
    *out = feed;
    return 0;
}

void scopes_feed_destroy(scopes_feed *feed)
{
    if (!feed)
        return;
    for (size_t i = 0; i < feed->later_count; i++)
        free(feed->laters[i].lane);
    free(feed->laters);
    free(feed->lanes);
    free(feed->elements);
    free(feed->buffer);
    free(feed);
}

/* --- lanes --- */

static feed_lane *lane_find(scopes_feed *feed, size_t host, const char *name)
{
    for (size_t i = 0; i < feed->count; i++) {
        if (feed->lanes[i].lane.host == host &&
            strcmp(feed->lanes[i].lane.name, name) == 0)
            return &feed->lanes[i];
    }
    return NULL;
}

static later *later_find(scopes_feed *feed, size_t host, const char *name)
{
    for (size_t i = 0; i < feed->later_count; i++) {
        if (feed->laters[i].host == host &&
            strcmp(feed->laters[i].lane, name) == 0)
            return &feed->laters[i];
    }
    return NULL;
}

static int lane_add(scopes_feed *feed, const eventspace_lane *lane)
{
    const later *begin = later_find(feed, lane->host, lane->name);

    if (feed->count == feed->room) {
        size_t room = feed->room ? 2 * feed->room : 16;
        feed_lane *lanes = realloc(feed->lanes, room * sizeof(*lanes));
        if (!lanes)
            return pastset_fail(PASTSET_ENOMEM, "no memory for a lane");
        feed->lanes = lanes;
        feed->room = room;
    }
    feed->lanes[feed->count] = (feed_lane){.lane = *lane};
    if (begin)
        feed->lanes[feed->count].from = feed->lanes[feed->count].next =
            begin->index;
    feed->count++;
    return 0;
}

static int lane_meet(const eventspace_lane *lane, void *context)
{
    scopes_feed *feed = context;
    feed_lane *known = lane_find(feed, lane->host, lane->name);

    if (!known)
        return lane_add(feed, lane);
    known->lane = *lane; /* what was drained from it may be new */
    return 0;
}

int scopes_feed_look(scopes_feed *feed)
{
    for (size_t i = feed->first_host; i < feed->end_host; i++) {
        pastset_space *space = eventspace_run_host_at(feed->run, i)->space;
        size_t elements = 0;
        int err;
        if (space) {
            (void)pastset_space_refresh(space); /* lanes_each notes it */
            elements = pastset_space_count(space);
            if (elements == feed->elements[i])
                continue;
        }
        err = eventspace_run_lanes_each(feed->run, i, lane_meet, feed);
        if (err)
            return err;
        feed->elements[i] = elements;
    }
    return 0;
}

int scopes_feed_seek(scopes_feed *feed, size_t host, const char *lane,
                     uint64_t index)
{
    feed_lane *known;
    later *laters;
    int err;

    if (host < feed->first_host || host >= feed->end_host)
        return pastset_fail(PASTSET_EINVAL, "the feed has no host number %zu",
                            host);
    err = scopes_feed_look(feed);
    if (err)
        return err;
    known = lane_find(feed, host, lane);
    if (known) {
        known->from = known->next = index;
        known->seen = 0;
        return 0;
    }
    if (later_find(feed, host, lane)) {
        later_find(feed, host, lane)->index = index;
        return 0;
    }
    laters = realloc(feed->laters, (feed->later_count + 1) * sizeof(*laters));
    if (!laters)
        return pastset_fail(PASTSET_ENOMEM, "no memory for a lane");
    feed->laters = laters;
    laters[feed->later_count] =
        (later){.host = host, .lane = strdup(lane), .index = index};
    if (!laters[feed->later_count].lane)
        return pastset_fail(PASTSET_ENOMEM, "no memory for a lane");
    feed->later_count++;
    return 0;
}

/* --- pulling --- */

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t lane_written(const feed_lane *lane)
{
    eventspace_lane_counts counts;

    eventspace_lane_count(&lane->lane, &counts);
    return counts.written;
}

/* Gives what a lane has up to `end`, `*room` tuples at most. */
static int lane_pull(scopes_feed *feed, feed_lane *lane, uint64_t end,
                     uint64_t *room, scopes_each *each, void *context)
{
    while (lane->next<end && * room> 0) {
        scopes_batch batch = {.host = lane->lane.host,
                              .lane = lane->lane.name,
                              .index = lane->next,
                              .events = feed->buffer};
        uint64_t most = smaller(smaller(*room, BATCH_TUPLES), end - lane->next);
        int err = eventspace_lane_read(&lane->lane, &batch.index, feed->buffer,
                                       most, &batch.count);
        if (err == PASTSET_EAGAIN) { /* all of it is gone */
            lane->next = end;
            return 0;
        }
        if (err) {
            eventspace_run_note(feed->run, batch.host, "trace element %s: %s",
                                batch.lane, pastset_error());
            if (err != PASTSET_EFORMAT)
                return 0;
        }
        err = batch.count ? each(&batch, context) : 0;
        if (err)
            return err;
        lane->next = batch.index + batch.count;
        lane->seen += batch.count;
        *room -= batch.count;
        feed->cost.tuples += batch.count;
    }
    return 0;
}

/* Gives tuples until `*room` is used up. */
static int lanes_pull(scopes_feed *feed, uint64_t *room, scopes_each *each,
                      void *context)
{
    size_t begin = feed->turn;

    for (size_t i = 0; i < feed->count; i++) {
        size_t at = (begin + i) % feed->count;
        feed_lane *lane = &feed->lanes[at];
        uint64_t end = lane_written(lane);
        int err;
        if (lane->next >= end)
            continue;
        if (*room == 0) {
            feed->more = true;
            return 0;
        }
        if (feed->pace.lag && end - lane->next > feed->pace.lag)
            lane->next = end - feed->pace.lag;
        err = lane_pull(feed, lane, end, room, each, context);
        /* One that cannot be given does not keep others from their turn. */
        feed->turn = (at + 1) % feed->count;
        if (err)
            return err;
        feed->more |= lane->next < end;
    }
    return 0;
}

int scopes_feed_pull(scopes_feed *feed, scopes_each *each, void *context,
                     bool *more)
{
    int64_t processor_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    uint64_t room = feed->pace.batch;
    int err;

    feed->pull_ns = clock_ns(CLOCK_MONOTONIC);
    feed->more = false;
    err = scopes_feed_look(feed);
    if (!err)
        err = lanes_pull(feed, &room, each, context);
    feed->processor_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - processor_ns;
    feed->cost.pulls++;
    feed->cost.processor_ns += (uint64_t)feed->processor_ns;
    if (more)
        *more = feed->more;
    return err;
}

int64_t scopes_feed_pause_ns(const scopes_feed *feed, bool urgent)
{
    int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    int64_t due_ns = feed->pull_ns;
    int64_t shared_ns = feed->pull_ns + (int64_t)((double)feed->processor_ns /
                                                  feed->pace.share);

    if (!feed->more && !urgent)
        due_ns += (int64_t)feed->pace.interval_ms * 1000000;
    if (due_ns < shared_ns)
        due_ns = shared_ns;
    return due_ns > now_ns ? due_ns - now_ns : 0;
}

/* --- telling --- */

void scopes_feed_ledger(const scopes_feed *feed, size_t host,
                        scopes_ledger *out)
{
    *out = (scopes_ledger){0};
    for (size_t i = 0; i < feed->count; i++) {
        const feed_lane *lane = &feed->lanes[i];
        eventspace_lane_counts counts;
        uint64_t left;
        if (host != SIZE_MAX && lane->lane.host != host)
            continue;
        eventspace_lane_count(&lane->lane, &counts);
        left = counts.written > lane->next ? counts.written - lane->next : 0;
        out->seen += lane->seen;
        out->missed += lane->next - lane->from - lane->seen + counts.refused;
        out->beside += left;
        out->made += lane->next - lane->from + left + counts.refused;
    }
}

int scopes_feed_lanes_each(scopes_feed *feed, eventspace_lane_each *each,
                           void *context)
{
    int err = 0;

    for (size_t i = 0; i < feed->count && !err; i++)
        err = each(&feed->lanes[i].lane, context);
    return err;
}

void scopes_feed_cost_take(const scopes_feed *feed, scopes_feed_cost *out)
{
    *out = feed->cost;
    out->bytes = out->tuples * EVENTSPACE_TRACE_BYTES;
    out->elapsed_ns = (uint64_t)(clock_ns(CLOCK_MONOTONIC) - feed->created_ns);
}
