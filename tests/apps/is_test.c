/* is_test.c - integer sort: the keys, the sequential computation beside one by
 * qsort, and runs beside the sequential one. */
#include "apps/is/sort.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/application.h"
#include "tests/support/check.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"

#define IS TEST_BINARY_DIR "/is"

TestSuite(is, .init = scratch_make, .fini = scratch_remove, .timeout = 600);

static const sort_problem small = {
    .keys = 5000, .limit = 1024, .buckets = 64, .rounds = 7, .seed = 3};

static sort_problem problem_of(char size, uint32_t rounds)
{
    program_options options = {.size = size, .seed = 1, .rounds = rounds};
    sort_problem p;

    check_status(sort_problem_set(&p, &options), 0);
    return p;
}

/* --- the keys --- */

Test(is, has_the_same_keys_wherever_one_begins)
{
    uint32_t all[1000], some[1000];

    sort_keys(&small, 0, 1000, all);
    for (uint64_t first = 0; first < 1000; first += 37) {
        uint64_t count = 1000 - first < 37 ? 1000 - first : 37;
        sort_keys(&small, first, count, some);
        cr_expect_eq(memcmp(some, all + first, count * sizeof(*some)), 0,
                     "from %d", (int)first);
    }
}

Test(is, has_other_keys_for_another_seed)
{
    sort_problem other = small;
    uint32_t a[100], b[100];
    int equal = 0;

    other.seed++;
    sort_keys(&small, 0, 100, a);
    sort_keys(&other, 0, 100, b);
    for (int i = 0; i < 100; i++)
        equal += a[i] == b[i];
    cr_expect_lt(equal, 5);
}

/* Four random numbers between 0 and 1 sum up to less than 1 with a probability
 * of 1/4!, and to more than 3 with the same. */
Test(is, has_keys_that_gather_about_the_middle)
{
    sort_problem p = problem_of('S', 0);
    uint32_t *keys = malloc(p.keys * sizeof(*keys));
    double sum = 0, within = 0, count = (double)p.keys;

    cr_assert_not_null(keys);
    sort_keys(&p, 0, p.keys, keys);
    for (uint64_t i = 0; i < p.keys; i++) {
        cr_assert_lt(keys[i], p.limit);
        sum += keys[i];
        within += keys[i] >= p.limit / 4 && keys[i] < p.limit / 4 * 3;
    }
    cr_expect_float_eq(sum / count / p.limit, 0.5, 0.002);
    cr_expect_float_eq(within / count, 22.0 / 24, 0.003);
    free(keys);
}

/* --- the sequential computation --- */

