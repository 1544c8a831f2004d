/* is.c - the twin of apps/is: `counts` and `totals` are MPI_Allreduce, `matrix`
 * is MPI_Alltoall and `ends` MPI_Allgather. The keys, which go there in many
 * tuples, go here by MPI_Alltoallv, and those that stay, too. */
#include "apps/is/sort.h"
#include "tests/mpi/twins/twin.h"

#include <stdlib.h>
#include <string.h>

typedef struct keys {
    sort_problem problem;
    uint32_t shift;
    uint64_t first, own;
    uint32_t *mine, *ordered, *taken;
    uint64_t *counts; /* own keys in each bucket, and below each probe */
    uint64_t *all;    /* the sum of that */
    uint32_t probes[SORT_PROBES];
    uint32_t *owner; /* the rank of each bucket */
    uint64_t before; /* keys in the buckets before the own ones */
    int *send, *send_at, *receive, *receive_at;
    uint64_t received, stayed;
    uint64_t *ranks; /* of each key of the own buckets */
    sort_outcome outcome;
} keys;

static void keys_make(keys *w)
{
    size_t count = (size_t)twin_count;

    while (w->problem.buckets << w->shift < w->problem.limit)
        w->shift++;
    program_share(w->problem.keys, (uint32_t)twin_count, (uint32_t)twin_rank,
                  &w->first, &w->own);
    w->mine = twin_memory(w->own + 1, sizeof(uint32_t));
    w->ordered = twin_memory(w->own + 1, sizeof(uint32_t));
    w->taken = twin_memory(w->problem.keys, sizeof(uint32_t));
    w->counts = twin_memory(w->problem.buckets + SORT_PROBES, sizeof(uint64_t));
    w->all = twin_memory(w->problem.buckets + SORT_PROBES, sizeof(uint64_t));
    w->owner = twin_memory(w->problem.buckets, sizeof(uint32_t));
    w->ranks = twin_memory(w->problem.limit, sizeof(uint64_t));
    w->send = twin_memory(count, sizeof(int));
    w->send_at = twin_memory(count, sizeof(int));
    w->receive = twin_memory(count, sizeof(int));
    w->receive_at = twin_memory(count, sizeof(int));
    sort_keys(&w->problem, w->first, w->own, w->mine);
    sort_probes(&w->problem, w->probes);
}

static void keys_change(keys *w, uint32_t round)
{
    sort_change changes[2];

    sort_changes(&w->problem, round, changes);
    for (int i = 0; i < 2; i++)
        if (changes[i].position - w->first < w->own)
            w->mine[changes[i].position - w->first] = changes[i].key;
}

static void buckets_count(keys *w)
{
    uint32_t buckets = w->problem.buckets;

    memset(w->counts, 0, (buckets + SORT_PROBES) * sizeof(*w->counts));
    for (uint64_t k = 0; k < w->own; k++) {
        w->counts[w->mine[k] >> w->shift]++;
        for (int i = 0; i < SORT_PROBES; i++)
            w->counts[buckets + (uint32_t)i] += w->mine[k] < w->probes[i];
    }
    MPI_Allreduce(w->counts, w->all, (int)(buckets + SORT_PROBES), MPI_UINT64_T,
                  MPI_SUM, MPI_COMM_WORLD);
}

/* A rank's buckets end with the one that brings the keys of all ranks so far to
 * its share. */
static void buckets_share(keys *w)
{
    uint64_t sum = 0, ranks = (uint64_t)twin_count;
    uint32_t rank = 0;

    w->before = UINT64_MAX;
    for (uint32_t b = 0; b < w->problem.buckets; b++) {
        while (rank + 1 < ranks && sum >= w->problem.keys * (rank + 1) / ranks)
            rank++;
        w->owner[b] = rank;
        if (rank == (uint32_t)twin_rank && w->before == UINT64_MAX)
            w->before = sum;
        sum += w->all[b];
    }
}

static void keys_order(keys *w)
{
    uint64_t *place = twin_memory(w->problem.buckets, sizeof(uint64_t));
    uint64_t at = 0;

    memset(w->send, 0, (size_t)twin_count * sizeof(int));
    for (uint32_t b = 0; b < w->problem.buckets; b++) {
        place[b] = at;
        at += w->counts[b];
        w->send[w->owner[b]] += (int)w->counts[b];
    }
    for (uint64_t k = 0; k < w->own; k++)
        w->ordered[place[w->mine[k] >> w->shift]++] = w->mine[k];
    free(place);
}

