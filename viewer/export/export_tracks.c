/* export_tracks.c - events as slices on tracks, connected by flows.
 *
 * A track is a line of a timeline: slices on it lie within each other, or one
 * after the other. A thread has one; what its operations overlap by (those of
 * paths_start) is put on further lanes. So is what overlaps at a collector
 * below, where operations of several threads pass: there slices do not lie
 * within each other, as they do not belong together.
 *
 * All of this is found as the events pass by, in the order of their begins. The
 * slice of an operation at one collector begins before that at the next one,
 * which ends before it: so an operation is kept until the time is past its end,
 * and whoever comes later finds it. A round of a collective is complete when
 * each of its threads has an operation under way that is in no round: none of
 * them can come up before the last one has begun. So what is in memory is what
 * is under way. Messages are in export_messages.c, names of slices in
 * export_names.c, counters in export_counters.c. */
#include "viewer/export/export_internal.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/array.h"
#include "pastset/status.h"

#define DEPTH_MAX 128
#define BUCKETS 4096 /* a power of two */

/* --- what is kept --- */

typedef struct lane {
    viewer__track track;
    char *name;
    int64_t ends_ns[DEPTH_MAX]; /* of slices that are under way, outermost
                                   first */
    bool under_way[DEPTH_MAX];
    uint32_t depth;
} lane;

typedef struct owner {
    lane **lanes;
    size_t count;
} owner;

/* An operation that may come to the next collector. */
typedef struct passing {
    struct passing *next;
    uint32_t thread, sequence, collector;
    viewer__end at;
} passing;

typedef struct tracks {
    viewer__export *e;
    const viewer__sink *sink;
    void *context;
    uint32_t ids, threads;
    uint32_t track_count;
    uint64_t slice_count, flow_count;
    owner *of_threads, *of_scheduling, *of_collectors;
    viewer__names *names;
    viewer__counters *counters;
    viewer__messages *messages;
    passing *buckets[BUCKETS];
    passing *spare;
    bool *is_top;       /* by collector */
    uint32_t *tree_of;  /* by collector at a top: index of its tree */
    uint32_t *place_of; /* and of its thread in that */
    viewer__tree *trees;
    uint32_t tree_count;
    const int64_t *first_ns, *last_ns;
    bool has_begun;
} tracks;

static int no_memory(void)
{
    return pastset_no_memory("for an export");
}

/* --- lanes --- */

static char *lane_spell(const tracks *t, viewer__track_kind kind,
                        const viewer__event *event, size_t number)
{
    const scopes_topology *topology = t->e->topology;
    const char *thread = scopes_topology_thread_name(topology, event->thread);
    char text[1024], plain[32];
    size_t used;

    if (kind == VIEWER__TRACK_COLLECTOR) {
        snprintf(plain, sizeof(plain), "collector %u", event->collector);
        thread = viewer__export_id_name(t->e, event->collector);
    } else
        snprintf(plain, sizeof(plain), "thread %u", event->thread);
    used = (size_t)snprintf(text, sizeof(text) - 64, "%s",
                            *thread ? thread : plain);
    used = used < sizeof(text) - 64 ? used : sizeof(text) - 65;
    if (kind == VIEWER__TRACK_SCHEDULING)
        used += (size_t)snprintf(text + used, sizeof(text) - used,
                                 " off the processor");
    if (number > 0)
        snprintf(text + used, sizeof(text) - used, " (%zu)", number + 1);
    return viewer__utf8(text);
}

static lane *lane_add(tracks *t, owner *o, viewer__track_kind kind,
                      const viewer__event *event)
{
    lane **more = pastset_array_grow(o->lanes, o->count, sizeof(*more));
    lane *l;

    if (!more)
        return NULL;
    o->lanes = more;
    l = calloc(1, sizeof(*l));
    if (!l)
        return NULL;
    l->name = lane_spell(t, kind, event, o->count);
    l->track = (viewer__track){.id = t->track_count++,
                               .kind = kind,
                               .process = event->process,
                               .number = kind == VIEWER__TRACK_COLLECTOR
                                             ? event->collector
                                             : event->thread,
                               .lane = (uint32_t)o->count,
                               .name = l->name};
    more[o->count++] = l;
    return l->name ? l : NULL;
}

/* Takes the slices off that have ended by then. */
static int lane_end(tracks *t, lane *l, int64_t now_ns)
{
    int err = 0;

    while (l->depth > 0 && l->ends_ns[l->depth - 1] <= now_ns && !err) {
        l->depth--;
        if (t->sink->slice_end)
            err =
                t->sink->slice_end(t->context, &l->track, l->ends_ns[l->depth],
                                   l->under_way[l->depth]);
    }
    return err;
}

