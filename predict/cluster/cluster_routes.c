/* cluster_routes.c - the ways between the machines of a cluster.
 *
 * Two machines with a link between them use that link: it is what was measured
 * between these two. All others go over switches, on the route of least
 * latency, then of fewest links, then of most bandwidth: Dijkstra's algorithm
 * from each machine, with a heap. Machines do not forward, so that a search
 * only looks at the links of the one machine and those of switches. Latencies
 * are whole nanoseconds: equal ones are equal.
 *
 * Flows choose no way, but each way has one: what its narrowest link lets
 * through. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "predict/cluster/cluster_internal.h"
#include "predict/profile/profile.h"

#define BURST_MAX 1e15 /* bytes */

/* Of a link, or of the links of a route one after another. */
typedef struct narrow {
    double rate;  /* of the narrowest link: its rate, else its B; bytes/s */
    double burst; /* of that link, bytes */
    double alone_ns;
    bool known; /* that link has a flow; else this is only for comparing */
} narrow;

/* One direction of a link. */
typedef struct way {
    uint32_t from, to;
    uint64_t latency_ns;
    uint64_t bandwidth; /* bytes per second */
    narrow narrow;
    uint32_t link; /* which is of both directions */
} way;

/* How far a node is from where the search began. */
typedef struct distance {
    uint64_t latency_ns;
    uint64_t bandwidth; /* 0: not reached */
    uint32_t links;
    uint32_t last; /* the link by which it is reached */
    bool done;
    narrow narrow;
} distance;

typedef struct entry {
    distance d;
    uint32_t node;
} entry;

typedef struct search {
    const paths_map *map;
    const uint32_t *machines;
    way *ways;       /* by `from` */
    uint32_t *begin; /* of each node's ways; one more at the end */
    uint32_t way_count;
    bool flows;          /* some link has one */
    distance *distances; /* by node */
    entry *heap;
    size_t heap_count; /* at most one for each way, and the first */
} search;

static uint64_t min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static int no_memory(void)
{
    return pastset_no_memory("for the ways of a cluster");
}

/* --- links --- */

