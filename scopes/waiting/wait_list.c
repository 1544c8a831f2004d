/* wait_list.c - the waits of operations whose needs are known: see
 * waiting_internal.h. One pass over the operations of each thread. */
#include "scopes/waiting/waiting_internal.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/request.h"
#include "scopes/memory/memory_internal.h"

static const char *const kind_names[] = {
    [SCOPES__LATE_SENDER] = "late sender",
    [SCOPES__LATE_RECEIVER] = "late receiver",
    [SCOPES__WAIT_AT_BARRIER] = "wait at barrier",
    [SCOPES__WAIT_AT_NXN] = "wait at N x N",
    [SCOPES__EARLY_REDUCE] = "early reduce",
    [SCOPES__LATE_BROADCAST] = "late broadcast",
    [SCOPES__EARLY_SCAN] = "early scan",
};

const char *scopes__wait_kind_name(scopes__wait_kind kind)
{
    return kind_names[kind];
}

/* --- kinds --- */

static bool is_one_of(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(name, *list) == 0)
            return true;
    return false;
}

static bool brings(uint16_t verb)
{
    return verb == PASTSET_WRITE || verb == PASTSET_EXCHANGE;
}

/* What kinds of waits there can be at a collective site or an element. */
typedef enum place_kind {
    AT_ELEMENT,
    AT_ROOTED, /* an element for a collective of MPI with a root: the root of a
                  recorded one reads what was written last, the others what is
                  next */
    AT_REDUCE,
    AT_SCAN,
    AT_BROADCAST,
    AT_BARRIER,
    AT_ROOTED_SITE,
    AT_SITE,
} place_kind;

static uint8_t kind_of_site(const scopes__waiting *w, uint32_t site)
{
    static const char *const rooted[] = {"broadcast", "scatter", NULL};
    uint32_t node = w->in.topology->sites[site].node;
    const char *type = w->in.topology->map->nodes[node].type;

    if (strcmp(type, "barrier") == 0)
        return AT_BARRIER;
    return is_one_of(type, rooted) ? AT_ROOTED_SITE : AT_SITE;
}

static uint8_t kind_of_element(const scopes__waiting *w, uint32_t element)
{
    static const char *const reduces[] = {"MPI_Reduce", "MPI_Gather",
                                          "MPI_Gatherv", NULL};
    static const char *const scans[] = {"MPI_Scan", "MPI_Exscan", NULL};
    const paths_map_node *node = &w->in.topology->map->nodes[element];
    const char *collective =
        paths_attributes_get(&node->attributes, "collective");

    if (!collective)
        return paths_attributes_get(&node->attributes, "rounds") ? AT_ROOTED
                                                                 : AT_ELEMENT;
    if (is_one_of(collective, reduces))
        return AT_REDUCE;
    return is_one_of(collective, scans) ? AT_SCAN : AT_BROADCAST;
}

static scopes__wait_kind kind_at(uint8_t place, uint16_t own, uint16_t other)
{
    switch ((place_kind)place) {
    case AT_ROOTED:
        return own == PASTSET_READ_LAST ? SCOPES__EARLY_REDUCE
                                        : SCOPES__LATE_BROADCAST;
    case AT_REDUCE:
        return SCOPES__EARLY_REDUCE;
    case AT_SCAN:
        return SCOPES__EARLY_SCAN;
    case AT_BROADCAST:
        return SCOPES__LATE_BROADCAST;
    case AT_BARRIER:
        return SCOPES__WAIT_AT_BARRIER;
    case AT_ROOTED_SITE:
        return brings(other) && !brings(own) ? SCOPES__LATE_BROADCAST
                                             : SCOPES__WAIT_AT_NXN;
    case AT_SITE:
        return own == PASTSET_EXCHANGE && other == PASTSET_WRITE
                   ? SCOPES__EARLY_REDUCE
                   : SCOPES__WAIT_AT_NXN;
    case AT_ELEMENT:
        break;
    }
    return brings(own) ? SCOPES__LATE_RECEIVER : SCOPES__LATE_SENDER;
}

/* --- waits --- */

typedef struct listing {
    scopes__waiting *w;
    uint8_t *sites, *tops; /* a place_kind of each */
} listing;

/* What an operation may have waited for. */
typedef struct needed {
    int64_t start_ns;
    uint32_t operation; /* SCOPES_MISSING: nothing */
    uint32_t top;
    scopes__wait_kind kind;
} needed;

static needed needed_in(const listing *l, const scopes__meeting *met,
                        uint16_t own)
{
    if (met->last == SCOPES_MISSING)
        return (needed){.operation = SCOPES_MISSING};
    return (needed){met->last_ns, met->last, met->top,
                    kind_at(l->sites[met->site], own, met->verb)};
}