/* The first lane on which the slice has a place. NULL and `*err`. */
static lane *lane_find(tracks *t, owner *o, viewer__track_kind kind,
                       const viewer__event *event, int *err)
{
    lane *l;

    for (size_t i = 0; i < o->count; i++) {
        l = o->lanes[i];
        *err = lane_end(t, l, event->start_ns);
        if (*err)
            return NULL;
        if (l->depth == 0 ||
            (kind == VIEWER__TRACK_THREAD && l->depth < DEPTH_MAX &&
             event->end_ns <= l->ends_ns[l->depth - 1]))
            return l;
    }
    l = lane_add(t, o, kind, event);
    *err = l ? 0 : no_memory();
    if (l && t->sink->track)
        *err = t->sink->track(t->context, &l->track);
    return *err ? NULL : l;
}

static owner *owner_of(tracks *t, const viewer__event *event,
                       viewer__track_kind *kind)
{
    uint32_t thread = event->thread < t->threads ? event->thread : t->threads;

    *kind = VIEWER__TRACK_THREAD;
    if (viewer__is_off(event)) {
        *kind = VIEWER__TRACK_SCHEDULING;
        return &t->of_scheduling[thread];
    }
    if (viewer__is_region(event) ||
        (event->collector < t->e->topology->collectors &&
         t->is_top[event->collector]))
        return &t->of_threads[thread];
    *kind = VIEWER__TRACK_COLLECTOR;
    return &t->of_collectors[event->collector < t->ids ? event->collector
                                                       : t->ids];
}

/* --- one operation at several collectors --- */

static passing **bucket_of(tracks *t, uint32_t thread, uint32_t sequence)
{
    uint64_t key = ((uint64_t)thread << 32 | sequence) * 0x9e3779b97f4a7c15u;

    return &t->buckets[key >> 52];
}

/* Those that have ended cannot come any more. */
static void bucket_clean(tracks *t, passing **at, int64_t now_ns)
{
    while (*at) {
        passing *p = *at;
        if (p->at.end_ns >= now_ns) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        p->next = t->spare;
        t->spare = p;
    }
}

static int passing_keep(tracks *t, const viewer__event *event,
                        const viewer__end *at)
{
    passing **bucket = bucket_of(t, event->thread, event->sequence);
    passing *p = t->spare;

    if (t->e->topology->hops[event->collector].lower == PATHS_NONE)
        return 0;
    if (p)
        t->spare = p->next;
    else
        p = malloc(sizeof(*p));
    if (!p)
        return no_memory();
    *p = (passing){.next = *bucket,
                   .thread = event->thread,
                   .sequence = event->sequence,
                   .collector = event->collector,
                   .at = *at};
    *bucket = p;
    return 0;
}

static int flow_find(tracks *t, const viewer__event *event,
                     const viewer__end *at)
{
    const scopes_hop *hops = t->e->topology->hops;
    passing **bucket = bucket_of(t, event->thread, event->sequence), *p;

    bucket_clean(t, bucket, event->start_ns);
    for (p = *bucket; p; p = p->next)
        if (p->thread == event->thread && p->sequence == event->sequence &&
            hops[p->collector].lower == event->collector)
            break;
    if (!p || !t->sink->flow)
        return 0;
    return t->sink->flow(t->context,
                         &(viewer__flow){.id = ++t->flow_count,
                                         .remote = hops[p->collector].remote,
                                         .upper = p->at,
                                         .lower = *at,
                                         .event = event});
}

/* --- rounds --- */

/* An operation of a thread that has come up is in no round that is to come. */
static bool tree_is_full(viewer__tree *tree, int64_t now_ns)
{
    if (tree->filled < tree->count)
        return false;
    for (uint32_t i = 0; i < tree->count; i++) {
        if (tree->members[i].at.end_ns >= now_ns)
            continue;
        tree->members[i].is_filled = false;
        tree->filled--;
    }
    return tree->filled == tree->count;
}

static int round_find(tracks *t, const viewer__event *event,
                      const viewer__end *at)
{
    uint32_t which = t->tree_of[event->collector];
    viewer__member *member;
    viewer__tree *tree;
    int err;

    if (which == PATHS_NONE || event->status != 0 || !t->sink->round ||
        event->under_way)
        return 0;
    tree = &t->trees[which];
    member = &tree->members[t->place_of[event->collector]];
    tree->filled += !member->is_filled;
    *member = (viewer__member){.at = *at,
                               .thread = event->thread,
                               .bytes = event->bytes,
                               .operation = event->operation,
                               .is_filled = true};
    if (!tree_is_full(tree, event->start_ns))
        return 0;
    err = t->sink->round(t->context, tree);
    tree->rounds++;
    tree->filled = 0;
    for (uint32_t i = 0; i < tree->count; i++)
        tree->members[i].is_filled = false;
    return err;
}

