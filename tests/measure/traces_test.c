/* traces_test.c - messages and steps of real runs.
 *
 * What is to come out is known beforehand: the messages from the tuples beside
 * the proxies, times from the rounds of gsum, which go over a link there and
 * back once each. Times of the machine are in the profile, and compared with
 * what a replay makes of the same profile: nothing depends on how fast the
 * machine is. */
#include "measure/traces/traces.h"

#include <math.h>
#include <stdlib.h>

#include "predict/replay/replay.h"
#include "scopes/reading/snapshot.h"
#include "tests/support/check.h"
#include "tests/measure/set_wire.h"
#include "tests/support/memory.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"
#include "measure/traces/traces_internal.h"

#define EVENTSPACE TEST_BINARY_DIR "/eventspace"
#define ROUNDS 200

static eventspace_run *run;
static predict_profile *profile;
static uint64_t lost; /* events */

static void clean(void)
{
    predict_profile_destroy(profile);
    eventspace_run_close(run);
    scratch_remove();
}

#define NO_FLOW ((predict_flow){0, 0, 0})

TestSuite(traces, .timeout = 600, .init = scratch_make, .fini = clean);

/* --- runs --- */

static void run_make(const char *name, const char *threads,
                     const char *processes, const char *collectors,
                     const char *shape)
{
    char binary[1024], *mapping;
    const char *file;

    snprintf(binary, sizeof(binary), "%s/%s", TEST_BINARY_DIR, name);
    mapping = shape ? command_run(0, 60, binary, "mapping", "--threads",
                                  threads, "--shape", shape, NULL)
                    : command_run(0, 60, binary, "mapping", "--threads",
                                  threads, NULL);
    file = scratch_write("application.dot", mapping);
    free(mapping);
    free(command_run(0, 60, EVENTSPACE, "map", "generate", "--application",
                     file, "--processes", processes, "-o",
                     scratch_file("bare.dot"), NULL));
    free(command_run(0, 60, EVENTSPACE, "map", "instrument",
                     scratch_file("bare.dot"), "--collectors", collectors, "-o",
                     scratch_file("map.dot"), NULL));
    free(command_run(0, 300, EVENTSPACE, "run", scratch_file("map.dot"),
                     "--output", scratch_file("run"), "--replace", "--", binary,
                     "run", NULL));
    check_status(eventspace_run_open(&run, scratch_file("run")), 0);
}

static int64_t run_start(void)
{
    uint64_t first = UINT64_MAX;

    for (size_t i = 0; i < eventspace_run_process_count(run); i++) {
        uint64_t ns = eventspace_run_process_at(run, i)->meta.start_wall_ns;
        first = ns < first ? ns : first;
    }
    return (int64_t)first;
}

static void profile_make(measure_cpu_between *cpu, void *context)
{
    measure_known_times times = {.cpu = cpu, .context = context};

    predict_profile_destroy(profile);
    profile = predict_profile_create("test");
    cr_assert_not_null(profile);
    check_status(measure_traces_add(profile, run, run_start(), &times, &lost),
                 0);
    check_status(predict_profile_check(profile), 0);
}

/* --- replays --- */

typedef struct condition {
    double latency_s, bandwidth; /* of all links; 0: as they are */
    double load;                 /* of all nodes */
} condition;

static double replay(condition c)
{
    predict_scenario *scenario;
    predict_replay *result;
    double wall_s;

    check_status(
        predict_scenario_create(&scenario, profile, PREDICT_SCHEDULER_FAIR), 0);
    for (size_t i = 0; i < profile->link_count && c.bandwidth > 0; i++)
        scenario->wires[i] = (predict_wire){c.latency_s, c.bandwidth};
    for (size_t i = 0; i < profile->node_count; i++)
        scenario->loads[i] = c.load;
    check_status(predict_replay_run(&result, scenario), 0);
    cr_assert_eq(result->stuck, 0);
    wall_s = result->wall_s;
    predict_replay_destroy(result);
    predict_scenario_destroy(scenario);
    return wall_s;
}

static double wall_s(void)
{
    return (double)profile->wall_ns * 1e-9;
}

