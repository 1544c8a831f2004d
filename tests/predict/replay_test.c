/* replay_test.c - replays of small profiles, whose times are worked out by
 * hand. Random ones are in replay_random_test.c. */
#include <math.h>

#include "tests/predict/made.h"
#include "tests/predict/replay_case.h"

#define MS 1000000 /* ns */

TestSuite(replay, .timeout = 120, .fini = forget);

static void as_measured(void)
{
    check_status(predict_profile_check(profile), 0);
    check_status(
        predict_scenario_create(&scenario, profile, PREDICT_SCHEDULER_FAIR), 0);
}

/* A profile of one node, one processor, and these actors who only compute. */
static void actors_of(size_t count, const int64_t *ms)
{
    profile = made_profile(1);
    for (size_t i = 0; i < count; i++) {
        made_actor(profile, 0, 0);
        made_compute(profile, ms[i] * MS);
    }
    as_measured();
}

/* --- processors --- */

Test(replay, of_one_actor_takes_what_it_computes_and_sleeps)
{
    profile = made_profile(1);
    made_actor(profile, 0, 5 * MS);
    made_compute(profile, 10 * MS);
    made_sleep(profile, 7 * MS);
    made_compute(profile, 3 * MS);
    as_measured();
    run();
    check_near(replay->wall_s, 0.025);
    check_near(replay->nodes[0].computing_s, 0.013);
    check_near(replay->nodes[0].shared_s, 0);
    check_near(replay->nodes[0].end_s, 0.025);
    cr_assert_eq(replay->stuck, 0u);
}

Test(replay, shares_a_processor_between_two_actors)
{
    actors_of(2, (int64_t[]){10, 30});
    run();
    /* Both at half speed until 20; then the other 20 of the longer one. */
    check_near(replay->wall_s, 0.040);
    check_near(replay->nodes[0].computing_s, 0.040);
    check_near(replay->nodes[0].shared_s, 0.020);
}

Test(replay, uses_all_processors_of_a_place)
{
    actors_of(3, (int64_t[]){12, 12, 30});
    scenario->processors[0] = 3;
    run();
    check_near(replay->wall_s, 0.030);
    scenario->processors[0] = 2;
    run();
    /* At 2/3 until 18; 18 more of the longest are left. */
    check_near(replay->wall_s, 0.036);
}

Test(replay, shares_a_place_between_its_nodes)
{
    profile = made_profile(2);
    for (uint32_t i = 0; i < 2; i++) {
        made_actor(profile, i, 0);
        made_compute(profile, 10 * MS);
    }
    as_measured();
    run();
    check_near(replay->wall_s, 0.010);
    scenario->places[1] = 0;
    run();
    check_near(replay->wall_s, 0.020);
    /* A load on one of them is a load on the place. */
    scenario->loads[1] = 1;
    run();
    check_near(replay->wall_s, 0.030);
}

Test(replay, shares_a_processor_with_the_load)
{
    actors_of(1, (int64_t[]){10});
    for (int tenths = 0; tenths <= 40; tenths += 5) {
        scenario->loads[0] = tenths / 10.0;
        run();
        check_near(replay->wall_s, 0.010 * (1 + tenths / 10.0));
        check_near(replay->nodes[0].shared_s, 0.010 * tenths / 10.0);
    }
}

Test(replay, leaves_a_free_processor_to_the_load)
{
    actors_of(1, (int64_t[]){10});
    scenario->processors[0] = 2;
    scenario->loads[0] = 1;
    run();
    check_near(replay->wall_s, 0.010);
    scenario->loads[0] = 3; /* two processors for four */
    run();
    check_near(replay->wall_s, 0.020);
}

Test(replay, takes_half_the_time_at_twice_the_speed)
{
    profile = made_profile(1);
    made_actor(profile, 0, 0);
    made_compute(profile, 10 * MS);
    made_sleep(profile, 10 * MS);
    as_measured();
    scenario->speeds[0] = 2;
    run();
    check_near(replay->wall_s, 0.015);
    scenario->loads[0] = 1;
    run();
    check_near(replay->wall_s, 0.020);
}

/* `turns` phases of a node that is busy, then idle. */
static void phases(int turns, double busy_s, double idle_s)
{
    profile = made_profile(1);
    made_actor(profile, 0, 0);
    for (int i = 0; i < turns; i++) {
        made_sleep(profile, (int64_t)(idle_s * 1e9));
        made_compute(profile, (int64_t)(busy_s * 1e9));
    }
    as_measured();
}