/* --- one event --- */

static int operation(tracks *t, const viewer__event *event,
                     const viewer__end *at)
{
    int err = flow_find(t, event, at);

    if (!err && t->is_top[event->collector])
        err = viewer__messages_place(t->messages, at);
    if (!err)
        err = passing_keep(t, event, at);
    return err ? err : round_find(t, event, at);
}

static int place(tracks *t, const viewer__event *event, viewer__slice *slice)
{
    viewer__track_kind kind;
    owner *o = owner_of(t, event, &kind);
    int err;
    lane *l = lane_find(t, o, kind, event, &err);

    if (!l)
        return err;
    slice->track = &l->track;
    if (event->operation == EVENTSPACE_TRACE_MARK)
        return 0;
    l->ends_ns[l->depth] = event->end_ns;
    l->under_way[l->depth] = slice->under_way;
    slice->depth = ++l->depth;
    return 0;
}

static int slice_take(tracks *t, const viewer__event *event)
{
    bool is_operation = !viewer__is_off(event) && !viewer__is_region(event) &&
                        event->collector < t->e->topology->collectors;
    viewer__slice slice = {.name = viewer__name_of(t->names, event),
                           .event = event,
                           .start_ns = event->start_ns,
                           .end_ns = event->end_ns,
                           .under_way = event->under_way,
                           .number = t->slice_count++};
    bool is_mark = event->operation == EVENTSPACE_TRACE_MARK;
    viewer__end at;
    int err = 0;

    if (!slice.name)
        return no_memory();
    slice.category = viewer__category_of(slice.name, event);
    if (is_mark) /* a moment, whatever a damaged file says */
        slice.end_ns = slice.start_ns;
    if (is_operation)
        slice.hops =
            t->e->topology->hops[event->collector].lower != PATHS_NONE ||
            t->e->topology->above[event->collector].count > 0;
    if (is_operation && t->is_top[event->collector])
        err = viewer__messages_claim(t->messages, event, &slice.messages,
                                     &slice.message_count);
    if (!err)
        err = place(t, event, &slice);
    if (!err && is_mark)
        return t->sink->instant ? t->sink->instant(t->context, &slice) : 0;
    if (!err && t->sink->slice)
        err = t->sink->slice(t->context, &slice);
    if (err || !is_operation)
        return err;
    at = (viewer__end){slice.track->id, slice.depth, slice.number,
                       slice.start_ns, slice.end_ns};
    err = viewer__counters_take(t->counters, event);
    return err ? err : operation(t, event, &at);
}

static int take(const viewer__event *event, void *context)
{
    tracks *t = context;

    if (!t->has_begun)
        viewer__counters_begin(t->counters, *t->first_ns, *t->last_ns);
    t->has_begun = true;
    return event->operation == EVENTSPACE_TRACE_METRIC
               ? viewer__counters_metric(t->counters, event)
               : slice_take(t, event);
}

/* --- the map --- */

static uint32_t root_of(const scopes_topology *topology, uint32_t site)
{
    while (topology->sites[site].parent != PATHS_NONE)
        site = topology->sites[site].parent;
    return site;
}

static viewer__tree *tree_of_root(tracks *t, uint32_t root)
{
    for (uint32_t i = 0; i < t->tree_count; i++)
        if (t->trees[i].site == root)
            return &t->trees[i];
    t->trees[t->tree_count].site = root;
    return &t->trees[t->tree_count++];
}

static int tree_add(tracks *t, const scopes_top *top)
{
    uint32_t root = root_of(t->e->topology, top->site);
    viewer__tree *tree = tree_of_root(t, root);
    uint32_t *more =
        pastset_array_grow(tree->threads, tree->count, sizeof(*more));

    if (!more)
        return no_memory();
    tree->threads = more;
    t->tree_of[top->collector] = (uint32_t)(tree - t->trees);
    t->place_of[top->collector] = tree->count;
    more[tree->count++] = top->thread;
    return 0;
}

static int make_trees(tracks *t)
{
    const scopes_topology *topology = t->e->topology;
    int err = 0;

    t->trees = calloc(topology->site_count + 1, sizeof(*t->trees));
    if (!t->trees)
        return no_memory();
    for (uint32_t i = 0; i < topology->top_count && !err; i++) {
        const scopes_top *top = &topology->tops[i];
        if (top->collector == PATHS_NONE)
            continue;
        t->is_top[top->collector] = true;
        if (top->site != PATHS_NONE)
            err = tree_add(t, top);
    }
    for (uint32_t i = 0; i < t->tree_count && !err; i++) {
        t->trees[i].members = calloc(t->trees[i].count, sizeof(viewer__member));
        err = t->trees[i].members ? 0 : no_memory();
    }
    return err;
}

