/* parallel.c - a thread of `is`: a part of the keys at first, and a range of
 * buckets in each round.
 *
 * A round, after its two keys have changed:
 *
 *   1. count the own keys in each bucket; `counts` sums that over all threads
 *   2. split the buckets into ranges with about as many keys, one for each
 *      thread; all threads find the same
 *   3. put the own keys in the order of their buckets, so that those for one
 *      thread lie together; `matrix` tells each thread how many come to it
 *   4. send and receive keys (exchange.h)
 *   5. rank the keys of the own range: a counter for each possible key, which
 *      begins at the number of keys in the buckets before
 *   6. compare: the rank of each probe is also known from `counts`, for which
 *      every thread has told how many of its keys are smaller. Nothing of 2 to
 *      5 is in that number.
 *
 * In the end each thread puts its keys in order and looks whether they are,
 * `ends` gives it the last key of the thread before, and `totals` sums keys,
 * checksums and what was found wrong. Operations of n threads in a run of R
 * rounds: two collective ones a round and thread, two more in the end, and one
 * tuple from thread to thread for each chunk_keys (mapping.c) keys or part of
 * that, written and observed. */
#include "apps/is/exchange.h"
#include "apps/is/sort.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"

typedef struct range {   /* of buckets, and what is in them */
    uint32_t first, end; /* buckets first ... end - 1 */
    uint64_t keys;       /* of all threads */
    uint64_t before;     /* keys in the buckets before */
} range;

/* What a thread tells about its keys in the end; the tuples of `ends`. */
typedef struct ends {
    uint64_t keys, first, last; /* first and last only if it has keys */
} ends;

/* The tuple of `totals`. */
typedef struct totals {
    uint64_t keys, checksum, errors;
} totals;

typedef struct worker {
    paths_thread *self;
    const program_run *run;
    sort_problem problem;
    uint32_t number, count; /* of threads */
    paths_path *counts, *matrix, *ends, *totals;
    key_exchange *exchange;

    uint32_t shift;                   /* key >> shift is its bucket */
    uint64_t first, own;              /* positions of the own keys */
    uint32_t *keys, *ordered;         /* the own keys; by bucket */
    uint32_t probes[SORT_PROBES];     /* their values */
    uint64_t smaller[SORT_PROBES];    /* own keys below them */
    uint64_t *mine, *all;             /* the tuple of counts; its sum */
    uint64_t *place;                  /* of each bucket's next key in ordered */
    range *ranges;                    /* of all threads */
    uint32_t *matrix_out, *matrix_in; /* keys to and from each thread */
    uint32_t *taken;                  /* the keys of the own range */
    uint64_t taken_capacity;
    uint64_t *ranks; /* of the possible keys of the own range */
    sort_outcome outcome;
} worker;

/* --- making and ending --- */

static int paths_open_all(worker *w)
{
    int err = paths_open(&w->counts, w->self, "counts");

    if (err)
        return err;
    err = paths_open(&w->matrix, w->self, "matrix");
    if (err)
        return err;
    err = paths_open(&w->ends, w->self, "ends");
    if (err)
        return err;
    err = paths_open(&w->totals, w->self, "totals");
    if (err)
        return err;
    return key_exchange_open(&w->exchange, w->self);
}

static int memory_take(worker *w)
{
    size_t counts = w->problem.buckets + SORT_PROBES;

    w->keys = malloc((w->own + 1) * sizeof(*w->keys));
    w->ordered = malloc((w->own + 1) * sizeof(*w->ordered));
    w->mine = calloc(counts, sizeof(*w->mine));
    w->all = calloc(counts, sizeof(*w->all));
    w->place = calloc(w->problem.buckets, sizeof(*w->place));
    w->ranges = calloc(w->count, sizeof(*w->ranges));
    w->matrix_out = calloc(w->count, sizeof(*w->matrix_out));
    w->matrix_in = calloc(w->count, sizeof(*w->matrix_in));
    w->ranks = calloc(w->problem.limit, sizeof(*w->ranks));
    if (!w->keys || !w->ordered || !w->mine || !w->all || !w->place ||
        !w->ranges || !w->matrix_out || !w->matrix_in || !w->ranks)
        return pastset_no_memory("for %" PRIu64 " keys", w->own);
    return 0;
}

static void memory_free(worker *w)
{
    key_exchange_close(w->exchange);
    free(w->keys);
    free(w->ordered);
    free(w->mine);
    free(w->all);
    free(w->place);
    free(w->ranges);
    free(w->matrix_out);
    free(w->matrix_in);
    free(w->taken);
    free(w->ranks);
}

