/* top_model_test.c - what a window holds, of runs made by hand: every time is
 * known to the nanosecond. Processes start at tick FAKE_START and end ten
 * seconds later. */
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pastset/request.h"
#include "tests/scopes/fake_run.h"
#include "tests/support/check.h"
#include "tests/support/scratch.h"
#include "viewer/live/top.h"

#define MS 1000000u
#define END_MS 10000u

/* Two threads sum; what comes last goes on through c2. `b` also writes. */
static const char text[] =
    "digraph m {\n"
    " subgraph cluster_h0 {\n"
    "  a [kind=thread, number=0]; b [kind=thread, number=1];\n"
    "  c0 [kind=collector, id=0, trace=x]; c1 [kind=collector, id=1, "
    "trace=y];\n"
    "  s [kind=sum]; c2 [kind=collector, id=2, trace=z];\n"
    "  total [kind=element, type=i64, policy=discard, capacity=4];\n"
    "  c3 [kind=collector, id=3, trace=y];\n"
    "  log [kind=element, type=i64, policy=discard, capacity=4]; }\n"
    " subgraph cluster_h1 {\n"
    "  lone [kind=thread, number=2];\n"
    "  c4 [kind=collector, id=4, trace=w];\n"
    "  own [kind=element, type=i64, policy=discard, capacity=4]; }\n"
    " a -> c0 [as=sum, use=sum]; b -> c1 [as=sum, use=sum];\n"
    " c0 -> s; c1 -> s; s -> c2; c2 -> total;\n"
    " b -> c3 [as=log, use=write]; c3 -> log;\n"
    " lone -> c4 [as=own, use=write]; c4 -> own; }\n";

enum { A_SUM, B_SUM, BELOW, B_LOG, LONE };

static paths_map *map;
static fake_run *fake;
static viewer_top *top;
static viewer_top_frame frame;
static uint32_t sequences[3];

static void setup(void)
{
    scratch_make();
    check_status(paths_map_parse(&map, text, strlen(text), "test"), 0);
    check_status(paths_map_save(map, scratch_file("pathmap.dot")), 0);
    fake = fake_run_begin(scratch_file("."), map);
    cr_assert(fake, "%s", pastset_error());
}

static void teardown(void)
{
    viewer_top_frame_fini(&frame);
    viewer_top_close(top);
    paths_map_destroy(map);
    scratch_remove();
}

TestSuite(top_model, .timeout = 120, .init = setup, .fini = teardown);

/* One tuple, from and to milliseconds after the start. */
static void event(uint32_t collector, uint32_t thread, uint64_t from_ms,
                  uint64_t to_ms, uint32_t bytes)
{
    eventspace_trace e = {.start = FAKE_START + from_ms * MS,
                          .end = FAKE_START + to_ms * MS,
                          .collector = collector,
                          .thread = thread,
                          .sequence = ++sequences[thread % 3],
                          .bytes = bytes,
                          .operation = PASTSET_EXCHANGE};

    check_status(fake_run_event(fake, &e), 0);
}

static void snapshot(int64_t window_ms, viewer_top_sort sort)
{
    viewer_top_options options = {.window_ns = window_ms * MS,
                                  .event_cost_ns = 20};

    if (fake)
        check_status(fake_run_end(fake), 0);
    fake = NULL;
    check_status(viewer_top_open(&top, scratch_file("."), &options), 0);
    check_status(viewer_top_frame_init(&frame, top, sort), 0);
}

static const viewer_top_thread *thread_of(uint32_t number)
{
    for (size_t i = 0; i < frame.thread_count; i++)
        if (frame.threads[i].number == number)
            return &frame.threads[i];
    cr_assert_fail("no thread %u", number);
    return NULL;
}

static bool near(double value, double wanted)
{
    return fabs(value - wanted) <= 1e-6 * fabs(wanted);
}

