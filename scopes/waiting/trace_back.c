/* trace_back.c - see trace_back_internal.h. What the late one did is looked at
 * once for all that waited for it at a time and were level with it at the same
 * time, as those in a round of a collective mostly are. */
#include "scopes/waiting/trace_back_internal.h"

#include <stdlib.h>
#include <string.h>

#include "scopes/memory/memory_internal.h"
#include "scopes/waiting/pieces_internal.h"
#include "scopes/waiting/synchronised_internal.h"
#include "scopes/waiting/wait_groups_internal.h"

/* Of the costs of a wait that has been traced: it gets no more of them. */
#define TRACED (-1.0)

/* How many items of four bytes ahead memory is fetched: two lines. */
#define AHEAD 32

/* What a thread spent on a sort, in a walk: only if that has this number. */
typedef struct spent {
    int64_t ns;
    uint64_t walk;
} spent;

/* What the late one did since some time. */
typedef struct late {
    scopes__past past;
    int64_t from_ns, to_ns;
    uint32_t other;
    uint64_t walk; /* its number; 0: it is not made */
    scopes__pieces pieces;
    double net_ns[SCOPES__PIECE_KINDS];
} late;

typedef struct tracing {
    const scopes__waiting *w;
    const bool *ends;
    scopes__delay_each *each;
    void *context;
    scopes__wait_groups groups;
    double *propagated_ns;           /* by wait */
    uint32_t *waits_before;          /* by thread */
    spent *late_spent, *early_spent; /* by sort */
    uint64_t walks;
    late late;
    scopes__pieces early;
    double *excess_ns; /* by piece of the late one */
    size_t excess_capacity;
    double parts[SCOPES__PIECE_KINDS]; /* of the cost, by excess */
} tracing;

static int no_memory(void)
{
    return scopes__no_room("for what waits were caused by");
}

/* --- what both spent --- */

static void spend(spent *by_sort, uint64_t walk, const scopes__piece *p)
{
    spent *s = &by_sort[p->sort];

    *s = (spent){s->walk == walk ? s->ns + p->ns : p->ns, walk};
}

static int excess_room(tracing *t)
{
    double *more;

    if (t->excess_capacity == t->late.pieces.capacity)
        return 0;
    more = realloc(t->excess_ns, t->late.pieces.capacity * sizeof(*more));
    if (!more)
        return no_memory();
    t->excess_ns = more;
    t->excess_capacity = t->late.pieces.capacity;
    return 0;
}

/* For one who waited; in lines of a program, what both call there counts. */
static int late_since(tracing *t, uint32_t operation, uint32_t other,
                      int64_t from_ns)
{
    late *l = &t->late;
    int err;

    if (l->walk && l->from_ns == from_ns &&
        (l->other == other || t->w->line_count == 0))
        return 0;
    l->from_ns = from_ns;
    l->other = other;
    l->walk = ++t->walks;
    memset(l->net_ns, 0, sizeof(l->net_ns));
    err = scopes__pieces_find(&l->pieces, t->w, operation, other, l->past.waits,
                              from_ns, l->to_ns);
    for (size_t i = 0; i < l->pieces.count && !err; i++) {
        const scopes__piece *p = &l->pieces.items[i];
        spend(t->late_spent, l->walk, p);
        l->net_ns[p->kind] += (double)p->ns;
    }
    return err ? err : excess_room(t);
}

/* --- dividing a cost --- */

/* What of a piece of the late one exceeds what the other had of that sort.
 * There are millions of these: no division where none is needed. */
static double excess_in(const tracing *t, uint64_t early,
                        const scopes__piece *p)
{
    const spent *s = &t->early_spent[p->sort];
    int64_t late_ns = t->late_spent[p->sort].ns;
    int64_t excess_ns = late_ns - (s->walk == early ? s->ns : 0);

    if (excess_ns <= 0)
        return 0;
    return p->ns == late_ns
               ? (double)excess_ns
               : (double)excess_ns * (double)p->ns / (double)late_ns;
}

/* Of each kind no more counts than the late one has spent longer on all of it:
 * what it computed before calls of one sort, others may have computed before
 * calls of another. Gives all that counts. */
static double excess_of(tracing *t)
{
    double net_ns[SCOPES__PIECE_KINDS], sums_ns[SCOPES__PIECE_KINDS] = {0};
    double all_ns = 0;
    uint64_t walk = ++t->walks;

    memcpy(net_ns, t->late.net_ns, sizeof(net_ns));
    for (size_t i = 0; i < t->early.count; i++) {
        const scopes__piece *p = &t->early.items[i];
        spend(t->early_spent, walk, p);
        net_ns[p->kind] -= (double)p->ns;
    }
    for (size_t i = 0; i < t->late.pieces.count; i++) {
        const scopes__piece *p = &t->late.pieces.items[i];
        t->excess_ns[i] = excess_in(t, walk, p);
        sums_ns[p->kind] += t->excess_ns[i];
    }
    for (int k = 0; k < SCOPES__PIECE_KINDS; k++)
        all_ns += net_ns[k] > 0 ? net_ns[k] : 0;
    for (int k = 0; k < SCOPES__PIECE_KINDS; k++)
        t->parts[k] = net_ns[k] > 0 ? net_ns[k] / (sums_ns[k] * all_ns) : 0;
    return all_ns;
}