static int compare_keys(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* The keys as the changes of a round leave them. */
static uint32_t *keys_after(const sort_problem *p, uint32_t round)
{
    uint32_t *keys = malloc(p->keys * sizeof(*keys));

    cr_assert_not_null(keys);
    sort_keys(p, 0, p->keys, keys);
    for (uint32_t r = 1; r <= round; r++) {
        sort_change both[2];
        sort_changes(p, r, both);
        keys[both[0].position] = both[0].key;
        keys[both[1].position] = both[1].key;
    }
    return keys;
}

static uint64_t smaller(const sort_problem *p, const uint32_t *keys,
                        uint32_t key)
{
    uint64_t count = 0;

    for (uint64_t i = 0; i < p->keys; i++)
        count += keys[i] < key;
    return count;
}

static void check_ranks(const sort_problem *p)
{
    uint32_t probes[SORT_PROBES];
    sort_outcome got, want = {.keys = p->keys};
    uint32_t *keys;

    sort_probes(p, probes);
    for (uint32_t round = 1; round <= p->rounds; round++) {
        keys = keys_after(p, round);
        for (int i = 0; i < SORT_PROBES; i++) {
            want.ranks[i] = smaller(p, keys, probes[i]);
            want.rank_sum += want.ranks[i];
        }
        free(keys);
    }
    keys = keys_after(p, p->rounds);
    qsort(keys, p->keys, sizeof(*keys), compare_keys);
    for (uint64_t i = 0; i < p->keys; i++)
        want.checksum += sort_mix(i, keys[i]);
    free(keys);
    check_status(sort_single(p, &got), 0);
    cr_expect_eq(got.keys, want.keys);
    cr_expect_eq(got.rank_sum, want.rank_sum);
    cr_expect_eq(got.checksum, want.checksum);
    for (int i = 0; i < SORT_PROBES; i++)
        cr_expect_eq(got.ranks[i], want.ranks[i], "rank %d", i);
}

Test(is, ranks_keys_as_qsort_orders_them)
{
    sort_problem p = problem_of('S', 2);

    check_ranks(&small);
    check_ranks(&p);
}

/* Round 1023 makes key 1 of the one at position 2046, and 1023 of that at
 * 1023: every key is possible. */
Test(is, changes_keys_within_the_limit)
{
    sort_problem p = small;

    p.rounds = p.limit - 1;
    for (uint32_t round = 1; round <= p.rounds; round++) {
        sort_change both[2];
        sort_changes(&p, round, both);
        for (int i = 0; i < 2; i++) {
            cr_assert_lt(both[i].key, p.limit);
            cr_assert_lt(both[i].position, p.keys);
        }
        cr_assert_neq(both[0].position, both[1].position);
    }
    check_ranks(&p);
}

Test(is, has_checksums_that_depend_on_each_key_and_its_rank)
{
    cr_expect_neq(sort_mix(0, 5) + sort_mix(1, 6),
                  sort_mix(0, 6) + sort_mix(1, 5));
    cr_expect_neq(sort_mix(0, 1), sort_mix(1, 0));
}

/* --- with threads --- */

static json_t *single(const char *seed, const char *rounds)
{
    const char *directory = scratch_file("single");

    free(command_run(0, 60, IS, "single", "--seed", seed, "--rounds", rounds,
                     "--output", directory, NULL));
    return results_read("is", directory);
}

/* Whole numbers: all of it is exactly the same. */
static void check_run(const char *threads, const char *processes,
                      const char *seed, const char *rounds)
{
    json_t *alone = single(seed, rounds), *run;

    run = run_results(
        "is",
        map_generated(command_run(0, 20, IS, "mapping", "--threads", threads,
                                  "--seed", seed, "--rounds", rounds, NULL),
                      processes),
        120);
    cr_expect(json_equal(json_object_get(run, "values"),
                         json_object_get(alone, "values")));
    cr_expect_eq(result_count(run, "keys"), 1 << 17);
    cr_expect_eq(strlen(result_text(run, "checksum")), 16);
    json_decref(run);
    json_decref(alone);
}

Test(is, gives_the_same_order_by_one_thread)
{
    check_run("1", "1", "1", "10");
}

Test(is, gives_the_same_order_on_one_process)
{
    check_run("4", "1", "1", "10");
}

Test(is, gives_the_same_order_on_two_processes)
{
    check_run("4", "2", "1", "10");
}

Test(is, gives_the_same_order_on_four_processes)
{
    check_run("4", "4", "1", "10");
}

Test(is, gives_the_same_order_by_threads_of_unequal_shares)
{
    check_run("3", "2", "1", "10");
}

/* Whose tuples hold few keys. */
Test(is, gives_the_same_order_by_many_threads)
{
    check_run("41", "2", "1", "3");
}

Test(is, takes_seed_and_rounds_from_its_map)
{
    check_run("2", "2", "18446744073709551615", "33");
}

/* Elements that hold one tuple of one key each: all wait for room all the
 * time, and still take out what is for them. */
Test(is, does_not_stop_where_there_is_little_room)
{
    char *mapping = command_run(0, 20, IS, "mapping", "--threads", "3",
                                "--rounds", "1", NULL);
    char *text = malloc(strlen(mapping) + 1000), *end = text;
    json_t *run;
    int changed = 0;

    for (const char *from = mapping; *from;) {
        static const char old[] = "type=\"bytes[", now[] = "type=\"bytes[12]\"";
        if (strncmp(from, old, strlen(old)) == 0) {
            end = stpcpy(stpcpy(end, now), ", capacity=1");
            from = strstr(from, ", policy");
            changed++;
        } else {
            *end++ = *from++;
        }
    }
    *end = 0;
    free(mapping);
    cr_assert_eq(changed, 3);
    run = run_results("is", map_generated(text, "2"), 120);
    cr_expect_eq(result_count(run, "keys"), 1 << 17);
    json_decref(run);
}

/* --- refused --- */

static void check_refused(const char *part, const char *line,
                          const char *option, const char *value)
{
    char *output = command_run(2, 20, IS, line, option, value, NULL);

    check_says(output, part);
    free(output);
}

Test(is, refuses_more_threads_than_buckets)
{
    check_refused("--threads=513: size S has 512 buckets", "mapping",
                  "--threads", "513");
    free(command_run(0, 20, IS, "mapping", "--threads", "512", NULL));
}

Test(is, refuses_more_rounds_than_keys_can_change)
{
    check_refused("--rounds=8192: size S allows at most 8191", "single",
                  "--rounds", "8192");
    check_refused("--rounds=8192: size S allows at most 8191", "mapping",
                  "--rounds", "8192");
}

Test(is, refuses_sizes_that_it_does_not_have)
{
    check_refused("--size=X", "single", "--size", "X");
}
