/* levels_test.c - bins of a timeline are what the views tell, nanosecond by
 * nanosecond. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "eventspace/instrument.h"
#include "pastset/request.h"
#include "pastset/status.h"
#include "tests/scopes/fake_run.h"
#include "tests/scopes/told.h"
#include "tests/support/check.h"
#include "tests/support/golden.h"
#include "tests/support/mapping.h"
#include "tests/support/scratch.h"
#include "viewer/timeline/timeline_internal.h"

TestSuite(levels, .init = scratch_make, .fini = scratch_remove, .timeout = 60);

#define END_NS 6000
#define EVENTS 90
#define THREADS 3

static const char pipe_map[] =
    "digraph pipe { subgraph cluster_h {"
    " a [kind=thread, number=0]; b [kind=thread, number=1];"
    " r [kind=thread, number=2];"
    " box [kind=element, type=\"i64\", capacity=2]; }"
    " a -> box [as=box, use=write]; b -> box [as=box, use=write];"
    " r -> box [as=box, use=read]; }";

/* --- a run, and what the views tell of each nanosecond --- */

static uint64_t noise(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state >> 11;
}

/* Operations of a thread may overlap, and some fail. */
static size_t make_events(eventspace_trace events[EVENTS], const paths_map *map,
                          uint64_t seed)
{
    static const char *const names[THREADS] = {"a", "b", "r"};
    uint64_t at[THREADS] = {100, 150, 120};

    for (uint32_t i = 0; i < EVENTS; i++) {
        uint32_t thread = i % THREADS;
        uint64_t long_ns = noise(&seed) % 200;
        events[i] = (eventspace_trace){
            .start = at[thread],
            .end = at[thread] + long_ns,
            .collector = fake_collector(map, names[thread], "box"),
            .thread = thread,
            .sequence = i / THREADS + 1,
            .bytes = 8,
            .operation = thread == 2 ? PASTSET_OBSERVE : PASTSET_WRITE,
            .status = noise(&seed) % 8 == 0 ? (uint16_t)-PASTSET_EIO : 0};
        at[thread] += noise(&seed) % 180 + 1;
    }
    return EVENTS;
}

typedef struct told_states {
    uint8_t state[THREADS][END_NS];
    bool critical[THREADS][END_NS];
    uint32_t begins[THREADS][END_NS];
} told_states;

static uint32_t number_of(const char *thread)
{
    return strcmp(thread, "a") == 0 ? 0 : strcmp(thread, "b") == 0 ? 1 : 2;
}

/* A state of more weight covers one of less. */
static void mark(told_states *s, uint32_t thread, viewer__state state,
                 int64_t from_ns, int64_t to_ns)
{
    static const uint8_t weight[] = {[VIEWER__COMPUTING] = 1,
                                     [VIEWER__TRANSFERRING] = 2,
                                     [VIEWER__WAITING] = 3,
                                     [VIEWER__FAILED] = 4,
                                     [VIEWER__STATES] = 0};

    for (int64_t ns = from_ns; ns < to_ns; ns++)
        if (weight[state] > weight[s->state[thread][ns]])
            s->state[thread][ns] = (uint8_t)state;
}

static void mark_operations(told_states *s, told *t)
{
    scopes_table *table = told_view(t, "communication");
    int64_t first[THREADS] = {END_NS, END_NS, END_NS}, last[THREADS] = {0};

    for (size_t i = 0; i < scopes_table_rows(table); i++) {
        uint32_t thread = number_of(table_text(table, i, "thread"));
        int64_t start = table_integer(table, i, "start_ns");
        int64_t end = table_integer(table, i, "end_ns");
        bool failed = *table_text(table, i, "status") != 0;
        mark(s, thread, failed ? VIEWER__FAILED : VIEWER__TRANSFERRING, start,
             end);
        s->begins[thread][start]++;
        first[thread] = start < first[thread] ? start : first[thread];
        last[thread] = end > last[thread] ? end : last[thread];
    }
    for (uint32_t i = 0; i < THREADS; i++)
        mark(s, i, VIEWER__COMPUTING, first[i], last[i]);
    scopes_table_destroy(table);
}

