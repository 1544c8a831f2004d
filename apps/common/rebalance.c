/* rebalance.c - see rebalance.h.
 *
 * Each thread adds its own weight to a row of zeros, so that the sum is the
 * weights of all, exactly. */
#include "apps/common/rebalance.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/division.h"
#include "pastset/status.h"

#define SHARE_LEAST 0.01
#define SHARE_MOST 100

void rebalance_mapping(FILE *out, uint32_t threads)
{
    fprintf(out,
            "    shares [kind=element, type=\"f64[%" PRIu32
            "]\", capacity=2];\n",
            threads);
    for (uint32_t i = 0; i < threads; i++)
        fprintf(out, "    t%" PRIu32 " -> shares [use=sum];\n", i);
}

/* --- life --- */

static int rows_find(rebalance *r, const char *cut)
{
    int err = 0;

    for (uint32_t i = 0; i < r->threads && !err; i++) {
        uint32_t count;
        err =
            division_share(cut, r->rows, r->threads, i, &r->starts[i], &count);
        if (!err)
            r->by_map[i] = count;
    }
    r->starts[r->threads] = r->rows;
    memcpy(r->wanted, r->starts, (r->threads + 1) * sizeof(*r->starts));
    return err;
}

int rebalance_open(rebalance *r, paths_thread *self, uint32_t rows,
                   const char *cut)
{
    size_t threads = paths_thread_count(self);
    int err;

    *r = (rebalance){.rows = rows,
                     .threads = (uint32_t)threads,
                     .number = paths_thread_number(self)};
    r->starts = calloc(threads + 1, sizeof(*r->starts));
    r->wanted = calloc(threads + 1, sizeof(*r->wanted));
    r->by_map = calloc(threads, sizeof(*r->by_map));
    r->said = calloc(2 * threads, sizeof(*r->said));
    if (!r->starts || !r->wanted || !r->by_map || !r->said)
        return pastset_no_memory("for the division of the work");
    err = rows_find(r, cut);
    if (!err)
        err = paths_open(&r->shares, self, "shares");
    if (err)
        return err;
    return eventspace_tunable_open(&r->share, self, "share", 1, SHARE_LEAST,
                                   SHARE_MOST);
}

void rebalance_close(rebalance *r)
{
    free(r->starts);
    free(r->wanted);
    free(r->by_map);
    free(r->said);
}

/* --- use --- */

int rebalance_ask(rebalance *r)
{
    size_t bytes = r->threads * sizeof(*r->said);
    double *all = r->said + r->threads;
    int err;

    r->said[r->number] =
        r->by_map[r->number] * eventspace_tunable_get(r->share);
    err = paths_exchange(r->shares, r->said, bytes, all, bytes);
    if (!err)
        division_starts(r->wanted, all, r->rows, r->threads);
    return err;
}

bool rebalance_is_due(const rebalance *r)
{
    return memcmp(r->starts, r->wanted,
                  (r->threads + (size_t)1) * sizeof(*r->starts)) != 0;
}

void rebalance_done(rebalance *r)
{
    memcpy(r->starts, r->wanted, (r->threads + (size_t)1) * sizeof(*r->starts));
    r->changes++;
}

int rebalance_print(char **cut, const rebalance *r)
{
    return division_print(cut, r->starts, r->threads);
}
