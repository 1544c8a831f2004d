/* run_test.c - run directories that were made by hand, read in all states. */
#include "eventspace/run/run.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "check.h"
#include "eventspace/collect/ticks.h"
#include "pastset/space.h"
#include "eventspace/run/run_internal.h"

static const char map_text[] =
    "digraph sample {\n"
    "  subgraph cluster_h0 {\n"
    "    t0 [kind=thread, number=0];\n"
    "    \"t0.e.ec1\" [kind=collector, id=0, trace=\"trace.t0\"];\n"
    "    \"t0.e.ec2\" [kind=collector, id=2, trace=\"trace.t0\"];\n"
    "    \"t0.e.proxy\" [kind=proxy];\n"
    "  }\n"
    "  subgraph cluster_h1 {\n"
    "    \"t0.e.ec3\" [kind=collector, id=1, trace=\"trace.h1\"];\n"
    "    e [kind=element, type=\"u64\"];\n"
    "  }\n"
    "  t0 -> \"t0.e.ec1\" [as=e, use=write];\n"
    "  \"t0.e.ec1\" -> \"t0.e.proxy\";\n"
    "  \"t0.e.proxy\" -> \"t0.e.ec3\";\n"
    "  \"t0.e.ec3\" -> e;\n"
    "}\n";

#define H0 0
#define H1 1

/* --- making what a run leaves behind --- */

static pastset_space *space_make(const char *file)
{
    pastset_space_options options = {.path = in_directory(file)};
    pastset_space *space;

    check_status(pastset_space_create(&space, &options), 0);
    return space;
}

static pastset_element *stream_make(pastset_space *space, const char *name,
                                    const char *type_text,
                                    pastset_policy policy, uint64_t capacity)
{
    pastset_type type;
    pastset_element_options options = {
        .name = name, .type = &type, .policy = policy, .capacity = capacity};
    pastset_element *element;

    check_status(pastset_type_parse(&type, type_text), 0);
    check_status(pastset_element_create(&element, space, &options), 0);
    return element;
}

static pastset_element *trace_make(pastset_space *space, const char *name,
                                   pastset_policy policy, uint64_t capacity)
{
    return stream_make(space, name, EVENTSPACE_TRACE_TYPE, policy, capacity);
}

