/* generate_way.c - nodes of a generated map, and the way from one to the next.
 *
 * What stands on it depends on the two processes alone: nothing where they are
 * one, otherwise a proxy on the process that is left, and a delay before it
 * where the link between the two is to be simulated. Where they do not reach
 * each other it leads over the processes between. */
#include "paths/generate/generate_internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "paths/map/map_internal.h"
#include "paths/map/networks_internal.h"
#include "pastset/status.h"
#include "paths/map/map.h"

/* --- nodes --- */

int paths__generate_node(paths__generator *g, uint32_t process,
                         const char *kind, const char *name, unsigned line,
                         uint32_t *out)
{
    *out = paths_map_add_node(g->map, process, kind, name);
    if (*out != PATHS_NONE)
        return 0;
    if (paths_map_find_node(g->map, name) == PATHS_NONE)
        return paths__generate_no_memory();
    return paths__fail_at(g->application, line, name,
                          "this name is needed for two nodes of the path map: "
                          "give each path of a thread another as=NAME, or "
                          "rename the thread or element");
}

int paths__generate_wrapper(paths__generator *g, uint32_t process,
                            const char *kind, const char *name, unsigned line,
                            uint32_t *out)
{
    int err = paths__generate_node(g, process, kind, name, line, out);

    if (err)
        return err;
    return paths_attributes_set(&g->map->nodes[*out].attributes, "label", kind);
}

/* --- ways --- */

typedef struct way {
    paths__generator *g;
    const paths_map_edge *use; /* begins at a thread: what it does; or NULL */
    const char *name;          /* of the node where it begins */
    const char *between;       /* the process on the way; NULL: it begins */
    uint32_t last;             /* node that it has come to */
    bool begun;
} way;

/* The edge that leaves a thread carries the attributes of the use. */
static int step(way *w, uint32_t to)
{
    paths_map *map = w->g->map;
    uint32_t edge = paths_map_add_edge(map, w->last, to);
    bool first = !w->begun;

    if (edge == PATHS_NONE)
        return paths__generate_no_memory();
    w->last = to;
    w->begun = true;
    if (!first || !w->use)
        return 0;
    return paths_attributes_copy(&map->edges[edge].attributes,
                                 &w->use->attributes);
}

/* "<thread>.<as>.<kind>", or "<wrapper>.<kind>"; behind that, of one on the
 * way, ".<process>". */
static char *name_stage(const way *w, const char *kind)
{
    const char *as = NULL;
    char *name;
    int length;

    if (w->use) {
        as = paths_attributes_get(&w->use->attributes, "as");
        if (!as)
            as = w->g->application->nodes[w->use->to].name;
    }
    length =
        asprintf(&name, "%s%s%s.%s%s%s", w->name, as ? "." : "", as ? as : "",
                 kind, w->between ? "." : "", w->between ? w->between : "");
    return length < 0 ? NULL : name;
}

static int add_stage(way *w, uint32_t process, const char *kind)
{
    char *name = name_stage(w, kind);
    uint32_t node;
    int err;

    if (!name)
        return paths__generate_no_memory();
    err = paths__generate_wrapper(w->g, process, kind, name,
                                  w->use ? w->use->line : 0, &node);
    free(name);
    return err ? err : step(w, node);
}

static int add_delay(way *w, uint32_t process, const paths_map_edge *link)
{
    static const char *const keys[] = {"latency", "bandwidth"};
    int err = add_stage(w, process, "delay");

    for (size_t i = 0; i < 2 && !err; i++) {
        const char *value = paths_attributes_get(&link->attributes, keys[i]);
        if (value)
            err = paths_attributes_set(&w->g->map->nodes[w->last].attributes,
                                       keys[i], value);
    }
    return err;
}

/* From one process to the next one. Names of the first are "...proxy", of those
 * on the way "...proxy.<process>". */
static int cross(way *w, uint32_t here, uint32_t next)
{
    const paths_map_edge *link = paths__generate_link(w->g, here, next);
    int err = 0;

    w->between = w->begun ? w->g->map->processes[here].name : NULL;
    if (link)
        err = add_delay(w, here, link);
    return err ? err : add_stage(w, here, "proxy");
}

int paths__generate_way(paths__generator *g, uint32_t from,
                        const paths_map_edge *use, uint32_t to)
{
    uint32_t here = g->map->nodes[from].process,
             there = g->map->nodes[to].process;
    way w = {g, use, g->map->nodes[from].name, NULL, from, false};
    int err = 0;

    while (here != there && !err) {
        uint32_t next = paths__networks_next(g->networks, here, there);
        if (next == PATHS_NONE)
            return pastset_fail(PASTSET_EMAP,
                                "there is no way from process %s to process "
                                "%s: no process between is in networks of both",
                                g->map->processes[here].name,
                                g->map->processes[there].name);
        err = cross(&w, here, next);
        here = next;
    }
    return err ? err : step(&w, to);
}
