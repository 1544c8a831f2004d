/* replay_eevdf_test.c - replays of loaded processors by the rules of Linux. */
#include "tests/predict/made.h"
#include "tests/predict/replay_case.h"

#define MS 1000000 /* ns */
#define US 1000
/* Of the load and of a thread: who has a processor gives it back at a tick. */
#define TICK_S 0.004

TestSuite(replay_eevdf, .timeout = 120, .fini = forget);

/* How long the profile takes with a load on all nodes. */
static double wall(predict_scheduler scheduler, double load)
{
    predict_replay_destroy(replay);
    predict_scenario_destroy(scenario);
    replay = NULL;
    scenario = NULL;
    check_status(predict_profile_check(profile), 0);
    check_status(predict_scenario_create(&scenario, profile, scheduler), 0);
    for (size_t i = 0; i < profile->node_count; i++)
        scenario->loads[i] = load;
    run();
    return replay->wall_s;
}

static void within(double got, double want, double max)
{
    cr_assert_float_eq(got, want, max, "%.12g, not %.12g", got, want);
}

/* The load runs from 0 on, and is first due at 4 ms. The thread, behind by then
 * as it waited, is served at once twice, runs ahead, and pays for it. */
Test(replay_eevdf, who_was_kept_waiting_is_served_at_once_later)
{
    static const int64_t steps_us[] = {1000, 1500, 1000, 1000, 2500, 500, 1000};
    static const double ends_ms[] = {5, 7.5, 11, 17};

    profile = made_profile(1);
    made_actor(profile, 0, 1 * MS);
    for (size_t i = 0; i < 4; i++) {
        if (i > 0)
            made_sleep(profile, steps_us[2 * i - 1] * US);
        made_compute(profile, steps_us[2 * i] * US);
        within(wall(PREDICT_SCHEDULER_EEVDF, 1), ends_ms[i] / 1e3, 1e-12);
    }
}

/* Whoever is chosen stays until the tick after its slice of 6 ms: the load
 * until 8 ms, the thread until 16, the load until 24. */
Test(replay_eevdf, who_runs_stays_for_its_slice)
{
    profile = made_profile(1);
    made_actor(profile, 0, 1 * MS);
    made_compute(profile, 10 * MS);
    within(wall((predict_scheduler){.slice_s = 0.006}, 1), 0.026, 1e-12);
}

/* At 2 ms the load has had its 1.4 ms, but not 2.8. */
Test(replay_eevdf, who_wakes_up_after_the_slice_of_the_load_runs_at_once)
{
    profile = made_profile(1);
    made_actor(profile, 0, 2 * MS);
    made_compute(profile, 1 * MS);
    within(wall((predict_scheduler){.slice_s = 0.0014}, 1), 0.003, 1e-12);
    within(wall((predict_scheduler){.slice_s = 0.0028}, 1), 0.005, 1e-12);
}

/* The second one wakes up after 1 ms. It waits until the first one is done, or
 * for the tick after its slice; as a fluid both would go on, and the first one
 * be late. */
Test(replay_eevdf, without_a_load_one_is_done_before_the_next_begins)
{
    static const struct {
        int64_t first_ms, second_ms;
        double done_ms, fluid_ms;
    } cases[] = {{2, 1, 2, 3}, {3, 2, 3, 5}, {10, 1, 11, 11}};

    for (int i = 0; i < 3; i++) {
        profile = made_profile(1);
        made_actor(profile, 0, 0);
        made_compute(profile, cases[i].first_ms * MS);
        made_sleep(profile, 20 * MS);
        made_actor(profile, 0, 1 * MS);
        made_compute(profile, cases[i].second_ms * MS);
        within(wall(PREDICT_SCHEDULER_EEVDF, 0), (cases[i].done_ms + 20) / 1e3,
               1e-12);
        within(wall(PREDICT_SCHEDULER_FAIR, 0), (cases[i].fluid_ms + 20) / 1e3,
               1e-12);
        forget();
    }
}

Test(replay_eevdf, a_long_phase_is_shared_as_by_fair)
{
    static const double loads[] = {0.5, 1, 1.5, 2, 3};

    profile = made_profile(1);
    made_actor(profile, 0, 0);
    made_compute(profile, 1000 * (int64_t)MS);
    for (size_t i = 0; i < sizeof(loads) / sizeof(*loads); i++)
        within(wall(PREDICT_SCHEDULER_EEVDF, loads[i]), 1 + loads[i],
               (2 + 2 * loads[i]) * TICK_S);
}

