/* choose_search.c - finding good placements among very many.
 *
 * 500 machines and 4 nodes make 6e10 placements. They are searched by estimates
 * (choose_rate.c), which take a microsecond:
 *
 *   start     The nodes are placed one after another, the one with most bytes
 *             first, each on the machine that is best for those placed so far.
 *             The first one is tried on each machine: so a group of machines
 *             with good links is found from any of them. Then starts are
 *             random.
 *   improve   A node goes to the machine that is best for it, or changes places
 *             with the one that is there, until that helps no node any more.
 *
 * It ends after STALE random starts that found nothing better, or when the time
 * is over. Everything that was estimated goes into the pool. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pastset/status.h"
#include "predict/choose/choose_internal.h"

#define STALE 50 /* starts without success */

double predict__now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* --- all of them --- */

/* Which placement follows: machines[0..nodes) are different numbers, and count
 * up, the last one first. `used` is by machine. */
static bool next_placement(uint32_t *machines, bool *used, uint32_t nodes,
                           uint32_t machine_count)
{
    uint32_t at = nodes;

    while (at > 0) {
        uint32_t machine = machines[--at];
        used[machine] = false;
        while (++machine < machine_count && used[machine])
            ;
        if (machine == machine_count)
            continue;
        for (;;) {
            machines[at] = machine;
            used[machine] = true;
            if (++at == nodes)
                return true;
            for (machine = 0; used[machine];)
                machine++;
        }
    }
    return false;
}

int predict__each_placement(uint32_t nodes, uint32_t machine_count,
                            int (*visit)(void *context, uint32_t *machines),
                            void *context)
{
    uint32_t *machines = calloc(nodes + 1u, sizeof(*machines));
    bool *used = calloc(machine_count + 1u, sizeof(*used));
    int err = 0;

    if (!machines || !used)
        err = pastset_no_memory("to go through "
                                "placements");
    for (uint32_t i = 0; i < nodes && !err; i++) {
        machines[i] = i;
        used[i] = true;
    }
    while (!err) {
        err = visit(context, machines);
        if (err || !next_placement(machines, used, nodes, machine_count))
            break;
    }
    free(machines);
    free(used);
    return err;
}

/* --- one after another --- */

static double estimate(predict__search *s, uint32_t *machines)
{
    predict_placement p = {.machines = machines,
                           .time_s = predict__estimate(s->rater, machines)};

    s->estimated++;
    predict__pool_add(s->pool, &p);
    return p.time_s;
}

static int visit_one(void *context, uint32_t *machines)
{
    estimate(context, machines);
    return 0;
}

int predict__search_all(predict__search *s)
{
    return predict__each_placement((uint32_t)s->rater->profile->node_count,
                                   s->rater->cluster->machine_count, visit_one,
                                   s);
}

static void swap(uint32_t *a, uint32_t *b)
{
    uint32_t keep = *a;

    *a = *b;
    *b = keep;
}

/* Which node is on a machine; PREDICT_NONE. */
static uint32_t node_on(const uint32_t *machines, uint32_t nodes,
                        uint32_t machine)
{
    for (uint32_t i = 0; i < nodes; i++) {
        if (machines[i] == machine)
            return i;
    }
    return PREDICT_NONE;
}

/* Puts a node onto a machine, and who is there onto its. */
static void move(uint32_t *machines, uint32_t nodes, uint32_t node,
                 uint32_t machine)
{
    uint32_t there = node_on(machines, nodes, machine);

    if (there == PREDICT_NONE)
        machines[node] = machine;
    else
        swap(&machines[node], &machines[there]);
}

/* Moves one node to where it is best. Gives the estimate then. */
static double move_best(predict__search *s, uint32_t *machines, uint32_t node,
                        double now)
{
    uint32_t nodes = (uint32_t)s->rater->profile->node_count;
    uint32_t from = machines[node], best = from;

    for (uint32_t machine = 0; machine < s->rater->cluster->machine_count;
         machine++) {
        double then;
        if (machine == from)
            continue;
        move(machines, nodes, node, machine);
        then = estimate(s, machines);
        move(machines, nodes, node, from);
        if (then < now) {
            now = then;
            best = machine;
        }
    }
    if (best != from)
        move(machines, nodes, node, best);
    return now;
}

