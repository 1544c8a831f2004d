/* measures.c - see measures_internal.h.
 *
 * The view "stages" has a row for each collector, which stands on an edge of
 * the bare map and begins a stage: that is told at the last node of the stage.
 * What passes an edge passes those below it too, as long as nothing joins it
 * and no other collector knows better. */
#include "viewer/draw/measures_internal.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "scopes/views/view.h"

const char *const viewer_measure_names[VIEWER_MEASURES] = {
    "time", "waiting", "traffic", "operations"};

enum { STAGES, COMMUNICATION, WAIT_STATES, PERFORMANCE, VIEWS };

static const char *const view_names[VIEWS] = {"stages", "communication",
                                              "wait-states", "performance"};

typedef struct measuring {
    viewer__measures *measures;
    const paths_map *map; /* the bare one */
    const scopes_topology *topology;
    uint32_t *edge_of; /* by node of the whole map: the edge of the bare one on
                          which this collector stands; PATHS_NONE */
    uint32_t *top_of;  /* by node of the bare map: the first top of a thread */
    scopes_table *tables[VIEWS];
} measuring;

static int no_memory(void)
{
    return pastset_no_memory("for a picture of the run");
}

/* --- rows --- */

static scopes_cell cell(const scopes_table *table, size_t row, const char *key)
{
    size_t column = 0;

    while (strcmp(scopes_table_column(table, column)->key, key) != 0)
        column++;
    return scopes_table_cell(table, row, column);
}

/* A node of the bare map by its name; PATHS_NONE. */
static uint32_t node_named(const measuring *m, const char *name)
{
    return paths_map_find_node(m->map, name);
}

/* What is not known is nothing beside what is. */
static void add(viewer__figures *figures, viewer_measure measure, int64_t value)
{
    int64_t *sum = &figures->of[measure];

    if (value == SCOPES_BLANK)
        return;
    if (*sum == VIEWER__UNKNOWN)
        *sum = value;
    else if (__builtin_add_overflow(*sum, value, sum))
        *sum = INT64_MAX;
}

/* --- stages --- */

/* The edge below a node on which nothing else is known than what comes to it;
 * PATHS_NONE. */
static uint32_t edge_below(const measuring *m, uint32_t node)
{
    const paths_map_node *n = &m->map->nodes[node];
    uint32_t edge;

    if (n->kind != PATHS_WRAPPER || n->out_count != 1)
        return PATHS_NONE;
    edge = n->out[0];
    return m->measures->bare.collectors[edge] == PATHS_NONE ? edge : PATHS_NONE;
}

/* Ends where another way joins, or in a circle. */
static void pass_on(const measuring *m, uint32_t edge, viewer_measure measure,
                    int64_t value)
{
    for (uint32_t i = 0; edge != PATHS_NONE && i < PATHS_PATH_NODES; i++) {
        uint32_t to = m->map->edges[edge].to;
        add(&m->measures->edges[edge], measure, value);
        edge = m->map->nodes[to].in_count == 1 ? edge_below(m, to) : PATHS_NONE;
    }
}

static uint32_t stage_end(const measuring *m, uint32_t edge)
{
    uint32_t node = m->map->edges[edge].to;

    for (uint32_t i = 0; i < PATHS_PATH_NODES; i++) {
        uint32_t next = edge_below(m, node);
        if (next == PATHS_NONE)
            break;
        node = m->map->edges[next].to;
    }
    return node;
}

static void stage_add(const measuring *m, size_t row)
{
    const scopes_table *table = m->tables[STAGES];
    uint32_t collector = paths_map_find_node(
        m->measures->bare.whole, cell(table, row, "collector").text);
    uint32_t edge =
        collector == PATHS_NONE ? PATHS_NONE : m->edge_of[collector];

    if (edge == PATHS_NONE)
        return;
    pass_on(m, edge, VIEWER_BY_TIME, cell(table, row, "passing_ns").integer);
    pass_on(m, edge, VIEWER_BY_TRAFFIC, cell(table, row, "bytes").integer);
    pass_on(m, edge, VIEWER_BY_OPERATIONS,
            cell(table, row, "operations").integer);
    add(&m->measures->nodes[stage_end(m, edge)], VIEWER_BY_TIME,
        cell(table, row, "total_ns").integer);
}

