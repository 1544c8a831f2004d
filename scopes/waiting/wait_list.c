/* wait_list.c - the waits of operations whose needs are known: see
 * waiting_internal.h. One pass over the operations of each thread. */
#include "scopes/waiting/waiting_internal.h"

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

static bool brings(const scopes_operation *o)
{
    return o->verb == PASTSET_WRITE || o->verb == PASTSET_EXCHANGE;
}

static scopes__wait_kind kind_in(const scopes__waiting *w,
                                 const scopes__meeting *met,
                                 const scopes_operation *own,
                                 const scopes_operation *other)
{
    static const char *const rooted[] = {"broadcast", "scatter", NULL};
    uint32_t node = w->in.topology->sites[met->site].node;
    const char *type = w->in.topology->map->nodes[node].type;

    if (strcmp(type, "barrier") == 0)
        return SCOPES__WAIT_AT_BARRIER;
    if (is_one_of(type, rooted))
        return brings(other) && !brings(own) ? SCOPES__LATE_BROADCAST
                                             : SCOPES__WAIT_AT_NXN;
    return own->verb == PASTSET_EXCHANGE && other->verb == PASTSET_WRITE
               ? SCOPES__EARLY_REDUCE
               : SCOPES__WAIT_AT_NXN;
}

/* Of rooted collectives of MPI, over elements that say so: the root of a
 * recorded one reads what was written last, the others what is next. */
static scopes__wait_kind kind_rooted(const scopes_operation *own,
                                     const char *collective)
{
    static const char *const reduces[] = {"MPI_Reduce", "MPI_Gather",
                                          "MPI_Gatherv", NULL};
    static const char *const scans[] = {"MPI_Scan", "MPI_Exscan", NULL};

    if (!collective)
        return own->verb == PASTSET_READ_LAST ? SCOPES__EARLY_REDUCE
                                              : SCOPES__LATE_BROADCAST;
    if (is_one_of(collective, reduces))
        return SCOPES__EARLY_REDUCE;
    return is_one_of(collective, scans) ? SCOPES__EARLY_SCAN
                                        : SCOPES__LATE_BROADCAST;
}

static scopes__wait_kind kind_at(const scopes__waiting *w, uint32_t operation)
{
    const scopes_operation *own = scopes__waiting_operation(w, operation);
    const scopes_top *top = scopes__waiting_top(w, operation);
    const char *collective = NULL, *rounds = NULL;

    if (top->element != PATHS_NONE) {
        const paths_map_node *node = &w->in.topology->map->nodes[top->element];
        collective = paths_attributes_get(&node->attributes, "collective");
        rounds = paths_attributes_get(&node->attributes, "rounds");
    }
    if (collective || rounds)
        return kind_rooted(own, collective);
    return brings(own) ? SCOPES__LATE_RECEIVER : SCOPES__LATE_SENDER;
}

/* --- waits --- */

/* What an operation may have waited for; SCOPES_MISSING. */
static uint32_t other_of(const scopes__waiting *w, uint32_t operation)
{
    const scopes_operation *own = scopes__waiting_operation(w, operation);
    uint32_t other = w->meetings[operation] == SCOPES_MISSING
                         ? w->others[operation]
                         : w->met[w->meetings[operation]].last;
    const scopes_operation *its;

    if (other == SCOPES_MISSING)
        return SCOPES_MISSING;
    its = scopes__waiting_operation(w, other);
    return its->thread == own->thread || its->start_ns <= own->start_ns
               ? SCOPES_MISSING
               : other;
}

static int add_wait(scopes__waiting *w, uint32_t operation, uint32_t other,
                    int64_t *waited_until)
{
    const scopes_operation *own = scopes__waiting_operation(w, operation);
    const scopes_operation *its = scopes__waiting_operation(w, other);
    uint32_t meeting = w->meetings[operation];
    scopes__wait wait = {.from_ns = own->start_ns,
                         .to_ns = own->end_ns,
                         .operation = operation,
                         .other = other};
    scopes__wait *more;

    if (its->start_ns < wait.to_ns)
        wait.to_ns = its->start_ns;
    if (*waited_until > wait.from_ns)
        wait.from_ns = *waited_until;
    if (wait.to_ns <= wait.from_ns)
        return 0;
    wait.kind = meeting == SCOPES_MISSING
                    ? kind_at(w, operation)
                    : kind_in(w, &w->met[meeting], own, its);
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
static uint32_t call_at(const scopes__waiting *w, uint32_t first, uint32_t end,
                        uint32_t *waited, uint32_t *other)
{
    const scopes_operation *own = scopes__waiting_operation(w, first);
    int64_t latest_ns = INT64_MIN;
    uint32_t i;

    *other = SCOPES_MISSING;
    for (i = first; i < end; i++) {
        const scopes_operation *its = scopes__waiting_operation(w, i);
        uint32_t needed;
        if (its->start_ns != own->start_ns || its->end_ns != own->end_ns)
            break;
        needed = other_of(w, i);
        if (needed == SCOPES_MISSING ||
            scopes__waiting_operation(w, needed)->start_ns <= latest_ns)
            continue;
        latest_ns = scopes__waiting_operation(w, needed)->start_ns;
        *waited = i;
        *other = needed;
    }
    return i - first;
}

static int add_thread(scopes__waiting *w, const scopes_thread *thread)
{
    uint32_t at = (uint32_t)thread->operation;
    uint32_t end = at + (uint32_t)thread->operations;
    int64_t waited_until = INT64_MIN;
    int err = 0;

    while (at < end && !err) {
        uint32_t waited, other;
        at += call_at(w, at, end, &waited, &other);
        if (other != SCOPES_MISSING)
            err = add_wait(w, waited, other, &waited_until);
    }
    return err;
}

int scopes__waiting_list(scopes__waiting *w)
{
    int err = 0;

    for (uint32_t i = 0; i < w->times->thread_count && !err; i++) {
        w->first_waits[i] = w->wait_count;
        err = add_thread(w, &w->times->threads[i]);
    }
    w->first_waits[w->times->thread_count] = w->wait_count;
    return err;
}
