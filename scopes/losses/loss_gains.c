/* loss_gains.c - the run without a cause: see losses_internal.h. */
#include "scopes/losses/losses_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/request.h"
#include "scopes/memory/memory_internal.h"

#define PARTS 10                   /* of the run, of which each has a gain */
#define ERRORS 2.26                /* so many standard errors: 95 % of PARTS */
#define MOST_REPLAYS 24            /* if there are few operations */
#define LEAST_REPLAYS 8            /* if there are many */
#define MOST_OPERATIONS 100000000u /* to be replayed in all */
#define WORTH 0.003                /* of all waiting, or of the run */

/* --- costs without a cause --- */

static void shorten(int64_t *ns, int64_t by_ns)
{
    *ns -= by_ns < *ns ? by_ns : *ns;
}

static void without_excess(scopes__losses *l, scopes__costs *c, uint32_t cell)
{
    const scopes__gaps *g = &l->gaps;

    for (uint32_t i = g->cells[cell].first; i != SCOPES_MISSING; i = g->next[i])
        shorten(&c->gap_ns[i], scopes__gap_excess(g, i));
}

static void balanced(scopes__losses *l, scopes__costs *c, uint32_t number)
{
    const scopes__gaps *g = &l->gaps;
    const scopes__gap_group *group = &g->groups[number];

    for (uint32_t n = group->first; n < group->first + group->count; n++)
        for (uint32_t i = g->cells[n].first; i != SCOPES_MISSING;
             i = g->next[i])
            c->gap_ns[i] += g->mean_ns[i] - g->work_ns[i];
}

static void never_runnable(scopes__losses *l, scopes__costs *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        shorten(&c->gap_ns[i], l->gaps.runnable_ns[i]);
        shorten(&c->up_ns[i], l->ways.runnable_ns[i]);
        shorten(&c->own_ns[i], l->ways.runnable_ns[i]);
    }
}

static void with_room(scopes__losses *l, scopes__costs *c, uint32_t element)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (scopes__waiting_other(l->w, i) != SCOPES_MISSING &&
            scopes__waiting_operation(l->w, i)->verb == PASTSET_WRITE &&
            scopes__waiting_top(l->w, i)->element == element)
            c->is_free[i] = 1;
}

static int as_peers(scopes__losses *l, scopes__costs *c, uint32_t number)
{
    const scopes__link *link = &l->links.items[number];
    bool *hops = calloc(l->links.collectors + 1u, sizeof(*hops));
    int err;

    if (!hops)
        return scopes__no_room("to replay the run");
    for (uint32_t i = 0; i < l->links.collectors; i++)
        hops[i] = l->links.of[i] == number;
    err = scopes__costs_hops(c, l->w, hops, link->peer_ns / link->ns);
    free(hops);
    return err;
}

static void at_once(scopes__costs *c)
{
    size_t bytes = c->count * sizeof(int64_t);

    memset(c->down_ns, 0, bytes);
    memset(c->own_ns, 0, bytes);
    memset(c->up_ns, 0, bytes);
}

/* Of transfer, that of links that are delayed and of runnable threads is left
 * to these: they are without it before, too. */
static int without_others(scopes__losses *l, scopes__costs *c)
{
    int err = 0;

    never_runnable(l, c);
    for (uint32_t i = 0; i < l->links.count && !err; i++)
        if (l->links.items[i].is_delayed)
            err = as_peers(l, c, i);
    return err;
}

static int without(scopes__losses *l, scopes__costs *c,
                   const scopes__loss *loss)
{
    switch (loss->kind) {
    case SCOPES__SLOW_THREAD:
    case SCOPES__LATE_ARRIVER:
        for (uint32_t i = loss->cell; i != SCOPES_MISSING;
             i = l->gaps.cells[i].also)
            without_excess(l, c, i);
        return 0;
    case SCOPES__IMBALANCE:
        for (uint32_t i = loss->group; i != SCOPES_MISSING;
             i = l->gaps.groups[i].also)
            balanced(l, c, i);
        return 0;
    case SCOPES__SHARED_PROCESSOR:
        never_runnable(l, c);
        return 0;
    case SCOPES__SMALL_ELEMENT:
        with_room(l, c, loss->element);
        return 0;
    case SCOPES__DELAYED_HOP:
        return as_peers(l, c, loss->link);
    case SCOPES__TRANSFER:
        at_once(c);
        return 0;
    case SCOPES__LATE_BEGIN:
    case SCOPES__DEPENDENCY:
        break;
    }
    return 0;
}

/* --- how sure --- */

