/* clock_run_test.c - clocks of real runs, whose processes the map has given
 * other counters than that of the machine: so the truth is known. */
#include "scopes/clocks/clock.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "paths/map/map.h"
#include "scopes/reading/source.h"
#include "tests/support/application.h"
#include "tests/support/check.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"

#define EVENTSPACE TEST_BINARY_DIR "/eventspace"
#define BARRIER TEST_BINARY_DIR "/barrier"
#define WINDTUNNEL TEST_BINARY_DIR "/windtunnel"
#define PROCESSES 20
#define MOMENTS 31
#define ROUNDED 3 /* ns: ticks and nanoseconds are whole */

TestSuite(clock_run, .timeout = 600, .init = scratch_make,
          .fini = scratch_remove);

/* --- maps --- */

static uint64_t state;

/* From -most to most. */
static double around(double max)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return ((double)(state >> 11) * 0x1p-53 * 2 - 1) * max;
}

static void give_counters(const char *file, uint64_t seed)
{
    paths_map *map;
    char text[64];

    state = seed;
    check_status(paths_map_read(&map, file), 0);
    for (uint32_t i = 0; i < map->process_count; i++) {
        paths_attributes *attributes = &map->processes[i].attributes;
        snprintf(text, sizeof(text), "%+.9fs", around(10));
        check_status(paths_attributes_set(attributes, "counter_offset", text),
                     0);
        snprintf(text, sizeof(text), "%+.3fppm", around(200));
        check_status(paths_attributes_set(attributes, "counter_rate", text), 0);
    }
    check_status(paths_map_save(map, file), 0);
    paths_map_destroy(map);
}

/* A map with all collectors; the mapping is freed. */
static const char *map_make(char *mapping, const char *processes, uint64_t seed)
{
    const char *plain = map_generated(mapping, processes);
    const char *map = scratch_file("instrumented.dot");

    free(command_run(0, 30, EVENTSPACE, "map", "instrument", "-o", map, plain,
                     NULL));
    if (seed)
        give_counters(map, seed);
    free(command_run(0, 30, EVENTSPACE, "map", "check", map, NULL));
    return map;
}

static const char *barrier_map(const char *processes, const char *threads,
                               uint64_t seed)
{
    return map_make(command_run(0, 20, BARRIER, "mapping", "--threads", threads,
                                "--size", "W", NULL),
                    processes, seed);
}

static void barrier_run(const char *map)
{
    free(command_run(0, 120, EVENTSPACE, "run", map, "--output",
                     scratch_file("run"), "--", BARRIER, NULL));
}

static void windtunnel_run(const char *processes, uint64_t seed)
{
    const char *map = map_make(command_run(0, 20, WINDTUNNEL, "mapping",
                                           "--threads", processes, "--width",
                                           "512", "--height", "512", NULL),
                               processes, seed);

    free(command_run(0, 180, EVENTSPACE, "run", map, "--output",
                     scratch_file("run"), "--", WINDTUNNEL, "run", "--steps",
                     "3000", NULL));
}

/* --- a run, and the truth --- */

typedef struct view_input {
    eventspace_run *run;
    scopes_source *source;
    scopes_topology *topology;
    scopes_event_table *event_table;
    scopes_clocks *hull, *average;
} view_input;

static void view_input_make(view_input *s)
{
    scopes_filter all = {0};

    check_status(eventspace_run_open(&s->run, scratch_file("run")), 0);
    check_status(scopes_source_open(&s->source, s->run), 0);
    check_status(
        scopes_topology_create(&s->topology, eventspace_run_map(s->run)), 0);
    check_status(scopes_event_table_load(&s->event_table, s->source, &all), 0);
    check_status(scopes_clocks_create(&s->hull, s->run, s->event_table,
                                      s->topology, SCOPES_CLOCK_HULL,
                                      PATHS_NONE),
                 0);
    check_status(scopes_clocks_create(&s->average, s->run, s->event_table,
                                      s->topology, SCOPES_CLOCK_AVERAGE,
                                      PATHS_NONE),
                 0);
}

static void view_input_free(view_input *s)
{
    scopes_clocks_destroy(s->hull);
    scopes_clocks_destroy(s->average);
    scopes_event_table_destroy(s->event_table);
    scopes_topology_destroy(s->topology);
    scopes_source_close(s->source);
    eventspace_run_close(s->run);
}

/* ticks = raw * (1 + rate) + offset, of the raw ticks that all processes
 * share. */
typedef struct simulated {
    long double rate, offset;
} simulated;

