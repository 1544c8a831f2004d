/* losses.c - see losses_internal.h. */
#include "scopes/losses/losses_internal.h"

#include <stdlib.h>

#include "scopes/memory/memory_internal.h"

#define NEAR 0.1    /* gains that differ by less of the greater are as good */
#define SMALL 0.003 /* of the run, and: */
#define SMALL_WAITING 0.01 /* of all waiting: not told by itself */

static int no_memory(void)
{
    return scopes__no_room("for the causes of waiting");
}

/* --- what they are made from --- */

static uint32_t *positions(uint32_t count)
{
    uint32_t *items = malloc((count + 1u) * sizeof(*items));

    for (uint32_t i = 0; i <= count && items; i++)
        items[i] = SCOPES_MISSING;
    return items;
}

static int positions_make(scopes__losses *l)
{
    l->of_cell = positions(l->gaps.cell_count);
    l->of_link = positions(l->links.count);
    l->of_node = positions(l->w->in.topology->map->node_count);
    return l->of_cell && l->of_link && l->of_node ? 0 : no_memory();
}

/* --- the order --- */

static bool is_small(const scopes__losses *l, const scopes__loss *loss)
{
    return (!loss->is_replayed && loss->kind != SCOPES__LATE_BEGIN) ||
           (loss->waiting_ns <= SMALL_WAITING * l->waiting_ns &&
            (double)loss->gain_ns <= SMALL * (double)l->run_ns);
}

/* What is not worth a line of its own is left to what remains. */
static void leave_out_small(scopes__losses *l)
{
    scopes__loss rest = l->items[l->dependency];
    uint32_t count = 0;

    for (uint32_t i = 0; i < l->count; i++) {
        if (i == l->dependency)
            continue;
        if (!is_small(l, &l->items[i]))
            l->items[count++] = l->items[i];
        else
            rest.waiting_ns += l->items[i].waiting_ns;
    }
    if (rest.waiting_ns > 0)
        l->items[count++] = rest;
    l->count = count;
}

/* Which of them gains more is not known. */
static bool are_equal(const scopes__loss *a, const scopes__loss *b)
{
    return a->gain_ns >= b->low_ns && a->gain_ns <= b->high_ns &&
           b->gain_ns >= a->low_ns && b->gain_ns <= a->high_ns;
}

static bool is_before(const scopes__loss *a, const scopes__loss *b)
{
    double most = (double)(a->gain_ns > b->gain_ns ? a->gain_ns : b->gain_ns);

    if (a->is_replayed != b->is_replayed)
        return a->is_replayed;
    if ((double)llabs(a->gain_ns - b->gain_ns) > NEAR * most)
        return a->gain_ns > b->gain_ns;
    return a->waiting_ns > b->waiting_ns;
}

static void swap(scopes__loss *a, scopes__loss *b)
{
    scopes__loss loss = *a;

    *a = *b;
    *b = loss;
}

/* What is everybody's lets those go first that say whose time it was and gain
 * as much. */
static bool lets_go_first(const scopes__loss *a, const scopes__loss *b)
{
    return a->kind == SCOPES__TRANSFER && a->is_replayed && b->is_replayed &&
           are_equal(a, b);
}

/* Each place is given to the best of those left: what is near is not in the
 * same way near to all. */
static void put_in_order(scopes__losses *l)
{
    for (uint32_t i = 0; i < l->count; i++) {
        uint32_t best = i;
        for (uint32_t n = i + 1; n < l->count; n++)
            if (is_before(&l->items[n], &l->items[best]))
                best = n;
        swap(&l->items[i], &l->items[best]);
    }
    for (uint32_t i = 1; i < l->count; i++)
        if (lets_go_first(&l->items[i - 1], &l->items[i]))
            swap(&l->items[i - 1], &l->items[i]);
}

/* --- all of it --- */

static double lost_share(const scopes_event_table *table)
{
    double lost = (double)table->ledger.lost, read = (double)table->ledger.read;

    return lost > 0 ? lost / (lost + read) : 0;
}

static int make(scopes__losses *l)
{
    int err = scopes__rerun_create(&l->rerun, l->w);

    if (err)
        return err;
    l->run_ns = scopes__rerun_time(l->rerun, scopes__rerun_recorded(l->rerun));
    l->lost_share = lost_share(l->w->in.event_table);
    err = scopes__gaps_make(&l->gaps, l->w,
                            scopes__rerun_recorded(l->rerun)->gap_ns);
    if (!err)
        err = scopes__links_make(&l->links, l->w);
    if (!err)
        err = positions_make(l);
    if (!err)
        err = scopes__losses_find(l);
    if (!err)
        err = scopes__losses_ways(l);
    if (!err)
        err = scopes__losses_rooms(l);
    if (!err)
        err = scopes__losses_share(l);
    if (!err)
        err = scopes__losses_gain(l);
    if (err)
        return err;
    leave_out_small(l);
    put_in_order(l);
    return 0;
}

int scopes__losses_create(scopes__losses **out, const scopes__waiting *waiting)
{
    scopes__losses *l = calloc(1, sizeof(*l));
    int err;

    *out = NULL;
    if (!l)
        return no_memory();
    l->w = waiting;
    err = make(l);
    if (err)
        scopes__losses_destroy(l);
    else
        *out = l;
    return err;
}

void scopes__losses_destroy(scopes__losses *l)
{
    if (!l)
        return;
    scopes__rerun_destroy(l->rerun);
    scopes__gaps_free(&l->gaps);
    scopes__links_free(&l->links);
    scopes__free(l->ways.rest_ns);
    scopes__free(l->ways.delayed_ns);
    scopes__free(l->ways.links);
    scopes__free(l->ways.runnable_ns);
    free(l->of_cell);
    free(l->of_link);
    free(l->of_node);
    scopes__free(l->ends);
    scopes__free(l->items);
    free(l);
}