void predict__search_around(predict__search *s, uint32_t *machines)
{
    uint32_t nodes = (uint32_t)s->rater->profile->node_count;

    for (uint32_t node = 0; node < nodes; node++) {
        uint32_t from = machines[node];
        for (uint32_t machine = 0; machine < s->rater->cluster->machine_count;
             machine++) {
            uint32_t there = node_on(machines, nodes, machine);
            if (machine == from || (there != PREDICT_NONE && there < node))
                continue; /* a swap is the same from both sides */
            move(machines, nodes, node, machine);
            estimate(s, machines);
            move(machines, nodes, node, from);
        }
    }
}

static double improve(predict__search *s, uint32_t *machines)
{
    uint32_t nodes = (uint32_t)s->rater->profile->node_count;
    double now = estimate(s, machines), before;

    do {
        before = now;
        for (uint32_t i = 0; i < nodes && predict__now() < s->until_s; i++)
            now = move_best(s, machines, i, now);
    } while (now < before && predict__now() < s->until_s);
    return now;
}

/* --- starts --- */

typedef struct byte_count {
    double bytes;
    uint32_t node;
} byte_count;

static int by_bytes(const void *a, const void *b)
{
    const byte_count *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->node < y->node ? -1 : 1;
}

/* The nodes, the one with most bytes first. */
static void order_nodes(const predict__rater *r, byte_count *order)
{
    for (uint32_t i = 0; i < r->profile->node_count; i++)
        order[i] = (byte_count){0, i};
    for (size_t i = 0; i < r->profile->link_count; i++) {
        const predict_link *link = &r->profile->links[i];
        double bytes = r->traffic[i].bytes[0] + r->traffic[i].bytes[1];
        order[link->a].bytes += bytes;
        order[link->b].bytes += bytes;
    }
    qsort(order, r->profile->node_count, sizeof(*order), by_bytes);
}

static void place_greedily(predict__search *s, const byte_count *order,
                           uint32_t first, uint32_t *machines)
{
    uint32_t nodes = (uint32_t)s->rater->profile->node_count;

    for (uint32_t i = 0; i < nodes; i++)
        machines[i] = PREDICT_NONE;
    machines[order[0].node] = first;
    for (uint32_t i = 1; i < nodes; i++) {
        uint32_t node = order[i].node, best = PREDICT_NONE;
        double min = 0;
        for (uint32_t machine = 0; machine < s->rater->cluster->machine_count;
             machine++) {
            double then;
            if (node_on(machines, nodes, machine) != PREDICT_NONE)
                continue;
            machines[node] = machine;
            then = predict__estimate(s->rater, machines);
            machines[node] = PREDICT_NONE;
            s->estimated++;
            if (best == PREDICT_NONE || then < min) {
                best = machine;
                min = then;
            }
        }
        machines[node] = best;
    }
}

/* xorshift64*: the same everywhere. */
static uint32_t random_below(uint64_t *state, uint32_t max)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (uint32_t)(((*state * 0x2545F4914F6CDD1Du) >> 32) * max >> 32);
}

static void place_randomly(predict__search *s, uint64_t *state,
                           uint32_t *machines)
{
    uint32_t nodes = (uint32_t)s->rater->profile->node_count;

    for (uint32_t i = 0; i < nodes; i++)
        machines[i] = PREDICT_NONE;
    for (uint32_t i = 0; i < nodes; i++) {
        uint32_t machine;
        do {
            machine = random_below(state, s->rater->cluster->machine_count);
        } while (node_on(machines, i, machine) != PREDICT_NONE);
        machines[i] = machine;
    }
}

static void starts(predict__search *s, const byte_count *order,
                   uint32_t *machines)
{
    uint32_t machine_count = s->rater->cluster->machine_count, stale = 0;
    uint64_t state = s->seed * 0x9E3779B97F4A7C15u + 0x1234567u;
    double best = 0;

    if (state == 0)
        state = 1; /* from 0 there is no other number */
    for (s->starts = 0; s->starts == 0 || predict__now() < s->until_s;
         s->starts++) {
        double found;
        if (s->starts < machine_count)
            place_greedily(s, order, s->starts, machines);
        else if (stale++ < STALE)
            place_randomly(s, &state, machines);
        else
            break;
        found = improve(s, machines);
        if (s->starts == 0 || found < best) {
            best = found;
            stale = 0;
        }
    }
}

int predict__search_run(predict__search *s)
{
    size_t nodes = s->rater->profile->node_count;
    byte_count *order = calloc(nodes + 1, sizeof(*order));
    uint32_t *machines = calloc(nodes + 1, sizeof(*machines));
    int err = 0;

    if (!order || !machines) {
        err = pastset_no_memory("to search placements");
    } else {
        order_nodes(s->rater, order);
        starts(s, order, machines);
    }
    free(order);
    free(machines);
    return err;
}
