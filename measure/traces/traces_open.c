/* traces_open.c - a run for measure/traces: what follows each event on its way
 * down, and whom it needs. See traces_internal.h. */
#include "measure/traces/traces_internal.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/request.h"
#include "pastset/status.h"

int traces__no_memory(void)
{
    return pastset_fail(PASTSET_ENOMEM, "no memory for the steps of a run");
}

static int no_collector(const traces *t, const char *what, uint32_t node)
{
    return pastset_fail(
        PASTSET_ENOENT,
        "%s: no collector stands %s, so that its traces do not tell who waited "
        "for whom: instrument the map with `eventspace map instrument "
        "--collectors all`",
        scopes_ways_node_name(t->ways, node), what);
}

/* --- what stands below a collector --- */

static int find_meetings(traces *t)
{
    for (uint32_t m = 0; m < t->ways->meeting_count; m++) {
        const scopes_meeting *meeting = &t->ways->meetings[m];
        for (uint32_t i = 0; i < meeting->inputs.count; i++) {
            uint32_t id = meeting->inputs.ids[i];
            if (id == PATHS_NONE)
                return no_collector(t, "on a way into it", meeting->node);
            t->lanes[id].kind = TRACES_MEETING;
            t->lanes[id].meeting = m;
            t->lanes[id].input = i;
        }
    }
    return 0;
}

static int find_kind(traces *t, uint32_t id)
{
    const scopes_hop *hop = &t->ways->hops[id];
    traces_lane *lane = &t->lanes[id];

    if (hop->remote &&
        (hop->collective != PATHS_NONE || hop->lower == PATHS_NONE) &&
        lane->count)
        return no_collector(t, "on the other side of it", hop->proxy);
    if (lane->kind == TRACES_MEETING)
        return 0;
    if (hop->lower != PATHS_NONE)
        lane->kind = hop->remote ? TRACES_REMOTE : TRACES_LOCAL;
    else if (hop->element != PATHS_NONE)
        lane->kind = TRACES_ELEMENT;
    return 0;
}

static size_t messages_of(traces_below kind)
{
    switch (kind) {
    case TRACES_REMOTE:
    case TRACES_MEETING:
        return 2;
    case TRACES_ELEMENT:
        return 3;
    default:
        return 0;
    }
}

static int make_lanes(traces *t)
{
    int err;

    t->lanes = calloc(t->ways->collectors + 1u, sizeof(*t->lanes));
    if (!t->lanes)
        return traces__no_memory();
    for (uint32_t id = 0; id < t->ways->collectors; id++) {
        const scopes_series *series = scopes_store_series(t->look->store, id);
        t->lanes[id].events = series->events;
        t->lanes[id].count = (uint32_t)series->count;
        if (t->ways->hops[id].upper != PATHS_NONE)
            t->lanes[id].host = t->ways->map->nodes[t->ways->nodes[id]].host;
    }
    err = find_meetings(t);
    for (uint32_t id = 0; id < t->ways->collectors && !err; id++) {
        if (t->ways->hops[id].upper == PATHS_NONE)
            continue;
        err = find_kind(t, id);
        t->lanes[id].messages = t->message_room;
        t->message_room += messages_of(t->lanes[id].kind) * t->lanes[id].count;
    }
    return err;
}

static int check_tops(const traces *t)
{
    for (uint32_t i = 0; i < t->ways->top_count; i++) {
        const scopes_top *top = &t->ways->tops[i];
        if (top->collector == PATHS_NONE)
            return no_collector(t, "where its paths begin",
                                t->ways->threads[top->thread]);
    }
    return 0;
}

/* --- what follows each event --- */

static uint32_t *numbers(size_t count)
{
    uint32_t *made = malloc((count + 1) * sizeof(*made));

    if (made)
        memset(made, 0xff, (count + 1) * sizeof(*made));
    return made;
}