/* The computing of the actors that are threads: those that come first. */
static int64_t computing_ns(size_t from, size_t to, uint32_t node)
{
    int64_t ns = 0;

    for (size_t i = from; i < to; i++) {
        const predict_actor *a = &profile->actors[i];
        for (size_t s = a->step; s < a->step + a->steps; s++) {
            if (a->node == node && profile->steps[s].kind == PREDICT_COMPUTE)
                ns += profile->steps[s].ns;
        }
    }
    return ns;
}

/* --- what the tuples say --- */

typedef struct counted {
    size_t operations; /* over proxies */
    uint64_t bytes;    /* brought by them, if they write only, or read only */
} counted;

/* Operations at collectors that stand right above a proxy. */
static counted count_remote(void)
{
    scopes_snapshot_options all = SCOPES_SNAPSHOT_ALL;
    scopes_snapshot *snapshot;
    counted c = {0};

    check_status(scopes_snapshot_take(&snapshot, run, &all), 0);
    for (uint32_t i = 0; i < snapshot->topology->map->edge_count; i++) {
        const paths_map_edge *edge = &snapshot->topology->map->edges[i];
        const paths_map_node *to = &snapshot->topology->map->nodes[edge->to];
        for (uint32_t id = 0; id < snapshot->topology->collectors; id++) {
            const scopes_series *series =
                scopes_event_series(snapshot->event_table, id);
            if (snapshot->topology->nodes[id] != edge->from ||
                strcmp(to->type, "proxy") != 0)
                continue;
            c.operations += series->count;
            for (size_t e = 0; e < series->count; e++)
                c.bytes += scopes_event_at(series->events, e)->bytes;
        }
    }
    scopes_snapshot_destroy(snapshot);
    return c;
}

static size_t messages_over_links(void)
{
    size_t count = 0;

    for (size_t i = 0; i < profile->message_count; i++)
        count += profile->messages[i].from != profile->messages[i].to;
    return count;
}

/* `differ`: the share by which the replay may differ from the run. Operations
 * one after the other come out as they were, but for clocks; where several are
 * under way at once it is not known when their thread looked. */
static void check_run(const char *name, const char *threads,
                      const char *processes, const char *shape, double differ)
{
    counted tuples;
    measure_hop_message *messages;
    size_t count;
    double alone_s;

    run_make(name, threads, processes, "all", shape);
    profile_make(NULL, NULL);
    tuples = count_remote();
    cr_assert_gt(tuples.operations, 0);
    cr_expect_eq(messages_over_links(), 2 * tuples.operations);
    check_status(measure_traces_messages(&messages, &count, run), 0);
    cr_expect_eq(count, 2 * tuples.operations);
    for (size_t i = 1; i < count; i++)
        cr_assert_leq(messages[i - 1].at_ns, messages[i].at_ns);
    free(messages);
    cr_expect_str_eq(profile->source, "traces");
    alone_s = replay((condition){0});
    cr_expect(fabs(alone_s - wall_s()) < differ * wall_s(),
              "%s: %g s in the replay, %g s in the run", name, alone_s,
              wall_s());
    cr_expect_geq(replay((condition){.load = 1}), alone_s);
}

Test(traces, of_a_flat_tree_are_replayed)
{
    check_run("gsum", "7", "3", "flat", 0.1);
}

Test(traces, of_a_hierarchical_tree_are_replayed)
{
    check_run("gsum", "7", "3", "hierarchical", 0.1);
}

Test(traces, of_a_binomial_tree_are_replayed)
{
    check_run("gsum", "7", "3", "binomial", 0.1);
}

Test(traces, of_a_pipeline_are_replayed)
{
    check_run("lu", "4", "2", NULL, 0.1);
}

Test(traces, of_several_operations_at_once_are_replayed)
{
    check_run("is", "4", "2", NULL, 0.5);
}

Test(traces, of_gathers_are_replayed)
{
    check_run("cg", "3", "3", NULL, 0.1);
}

/* --- by hand --- */

/* Each round of two processes is one message there and one back, one after the
 * other; all else took no longer than the run. */