Test(replay_eevdf, threads_and_load_get_the_same_over_long_times)
{
    profile = made_profile(1);
    for (int i = 0; i < 3; i++) {
        made_actor(profile, 0, i * MS);
        made_compute(profile, 1000 * (int64_t)MS);
    }
    within(wall(PREDICT_SCHEDULER_EEVDF, 2), 5, 6 * TICK_S);
    check_near(replay->nodes[0].computing_s, 3);
    within(replay->nodes[0].shared_s, 12, 3 * 6 * TICK_S);
}

/* Phases and pauses that keep in step with nothing. */
Test(replay_eevdf, a_thread_of_short_phases_loses_what_fair_takes)
{
    static const int64_t busy_us[] = {130, 1510, 3070, 9010};

    for (size_t k = 0; k < sizeof(busy_us) / sizeof(*busy_us); k++) {
        double fair;
        uint64_t seed = 7;
        profile = made_profile(1);
        made_actor(profile, 0, 0);
        for (int i = 0; i < 2000; i++) {
            made_compute(profile, busy_us[k] * US);
            made_sleep(profile, (int64_t)(made_random(&seed) * 10 * MS) + 1);
        }
        fair =
            wall(PREDICT_SCHEDULER_FAIR, 1) - wall(PREDICT_SCHEDULER_FAIR, 0);
        within(wall(PREDICT_SCHEDULER_EEVDF, 1) -
                   wall(PREDICT_SCHEDULER_FAIR, 0),
               fair, 0.03 * fair + 2 * TICK_S);
        forget();
    }
}

/* Node 1 asks every 3.1 ms for 20 us of node 0, which has a thread that is
 * always busy. The one who serves is behind, so it need not wait: 200 waits
 * would be 400 ms. */
Test(replay_eevdf, who_serves_short_requests_is_not_kept_waiting)
{
    double alone;

    profile = made_profile(2);
    made_actor(profile, 0, 0);
    made_compute(profile, 100 * MS);
    made_actor(profile, 1, 0);
    for (int i = 0; i < 200; i++) {
        made_sleep(profile, 3100 * US);
        made_send(profile, made_message(profile, 1, 0, 48));
        made_receive(profile, made_message(profile, 0, 1, 48));
    }
    for (uint32_t i = 0; i < 200; i++) {
        made_actor(profile, 0, 0);
        made_receive(profile, 2 * i);
        made_compute(profile, 20 * US);
        made_send(profile, 2 * i + 1);
    }
    alone = 200 * (3100 + 20) / 1e6;
    within(wall(PREDICT_SCHEDULER_EEVDF, 1), alone, 4 * TICK_S);
}

/* Two nodes that wait for one another in turns: each wakes up all the time. */
Test(replay_eevdf, nodes_in_turns_lose_no_less_than_by_fair)
{
    double fair;

    profile = made_profile(2);
    for (uint32_t i = 0; i < 1000; i++)
        made_message(profile, i % 2, 1 - i % 2, 48);
    for (uint32_t node = 0; node < 2; node++) {
        made_actor(profile, node, 0);
        made_compute(profile, 10 * US);
        for (uint32_t i = 0; i < 1000; i++) {
            if (i % 2 != node) {
                made_receive(profile, i);
                continue;
            }
            made_compute(profile, 310 * US);
            made_send(profile, i);
        }
    }
    fair = wall(PREDICT_SCHEDULER_FAIR, 1);
    within(fair, 2 * wall(PREDICT_SCHEDULER_FAIR, 0), 1e-3);
    cr_assert_geq(wall(PREDICT_SCHEDULER_EEVDF, 1), 0.97 * fair);
}

static void check_same(const predict_replay *a, const predict_replay *b)
{
    within(a->wall_s, b->wall_s, 0);
    cr_assert_eq(a->events, b->events);
    for (size_t i = 0; i < profile->node_count; i++) {
        within(a->nodes[i].end_s, b->nodes[i].end_s, 0);
        within(a->nodes[i].shared_s, b->nodes[i].shared_s, 0);
    }
}