static void keys_take(keys *w)
{
    MPI_Alltoall(w->send, 1, MPI_INT, w->receive, 1, MPI_INT, MPI_COMM_WORLD);
    w->received = 0;
    for (int i = 0, at = 0; i < twin_count; i++) {
        w->send_at[i] = at;
        w->receive_at[i] = (int)w->received;
        at += w->send[i];
        w->received += (uint64_t)w->receive[i];
    }
    MPI_Alltoallv(w->ordered, w->send, w->send_at, MPI_UINT32_T, w->taken,
                  w->receive, w->receive_at, MPI_UINT32_T, MPI_COMM_WORLD);
    w->stayed += (uint64_t)w->send[twin_rank];
}

/* Each key's rank, and that those of the probes are what all have counted. */
static void keys_rank(keys *w)
{
    uint64_t smaller = w->before;

    memset(w->ranks, 0, w->problem.limit * sizeof(*w->ranks));
    for (uint64_t k = 0; k < w->received; k++)
        w->ranks[w->taken[k]]++;
    for (uint32_t key = 0; key < w->problem.limit; key++) {
        uint64_t equal = w->ranks[key];
        w->ranks[key] = smaller;
        smaller += equal;
    }
    for (int i = 0; i < SORT_PROBES; i++) {
        uint64_t rank = w->all[w->problem.buckets + (uint32_t)i];
        w->outcome.ranks[i] = rank;
        w->outcome.rank_sum += rank;
        if (w->owner[w->probes[i] >> w->shift] == (uint32_t)twin_rank)
            twin_check(w->ranks[w->probes[i]] != rank, "rank");
    }
}

/* As in apps/is, all tell of their first and last keys; there are `keys`,
 * `checksum` and `errors` of all. */
static void order_check(keys *w)
{
    uint64_t ends[3] = {w->received, UINT32_MAX, 0}, sums[3] = {w->received};
    uint64_t *all = twin_memory(3 * (size_t)twin_count, sizeof(uint64_t));

    for (uint64_t k = 0; k < w->received; k++) {
        uint32_t key = w->taken[k];
        sums[1] += sort_mix(w->ranks[key]++, key);
        ends[1] = key < ends[1] ? key : ends[1];
        ends[2] = key > ends[2] ? key : ends[2];
    }
    MPI_Allgather(ends, 3, MPI_UINT64_T, all, 3, MPI_UINT64_T, MPI_COMM_WORLD);
    for (int i = 1; i < twin_count; i++)
        sums[2] +=
            all[3 * i] && all[3 * i - 3] && all[3 * i - 1] > all[3 * i + 1];
    MPI_Allreduce(MPI_IN_PLACE, sums, 3, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    twin_check(sums[2] || sums[0] != w->problem.keys, "order");
    w->outcome.checksum = sums[1];
    free(all);
}

/* The names that apps/is gives them. */
static void results_print(const keys *w, const uint64_t *stayed)
{
    program_count(NULL, "keys", w->problem.keys);
    for (int i = 0; i < SORT_PROBES; i++)
        printf("rank_%d %llu\n", i, (unsigned long long)w->outcome.ranks[i]);
    program_count(NULL, "rank_sum", w->outcome.rank_sum);
    printf("checksum %016llx\n", (unsigned long long)w->outcome.checksum);
    for (int i = 0; i < twin_count; i++)
        printf("stayed_%d %llu\n", i, (unsigned long long)stayed[i]);
}

int main(int argc, char **argv)
{
    program_options options = twin_begin(argc, argv, 0);
    keys w = {.shift = 0};
    uint64_t *stayed;

    twin_check(sort_problem_set(&w.problem, &options), "problem");
    keys_make(&w);
    for (uint32_t round = 1; round <= w.problem.rounds; round++) {
        keys_change(&w, round);
        buckets_count(&w);
        buckets_share(&w);
        keys_order(&w);
        keys_take(&w);
        keys_rank(&w);
    }
    order_check(&w);
    stayed = twin_memory((size_t)twin_count, sizeof(*stayed));
    MPI_Gather(&w.stayed, 1, MPI_UINT64_T, stayed, 1, MPI_UINT64_T, 0,
               MPI_COMM_WORLD);
    if (twin_rank == 0)
        results_print(&w, stayed);
    MPI_Finalize();
    return 0;
}
