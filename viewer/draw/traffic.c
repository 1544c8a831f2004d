/* traffic.c - see traffic_internal.h.
 *
 * What goes over each path of a thread is summed by the view "communication",
 * what threads waited by "wait-states", and messages are counted at both ends.
 * In a run with messages, each of them is an operation over an element too, so
 * there only collectives are taken from paths. */
#include "viewer/draw/traffic_internal.h"

#include <stdlib.h>
#include <string.h>

/* Out of memory is no end of the program. */
#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(item) (*(item)->failed = true)
#include <uthash.h>

#include "pastset/array.h"
#include "pastset/status.h"
#include "scopes/causality/communication_times.h"
#include "scopes/reading/messages.h"
#include "scopes/views/view.h"
#include "viewer/draw/element_uses_internal.h"

typedef struct link_key {
    uint32_t ends[2];
} link_key;

/* A link while it is made. */
typedef struct known_link {
    link_key key;
    viewer_way sent[2], received[2];
    int64_t waiting_ns;
    bool *failed;
    UT_hash_handle hh;
} known_link;

typedef struct making {
    viewer_traffic *traffic;
    const scopes_snapshot *snapshot;
    known_link *links;
    viewer__uses uses;
    bool has_messages;
} making;

static int no_memory(void)
{
    return pastset_no_memory("for a picture of the run");
}

/* --- links --- */

static known_link *link_of(making *m, uint32_t a, uint32_t b)
{
    link_key key = {{a < b ? a : b, a < b ? b : a}};
    known_link *found;
    bool failed = false;

    HASH_FIND(hh, m->links, &key, sizeof(key), found);
    if (found)
        return found;
    found = calloc(1, sizeof(*found));
    if (!found)
        return NULL;
    found->key = key;
    found->failed = &failed;
    HASH_ADD(hh, m->links, key, sizeof(key), found);
    if (failed)
        free(found);
    return failed ? NULL : found;
}

static void way_add(viewer_way *way, uint64_t messages, uint64_t bytes)
{
    way->messages += messages;
    way->bytes += bytes;
}

/* What one of the two ends says. */
static int flow_add(void *context, uint32_t from, uint32_t to, bool is_received,
                    const viewer_way *flow)
{
    making *m = context;
    known_link *link;

    if (from == to) {
        if (!is_received)
            way_add(&m->traffic->inside, flow->messages, flow->bytes);
        return 0;
    }
    link = link_of(m, from, to);
    if (!link)
        return no_memory();
    way_add(is_received ? &link->received[from > to] : &link->sent[from > to],
            flow->messages, flow->bytes);
    return 0;
}

static viewer_way larger(const viewer_way *a, const viewer_way *b)
{
    return (viewer_way){a->messages > b->messages ? a->messages : b->messages,
                        a->bytes > b->bytes ? a->bytes : b->bytes};
}

static int by_ends(const void *a, const void *b)
{
    const viewer_link *x = a, *y = b;

    if (x->ends[0] != y->ends[0])
        return x->ends[0] < y->ends[0] ? -1 : 1;
    return x->ends[1] < y->ends[1] ? -1 : x->ends[1] > y->ends[1];
}

static int links_settle(making *m)
{
    viewer_traffic *t = m->traffic;

    t->links = calloc(HASH_COUNT(m->links) + 1, sizeof(*t->links));
    if (!t->links)
        return no_memory();
    for (known_link *k = m->links; k; k = k->hh.next) {
        viewer_link *link = &t->links[t->link_count++];
        *link = (viewer_link){.ends = {k->key.ends[0], k->key.ends[1]},
                              .waiting_ns = k->waiting_ns};
        for (int i = 0; i < 2; i++)
            link->ways[i] = larger(&k->sent[i], &k->received[i]);
    }
    qsort(t->links, t->link_count, sizeof(*t->links), by_ends);
    return 0;
}

/* --- messages --- */

static uint32_t process_of(const making *m, uint32_t thread)
{
    const scopes_topology *topology = m->snapshot->topology;

    if (thread >= topology->thread_count ||
        topology->threads[thread] == PATHS_NONE)
        return PATHS_NONE;
    return topology->map->nodes[topology->threads[thread]].process;
}

