/* snapshot_test.c - clocks of a look, where processes have counters of their
 * own and wall clocks that are wrong: figure 3, whose process B is 3.2 s
 * behind. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scopes/reading/snapshot.h"
#include "tests/support/check.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"

#define EVENTSPACE TEST_BINARY_DIR "/eventspace"
#define PROGRAM TEST_BINARY_DIR "/figure3"
#define MAP TEST_SOURCE_DIR "/../examples/figure3/figure3.dot"
#define PROCESS "subgraph cluster_B {"
#define ABOVE_PROXY 9 /* the collector on process B */
#define BEHIND_NS 3.2e9
/* A rate of 150 ppm over the time that the run may take. */
#define DRIFT_NS 50e6

static eventspace_run *run;

static void run_make(void)
{
    size_t bytes;
    char *plain, *at, *map;

    scratch_make();
    plain = file_read(MAP, &bytes);
    at = strstr(plain, PROCESS);
    cr_assert_not_null(at);
    at += strlen(PROCESS);
    map = malloc(bytes + 100);
    snprintf(map, bytes + 100,
             "%.*s counter_offset=\"-3.2s\"; counter_rate=\"+150ppm\"; %s",
             (int)(at - plain), plain, at);
    scratch_write("map.dot", map);
    free(command_run(0, 100, EVENTSPACE, "run", scratch_file("map.dot"),
                     "--output", scratch_file("run"), "--", PROGRAM, "3000",
                     NULL));
    check_status(eventspace_run_open(&run, scratch_file("run")), 0);
    free(plain);
    free(map);
}

static void run_remove(void)
{
    eventspace_run_close(run);
    scratch_remove();
}

TestSuite(snapshot, .init = run_make, .fini = run_remove, .timeout = 300);

static const scopes_snapshot_options everything = SCOPES_SNAPSHOT_ALL;

/* B's clock is aligned to A's from pairs, and rightly so. */
static void check_clocks(const scopes_snapshot *snapshot)
{
    uint32_t b = paths_map_find_process(snapshot->topology->map, "B");
    const scopes_clock *clock = scopes_clocks_process(snapshot->clocks, b);

    cr_assert_eq(clock->how, SCOPES_CLOCK_PROBE_PAIRS, "%d", clock->how);
    cr_assert_gt(clock->pairs, 0);
    cr_assert_lt(fabs(clock->offset_ns + BEHIND_NS), DRIFT_NS, "%f",
                 clock->offset_ns);
}

/* The end of what is there. */
static int64_t last_end_ns(const scopes_snapshot *snapshot)
{
    int64_t last = INT64_MIN;

    for (uint32_t id = 0; id < snapshot->event_table->collectors; id++) {
        const scopes_series *series =
            scopes_event_series(snapshot->event_table, id);
        for (size_t i = 0; i < series->count; i++) {
            int64_t end =
                scopes_clocks_ns(snapshot->clocks, series->process,
                                 scopes_event_at(series->events, i)->end);
            last = end > last ? end : last;
        }
    }
    return last;
}

/* When so many quarters of the operations had come back over the network: a
 * quarter of the time might have none of them in it, or all. */
static int64_t quarter_ns(const scopes_snapshot *snapshot, size_t quarter)
{
    const scopes_series *series =
        scopes_event_series(snapshot->event_table, ABOVE_PROXY);

    cr_assert_gt(series->count, 100);
    return scopes_clocks_ns(
        snapshot->clocks, series->process,
        scopes_event_at(series->events, series->count * quarter / 4)->end);
}

/* Every event that is there meets the window, and all that do are there. */
static void check_window(const scopes_snapshot *snapshot, int64_t to_ns)
{
    scopes_snapshot *whole;
    uint64_t want = 0, seen = 0;

    check_status(scopes_snapshot_take(&whole, run, &everything), 0);
    for (uint32_t id = 0; id < snapshot->event_table->collectors; id++) {
        const scopes_series *all = scopes_event_series(whole->event_table, id);
        for (size_t i = 0; i < all->count; i++)
            want += scopes_clocks_ns(snapshot->clocks, all->process,
                                     scopes_event_at(all->events, i)->end) >=
                        snapshot->from_ns &&
                    scopes_clocks_ns(snapshot->clocks, all->process,
                                     scopes_event_at(all->events, i)->start) <=
                        to_ns;
        seen += scopes_event_series(snapshot->event_table, id)->count;
    }
    cr_assert_gt(seen, 0);
    cr_assert_lt(seen, whole->event_table->ledger.read);
    /* What lies on its edges may be rounded to either side. */
    cr_assert_leq(llabs((int64_t)seen - (int64_t)want), 4, "%lu, not %lu",
                  (unsigned long)seen, (unsigned long)want);
    cr_assert_eq(snapshot->event_table->ledger.read, seen);
    scopes_snapshot_destroy(whole);
}

Test(snapshot, a_whole_run_is_aligned_by_its_own_exchanges)
{
    scopes_snapshot *snapshot;

    check_status(scopes_snapshot_take(&snapshot, run, &everything), 0);
    check_clocks(snapshot);
    scopes_snapshot_destroy(snapshot);
}

static void check_part(uint64_t too_many, bool from_end)
{
    scopes_snapshot_options options = everything;
    scopes_snapshot *snapshot;

    check_status(scopes_snapshot_take(&snapshot, run, &everything), 0);
    options.too_many = too_many;
    if (from_end) {
        options.last_ns = last_end_ns(snapshot) - quarter_ns(snapshot, 3);
    } else {
        options.from_ns = quarter_ns(snapshot, 1);
        options.to_ns = quarter_ns(snapshot, 2);
    }
    scopes_snapshot_destroy(snapshot);
    check_status(scopes_snapshot_take(&snapshot, run, &options), 0);
    check_clocks(snapshot);
    check_window(snapshot, from_end ? INT64_MAX : options.to_ns);
    scopes_snapshot_destroy(snapshot);
}

Test(snapshot, a_window_of_a_small_run_is_aligned_by_all_of_it)
{
    check_part(0, false);
}

Test(snapshot, the_last_part_of_a_small_run)
{
    check_part(0, true);
}

Test(snapshot, a_window_of_a_large_run_is_aligned_though_wall_clocks_are_wrong)
{
    check_part(1, false);
}

Test(snapshot, the_last_part_of_a_large_run)
{
    check_part(1, true);
}

Test(snapshot, a_second_look_is_aligned_too)
{
    scopes_snapshot *snapshot;

    check_status(scopes_snapshot_take(&snapshot, run, &everything), 0);
    check_status(scopes_snapshot_again(snapshot), 0);
    check_clocks(snapshot);
    scopes_snapshot_destroy(snapshot);
}

Test(snapshot, looks_for_the_end_of_a_process_that_says_nonsense_of_it)
{
    scopes_snapshot_options options = everything;
    eventspace_meta meta;
    char file[4096];
    scopes_snapshot *snapshot;

    snprintf(file, sizeof(file), "%s", scratch_file("run/B.meta"));
    check_status(eventspace_meta_load(&meta, file), 0);
    meta.end_tick = UINT64_MAX;
    check_status(eventspace_meta_save(&meta, file), 0);
    cr_assert_eq(remove(scratch_file("run/B.space")), 0);
    eventspace_run_close(run);
    check_status(eventspace_run_open(&run, scratch_file("run")), 0);
    options.last_ns = 1000000000;
    check_status(scopes_snapshot_take(&snapshot, run, &options), 0);
    cr_assert_gt(snapshot->event_table->ledger.read, 0);
    scopes_snapshot_destroy(snapshot);
}