/* The end of an operation, by the view communication; 0: it failed. */
static int64_t end_of(const scopes_table *table, const char *thread,
                      int64_t sequence)
{
    for (size_t i = 0; i < scopes_table_rows(table); i++)
        if (strcmp(table_text(table, i, "thread"), thread) == 0 &&
            table_integer(table, i, "sequence") == sequence)
            return *table_text(table, i, "status")
                       ? 0
                       : table_integer(table, i, "end_ns");
    return 0;
}

static size_t mark_waits(told_states *s, told *t)
{
    scopes_table *table = told_view(t, "waits-for");
    scopes_table *operations = told_view(t, "communication");
    size_t rows = scopes_table_rows(table);

    for (size_t i = 0; i < rows; i++) {
        const char *thread = table_text(table, i, "thread");
        int64_t start = table_integer(table, i, "start_ns");
        int64_t until = start + table_integer(table, i, "wait_ns");
        int64_t end =
            end_of(operations, thread, table_integer(table, i, "sequence"));
        mark(s, number_of(thread), VIEWER__WAITING, start,
             until < end ? until : end);
    }
    scopes_table_destroy(operations);
    scopes_table_destroy(table);
    return rows;
}

static void mark_links(told_states *s, told *t)
{
    scopes_table *table;

    t->view_input.each = false;
    table = told_view(t, "critical-links");
    cr_assert_gt(scopes_table_rows(table), 0);
    for (size_t i = 0; i < scopes_table_rows(table); i++)
        for (int64_t ns = table_integer(table, i, "start_ns");
             ns < table_integer(table, i, "end_ns"); ns++)
            s->critical[table_integer(table, i, "number")][ns] = true;
    scopes_table_destroy(table);
}

/* --- bins against that --- */

static void check_bin(const told_states *s, const viewer__grid *grid,
                      uint32_t thread, size_t place, const viewer__bin *bin)
{
    int64_t from_ns = grid->start_ns + grid->bin_ns * (int64_t)place;
    int64_t ns[VIEWER__STATES] = {0};
    uint32_t begins = 0;

    for (int64_t at = from_ns; at < from_ns + grid->bin_ns && at < END_NS;
         at++) {
        if (s->state[thread][at] < VIEWER__STATES)
            ns[s->state[thread][at]]++;
        ns[VIEWER__CRITICAL] += s->critical[thread][at];
        begins += s->begins[thread][at];
    }
    for (int i = 0; i < VIEWER__STATES; i++)
        cr_expect_eq(bin->ns[i], ns[i],
                     "thread %u, bins of %ld ns, from %ld: state %d is %ld, "
                     "not %ld",
                     thread, (long)grid->bin_ns, (long)from_ns, i,
                     (long)bin->ns[i], (long)ns[i]);
    cr_expect_eq(bin->operations, begins);
}

static void check_grid(const told_states *s, const viewer_timeline *timeline,
                       int64_t from_ns, int64_t to_ns, size_t columns)
{
    viewer__grid grid = viewer__grid_of(from_ns, to_ns, columns);
    viewer__bin *bins = calloc(grid.count, sizeof(*bins));

    cr_assert_not_null(bins);
    cr_assert_leq(grid.count, columns);
    cr_assert_geq(grid.start_ns + grid.bin_ns * (int64_t)grid.count, to_ns);
    for (uint32_t thread = 0; thread < THREADS; thread++) {
        viewer__bins_fill(bins, &grid, timeline, thread);
        for (size_t k = 0; k < grid.count; k++)
            check_bin(s, &grid, thread, k, &bins[k]);
    }
    free(bins);
}

