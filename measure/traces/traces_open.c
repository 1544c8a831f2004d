/* traces_open.c - a run for measure/traces: what follows each event on its way
 * down, and whom it needs. See traces_internal.h. */
#include "measure/traces/traces_internal.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/request.h"
#include "pastset/status.h"
#include "paths/net/frame.h"

int measure__traces_no_memory(void)
{
    return pastset_no_memory("for the steps of a run");
}

static int no_collector(const traces *t, const char *what, uint32_t node)
{
    return pastset_fail(PASTSET_ENOENT,
                        "%s: there is no collector %s, so its events do not "
                        "show who waited for whom: instrument the map with "
                        "`eventspace map instrument --collectors=all`",
                        scopes_topology_node_name(t->topology, node), what);
}

/* --- what stands below a collector --- */

static int find_sites(traces *t)
{
    for (uint32_t m = 0; m < t->topology->site_count; m++) {
        const scopes_site *site = &t->topology->sites[m];
        for (uint32_t i = 0; i < site->inputs.count; i++) {
            uint32_t id = site->inputs.ids[i];
            if (id == PATHS_NONE)
                return no_collector(t, "on a path into it", site->node);
            t->streams[id].kind = TRACES_SITE;
            t->streams[id].site = m;
            t->streams[id].input = i;
        }
    }
    return 0;
}

static int find_kind(traces *t, uint32_t id)
{
    const scopes_hop *hop = &t->topology->hops[id];
    traces_stream *stream = &t->streams[id];

    if (hop->remote &&
        (hop->collective != PATHS_NONE || hop->lower == PATHS_NONE) &&
        stream->count)
        return no_collector(t, "on the other side of it", hop->proxy);
    if (stream->kind == TRACES_SITE)
        return 0;
    if (hop->lower != PATHS_NONE)
        stream->kind = hop->remote ? TRACES_REMOTE : TRACES_LOCAL;
    else if (hop->element != PATHS_NONE)
        stream->kind = TRACES_ELEMENT;
    return 0;
}

static size_t messages_of(traces_below kind)
{
    switch (kind) {
    case TRACES_REMOTE:
    case TRACES_SITE:
        return 2;
    case TRACES_ELEMENT:
        return 3;
    default:
        return 0;
    }
}

static int make_streams(traces *t)
{
    t->streams = calloc(t->topology->collectors + 1u, sizeof(*t->streams));
    if (!t->streams)
        return measure__traces_no_memory();
    for (uint32_t id = 0; id < t->topology->collectors; id++) {
        const scopes_series *series =
            scopes_event_series(t->snapshot->event_table, id);
        t->streams[id].events = series->events;
        t->streams[id].count = (uint32_t)series->count;
        if (t->topology->hops[id].upper != PATHS_NONE)
            t->streams[id].process =
                t->topology->map->nodes[t->topology->nodes[id]].process;
    }
    return 0;
}

static int find_kinds(traces *t)
{
    int err = find_sites(t);

    for (uint32_t id = 0; id < t->topology->collectors && !err; id++) {
        if (t->topology->hops[id].upper == PATHS_NONE)
            continue;
        err = find_kind(t, id);
        t->streams[id].messages = t->message_capacity;
        t->message_capacity +=
            messages_of(t->streams[id].kind) * t->streams[id].count;
    }
    return err;
}