static int message_add(making *m, const scopes_message_end *end)
{
    uint32_t from = process_of(m, end->key.from);
    uint32_t to = process_of(m, end->key.to);
    viewer_way one = {1, end->bytes};

    m->has_messages = true;
    if (from == PATHS_NONE || to == PATHS_NONE || end->status)
        return 0;
    return flow_add(m, from, to, end->is_received, &one);
}

static int messages_add(making *m)
{
    scopes_messages *messages;
    scopes_message_end end;
    int err = scopes_messages_open(&messages, m->snapshot->run,
                                   m->snapshot->topology);

    if (err)
        return err;
    for (uint32_t i = 0; i < m->snapshot->topology->thread_count; i++)
        while (!err && scopes_messages_next(messages, i, &end))
            err = message_add(m, &end);
    scopes_messages_close(messages);
    return err;
}

/* --- paths --- */

/* Paths are tops of the topology, in the same order, without those that have no
 * collector. */
static int paths_add(making *m, const scopes_communication *view)
{
    const scopes_topology *topology = m->snapshot->topology;
    uint32_t top = 0;
    int err = 0;

    for (size_t i = 0; i < view->path_count && !err; i++) {
        while (top < topology->top_count &&
               topology->tops[top].edge != view->paths[i].edge)
            top++;
        if (top == topology->top_count)
            break;
        err = viewer__uses_add(&m->uses, topology, &topology->tops[top],
                               &view->paths[i]);
    }
    return err ? err
               : viewer__uses_sum(&m->uses, m->traffic, m->has_messages,
                                  flow_add, m);
}

static void threads_add(making *m, const scopes_communication *view)
{
    for (uint32_t i = 0; i < view->thread_count; i++) {
        const scopes_thread *thread = &view->threads[i];
        viewer_place *place;
        if (thread->process >= m->traffic->place_count)
            continue;
        place = &m->traffic->places[thread->process];
        place->communicating_ns =
            viewer__sum_ns(place->communicating_ns, thread->communicating_ns);
        place->computing_ns =
            viewer__sum_ns(place->computing_ns, thread->computing_ns);
    }
}

/* --- waiting --- */

static size_t column_of(const scopes_table *table, const char *key)
{
    size_t column = 0;

    while (strcmp(scopes_table_column(table, column)->key, key) != 0)
        column++;
    return column;
}

static void wait_add(making *m, const scopes_table *table, size_t row)
{
    const paths_map *map = m->traffic->map;
    const char *texts[3];
    static const char *const keys[] = {"process", "for_process", "over"};
    int64_t ns =
        scopes_table_cell(table, row, column_of(table, "total_ns")).integer;
    viewer_site *site;
    known_link *link;
    link_key key;

    for (int i = 0; i < 3; i++)
        texts[i] =
            scopes_table_cell(table, row, column_of(table, keys[i])).text;
    site = viewer__uses_site(&m->uses, m->traffic,
                             paths_map_find_node(map, texts[2]));
    if (site) {
        site->waiting_ns = viewer__sum_ns(site->waiting_ns, ns);
        return;
    }
    key.ends[0] = paths_map_find_process(map, texts[0]);
    key.ends[1] = paths_map_find_process(map, texts[1]);
    if (key.ends[0] > key.ends[1])
        key = (link_key){{key.ends[1], key.ends[0]}};
    HASH_FIND(hh, m->links, &key, sizeof(key), link);
    if (link)
        link->waiting_ns = viewer__sum_ns(link->waiting_ns, ns);
}

static int waits_add(making *m, const scopes_view_input *view_input)
{
    scopes_table *table;
    int err =
        scopes_view_make(&table, scopes_view_find("wait-states"), view_input);

    for (size_t i = 0; !err && i < scopes_table_rows(table); i++)
        wait_add(m, table, i);
    if (!err)
        scopes_table_destroy(table);
    return err;
}

/* --- all --- */

static int by_time(const void *a, const void *b)
{
    const viewer_site *x = a, *y = b;

    if (x->time_ns != y->time_ns)
        return x->time_ns > y->time_ns ? -1 : 1;
    return strcmp(x->name, y->name);
}

