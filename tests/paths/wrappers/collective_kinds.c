/* collective_kinds.c - see collective_kinds.h. */
#include "tests/paths/wrappers/collective_kinds.h"

#include <stdatomic.h>
#include <string.h>

#define BLOCK_LENGTH 512
#define TOLD_LENGTH 8                             /* at most */
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

size_t length_of(uint64_t round)
{
    return sizeof(uint64_t) * (1 + round % TOLD_LENGTH);
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

typedef struct max {
    int64_t number;
    double negative;
} max;

static void max_make(void *tuple, uint32_t thread, uint64_t round)
{
    max *m = tuple;

    m->number = (int64_t)mix(round, thread);
    m->negative = 0.5 - (double)((thread + round) % THREADS);
}

static bool max_is_right(const void *result, uint32_t thread, uint64_t round)
{
    const max *m = result;
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
    for (uint32_t i = 0; i < length_of(round) / sizeof(x[i]); i++) {
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
    {.name = "total",
     .use = "sum",
     .attributes = "type=\"f64\", shape=hierarchical",
     .bytes = 8,
     .result_bytes = 8,
     .make = total_make,
     .is_right = total_is_right},
    {.name = "block",
     .use = "sum",
     .attributes = "type=\"i64[512]\", fanout=3",
     .bytes = TUPLE_BYTES,
     .result_bytes = TUPLE_BYTES,
     .make = block_make,
     .is_right = block_is_right},
    {.name = "meet",
     .use = "barrier",
     .attributes = "deadline=\"1000s\"",
     .make = meet_make,
     .is_right = meet_is_right},
    {.name = "most",
     .use = "max",
     .attributes = "type=\"i64 f64\", shape=flat",
     .bytes = 16,
     .result_bytes = 16,
     .make = max_make,
     .is_right = max_is_right},
    {.name = "told",
     .use = "broadcast",
     .attributes = "type=\"bytes[64]\"",
     .bytes = 64,
     .result_bytes = 64,
     .from_one = true,
     .varies = true,
     .make = told_make,
     .is_right = told_is_right},
    {.name = "all",
     .use = "gather",
     .attributes = "type=\"u32[64]\", waiting=sleep",
     .bytes = 8,
     .result_bytes = 256,
     .make = all_make,
     .is_right = all_is_right},
    {.name = "parts",
     .use = "scatter",
     .attributes = "type=\"u64[32]\"",
     .bytes = 256,
     .result_bytes = 8,
     .from_one = true,
     .make = parts_make,
     .is_right = parts_is_right},
    {.name = "turned",
     .use = "alltoall",
     .attributes = "type=\"u16[1024]\", waiting=yield",
     .bytes = 64,
     .result_bytes = 64,
     .make = turned_make,
     .is_right = turned_is_right},
    {.name = "product",
     .use = "product",
     .attributes = "type=\"u64\", shape=binomial",
     .bytes = 8,
     .result_bytes = 8,
     .make = product_make,
     .is_right = product_is_right},
    {.name = "mixed",
     .use = "xor",
     .attributes = "type=\"u32[4]\", shape=binomial",
     .bytes = 16,
     .result_bytes = 16,
     .make = mixed_make,
     .is_right = mixed_is_right},
};
