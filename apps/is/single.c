/* single.c - the keys ranked by one process, with a counter for each possible
 * key. */
#include "apps/is/sort.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"

typedef struct ranking {
    uint32_t *keys;
    uint64_t *ranks; /* of each possible key: how many keys are smaller */
} ranking;

static void rank_all(const sort_problem *p, ranking *r)
{
    uint64_t smaller = 0;

    memset(r->ranks, 0, p->limit * sizeof(*r->ranks));
    for (uint64_t i = 0; i < p->keys; i++)
        r->ranks[r->keys[i]]++;
    for (uint32_t key = 0; key < p->limit; key++) {
        uint64_t equal = r->ranks[key];
        r->ranks[key] = smaller;
        smaller += equal;
    }
}

static void round_do(const sort_problem *p, ranking *r, uint32_t round,
                     sort_outcome *out)
{
    uint32_t probes[SORT_PROBES];
    sort_change changes[2];

    sort_changes(p, round, changes);
    for (int i = 0; i < 2; i++)
        r->keys[changes[i].position] = changes[i].key;
    rank_all(p, r);
    sort_probes(p, probes);
    for (int i = 0; i < SORT_PROBES; i++) {
        out->ranks[i] = r->ranks[probes[i]];
        out->rank_sum += out->ranks[i];
    }
}

/* Puts the keys in order by their ranks, and looks whether they are. */
static int order(const sort_problem *p, ranking *r, sort_outcome *out)
{
    uint32_t *sorted = malloc(p->keys * sizeof(*sorted));

    if (!sorted)
        return pastset_no_memory("for the sorted keys");
    for (uint64_t i = 0; i < p->keys; i++)
        sorted[r->ranks[r->keys[i]]++] = r->keys[i];
    for (uint64_t i = 0; i < p->keys; i++) {
        if (i > 0 && sorted[i - 1] > sorted[i]) {
            free(sorted);
            return pastset_fail(PASTSET_EAPP,
                                "the keys of ranks %" PRIu64 " and %" PRIu64
                                " are in the wrong order",
                                i - 1, i);
        }
        out->checksum += sort_mix(i, sorted[i]);
    }
    out->keys = p->keys;
    free(sorted);
    return 0;
}

int sort_single(const sort_problem *p, sort_outcome *out)
{
    ranking r = {
        .keys = malloc(p->keys * sizeof(*r.keys)),
        .ranks = malloc(p->limit * sizeof(*r.ranks)),
    };
    int err = 0;

    memset(out, 0, sizeof(*out));
    if (!r.keys || !r.ranks) {
        err = pastset_no_memory("for %" PRIu64 " keys", p->keys);
        goto done;
    }
    sort_keys(p, 0, p->keys, r.keys);
    for (uint32_t round = 1; round <= p->rounds; round++)
        round_do(p, &r, round, out);
    err = order(p, &r, out);
done:
    free(r.keys);
    free(r.ranks);
    return err;
}