static void smaller_count(worker *w)
{
    for (int i = 0; i < SORT_PROBES; i++) {
        for (uint64_t k = 0; k < w->own; k++)
            w->smaller[i] += w->keys[k] < w->probes[i];
    }
}

/* --- 1 and 2: who gets which keys --- */

static void keys_change(worker *w, uint32_t round)
{
    sort_change changes[2];

    sort_changes(&w->problem, round, changes);
    for (int i = 0; i < 2; i++) {
        uint32_t *key, next = changes[i].key;
        if (changes[i].position < w->first ||
            changes[i].position - w->first >= w->own)
            continue;
        key = &w->keys[changes[i].position - w->first];
        for (int p = 0; p < SORT_PROBES; p++) {
            w->smaller[p] += next < w->probes[p];
            w->smaller[p] -= *key < w->probes[p];
        }
        *key = next;
    }
}

static uint32_t bucket_width(const worker *w)
{
    return 1u << w->shift;
}

static int buckets_count(worker *w)
{
    uint32_t buckets = w->problem.buckets;
    size_t bytes = (buckets + SORT_PROBES) * sizeof(*w->mine);

    memset(w->mine, 0, bytes);
    for (uint64_t k = 0; k < w->own; k++)
        w->mine[w->keys[k] >> w->shift]++;
    memcpy(w->mine + buckets, w->smaller, sizeof(w->smaller));
    return paths_exchange(w->counts, w->mine, bytes, w->all, bytes);
}

/* A thread's range ends with the bucket that brings the keys of all ranges so
 * far to its share. */
static void buckets_split(worker *w)
{
    uint64_t keys = 0;
    uint32_t bucket = 0;

    for (uint32_t i = 0; i < w->count; i++) {
        range *r = &w->ranges[i];
        uint64_t until = w->problem.keys * (i + 1) / w->count;
        r->first = bucket;
        r->before = keys;
        while (bucket < w->problem.buckets &&
               (keys < until || i + 1 == w->count))
            keys += w->all[bucket++];
        r->end = bucket;
        r->keys = keys - r->before;
    }
}

/* --- 3 and 4: the keys go there --- */

static void keys_order(worker *w)
{
    uint64_t place = 0;

    for (uint32_t b = 0; b < w->problem.buckets; b++) {
        w->place[b] = place;
        place += w->mine[b];
    }
    for (uint64_t k = 0; k < w->own; k++)
        w->ordered[w->place[w->keys[k] >> w->shift]++] = w->keys[k];
}

static int matrix_exchange(worker *w)
{
    size_t bytes = w->count * sizeof(*w->matrix_out);

    for (uint32_t i = 0; i < w->count; i++) {
        uint64_t keys = 0;
        for (uint32_t b = w->ranges[i].first; b < w->ranges[i].end; b++)
            keys += w->mine[b];
        w->matrix_out[i] = (uint32_t)keys;
    }
    return paths_exchange(w->matrix, w->matrix_out, bytes, w->matrix_in, bytes);
}

static int keys_take(worker *w)
{
    const range *r = &w->ranges[w->number];
    uint64_t keys = 0;

    for (uint32_t i = 0; i < w->count; i++)
        keys += w->matrix_in[i];
    if (keys != r->keys)
        return pastset_fail(PASTSET_EAPP,
                            "%" PRIu64
                            " keys are expected, but the buckets hold %" PRIu64,
                            keys, r->keys);
    if (keys >= w->taken_capacity) {
        free(w->taken);
        w->taken_capacity = keys + keys / 16 + 1;
        w->taken = malloc(w->taken_capacity * sizeof(*w->taken));
        if (!w->taken) {
            w->taken_capacity = 0;
            return pastset_no_memory("for the keys");
        }
    }
    return key_exchange_run(w->exchange, w->ordered, w->matrix_out,
                            w->matrix_in, w->taken);
}

/* --- 5 and 6: ranks --- */

static int keys_rank(worker *w)
{
    const range *r = &w->ranges[w->number];
    uint32_t min = r->first * bucket_width(w);
    uint32_t width = (r->end - r->first) * bucket_width(w);
    uint64_t smaller = r->before;

    memset(w->ranks, 0, width * sizeof(*w->ranks));
    for (uint64_t k = 0; k < r->keys; k++) {
        if (w->taken[k] - min >= width)
            return pastset_fail(PASTSET_EAPP,
                                "received the key %" PRIu32
                                ", which belongs to another thread",
                                w->taken[k]);
        w->ranks[w->taken[k] - min]++;
    }
    for (uint32_t i = 0; i < width; i++) {
        uint64_t equal = w->ranks[i];
        w->ranks[i] = smaller;
        smaller += equal;
    }
    return 0;
}

