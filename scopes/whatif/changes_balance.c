/* changes_balance.c - work that is divided equally: all who meet in a round of
 * a collective, or all threads in a step, have computed as long as they did in
 * the mean. A thread that has less to do than before does less in each part of
 * its computing since the round or step before. What it has to do in addition
 * is where the threads of that round compute most: before their first
 * operation, before the last one, or in all parts. So a thread that had nothing
 * to do gives its results away no later than the others do. Sleeping counts as
 * computing, as it is part of what the thread has to do; being runnable does
 * not. */
#include "scopes/whatif/whatif_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "scopes/memory/memory_internal.h"

typedef struct balancing {
    scopes__costs *costs;
    const scopes__waiting *w;
    uint32_t site;              /* SCOPES_MISSING: by steps */
    double *sum_ns;             /* by round, or step */
    double *first_ns, *last_ns; /* of it before the first and last operation */
    uint32_t *met;              /* how many have met in it */
    uint32_t count;             /* rounds or steps */
} balancing;

/* A part of a thread's operations: those until it meets the others. */
typedef struct part {
    uint32_t first, last;
    uint32_t round; /* that it ends with; SCOPES_MISSING */
    double ns;
    double first_ns, last_ns; /* of that, before these */
} part;

static uint32_t round_at(const balancing *b, uint32_t operation)
{
    uint32_t meeting = scopes__waiting_meeting(b->w, operation);

    return meeting != SCOPES_MISSING && b->w->met[meeting].site == b->site
               ? meeting
               : SCOPES_MISSING;
}

/* Does a part end with this operation? */
static bool ends_at(const balancing *b, uint32_t operation, uint32_t end,
                    uint32_t *round)
{
    const scopes_operation *its = scopes__waiting_operation(b->w, operation);

    if (b->site != SCOPES_MISSING) {
        *round = round_at(b, operation);
        return *round != SCOPES_MISSING;
    }
    *round = its->step;
    return operation + 1 == end ||
           scopes__waiting_operation(b->w, operation + 1)->step != its->step;
}

static double computed(const balancing *b, uint32_t thread, size_t *at,
                       uint32_t operation)
{
    const scopes_thread *its = &b->w->times->threads[thread];
    int64_t gap_ns = scopes__waiting_gap_ns(b->w, its, operation);
    int64_t end_ns = scopes__waiting_operation(b->w, operation)->start_ns;
    scopes__gap gap;

    if (gap_ns <= 0)
        return 0;
    gap = scopes__gap_of(b->w, thread, at, gap_ns, end_ns);
    return (double)(gap.computing_ns + gap.sleeping_ns);
}

/* The only operation whose gap gets what there is to do in addition;
 * SCOPES_MISSING: all get their share of it. */
static uint32_t place_of(const balancing *b, const part *p)
{
    double half_ns = b->sum_ns[p->round] / 2;

    if (b->first_ns[p->round] > half_ns)
        return p->first;
    return b->last_ns[p->round] > half_ns || p->ns <= 0 ? p->last
                                                        : SCOPES_MISSING;
}

static void part_change(balancing *b, uint32_t thread, const part *p, size_t at)
{
    double more_ns = b->sum_ns[p->round] / b->met[p->round] - p->ns;
    uint32_t place = more_ns > 0 ? place_of(b, p) : SCOPES_MISSING;

    if (place != SCOPES_MISSING) {
        b->costs->gap_ns[place] += llround(more_ns);
        return;
    }
    for (uint32_t i = p->first; i <= p->last && p->ns > 0; i++)
        scopes__cost_add(
            &b->costs->gap_ns[i],
            llround(computed(b, thread, &at, i) * more_ns / p->ns));
}

static void part_add(balancing *b, const part *p)
{
    b->sum_ns[p->round] += p->ns;
    b->first_ns[p->round] += p->first_ns;
    b->last_ns[p->round] += p->last_ns;
    b->met[p->round]++;
}

static void thread_look(balancing *b, uint32_t thread, bool changes)
{
    const scopes_thread *its = &b->w->times->threads[thread];
    uint32_t end = (uint32_t)(its->operation + its->operations);
    part p = {.first = (uint32_t)its->operation};
    size_t at = 0, at_first = 0;

    for (uint32_t i = p.first; i < end; i++) {
        p.last_ns = computed(b, thread, &at, i);
        p.first_ns = i == p.first ? p.last_ns : p.first_ns;
        p.ns += p.last_ns;
        if (!ends_at(b, i, end, &p.round))
            continue;
        p.last = i;
        if (changes)
            part_change(b, thread, &p, at_first);
        else
            part_add(b, &p);
        p = (part){.first = i + 1};
        at_first = at;
    }
}

static int site_find(const scopes__waiting *w, const char *name, uint32_t *site)
{
    const scopes_topology *topology = w->in.topology;

    for (uint32_t i = 0; i < topology->site_count; i++) {
        const scopes_site *its = &topology->sites[i];
        if (its->parent == PATHS_NONE &&
            (strcmp(scopes_topology_node_name(topology, its->node), name) ==
                 0 ||
             strcmp(scopes_topology_node_name(topology, its->element), name) ==
                 0)) {
            *site = i;
            return 0;
        }
    }
    return pastset_fail(PASTSET_ENOENT,
                        "balance %s: no collective of that name, nor an "
                        "element that one leads to, was recorded",
                        name);
}

int scopes__change_balance(scopes__costs *costs, const scopes__waiting *w,
                           const scopes_change *change)
{
    balancing b = {.costs = costs,
                   .w = w,
                   .site = SCOPES_MISSING,
                   .count = w->times->last_step + 1};
    int err = 0;

    if (change->what) {
        err = site_find(w, change->what, &b.site);
        b.count = w->met_count;
    }
    if (err)
        return err;
    b.sum_ns = calloc((size_t)b.count + 1, sizeof(*b.sum_ns));
    b.first_ns = calloc((size_t)b.count + 1, sizeof(*b.first_ns));
    b.last_ns = calloc((size_t)b.count + 1, sizeof(*b.last_ns));
    b.met = calloc((size_t)b.count + 1, sizeof(*b.met));
    if (!b.sum_ns || !b.first_ns || !b.last_ns || !b.met)
        err = scopes__no_room("for what threads have computed");
    for (int changes = 0; changes < 2 && !err; changes++)
        for (uint32_t i = 0; i < w->times->thread_count; i++)
            if (w->times->threads[i].operations)
                thread_look(&b, i, changes);
    free(b.sum_ns);
    free(b.first_ns);
    free(b.last_ns);
    free(b.met);
    return err;
}