/* Of a thread what its edges have, of anything else those that lead to it. */
static void edges_sum(const measuring *m)
{
    for (uint32_t i = 0; i < m->map->edge_count; i++) {
        const paths_map_edge *edge = &m->map->edges[i];
        const int64_t *of = m->measures->edges[i].of;
        for (viewer_measure by = VIEWER_BY_TRAFFIC; by < VIEWER_MEASURES;
             by++) {
            if (of[by] == VIEWER__UNKNOWN)
                continue;
            add(&m->measures->nodes[edge->to], by, of[by]);
            if (m->map->nodes[edge->from].kind == PATHS_THREAD)
                add(&m->measures->nodes[edge->from], by, of[by]);
        }
    }
}

/* --- threads, waiting and collectives --- */

static void thread_add(const measuring *m, size_t row)
{
    const scopes_table *table = m->tables[COMMUNICATION];
    uint32_t node = node_named(m, cell(table, row, "thread").text);

    if (node != PATHS_NONE)
        add(&m->measures->nodes[node], VIEWER_BY_TIME,
            cell(table, row, "communicating_ns").integer);
}

/* The edge by which a path of a thread begins. Tops are by thread. */
static uint32_t path_named(const measuring *m, uint32_t node, const char *path)
{
    const scopes_topology *topology = m->topology;
    uint32_t first = m->top_of[node];

    for (uint32_t i = first;
         i < topology->top_count &&
         topology->tops[i].thread == topology->tops[first].thread;
         i++)
        if (strcmp(topology->tops[i].name, path) == 0)
            return m->measures->bare.edges[topology->tops[i].edge];
    return PATHS_NONE;
}

static void wait_add(const measuring *m, size_t row)
{
    const scopes_table *table = m->tables[WAIT_STATES];
    int64_t ns = cell(table, row, "total_ns").integer;
    uint32_t node = node_named(m, cell(table, row, "thread").text);
    uint32_t over = node_named(m, cell(table, row, "over").text);

    if (over != PATHS_NONE)
        add(&m->measures->nodes[over], VIEWER_BY_WAITING, ns);
    if (node == PATHS_NONE)
        return;
    add(&m->measures->nodes[node], VIEWER_BY_WAITING, ns);
    pass_on(m, path_named(m, node, cell(table, row, "call").text),
            VIEWER_BY_WAITING, ns);
}

/* Who does not wait is in no row: it waited 0. */
static void waiting_begin(const measuring *m)
{
    const scopes_topology *topology = m->topology;

    for (uint32_t i = 0; i < topology->top_count; i++) {
        const scopes_top *top = &topology->tops[i];
        uint32_t edge = m->measures->bare.edges[top->edge];
        if (top->collector == PATHS_NONE || edge == PATHS_NONE)
            continue;
        pass_on(m, edge, VIEWER_BY_WAITING, 0);
        add(&m->measures->nodes[m->map->edges[edge].from], VIEWER_BY_WAITING,
            0);
        if (top->element != PATHS_NONE)
            add(&m->measures->nodes[m->measures->bare.nodes[top->element]],
                VIEWER_BY_WAITING, 0);
    }
}

static void collective_add(const measuring *m, size_t row)
{
    const scopes_table *table = m->tables[PERFORMANCE];
    uint32_t node = node_named(m, cell(table, row, "wrapper").text);

    if (node != PATHS_NONE &&
        strcmp(cell(table, row, "phase").text, "arriving") == 0)
        add(&m->measures->nodes[node], VIEWER_BY_WAITING,
            cell(table, row, "total_ns").integer);
}

/* --- all --- */

static int views_make(measuring *m, const scopes_snapshot *s)
{
    const scopes_view *views[VIEWS];
    scopes_view_input view_input = {.map = s->topology->map,
                                    .topology = s->topology,
                                    .event_table = s->event_table,
                                    .clocks = s->clocks,
                                    .pending = s->pending,
                                    .run = s->run,
                                    .scheduling = s->scheduling};

    for (int i = 0; i < VIEWS; i++)
        views[i] = scopes_view_find(view_names[i]);
    return scopes_views_make(m->tables, views, VIEWS, &view_input);
}

