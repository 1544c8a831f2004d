/* call_sorts.c - which calls of different threads are alike: see
 * gaps_internal.h. */
#include "scopes/losses/gaps_internal.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/request.h"

#define COMMON 3 /* threads that know paths by one name */

typedef struct naming {
    const scopes_topology *topology;
    uint32_t *order; /* tops by name */
} naming;

static int by_name(const void *left, const void *right, void *context)
{
    const scopes_topology *topology = ((const naming *)context)->topology;
    const scopes_top *a = &topology->tops[*(const uint32_t *)left];
    const scopes_top *b = &topology->tops[*(const uint32_t *)right];
    int order = strcmp(a->name, b->name);

    return order ? order : (a->thread > b->thread) - (a->thread < b->thread);
}

/* Names of a thread differ, so there are as many threads. */
static bool are_common(const scopes__waiting *w, uint32_t threads)
{
    return threads >= COMMON || threads == w->in.topology->thread_count;
}

/* Bringing something, and not; then the collectives. */
static uint32_t otherwise(const scopes__waiting *w, uint32_t top)
{
    const scopes_topology *topology = w->in.topology;
    const scopes_top *its = &topology->tops[top];
    uint32_t site = its->site;
    const char *use;

    while (site != PATHS_NONE && topology->sites[site].parent != PATHS_NONE)
        site = topology->sites[site].parent;
    if (site != PATHS_NONE)
        return 2 + site;
    use = paths_attributes_get(&topology->map->edges[its->edge].attributes,
                               "use");
    return use && strcmp(use, "read") == 0;
}

static void sort_names(const scopes__waiting *w, naming *n, uint32_t *sorts,
                       uint32_t *count)
{
    const scopes_topology *topology = n->topology;

    for (uint32_t i = 0, end; i < topology->top_count; i = end) {
        const char *name = topology->tops[n->order[i]].name;
        for (end = i + 1; end < topology->top_count &&
                          strcmp(topology->tops[n->order[end]].name, name) == 0;
             end++)
            ;
        for (uint32_t at = i; at < end; at++)
            sorts[n->order[at]] =
                are_common(w, end - i) ? *count : otherwise(w, n->order[at]);
        *count += are_common(w, end - i);
    }
}

uint32_t *scopes__call_sorts(const scopes__waiting *w, uint32_t *count)
{
    naming n = {.topology = w->in.topology};
    uint32_t tops = n.topology->top_count;
    uint32_t *sorts = calloc(tops + 1u, sizeof(*sorts));

    n.order = malloc((tops + 1u) * sizeof(*n.order));
    if (!sorts || !n.order) {
        free(sorts);
        free(n.order);
        return NULL;
    }
    for (uint32_t i = 0; i < tops; i++)
        n.order[i] = i;
    qsort_r(n.order, tops, sizeof(*n.order), by_name, &n);
    *count = 2 + n.topology->site_count;
    sort_names(w, &n, sorts, count);
    for (uint32_t i = 0; i < tops; i++)
        if (w->lines[i] != SCOPES_MISSING)
            sorts[i] = *count + w->lines[i];
    *count += w->line_count;
    free(n.order);
    return sorts;
}