Test(traces, a_slow_link_costs_each_round_there_and_back)
{
    const double latency_s = 1e-3, bandwidth = 1e6;
    double alone_s, slow_s, more_s;

    run_make("gsum", "2", "2", "all", NULL);
    profile_make(NULL, NULL);
    cr_assert_eq(profile->link_count, 1);
    cr_assert_eq(messages_over_links(), 2 * ROUNDS);
    alone_s = replay((condition){0});
    slow_s =
        replay((condition){.latency_s = latency_s, .bandwidth = bandwidth});
    /* Header and a double, there and back: 56 bytes each. */
    more_s = ROUNDS * 2 * (latency_s + 56 / bandwidth);
    cr_expect_leq(slow_s, alone_s + more_s + 1e-6);
    cr_expect_geq(slow_s, more_s);
}

Test(traces, sizes_are_those_of_frames)
{
    measure_hop_message *messages;
    size_t count;

    run_make("gsum", "2", "2", "all", NULL);
    check_status(measure_traces_messages(&messages, &count, run), 0);
    cr_assert_eq(count, 2 * ROUNDS);
    for (size_t i = 0; i < count; i++) {
        cr_assert_eq(messages[i].bytes, 48 + 8);
        cr_assert_eq(messages[i].reply, (int)i % 2);
        cr_assert_eq(messages[i].thread, 1);
        cr_assert_eq(messages[i].from, i % 2 ? 0 : 1);
        cr_assert_eq(messages[i].to, i % 2 ? 1 : 0);
        cr_assert_eq(messages[i].sequence, i / 2 + 1);
    }
    free(messages);
}

/* cg gathers 1400 doubles, each of two threads brings half: what comes back is
 * the whole, which no tuple tells. */
Test(traces, a_gather_brings_back_more_than_was_brought)
{
    measure_hop_message *messages;
    size_t count, gathers = 0;

    run_make("cg", "2", "2", "all", NULL);
    check_status(measure_traces_messages(&messages, &count, run), 0);
    for (size_t i = 0; i + 1 < count; i += 2) {
        uint64_t brought = messages[i].bytes - 48;
        cr_assert(!messages[i].reply && messages[i + 1].reply);
        cr_assert_eq(messages[i].sequence, messages[i + 1].sequence);
        if (brought > 1000) {
            cr_assert_eq(messages[i + 1].bytes, 48 + 2 * brought);
            gathers++;
        } else {
            cr_assert_eq(messages[i + 1].bytes, 48 + brought);
        }
    }
    cr_assert_gt(gathers, 0);
    free(messages);
}

/* --- the link --- */

Test(traces, a_link_that_is_set_takes_its_time_out_of_the_steps)
{
    double alone_s, after_s;

    run_make("gsum", "2", "2", "all", NULL);
    profile_make(NULL, NULL);
    alone_s = replay((condition){0});
    /* Less than any message takes. */
    check_status(set_wire(profile, 0, 1e-7, 1e9, NO_FLOW), 0);
    cr_assert_float_eq(profile->links[0].latency_s, 1e-7, 1e-15);
    cr_assert_float_eq(profile->links[0].bandwidth, 1e9, 1);
    after_s = replay((condition){0});
    cr_expect(fabs(after_s - alone_s) < 2e-6, "%.9f and %.9f", alone_s,
              after_s);
    /* And once more, from there. */
    check_status(set_wire(profile, 0, 2e-7, 1e9, NO_FLOW), 0);
    cr_expect(fabs(replay((condition){0}) - alone_s) < 2e-6);
}

/* Two messages of 100 bytes, which took 10 and 100 us after their sending. */
static void two_messages(const char *source)
{
    const int64_t sleeps_ns[] = {10000, 100000};

    profile = predict_profile_create("by hand");
    cr_assert_eq(predict_profile_add_place(profile, "0", 2), 0);
    cr_assert_eq(predict_profile_add_node(profile, "a", 0), 0);
    cr_assert_eq(predict_profile_add_node(profile, "b", 0), 1);
    cr_assert_eq(predict_profile_add_link(profile, 0, 1), 0);
    free(profile->source);
    profile->source = strdup(source);
    for (uint32_t i = 0; i < 2; i++)
        cr_assert_eq(predict_profile_add_message(
                         profile, (predict_message){.at_ns = 1000000 * i,
                                                    .bytes = 100,
                                                    .from = 0,
                                                    .to = 1}),
                     i);
    cr_assert_eq(predict_profile_add_actor(profile, 1, 0), 0);
    for (uint32_t i = 0; i < 2; i++) {
        predict_profile_add_step(profile,
                                 (predict_step){PREDICT_RECEIVE, i, 0});
        predict_profile_add_step(
            profile, (predict_step){PREDICT_SLEEP, PREDICT_NONE, sleeps_ns[i]});
    }
}