static int follow_rounds(traces *t, uint32_t m)
{
    const scopes_meeting *meeting = &t->ways->meetings[m];
    scopes_rounds *rounds;
    int err = scopes_rounds_make(&rounds, t->ways, t->look->store, m);

    if (err)
        return err;
    t->rounds[m] = rounds;
    for (uint32_t i = 0; i < rounds->inputs; i++) {
        traces_lane *lane = &t->lanes[meeting->inputs.ids[i]];
        lane->below = numbers(lane->count);
        if (!lane->below)
            return traces__no_memory();
        for (uint32_t r = 0; r < rounds->count; r++) {
            uint32_t e = rounds->events[(size_t)r * rounds->inputs + i];
            if (e != SCOPES_MISSING)
                lane->below[e] = r;
        }
    }
    return 0;
}

static int follow(traces *t)
{
    int err = 0;

    t->rounds = calloc(t->ways->meeting_count + 1u, sizeof(t->rounds[0]));
    if (!t->rounds)
        return traces__no_memory();
    for (uint32_t m = 0; m < t->ways->meeting_count && !err; m++)
        err = follow_rounds(t, m);
    for (uint32_t id = 0; id < t->ways->collectors && !err; id++) {
        traces_lane *lane = &t->lanes[id];
        if (lane->kind != TRACES_LOCAL && lane->kind != TRACES_REMOTE)
            continue;
        lane->lower = t->ways->hops[id].lower;
        err =
            scopes_match(&lane->below, scopes_store_series(t->look->store, id),
                         scopes_store_series(t->look->store, lane->lower));
    }
    return err;
}

/* --- who needs whom --- */

static int note_need(traces *t, uint32_t id, uint32_t event)
{
    scopes_cause cause = scopes_causes_of(t->causes, id, event);
    size_t message = t->lanes[id].messages + 3 * (size_t)event;
    traces_lane *other;

    if (cause.collector == PATHS_NONE)
        return 0;
    other = &t->lanes[cause.collector];
    if (!other->release)
        other->release = numbers(other->count);
    if (!other->release)
        return traces__no_memory();
    t->messages[message].next = other->release[cause.event];
    other->release[cause.event] = (uint32_t)message;
    return 0;
}

static int note_needs(traces *t)
{
    int err = scopes_causes_make(&t->causes, t->ways, t->look->store,
                                 t->look->clocks);

    if (!err && t->message_room >= TRACES_NONE)
        err = pastset_fail(PASTSET_ELIMIT, "%zu messages are too many",
                           t->message_room);
    if (err)
        return err;
    t->messages = calloc(t->message_room + 1, sizeof(*t->messages));
    if (!t->messages)
        return traces__no_memory();
    for (uint32_t id = 0; id < t->ways->collectors && !err; id++) {
        if (t->lanes[id].kind != TRACES_ELEMENT)
            continue;
        for (uint32_t e = 0; e < t->lanes[id].count && !err; e++)
            err = note_need(t, id, e);
    }
    return err;
}

/* --- hosts --- */

static int make_hosts(traces *t, eventspace_run *run)
{
    size_t count = eventspace_run_host_count(run);
    uint64_t first = UINT64_MAX;

    t->hosts = calloc(count + 1, sizeof(*t->hosts));
    if (!t->hosts)
        return traces__no_memory();
    for (size_t i = 0; i < count; i++) {
        const eventspace_run_host *host = eventspace_run_host_at(run, i);
        t->hosts[i].known = host->has_meta;
        t->hosts[i].node = PREDICT_NONE;
        if (host->has_meta && host->meta.start_wall_ns < first)
            first = host->meta.start_wall_ns;
    }
    if (first == UINT64_MAX)
        return pastset_fail(PASTSET_ENOENT, "%s: no host has come up",
                            eventspace_run_directory(run));
    t->shift_ns = (int64_t)first - t->start_ns;
    for (uint32_t i = 0; i < count; i++) {
        const eventspace_run_host *host = eventspace_run_host_at(run, i);
        if (host->has_meta)
            t->hosts[i].start_ns = traces__ns(t, i, host->meta.start_tick);
        if (t->hosts[i].start_ns < 0)
            t->hosts[i].start_ns = 0;
    }
    return 0;
}

