/* problem.c - the keys, from a generator that can be entered anywhere.
 *
 * Random words are x[n+1] = a x[n] + c modulo 2^64. Steps of that form make
 * another of that form, so n steps are computed by squaring, and each thread
 * begins at its own keys. A key is the mean of four random numbers below the
 * limit, hence four steps a key. */
#include "apps/is/sort.h"

#include <inttypes.h>

#include "pastset/status.h"

#define STEPS_OF_A_KEY 4

typedef struct step { /* x becomes factor * x + addend */
    uint64_t factor, addend;
} step;

static const step one_step = {6364136223846793005u, 1442695040888963407u};

static step step_both(step first, step then)
{
    return (step){then.factor * first.factor,
                  then.factor * first.addend + then.addend};
}

static step steps(uint64_t count)
{
    step all = {1, 0};

    for (step power = one_step; count; count >>= 1) {
        if (count & 1)
            all = step_both(all, power);
        power = step_both(power, power);
    }
    return all;
}

static uint64_t step_do(step s, uint64_t x)
{
    return s.factor * x + s.addend;
}

void sort_keys(const sort_problem *p, uint64_t first, uint64_t count,
               uint32_t *keys)
{
    uint64_t x = step_do(steps(first * STEPS_OF_A_KEY), p->seed);

    for (uint64_t i = 0; i < count; i++) {
        uint64_t sum = 0;
        for (int j = 0; j < STEPS_OF_A_KEY; j++) {
            x = step_do(one_step, x);
            sum += (x >> 32) * p->limit >> 32; /* the high bits are best */
        }
        keys[i] = (uint32_t)(sum / STEPS_OF_A_KEY);
    }
}

void sort_changes(const sort_problem *p, uint32_t round, sort_change both[2])
{
    both[0] = (sort_change){round, round};
    both[1] = (sort_change){round + (uint64_t)p->rounds, p->limit - round};
}

void sort_probes(const sort_problem *p, uint32_t probes[SORT_PROBES])
{
    for (uint64_t i = 0; i < SORT_PROBES; i++)
        sort_keys(p, (2 * i + 1) * p->keys / (2 * SORT_PROBES), 1, &probes[i]);
}

uint64_t sort_mix(uint64_t rank, uint32_t key)
{
    return program_mix(rank ^ program_mix(key));
}

int sort_problem_set(sort_problem *out, const program_options *options)
{
    static const struct {
        char size;
        unsigned keys, limit, buckets; /* as powers of two */
        uint32_t rounds;
    } sizes[] = {
        {'S', 17, 13, 9, 10},    {'W', 22, 18, 10, 500},
        {'A', 24, 20, 10, 400},  {'B', 25, 21, 10, 1000},
        {'C', 26, 22, 10, 1000},
    };
    uint64_t max;

    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        if (sizes[i].size != options->size)
            continue;
        *out = (sort_problem){
            .keys = UINT64_C(1) << sizes[i].keys,
            .limit = 1u << sizes[i].limit,
            .buckets = 1u << sizes[i].buckets,
            .rounds = options->rounds ? options->rounds : sizes[i].rounds,
            .seed = options->seed,
        };
        /* Each round changes two keys that no other round does. */
        max = out->limit - 1;
        if (out->rounds > max)
            return pastset_fail(PASTSET_EINVAL,
                                "--rounds=%" PRIu32
                                ": size %c allows at most %" PRIu64,
                                out->rounds, options->size, max);
        return 0;
    }
    return pastset_fail(PASTSET_EINVAL, "size %c: expected S, W, A, B or C",
                        options->size);
}
