/* clock_check.c - how good clocks are, by the paper's test: whether operations
 * arrive after they were sent. */
#include "scopes/clocks/clock_internal.h"

#include <math.h>
#include <stdlib.h>

#include "pastset/array.h"
#include "pastset/status.h"
#include "scopes/memory/memory_internal.h"

typedef struct checker {
    const scopes_clocks *clocks;
    uint64_t operations;
    int64_t *misses; /* nanoseconds */
    size_t count;
} checker;

static int miss_add(checker *c, int64_t miss_ns)
{
    int64_t *misses = scopes__array_grow(c->misses, c->count, sizeof(*misses));

    if (!misses)
        return pastset_no_memory("for %zu times", c->count + 1);
    c->misses = misses;
    c->misses[c->count++] = miss_ns;
    return 0;
}

static int check_message(const scopes__message *e, void *context)
{
    checker *c = context;
    int64_t miss_ns = scopes_clocks_ns(c->clocks, e->from, e->from_ticks) -
                      scopes_clocks_ns(c->clocks, e->to, e->to_ticks);

    if (e->from == e->to)
        return 0;
    c->operations++;
    return miss_ns > 0 ? miss_add(c, miss_ns) : 0;
}

static int check(const scopes__probe_pair *e, void *context)
{
    checker *c = context;
    int64_t down = scopes_clocks_ns(c->clocks, e->upper, e->t1) -
                   scopes_clocks_ns(c->clocks, e->lower, e->t2);
    int64_t up = scopes_clocks_ns(c->clocks, e->lower, e->t3) -
                 scopes_clocks_ns(c->clocks, e->upper, e->t4);
    int64_t miss_ns = down > up ? down : up;

    c->operations++;
    return miss_ns > 0 ? miss_add(c, miss_ns) : 0;
}

static void swap(int64_t *a, int64_t *b)
{
    int64_t of_a = *a;
    *a = *b;
    *b = of_a;
}

/* Moves the value that would be at `rank` in sorted order there, smaller ones
 * to its left and larger ones to its right (Hoare's selection). */
static void select_rank(int64_t *values, size_t count, size_t rank)
{
    size_t from = 0, to = count - 1;

    while (from < to) {
        int64_t pivot = values[from + (to - from) / 2];
        size_t i = from, j = to;
        for (;;) {
            while (values[i] < pivot)
                i++;
            while (values[j] > pivot)
                j--;
            if (i >= j)
                break;
            swap(&values[i++], &values[j--]);
        }
        if (rank <= j)
            to = j;
        else
            from = j + 1;
    }
}

/* Of an even number, the mean of the two in the middle. */
static double median(int64_t *values, size_t count)
{
    size_t middle = count / 2;
    int64_t below;

    select_rank(values, count, middle);
    below = values[middle];
    if (count % 2 == 0) {
        below = INT64_MIN;
        for (size_t i = 0; i < middle; i++)
            below = values[i] > below ? values[i] : below;
    }
    return ((double)below + (double)values[middle]) / 2;
}

static void summarise(const checker *c, scopes_accuracy *out)
{
    double count = (double)c->count, squares = 0;

    for (size_t i = 0; i < c->count; i++) {
        out->mean_ns += (double)c->misses[i] / count;
        out->worst_ns = fmax(out->worst_ns, (double)c->misses[i]);
    }
    for (size_t i = 0; i < c->count; i++) {
        double beside = (double)c->misses[i] - out->mean_ns;
        squares += beside * beside / count;
    }
    out->deviation_ns = sqrt(squares);
    out->median_ns = median(c->misses, c->count);
}

int scopes_clocks_check(scopes_accuracy *out, const scopes_clocks *clocks,
                        const scopes_event_table *event_table,
                        const scopes_topology *topology)
{
    checker c = {.clocks = clocks};
    int err = scopes__probe_pairs_each(event_table, topology, check, &c);

    if (!err)
        err = scopes__messages_each(event_table, topology, check_message, &c);
    *out = (scopes_accuracy){.operations = c.operations,
                             .correct = c.operations - c.count};
    if (!err && c.count)
        summarise(&c, out);
    scopes__free(c.misses);
    return err;
}