Test(replay, follows_the_law_of_the_node)
{
    static const double times[] = {0.001, 0.004, 0.015, 0.3};
    static const double credits[] = {0, 0.0005, 0.006, INFINITY};
    static const double loads[] = {0.5, 1, 3};

    for (int i = 0; i < 4 * 4 * 4 * 3; i++) {
        double busy = times[i % 4], idle = times[i / 4 % 4];
        double credit = credits[i / 16 % 4], load = loads[i / 64];
        double extra = fmax(0, load * busy - fmin(idle, load * credit));
        phases(10, busy, idle);
        scenario->loads[0] = load;
        scenario->schedulers[0].credit_s = credit;
        run();
        check_near(replay->wall_s, 10 * (busy + idle + extra));
        check_near(replay->nodes[0].shared_s, 10 * extra);
        forget();
    }
}

Test(replay, lets_those_who_slept_share_among_themselves_first)
{
    profile = made_profile(1);
    for (int i = 0; i < 2; i++) {
        made_actor(profile, 0, 0);
        made_sleep(profile, 10 * MS);
        made_compute(profile, 4 * MS);
    }
    as_measured();
    scenario->loads[0] = 1;
    run();
    check_near(replay->wall_s, 0.010 + 3 * 0.004);
    scenario->schedulers[0] = PREDICT_SCHEDULER_CREDIT;
    run();
    check_near(replay->wall_s, 0.010 + 2 * 0.004);
}

Test(replay, serves_who_slept_before_who_did_not)
{
    profile = made_profile(1);
    made_actor(profile, 0, 0);
    made_compute(profile, 100 * MS);
    made_actor(profile, 0, 0);
    made_sleep(profile, 10 * MS);
    made_compute(profile, 4 * MS);
    made_send(profile, made_message(profile, 0, 0, 1));
    as_measured();
    scenario->loads[0] = 1;
    scenario->schedulers[0] = PREDICT_SCHEDULER_CREDIT;
    run();
    /* The first one gets 5 by 10, nothing until 14, then a half of the time. */
    check_near(replay->wall_s, 0.014 + 2 * 0.095);
    check_near(replay->nodes[0].shared_s, 0.014 + 2 * 0.095 - 0.100);
    scenario->schedulers[0].credit_s = 0.002;
    run();
    /* 2 of the 4 go first; then, from 12 on, a third for each until 18. */
    check_near(replay->wall_s, 0.018 + 2 * (0.095 - 0.002));
}

Test(replay, keeps_a_credit_while_the_actor_goes_on)
{
    profile = made_profile(1);
    made_actor(profile, 0, 0);
    made_sleep(profile, 10 * MS);
    made_compute(profile, 4 * MS);
    made_send(profile, made_message(profile, 0, 0, 1));
    made_compute(profile, 8 * MS);
    as_measured();
    scenario->loads[0] = 1;
    scenario->schedulers[0] = PREDICT_SCHEDULER_CREDIT;
    run();
    /* 10 of the 12 are served first. */
    check_near(replay->wall_s, 0.010 + 0.010 + 2 * 0.002);
}

Test(replay, counts_the_sleep_of_who_serves_from_the_last_request)
{
    uint32_t asked[2];

    profile = made_profile(2);
    made_actor(profile, 0, 0);
    for (int i = 0; i < 2; i++) {
        asked[i] = made_message(profile, 0, 1, 1);
        made_sleep(profile, 10 * MS);
        made_send(profile, asked[i]);
    }
    for (int i = 0; i < 2; i++) {
        made_actor(profile, 1, 0);
        made_receive(profile, asked[i]);
        made_compute(profile, 8 * MS);
    }
    as_measured();
    scenario->loads[1] = 1;
    scenario->schedulers[1] = PREDICT_SCHEDULER_CREDIT;
    run();
    /* The first one had slept for 10, and has done at 18; the second comes at
     * 20, with a credit of 2. */
    check_near(replay->wall_s, 0.020 + 0.002 + 2 * 0.006);
}

Test(replay, shares_a_processor_between_very_many)
{
    double sum = 0;
    uint64_t seed = 7;

    profile = made_profile(1);
    for (int i = 0; i < 100000; i++) {
        int64_t ns = 1 + (int64_t)made_below(&seed, MS);
        made_actor(profile, 0, 0);
        made_compute(profile, ns);
        sum += (double)ns / 1e9;
    }
    as_measured();
    run();
    check_near(replay->wall_s, sum);
}

