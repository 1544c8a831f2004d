/* match_test.c - the same operations at two collectors, against a search of
 * all. */
#include <stdlib.h>

#include "scopes/causality/rounds.h"
#include "tests/support/check.h"
#include "tests/support/memory.h"

TestSuite(match, .timeout = 120);

static uint64_t seed;

static uint64_t chance(uint64_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (seed >> 33) % below;
}

enum { MATCHES = 2000 };

static eventspace_trace upper[MATCHES], lower[2 * MATCHES];

static void check_match(size_t count, size_t lower_count)
{
    scopes_series up = {.events = {upper, NULL}, .count = count};
    scopes_series down = {.events = {lower, NULL}, .count = lower_count};
    uint32_t *found;

    check_status(scopes_match(&found, &up, &down), 0);
    for (size_t i = 0; i < count; i++) {
        uint32_t want = SCOPES_MISSING;
        for (size_t k = 0; k < lower_count; k++) {
            if (lower[k].thread == upper[i].thread &&
                lower[k].sequence == upper[i].sequence)
                want = (uint32_t)k;
        }
        cr_assert_eq(found[i], want, "of %zu: %u, not %u", i, found[i], want);
    }
    scopes_match_free(found);
}

/* Operations of `threads` threads, of which each collector has lost some, and
 * which come below in another order, with those of others among them. */
static void check_random(uint32_t threads, uint32_t factor, bool shuffled)
{
    size_t ups = 0, downs = 0;

    for (uint32_t i = 0; i < MATCHES; i++) {
        uint32_t thread = (uint32_t)chance(threads) * factor;
        eventspace_trace event = {.thread = thread, .sequence = i + 1};
        if (chance(10))
            upper[ups++] = event;
        if (chance(10))
            lower[downs++] = event;
        if (chance(2))
            lower[downs++] = (eventspace_trace){.thread = thread + 1,
                                                .sequence = i + MATCHES};
    }
    for (size_t i = 1; shuffled && i < downs; i++) {
        size_t other = chance(i + 1);
        eventspace_trace kept_one = lower[i];
        lower[i] = lower[other];
        lower[other] = kept_one;
    }
    check_match(ups, downs);
}

Test(match, finds_the_same_operation_at_the_next_collector)
{
    for (seed = 1; seed < 4; seed++) {
        check_random(1, 1, false);
        check_random(7, 3, false);
        check_random(7, 3, true);
    }
}

Test(match, bears_thread_numbers_that_no_thread_has)
{
    for (seed = 1; seed < 4; seed++) {
        check_random(1000, 4000000, false);
        check_random(2, UINT32_MAX / 2, true);
    }
}

Test(match, finds_nothing_where_there_is_nothing)
{
    upper[0] = (eventspace_trace){.thread = 1, .sequence = 1};
    lower[0] = (eventspace_trace){.thread = 2, .sequence = 1};
    check_match(0, 0);
    check_match(1, 0);
    check_match(0, 1);
    check_match(1, 1);
}

static int match_one(void *context)
{
    scopes_series up = {.events = {upper, NULL}, .count = 1};
    scopes_series down = {.events = {lower, NULL}, .count = 1};

    return scopes_match(context, &up, &down);
}

/* Operations that are there would be taken for lost ones. */
Test(match, without_memory_is_no_match_of_nothing)
{
    uint32_t *found;
    int err;

    upper[0] = lower[0] = (eventspace_trace){.thread = 1, .sequence = 1};
    for (unsigned at = 1; memory_fails_at(at, match_one, &found, &err); at++) {
        check_status(err, PASTSET_ENOMEM);
        cr_assert_null(found);
    }
    check_status(err, 0);
    cr_assert_eq(found[0], 0);
    scopes_match_free(found);
}
