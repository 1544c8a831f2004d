/* changes_threads.c - threads that compute, or lack a processor, sleep, or are
 * in calls, for longer or shorter. */
#include "scopes/whatif/whatif_internal.h"

#include <math.h>

#include "eventspace/options/node_list.h"

#include "pastset/status.h"

static int64_t part_of(const scopes__gap *gap, scopes_change_kind kind)
{
    switch (kind) {
    case SCOPES_CHANGE_RUNNABLE:
        return gap->runnable_ns;
    case SCOPES_CHANGE_SLEEPING:
        return gap->sleeping_ns;
    default:
        return gap->computing_ns;
    }
}

static int64_t scaled(int64_t ns, double factor)
{
    return llround((double)ns * factor);
}

/* So much more does a part of a gap take. */
static int64_t change_of(const scopes__waiting *w, uint32_t thread, size_t *at,
                         int64_t gap_ns, int64_t end_ns,
                         const scopes_change *change)
{
    scopes__gap gap = scopes__gap_of(w, thread, at, gap_ns, end_ns);

    return scaled(part_of(&gap, change->kind), change->factor - 1);
}

static void change_gaps(scopes__costs *costs, const scopes__waiting *w,
                        uint32_t thread, const scopes_change *change)
{
    const scopes_thread *its = &w->times->threads[thread];
    size_t at = 0;

    for (uint32_t i = (uint32_t)its->operation;
         i < its->operation + its->operations; i++) {
        int64_t gap_ns = scopes__waiting_gap_ns(w, its, i);
        if (gap_ns > 0)
            scopes__cost_add(
                &costs->gap_ns[i],
                change_of(w, thread, &at, gap_ns,
                          scopes__waiting_operation(w, i)->start_ns, change));
    }
    scopes__cost_add(
        &costs->tail_ns[thread],
        change_of(w, thread, &at, costs->tail_ns[thread], its->end_ns, change));
}

static void change_calls(scopes__costs *costs, const scopes__waiting *w,
                         uint32_t thread, double factor)
{
    const scopes_thread *its = &w->times->threads[thread];

    for (size_t i = its->operation; i < its->operation + its->operations; i++) {
        costs->down_ns[i] = scaled(costs->down_ns[i], factor);
        costs->own_ns[i] = scaled(costs->own_ns[i], factor);
        costs->up_ns[i] = scaled(costs->up_ns[i], factor);
    }
}

/* The threads that it names. */
static int list_read(paths_number_list *out, const scopes__waiting *w,
                     const scopes_change *change)
{
    *out = (paths_number_list){0};
    return eventspace_node_list_read(
        out, change->what, &eventspace_kind_threads, w->in.topology->map, NULL);
}

int scopes__change_threads(scopes__costs *costs, const scopes__waiting *w,
                           const scopes_change *change)
{
    paths_number_list list;
    int err = list_read(&list, w, change);

    if (!err && change->to_peers)
        err = scopes__change_to_peers(costs, w, &list);
    for (uint32_t i = 0;
         i < w->times->thread_count && !err && !change->to_peers; i++) {
        if (!paths_number_list_has(&list, i))
            continue;
        if (change->kind == SCOPES_CHANGE_CALLS)
            change_calls(costs, w, i, change->factor);
        else
            change_gaps(costs, w, i, change);
    }
    paths_number_list_fini(&list);
    return err;
}