/* Gives a part of the cost of a wait to a piece. */
static int give(tracing *t, const scopes__delay *cost, const scopes__piece *p,
                double part)
{
    scopes__delay delay = {
        p->operation, p->kind == SCOPES__IS_IN_CALL || p->kind == SCOPES__WAITS,
        cost->wait, cost->direct_ns * part, cost->propagated_ns * part};

    if (p->wait != SCOPES_MISSING && t->propagated_ns[p->wait] != TRACED) {
        t->propagated_ns[p->wait] += delay.direct_ns + delay.propagated_ns;
        return 0;
    }
    return t->each(&delay, t->context);
}

static int divide(tracing *t, const scopes__delay *cost)
{
    int err = 0;

    for (size_t i = 0; i < t->late.pieces.count && !err; i++) {
        const scopes__piece *p = &t->late.pieces.items[i];
        double part = t->excess_ns[i] * t->parts[p->kind];
        if (part > 0)
            err = give(t, cost, p, part);
    }
    return err;
}

static int trace(tracing *t, const scopes__delay *cost)
{
    const scopes__wait *wait = &t->w->waits[cost->wait];
    int64_t from_ns = scopes__synchronised_at(t->w, cost->wait, &t->late.past);
    uint32_t own = t->w->in.topology->tops[wait->top].thread;
    int err = late_since(t, wait->other, own, from_ns);

    if (!err)
        err = scopes__pieces_find(&t->early, t->w, wait->operation,
                                  t->late.past.thread, cost->wait, from_ns,
                                  wait->from_ns);
    if (err)
        return err;
    if (excess_of(t) > 0)
        return divide(t, cost);
    /* It is not seen what the late one did. */
    return give(t, cost,
                &(scopes__piece){.operation = wait->other,
                                 .wait = SCOPES_MISSING,
                                 .kind = SCOPES__COMPUTES},
                1);
}

/* --- all waits --- */

/* Has memory fetched that is needed soon: it lies by thread, and of each thread
 * a little further back is looked at for each group. */
static void fetch_ahead(const tracing *t, uint32_t wait)
{
    const scopes__waiting *w = t->w;
    uint32_t operation = w->waits[wait].operation;

    if (operation < AHEAD || wait < AHEAD)
        return;
    __builtin_prefetch(&w->times->operations[operation - AHEAD / 4]);
    __builtin_prefetch(&w->needs[operation - AHEAD]);
    __builtin_prefetch(&w->waits[wait - AHEAD / 4]);
    __builtin_prefetch(&t->propagated_ns[wait - AHEAD / 2]);
    __builtin_prefetch(&t->groups.next[wait - AHEAD]);
}

static int trace_or_end(tracing *t, const scopes__delay *cost)
{
    scopes__delay delay = *cost;

    if (!t->ends || !t->ends[cost->wait])
        return trace(t, cost);
    delay.operation = t->w->waits[cost->wait].operation;
    delay.in_call = true;
    return t->each(&delay, t->context);
}

static int trace_group(tracing *t, const scopes__wait_group *group,
                       scopes__wait_counts *counts)
{
    const scopes__waiting *w = t->w;
    int err = 0;

    t->late.past =
        scopes__past_of_other(w, &w->waits[group->first], t->waits_before);
    t->late.to_ns = group->to_ns;
    t->late.walk = 0;
    for (uint32_t i = group->first; i != SCOPES_MISSING && !err;
         i = t->groups.next[i]) {
        const scopes__wait *wait = &w->waits[i];
        scopes__delay cost = {.wait = i, .propagated_ns = t->propagated_ns[i]};
        fetch_ahead(t, i);
        if (counts(i, t->context))
            cost.direct_ns = (double)(wait->to_ns - wait->from_ns);
        t->propagated_ns[i] = TRACED;
        if (cost.direct_ns + cost.propagated_ns > 0)
            err = trace_or_end(t, &cost);
    }
    return err;
}

static int arrays_make(tracing *t)
{
    size_t count = (size_t)t->w->wait_count + 1;
    uint32_t sorts = scopes__piece_sorts(t->w);

    t->propagated_ns = scopes__allocate(count * sizeof(*t->propagated_ns));
    t->waits_before =
        malloc((t->w->times->thread_count + 1) * sizeof(*t->waits_before));
    t->late_spent = calloc(sorts, sizeof(*t->late_spent));
    t->early_spent = calloc(sorts, sizeof(*t->early_spent));
    if (!t->propagated_ns || !t->waits_before || !t->late_spent ||
        !t->early_spent)
        return no_memory();
    memcpy(t->waits_before, &t->w->first_waits[1],
           t->w->times->thread_count * sizeof(*t->waits_before));
    memset(t->propagated_ns, 0, count * sizeof(*t->propagated_ns));
    return scopes__wait_groups_make(&t->groups, t->w);
}

int scopes__trace_back(const scopes__waiting *waiting,
                       scopes__wait_counts *counts, const bool *ends,
                       scopes__delay_each *each, void *context)
{
    tracing t = {.w = waiting, .ends = ends, .each = each, .context = context};
    int err = arrays_make(&t);

    for (uint32_t i = 0; i < t.groups.count && !err; i++)
        err = trace_group(&t, &t.groups.items[i], counts);
    scopes__wait_groups_free(&t.groups);
    scopes__free(t.propagated_ns);
    free(t.waits_before);
    free(t.late_spent);
    free(t.early_spent);
    scopes__pieces_free(&t.late.pieces);
    scopes__pieces_free(&t.early);
    free(t.excess_ns);
    return err;
}