Test(top_model, tells_rates_and_shares_of_the_window_alone)
{
    const viewer_top_thread *a;

    event(A_SUM, 0, 1000, 6000, 1000); /* before the window */
    for (uint64_t at = 9000; at < END_MS; at += 100)
        event(A_SUM, 0, at + 20, at + 50, 8);
    snapshot(1000, VIEWER_TOP_NUMBER);
    a = thread_of(0);
    cr_expect(near((double)frame.window_ns, 1e9), "%g",
              (double)frame.window_ns);
    cr_expect(near(a->operations_per_s, 10), "%g", a->operations_per_s);
    cr_expect(near(a->bytes_per_s, 80), "%g", a->bytes_per_s);
    cr_expect(near(a->share, 0.3), "%g", a->share);
    cr_expect_eq(a->longest_ns, 30 * MS);
    cr_expect_str_eq(a->longest, "sum");
    cr_expect_eq(a->silent_ns, 50 * MS);
    cr_expect_eq(a->operations, 11);
}

/* Seven seconds in an operation that comes up in the window, which sees the
 * last half of a second of it. */
Test(top_model, gives_a_long_operation_its_part_of_the_window)
{
    event(LONE, 2, 2500, 9500, 8);
    snapshot(1000, VIEWER_TOP_NUMBER);
    cr_expect(near(thread_of(2)->share, 0.5), "%g", thread_of(2)->share);
    cr_expect_eq(thread_of(2)->longest_ns, 7000 * (int64_t)MS);
}

Test(top_model, tells_how_long_and_after_what_a_thread_is_silent)
{
    event(B_SUM, 1, 100, 200, 8);
    event(B_LOG, 1, 300, 400, 8);
    snapshot(1000, VIEWER_TOP_SILENT);
    cr_expect_eq(thread_of(1)->silent_ns, (int64_t)(END_MS - 400) * MS);
    cr_expect_str_eq(thread_of(1)->last, "log");
    cr_expect_eq(thread_of(1)->longest_ns, SCOPES_BLANK);
    cr_expect_eq(thread_of(1)->operations_per_s, 0);
    cr_expect_eq(thread_of(0)->silent_ns, SCOPES_BLANK);
    cr_expect_eq(frame.threads[0].number, 1);
}

/* Thread b is last in three of four rounds of the window; before it was a. */
Test(top_model, names_who_came_last_most_often_in_the_window)
{
    for (uint64_t i = 0; i < 20; i++)
        event(BELOW, 0, 1000 + i, 1001 + i, 8);
    for (uint64_t i = 0; i < 40; i++)
        event(BELOW, i % 4 != 0, 9100 + i * 10, 9101 + i * 10, 8);
    snapshot(1000, VIEWER_TOP_NUMBER);
    cr_assert_eq(frame.collective_count, 1);
    cr_expect_str_eq(frame.collectives[0].name, "s");
    cr_expect_str_eq(frame.collectives[0].element, "total");
    cr_expect_eq(frame.collectives[0].rounds, 40);
    cr_expect(near(frame.collectives[0].rounds_per_s, 40));
    cr_expect_str_eq(frame.collectives[0].last, "b");
    cr_expect_str_eq(frame.collectives[0].last_process, "h0");
    cr_expect(near(frame.collectives[0].last_share, 0.75));
}

Test(top_model, counts_each_event_once_however_often_it_looks)
{
    for (uint64_t at = 9000; at < END_MS; at += 10)
        event(LONE, 2, at, at, 8); /* some have the same end as others ... */
    for (int i = 0; i < 5; i++)
        event(LONE, 2, END_MS - 1, END_MS - 1, 8); /* ... as these */
    snapshot(1000, VIEWER_TOP_NUMBER);
    for (int i = 0; i < 10; i++)
        check_status(viewer_top_pull(top), 0);
    viewer_top_frame_fini(&frame);
    check_status(viewer_top_frame_init(&frame, top, VIEWER_TOP_NUMBER), 0);
    cr_expect(near(thread_of(2)->operations_per_s, 105), "%g",
              thread_of(2)->operations_per_s);
}

