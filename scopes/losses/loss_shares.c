/* loss_shares.c - all waiting, divided among what it is due to: see
 * losses_internal.h. */
#include "scopes/losses/losses_internal.h"

#include <stdlib.h>

#include "scopes/memory/memory_internal.h"
#include "scopes/waiting/trace_back_internal.h"

static void give(scopes__losses *l, uint32_t number, double ns)
{
    l->items[number == SCOPES_MISSING ? l->dependency : number].waiting_ns +=
        ns;
}

static double at_most_all(double part)
{
    return part < 0 ? 0 : part > 1 ? 1 : part;
}

/* Before its first operation, what part of a thread's delay is due to its
 * having begun after others. */
static double begun_late(const scopes__losses *l, uint32_t operation)
{
    const scopes_communication *times = l->w->times;
    const scopes_thread *thread =
        &times->threads[times->operations[operation].thread];
    double late_ns = (double)(thread->start_ns - times->start_ns);
    double excess_ns = (double)scopes__gap_excess(&l->gaps, operation);

    if (operation != thread->operation || late_ns <= 0)
        return 0;
    return late_ns / (late_ns + excess_ns);
}

/* A delay by computing before an operation. Of what others do not have, the
 * time without a processor comes first. */
static void give_gap(scopes__losses *l, uint32_t operation, double ns)
{
    const scopes__gaps *g = &l->gaps;
    double excess_ns =
        (double)(g->work_ns[operation] + g->runnable_ns[operation] -
                 g->peer_ns[operation]);
    double runnable_ns = (double)g->runnable_ns[operation], shared;
    uint32_t cell = g->cells_of[operation];
    double late = begun_late(l, operation);

    give(l, l->begin, ns * late);
    ns *= 1 - late;
    shared = runnable_ns <= 0 ? 0
             : excess_ns > 0  ? at_most_all(runnable_ns / excess_ns)
                              : 1;
    give(l, l->shared, ns * shared);
    give(l, cell == SCOPES_MISSING ? SCOPES_MISSING : l->of_cell[cell],
         ns * (1 - shared));
}

/* What of an operation's time that is not waiting is due to what; the rest is
 * transfer. */
typedef struct call_parts {
    double delayed, runnable;
} call_parts;

static call_parts parts_of(const scopes__losses *l, uint32_t operation)
{
    const scopes__way_parts *p = &l->ways;
    double rest_ns = (double)p->rest_ns[operation];
    call_parts parts = {0, 0};

    if (rest_ns <= 0)
        return parts;
    if (p->links[operation] != SCOPES_MISSING)
        parts.delayed = at_most_all((double)p->delayed_ns[operation] / rest_ns);
    parts.runnable = at_most_all((double)p->runnable_ns[operation] / rest_ns);
    return parts;
}

/* A time in an operation that is not waiting. */
static void give_call(scopes__losses *l, uint32_t operation, double ns)
{
    call_parts parts = parts_of(l, operation);

    if (parts.delayed > 0)
        give(l, l->of_link[l->ways.links[operation]], ns * parts.delayed);
    give(l, l->shared, ns * parts.runnable);
    give(l, l->transfer, ns * (1 - parts.delayed - parts.runnable));
}

/* In which calls most of the transfer is. */
static int transfer_find(scopes__losses *l)
{
    scopes__loss *loss = &l->items[l->transfer];
    uint32_t count, *sorts = scopes__call_sorts(l->w, &count);
    size_t tops = l->w->in.topology->top_count;
    double *sums = calloc((sorts ? count + tops : 0) + 1, sizeof(*sums));
    int err = sorts && sums ? 0 : scopes__no_room("for the causes of waiting");

    for (uint32_t i = 0; i < l->w->count && !err; i++) {
        call_parts parts = parts_of(l, i);
        uint32_t top = scopes__waiting_top_number(l->w, i);
        double *sum = &sums[sorts[top] < 2 ? count + top : sorts[top]];
        if (l->ways.rest_ns[i] <= 0)
            continue;
        *sum +=
            (double)l->ways.rest_ns[i] * (1 - parts.delayed - parts.runnable);
        if (*sum > loss->most_ns) {
            loss->most_ns = *sum;
            loss->operation = i;
        }
    }
    free(sorts);
    free(sums);
    return err;
}

static int take_delay(const scopes__delay *delay, void *context)
{
    scopes__losses *l = context;
    const scopes__wait *wait = &l->w->waits[delay->wait];
    double ns = delay->direct_ns + delay->propagated_ns;

    if (l->ends[delay->wait])
        give(l, l->of_node[l->w->in.topology->tops[wait->top].element], ns);
    else if (delay->in_call)
        give_call(l, delay->operation, ns);
    else
        give_gap(l, delay->operation, ns);
    return 0;
}

static bool counts(uint32_t wait, void *context)
{
    (void)wait;
    (void)context;
    return true;
}

int scopes__losses_share(scopes__losses *l)
{
    int err = scopes__trace_back(l->w, counts, l->ends, take_delay, l);

    if (err)
        return err;
    for (uint32_t i = 0; i < l->w->count; i++)
        if (l->ways.rest_ns[i] > 0)
            give_call(l, i, (double)l->ways.rest_ns[i]);
    for (uint32_t i = 0; i < l->count; i++)
        l->waiting_ns += l->items[i].waiting_ns;
    return transfer_find(l);
}