static int check_tops(const traces *t)
{
    for (uint32_t i = 0; i < t->topology->top_count; i++) {
        const scopes_top *top = &t->topology->tops[i];
        if (top->collector == PATHS_NONE)
            return no_collector(t, "where its paths begin",
                                t->topology->threads[top->thread]);
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
    const scopes_site *site = &t->topology->sites[m];
    scopes_rounds *rounds;
    int err =
        scopes_rounds_create(&rounds, t->topology, t->snapshot->event_table, m);

    if (err)
        return err;
    t->rounds[m] = rounds;
    for (uint32_t i = 0; i < rounds->inputs; i++) {
        traces_stream *stream = &t->streams[site->inputs.ids[i]];
        stream->below = numbers(stream->count);
        if (!stream->below)
            return measure__traces_no_memory();
        for (uint32_t r = 0; r < rounds->count; r++) {
            uint32_t e = rounds->events[(size_t)r * rounds->inputs + i];
            if (e != SCOPES_MISSING)
                stream->below[e] = r;
        }
    }
    return 0;
}

/* Where the events of a hop are at the collector below. */
static int match_below(traces *t, traces_stream *stream, uint32_t id)
{
    const scopes_event_table *event_table = t->snapshot->event_table;
    uint32_t *matches;
    int err = scopes_match(&matches, scopes_event_series(event_table, id),
                           scopes_event_series(event_table, stream->lower));

    if (err)
        return err;
    stream->below = numbers(stream->count);
    if (!stream->below)
        err = measure__traces_no_memory();
    else if (stream->count)
        memcpy(stream->below, matches, stream->count * sizeof(*matches));
    scopes_match_free(matches);
    return err;
}

static int follow(traces *t)
{
    int err = 0;

    t->rounds = calloc(t->topology->site_count + 1u, sizeof(t->rounds[0]));
    if (!t->rounds)
        return measure__traces_no_memory();
    for (uint32_t m = 0; m < t->topology->site_count && !err; m++)
        err = follow_rounds(t, m);
    for (uint32_t id = 0; id < t->topology->collectors && !err; id++) {
        traces_stream *stream = &t->streams[id];
        if (stream->kind != TRACES_LOCAL && stream->kind != TRACES_REMOTE)
            continue;
        stream->lower = t->topology->hops[id].lower;
        err = match_below(t, stream, id);
    }
    return err;
}

/* --- who needs whom --- */

static int note_need(traces *t, uint32_t id, uint32_t event)
{
    scopes_cause cause = scopes_causes_of(t->causes, id, event);
    size_t message = t->streams[id].messages + 3 * (size_t)event;
    traces_stream *other;

    if (cause.collector == PATHS_NONE)
        return 0;
    other = &t->streams[cause.collector];
    if (!other->release)
        other->release = numbers(other->count);
    if (!other->release)
        return measure__traces_no_memory();
    t->messages[message].next = other->release[cause.event];
    other->release[cause.event] = (uint32_t)message;
    return 0;
}

static int note_needs(traces *t)
{
    int err = scopes_causes_create(
        &t->causes, t->topology, t->snapshot->event_table, t->snapshot->clocks);

    if (!err && t->message_capacity >= TRACES_NONE)
        err = pastset_fail(PASTSET_ELIMIT, "%zu messages are too many",
                           t->message_capacity);
    if (err)
        return err;
    t->messages = calloc(t->message_capacity + 1, sizeof(*t->messages));
    if (!t->messages)
        return measure__traces_no_memory();
    for (uint32_t id = 0; id < t->topology->collectors && !err; id++) {
        if (t->streams[id].kind != TRACES_ELEMENT)
            continue;
        for (uint32_t e = 0; e < t->streams[id].count && !err; e++)
            err = note_need(t, id, e);
    }
    return err;
}

/* --- processes --- */

static int make_processes(traces *t, eventspace_run *run)
{
    size_t count = eventspace_run_process_count(run);
    uint64_t first = UINT64_MAX;

    t->processes = calloc(count + 1, sizeof(*t->processes));
    if (!t->processes)
        return measure__traces_no_memory();
    for (size_t i = 0; i < count; i++) {
        const eventspace_run_process *process =
            eventspace_run_process_at(run, i);
        t->processes[i].known = process->has_meta;
        t->processes[i].node = PREDICT_NONE;
        t->processes[i].machine = process->meta.machine;
        t->processes[i].library = process->meta.library;
        t->processes[i].counter = process->meta.counter;
        if (process->has_meta && process->meta.start_wall_ns < first)
            first = process->meta.start_wall_ns;
    }
    if (first == UINT64_MAX)
        return pastset_fail(PASTSET_ENOENT, "%s: no process has started",
                            eventspace_run_directory(run));
    if (first > INT64_MAX / 4) /* damaged */
        first = INT64_MAX / 4;
    t->shift_ns = (int64_t)first - t->start_ns;
    for (uint32_t i = 0; i < count; i++) {
        const eventspace_run_process *process =
            eventspace_run_process_at(run, i);
        if (process->has_meta)
            t->processes[i].start_ns =
                measure__traces_ns(t, i, process->meta.start_tick);
        if (t->processes[i].start_ns < 0)
            t->processes[i].start_ns = 0;
    }
    return 0;
}

int measure__traces_open(traces *t, eventspace_run *run, int64_t start_ns)
{
    scopes_snapshot_options all = SCOPES_SNAPSHOT_ALL;
    int err = scopes_snapshot_take(&t->snapshot, run, &all);

    if (err)
        return err;
    t->topology = t->snapshot->topology;
    t->start_ns = start_ns;
    err = make_processes(t, run);
    if (err)
        return err;
    err = make_streams(t);
    if (err)
        return err;
    err = check_tops(t);
    if (err)
        return err;
    /* The map that such a run begins with has nothing but processes. */
    t->has_paths = eventspace_run_base(run)->node_count > 0;
    if (!t->has_paths)
        return 0;
    err = find_kinds(t);
    if (err)
        return err;
    err = follow(t);
    if (err)
        return err;
    return note_needs(t);
}

void measure__traces_close(traces *t)
{
    for (uint32_t i = 0; t->rounds && i < t->topology->site_count; i++)
        scopes_rounds_destroy(t->rounds[i]);
    for (uint32_t i = 0; t->streams && i < t->topology->collectors; i++) {
        free(t->streams[i].below);
        free(t->streams[i].release);
    }
    scopes_causes_destroy(t->causes);
    free(t->rounds);
    free(t->streams);
    free(t->processes);
    free(t->runners);
    free(t->messages);
    free(t->steps);
    free(t->actors);
    free(t->spots);
    scopes_snapshot_destroy(t->snapshot);
}

/* --- bytes --- */

uint64_t measure__traces_request_bytes(const traces *t, uint32_t stream,
                                       uint32_t event)
{
    const eventspace_trace *e =
        scopes_event_at(t->streams[stream].events, event);
    bool brings =
        e->operation == PASTSET_WRITE || e->operation == PASTSET_EXCHANGE;

    return PATHS_FRAME_HEADER_BYTES + (brings ? e->bytes : 0);
}

/* The round's event at the element of the collective that the operation comes
 * to; NULL when it is not there. */
static const eventspace_trace *event_of_round(const traces *t, uint32_t stream,
                                              uint32_t event,
                                              const paths_map_node **node)
{
    const eventspace_trace *found = NULL;

    *node = NULL;
    for (int depth = 0; depth < PATHS_PATH_NODES && event != TRACES_NONE;
         depth++) {
        const traces_stream *l = &t->streams[stream];
        found = scopes_event_at(l->events, event);
        if (l->kind == TRACES_SITE) {
            const scopes_rounds *rounds = t->rounds[l->site];
            uint32_t r = l->below[event];
            *node = &t->topology->map->nodes[rounds->site->node];
            if (r == TRACES_NONE || rounds->site->lower == PATHS_NONE)
                return NULL;
            stream = rounds->site->lower;
            event = rounds->below ? rounds->below[r] : TRACES_NONE;
        } else if (l->kind == TRACES_LOCAL || l->kind == TRACES_REMOTE) {
            stream = l->lower;
            event = l->below[event];
        } else {
            return found;
        }
    }
    return NULL;
}

/* What comes back for what was brought is not in the trace tuple, but is known
 * for each kind of collective. */
static uint64_t result_bytes(const traces *t, uint32_t stream, uint32_t event)
{
    const paths_map_node *node;
    const eventspace_trace *own =
        scopes_event_at(t->streams[stream].events, event);
    const eventspace_trace *round = event_of_round(t, stream, event, &node);

    if (node && round &&
        (strcmp(node->type, "gather") == 0 ||
         strcmp(node->type, "broadcast") == 0))
        return round->bytes;
    return own->bytes;
}

uint64_t measure__traces_reply_bytes(const traces *t, uint32_t stream,
                                     uint32_t event)
{
    const eventspace_trace *e =
        scopes_event_at(t->streams[stream].events, event);

    if (e->status || e->operation == PASTSET_WRITE)
        return PATHS_FRAME_HEADER_BYTES;
    if (e->operation == PASTSET_EXCHANGE)
        return PATHS_FRAME_HEADER_BYTES + result_bytes(t, stream, event);
    return PATHS_FRAME_HEADER_BYTES + e->bytes;
}
