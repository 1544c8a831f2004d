/* collective_kinds.c - see collective_kinds.h. */
#include "tests/paths/collective_kinds.h"

#include <stdatomic.h>
#include <string.h>

#define BLOCK_LENGTH 512
#define THREADS_SUM (THREADS * (THREADS + 1) / 2) /* 1 + 2 + ... */

uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t x = a * 0x9e3779b97f4a7c15u + b + 0x632be59bd9b4e019u;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

uint32_t source_of(uint64_t round)
{
    return (uint32_t)(mix(round, 77) % THREADS);
}

/* --- sums --- */

static void total_make(void *tuple, uint32_t thread, uint64_t round)
{
    *(double *)tuple = (double)(thread + 1 + round);
}

static bool total_is_right(const void *result, uint32_t thread, uint64_t round)
{
    (void)thread;
    return *(const double *)result == (double)(THREADS_SUM + THREADS * round);
}

static void block_make(void *tuple, uint32_t thread, uint64_t round)
{
    int64_t *x = tuple;

    for (int64_t i = 0; i < BLOCK_LENGTH; i++)
        x[i] = (thread + 1) * i - (int64_t)round;
}

static bool block_is_right(const void *result, uint32_t thread, uint64_t round)
{
    const int64_t *x = result;

    (void)thread;
    for (int64_t i = 0; i < BLOCK_LENGTH; i++) {
        if (x[i] != THREADS_SUM * i - THREADS * (int64_t)round)
            return false;
    }
    return true;
}

/* --- a barrier --- */

/* Relaxed: the barrier, and not these, makes them visible. */
static _Atomic uint64_t arrived[THREADS];

static void meet_make(void *tuple, uint32_t thread, uint64_t round)
{
    (void)tuple;
    atomic_store_explicit(&arrived[thread], round, memory_order_relaxed);
}

static bool meet_is_right(const void *result, uint32_t thread, uint64_t round)
{
    (void)result;
    (void)thread;
    for (int i = 0; i < THREADS; i++) {
        if (atomic_load_explicit(&arrived[i], memory_order_relaxed) < round)
            return false;
    }
    return true;
}

/* --- other reductions --- */

typedef struct most {
    int64_t number;
    double negative;
} most;

static void most_make(void *tuple, uint32_t thread, uint64_t round)
{
    most *m = tuple;

    m->number = (int64_t)mix(round, thread);
    m->negative = 0.5 - (double)((thread + round) % THREADS);
}

static bool most_is_right(const void *result, uint32_t thread, uint64_t round)
{
    const most *m = result;
    int64_t number = INT64_MIN;

    for (thread = 0; thread < THREADS; thread++) {
        int64_t one = (int64_t)mix(round, thread);
        number = one > number ? one : number;
    }
    return m->number == number && m->negative == 0.5;
}

static void product_make(void *tuple, uint32_t thread, uint64_t round)
{
    *(uint64_t *)tuple = mix(round, thread) | 1;
}

static bool product_is_right(const void *result, uint32_t thread,
                             uint64_t round)
{
    uint64_t product = 1;

    for (thread = 0; thread < THREADS; thread++)
        product *= mix(round, thread) | 1;
    return *(const uint64_t *)result == product;
}

static void mixed_make(void *tuple, uint32_t thread, uint64_t round)
{
    uint32_t *x = tuple;

    for (uint32_t i = 0; i < 4; i++)
        x[i] = (uint32_t)mix(round + i, thread);
}

static bool mixed_is_right(const void *result, uint32_t thread, uint64_t round)
{
    uint32_t own[4], all[4] = {0};

    for (thread = 0; thread < THREADS; thread++) {
        mixed_make(own, thread, round);
        for (int i = 0; i < 4; i++)
            all[i] ^= own[i];
    }
    return memcmp(result, all, sizeof(all)) == 0;
}

/* --- what is moved --- */

#define TOLD_LENGTH 8

static void told_make(void *tuple, uint32_t thread, uint64_t round)
{
    uint64_t *x = tuple;

    (void)thread;
    for (uint32_t i = 0; i < TOLD_LENGTH; i++)
        x[i] = mix(round, i);
}

static bool told_is_right(const void *result, uint32_t thread, uint64_t round)
{
    const uint64_t *x = result;

    (void)thread;
    for (uint32_t i = 0; i < TOLD_LENGTH; i++) {
        if (x[i] != mix(round, i))
            return false;
    }
    return true;
}

static void all_make(void *tuple, uint32_t thread, uint64_t round)
{
    uint32_t *x = tuple;

    x[0] = thread;
    x[1] = (uint32_t)mix(round, thread);
}

static bool all_is_right(const void *result, uint32_t thread, uint64_t round)
{
    const uint32_t *x = result;

    for (thread = 0; thread < THREADS; thread++, x += 2) {
        if (x[0] != thread || x[1] != (uint32_t)mix(round, thread))
            return false;
    }
    return true;
}

static void parts_make(void *tuple, uint32_t thread, uint64_t round)
{
    uint64_t *x = tuple;

    for (thread = 0; thread < THREADS; thread++)
        x[thread] = mix(round, thread);
}

static bool parts_is_right(const void *result, uint32_t thread, uint64_t round)
{
    return *(const uint64_t *)result == mix(round, thread);
}

static uint16_t turned_of(uint32_t from, uint32_t to, uint64_t round)
{
    return (uint16_t)((from * THREADS + to) ^ round);
}

static void turned_make(void *tuple, uint32_t thread, uint64_t round)
{
    uint16_t *x = tuple;

    for (uint32_t i = 0; i < THREADS; i++)
        x[i] = turned_of(thread, i, round);
}

static bool turned_is_right(const void *result, uint32_t thread, uint64_t round)
{
    const uint16_t *x = result;

    for (uint32_t i = 0; i < THREADS; i++) {
        if (x[i] != turned_of(i, thread, round))
            return false;
    }
    return true;
}

/* --- all of them --- */

const kind kinds[KINDS] = {
    {"total", "sum", "type=\"f64\", shape=hierarchical", 8, 8, false,
     total_make, total_is_right},
    {"block", "sum", "type=\"i64[512]\", fanout=3", 4096, 4096, false,
     block_make, block_is_right},
    {"meet", "barrier", "", 0, 0, false, meet_make, meet_is_right},
    {"most", "max", "type=\"i64 f64\", shape=flat", 16, 16, false, most_make,
     most_is_right},
    {"told", "broadcast", "type=\"u64[8]\"", 64, 64, true, told_make,
     told_is_right},
    {"all", "gather", "type=\"u32[64]\"", 8, 256, false, all_make,
     all_is_right},
    {"parts", "scatter", "type=\"u64[32]\"", 256, 8, true, parts_make,
     parts_is_right},
    {"turned", "alltoall", "type=\"u16[1024]\"", 64, 64, false, turned_make,
     turned_is_right},
    {"product", "product", "type=\"u64\", shape=binomial", 8, 8, false,
     product_make, product_is_right},
    {"mixed", "xor", "type=\"u32[4]\", shape=binomial", 16, 16, false,
     mixed_make, mixed_is_right},
};