Test(replay_eevdf, gives_the_same_figures_each_time_and_loses_nobody)
{
    uint64_t seed = 99;

    for (int i = 0; i < 300; i++) {
        predict_replay *first;
        double load = i % 3;
        uint64_t stuck;
        double need = 0;
        profile = made_random_profile(&seed);
        wall(PREDICT_SCHEDULER_FAIR, load);
        stuck = replay->stuck;
        for (size_t k = 0; k < profile->node_count; k++)
            need += replay->nodes[k].computing_s;
        wall(PREDICT_SCHEDULER_EEVDF, load);
        cr_assert_eq(replay->stuck, stuck);
        for (size_t k = 0; k < profile->node_count; k++)
            need -= replay->nodes[k].computing_s;
        check_near(need, 0);
        first = replay;
        replay = NULL;
        wall(PREDICT_SCHEDULER_EEVDF, load);
        check_same(first, replay);
        predict_replay_destroy(first);
        forget();
    }
}

Test(replay_eevdf, several_processors_and_other_laws_are_a_fluid)
{
    double fair;

    profile = made_profile(2);
    for (uint32_t i = 0; i < 2; i++) {
        made_actor(profile, i, 0);
        made_compute(profile, 7 * MS);
    }
    fair = wall(PREDICT_SCHEDULER_FAIR, 100);
    within(wall(PREDICT_SCHEDULER_EEVDF, 100), fair, 1e-12);
    profile->places[0].processors = profile->places[1].processors = 2;
    fair = wall(PREDICT_SCHEDULER_FAIR, 3);
    within(wall(PREDICT_SCHEDULER_EEVDF, 3), fair, 1e-12);
}

/* --- how it waits --- */

static void ask(void)
{
    check_status(
        predict_scenario_create(&scenario, profile, PREDICT_SCHEDULER_EEVDF),
        0);
}

/* A thread on n0 computes from `start_ns` on, and then waits for a message of
 * n1, which is given. */
static uint32_t made_waiter(int64_t start_ns, int64_t ns)
{
    uint32_t message;

    profile = made_profile(2);
    message = made_message(profile, 1, 0, 1);
    made_actor(profile, 0, start_ns);
    made_compute(profile, ns);
    made_receive(profile, message);
    return message;
}

/* A thread on n0 computes for 1 ms from 4 ms on, when the load has had its
 * slice, then waits for a message that n1 sends at `sent_us`, and computes for
 * another 1 ms. */
static double waits_until(predict_waiting waiting, int64_t sent_us)
{
    uint32_t message;

    predict_profile_destroy(profile);
    message = made_waiter(1 * MS, 1 * MS);
    made_compute(profile, 1 * MS);
    made_actor(profile, 1, sent_us * US);
    made_send(profile, message);
    check_status(predict_profile_check(profile), 0);
    ask();
    scenario->loads[0] = 1;
    scenario->waiting[0] = waiting;
    run();
    predict_scenario_destroy(scenario);
    scenario = NULL;
    return replay->wall_s;
}

/* Who sleeps is woken, and is served at once, as it is behind. Who spins has
 * the processor until 8 ms, and again from 12 on. Who yields has let the load
 * have it at 5 ms: until 8, and if there is nothing then, until 12. */
