/* clock_check.c - how good clocks are, by the paper's test: whether operations
 * arrive after they were sent. */
#include "scopes/clock_internal.h"

#include <math.h>
#include <stdlib.h>

#include "pastset/status.h"

typedef struct checker {
    const scopes_clocks *clocks;
    uint64_t operations;
    int64_t *misses; /* nanoseconds */
    size_t count, room;
} checker;

static int miss_add(checker *c, int64_t miss_ns)
{
    if (c->count == c->room) {
        size_t room = c->room ? 2 * c->room : 1024;
        int64_t *misses = realloc(c->misses, room * sizeof(*misses));
        if (!misses)
            return pastset_fail(PASTSET_ENOMEM, "no memory for %zu times",
                                room);
        c->misses = misses;
        c->room = room;
    }
    c->misses[c->count++] = miss_ns;
    return 0;
}

static int check(const scopes__exchange *e, void *context)
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

static int compare(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static void summarise(const checker *c, scopes_accuracy *out)
{
    double count = (double)c->count, squares = 0;

    qsort(c->misses, c->count, sizeof(c->misses[0]), compare);
    for (size_t i = 0; i < c->count; i++)
        out->mean_ns += (double)c->misses[i] / count;
    for (size_t i = 0; i < c->count; i++) {
        double beside = (double)c->misses[i] - out->mean_ns;
        squares += beside * beside / count;
    }
    out->deviation_ns = sqrt(squares);
    out->median_ns = ((double)c->misses[(c->count - 1) / 2] +
                      (double)c->misses[c->count / 2]) /
                     2;
    out->worst_ns = (double)c->misses[c->count - 1];
}

int scopes_clocks_check(scopes_accuracy *out, const scopes_clocks *clocks,
                        const scopes_store *store, const scopes_ways *ways)
{
    checker c = {.clocks = clocks};
    int err = scopes__exchanges_each(store, ways, check, &c);

    *out = (scopes_accuracy){.operations = c.operations,
                             .correct = c.operations - c.count};
    if (!err && c.count)
        summarise(&c, out);
    free(c.misses);
    return err;
}