/* L is 30 us, a message 20 us long: the first one has 40 us too little, which
 * the second one gives. */
Test(traces, what_a_message_has_too_little_the_next_one_gives)
{
    two_messages("traces");
    check_status(set_wire(profile, 0, 30e-6, 5e6, NO_FLOW), 0);
    cr_expect_eq(profile->steps[1].ns, 0);
    cr_expect_eq(profile->steps[3].ns, 100000 - 50000 - 40000);
}

/* A message is 2 ms long, and the second one has to wait for 1 ms of them. */
Test(traces, what_messages_wait_for_one_another_is_taken_out)
{
    two_messages("traces");
    profile->steps[1].ns = 5000000;
    profile->steps[3].ns = 5000000;
    check_status(set_wire(profile, 0, 0, 5e4, NO_FLOW), 0);
    cr_expect_eq(profile->steps[1].ns, 5000000 - 2000000);
    cr_expect_eq(profile->steps[3].ns, 5000000 - 2000000 - 1000000);
}

Test(traces, steps_of_other_sources_stay_when_a_link_is_set)
{
    two_messages("packets");
    check_status(set_wire(profile, 0, 30e-6, 5e6, NO_FLOW), 0);
    cr_expect_eq(profile->steps[1].ns, 10000);
    cr_expect_eq(profile->steps[3].ns, 100000);
    cr_expect_float_eq(profile->links[0].latency_s, 30e-6, 1e-12);
}

Test(traces, a_link_without_bandwidth_is_refused)
{
    run_make("gsum", "2", "2", "all", NULL);
    profile_make(NULL, NULL);
    check_status(set_wire(profile, 0, 1e-6, 0, NO_FLOW), PASTSET_EINVAL);
    check_error("bandwidth");
    check_status(set_wire(profile, 0, NAN, 1, NO_FLOW), PASTSET_EINVAL);
}

/* --- processor time --- */

typedef struct shares {
    int64_t thread, loop;          /* percent of all time */
    int64_t asked_to_ns, asked_ns; /* of the loop */
    size_t asked;
} shares;

static int64_t share_of(void *context, uint32_t process, uint32_t thread,
                        int64_t from_ns, int64_t to_ns)
{
    shares *s = context;

    cr_assert_lt(process, 2);
    cr_assert(thread < 2 || thread == PATHS_NONE);
    cr_assert_leq(from_ns, to_ns);
    if (thread == PATHS_NONE) {
        /* No moment of the loop is given away twice, and none left out. */
        cr_assert(s->asked == 0 || from_ns == s->asked_to_ns);
        s->asked_to_ns = to_ns;
        s->asked_ns += to_ns - from_ns;
        s->asked++;
    }
    return (to_ns - from_ns) * (thread == PATHS_NONE ? s->loop : s->thread) /
           100;
}

/* Of thread 1 of gsum: when it began its first operation, and the time between
 * its operations, and in them. */
static void look_at_thread(int64_t *first_ns, int64_t *between_ns,
                           int64_t *within_ns)
{
    scopes_snapshot_options all = SCOPES_SNAPSHOT_ALL;
    scopes_snapshot *snapshot;
    const scopes_series *series;

    *between_ns = *within_ns = 0;
    check_status(scopes_snapshot_take(&snapshot, run, &all), 0);
    cr_assert_eq(snapshot->topology->top_count, 2);
    cr_assert_eq(snapshot->topology->tops[1].thread, 1);
    series = scopes_event_series(snapshot->event_table,
                                 snapshot->topology->tops[1].collector);
    cr_assert_eq(series->count, ROUNDS);
    *first_ns = scopes_clocks_ns(snapshot->clocks, series->process,
                                 scopes_event_at(series->events, 0)->start);
    for (size_t i = 0; i < ROUNDS; i++) {
        int64_t start_ns =
            scopes_clocks_ns(snapshot->clocks, series->process,
                             scopes_event_at(series->events, i)->start);
        int64_t end_ns =
            scopes_clocks_ns(snapshot->clocks, series->process,
                             scopes_event_at(series->events, i)->end);
        *within_ns += end_ns - start_ns;
        if (i > 0)
            *between_ns +=
                start_ns -
                scopes_clocks_ns(snapshot->clocks, series->process,
                                 scopes_event_at(series->events, i - 1)->end);
    }
    scopes_snapshot_destroy(snapshot);
}