/* --- messages --- */

Test(replay, takes_l_and_size_by_b_for_a_message)
{
    profile = made_profile(2);
    made_link(profile, 0, 1, 0.0004, 1e6);
    made_actor(profile, 0, 0);
    made_compute(profile, 1 * MS);
    made_send(profile, made_message(profile, 0, 1, 5000));
    made_receive(profile, made_message(profile, 1, 0, 2000));
    made_actor(profile, 1, 0);
    made_receive(profile, 0);
    made_compute(profile, 3 * MS);
    made_send(profile, 1);
    as_measured();
    run();
    check_near(replay->wall_s, 0.001 + 0.0054 + 0.003 + 0.0024);
    check_near(replay->nodes[1].end_s, 0.0094);
    check_near(replay->links[0].carrying_s, 0.0078);
    check_near(replay->links[0].queued_s, 0);
    cr_assert_eq(replay->links[0].messages, 2u);
    scenario->wires[0] = (predict_wire){0.001, 0.5e6};
    scenario->loads[1] = 1;
    run();
    check_near(replay->wall_s, 0.001 + 0.011 + 2 * 0.003 + 0.005);
}

Test(replay, lets_messages_of_one_direction_wait_for_each_other)
{
    profile = made_profile(2);
    made_link(profile, 0, 1, 0.001, 1e6);
    made_actor(profile, 0, 0);
    for (int i = 0; i < 3; i++)
        made_send(profile, made_message(profile, 0, 1, 4000));
    made_receive(profile, made_message(profile, 1, 0, 1000));
    made_actor(profile, 1, 0);
    made_compute(profile, 0);
    made_send(profile, 3);
    for (uint32_t i = 0; i < 3; i++)
        made_receive(profile, i);
    as_measured();
    run();
    /* 3 * 4 ms one after another, then L; the other way is free. */
    check_near(replay->nodes[1].end_s, 0.013);
    check_near(replay->nodes[0].end_s, 0.002);
    check_near(replay->links[0].queued_s, 0.004 + 0.008);
    check_near(replay->links[0].carrying_s, 3 * 0.005 + 0.002);
}

/* A rate of 1 MB/s with a burst of 1,600 bytes; 66 bytes of headers each. */
Test(replay, lets_a_burst_through_a_link_whose_flow_is_known)
{
    profile = made_profile(2);
    made_link(profile, 0, 1, 0.5, 1e3); /* not gone by */
    made_actor(profile, 0, 0);
    made_send(profile, made_message(profile, 0, 1, 1000));
    made_receive(profile, made_message(profile, 1, 0, 100));
    made_sleep(profile, 100 * MS);
    made_send(profile, made_message(profile, 0, 1, 9934));
    made_actor(profile, 1, 0);
    made_receive(profile, 0);
    made_send(profile, 1);
    made_receive(profile, 2);
    as_measured();
    scenario->flows[0] = (predict_flow){1e6, 1600, 0.001};
    run();
    /* The short ones go through at once; the long one takes 10,000 - 1,600
     * bytes, as the link has rested. */
    check_near(replay->wall_s, 0.001 + 0.001 + 0.1 + 0.0084 + 0.001);
    check_near(replay->links[0].queued_s, 0);
}

Test(replay, lets_short_messages_of_a_known_flow_wait_for_two_packets_only)
{
    profile = made_profile(2);
    made_link(profile, 0, 1, 0, 1e6);
    made_actor(profile, 0, 0);
    made_send(profile, made_message(profile, 0, 1, 99934));
    made_send(profile, made_message(profile, 0, 1, 434));
    made_send(profile, made_message(profile, 0, 1, 434));
    for (uint32_t i = 1; i < 3; i++) {
        made_actor(profile, 1, 0);
        made_receive(profile, i);
    }
    made_actor(profile, 1, 0);
    made_receive(profile, 0);
    as_measured();
    scenario->flows[0] = (predict_flow){1e6, 0, 0};
    run();
    /* 2 * (1,448 + 66) bytes of the long one, then 500 bytes each. */
    check_near(replay->wall_s, 0.1);
    check_near(replay->links[0].queued_s, 0.003028 + 0.003528);
}