Test(replay_eevdf, how_it_waits_says_when_it_finds_its_message)
{
    static const struct {
        predict_waiting waiting;
        int64_t sent_us;
        double ends_s;
    } cases[] = {
        {PREDICT_SLEEPS, 6000, 0.007},   {PREDICT_SPINS, 6000, 0.007},
        {PREDICT_YIELDS, 6000, 0.009},   {PREDICT_SPINS, 9000, 0.013},
        {PREDICT_YIELDS, 9000, 0.013},   {PREDICT_YIELDS, 7999, 0.009},
        {PREDICT_SPINS, 7999, 0.012999},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        within(waits_until(cases[i].waiting, cases[i].sent_us), cases[i].ends_s,
               1e-5);
}

/* Of a session that uses two processors, either has a half of its weight: of
 * three parts, the load has two. Of one that uses one, one of two. */
Test(replay_eevdf, a_load_of_another_session_has_the_weight_of_a_session)
{
    for (size_t nodes = 1; nodes <= 2; nodes++) {
        predict_profile_destroy(profile);
        profile = made_profile(nodes);
        for (uint32_t i = 0; i < nodes; i++) {
            made_actor(profile, i, 0);
            made_compute(profile, 300 * MS);
        }
        check_status(predict_profile_check(profile), 0);
        check_status(predict_scenario_create(&scenario, profile,
                                             PREDICT_SCHEDULER_EEVDF),
                     0);
        scenario->loads[0] = 1;
        scenario->of_other_sessions[0] = true;
        run();
        within(replay->wall_s, nodes == 1 ? 0.6 : 0.9, 2 * TICK_S);
        predict_scenario_destroy(scenario);
        scenario = NULL;
    }
}

/* Two of one processor, without a load, send each other a message a hundred
 * times. Whoever yields lets the other one have it at once. */
Test(replay_eevdf, who_yields_lets_the_other_thread_of_its_processor_go_on)
{
    profile = made_profile(2);
    profile->nodes[1].place = 0;
    for (uint32_t i = 0; i < 200; i++)
        made_message(profile, i % 2, 1 - i % 2, 1);
    for (uint32_t node = 0; node < 2; node++) {
        made_actor(profile, node, 0);
        made_compute(profile, 10 * US);
        for (uint32_t i = 0; i < 200; i++) {
            if (i % 2 == node)
                made_send(profile, i);
            else
                made_receive(profile, i);
            if (i % 2 != node)
                made_compute(profile, 10 * US);
        }
    }
    check_status(predict_profile_check(profile), 0);
    ask();
    scenario->waiting[0] = scenario->waiting[1] = PREDICT_YIELDS;
    run();
    within(replay->wall_s, 0.002, 0.0002);
}

/* It computes for 30 ms at a load of 0.1, then looks for a message: what it has
 * had is not given back, and the load has its part. */
Test(replay_eevdf, who_gives_up_its_slice_has_had_what_it_had)
{
    uint32_t message = made_waiter(0, 30 * MS);

    made_compute(profile, 300 * MS);
    made_actor(profile, 1, 31 * MS);
    made_send(profile, message);
    check_status(predict_profile_check(profile), 0);
    ask();
    scenario->waiting[0] = PREDICT_YIELDS;
    scenario->loads[0] = 0.1;
    scenario->of_other_sessions[0] = true;
    run();
    cr_expect_gt(replay->wall_s, 0.331 * 1.15, "%g", replay->wall_s);
    cr_expect_lt(replay->wall_s, 0.331 * 1.25, "%g", replay->wall_s);
}

/* Nobody sends: it looks for ever, and that is told, not tried. */
Test(replay_eevdf, who_looks_for_what_never_comes_is_stuck)
{
    (void)made_waiter(0, 1 * MS);
    ask();
    for (uint32_t i = 0; i < PREDICT_WAITINGS; i++) {
        scenario->waiting[0] = i;
        scenario->loads[0] = i % 2;
        run();
        cr_expect_eq(replay->stuck, 1);
    }
    predict_replay_destroy(replay);
    replay = NULL;
    scenario->waiting[0] = PREDICT_WAITINGS;
    check_status(predict_replay_run(&replay, scenario), PASTSET_EINVAL);
    check_error("n0");
}

Test(replay_eevdf, the_law_has_a_name_and_a_slice)
{
    static const char *const wrong[] = {"eevdf:",    "eevdf:0ms", "eevdf:3",
                                        "eevdf:1us", "eevdf:9us", "eevdf:-3ms",
                                        "Eevdf"};
    predict_scheduler scheduler;
    char text[32];

    check_status(predict_scheduler_parse(&scheduler, "eevdf"), 0);
    within(scheduler.slice_s, PREDICT_SLICE_PROFILED, 0);
    cr_expect_str_eq(predict_scheduler_text(scheduler, text, sizeof(text)),
                     "eevdf");
    check_status(predict_scheduler_parse(&scheduler, "eevdf:1.4ms"), 0);
    within(scheduler.slice_s, 0.0014, 1e-12);
    within(scheduler.credit_s, 0, 0);
    cr_expect_str_eq(predict_scheduler_text(scheduler, text, sizeof(text)),
                     "eevdf:1.4ms");
    within(predict_scheduler_extra(scheduler, 0.5, 7, 2), 1, 1e-12);
    check_status(predict_scheduler_parse(&scheduler, "eevdf:2.8ms"), 0);
    cr_expect_str_eq(predict_scheduler_text(scheduler, text, sizeof(text)),
                     "eevdf:2.8ms");
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        check_status(predict_scheduler_parse(&scheduler, wrong[i]),
                     PASTSET_EINVAL);
    check_status(predict_scheduler_parse(&scheduler, "fair"), 0);
    within(scheduler.slice_s, 0, 0);
}

Test(replay_eevdf, a_slice_that_makes_no_sense_is_refused)
{
    profile = made_profile(1);
    made_actor(profile, 0, 0);
    made_compute(profile, MS);
    wall(PREDICT_SCHEDULER_FAIR, 1);
    predict_replay_destroy(replay);
    replay = NULL;
    scenario->schedulers[0].slice_s = NAN;
    check_status(predict_replay_run(&replay, scenario), PASTSET_EINVAL);
    check_error("n0");
}