static needed needed_at(const listing *l, uint32_t operation, uint16_t own)
{
    uint32_t other = l->w->needs[operation];
    const scopes_operation *its;

    if (other == SCOPES_MISSING)
        return (needed){.operation = SCOPES_MISSING};
    its = scopes__waiting_operation(l->w, other);
    return (needed){
        its->start_ns, other, scopes__waiting_top_number(l->w, other),
        kind_at(l->tops[scopes__waiting_top_number(l->w, operation)], own,
                its->verb)};
}

static needed needed_by(const listing *l, uint32_t operation,
                        const scopes_operation *own)
{
    uint32_t meeting = scopes__waiting_meeting(l->w, operation);
    needed it = meeting == SCOPES_MISSING
                    ? needed_at(l, operation, own->verb)
                    : needed_in(l, &l->w->met[meeting], own->verb);

    if (it.operation != SCOPES_MISSING &&
        (it.start_ns <= own->start_ns ||
         l->w->in.topology->tops[it.top].thread == own->thread))
        it.operation = SCOPES_MISSING;
    return it;
}

static int add_wait(scopes__waiting *w, uint32_t operation, const needed *it,
                    int64_t *waited_until)
{
    const scopes_operation *own = scopes__waiting_operation(w, operation);
    scopes__wait wait = {.from_ns = own->start_ns,
                         .to_ns = own->end_ns,
                         .operation = operation,
                         .other = it->operation,
                         .top = scopes__waiting_top_number(w, operation),
                         .other_top = it->top & ((1u << 28) - 1),
                         .kind = (unsigned)it->kind & 15};
    scopes__wait *more;

    if (it->start_ns < wait.to_ns)
        wait.to_ns = it->start_ns;
    if (*waited_until > wait.from_ns)
        wait.from_ns = *waited_until;
    if (wait.to_ns <= wait.from_ns)
        return 0;
    more = scopes__array_grow(w->waits, w->wait_count, sizeof(*more));
    if (!more)
        return scopes__no_room("for what operations waited for");
    w->waits = more;
    w->waits[w->wait_count++] = wait;
    *waited_until = wait.to_ns;
    return 0;
}

/* Of operations that begin and end together, the one that waited longest; how
 * many they are. */
static uint32_t call_at(const listing *l, uint32_t first, uint32_t end,
                        uint32_t *waited, needed *longest)
{
    const scopes_operation *own = scopes__waiting_operation(l->w, first);
    uint32_t i;

    *longest = (needed){.operation = SCOPES_MISSING};
    for (i = first; i < end; i++) {
        const scopes_operation *its = scopes__waiting_operation(l->w, i);
        needed it;
        if (its->start_ns != own->start_ns || its->end_ns != own->end_ns)
            break;
        it = needed_by(l, i, its);
        if (it.operation == SCOPES_MISSING ||
            (longest->operation != SCOPES_MISSING &&
             it.start_ns <= longest->start_ns))
            continue;
        *waited = i;
        *longest = it;
    }
    return i - first;
}

static int add_thread(const listing *l, const scopes_thread *thread)
{
    uint32_t at = (uint32_t)thread->operation;
    uint32_t end = at + (uint32_t)thread->operations;
    int64_t waited_until = INT64_MIN;
    int err = 0;

    while (at < end && !err) {
        uint32_t waited;
        needed longest;
        at += call_at(l, at, end, &waited, &longest);
        if (longest.operation != SCOPES_MISSING)
            err = add_wait(l->w, waited, &longest, &waited_until);
    }
    return err;
}

static int places_find(listing *l)
{
    const scopes_topology *topology = l->w->in.topology;

    l->sites = calloc(topology->site_count + 1, sizeof(*l->sites));
    l->tops = calloc(topology->top_count + 1, sizeof(*l->tops));
    if (!l->sites || !l->tops)
        return scopes__no_room("for what operations waited for");
    for (uint32_t i = 0; i < topology->site_count; i++)
        l->sites[i] = kind_of_site(l->w, i);
    for (uint32_t i = 0; i < topology->top_count; i++)
        if (topology->tops[i].element != PATHS_NONE)
            l->tops[i] = kind_of_element(l->w, topology->tops[i].element);
    return 0;
}

int scopes__waiting_list(scopes__waiting *w)
{
    listing l = {.w = w};
    int err = places_find(&l);

    for (uint32_t i = 0; i < w->times->thread_count && !err; i++) {
        w->first_waits[i] = w->wait_count;
        err = add_thread(&l, &w->times->threads[i]);
    }
    w->first_waits[w->times->thread_count] = w->wait_count;
    free(l.sites);
    free(l.tops);
    return err;
}