static int places_make(viewer_traffic *t)
{
    t->places = calloc((size_t)t->map->process_count + 1, sizeof(*t->places));
    if (!t->places)
        return no_memory();
    t->place_count = t->map->process_count;
    for (uint32_t i = 0; i < t->place_count; i++)
        t->places[i] = (viewer_place){.first = i, .last = i};
    return 0;
}

static int operations_add(making *m)
{
    const scopes_snapshot *s = m->snapshot;
    scopes_communication *view;
    int err =
        scopes_communication_create(&view, s->topology, s->event_table,
                                    s->clocks, s->scheduling, SCOPES_THREADS);

    if (err)
        return err;
    threads_add(m, view);
    err = paths_add(m, view);
    scopes_communication_destroy(view);
    return err;
}

static int fill(making *m)
{
    const scopes_snapshot *s = m->snapshot;
    viewer_traffic *t = m->traffic;
    scopes_view_input view_input = {.map = s->topology->map,
                                    .topology = s->topology,
                                    .event_table = s->event_table,
                                    .clocks = s->clocks,
                                    .pending = s->pending,
                                    .run = s->run,
                                    .scheduling = s->scheduling};
    int err = places_make(t);

    if (!err)
        err = messages_add(m);
    if (!err)
        err = operations_add(m);
    if (!err)
        err = waits_add(m, &view_input);
    if (!err)
        err = links_settle(m);
    if (err)
        return err;
    qsort(t->sites, t->site_count, sizeof(*t->sites), by_time);
    return 0;
}

int viewer__traffic_make(viewer_traffic **out, const scopes_snapshot *snapshot)
{
    making m = {.snapshot = snapshot, .traffic = calloc(1, sizeof(**out))};
    known_link *link, *next;
    int err;

    if (!m.traffic)
        return no_memory();
    m.traffic->map = snapshot->topology->map;
    m.traffic->folded = 1;
    m.traffic->lost = snapshot->event_table->ledger.lost;
    err = fill(&m);
    HASH_ITER(hh, m.links, link, next)
    {
        HASH_DEL(m.links, link);
        free(link);
    }
    viewer__uses_fini(&m.uses);
    if (err)
        viewer__traffic_destroy(m.traffic);
    *out = err ? NULL : m.traffic;
    return err;
}

void viewer__traffic_destroy(viewer_traffic *traffic)
{
    if (!traffic)
        return;
    free(traffic->places);
    free(traffic->links);
    free(traffic->sites);
    free(traffic);
}

/* --- folding --- */

static void places_fold(viewer_traffic *t, uint32_t count)
{
    uint32_t places = 0;

    for (uint32_t i = 0; i < t->place_count; i++) {
        viewer_place *place = &t->places[places - (i % count > 0)];
        if (i % count == 0) {
            t->places[places++] = t->places[i];
            continue;
        }
        place->last = t->places[i].last;
        place->communicating_ns = viewer__sum_ns(place->communicating_ns,
                                                 t->places[i].communicating_ns);
        place->computing_ns =
            viewer__sum_ns(place->computing_ns, t->places[i].computing_ns);
    }
    t->place_count = places;
}

/* Behind the last, or into it: links are in order. */
static void link_fold(viewer_traffic *t, const viewer_link *link)
{
    viewer_link *last = t->link_count ? &t->links[t->link_count - 1] : NULL;

    if (last && by_ends(last, link) == 0) {
        for (int i = 0; i < 2; i++)
            way_add(&last->ways[i], link->ways[i].messages,
                    link->ways[i].bytes);
        last->waiting_ns = viewer__sum_ns(last->waiting_ns, link->waiting_ns);
        return;
    }
    t->links[t->link_count++] = *link;
}

void viewer__traffic_fold(viewer_traffic *t, uint32_t count)
{
    size_t links = t->link_count;

    places_fold(t, count);
    t->folded *= count;
    for (size_t i = 0; i < links; i++)
        for (int j = 0; j < 2; j++)
            t->links[i].ends[j] /= count;
    qsort(t->links, links, sizeof(*t->links), by_ends);
    t->link_count = 0;
    for (size_t i = 0; i < links; i++) {
        viewer_link link = t->links[i];
        if (link.ends[0] != link.ends[1])
            link_fold(t, &link);
        else
            way_add(&t->inside, viewer__link_messages(&link),
                    viewer__link_bytes(&link));
    }
}