static int make(tracks *t, viewer__export *e)
{
    uint32_t collectors = e->topology->collectors;

    t->e = e;
    t->ids = eventspace_run_ids(e->run);
    t->threads = e->topology->thread_count;
    t->of_threads = calloc(t->threads + 1, sizeof(owner));
    t->of_scheduling = calloc(t->threads + 1, sizeof(owner));
    t->of_collectors = calloc(t->ids + 1, sizeof(owner));
    t->is_top = calloc(collectors + 1, sizeof(*t->is_top));
    t->tree_of = calloc(collectors + 1, sizeof(*t->tree_of));
    t->place_of = calloc(collectors + 1, sizeof(*t->place_of));
    if (!t->of_threads || !t->of_scheduling || !t->of_collectors ||
        !t->is_top || !t->tree_of || !t->place_of)
        return no_memory();
    for (uint32_t i = 0; i < collectors; i++)
        t->tree_of[i] = PATHS_NONE;
    return 0;
}

/* Every thread has a track, also if it has done nothing. */
static int make_threads(tracks *t)
{
    const scopes_topology *topology = t->e->topology;
    int err = 0;

    for (uint32_t i = 0; i < t->threads && !err; i++) {
        viewer__event event = {.thread = i};
        lane *l;
        if (!viewer__export_has_thread(t->e, i))
            continue;
        event.process =
            (uint16_t)topology->map->nodes[topology->threads[i]].process;
        l = lane_add(t, &t->of_threads[i], VIEWER__TRACK_THREAD, &event);
        err = l ? 0 : no_memory();
        if (l && t->sink->track)
            err = t->sink->track(t->context, &l->track);
    }
    return err;
}

/* --- the end --- */

static int end_lanes(tracks *t, const owner *owners, uint32_t count)
{
    int err = 0;

    for (uint32_t i = 0; i <= count && !err; i++)
        for (size_t k = 0; k < owners[i].count && !err; k++)
            err = lane_end(t, owners[i].lanes[k], INT64_MAX);
    return err;
}

static int end_all(tracks *t)
{
    int err = end_lanes(t, t->of_threads, t->threads);

    if (!err)
        err = end_lanes(t, t->of_scheduling, t->threads);
    if (!err)
        err = end_lanes(t, t->of_collectors, t->ids);
    return err ? err : viewer__counters_end(t->counters, *t->last_ns);
}

static void drop_owners(owner *owners, uint32_t count)
{
    for (uint32_t i = 0; owners && i <= count; i++) {
        for (size_t k = 0; k < owners[i].count; k++) {
            free(owners[i].lanes[k]->name);
            free(owners[i].lanes[k]);
        }
        free(owners[i].lanes);
    }
    free(owners);
}

static void drop_passing(passing *p)
{
    while (p) {
        passing *next = p->next;
        free(p);
        p = next;
    }
}

static void drop(tracks *t)
{
    drop_owners(t->of_threads, t->threads);
    drop_owners(t->of_scheduling, t->threads);
    drop_owners(t->of_collectors, t->ids);
    viewer__names_destroy(t->names);
    viewer__counters_destroy(t->counters);
    viewer__messages_destroy(t->messages);
    for (size_t i = 0; i < BUCKETS; i++)
        drop_passing(t->buckets[i]);
    drop_passing(t->spare);
    for (uint32_t i = 0; i < t->tree_count; i++) {
        free(t->trees[i].threads);
        free(t->trees[i].members);
    }
    free(t->trees);
    free(t->is_top);
    free(t->tree_of);
    free(t->place_of);
    free(t);
}

int viewer__tracks_walk(viewer__export *e, const viewer__sink *sink,
                        void *context, int64_t *first_ns, int64_t *last_ns)
{
    tracks *t = calloc(1, sizeof(*t));
    int err = t ? make(t, e) : no_memory();

    if (t) {
        t->sink = sink;
        t->context = context;
        t->first_ns = first_ns;
        t->last_ns = last_ns;
    }
    if (!err)
        err = make_trees(t);
    if (!err)
        err = viewer__names_create(&t->names, e, t->is_top, t->tree_of);
    if (!err)
        err = viewer__counters_create(&t->counters, e, sink, context,
                                      &t->track_count, t->is_top);
    if (!err)
        err = viewer__messages_create(&t->messages, e, sink, context,
                                      &t->flow_count);
    if (!err)
        err = make_threads(t);
    if (!err)
        err = viewer__export_sorted(e, first_ns, last_ns, take, t);
    if (!err)
        err = end_all(t);
    if (t)
        drop(t);
    return err;
}
