/* import_channels.c - see import_channels_internal.h. An end takes 24 bytes;
 * while a channel is matched, as much again. */
#include <stdlib.h>

/* Out of memory is no end of the program. */
#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(item) (*(item)->failed = true)
#include <uthash.h>

#include "viewer/import/import_channels_internal.h"

#include "pastset/array.h"
#include "pastset/status.h"
#include "viewer/import/otf2_trace_internal.h"

static int no_memory(void)
{
    return pastset_no_memory("for the messages of a trace");
}

import_channels *viewer__import_channels_make(void)
{
    import_channels *c = calloc(1, sizeof(*c));

    if (c)
        c->more = IMPORT_LANES_MAX;
    return c;
}

void viewer__import_channels_destroy(import_channels *c)
{
    if (!c)
        return;
    HASH_CLEAR(hh, c->by_key);
    for (uint32_t i = 0; i < c->count; i++) {
        free(c->items[i]->ends);
        free(c->items[i]);
    }
    free(c->items);
    free(c->lanes);
    free(c);
}

/* --- ends --- */

static int channel_find(import_channels *c, const channel_key *key,
                        import_channel **out)
{
    import_channel **items;
    bool failed = false;

    HASH_FIND(hh, c->by_key, key, sizeof(*key), *out);
    if (*out)
        return 0;
    items = pastset_array_grow(c->items, c->count, sizeof(*items));
    if (!items)
        return no_memory();
    c->items = items;
    *out = calloc(1, sizeof(**out));
    if (!*out)
        return no_memory();
    (*out)->key = *key;
    (*out)->failed = &failed;
    HASH_ADD(hh, c->by_key, key, sizeof(*key), *out);
    if (failed) {
        free(*out);
        return no_memory();
    }
    c->items[c->count++] = *out;
    return 0;
}

int viewer__import_channels_note(import_channels *c, const channel_key *key,
                                 const channel_end *end)
{
    import_channel *channel;
    channel_end *more;
    int err = channel_find(c, key, &channel);

    if (err)
        return err;
    if (channel->count == OTF2_NONE)
        return pastset_fail(PASTSET_ELIMIT,
                            "more than %u messages from one thread to another",
                            OTF2_NONE / 2);
    more = pastset_array_grow(channel->ends, channel->count, sizeof(*more));
    if (!more)
        return no_memory();
    channel->ends = more;
    more[channel->count] = *end;
    if (!end->is_received)
        more[channel->count].posted = channel->count;
    channel->count++;
    return 0;
}

const channel_end *viewer__import_channels_next(import_channels *c,
                                                const channel_key *key,
                                                const channel_end *end)
{
    import_channel *channel;
    const channel_end *next;

    HASH_FIND(hh, c->by_key, key, sizeof(*key), channel);
    if (!channel || channel->given == channel->count)
        return NULL;
    next = &channel->ends[channel->given++];
    return next->thread == end->thread && next->tag == end->tag &&
                   next->is_received == end->is_received
               ? next
               : NULL;
}

/* --- which is which --- */

typedef struct ranked {
    uint64_t posted;
    uint32_t tag, thread, at, bytes;
    bool is_received;
} ranked;