/* "link a -> b", for diagnostics. */
static int link_fail(const paths_map *map, const paths_map_edge *edge,
                     const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static int link_fail(const paths_map *map, const paths_map_edge *edge,
                     const char *format, ...)
{
    char name[220], text[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    snprintf(name, sizeof(name), "link %.90s -> %.90s",
             map->nodes[edge->from].name, map->nodes[edge->to].name);
    return predict__cluster_fail(map, edge->line, name, "%s", text);
}

/* What is not there is left as it is. */
static int link_value(const paths_map *map, const paths_map_edge *edge,
                      const char *key, uint64_t *out,
                      int (*parse)(const char *, uint64_t *))
{
    const char *text = paths_attributes_get(&edge->attributes, key);
    char why[256];

    if (!text || parse(text, out) == 0)
        return 0;
    snprintf(why, sizeof(why), "%s", pastset_error());
    return link_fail(map, edge, "%s: %s", key, why);
}

static int link_need(const paths_map *map, const paths_map_edge *edge,
                     const char *key)
{
    if (paths_attributes_get(&edge->attributes, key))
        return 0;
    return link_fail(map, edge,
                     "has no %s: write one, or let `eventspace load` measure "
                     "it",
                     key);
}

/* Bytes; a fraction is allowed, as it may be measured. */
static int link_burst(const paths_map *map, const paths_map_edge *edge,
                      double *out)
{
    const char *text = paths_attributes_get(&edge->attributes, "burst");

    if (!text || (paths_parse_real(text, out) == 0 && *out <= BURST_MAX))
        return 0;
    return link_fail(map, edge,
                     "burst=\"%.60s\" is not a number of bytes from 0 to %g",
                     text, BURST_MAX);
}

static int flow_without_rate(const paths_map *map, const paths_map_edge *edge)
{
    static const char *const keys[] = {"burst", "alone"};

    for (int i = 0; i < 2; i++) {
        if (paths_attributes_get(&edge->attributes, keys[i]))
            return link_fail(map, edge, "has %s but no rate, which it requires",
                             keys[i]);
    }
    return 0;
}

static int flow_read(const paths_map *map, const paths_map_edge *edge, way *out)
{
    uint64_t rate = 0, alone_ns = out->latency_ns;
    int err;

    out->narrow = (narrow){.rate = (double)out->bandwidth,
                           .alone_ns = (double)out->latency_ns};
    if (!paths_attributes_get(&edge->attributes, "rate"))
        return flow_without_rate(map, edge);
    err = link_value(map, edge, "rate", &rate, paths_parse_rate);
    if (err)
        return err;
    err = link_value(map, edge, "alone", &alone_ns, paths_parse_duration);
    if (err)
        return err;
    err = link_burst(map, edge, &out->narrow.burst);
    if (err)
        return err;
    if (rate == 0)
        return link_fail(map, edge,
                         "rate is zero: take the link out if nothing gets "
                         "through");
    out->narrow.rate = (double)rate;
    out->narrow.alone_ns = (double)alone_ns;
    out->narrow.known = true;
    return 0;
}

static int link_read(const paths_map *map, const paths_map_edge *edge, way *out)
{
    int err = link_need(map, edge, "latency");

    out->from = edge->from;
    out->to = edge->to;
    if (err)
        return err;
    err = link_value(map, edge, "latency", &out->latency_ns,
                     paths_parse_duration);
    if (err)
        return err;
    err = link_need(map, edge, "bandwidth");
    if (err)
        return err;
    err = link_value(map, edge, "bandwidth", &out->bandwidth, paths_parse_rate);
    if (err)
        return err;
    if (out->bandwidth == 0)
        return link_fail(map, edge,
                         "bandwidth is zero: take the link out if nothing gets "
                         "through");
    return flow_read(map, edge, out);
}

static bool is_narrower(const narrow *a, const narrow *b)
{
    if (a->rate != b->rate)
        return a->rate < b->rate;
    return a->burst < b->burst;
}

/* Flows decide last, so that it does not depend on how qsort orders equals. */
static bool is_better(const way *a, const way *b)
{
    if (a->latency_ns != b->latency_ns)
        return a->latency_ns < b->latency_ns;
    if (a->bandwidth != b->bandwidth)
        return a->bandwidth > b->bandwidth;
    if (is_narrower(&a->narrow, &b->narrow) ||
        is_narrower(&b->narrow, &a->narrow))
        return is_narrower(&b->narrow, &a->narrow);
    if (a->narrow.alone_ns != b->narrow.alone_ns)
        return a->narrow.alone_ns < b->narrow.alone_ns;
    return a->narrow.known > b->narrow.known;
}

static int compare_ways(const void *a, const void *b)
{
    const way *x = a, *y = b;

    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return is_better(x, y) ? -1 : is_better(y, x);
}

/* Of links between the same two in the same direction the best one counts. */
static uint32_t keep_best(way *ways, uint32_t count)
{
    uint32_t kept = 0;

    if (count)
        qsort(ways, count, sizeof(*ways), compare_ways);
    for (uint32_t i = 0; i < count; i++) {
        if (kept == 0 || ways[kept - 1].from != ways[i].from ||
            ways[kept - 1].to != ways[i].to)
            ways[kept++] = ways[i];
    }
    return kept;
}

static const way *find_way(const way *ways, uint32_t count, uint32_t from,
                           uint32_t to)
{
    uint32_t low = 0, high = count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const way *w = &ways[middle];
        if (w->from == from && w->to == to)
            return w;
        if (w->from < from || (w->from == from && w->to < to))
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* Reads the links. Each is of both directions unless there is one for the
 * other. */
static int links_read(search *s)
{
    const paths_map *map = s->map;
    uint32_t count = 0, there;
    int err = 0;

    for (uint32_t i = 0; i < map->edge_count && !err; i++) {
        if (map->edges[i].from != map->edges[i].to)
            err = link_read(map, &map->edges[i], &s->ways[count++]);
    }
    for (uint32_t i = 0; i < count && !err; i++)
        s->flows |= s->ways[i].narrow.known;
    if (err)
        return err;
    there = count = keep_best(s->ways, count);
    for (uint32_t i = 0; i < there; i++) {
        way back = s->ways[i];
        back.from = s->ways[i].to;
        back.to = s->ways[i].from;
        if (!find_way(s->ways, there, back.from, back.to))
            s->ways[count++] = back;
    }
    s->way_count = keep_best(s->ways, count);
    for (uint32_t i = 0; i < s->way_count; i++)
        s->begin[s->ways[i].from + 1]++;
    for (uint32_t i = 0; i < map->node_count; i++)
        s->begin[i + 1] += s->begin[i];
    return 0;
}

/* Once there is a way in both directions of each. */
static int links_number(search *s, predict_cluster *cluster)
{
    cluster->links = calloc(s->way_count / 2 + 1, sizeof(*cluster->links));
    if (!cluster->links)
        return no_memory();
    for (uint32_t i = 0; i < s->way_count; i++) {
        way *w = &s->ways[i];
        const way *back = find_way(s->ways, s->way_count, w->to, w->from);
        if (w->from > w->to) {
            w->link = back->link;
            continue;
        }
        w->link = cluster->link_count++;
        cluster->links[w->link] = (predict_cable){
            w->from, w->to, (double)min(w->bandwidth, back->bandwidth)};
    }
    return 0;
}

/* --- the search --- */

static bool is_nearer(const distance *a, const distance *b)
{
    if (!a->bandwidth || !b->bandwidth)
        return a->bandwidth > b->bandwidth;
    if (a->latency_ns != b->latency_ns)
        return a->latency_ns < b->latency_ns;
    if (a->links != b->links)
        return a->links < b->links;
    return a->bandwidth > b->bandwidth;
}

static void push(search *s, entry e)
{
    size_t at = s->heap_count++;

    while (at && is_nearer(&e.d, &s->heap[(at - 1) / 2].d)) {
        s->heap[at] = s->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    s->heap[at] = e;
}

static entry pop(search *s)
{
    entry top = s->heap[0], last = s->heap[--s->heap_count];
    size_t at = 0, child;

    while ((child = 2 * at + 1) < s->heap_count) {
        if (child + 1 < s->heap_count &&
            is_nearer(&s->heap[child + 1].d, &s->heap[child].d))
            child++;
        if (!is_nearer(&s->heap[child].d, &last.d))
            break;
        s->heap[at] = s->heap[child];
        at = child;
    }
    s->heap[at] = last;
    return top;
}

static narrow one_after(const narrow *before, const way *w)
{
    narrow n = is_narrower(&w->narrow, before) ? w->narrow : *before;

    n.alone_ns = before->alone_ns + w->narrow.alone_ns;
    return n;
}

static void look_from(search *s, uint32_t node)
{
    const distance *here = &s->distances[node];

    for (uint32_t i = s->begin[node]; i < s->begin[node + 1]; i++) {
        const way *w = &s->ways[i];
        distance d = {.links = here->links + 1,
                      .last = w->link,
                      .bandwidth = min(here->bandwidth, w->bandwidth),
                      .narrow = one_after(&here->narrow, w)};
        /* So long a way is none: it must not become a short one. */
        if (s->distances[w->to].done ||
            __builtin_add_overflow(here->latency_ns, w->latency_ns,
                                   &d.latency_ns))
            continue;
        if (!is_nearer(&d, &s->distances[w->to]))
            continue;
        s->distances[w->to] = d;
        if (s->machines[w->to] == PREDICT_NONE) /* machines do not forward */
            push(s, (entry){d, w->to});
    }
}

static void run(search *s, uint32_t from)
{
    memset(s->distances, 0, s->map->node_count * sizeof(*s->distances));
    s->distances[from].bandwidth = UINT64_MAX;
    s->distances[from].narrow.rate = INFINITY; /* anything is narrower */
    s->heap_count = 0;
    push(s, (entry){s->distances[from], from});
    while (s->heap_count) {
        entry e = pop(s);
        if (s->distances[e.node].done)
            continue; /* a shorter way was found later, and popped before */
        s->distances[e.node].done = true;
        look_from(s, e.node);
    }
}

static void set_way(predict_cluster *cluster, size_t at, uint64_t latency_ns,
                    uint64_t bandwidth, const narrow *n)
{
    cluster->wires[at] =
        (predict_wire){(double)latency_ns / 1e9, (double)bandwidth};
    if (cluster->flows && n->known)
        cluster->flows[at] =
            (predict_flow){n->rate, n->burst, n->alone_ns / 1e9};
    else if (cluster->flows)
        cluster->flows[at] = (predict_flow){0, 0, 0};
}

static void set_ways(search *s, uint32_t from, predict_cluster *cluster)
{
    size_t row = (size_t)s->machines[from] * cluster->machine_count;
    uint32_t *last =
        &cluster->last_links[(size_t)s->machines[from] * s->map->node_count];

    for (uint32_t i = 0; i < s->map->node_count; i++) {
        const distance *d = &s->distances[i];
        last[i] = i != from && d->bandwidth ? d->last : PREDICT_NONE;
        if (s->machines[i] != PREDICT_NONE && i != from && d->bandwidth)
            set_way(cluster, row + s->machines[i], d->latency_ns, d->bandwidth,
                    &d->narrow);
    }
    for (uint32_t i = s->begin[from]; i < s->begin[from + 1]; i++) {
        const way *w = &s->ways[i];
        if (s->machines[w->to] == PREDICT_NONE)
            continue;
        last[w->to] = w->link;
        set_way(cluster, row + s->machines[w->to], w->latency_ns, w->bandwidth,
                &w->narrow);
    }
}

static int nodes_name(const search *s, predict_cluster *cluster)
{
    uint32_t count = s->map->node_count;

    cluster->nodes = calloc(count, sizeof(*cluster->nodes));
    cluster->node_of =
        calloc(cluster->machine_count, sizeof(*cluster->node_of));
    cluster->last_links = calloc((size_t)cluster->machine_count * count,
                                 sizeof(*cluster->last_links));
    if (!cluster->nodes || !cluster->node_of || !cluster->last_links)
        return no_memory();
    cluster->node_count = count;
    for (uint32_t i = 0; i < count; i++) {
        cluster->nodes[i] = strdup(s->map->nodes[i].name);
        if (!cluster->nodes[i])
            return no_memory();
        if (s->machines[i] != PREDICT_NONE)
            cluster->node_of[s->machines[i]] = i;
    }
    return 0;
}

static int search_all(search *s, predict_cluster *cluster)
{
    size_t count = cluster->machine_count;
    int err = links_read(s);

    if (!err)
        err = links_number(s, cluster);
    if (!err)
        err = nodes_name(s, cluster);
    if (!err && s->flows) {
        cluster->flows = calloc(count * count, sizeof(*cluster->flows));
        if (!cluster->flows)
            err = no_memory();
    }
    for (uint32_t i = 0; i < s->map->node_count && !err; i++) {
        if (s->machines[i] == PREDICT_NONE)
            continue;
        run(s, i);
        set_ways(s, i, cluster);
    }
    return err;
}

int predict__cluster_routes(predict_cluster *cluster, const paths_map *map,
                            const uint32_t *machines)
{
    search s = {.map = map, .machines = machines};
    size_t ways = 2 * (size_t)map->edge_count + 1;
    int err;

    s.ways = calloc(ways, sizeof(*s.ways));
    s.begin = calloc((size_t)map->node_count + 1, sizeof(*s.begin));
    s.distances = calloc(map->node_count, sizeof(*s.distances));
    s.heap = calloc(ways, sizeof(*s.heap));
    if (!s.ways || !s.begin || !s.distances || !s.heap)
        err = no_memory();
    else
        err = search_all(&s, cluster);
    free(s.ways);
    free(s.begin);
    free(s.distances);
    free(s.heap);
    return err;
}