Test(replay, brings_messages_at_once_where_there_is_no_measured_link)
{
    profile = made_profile(2);
    made_link(profile, 0, 1, NAN, NAN);
    made_actor(profile, 0, 0);
    made_compute(profile, 1 * MS);
    made_send(profile, made_message(profile, 0, 1, 1 << 20));
    made_send(profile, made_message(profile, 0, 0, 1 << 20));
    made_actor(profile, 1, 0);
    made_receive(profile, 0);
    made_actor(profile, 0, 0);
    made_receive(profile, 1);
    as_measured();
    run();
    check_near(replay->wall_s, 0.001);
    check_near(replay->links[0].carrying_s, 0);
}

Test(replay, does_not_wait_for_a_message_that_has_come)
{
    profile = made_profile(2);
    made_link(profile, 0, 1, 0.001, 1e9);
    made_actor(profile, 0, 0);
    made_send(profile, made_message(profile, 0, 1, 0));
    made_actor(profile, 1, 0);
    made_compute(profile, 5 * MS);
    made_receive(profile, 0);
    made_compute(profile, 5 * MS);
    as_measured();
    run();
    check_near(replay->wall_s, 0.010);
    /* And does, when it has not. */
    scenario->wires[0].latency_s = 0.007;
    run();
    check_near(replay->wall_s, 0.012);
}

Test(replay, begins_an_actor_at_its_time_but_one_that_serves_when_it_is_asked)
{
    profile = made_profile(1);
    made_actor(profile, 0, 2 * MS);
    made_send(profile, made_message(profile, 0, 0, 0));
    made_actor(profile, 0, 50 * MS); /* as it was measured: late */
    made_receive(profile, 0);
    made_compute(profile, 1 * MS);
    made_actor(profile, 0, 30 * MS);
    as_measured();
    run();
    check_near(replay->wall_s, 0.030);
    cr_assert_eq(replay->stuck, 0u);
}

Test(replay, counts_actors_that_wait_for_ever)
{
    profile = made_profile(1);
    made_actor(profile, 0, 0);
    made_compute(profile, 1 * MS);
    made_receive(profile, made_message(profile, 0, 0, 0));
    made_send(profile, made_message(profile, 0, 0, 0));
    made_actor(profile, 0, 0);
    made_receive(profile, 1);
    made_send(profile, 0);
    made_actor(profile, 0, 0);
    made_compute(profile, 3 * MS);
    as_measured();
    run();
    cr_assert_eq(replay->stuck, 2u);
    check_near(replay->wall_s, 0.004);
}

/* --- what is refused --- */

static void refused(const char *text)
{
    predict_replay *none = (predict_replay *)&none;

    check_status(predict_replay_run(&none, scenario), PASTSET_EINVAL);
    cr_assert_null(none);
    check_error(text);
}

Test(replay, refuses_a_profile_without_actors)
{
    profile = made_profile(1);
    as_measured();
    refused("no actors");
}

Test(replay, refuses_conditions_that_make_no_sense)
{
    static const double bad[] = {-1, NAN, INFINITY};

    profile = made_profile(2);
    made_link(profile, 0, 1, 0.001, 1e6);
    made_actor(profile, 0, 0);
    as_measured();
    for (int i = 0; i < 3; i++) {
        scenario->loads[1] = bad[i];
        refused("node n1");
        scenario->loads[1] = 0;
        scenario->speeds[0] = i ? bad[i] : 0;
        refused("node n0");
        scenario->speeds[0] = 1;
    }
    scenario->schedulers[0].credit_s = NAN;
    refused("node n0");
    scenario->schedulers[0].credit_s = 0;
    scenario->processors[1] = 0;
    refused("node n1");
    scenario->processors[1] = 1;
    scenario->wires[0].bandwidth = 0;
    refused("link n0-n1");
    scenario->wires[0] = (predict_wire){-0.001, 1e6};
    refused("link n0-n1");
    scenario->wires[0].latency_s = 0;
    run();
}

Test(replay, refuses_times_that_cannot_be_counted)
{
    profile = made_profile(2);
    made_link(profile, 0, 1, 0.001, 1e6);
    made_actor(profile, 0, 0);
    made_send(profile, made_message(profile, 0, 1, 8));
    made_actor(profile, 1, 0);
    made_receive(profile, 0);
    made_compute(profile, 1 * MS);
    check_status(
        predict_scenario_create(&scenario, profile, PREDICT_SCHEDULER_DEFAULT),
        0);
    scenario->wires[0].latency_s = 1e14;
    refused("30,000 years");
}