Test(top_model, tells_the_cost_of_the_collectors)
{
    for (uint64_t at = 9000; at < END_MS; at++)
        event(LONE, 2, at, at, 8);
    snapshot(1000, VIEWER_TOP_NUMBER);
    cr_expect(near(frame.processes[1].events_per_s, 1000));
    cr_expect(near(frame.processes[1].collectors, 1000 * 20e-9));
    cr_expect_eq(frame.processes[1].recorded, 1000);
    cr_expect_eq(frame.processes[1].lost, 0);
    cr_expect_eq(frame.processes[0].events_per_s, 0);
}

Test(top_model, tells_of_a_process_that_was_killed_and_why)
{
    event(LONE, 2, 100, 200, 8);
    fake_run_ended(fake, 1, EVENTSPACE_KILLED, "killed by signal 9");
    snapshot(1000, VIEWER_TOP_NUMBER);
    cr_expect(viewer_top_over(top));
    cr_expect_str_eq(frame.processes[1].state, "killed");
    cr_expect_str_eq(frame.processes[1].problem, "killed by signal 9");
    cr_expect_str_eq(frame.processes[0].state, "finished");
}

/* A thread and a time that cannot be. */
Test(top_model, counts_events_that_are_not_of_the_map)
{
    event(LONE, 7, 9000, 9001, 8);
    event(LONE, 2, 9000, 9002, 8);
    snapshot(1000, VIEWER_TOP_NUMBER);
    cr_expect_eq(frame.strange, 1);
    cr_expect(near(thread_of(2)->operations_per_s, 1));
}

Test(top_model, sorts_the_threads)
{
    event(A_SUM, 0, 9000, 9900, 1);
    event(LONE, 2, 9000, 9100, 100);
    event(B_SUM, 1, 9000, 9010, 10);
    event(B_LOG, 1, 9020, 9030, 10);
    snapshot(1000, VIEWER_TOP_SHARE);
    cr_expect_eq(frame.threads[0].number, 0);
    viewer_top_frame_fini(&frame);
    check_status(viewer_top_frame_init(&frame, top, VIEWER_TOP_RATE), 0);
    cr_expect_eq(frame.threads[0].number, 1);
    viewer_top_frame_fini(&frame);
    check_status(viewer_top_frame_init(&frame, top, VIEWER_TOP_BYTES), 0);
    cr_expect_eq(frame.threads[0].number, 2);
    viewer_top_frame_fini(&frame);
    check_status(viewer_top_frame_init(&frame, top, VIEWER_TOP_SILENT), 0);
    cr_expect_eq(frame.threads[0].number, 1);
}

/* --- what watching costs --- */

#define BURNT_NS 50000000

static int64_t clock_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* A process that uses so much processor time when it is told to, says that it
 * has, and is there until it is killed. */
static pid_t burner(int *tell, int *told)
{
    int go[2], done[2];
    pid_t pid;
    char byte;

    cr_assert(pipe(go) == 0 && pipe(done) == 0);
    pid = fork();
    if (pid) {
        *tell = go[1];
        *told = done[0];
        return pid;
    }
    if (read(go[0], &byte, 1) != 1)
        _exit(1);
    while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < BURNT_NS) {
    }
    if (write(done[1], "", 1) != 1)
        _exit(1);
    for (;;)
        pause();
}

/* That of a scope elsewhere, whose mirror is looked at. */
Test(top_model, the_time_of_a_helper_is_part_of_what_watching_costs)
{
    int64_t before_ns = clock_ns(CLOCK_MONOTONIC_RAW);
    viewer_top_options options = {.window_ns = 1000 * MS};
    int tell, told;
    double max_s;
    char byte = 0;

    check_status(fake_run_end(fake), 0);
    options.helper = burner(&tell, &told);
    check_status(viewer_top_open(&top, scratch_file("."), &options), 0);
    cr_assert_eq(write(tell, "", 1), 1);
    cr_assert_eq(read(told, &byte, 1), 1);
    check_status(viewer_top_frame_init(&frame, top, VIEWER_TOP_NUMBER), 0);
    max_s = (double)(clock_ns(CLOCK_MONOTONIC_RAW) - before_ns) / 1e9;
    cr_expect_geq(frame.watching.processor * max_s, BURNT_NS / 2 / 1e9);
    kill(options.helper, SIGKILL);
    waitpid(options.helper, NULL, 0);
}

