/* gaps_peers.c - the work of gaps, compared with that of others: see
 * gaps_internal.h. */
#include "scopes/losses/gaps_internal.h"

#include <math.h>
#include <stdlib.h>

#include "scopes/memory/memory_internal.h"

#define UNEVEN 0.25 /* of the slowest, that others differ in the mean */
#define SLOW 0.25   /* of the slowest, that a thread must be slow, too */
#define RARE 0.2    /* of its mean excess, that it has half of the time */
#define ASLEEP 0.8  /* of an excess; and others at most the rest */

/* A number of one of several. */
typedef struct place {
    double ns;
    uint32_t number;
} place;

typedef struct comparing {
    scopes__gaps *g;
    double *thread_ns; /* all work of a thread */
    place *places;     /* of the cells of a group */
    uint32_t *at;      /* by cell of a group: an operation */
    int64_t *excess_ns;
} comparing;

static int by_ns(const void *left, const void *right)
{
    const place *a = left, *b = right;

    return (a->ns > b->ns) - (a->ns < b->ns);
}

/* Of others than the one at `own`, of places in order. */
static double median_of_others(const place *places, uint32_t count,
                               uint32_t own)
{
    uint32_t middle;

    if (count < 2)
        return places[own].ns;
    middle = (count - 2) / 2;
    return places[middle < own ? middle : middle + 1].ns;
}

static double mean_of(const place *places, uint32_t count)
{
    double sum = 0;

    for (uint32_t i = 0; i < count; i++)
        sum += places[i].ns;
    return sum / count;
}

/* --- the work of others --- */

/* Once around: the operation of each cell. */
static void compare_once(comparing *c, uint32_t cells)
{
    scopes__gaps *g = c->g;

    for (uint32_t i = 0; i < cells; i++)
        c->places[i] = (place){(double)g->work_ns[c->at[i]], i};
    qsort(c->places, cells, sizeof(*c->places), by_ns);
    for (uint32_t i = 0; i < cells; i++) {
        uint32_t operation = c->at[c->places[i].number];
        g->peer_ns[operation] = (int64_t)median_of_others(c->places, cells, i);
        g->mean_ns[operation] = (int64_t)mean_of(c->places, cells);
    }
}

static void compare_rounds(comparing *c, const scopes__gap_group *group)
{
    const scopes__gap_cell *cells = &c->g->cells[group->first];

    for (uint32_t i = 0; i < group->count; i++)
        c->at[i] = cells[i].first;
    for (uint32_t n = 0; n < cells[0].count; n++) {
        compare_once(c, group->count);
        for (uint32_t i = 0; i < group->count; i++)
            c->at[i] = c->g->next[c->at[i]];
    }
}

/* All work of a cell, times as much as that of others is of its own. */
static void scale(comparing *c, const scopes__gap_cell *cell, double peers,
                  double mean)
{
    scopes__gaps *g = c->g;

    for (uint32_t i = cell->first; i != SCOPES_MISSING; i = g->next[i]) {
        g->peer_ns[i] = (int64_t)((double)g->work_ns[i] * peers);
        g->mean_ns[i] = (int64_t)((double)g->work_ns[i] * mean);
    }
}

static void compare_means(comparing *c, const scopes__gap_group *group)
{
    const scopes__gap_cell *cells = &c->g->cells[group->first];
    double mean_ns = 0;

    for (uint32_t i = 0; i < group->count; i++)
        mean_ns += cells[i].work_ns / group->count;
    for (uint32_t i = 0; i < group->count; i++)
        c->places[i] = (place){cells[i].work_ns / cells[i].count, i};
    qsort(c->places, group->count, sizeof(*c->places), by_ns);
    for (uint32_t i = 0; i < group->count; i++) {
        double own_ns = c->places[i].ns;
        double peer_ns = median_of_others(c->places, group->count, i);
        const scopes__gap_cell *cell = &cells[c->places[i].number];
        scale(c, cell, own_ns > 0 ? peer_ns / own_ns : 1,
              own_ns > 0 ? mean_ns / cell->work_ns : 1);
    }
}

/* With others that work. */
static void compare_alone(comparing *c, const scopes__gap_cell *cell)
{
    uint32_t threads = c->g->w->times->thread_count, own = 0, count = 0;
    double part;

    for (uint32_t i = 0; i < threads; i++)
        if (c->thread_ns[i] > 0 || i == cell->thread)
            c->places[count++] = (place){c->thread_ns[i], i};
    qsort(c->places, count, sizeof(*c->places), by_ns);
    while (c->places[own].number != cell->thread)
        own++;
    part = c->places[own].ns > 0
               ? median_of_others(c->places, count, own) / c->places[own].ns
               : 1;
    if (part > 1)
        part = 1;
    scale(c, cell, part, part);
}