static bool is_in(const viewer__part *part, const scopes_operation *op)
{
    return op->start_ns >= part->from_ns && op->start_ns < part->to_ns;
}

static void check_parts(const viewer_timeline *timeline, uint64_t most)
{
    const scopes_communication *view = timeline->view;
    viewer__grid grid = viewer__grid_of(0, END_NS, 600);
    viewer__part parts[VIEWER__PARTS_MAX];
    int count = viewer__parts_choose(parts, timeline, &grid, most);
    int64_t longest_ns = 0, longest_told_ns = 0;
    uint64_t there = 0;

    cr_assert_gt(count, 0);
    for (size_t i = 0; i < view->operation_count; i++) {
        const scopes_operation *op = &view->operations[i];
        int64_t ns = op->end_ns - op->start_ns;
        longest_ns = ns > longest_ns ? ns : longest_ns;
        for (int k = 0; k < count; k++) {
            if (!is_in(&parts[k], op))
                continue;
            there++;
            longest_told_ns = ns > longest_told_ns ? ns : longest_told_ns;
        }
    }
    for (int k = 1; k < count; k++)
        cr_expect_gt(parts[k].from_ns, parts[k - 1].to_ns);
    cr_expect_leq(there, most);
    cr_expect_gt(there, most / 2);
    cr_expect_eq(longest_told_ns, longest_ns);
    cr_expect_leq(parts[0].from_ns, view->start_ns);
}

static void write_run(const char *directory, uint64_t seed)
{
    eventspace_instrument_options threads = {.collectors =
                                                 EVENTSPACE_THREAD_COLLECTORS};
    paths_map *map, *plain = map_parse(pipe_map);
    eventspace_trace events[EVENTS];
    size_t count;
    fake_run *run;

    check_status(eventspace_instrument(&map, plain, &threads), 0);
    paths_map_destroy(plain);
    count = make_events(events, map, seed);
    cr_assert_eq(mkdir(directory, 0700), 0);
    run = fake_run_begin(directory, map);
    cr_assert_not_null(run, "%s", pastset_error());
    for (size_t i = 0; i < count; i++) {
        eventspace_trace event = events[i];
        event.start += FAKE_START;
        event.end += FAKE_START;
        check_status(fake_run_event(run, &event), 0);
    }
    check_status(fake_run_end(run), 0);
    paths_map_destroy(map);
}

static void check_run(uint64_t seed)
{
    static told_states states;
    scopes_snapshot_options all = SCOPES_SNAPSHOT_ALL;
    scopes_snapshot *snapshot;
    viewer_timeline *timeline;
    const char *directory = scratch_file("run.%lu", (unsigned long)seed);
    told t;

    memset(&states, 0, sizeof(states));
    memset(states.state, VIEWER__STATES, sizeof(states.state));
    write_run(directory, seed);
    told_run(&t, directory);
    t.view_input.each = true;
    mark_operations(&states, &t);
    cr_assert_gt(mark_waits(&states, &t), 5);
    mark_links(&states, &t);
    check_status(scopes_snapshot_take(&snapshot, t.run, &all), 0);
    check_status(viewer_timeline_create(&timeline, snapshot), 0);
    check_grid(&states, timeline, 0, END_NS, 1);
    check_grid(&states, timeline, 0, END_NS, 7);
    check_grid(&states, timeline, 0, END_NS, 600);
    check_grid(&states, timeline, 777, 2001, 100);
    check_grid(&states, timeline, 2500, 2510, 10);
    check_grid(&states, timeline, 0, 50, 5);
    check_parts(timeline, EVENTS / 2);
    viewer_timeline_destroy(timeline);
    scopes_snapshot_destroy(snapshot);
    told_end(&t);
}

Test(levels, bins_are_what_the_views_tell_of_each_nanosecond)
{
    for (uint64_t seed = 1; seed <= 5; seed++)
        check_run(seed * 88172645463325252u);
}