/* Writes the events with the sequence numbers `from` to `to` - 1. */
static int events_write(pastset_element *stream, uint32_t from, uint32_t to)
{
    int err = 0;

    for (uint32_t i = from; i < to && !err; i++) {
        eventspace_trace event = {
            .start = 10 * i, .end = 10 * i + 5, .sequence = i};
        err =
            pastset_write(stream, &event, sizeof(event), PASTSET_NOWAIT, NULL);
    }
    return err;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static eventspace_meta meta_of(const char *process)
{
    eventspace_meta meta = {.eventspace = "0.1.0",
                            .pid = (uint32_t)getpid(),
                            .tick_source = "tsc",
                            .tick_hz = 2e9,
                            .start_tick = 1000000,
                            .threads = 1,
                            .state = EVENTSPACE_FINISHED};
    snprintf(meta.process, sizeof(meta.process), "%s", process);
    meta.start_wall_ns = now_ns();
    return meta;
}

static void meta_write(const eventspace_meta *meta)
{
    char name[160];
    snprintf(name, sizeof(name), "%s.meta", meta->process);
    check_status(eventspace_meta_save(meta, in_directory(name)), 0);
}

static void run_make(void)
{
    directory_make();
    file_write(in_directory("pathmap.dot"), map_text, strlen(map_text));
}

static eventspace_run *run_open(void)
{
    eventspace_run *run;
    check_status(eventspace_run_open(&run, test_directory), 0);
    return run;
}

/* --- looking at it --- */

/* The sequence numbers of a walk, as "0 1 2 ". */
typedef struct seen {
    char text[1024];
    int stop_after; /* 0: never */
    int count;
} seen;

static int see(const eventspace_trace *event, void *context)
{
    seen *s = context;
    size_t used = strlen(s->text);
    snprintf(s->text + used, sizeof(s->text) - used, "%u ", event->sequence);
    cr_assert_eq(event->end, event->start + 5);
    return ++s->count == s->stop_after ? 77 : 0;
}

static void check_walk(eventspace_run *run, size_t process, const char *want)
{
    seen s = {.text = ""};
    check_status(eventspace_run_each(run, process, see, &s), 0);
    cr_assert_str_eq(s.text, want, "saw \"%s\", not \"%s\"", s.text, want);
}

static void check_events(eventspace_run *run, size_t process, uint64_t recorded,
                         uint64_t present, uint64_t lost, uint64_t spilled)
{
    eventspace_events got;
    check_status(eventspace_run_events(run, process, &got), 0);
    cr_assert(got.recorded == recorded && got.present == present &&
                  got.lost == lost && got.spilled == spilled &&
                  got.bytes == present * 36,
              "recorded %lu present %lu lost %lu spilled %lu bytes %lu",
              (unsigned long)got.recorded, (unsigned long)got.present,
              (unsigned long)got.lost, (unsigned long)got.spilled,
              (unsigned long)got.bytes);
}

TestSuite(run, .timeout = 120, .init = run_make, .fini = directory_remove);

/* --- opening --- */

Test(run, needs_a_directory_with_a_map)
{
    eventspace_run *run;

    check_status(eventspace_run_open(&run, in_directory("none")),
                 PASTSET_ENOENT);
    check_error("none");
    unlink(in_directory("pathmap.dot"));
    check_status(eventspace_run_open(&run, test_directory), PASTSET_ENOENT);
    check_error("not a run directory");
    cr_assert_null(run);
    file_write(in_directory("pathmap.dot"), "digraph {", 9);
    check_status(eventspace_run_open(&run, test_directory), PASTSET_EMAP);
    check_error("pathmap.dot");
}

Test(run, lists_processes_whose_files_are_missing_or_damaged)
{
    eventspace_meta meta = meta_of("h0");
    const eventspace_run_process *process;
    eventspace_run *run;

    meta_write(&meta);
    file_write(in_directory("h1.meta"), "rubbish", 7);
    file_write(in_directory("h1.space"), "rubbish", 7);
    run = run_open();
    cr_assert_eq(eventspace_run_process_count(run), 2);
    process = eventspace_run_process_at(run, H0);
    cr_assert_str_eq(process->name, "h0");
    cr_assert(process->has_meta && !process->has_space);
    cr_assert_not_null(strstr(process->problem, "h0.space"), "%s",
                       process->problem);
    process = eventspace_run_process_at(run, H1);
    cr_assert(!process->has_meta && !process->has_space);
    cr_assert_not_null(strstr(process->problem, "h1.meta"), "%s",
                       process->problem);
    cr_assert_not_null(strstr(process->problem, "h1.space"), "%s",
                       process->problem);
    cr_assert_null(eventspace_run_process_at(run, 2));
    check_events(run, SIZE_MAX, 0, 0, 0, 0);
    eventspace_run_close(run);
}

Test(run, refuses_the_meta_of_another_process)
{
    eventspace_meta meta = meta_of("h0");
    eventspace_run *run;

    check_status(eventspace_meta_save(&meta, in_directory("h1.meta")), 0);
    run = run_open();
    cr_assert_not(eventspace_run_process_at(run, H1)->has_meta);
    cr_assert_not_null(strstr(eventspace_run_process_at(run, H1)->problem,
                              "it belongs to process \"h0\""));
    eventspace_run_close(run);
}

Test(run, names_files_after_processes_but_not_outside_of_the_directory)
{
    char name[32];

    check_status(eventspace_run_file(name, sizeof(name), "run", "h0", ".meta"),
                 0);
    cr_assert_str_eq(name, "run/h0.meta");
    check_status(
        eventspace_run_file(name, sizeof(name), "run", "../h0", ".meta"),
        PASTSET_EINVAL);
    check_status(eventspace_run_file(name, sizeof(name), "run", "", ".meta"),
                 PASTSET_EINVAL);
    check_status(eventspace_run_file(name, 8, "run", "h0", ".meta"),
                 PASTSET_EINVAL);
}

Test(run, knows_its_collectors)
{
    eventspace_run *run = run_open();
    const paths_map *map = eventspace_run_map(run);

    cr_assert_eq(eventspace_run_ids(run), 3);
    cr_assert_str_eq(map->nodes[eventspace_run_collector(run, 0)].name,
                     "t0.e.ec1");
    cr_assert_str_eq(map->nodes[eventspace_run_collector(run, 1)].name,
                     "t0.e.ec3");
    cr_assert_eq(eventspace_run_collector(run, 3), PATHS_NONE);
    cr_assert_eq(eventspace_run_collector(run, UINT32_MAX), PATHS_NONE);
    eventspace_run_close(run);
}

/* --- who still runs --- */

static eventspace_state state_found(const eventspace_meta *meta)
{
    eventspace_state state;
    eventspace_run *run;

    meta_write(meta);
    run = run_open();
    state = eventspace_run_process_at(run, H0)->meta.state;
    eventspace_run_close(run);
    return state;
}

Test(run, takes_a_process_that_is_gone_as_killed)
{
    eventspace_meta meta = meta_of("h0");
    pid_t child = fork();

    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    meta.state = EVENTSPACE_RUNNING;
    cr_assert_eq(state_found(&meta), EVENTSPACE_RUNNING);
    meta.pid = (uint32_t)child;
    cr_assert_eq(state_found(&meta), EVENTSPACE_KILLED);
    meta.pid = 0;
    cr_assert_eq(state_found(&meta), EVENTSPACE_KILLED);
    meta.pid = UINT32_MAX;
    cr_assert_eq(state_found(&meta), EVENTSPACE_KILLED);
    meta.state = EVENTSPACE_FINISHED;
    cr_assert_eq(state_found(&meta), EVENTSPACE_FINISHED);
}

Test(run, takes_a_zombie_as_killed)
{
    eventspace_meta meta = meta_of("h0");
    siginfo_t info;
    pid_t child = fork();

    if (child == 0)
        _exit(0);
    waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
    meta.state = EVENTSPACE_RUNNING;
    meta.pid = (uint32_t)child;
    cr_assert_eq(state_found(&meta), EVENTSPACE_KILLED);
    waitpid(child, NULL, 0);
}

Test(run, is_not_misled_by_a_later_process_of_the_same_number)
{
    eventspace_meta meta = meta_of("h0");

    meta.state = EVENTSPACE_RUNNING;
    meta.start_wall_ns -= 3600 * 1000000000ull;
    cr_assert_eq(state_found(&meta), EVENTSPACE_KILLED);
}

/* The wall clock is set while it runs: that is not when it began. */
Test(run, is_not_misled_by_a_wall_clock_that_jumps)
{
    eventspace_meta meta = meta_of("h0");
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    eventspace_ticks_name(meta.counter, sizeof(meta.counter));
    meta.state = EVENTSPACE_RUNNING;
    meta.start_boot_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    meta.start_wall_ns -= 3600 * 1000000000ull;
    cr_assert_eq(state_found(&meta), EVENTSPACE_RUNNING);
    meta.start_wall_ns += 7200 * 1000000000ull;
    cr_assert_eq(state_found(&meta), EVENTSPACE_RUNNING);
    cr_assert_lt(eventspace__meta_age_ns(&meta), 60000000000);
    meta.start_boot_ns -= 3600 * INT64_C(1000000000);
    if (meta.start_boot_ns > 0) {
        cr_assert_eq(state_found(&meta), EVENTSPACE_KILLED);
        cr_assert_geq(eventspace__meta_age_ns(&meta),
                      3600 * INT64_C(1000000000));
    }
    meta.counter[0] ^= 1; /* of another boot: by the wall clock */
    cr_assert_lt(eventspace__meta_age_ns(&meta), 0);
}

/* --- streams --- */

Test(run, finds_the_lanes_of_trace_elements_and_nothing_else)
{
    static const char *const names[] = {
        "trace.t0", "trace.t0~2", "trace.t0~17", "trace.t0~", "trace.t0~2x",
        "trace.t",  "e"};
    pastset_space *space = space_make("h0.space");
    eventspace_run *run;

    for (size_t i = 0; i < 7; i++)
        trace_make(space, names[i], PASTSET_GROW, 10);
    run = run_open();
    for (size_t i = 0; i < 7; i++) {
        pastset_element *element = pastset_space_find(
            eventspace_run_process_at(run, H0)->space, names[i]);
        cr_assert_eq(eventspace_run_is_trace(run, element), i < 3, "%s",
                     names[i]);
    }
    eventspace_run_close(run);
    pastset_space_close(space);
}

Test(run, walks_lane_by_lane_in_the_order_of_writing)
{
    pastset_space *space = space_make("h0.space");
    pastset_element *first = trace_make(space, "trace.t0", PASTSET_GROW, 100);
    pastset_element *second =
        trace_make(space, "trace.t0~2", PASTSET_GROW, 100);
    eventspace_run *run;

    trace_make(space, "e", PASTSET_GROW, 100);
    events_write(second, 50, 52);
    events_write(first, 0, 3);
    run = run_open();
    check_walk(run, H0, "0 1 2 50 51 ");
    check_walk(run, H1, "");
    check_events(run, H0, 5, 5, 0, 0);
    check_events(run, SIZE_MAX, 5, 5, 0, 0);
    eventspace_run_close(run);
    pastset_space_close(space);
}

Test(run, ends_a_walk_when_it_is_told_to)
{
    pastset_space *space = space_make("h0.space");
    seen s = {.stop_after = 2};
    eventspace_run *run;

    events_write(trace_make(space, "trace.t0", PASTSET_GROW, 100), 0, 5);
    run = run_open();
    cr_assert_eq(eventspace_run_each(run, H0, see, &s), 77);
    cr_assert_str_eq(s.text, "0 1 ");
    check_status(eventspace_run_each(run, 2, see, &s), PASTSET_EINVAL);
    eventspace_run_close(run);
    pastset_space_close(space);
}

Test(run, counts_what_was_discarded_and_what_was_refused)
{
    pastset_space *space = space_make("h0.space");
    pastset_element *stream = trace_make(space, "trace.t0", PASTSET_DISCARD, 4);
    pastset_element *full = trace_make(space, "trace.t0~2", PASTSET_GROW, 3);
    eventspace_run *run;
    pastset_ledger ledger;

    events_write(stream, 0, 10);
    for (int i = 0; i < 5; i++)
        events_write(full, 100 + (uint32_t)i, 101 + (uint32_t)i);
    pastset_element_ledger(stream, &ledger);
    run = run_open();
    check_events(run, H0, 15, ledger.present + 3, ledger.dropped + 2, 0);
    cr_assert_eq(ledger.present + ledger.dropped, 10);
    eventspace_run_close(run);
    pastset_space_close(space);
}

Test(run, sees_lanes_and_events_that_come_while_it_is_open)
{
    pastset_space *space = space_make("h0.space");
    pastset_element *stream = trace_make(space, "trace.t0", PASTSET_GROW, 100);
    eventspace_run *run = run_open();

    check_walk(run, H0, "");
    events_write(stream, 0, 2);
    events_write(trace_make(space, "trace.t0~2", PASTSET_GROW, 9), 7, 8);
    check_walk(run, H0, "0 1 7 ");
    check_events(run, H0, 3, 3, 0, 0);
    eventspace_run_close(run);
    pastset_space_close(space);
}

Test(run, finds_a_process_that_comes_up_later)
{
    eventspace_run *run = run_open();
    eventspace_meta meta = meta_of("h1");
    pastset_space *space;

    cr_assert_not(eventspace_run_process_at(run, H1)->has_meta);
    cr_assert_neq(eventspace_run_process_at(run, H1)->problem[0], 0);
    meta_write(&meta);
    space = space_make("h1.space");
    events_write(trace_make(space, "trace.h1", PASTSET_GROW, 9), 3, 4);
    check_status(eventspace_run_refresh(run), 0);
    cr_assert(eventspace_run_process_at(run, H1)->has_meta);
    cr_assert_str_eq(eventspace_run_process_at(run, H1)->problem, "");
    check_walk(run, H1, "3 ");
    eventspace_run_close(run);
    pastset_space_close(space);
}

Test(run, leaves_out_a_trace_element_of_another_type)
{
    pastset_space *space = space_make("h0.space");
    uint64_t tuple = 1;
    eventspace_run *run;
    const char *problem;

    pastset_write(stream_make(space, "trace.t0", "u64", PASTSET_GROW, 9),
                  &tuple, sizeof(tuple), PASTSET_NOWAIT, NULL);
    events_write(trace_make(space, "trace.t0~2", PASTSET_GROW, 9), 1, 2);
    run = run_open();
    check_walk(run, H0, "1 ");
    check_events(run, H0, 1, 1, 0, 0);
    problem = eventspace_run_process_at(run, H0)->problem;
    cr_assert_not_null(strstr(problem, "trace element trace.t0: its tuples"),
                       "%s", problem);
    /* Said once, though it was met twice. */
    cr_assert_null(strstr(strstr(problem, "its tuples") + 1, "its tuples"));
    eventspace_run_close(run);
    pastset_space_close(space);
}

/* The directory's time is that of long ago, as if nothing had happened in it
 * since. */
static void directory_age(void)
{
    const struct timespec then[] = {{.tv_sec = 1000000000},
                                    {.tv_sec = 1000000000}};

    cr_assert_eq(utimensat(AT_FDCWD, test_directory, then, 0), 0);
}

Test(run, counts_looks_that_may_find_other_files)
{
    eventspace_meta meta = meta_of("h1");
    eventspace_run *run;
    uint64_t changes;

    meta.state = EVENTSPACE_RUNNING;
    meta_write(&meta);
    directory_age();
    run = run_open();
    changes = eventspace_run_changes(run);
    cr_expect_gt(changes, 0);
    check_status(eventspace_run_refresh(run), 0);
    cr_expect_eq(eventspace_run_changes(run), changes);

    meta.state = EVENTSPACE_FINISHED;
    meta_write(&meta);
    check_status(eventspace_run_refresh(run), 0);
    cr_expect_gt(eventspace_run_changes(run), changes);
    cr_expect_eq(eventspace_run_process_at(run, H1)->meta.state,
                 EVENTSPACE_FINISHED);
    /* What has just changed may change once more at the same time. */
    changes = eventspace_run_changes(run);
    check_status(eventspace_run_refresh(run), 0);
    cr_expect_gt(eventspace_run_changes(run), changes);
    eventspace_run_close(run);
}

/* Whoever reads on does not wait for a refresh: it was drained before it left
 * the stream. */
Test(run, finds_what_is_drained_for_the_first_time_while_it_reads)
{
    pastset_space *space = space_make("h0.space"), *away;
    pastset_element *stream = trace_make(space, "trace.t0", PASTSET_BLOCK, 16);
    eventspace_trace event;
    size_t bytes = sizeof(event);
    eventspace_run *run;

    events_write(stream, 0, 3);
    directory_age();
    run = run_open();
    check_walk(run, H0, "0 1 2 ");
    check_status(eventspace_run_refresh(run), 0);
    away = space_make("h0.drained");
    events_write(trace_make(away, "trace.t0", PASTSET_GROW, 100), 0, 2);
    for (int i = 0; i < 2; i++)
        check_status(
            pastset_observe(stream, &event, &bytes, PASTSET_NOWAIT, NULL), 0);
    check_events(run, H0, 3, 3, 0, 2);
    check_walk(run, H0, "0 1 2 ");
    eventspace_run_close(run);
    pastset_space_close(away);
    pastset_space_close(space);
}

/* --- what was drained --- */

/* A stream of 10 events of which the first `drained` were copied away, and the
 * first `removed` then removed. */
static void drained_make(uint32_t drained, uint32_t removed)
{
    pastset_space *space = space_make("h0.space");
    pastset_space *away = space_make("h0.drained");
    pastset_element *stream = trace_make(space, "trace.t0", PASTSET_BLOCK, 16);
    eventspace_trace event;

    events_write(stream, 0, 10);
    events_write(trace_make(away, "trace.t0", PASTSET_GROW, 100), 0, drained);
    for (uint32_t i = 0; i < removed; i++) {
        size_t bytes = sizeof(event);
        check_status(
            pastset_observe(stream, &event, &bytes, PASTSET_NOWAIT, NULL), 0);
    }
    pastset_space_close(away);
    pastset_space_close(space);
}

static void check_drained(uint32_t drained, uint32_t removed)
{
    eventspace_run *run;

    drained_make(drained, removed);
    run = run_open();
    check_walk(run, H0, "0 1 2 3 4 5 6 7 8 9 ");
    check_events(run, H0, 10, 10, 0, drained);
    eventspace_run_close(run);
}

Test(run, joins_what_was_drained_with_what_was_not)
{
    check_drained(6, 6);
}

Test(run, counts_a_batch_once_that_was_drained_and_not_yet_removed)
{
    check_drained(6, 2);
}

Test(run, reads_a_lane_that_was_drained_entirely)
{
    check_drained(10, 10);
}

Test(run, reads_a_lane_of_which_nothing_was_drained_yet)
{
    check_drained(0, 0);
}

Test(run, reads_what_was_drained_when_the_space_itself_is_lost)
{
    eventspace_run *run;

    drained_make(6, 6);
    unlink(in_directory("h0.space"));
    run = run_open();
    check_walk(run, H0, "0 1 2 3 4 5 ");
    check_events(run, H0, 6, 6, 0, 6);
    eventspace_run_close(run);
}

/* A drain that cannot write lets the stream go on, and loses what was in it. */
Test(run, counts_what_was_removed_without_being_drained)
{
    eventspace_run *run;

    drained_make(4, 7);
    run = run_open();
    check_walk(run, H0, "0 1 2 3 7 8 9 ");
    check_events(run, H0, 10, 7, 3, 4);
    eventspace_run_close(run);
}

/* --- times --- */

Test(run, counts_time_from_the_earliest_start)
{
    eventspace_meta late = meta_of("h0"), early = meta_of("h1");
    eventspace_run *run;

    strcpy(early.tick_source, "monotonic_raw");
    early.tick_hz = 1e9;
    early.start_wall_ns = late.start_wall_ns - 1000;
    meta_write(&late);
    meta_write(&early);
    run = run_open();
    cr_assert_eq(eventspace_run_time_ns(run, H1, 1000000), 0);
    cr_assert_eq(eventspace_run_time_ns(run, H1, 1000007), 7);
    cr_assert_eq(eventspace_run_time_ns(run, H1, 999999), -1);
    cr_assert_eq(eventspace_run_time_ns(run, H0, 1000000), 1000);
    cr_assert_eq(eventspace_run_time_ns(run, H0, 1000020), 1010);
    cr_assert_eq(eventspace_run_time_ns(run, 2, 0), 0);
    eventspace_run_close(run);
}

/* One counter for both: the wall clocks' error of 30 us does not come in. */
Test(run, converts_one_counter_in_one_way)
{
    eventspace_meta first = meta_of("h0"), second = meta_of("h1");
    eventspace_run *run;

    second.start_tick = first.start_tick + 2000000000;
    second.start_wall_ns = first.start_wall_ns + 1000000000 + 30000;
    second.tick_hz = first.tick_hz * 1.000001;
    meta_write(&first);
    meta_write(&second);
    run = run_open();
    cr_assert_eq(eventspace_run_time_ns(run, H1, second.start_tick),
                 1000000000);
    cr_assert_eq(eventspace_run_time_ns(run, H0, second.start_tick),
                 1000000000);
    eventspace_run_close(run);
}

Test(run, keeps_two_counters_apart)
{
    eventspace_meta first = meta_of("h0"), second = meta_of("h1");
    eventspace_run *run;

    second.start_tick = 5;
    second.start_wall_ns = first.start_wall_ns + 1000000000;
    meta_write(&first);
    meta_write(&second);
    run = run_open();
    cr_assert_eq(eventspace_run_time_ns(run, H1, 5), 1000000000);
    cr_assert_eq(eventspace_run_time_ns(run, H1, 25), 1000000010);
    eventspace_run_close(run);
}
