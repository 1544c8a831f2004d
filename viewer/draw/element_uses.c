/* element_uses.c - see element_uses_internal.h.
 *
 * An element with one process that writes it, or one that reads it, is a way
 * from the former to the latter: what each reader has read, or each writer has
 * written. One that several processes write and several read does not say who
 * got whose tuples; it is a site, like a collective. */
#include "viewer/draw/element_uses_internal.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/array.h"
#include "pastset/status.h"

static int no_memory(void)
{
    return pastset_no_memory("for a picture of the run");
}

int viewer__uses_add(viewer__uses *uses, const scopes_topology *topology,
                     const scopes_top *top, const scopes_path *path)
{
    const paths_map *map = topology->map;
    const char *use =
        paths_attributes_get(&map->edges[top->edge].attributes, "use");
    uint32_t thread = topology->threads[top->thread];
    viewer__use *items;

    if (top->element == PATHS_NONE || path->operations == 0 ||
        map->nodes[thread].process == PATHS_NONE)
        return 0;
    items = pastset_array_grow(uses->items, uses->count, sizeof(*items));
    if (!items)
        return no_memory();
    uses->items = items;
    items[uses->count++] =
        (viewer__use){.element = top->element,
                      .process = map->nodes[thread].process,
                      .is_joint = top->site != PATHS_NONE,
                      .writes = !use || strcmp(use, "read") != 0,
                      .reads = !use || strcmp(use, "write") != 0,
                      .way = {path->operations, path->bytes},
                      .time_ns = path->total_ns};
    return 0;
}

static int by_element(const void *a, const void *b)
{
    const viewer__use *x = a, *y = b;

    if (x->element != y->element)
        return x->element < y->element ? -1 : 1;
    return x->process < y->process ? -1 : x->process > y->process;
}

/* What uses one element. */
typedef struct group {
    const viewer__use *items;
    size_t count;
    uint32_t processes, writers, readers; /* processes */
    uint32_t writer, reader;              /* the last of each */
    bool is_joint;
} group;

static group group_of(const viewer__use *items, size_t count)
{
    group g = {.items = items, .writer = PATHS_NONE, .reader = PATHS_NONE};

    for (size_t i = 0; i < count && items[i].element == items->element; i++) {
        const viewer__use *use = &items[i];
        g.count++;
        g.processes += i == 0 || use->process != use[-1].process;
        g.is_joint |= use->is_joint;
        g.writers += use->writes && use->process != g.writer;
        g.readers += use->reads && use->process != g.reader;
        g.writer = use->writes ? use->process : g.writer;
        g.reader = use->reads ? use->process : g.reader;
    }
    return g;
}

/* As those who made the map say: see docs/internals/runs.md. */
static bool says_so(const paths_map_node *element)
{
    return paths_node_get(element, "rounds") ||
           paths_node_get(element, "collective") ||
           paths_node_get(element, "members");
}

static int site_add(viewer__uses *uses, viewer_traffic *t, const group *g)
{
    viewer_site *sites =
        pastset_array_grow(t->sites, t->site_count, sizeof(*sites));
    viewer_site *site;

    if (!sites)
        return no_memory();
    t->sites = sites;
    site = &sites[t->site_count++];
    *site = (viewer_site){.name = t->map->nodes[g->items->element].name,
                          .processes = g->processes};
    for (size_t i = 0; i < g->count; i++) {
        const viewer__use *use = &g->items[i];
        site->bytes += use->way.bytes;
        site->time_ns = viewer__sum_ns(site->time_ns, use->time_ns);
        if (use->way.messages > site->rounds)
            site->rounds = use->way.messages;
    }
    uses->site_of[g->items->element] = (uint32_t)t->site_count;
    return 0;
}

static int flows_tell(const group *g, viewer__flow_each *each, void *context)
{
    int err = 0;

    for (size_t i = 0; i < g->count && !err; i++) {
        const viewer__use *use = &g->items[i];
        if (use->writes && g->readers == 1)
            err = each(context, use->process, g->reader, false, &use->way);
        if (use->reads && g->writers == 1 && !err)
            err = each(context, g->writer, use->process, true, &use->way);
    }
    return err;
}

int viewer__uses_sum(viewer__uses *uses, viewer_traffic *traffic,
                     bool only_sites, viewer__flow_each *each, void *context)
{
    int err = 0;

    uses->site_of =
        calloc((size_t)traffic->map->node_count + 1, sizeof(*uses->site_of));
    if (!uses->site_of)
        return no_memory();
    if (uses->count > 0)
        qsort(uses->items, uses->count, sizeof(*uses->items), by_element);
    for (size_t i = 0; i < uses->count && !err;) {
        group g = group_of(&uses->items[i], uses->count - i);
        bool is_site =
            g.is_joint || says_so(&traffic->map->nodes[g.items->element]);
        i += g.count;
        if (g.processes < 2)
            continue;
        if (is_site || (!only_sites && g.writers > 1 && g.readers > 1))
            err = site_add(uses, traffic, &g);
        else if (!only_sites)
            err = flows_tell(&g, each, context);
    }
    return err;
}

viewer_site *viewer__uses_site(const viewer__uses *uses,
                               viewer_traffic *traffic, uint32_t element)
{
    uint32_t site =
        element == PATHS_NONE || !uses->site_of ? 0 : uses->site_of[element];

    return site ? &traffic->sites[site - 1] : NULL;
}

void viewer__uses_fini(viewer__uses *uses)
{
    free(uses->items);
    free(uses->site_of);
}