static simulated simulated_of(const view_input *s, uint32_t process)
{
    const paths_attributes *attributes =
        &eventspace_run_map(s->run)->processes[process].attributes;
    double hz = eventspace_run_process_at(s->run, process)->meta.tick_hz;
    int64_t offset_ns, rate_ppb;

    check_status(
        paths_parse_offset(paths_attributes_get(attributes, "counter_offset"),
                           &offset_ns),
        0);
    check_status(
        paths_parse_ppm(paths_attributes_get(attributes, "counter_rate"),
                        &rate_ppb),
        0);
    return (simulated){1 + (long double)rate_ppb / 1e9L,
                       (long double)llround((double)offset_ns * hz / 1e9)};
}

/* What the reference process's clock says when a process's counter stands at
 * `ticks`. */
static double truth(const view_input *s, const scopes_clocks *clocks,
                    uint32_t process, uint64_t ticks)
{
    uint32_t reference = scopes_clocks_reference(clocks);
    const scopes_clock *c = scopes_clocks_process(clocks, reference);
    simulated of_process = simulated_of(s, process);
    simulated of_reference = simulated_of(s, reference);
    long double raw =
        ((long double)ticks - of_process.offset) / of_process.rate;
    long double its = raw * of_reference.rate + of_reference.offset;

    return (double)scopes_clocks_ns(clocks, reference, c->at_ticks) +
           (double)(its - (long double)c->at_ticks) * c->ns_per_tick;
}

/* From a tenth of the run before it began to a tenth after its end. */
static uint64_t moment(const view_input *s, uint32_t process, int i)
{
    const eventspace_meta *meta =
        &eventspace_run_process_at(s->run, process)->meta;
    double length = (double)(meta->end_tick - meta->start_tick);

    return meta->start_tick +
           (uint64_t)(int64_t)(length * (1.2 * i / (MOMENTS - 1) - 0.1));
}

/* --- what must hold --- */

static void check_certain(const view_input *s, uint32_t process, uint64_t ticks)
{
    double at = truth(s, s->hull, process, ticks);
    int64_t from, to;

    scopes_clocks_certain(s->hull, process, ticks, &from, &to);
    cr_assert_leq((double)from, at + ROUNDED, "process %u", process);
    cr_assert_geq((double)to, at - ROUNDED, "process %u", process);
}

static void check_causality(const view_input *s)
{
    scopes_accuracy a;

    check_status(scopes_clocks_check(&a, s->hull, s->event_table, s->topology),
                 0);
    cr_assert_gt(a.operations, 0);
    cr_assert_eq(a.correct, a.operations, "%g of %g miss, by %g ns",
                 (double)(a.operations - a.correct), (double)a.operations,
                 a.worst_ns);
}