/* When all had ended that ended in a part of the run, or before it. */
static void progress(const scopes__losses *l, double *ns)
{
    const scopes__waiting *w = l->w;
    double length_ns = (double)(w->times->end_ns - w->times->start_ns + 1);

    memset(ns, 0, PARTS * sizeof(*ns));
    for (uint32_t i = 0; i < w->count; i++) {
        int64_t at_ns = w->times->operations[i].end_ns - w->times->start_ns;
        int part = (int)((double)at_ns / length_ns * PARTS);
        double end_ns = (double)scopes__rerun_end_of(l->rerun, i);
        if (part >= 0 && part < PARTS && end_ns > ns[part])
            ns[part] = end_ns;
    }
    for (int p = 1; p < PARTS; p++)
        ns[p] = ns[p] > ns[p - 1] ? ns[p] : ns[p - 1];
}

/* The standard error of the sum of what the parts gain. */
static double error_of(const double *before, const double *after)
{
    double gains[PARTS], mean = 0, square = 0;

    for (int p = 0; p < PARTS; p++) {
        gains[p] = before[p] - after[p];
        if (p > 0)
            gains[p] -= before[p - 1] - after[p - 1];
        mean += gains[p] / PARTS;
    }
    for (int p = 0; p < PARTS; p++)
        square += (gains[p] - mean) * (gains[p] - mean);
    return sqrt(square / (PARTS - 1) * PARTS);
}

static void bounds(const scopes__losses *l, scopes__loss *loss,
                   const double *before, const double *after)
{
    double off_ns = ERRORS * error_of(before, after) +
                    l->lost_share * (double)loss->gain_ns;

    loss->low_ns = loss->gain_ns - llround(off_ns);
    loss->high_ns = loss->gain_ns + llround(off_ns);
    if (loss->low_ns < 0)
        loss->low_ns = loss->gain_ns > 0 ? 0 : loss->gain_ns;
    if (loss->high_ns > l->run_ns)
        loss->high_ns = l->run_ns;
}

/* --- a replay --- */

static int replay_both(scopes__losses *l, scopes__costs *c, scopes__loss *loss)
{
    double before[PARTS], after[PARTS];
    int64_t before_ns;
    int err = 0;

    if (loss->kind == SCOPES__TRANSFER)
        err = without_others(l, c);
    if (err)
        return err;
    before_ns = scopes__rerun_time(l->rerun, c);
    progress(l, before);
    err = without(l, c, loss);
    if (err)
        return err;
    loss->gain_ns = before_ns - scopes__rerun_time(l->rerun, c);
    progress(l, after);
    bounds(l, loss, before, after);
    loss->is_replayed = true;
    return 0;
}

int scopes__loss_replay(scopes__losses *l, scopes__loss *loss)
{
    scopes__costs c;
    int err = scopes__costs_copy(&c, scopes__rerun_recorded(l->rerun));

    if (err)
        return err;
    err = replay_both(l, &c, loss);
    scopes__costs_free(&c);
    return err;
}

/* --- those that matter --- */

/* What others compute in the same place tells of a thread that it is slow, even
 * if nobody has waited for it: at the end of the run. */
static bool has_peers(const scopes__losses *l, const scopes__loss *loss)
{
    return loss->cell != SCOPES_MISSING &&
           l->gaps.groups[l->gaps.cells[loss->cell].group].count > 1;
}

static double weight(const scopes__losses *l, const scopes__loss *loss)
{
    double waiting = l->waiting_ns > 0 ? loss->waiting_ns / l->waiting_ns : 0;
    double excess_ns = (double)loss->count * (double)loss->each_ns;
    double excess = l->run_ns > 0 ? excess_ns / (double)l->run_ns : 0;

    return has_peers(l, loss) && excess > waiting ? excess : waiting;
}

/* SCOPES_MISSING: no other is worth it. */
static uint32_t heaviest(const scopes__losses *l)
{
    uint32_t found = SCOPES_MISSING;
    double most = WORTH;

    for (uint32_t i = 0; i < l->count; i++) {
        const scopes__loss *loss = &l->items[i];
        if (loss->is_replayed || loss->kind >= SCOPES__LATE_BEGIN ||
            weight(l, loss) <= most)
            continue;
        found = i;
        most = weight(l, loss);
    }
    return found;
}

int scopes__losses_gain(scopes__losses *l)
{
    uint32_t replays = MOST_OPERATIONS / (l->w->count + 1), next;
    int err = 0;

    replays = replays < LEAST_REPLAYS  ? LEAST_REPLAYS
              : replays > MOST_REPLAYS ? MOST_REPLAYS
                                       : replays;
    for (uint32_t i = 0; i < l->count; i++)
        l->items[i].is_replayed = false;
    for (uint32_t n = 0; n < replays && !err; n++) {
        next = heaviest(l);
        if (next == SCOPES_MISSING)
            break;
        err = scopes__loss_replay(l, &l->items[next]);
    }
    return err;
}