static int probes_check(worker *w, uint32_t round)
{
    const range *r = &w->ranges[w->number];
    uint32_t min = r->first * bucket_width(w);
    uint32_t width = (r->end - r->first) * bucket_width(w);

    for (int i = 0; i < SORT_PROBES; i++) {
        uint64_t counted = w->all[w->problem.buckets + i];
        uint32_t key = w->probes[i] - min;
        w->outcome.ranks[i] = counted;
        w->outcome.rank_sum += counted;
        if (key < width && w->ranks[key] != counted)
            return pastset_fail(PASTSET_EAPP,
                                "round %" PRIu32 ": the key %" PRIu32
                                " has rank %" PRIu64 ", but %" PRIu64
                                " keys are smaller",
                                round, w->probes[i], w->ranks[key], counted);
    }
    return 0;
}

static int round_do(worker *w, uint32_t round)
{
    int err;

    keys_change(w, round);
    err = buckets_count(w);
    if (err)
        return err;
    buckets_split(w);
    keys_order(w);
    err = matrix_exchange(w);
    if (err)
        return err;
    err = keys_take(w);
    if (err)
        return err;
    err = keys_rank(w);
    if (err)
        return err;
    return probes_check(w, round);
}

/* --- the end --- */

/* Puts the keys in order, counts those that are not, and sums the checksum. */
static int keys_sort(worker *w, ends *mine, totals *sums)
{
    const range *r = &w->ranges[w->number];
    uint32_t min = r->first * bucket_width(w);
    uint32_t *sorted = malloc((r->keys + 1) * sizeof(*sorted));

    if (!sorted)
        return pastset_no_memory("for the sorted keys");
    for (uint64_t k = 0; k < r->keys; k++)
        sorted[w->ranks[w->taken[k] - min]++ - r->before] = w->taken[k];
    for (uint64_t k = 0; k < r->keys; k++) {
        sums->errors += k > 0 && sorted[k - 1] > sorted[k];
        sums->checksum += sort_mix(r->before + k, sorted[k]);
    }
    sums->keys = mine->keys = r->keys;
    if (r->keys) {
        mine->first = sorted[0];
        mine->last = sorted[r->keys - 1];
    }
    free(sorted);
    return 0;
}

/* The last key of those before is not above the first own one. */
static int ends_check(worker *w, const ends *mine, totals *sums)
{
    size_t bytes = w->count * sizeof(ends);
    ends *all = malloc(bytes);
    int err = all ? paths_exchange(w->ends, mine, sizeof(*mine), all, bytes)
                  : pastset_no_memory("for the ends");

    for (uint32_t i = w->number; !err && i-- > 0;) {
        if (all[i].keys == 0 || mine->keys == 0)
            continue;
        sums->errors += all[i].last > mine->first;
        break;
    }
    free(all);
    return err;
}

static int order_check(worker *w)
{
    ends mine = {0};
    totals sums = {0};
    int err = keys_sort(w, &mine, &sums);

    if (!err)
        err = ends_check(w, &mine, &sums);
    if (!err)
        err =
            paths_exchange(w->totals, &sums, sizeof(sums), &sums, sizeof(sums));
    if (err)
        return err;
    if (sums.errors || sums.keys != w->problem.keys)
        return pastset_fail(PASTSET_EAPP,
                            "%" PRIu64
                            " keys are in the wrong order; there are %" PRIu64
                            " keys, and %" PRIu64 " at the beginning",
                            sums.errors, sums.keys, w->problem.keys);
    w->outcome.keys = sums.keys;
    w->outcome.checksum = sums.checksum;
    return 0;
}

/* --- a thread --- */

static int worker_make(worker *w)
{
    int err = sort_problem_set(&w->problem, w->run->options);

    if (err)
        return err;
    w->number = paths_thread_number(w->self);
    w->count = paths_thread_count(w->self);
    while (w->problem.buckets << w->shift < w->problem.limit)
        w->shift++;
    program_share(w->problem.keys, w->count, w->number, &w->first, &w->own);
    err = memory_take(w);
    if (err)
        return err;
    sort_keys(&w->problem, w->first, w->own, w->keys);
    sort_probes(&w->problem, w->probes);
    smaller_count(w);
    return paths_open_all(w);
}

int sort_thread(paths_thread *self, void *argument)
{
    worker w = {.self = self, .run = argument};
    int err = worker_make(&w);

    for (uint32_t round = 1; !err && round <= w.problem.rounds; round++)
        err = round_do(&w, round);
    if (!err)
        err = order_check(&w);
    if (!err && w.run->result)
        err = sort_tell(&w.outcome, w.run->result);
    memory_free(&w);
    return err;
}