static uint64_t overlap(uint64_t from, uint64_t to, uint64_t low, uint64_t high)
{
    from = from > low ? from : low;
    to = to < high ? to : high;
    return to > from ? to - from : 0;
}

static json_t *history(void)
{
    char *said = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&said, &bytes);
    json_t *told;

    check_status(viewer_top_print_history(top, file), 0);
    fclose(file);
    told = json_loads(said, 0, NULL);
    cr_assert(told, "%s", said);
    free(said);
    return told;
}

static uint64_t told_in(const json_t *told, size_t thread, size_t bin)
{
    return (uint64_t)json_integer_value(json_array_get(
        json_object_get(
            json_array_get(json_object_get(told, "threads"), thread),
            "communicating_ns"),
        bin));
}

/* Each portion of what was there before the window is taken in once; the bins
 * that are read at any time are those of the end. */
Test(top_model, catches_up_with_the_history_in_portions)
{
    enum { EVENTS = 700 };
    static const uint32_t collectors[] = {A_SUM, B_LOG, LONE};
    uint64_t from[3][EVENTS], to[3][EVENTS], bin_ns;
    viewer_top_options options = {
        .window_ns = 1000 * MS, .history = true, .portion = 100};
    unsigned portions = 0;
    json_t *told;

    for (uint64_t i = 0; i < EVENTS; i++) {
        for (uint32_t t = 0; t < 3; t++) {
            to[t][i] = (i + 1) * END_MS / EVENTS - 3 * t;
            from[t][i] = to[t][i] - (i * 7 + t) % 13;
            if (i == EVENTS / 2) /* much longer than a portion */
                from[t][i] = 20 * t;
            event(collectors[t], t, from[t][i], to[t][i], 8);
        }
    }
    check_status(fake_run_end(fake), 0);
    check_status(viewer_top_open(&top, scratch_file("."), &options), 0);
    cr_assert(viewer_top_is_behind(top));
    for (; viewer_top_is_behind(top); portions++) {
        told = history();
        cr_expect(json_is_integer(json_object_get(told, "read_ns")));
        json_decref(told);
        check_status(viewer_top_catch_up(top), 0);
        cr_assert_lt(portions, 1000);
    }
    cr_expect_geq(portions, 3 * EVENTS / options.portion);
    told = history();
    cr_expect(json_is_null(json_object_get(told, "read_ns")));
    bin_ns = (uint64_t)json_integer_value(json_object_get(told, "bin_ns"));
    for (uint32_t t = 0; t < 3; t++) {
        for (uint64_t bin = 0; bin * bin_ns < END_MS * (uint64_t)MS; bin++) {
            uint64_t wanted = 0;
            for (unsigned i = 0; i < EVENTS; i++)
                wanted += overlap(from[t][i] * MS, to[t][i] * MS, bin * bin_ns,
                                  (bin + 1) * bin_ns);
            cr_expect_eq(told_in(told, t, bin), wanted, "thread %u, bin %lu", t,
                         (unsigned long)bin);
        }
    }
    json_decref(told);
}

/* A frame never has more lines or columns than it was given. */
Test(top_model, draws_no_more_than_fits)
{
    snapshot(1000, VIEWER_TOP_NUMBER);
    for (unsigned rows = 1; rows < 30; rows++) {
        char *drawn = NULL;
        size_t bytes, lines = 1;
        FILE *file = open_memstream(&drawn, &bytes);
        check_status(viewer_top_draw(&frame, rows, 30, false, "keys", file), 0);
        fclose(file);
        for (const char *at = drawn; *at; at++)
            lines += *at == '\n';
        cr_expect_leq(lines, rows);
        for (char *line = strtok(drawn, "\r\n"); line;
             line = strtok(NULL, "\r\n"))
            cr_expect_leq(strcspn(line, "\033"), 30);
        free(drawn);
    }
}