static void each_row(const measuring *m, int view,
                     void (*take)(const measuring *, size_t))
{
    for (size_t i = 0; i < scopes_table_rows(m->tables[view]); i++)
        take(m, i);
}

static void fill(const measuring *m)
{
    each_row(m, STAGES, stage_add);
    edges_sum(m);
    each_row(m, COMMUNICATION, thread_add);
    waiting_begin(m);
    each_row(m, WAIT_STATES, wait_add);
    each_row(m, PERFORMANCE, collective_add);
}

static viewer__figures *unknown(uint32_t count)
{
    viewer__figures *list = malloc(((size_t)count + 1) * sizeof(*list));

    for (uint32_t i = 0; list && i < count; i++)
        for (int k = 0; k < VIEWER_MEASURES; k++)
            list[i].of[k] = VIEWER__UNKNOWN;
    return list;
}

static void tops_find(const measuring *m)
{
    const scopes_topology *topology = m->topology;

    for (uint32_t i = 0; i < m->map->node_count; i++)
        m->top_of[i] = topology->top_count;
    for (uint32_t i = topology->top_count; i-- > 0;) {
        uint32_t thread = topology->threads[topology->tops[i].thread];
        m->top_of[m->measures->bare.nodes[thread]] = i;
    }
}

static int arrays_make(measuring *m)
{
    viewer__measures *measures = m->measures;
    const viewer__bare *bare = &measures->bare;

    measures->nodes = unknown(m->map->node_count);
    measures->edges = unknown(m->map->edge_count);
    m->edge_of =
        malloc(((size_t)bare->whole->node_count + 1) * sizeof(*m->edge_of));
    m->top_of = malloc(((size_t)m->map->node_count + 1) * sizeof(*m->top_of));
    if (!measures->nodes || !measures->edges || !m->edge_of || !m->top_of)
        return no_memory();
    for (uint32_t i = 0; i < bare->whole->node_count; i++)
        m->edge_of[i] = PATHS_NONE;
    /* One that stands on several edges does not tell them apart. */
    for (uint32_t i = 0; i < m->map->edge_count; i++)
        if (bare->collectors[i] != PATHS_NONE &&
            bare->whole->nodes[bare->collectors[i]].in_count == 1)
            m->edge_of[bare->collectors[i]] = i;
    tops_find(m);
    return 0;
}

int viewer__measures_make(viewer__measures *out,
                          const scopes_snapshot *snapshot)
{
    measuring m = {.measures = out, .topology = snapshot->topology};
    int err;

    *out = (viewer__measures){0};
    err = viewer__bare_init(&out->bare, snapshot->topology->map);
    if (err)
        return err;
    m.map = out->bare.map;
    err = arrays_make(&m);
    if (!err)
        err = views_make(&m, snapshot);
    if (!err) {
        fill(&m);
        for (int i = 0; i < VIEWS; i++)
            scopes_table_destroy(m.tables[i]);
    }
    free(m.edge_of);
    free(m.top_of);
    if (err)
        viewer__measures_fini(out);
    return err;
}

void viewer__measures_fini(viewer__measures *measures)
{
    viewer__bare_fini(&measures->bare);
    free(measures->nodes);
    free(measures->edges);
    *measures = (viewer__measures){0};
}

/* --- of what is folded --- */

static void range_add(viewer__range *range, int64_t value, uint32_t who)
{
    if (value == VIEWER__UNKNOWN)
        return;
    if (range->known == 0 || value > range->max) {
        range->max = value;
        range->most = who;
    }
    if (range->known == 0 || value < range->min)
        range->min = value;
    if (__builtin_add_overflow(range->total, value, &range->total))
        range->total = INT64_MAX;
    range->known++;
}

viewer__ranges *viewer__ranges_of(const viewer__figures *figures,
                                  uint32_t count, const uint32_t *groups,
                                  uint32_t group_count)
{
    viewer__ranges *ranges = calloc((size_t)group_count + 1, sizeof(*ranges));

    for (uint32_t i = 0; ranges && i < count; i++)
        for (int k = 0; k < VIEWER_MEASURES; k++)
            range_add(&ranges[groups[i]].of[k], figures[i].of[k], i);
    return ranges;
}