static bool is_level(const comparing *c, const scopes__gap_group *group)
{
    const scopes__gap_cell *cells = &c->g->cells[group->first];

    for (uint32_t i = 1; i < group->count; i++)
        if (cells[i].count != cells[0].count)
            return false;
    return true;
}

/* --- what that tells --- */

static int in_order(const void *a, const void *b)
{
    const int64_t *one = a, *two = b;

    return (*one > *two) - (*one < *two);
}

static void count_often(comparing *c, scopes__gap_cell *cell)
{
    int64_t most_ns = c->excess_ns[cell->count - 1];

    for (uint32_t i = 0; i < cell->count; i++)
        cell->often += most_ns > 0 && c->excess_ns[i] > most_ns / 2;
}

static void sum_up(comparing *c, scopes__gap_cell *cell)
{
    scopes__gaps *g = c->g;
    uint32_t count = 0;

    for (uint32_t i = cell->first; i != SCOPES_MISSING; i = g->next[i]) {
        int64_t excess_ns = scopes__gap_excess(g, i);
        c->excess_ns[count++] = excess_ns;
        cell->excess_ns += (double)excess_ns;
        cell->apart_ns += fabs((double)(g->work_ns[i] - g->peer_ns[i]));
    }
    qsort(c->excess_ns, count, sizeof(*c->excess_ns), in_order);
    cell->is_rare =
        (double)c->excess_ns[count / 2] < RARE * cell->excess_ns / cell->count;
    count_often(c, cell);
}

/* Does the cell sleep where others work? */
static bool is_asleep(const scopes__gaps *g, const scopes__gap_group *group,
                      const scopes__gap_cell *cell)
{
    double sleep_ns = 0, work_ns = 0;

    for (uint32_t i = group->first; i < group->first + group->count; i++) {
        if (&g->cells[i] == cell)
            continue;
        sleep_ns += g->cells[i].sleep_ns;
        work_ns += g->cells[i].work_ns;
    }
    return work_ns > 0 && sleep_ns < (1 - ASLEEP) * work_ns &&
           cell->sleep_ns > ASLEEP * cell->excess_ns;
}

static void judge(scopes__gaps *g, scopes__gap_group *group)
{
    scopes__gap_cell *cells = &g->cells[group->first];
    const scopes__gap_cell *top = cells;
    double apart_ns = 0;

    for (uint32_t i = 0; i < group->count; i++) {
        group->excess_ns += cells[i].excess_ns;
        apart_ns += cells[i].apart_ns;
        if (cells[i].excess_ns > top->excess_ns)
            top = &cells[i];
    }
    if (top->excess_ns <= 0)
        return;
    group->is_uneven =
        group->count > 2 && (apart_ns - top->apart_ns) / (group->count - 1) >
                                UNEVEN * top->excess_ns;
    for (uint32_t i = 0; i < group->count && !group->is_uneven; i++) {
        cells[i].is_slow = cells[i].excess_ns > SLOW * top->excess_ns;
        cells[i].is_rare = cells[i].is_rare || is_asleep(g, group, &cells[i]);
    }
}

static void compare_group(comparing *c, scopes__gap_group *group)
{
    if (group->count == 1)
        compare_alone(c, &c->g->cells[group->first]);
    else if (is_level(c, group))
        compare_rounds(c, group);
    else
        compare_means(c, group);
    for (uint32_t i = group->first; i < group->first + group->count; i++)
        sum_up(c, &c->g->cells[i]);
    judge(c->g, group);
}

static uint32_t longest_cell(const scopes__gaps *g)
{
    uint32_t longest = 0;

    for (uint32_t i = 0; i < g->cell_count; i++)
        if (g->cells[i].count > longest)
            longest = g->cells[i].count;
    return longest;
}

int scopes__gaps_compare(scopes__gaps *g)
{
    uint32_t threads = g->w->times->thread_count;
    comparing c = {.g = g};
    int err = 0;

    c.thread_ns = calloc(threads + 1u, sizeof(*c.thread_ns));
    c.places = calloc(threads + 1u, sizeof(*c.places));
    c.at = calloc(threads + 1u, sizeof(*c.at));
    c.excess_ns =
        scopes__allocate((longest_cell(g) + 1u) * sizeof(*c.excess_ns));
    if (!c.thread_ns || !c.places || !c.at || !c.excess_ns)
        err = scopes__no_room("for what threads compute");
    for (uint32_t i = 0; i < g->cell_count && !err; i++)
        c.thread_ns[g->cells[i].thread] += g->cells[i].work_ns;
    for (uint32_t i = 0; i < g->group_count && !err; i++)
        compare_group(&c, &g->groups[i]);
    free(c.thread_ns);
    free(c.places);
    free(c.at);
    scopes__free(c.excess_ns);
    return err;
}