/* By tag, then sends, then receives, each in their order. */
static int by_tag(const void *left, const void *right)
{
    const ranked *a = left, *b = right;

    if (a->tag != b->tag)
        return a->tag < b->tag ? -1 : 1;
    if (a->is_received != b->is_received)
        return a->is_received ? 1 : -1;
    if (a->posted != b->posted)
        return a->posted < b->posted ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

static bool are_of_one_thread(const ranked *all, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (all[i].thread != all[0].thread)
            return false;
    return true;
}

static bool are_alike(const ranked *sends, const ranked *receives,
                      uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (sends[i].bytes != receives[i].bytes)
            return false;
    return true;
}

/* The last may have begun at any time. */
static bool have_order(const ranked *receives, uint32_t count)
{
    return count < 2 || receives[count - 1].posted != UINT64_MAX;
}

/* All with one tag. Where receives may be missing, nothing says which. */
static void tag_match(import_channel *channel, const ranked *all,
                      uint32_t count, bool all_ended)
{
    uint32_t sent = 0, received;
    bool numbered;

    while (sent < count && !all[sent].is_received)
        sent++;
    received = count - sent;
    numbered = are_of_one_thread(all, sent) &&
               are_of_one_thread(all + sent, received) &&
               (sent == received || (all_ended && sent > received)) &&
               have_order(all + sent, received) &&
               are_alike(all, all + sent, received);
    for (uint32_t i = 0; i < count; i++) {
        channel_end *end = &channel->ends[all[i].at];
        uint32_t ordinal = i < sent ? i : i - sent;
        end->ordinal = numbered ? ordinal : OTF2_NONE;
        end->other = !numbered             ? OTF2_NONE
                     : i >= sent           ? all[ordinal].at
                     : ordinal >= received ? OTF2_NONE
                                           : all[sent + ordinal].at;
    }
}

static int channel_match(import_channel *channel, bool is_known, bool all_ended)
{
    ranked *all = calloc((size_t)channel->count + 1, sizeof(*all));
    uint32_t to;

    if (!all)
        return no_memory();
    for (uint32_t i = 0; i < channel->count; i++) {
        channel_end *end = &channel->ends[i];
        all[i] = (ranked){.posted = end->posted,
                          .tag = end->tag,
                          .thread = end->thread,
                          .at = i,
                          .bytes = end->bytes,
                          .is_received = end->is_received};
        end->lane = OTF2_NONE;
    }
    qsort(all, channel->count, sizeof(*all), by_tag);
    for (uint32_t from = 0; from < channel->count; from = to) {
        to = from + 1;
        while (to < channel->count && all[to].tag == all[from].tag)
            to++;
        channel->tags++;
        tag_match(channel, all + from, to - from, all_ended);
    }
    for (uint32_t i = 0; i < channel->count && !is_known; i++)
        channel->ends[i].ordinal = channel->ends[i].other = OTF2_NONE;
    free(all);
    return 0;
}

/* --- lanes --- */

/* A message of a channel. */
typedef struct pair {
    uint32_t sender, receiver, tag;
    uint32_t sent, received; /* ends */
} pair;

/* The last message of a lane. */
typedef struct last {
    uint32_t received, lane;
} last;

static int by_group(const void *left, const void *right)
{
    const pair *a = left, *b = right;
    const uint32_t x[] = {a->sender, a->receiver, a->tag, a->sent};
    const uint32_t y[] = {b->sender, b->receiver, b->tag, b->sent};

    for (size_t i = 0; i < sizeof(x) / sizeof(*x); i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

static bool are_together(const pair *a, const pair *b)
{
    return a->sender == b->sender && a->receiver == b->receiver &&
           a->tag == b->tag;
}

static int lane_add(import_channels *c, const import_lane *lane, uint32_t *out)
{
    import_lane *more =
        pastset_array_grow(c->lanes, c->lane_count, sizeof(*more));

    if (!more)
        return no_memory();
    c->lanes = more;
    *out = c->lane_count++;
    c->lanes[*out] = *lane;
    return 0;
}

/* The first lane whose last message was received earlier. That of each is
 * later than those of the lanes behind it. */
static uint32_t lane_find(const last *lanes, uint32_t count, uint32_t received)
{
    uint32_t low = 0, high = count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (lanes[middle].received < received)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* The messages between two threads, in the order in which they were sent. */
static int group_divide(import_channels *c, channel_end *ends, const pair *all,
                        uint32_t count, const import_lane *lane)
{
    last *lanes = NULL, *more;
    uint32_t lane_count = 0, at;
    int err = 0;

    for (uint32_t i = 0; i < count && !err; i++) {
        at = lane_find(lanes, lane_count, all[i].received);
        if (at == lane_count) {
            if (lane_count && c->more == 0)
                continue;
            c->more -= lane_count > 0;
            more = pastset_array_grow(lanes, lane_count, sizeof(*more));
            if (!more) {
                err = no_memory();
                break;
            }
            lanes = more;
            err = lane_add(c, lane, &lanes[lane_count++].lane);
        }
        lanes[at].received = all[i].received;
        ends[all[i].sent].lane = ends[all[i].received].lane = lanes[at].lane;
    }
    free(lanes);
    return err;
}

static uint32_t pairs_make(pair *out, const import_channel *channel,
                           bool by_tags)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < channel->count; i++) {
        const channel_end *end = &channel->ends[i];
        if (end->is_received || end->other == OTF2_NONE)
            continue;
        out[count++] = (pair){end->thread, channel->ends[end->other].thread,
                              by_tags ? end->tag : 0, i, end->other};
    }
    if (count)
        qsort(out, count, sizeof(*out), by_group);
    return count;
}

static int matched_divide(import_channels *c, uint32_t number, bool by_tags)
{
    import_channel *channel = c->items[number];
    pair *all = calloc((size_t)channel->count + 1, sizeof(*all));
    uint32_t count, to;
    int err = 0;

    if (!all)
        return no_memory();
    count = pairs_make(all, channel, by_tags);
    for (uint32_t from = 0; from < count && !err; from = to) {
        import_lane lane = {number, all[from].tag, by_tags, true};
        to = from + 1;
        while (to < count && are_together(&all[to], &all[from]))
            to++;
        err = group_divide(c, channel->ends, all + from, to - from, &lane);
    }
    free(all);
    return err;
}

/* Ends that have no lane get one that is not matched, those with one tag the
 * same. */
static int rest_divide(import_channels *c, uint32_t number, bool by_tags)
{
    import_channel *channel = c->items[number];
    uint32_t lanes[IMPORT_TAGS_MAX], count = 0;
    int err = 0;

    for (uint32_t i = 0; i < channel->count && !err; i++) {
        channel_end *end = &channel->ends[i];
        uint32_t at = 0;
        if (end->lane != OTF2_NONE)
            continue;
        while (by_tags && at < count && c->lanes[lanes[at]].tag != end->tag)
            at++;
        if (at == count)
            err = lane_add(
                c,
                &(import_lane){number, by_tags ? end->tag : 0, by_tags, false},
                &lanes[count++]);
        end->lane = err ? OTF2_NONE : lanes[at];
    }
    return err;
}

/* --- all --- */

static bool has_few_tags(const import_channel *channel)
{
    return channel->tags <= IMPORT_TAGS_MAX;
}

/* Of all channels or none, so that names say the same everywhere. */
static bool has_room_for_tags(const import_channels *c)
{
    uint64_t more = 0;

    for (uint32_t i = 0; i < c->count; i++)
        if (has_few_tags(c->items[i]))
            more += c->items[i]->tags - 1;
    return more <= c->more / 2;
}

int viewer__import_channels_match(import_channels *c, bool all_ended,
                                  import_is_known *is_known,
                                  const void *context)
{
    bool tags;
    int err = 0;

    for (uint32_t i = 0; i < c->count && !err; i++)
        err = channel_match(c->items[i], is_known(&c->items[i]->key, context),
                            all_ended);
    if (err)
        return err;
    tags = has_room_for_tags(c);
    for (uint32_t i = 0; i < c->count && !err; i++) {
        bool by_tags = tags && has_few_tags(c->items[i]);
        c->more -= by_tags ? c->items[i]->tags - 1 : 0;
        err = matched_divide(c, i, by_tags);
        if (!err)
            err = rest_divide(c, i, by_tags);
    }
    return err;
}
