/* hop_links.c - see hop_links_internal.h. */
#include "scopes/losses/hop_links_internal.h"

#include <stdlib.h>

#include "scopes/memory/memory_internal.h"

#define SLOWER 2.0      /* times its peers: delayed */
#define WORTH_NS 5000.0 /* no less is looked for */
#define ALIKE 4.0       /* times the size of tuples */
#define SMALL_BYTES 256 /* of tuples, that are all alike */
#define FEW 4           /* operations; fewer tell nothing */

typedef struct linking {
    scopes__links *links;
    const scopes__waiting *w;
    scopes__hop_sample **samples; /* by collector id */
} linking;

static int no_memory(void)
{
    return scopes__no_room("for the times of links");
}

/* --- one hop --- */

static int in_order(const void *a, const void *b)
{
    const int64_t *one = a, *two = b;

    return (*one > *two) - (*one < *two);
}

static double mean_of(const scopes__hop_times *t)
{
    return t->count ? t->sum_ns / (double)t->count : 0;
}

static double best_of(scopes__hop_times *t)
{
    size_t count = t->count < SCOPES__HOP_TIMES ? t->count : SCOPES__HOP_TIMES;

    if (count == 0)
        return 0;
    qsort(t->kept_ns, count, sizeof(*t->kept_ns), in_order);
    return (double)t->kept_ns[count / 10];
}

static uint32_t process_of(const linking *l, uint32_t collector)
{
    const scopes_topology *topology = l->w->in.topology;

    return topology->map->nodes[topology->nodes[collector]].process;
}

/* The hop to another process to which operations go on from here alone;
 * SCOPES_MISSING: they meet others before, or stay. */
static uint32_t leaving(const linking *l, uint32_t collector)
{
    const scopes_topology *topology = l->w->in.topology;

    for (uint32_t at = collector, n = 0; n < topology->collectors; n++) {
        const scopes_hop *hop = &topology->hops[at];
        if (hop->lower == PATHS_NONE || hop->collective != PATHS_NONE ||
            (n > 0 && topology->above[at].count > 1))
            return SCOPES_MISSING;
        if (hop->remote)
            return at;
        at = hop->lower;
    }
    return SCOPES_MISSING;
}

static bool is_top(const linking *l, uint32_t collector)
{
    return l->w->in.topology->above[collector].count == 0;
}

/* --- links --- */

static uint32_t find_link(const linking *l, uint32_t process, uint32_t other)
{
    for (uint32_t i = 0; i < l->links->count; i++)
        if (l->links->items[i].process == process &&
            l->links->items[i].other == other)
            return i;
    return SCOPES_MISSING;
}

static int link_of(linking *l, uint32_t collector, uint32_t *number)
{
    const scopes_hop *hops = l->w->in.topology->hops;
    uint32_t over = leaving(l, collector);
    scopes__link link = {.hop = over == SCOPES_MISSING ? collector : over};
    scopes__link *more;

    if (hops[collector].remote)
        link.hop = collector;
    link.has_collective = hops[collector].collective != PATHS_NONE;
    link.is_top = is_top(l, collector);
    link.process = process_of(l, link.hop);
    link.other = process_of(l, hops[link.hop].lower);
    if (link.other < link.process) {
        uint32_t process = link.process;
        link.process = link.other;
        link.other = process;
    }
    *number = link.process == link.other
                  ? SCOPES_MISSING
                  : find_link(l, link.process, link.other);
    if (*number != SCOPES_MISSING)
        return 0;
    more = scopes__array_grow(l->links->items, l->links->count, sizeof(*more));
    if (!more)
        return no_memory();
    l->links->items = more;
    *number = l->links->count++;
    l->links->items[*number] = link;
    return 0;
}

/* Of all ways, the hop that leaves the process is one of each. */
static int add_hop(linking *l, uint32_t collector)
{
    scopes__hop_sample *sample = l->samples[collector];
    uint32_t number;
    scopes__link *link;
    int err;

    l->links->of[collector] = SCOPES_MISSING;
    if (!sample || sample->up.count == 0)
        return 0;
    err = link_of(l, collector, &number);
    if (err)
        return err;
    link = &l->links->items[number];
    l->links->of[collector] = number;
    link->ns += mean_of(&sample->down) + mean_of(&sample->up);
    link->best_ns += best_of(&sample->down) + best_of(&sample->up);
    if (link->process == link->other ||
        l->w->in.topology->hops[collector].remote) {
        link->ways++;
        link->count += sample->up.count;
        link->bytes += sample->bytes / (double)sample->up.count;
    }
    return 0;
}

static void settle(scopes__link *link)
{
    if (link->ways == 0)
        link->ways = 1;
    link->ns /= link->ways;
    link->best_ns /= link->ways;
    link->bytes /= link->ways;
}

/* --- comparing --- */

static bool are_peers(const scopes__link *a, const scopes__link *b)
{
    bool both = (a->process != a->other) == (b->process != b->other);
    double more = a->bytes > b->bytes ? a->bytes : b->bytes;
    double less = a->bytes > b->bytes ? b->bytes : a->bytes;

    return a != b && b->count >= FEW && both &&
           (a->process != a->other || (a->has_collective == b->has_collective &&
                                       a->is_top == b->is_top)) &&
           more <= ALIKE * less + SMALL_BYTES;
}

static int by_time(const void *left, const void *right)
{
    const double *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

static void compare(scopes__links *links, scopes__link *link, double *peers)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < links->count; i++)
        if (are_peers(link, &links->items[i]))
            peers[count++] = links->items[i].ns;
    qsort(peers, count, sizeof(*peers), by_time);
    link->peer_ns = count ? peers[(count - 1) / 2] : link->best_ns;
    link->is_delayed = link->count >= FEW &&
                       link->ns > SLOWER * link->peer_ns &&
                       link->ns - link->peer_ns > WORTH_NS;
}

static int compare_all(scopes__links *links)
{
    double *peers = calloc(links->count + 1u, sizeof(*peers));

    if (!peers)
        return no_memory();
    for (uint32_t i = 0; i < links->count; i++)
        settle(&links->items[i]);
    for (uint32_t i = 0; i < links->count; i++)
        compare(links, &links->items[i], peers);
    free(peers);
    return 0;
}

/* --- all of it --- */

int scopes__links_make(scopes__links *links, const scopes__waiting *waiting)
{
    linking l = {.links = links, .w = waiting};
    uint32_t collectors = waiting->in.topology->collectors;
    int err;

    *links = (scopes__links){.collectors = collectors};
    links->of = calloc(collectors + 1u, sizeof(*links->of));
    l.samples = calloc(collectors + 1u, sizeof(*l.samples));
    err = links->of && l.samples ? scopes__hop_samples(l.samples, waiting)
                                 : no_memory();
    for (uint32_t i = 0; i < collectors && !err; i++)
        err = add_hop(&l, i);
    if (!err)
        err = compare_all(links);
    for (uint32_t i = 0; i < collectors && l.samples; i++)
        free(l.samples[i]);
    free(l.samples);
    if (err)
        scopes__links_free(links);
    return err;
}

void scopes__links_free(scopes__links *links)
{
    scopes__free(links->items);
    free(links->of);
    *links = (scopes__links){0};
}