int traces__open(traces *t, eventspace_run *run, int64_t start_ns)
{
    scopes_look_options all = SCOPES_LOOK_ALL;
    int err = scopes_look_take(&t->look, run, &all);

    if (err)
        return err;
    t->ways = t->look->ways;
    t->start_ns = start_ns;
    err = make_hosts(t, run);
    if (!err)
        err = make_lanes(t);
    if (!err)
        err = check_tops(t);
    if (!err)
        err = follow(t);
    return err ? err : note_needs(t);
}

void traces__close(traces *t)
{
    for (uint32_t i = 0; t->rounds && i < t->ways->meeting_count; i++)
        scopes_rounds_free(t->rounds[i]);
    for (uint32_t i = 0; t->lanes && i < t->ways->collectors; i++) {
        free(t->lanes[i].below);
        free(t->lanes[i].release);
    }
    scopes_causes_free(t->causes);
    free(t->rounds);
    free(t->lanes);
    free(t->hosts);
    free(t->runners);
    free(t->messages);
    free(t->steps);
    free(t->actors);
    free(t->spots);
    scopes_look_free(t->look);
}

/* --- bytes --- */

uint64_t traces__request_bytes(const traces *t, uint32_t lane, uint32_t event)
{
    const eventspace_trace *e = &t->lanes[lane].events[event];
    bool brings =
        e->operation == PASTSET_WRITE || e->operation == PASTSET_EXCHANGE;

    return TRACES_HEADER + (brings ? e->bytes : 0);
}

/* The round's event at the element of the collective that the operation comes
 * to; NULL when it is not there. */
static const eventspace_trace *event_of_round(const traces *t, uint32_t lane,
                                              uint32_t event,
                                              const paths_map_node **node)
{
    const eventspace_trace *found = NULL;

    *node = NULL;
    for (int depth = 0; depth < PATHS_PATH_NODES && event != TRACES_NONE;
         depth++) {
        const traces_lane *l = &t->lanes[lane];
        found = &l->events[event];
        if (l->kind == TRACES_MEETING) {
            const scopes_rounds *rounds = t->rounds[l->meeting];
            uint32_t r = l->below[event];
            *node = &t->ways->map->nodes[rounds->meeting->node];
            if (r == TRACES_NONE || rounds->meeting->lower == PATHS_NONE)
                return NULL;
            lane = rounds->meeting->lower;
            event = rounds->below ? rounds->below[r] : TRACES_NONE;
        } else if (l->kind == TRACES_LOCAL || l->kind == TRACES_REMOTE) {
            lane = l->lower;
            event = l->below[event];
        } else {
            return found;
        }
    }
    return NULL;
}

/* What comes back for what was brought is not in the trace tuple, but is known
 * for each kind of collective. */
static uint64_t result_bytes(const traces *t, uint32_t lane, uint32_t event)
{
    const paths_map_node *node;
    const eventspace_trace *own = &t->lanes[lane].events[event];
    const eventspace_trace *round = event_of_round(t, lane, event, &node);

    if (node && round &&
        (strcmp(node->type, "gather") == 0 ||
         strcmp(node->type, "broadcast") == 0))
        return round->bytes;
    return own->bytes;
}

uint64_t traces__reply_bytes(const traces *t, uint32_t lane, uint32_t event)
{
    const eventspace_trace *e = &t->lanes[lane].events[event];

    if (e->status || e->operation == PASTSET_WRITE)
        return TRACES_HEADER;
    if (e->operation == PASTSET_EXCHANGE)
        return TRACES_HEADER + result_bytes(t, lane, event);
    return TRACES_HEADER + e->bytes;
}