static int compare(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* The median of all errors, by hop. */
static double median_error(const view_input *s, const scopes_clocks *clocks)
{
    double errors[PROCESSES * MOMENTS];
    size_t count = 0;

    for (uint32_t h = 0; h < eventspace_run_process_count(s->run); h++) {
        uint32_t depth = scopes_clocks_process(clocks, h)->depth;
        for (int i = 3; i < MOMENTS - 3 && depth; i++) {
            uint64_t ticks = moment(s, h, i);
            double error = (double)scopes_clocks_ns(clocks, h, ticks) -
                           truth(s, clocks, h, ticks);
            errors[count++] = fabs(error) / depth;
        }
    }
    cr_assert_gt(count, 0);
    qsort(errors, count, sizeof(errors[0]), compare);
    return errors[count / 2];
}

/* How small the error is depends on the machine and what else it does, and is
 * told; that it is far smaller than that of the average does not. */
static void check_run(const char *what, const char *processes)
{
    view_input s;
    double hull, average;

    view_input_make(&s);
    for (uint32_t h = 0; h < eventspace_run_process_count(s.run); h++) {
        cr_assert_neq(scopes_clocks_process(s.hull, h)->how, SCOPES_CLOCK_WALL);
        cr_assert_neq(scopes_clocks_process(s.hull, h)->how,
                      SCOPES_CLOCK_SHARED);
        for (int i = 0; i < MOMENTS; i++)
            check_certain(&s, h, moment(&s, h, i));
    }
    check_causality(&s);
    hull = median_error(&s, s.hull);
    average = median_error(&s, s.average);
    printf(
        "clock: %s on %s processes: median error per hop %.0f ns (wanted: 2000 "
        "at most); average %.0f ns\n",
        what, processes, hull, average);
    cr_assert_leq(10 * hull, average, "%s on %s processes: %g and %g ns", what,
                  processes, hull, average);
    view_input_free(&s);
}

static void check_barrier(const char *processes, const char *threads,
                          uint64_t seed)
{
    barrier_run(barrier_map(processes, threads, seed));
    check_run("barrier", processes);
}

static void check_windtunnel(const char *processes, uint64_t seed)
{
    windtunnel_run(processes, seed);
    check_run("windtunnel", processes);
}

Test(clock_run, barrier_on_2_processes)
{
    check_barrier("2", "4", 2);
}

Test(clock_run, barrier_on_6_processes)
{
    check_barrier("6", "12", 3);
}

Test(clock_run, barrier_on_20_processes)
{
    check_barrier("20", "20", 4);
}

Test(clock_run, windtunnel_on_2_processes)
{
    check_windtunnel("2", 5);
}

Test(clock_run, windtunnel_on_6_processes)
{
    check_windtunnel("6", 6);
}

Test(clock_run, windtunnel_on_20_processes)
{
    check_windtunnel("20", 7);
}

/* --- processes as they are: of one machine --- */

Test(clock_run, processes_of_one_machine_share_its_counter)
{
    view_input s;

    barrier_run(barrier_map("3", "6", 0));
    view_input_make(&s);
    for (uint32_t h = 0; h < 3; h++) {
        const scopes_clock *c = scopes_clocks_process(s.hull, h);
        int64_t from, to, ns = scopes_clocks_ns(s.hull, h, c->at_ticks);
        cr_assert_eq(c->how, h == scopes_clocks_reference(s.hull)
                                 ? SCOPES_CLOCK_REFERENCE
                                 : SCOPES_CLOCK_SHARED);
        scopes_clocks_certain(s.hull, h, c->at_ticks, &from, &to);
        cr_assert_eq(from, ns);
        cr_assert_eq(to, ns);
        cr_assert_eq(ns, scopes_clocks_ns(s.hull, 0, c->at_ticks));
    }
    check_causality(&s);
    view_input_free(&s);
}

/* --- while it runs, and after a kill --- */

static uint64_t pairs_of(const view_input *s)
{
    uint64_t sum = 0;

    for (uint32_t h = 0; h < eventspace_run_process_count(s->run); h++)
        sum += scopes_clocks_process(s->hull, h)->pairs;
    return sum;
}

/* The middle of the newest tuples of each process. */
static void check_now(const view_input *s)
{
    for (uint32_t i = 0; i < s->event_table->collectors; i++) {
        const scopes_series *series = &s->event_table->series[i];
        if (series->count)
            check_certain(
                s, series->process,
                scopes_event_at(series->events, series->count - 1)->end);
    }
    check_causality(s);
}

/* Looks again until there is more to see than before. */
static uint64_t look_until(uint64_t pairs, time_t deadline)
{
    for (;;) {
        view_input s;
        uint64_t now;
        view_input_make(&s);
        now = pairs_of(&s);
        if (now >= pairs) {
            check_now(&s);
            for (uint32_t h = 0; h < eventspace_run_process_count(s.run); h++)
                cr_assert_eq(eventspace_run_process_at(s.run, h)->meta.state,
                             EVENTSPACE_RUNNING);
            view_input_free(&s);
            return now;
        }
        view_input_free(&s);
        cr_assert_lt(time(NULL), deadline, "%g exchanges", (double)now);
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
}

static void wait_for_processes(unsigned processes, time_t deadline)
{
    for (unsigned h = 0; h < processes;) {
        FILE *meta = fopen(scratch_file("run/h%u.meta", h), "r");
        if (meta) {
            fclose(meta);
            h++;
            continue;
        }
        cr_assert_lt(time(NULL), deadline);
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
}

Test(clock_run, that_goes_on_and_is_killed)
{
    time_t deadline = time(NULL) + (time_t)timeout(120);
    const char *map = barrier_map("4", "8", 9);
    uint64_t seen = 100;
    view_input s;
    command p;

    /* It takes minutes: far longer than five looks, and yet it ends if this
     * test fails. */
    command_start(&p, EVENTSPACE, "run", map, "--output", scratch_file("run"),
                  "--", BARRIER, "--rounds", "60000", NULL);
    wait_for_processes(4, deadline);
    for (int i = 0; i < 5; i++)
        seen = look_until(seen, deadline) + 50;

    check_status(eventspace_run_open(&s.run, scratch_file("run")), 0);
    cr_assert_eq(
        kill((pid_t)eventspace_run_process_at(s.run, 2)->meta.pid, SIGKILL), 0);
    eventspace_run_close(s.run);
    command_wait(&p, 60);
    cr_assert_neq(p.exit_code, 0);
    command_free(&p);

    view_input_make(&s);
    cr_assert_eq(eventspace_run_process_at(s.run, 2)->meta.state,
                 EVENTSPACE_KILLED);
    cr_assert_geq(pairs_of(&s), seen - 50);
    check_now(&s);
    view_input_free(&s);
    free(command_run(0, 60, EVENTSPACE, "clock", scratch_file("run"), NULL));
}

/* --- the command --- */

static json_t *clock_json(const char *option, const char *value)
{
    char *text = command_run(0, 60, EVENTSPACE, "clock", scratch_file("run"),
                             "--format", "json", option, value, NULL);
    json_error_t problem;
    json_t *got = json_loads(text, 0, &problem);

    cr_assert_not_null(got, "%s in %s", problem.text, text);
    free(text);
    return got;
}

static json_int_t number(const json_t *from, const char *list, size_t row,
                         const char *key)
{
    const json_t *value =
        json_object_get(json_array_get(json_object_get(from, list), row), key);

    cr_assert(json_is_integer(value), "%s %zu: no %s", list, row, key);
    return json_integer_value(value);
}

static void check_command_processes(const view_input *s, const json_t *got)
{
    cr_assert_eq(json_array_size(json_object_get(got, "processes")), 3);
    for (uint32_t h = 0; h < 3; h++) {
        const scopes_clock *c = scopes_clocks_process(s->hull, h);
        cr_expect_eq(number(got, "processes", h, "offset_ns"),
                     llround(c->offset_ns));
        cr_expect_eq(number(got, "processes", h, "exchanges"),
                     (json_int_t)c->pairs);
        cr_expect_eq(number(got, "processes", h, "certain_ns"),
                     llround(c->certain_ns));
        cr_expect_geq(number(got, "processes", h, "certain_end_ns"), 0);
        cr_expect_eq(number(got, "processes", h, "depth"),
                     (json_int_t)c->depth);
    }
}

/* How long it took until the end from the moment on when a first collector had
 * half of its events: then all have half of theirs or more to come. Half of the
 * time, or some time that is given, might have none of them. */
static const char *last_half(const view_input *s)
{
    static char text[32];
    int64_t last = INT64_MIN, half = INT64_MAX;

    for (uint32_t i = 0; i < s->event_table->collectors; i++) {
        const scopes_series *series = &s->event_table->series[i];
        for (size_t k = 0; k < series->count; k++) {
            int64_t end =
                scopes_clocks_ns(s->hull, series->process,
                                 scopes_event_at(series->events, k)->end);
            last = end > last ? end : last;
            if (k == series->count / 2 && series->count >= 100 && end < half)
                half = end;
        }
    }
    cr_assert_lt(half, last);
    snprintf(text, sizeof(text), "%" PRId64 "ns", last - half);
    return text;
}

Test(clock_run, the_command_tells_clocks_and_accuracy)
{
    view_input s;
    scopes_accuracy average;
    json_t *got;
    char *text;

    barrier_run(barrier_map("3", "6", 13));
    view_input_make(&s);
    check_status(
        scopes_clocks_check(&average, s.average, s.event_table, s.topology), 0);
    got = clock_json(NULL, NULL);
    check_command_processes(&s, got);
    cr_assert_eq(number(got, "accuracy", 0, "operations"),
                 (json_int_t)average.operations);
    cr_expect_eq(number(got, "accuracy", 0, "correct"),
                 (json_int_t)average.operations);
    cr_expect_eq(number(got, "accuracy", 1, "correct"),
                 (json_int_t)average.correct);
    cr_expect_eq(number(got, "accuracy", 1, "mean_ns"),
                 llround(average.mean_ns));
    cr_expect_eq(json_integer_value(json_object_get(got, "events_lost")), 0);
    json_decref(got);

    got = clock_json("--reference", "h2");
    cr_expect_str_eq(json_string_value(json_object_get(got, "reference")),
                     "h2");
    cr_expect_eq(number(got, "processes", 2, "offset_ns"), 0);
    json_decref(got);

    /* From the end of the run alone: fewer probe pairs, but not none. */
    got = clock_json("--last", last_half(&s));
    cr_expect_lt(number(got, "accuracy", 0, "operations"),
                 (json_int_t)average.operations);
    cr_expect_gt(number(got, "accuracy", 0, "operations"), 0);
    cr_expect_eq(number(got, "accuracy", 0, "correct"),
                 number(got, "accuracy", 0, "operations"));
    json_decref(got);

    got = clock_json("--method", "average");
    cr_expect(json_is_null(json_object_get(
                  json_array_get(json_object_get(got, "processes"), 1),
                  "certain_ns")) ||
              json_is_null(json_object_get(
                  json_array_get(json_object_get(got, "processes"), 0),
                  "certain_ns")));
    json_decref(got);

    text = command_run(0, 60, EVENTSPACE, "clock", scratch_file("run"),
                       "--follow", "10ms", NULL);
    check_says(text, "exchanges");
    check_says(text, "average");
    free(text);
    text = command_run(1, 60, EVENTSPACE, "clock", scratch_file("run"),
                       "--reference", "nobody", NULL);
    check_says(text, "nobody");
    free(text);
    free(command_run(2, 60, EVENTSPACE, "clock", scratch_file("run"),
                     "--follow", "now", NULL));
    free(command_run(2, 60, EVENTSPACE, "clock", NULL));
    view_input_free(&s);
}
