/* changes_ways.c - hops that are faster or slower, and elements with room. */
#include "scopes/whatif/whatif_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/request.h"
#include "pastset/status.h"
#include "scopes/losses/hop_links_internal.h"
#include "scopes/memory/memory_internal.h"

/* --- hops --- */

/* "A-B": from one process to another; names may have '-' themselves. */
static bool is_between(const char *what, const char *from, const char *to)
{
    size_t bytes = strlen(from);

    return strncmp(what, from, bytes) == 0 && what[bytes] == '-' &&
           strcmp(what + bytes + 1, to) == 0;
}

/* Is it one of the names that `names` has, between " > "? */
static bool is_among(const char *what, const char *names)
{
    size_t bytes = strlen(what);

    for (const char *at = names; at; at = strstr(at, " > ")) {
        at += at == names ? 0 : 3;
        if (strncmp(at, what, bytes) == 0 &&
            (at[bytes] == '\0' || strncmp(at + bytes, " > ", 3) == 0))
            return true;
    }
    return false;
}

/* Between two processes a link is what advise takes for one: both directions,
 * with a delay in front of it. */
static bool is_of_link(const scopes_topology *topology,
                       const scopes__links *links, uint32_t collector,
                       const char *what)
{
    const scopes__link *link;
    const char *one, *other;

    if (links->of[collector] == SCOPES_MISSING)
        return false;
    link = &links->items[links->of[collector]];
    if (link->process == link->other)
        return false;
    one = scopes_topology_process_name(topology, link->process);
    other = scopes_topology_process_name(topology, link->other);
    return is_between(what, one, other) || is_between(what, other, one);
}

static uint32_t hops_find(const scopes_topology *topology,
                          const scopes__links *links, const char *what,
                          bool *hops)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < topology->collectors; i++) {
        const scopes_hop *hop = &topology->hops[i];
        hops[i] =
            hop->upper != PATHS_NONE && hop->lower != PATHS_NONE &&
            (is_among(what, hop->name) || is_of_link(topology, links, i, what));
        count += hops[i];
    }
    return count;
}

/* --- messages --- */

static const char *process_name(const scopes__waiting *w, uint32_t operation)
{
    uint32_t thread = scopes__waiting_operation(w, operation)->thread;

    return scopes_topology_process_name(w->in.topology,
                                        w->times->threads[thread].process);
}

static bool is_of_element(const scopes__waiting *w, uint32_t operation,
                          const char *name)
{
    uint32_t element = scopes__waiting_top(w, operation)->element;

    return strcmp(scopes_topology_node_name(w->in.topology, element), name) ==
           0;
}

/* Does it receive, from where or by what is asked for? */
static bool receives_by(const scopes__waiting *w, uint32_t operation,
                        const char *what)
{
    uint32_t other = scopes__waiting_other(w, operation);

    if (other == SCOPES_MISSING ||
        scopes__waiting_operation(w, operation)->verb == PASTSET_WRITE)
        return false;
    return is_of_element(w, operation, what) ||
           is_between(what, process_name(w, other), process_name(w, operation));
}

static uint32_t change_messages(scopes__costs *costs, const scopes__waiting *w,
                                const scopes_change *change)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < w->count; i++) {
        if (!receives_by(w, i, change->what))
            continue;
        costs->up_ns[i] = llround((double)costs->up_ns[i] * change->factor);
        count++;
    }
    return count;
}

int scopes__change_hop(scopes__costs *costs, const scopes__waiting *w,
                       const scopes_change *change)
{
    const scopes_topology *topology = w->in.topology;
    bool *hops = calloc(topology->collectors + 1, sizeof(*hops));
    scopes__links links = {0};
    int err = hops ? scopes__links_make(&links, w)
                   : scopes__no_room("for the hops of the map");

    if (err)
        goto done;
    if (hops_find(topology, &links, change->what, hops) > 0)
        err = scopes__costs_hops(costs, w, hops, change->factor);
    else if (change_messages(costs, w, change) == 0)
        err = pastset_fail(
            PASTSET_ENOENT,
            "hop %s: nothing of that name stands between two collectors, it "
            "is no element that is read, and no two processes A-B between "
            "which something went",
            change->what);
done:
    scopes__links_free(&links);
    free(hops);
    return err;
}

/* --- room --- */

static bool brings(const scopes__waiting *w, uint32_t operation)
{
    return scopes__waiting_operation(w, operation)->verb == PASTSET_WRITE;
}

int scopes__change_room(scopes__costs *costs, const scopes__waiting *w,
                        const scopes_change *change)
{
    uint32_t writes = 0;

    for (uint32_t i = 0; i < w->count; i++) {
        uint32_t other = scopes__waiting_other(w, i);
        if (!brings(w, i) || !is_of_element(w, i, change->what))
            continue;
        writes++;
        if (other != SCOPES_MISSING && !brings(w, other))
            costs->is_free[i] = 1;
    }
    return writes ? 0
                  : pastset_fail(PASTSET_ENOENT,
                                 "element %s: nothing was written to one of "
                                 "that name",
                                 change->what);
}