/* Its path begins with the collector above the proxy, so that nothing is left
 * of its operations without a processor. */
Test(traces, a_thread_computes_as_long_as_it_had_a_processor)
{
    shares none = {0}, whole = {.thread = 100};
    int64_t all_ns, first_ns, between_ns, within_ns, before_ns;

    run_make("gsum", "2", "2", "all", NULL);
    look_at_thread(&first_ns, &between_ns, &within_ns);
    profile_make(share_of, &whole);
    all_ns = computing_ns(1, 2, profile->actors[1].node);
    before_ns = first_ns - profile->actors[1].start_ns;
    cr_assert_gt(before_ns, 0);
    cr_expect_geq(all_ns, between_ns + before_ns);
    cr_expect_leq(all_ns, between_ns + within_ns + before_ns);
    profile_make(share_of, &none);
    cr_expect_eq(computing_ns(1, 2, profile->actors[1].node), 0);
    cr_expect(fabs(replay((condition){0}) - wall_s()) < 0.01 * wall_s());
}

/* The loop's processor time is divided among the requests that it served. */
Test(traces, the_loops_time_is_that_of_its_requests)
{
    shares none = {0}, some = {.loop = 10};
    uint32_t node;
    int64_t without_ns, with_ns;

    run_make("gsum", "2", "2", "all", NULL);
    profile_make(share_of, &none);
    node = profile->actors[0].node;
    without_ns = computing_ns(2, profile->actor_count, node);
    profile_make(share_of, &some);
    with_ns = computing_ns(2, profile->actor_count, node);
    cr_assert_geq(some.asked, 2 * ROUNDS);
    /* Rounded down each time. */
    cr_expect_leq(with_ns - without_ns, some.asked_ns / 10);
    cr_expect_geq(with_ns - without_ns,
                  some.asked_ns / 10 - (int64_t)some.asked);
}

/* --- what does not tell --- */

Test(traces, without_collectors_at_proxies_say_how_to_instrument)
{
    run_make("gsum", "2", "2", "threads", NULL);
    profile = predict_profile_create("test");
    check_status(measure_traces_add(profile, run, run_start(), NULL, &lost),
                 PASTSET_ENOENT);
    check_error("--collectors=all");
    cr_assert_eq(profile->message_count, 0);
}

Test(traces, are_not_added_to_other_messages)
{
    run_make("gsum", "2", "2", "all", NULL);
    profile_make(NULL, NULL);
    check_status(measure_traces_add(profile, run, run_start(), NULL, &lost),
                 PASTSET_EINVAL);
}

static int add_traces(void *start_ns)
{
    return measure_traces_add(profile, run, *(int64_t *)start_ns, NULL, &lost);
}

Test(traces, are_all_there_or_their_memory_is_lacking)
{
    int64_t start_ns;
    size_t messages;
    int err;

    run_make("gsum", "2", "2", "all", NULL);
    start_ns = run_start();
    profile_make(NULL, NULL);
    messages = profile->message_count;
    predict_profile_destroy(profile);
    profile = predict_profile_create("test");
    for (unsigned at = 1; memory_fails_at(at, add_traces, &start_ns, &err);
         at++) {
        cr_assert_eq(err, PASTSET_ENOMEM, "allocation %u: %s", at,
                     pastset_status_name(err));
        predict_profile_destroy(profile);
        profile = predict_profile_create("test");
    }
    check_status(err, 0);
    check_status(predict_profile_check(profile), 0);
    cr_expect_eq(profile->message_count, messages);
}
