/* ranks_test.c - steps of processes that communicate by other means than paths,
 * as those of MPI: of runs that are made up, so that what a replay gives can be
 * computed by hand. Times are microseconds. Where nothing is known of processor
 * time, all time between calls is computing. */
#include "measure/traces/traces.h"

#include <math.h>
#include <stdlib.h>

#include "predict/replay/replay.h"
#include "tests/measure/planted_ranks.h"
#include "tests/measure/set_wire.h"
#include "tests/support/check.h"
#include "tests/support/memory.h"
#include "tests/support/scratch.h"

static eventspace_run *run;
static predict_profile *profile;
static predict_replay *result;
static uint64_t lost; /* events */

static void clean(void)
{
    predict_replay_destroy(result);
    predict_profile_destroy(profile);
    eventspace_run_close(run);
    scratch_remove();
}

TestSuite(ranks, .timeout = 120, .init = scratch_make, .fini = clean);

#define NO_FLOW ((predict_flow){0, 0, 0})

/* --- profiles and replays --- */

static const measure_known_times not_known;

/* A profile may be there that has nodes. */
static void profile_make_of(measure_known_times times)
{
    uint64_t first = UINT64_MAX;

    planted_end();
    check_status(eventspace_run_open(&run, scratch_file("run")), 0);
    for (size_t i = 0; i < eventspace_run_process_count(run); i++) {
        uint64_t ns = eventspace_run_process_at(run, i)->meta.start_wall_ns;
        first = ns < first ? ns : first;
    }
    if (!profile)
        profile = predict_profile_create("test");
    cr_assert_not_null(profile);
    check_status(
        measure_traces_add(profile, run, (int64_t)first, &times, &lost), 0);
    check_status(predict_profile_check(profile), 0);
    cr_expect_str_eq(profile->source, "traces");
}

static void profile_make(void)
{
    profile_make_of(not_known);
}

static void wires_set(double latency_us)
{
    for (uint32_t i = 0; i < profile->link_count; i++)
        check_status(set_wire(profile, i, latency_us * 1e-6, 1e15, NO_FLOW), 0);
}

/* Of all links; below 0: as they are. Of one node; below 0: none. */
typedef struct condition {
    double latency_us, speed;
    int node;
} condition;

static const condition as_it_was = {-1, 1, -1};

/* When the last actor ends, since `profile` began. */
static double replay_us(condition c)
{
    predict_scenario *scenario;

    predict_replay_destroy(result);
    check_status(
        predict_scenario_create(&scenario, profile, PREDICT_SCHEDULER_FAIR), 0);
    for (size_t i = 0; i < profile->link_count && c.latency_us >= 0; i++)
        scenario->wires[i] = (predict_wire){c.latency_us * 1e-6, 1e15};
    if (c.node >= 0)
        scenario->speeds[c.node] = c.speed;
    check_status(predict_replay_run(&result, scenario), 0);
    predict_scenario_destroy(scenario);
    cr_assert_eq(result->stuck, 0);
    return result->wall_s * 1e6;
}

/* Ticks are no whole numbers of nanoseconds. */
#define NEAR(got, wanted)                                                      \
    do {                                                                       \
        double got_us = (got), wanted_us = (wanted);                           \
        cr_expect(fabs(got_us - wanted_us) < 0.1 + 1e-5 * fabs(wanted_us),     \
                  "%g us, not %g", got_us, wanted_us);                         \
    } while (0)

static void changes(condition c, double by_us)
{
    double alone_us = replay_us(as_it_was);

    NEAR(replay_us(c) - alone_us, by_us);
}

static void is_as_recorded(void)
{
    NEAR(replay_us(as_it_was), (double)profile->wall_ns * 1e-3);
}

static size_t messages_between(void)
{
    size_t count = 0;

    for (size_t i = 0; i < profile->message_count; i++)
        count += profile->messages[i].from != profile->messages[i].to;
    return count;
}

/* A call of everybody at the beginning. */
static void begin(uint32_t ranks)
{
    planted_begin(scratch_file("run"), ranks);
    for (uint32_t i = 0; i < ranks; i++)
        planted_alone((planted_call){i, "MPI_Comm_rank", 0, 0, 0});
}

/* --- messages --- */

/* Rank 0 computes for 1000 and sends; rank 1 has waited since 200, has the
 * message at 1030, and computes until 2000. */
static void late_sender(void)
{
    begin(2);
    planted_send((planted_call){0, "MPI_Send", 1000, 1010, 100}, 1);
    planted_receive((planted_call){1, "MPI_Recv", 200, 1030, 100}, 0);
    planted_alone((planted_call){1, "MPI_Wtime", 2000, 2000, 0});
    profile_make();
}

Test(ranks, are_the_nodes)
{
    late_sender();
    cr_assert_eq(profile->node_count, 2);
    cr_expect_str_eq(profile->nodes[0].name, "rank_0");
    cr_expect_str_eq(profile->nodes[1].name, "rank_1");
    cr_assert_eq(profile->message_count, 1);
    cr_expect_eq(profile->messages[0].bytes, 100);
    cr_expect_eq(profile->messages[0].from, 0);
    cr_expect_eq(profile->messages[0].to, 1);
}

Test(ranks, wait_for_a_message)
{
    late_sender();
    is_as_recorded();
    changes((condition){-1, 2, 0}, -500);
    changes((condition){-1, 0.5, 0}, 1000);
    /* From 200 on it waits; then it computes for 970. */
    changes((condition){-1, 2, 1}, -485);
    /* It comes at 20000 instead, and has waited for 30 after the sending. */
    changes((condition){-1, 0.01, 1}, 20030 - 1030 + 97000 - 970);
}

Test(ranks, take_the_time_of_a_link_out_of_their_waiting)
{
    late_sender();
    wires_set(20);
    is_as_recorded();
    changes((condition){120, 1, -1}, 100);
    changes((condition){5, 1, -1}, -15);
}

/* Sent at 100, received at 1000: 900 of any latency cost nothing. */
Test(ranks, do_not_wait_for_what_is_there)
{
    begin(2);
    planted_send((planted_call){0, "MPI_Send", 100, 110, 100}, 1);
    planted_receive((planted_call){1, "MPI_Recv", 1000, 1005, 100}, 0);
    profile_make();
    is_as_recorded();
    wires_set(50);
    is_as_recorded();
    changes((condition){880, 1, -1}, 0);
    changes((condition){1000, 1, -1}, 100);
}

/* What was waited for in one call is what was sent last. */
Test(ranks, receive_several_at_once)
{
    begin(3);
    planted_send((planted_call){0, "MPI_Send", 300, 310, 8}, 2);
    planted_send((planted_call){1, "MPI_Send", 290, 295, 8}, 2);
    planted_receive((planted_call){2, "MPI_Waitall", 100, 350, 8}, 0);
    planted_receive((planted_call){2, "MPI_Waitall", 100, 350, 8}, 1);
    profile_make();
    is_as_recorded();
    wires_set(40);
    is_as_recorded();
    changes((condition){90, 1, -1}, 50);
    changes((condition){-1, 0.1, 1}, 2610 - 10);
}

static void late_receiver(const char *name, uint32_t bytes)
{
    begin(2);
    planted_send((planted_call){0, name, 100, 1020, bytes}, 1);
    planted_alone((planted_call){0, "MPI_Wtime", 3000, 3000, 0});
    planted_receive((planted_call){1, "MPI_Recv", 1000, 1030, bytes}, 0);
    profile_make();
}

/* Told that its receiver has come, it sends; 10 for each of both ways. */
Test(ranks, wait_for_the_receiver_of_what_is_synchronous)
{
    late_receiver("MPI_Ssend", 8);
    cr_expect_eq(profile->message_count, 2);
    is_as_recorded();
    changes((condition){-1, 2, 1}, -500);
    wires_set(5);
    is_as_recorded();
    /* There, and until the sender ends, once. */
    changes((condition){105, 1, -1}, 100);
}

Test(ranks, wait_for_the_receiver_of_what_is_long)
{
    late_receiver("MPI_Send", 100000);
    cr_expect_eq(profile->message_count, 2);
    changes((condition){-1, 2, 1}, -500);
}

Test(ranks, do_not_wait_for_the_receiver_of_what_is_short)
{
    late_receiver("MPI_Send", 8);
    cr_expect_eq(profile->message_count, 1);
    is_as_recorded();
    changes((condition){-1, 2, 1}, 0);
}

Test(ranks, do_not_wait_for_who_receives_when_they_have_sent)
{
    begin(2);
    for (uint32_t i = 0; i < 2; i++) {
        planted_send((planted_call){i, "MPI_Send", 100, 200, 100000}, !i);
        planted_receive((planted_call){i, "MPI_Recv", 200, 300, 100000}, !i);
    }
    profile_make();
    is_as_recorded();
    cr_expect_eq(profile->message_count, 2);
}

/* --- collectives --- */

/* They come at 100, 200 ... the last at 1000, and are done 40 after that. */
static void joined(uint32_t ranks, const char *name, const char *type)
{
    begin(ranks);
    for (uint32_t i = 0; i < ranks; i++)
        planted_join((planted_call){i, name,
                                    i + 1 == ranks ? 1000 : 100 * (i + 1), 1040,
                                    64},
                     type);
    profile_make();
    is_as_recorded();
}

static void check_bytes(uint64_t each)
{
    for (size_t i = 0; i < profile->message_count; i++)
        cr_expect_eq(profile->messages[i].bytes, each);
}

Test(ranks, need_all_in_a_sum)
{
    joined(4, "MPI_Allreduce", "reduce");
    cr_expect_eq(messages_between(), 8);
    check_bytes(64);
    changes((condition){-1, 2, 3}, -500);
    changes((condition){-1, 0.1, 0}, 0);
    changes((condition){-1, 0.01, 0}, 10000 - 1000);
    wires_set(5);
    is_as_recorded();
    /* Two rounds. */
    changes((condition){105, 1, -1}, 200);
}

Test(ranks, need_log_n_rounds_for_n_that_is_no_power_of_two)
{
    joined(5, "MPI_Barrier", "barrier");
    cr_expect_eq(messages_between(), 15);
    wires_set(5);
    is_as_recorded();
    changes((condition){105, 1, -1}, 300);
}

Test(ranks, pass_on_what_they_have_gathered)
{
    joined(4, "MPI_Allgather", "gather");
    cr_expect_eq(messages_between(), 8);
    for (size_t i = 0; i < 4; i++) /* those of the first round are sent first */
        cr_expect_eq(profile->messages[i].bytes +
                         profile->messages[7 - i].bytes,
                     64 + 128);
}

Test(ranks, send_each_other_their_parts)
{
    joined(4, "MPI_Alltoall", "alltoall");
    cr_expect_eq(messages_between(), 12);
    check_bytes(16);
    changes((condition){-1, 2, 3}, -500);
    wires_set(5);
    is_as_recorded();
    changes((condition){105, 1, -1}, 100);
}

/* Both come to an exchange of so many bytes each way, the second 100 us later;
 * 100 us more for each message make it so much longer. */
static void exchange_takes(const char *library, bool as_one, uint32_t bytes,
                           double by_us)
{
    begin(2);
    if (library)
        planted_far(library);
    for (uint32_t i = 0; i < 2; i++) {
        planted_call call = {i, as_one ? "MPI_Alltoall" : "MPI_Sendrecv",
                             1000 + 100 * i, 1500, bytes * (as_one ? 2 : 1)};
        if (as_one)
            planted_join(call, "alltoall");
        else {
            planted_send(call, 1 - i);
            planted_receive(call, 1 - i);
        }
    }
    profile_make();
    wires_set(5);
    is_as_recorded();
    changes((condition){105, 1, -1}, by_us);
}

/* It is asked for the first one's message, then that comes, then its own. */
#define IN_TURNS 300.0

Test(ranks, send_long_messages_in_turns_by_open_mpi_between_machines)
{
    exchange_takes("Open MPI 4.1.4", true, 70000, IN_TURNS);
}

Test(ranks, send_short_messages_at_once_by_open_mpi_between_machines)
{
    exchange_takes("Open MPI 4.1.4", true, 60000, 100);
}

Test(ranks, send_long_messages_at_once_by_mpich)
{
    exchange_takes("MPICH 4.0.2", true, 70000, 100);
}

Test(ranks, send_long_messages_at_once_on_one_machine)
{
    exchange_takes(NULL, true, 70000, 100);
}

Test(ranks, sendrecv_long_messages_in_turns_by_open_mpi_between_machines)
{
    exchange_takes("Open MPI 4.1.4", false, 70000, IN_TURNS);
}

/* The second one's message leaves when it comes; the first one's, when it was
 * asked for. */
Test(ranks, sendrecv_long_messages_by_mpich)
{
    exchange_takes("MPICH 4.0.2", false, 70000, 200);
}

/* Rank 0 sends three short messages; the third lasts until rank 1, which
 * computes until 900, has received the first. */
static void run_ahead(const char *library)
{
    begin(2);
    if (library)
        planted_far(library);
    for (int64_t i = 1; i <= 3; i++)
        planted_send((planted_call){0, "MPI_Send", 100 * i,
                                    i == 3 ? 1000 : 100 * i + 10, 64},
                     1);
    planted_alone((planted_call){0, "MPI_Wtime", 1100, 1101, 0});
    for (int64_t i = 0; i < 3; i++)
        planted_receive((planted_call){1, "MPI_Recv", i ? 1000 + 100 * i : 900,
                                       i ? 1010 + 100 * i : 990, 64},
                        0);
    profile_make();
    is_as_recorded();
}

/* Rank 0 computes for 100, 90, 90 and 100 us: what it takes longer before the
 * third message it waits less for room. */
Test(ranks, wait_for_room_where_they_run_ahead)
{
    run_ahead(NULL);
    changes((condition){-1, 0.5, 0}, 0);
    NEAR(replay_us((condition){-1, 0.25, 0}) - replay_us(as_it_was),
         400 + 10 + 360 + 10 + 360 + 10 + 400 + 1 - 1210);
}

/* Rank 1 computes for 900, 110 and 90 us. */
Test(ranks, make_room_when_they_receive)
{
    run_ahead(NULL);
    changes((condition){-1, 0.5, 1}, 900 + 110 + 90);
}

Test(ranks, do_not_wait_for_room_on_other_machines)
{
    run_ahead("Open MPI 4.1.4");
    changes((condition){-1, 0.5, 0}, 1101 + 100 + 90 + 90 + 100 - 1210);
}

/* The second one of rank 1 is missing, and its third one is none of rank 0's
 * second. */
Test(ranks, pass_over_collectives_of_which_calls_are_missing)
{
    begin(2);
    for (int64_t i = 1; i <= 3; i++)
        planted_join((planted_call){0, "MPI_Barrier", 100 * i, 100 * i + 10, 0},
                     "barrier");
    planted_join((planted_call){1, "MPI_Barrier", 50, 110, 0}, "barrier");
    planted_join((planted_call){1, "MPI_Barrier", 250, 310, 0}, "barrier");
    profile_make();
    is_as_recorded();
    cr_expect_eq(messages_between(), 4);
    changes((condition){-1, 0.5, 0}, 280);
}

/* They start at 100, 200, 1000, and compute until 1500 (the first), or wait. */
Test(ranks, need_all_where_they_wait_for_what_they_have_started)
{
    begin(3);
    for (uint32_t i = 0; i < 3; i++) {
        int64_t at = i == 2 ? 1000 : 100 * (i + 1);
        planted_start((planted_call){i, "MPI_Iallreduce", at, at + 1, 64});
        /* It asks once, too early. */
        planted_alone((planted_call){i, "MPI_Test", at + 2, at + 3, 0});
        planted_alone((planted_call){i, "MPI_Wait", i ? at + 4 : 1500,
                                     i ? 1040 : 1505, 0});
    }
    profile_make();
    is_as_recorded();
    cr_expect_eq(messages_between(), 6);
    check_bytes(64);
    NEAR(result->nodes[1].end_s * 1e6 - result->nodes[0].end_s * 1e6,
         1040 - 1505);
    /* The last starts at 10000, and computes twice for 1 us before it ends, 38
     * after it has started apart from that. The others are done 5 and 40 after
     * the start. */
    changes((condition){-1, 0.1, 2}, 10058 - 1505);
    NEAR(result->nodes[0].end_s * 1e6 - result->nodes[1].end_s * 1e6, 5 - 40);
    wires_set(5);
    is_as_recorded();
    /* The first waits until 1505, the second for 500 more than before. */
    changes((condition){505, 1, -1}, 1540 - 1505);
    NEAR(result->nodes[0].end_s * 1e6 - result->nodes[1].end_s * 1e6,
         1510 - 1540);
}

/* The root comes at 1000, all others at 100; ends are 1040. */
static void from_root(const char *name, const int64_t starts_us[4],
                      const int64_t ends_us[4])
{
    begin(4);
    for (uint32_t i = 0; i < 4; i++)
        planted_from_root((planted_call){i, name, starts_us[i], ends_us[i], 8},
                          0);
    profile_make();
    is_as_recorded();
    cr_expect_eq(messages_between(), 3);
}

Test(ranks, need_the_root_by_a_tree)
{
    from_root("MPI_Bcast", (int64_t[]){1000, 100, 100, 100},
              (int64_t[]){1040, 1040, 1040, 1040});
    check_bytes(8);
    changes((condition){-1, 2, 0}, -500);
    wires_set(5);
    is_as_recorded();
    /* To 2, and from there to 3. */
    changes((condition){105, 1, -1}, 200);
}

Test(ranks, scatter_what_is_for_all_below)
{
    uint64_t all = 0;

    from_root("MPI_Scatter", (int64_t[]){1000, 100, 100, 100},
              (int64_t[]){1040, 1040, 1040, 1040});
    for (size_t i = 0; i < 3; i++)
        all += profile->messages[i].bytes;
    cr_expect_eq(all, 8 + 16 + 8);
}

/* 3 had ended before 2 came, which would have sent to it: no tree. */
Test(ranks, need_the_root_directly_where_times_say_so)
{
    from_root("MPI_Bcast", (int64_t[]){1000, 100, 3000, 100},
              (int64_t[]){1040, 1040, 3010, 1040});
    wires_set(5);
    is_as_recorded();
    /* 2 comes much later than its message. */
    changes((condition){1005, 1, -1}, 0);
    NEAR(result->nodes[3].end_s * 1e6 - result->nodes[0].end_s * 1e6, 1000);
}

Test(ranks, are_needed_by_the_root)
{
    begin(4);
    for (uint32_t i = 0; i < 4; i++)
        planted_to_root((planted_call){i, "MPI_Reduce", i == 3 ? 1000 : 100,
                                       i % 2 ? (i == 3 ? 1001 : 101) : 1040, 8},
                        0);
    profile_make();
    is_as_recorded();
    cr_expect_eq(messages_between(), 3);
    changes((condition){-1, 2, 3}, -500);
    wires_set(5);
    is_as_recorded();
    changes((condition){105, 1, -1}, 200);
}

/* --- what the standard leaves open --- */

static void finalize(int64_t first_end_us)
{
    begin(2);
    planted_alone((planted_call){0, "MPI_Finalize", 100, first_end_us, 0});
    planted_alone((planted_call){1, "MPI_Finalize", 1000, 1040, 0});
    profile_make();
    is_as_recorded();
}

Test(ranks, end_together_if_they_did)
{
    finalize(1030);
    changes((condition){-1, 2, 1}, -500);
    changes((condition){-1, 0.1, 0}, 0);
    NEAR(result->nodes[0].end_s * 1e6, (double)profile->wall_ns * 1e-3 - 10);
    cr_expect_eq(messages_between(), 2);
}

Test(ranks, end_alone_if_they_did)
{
    finalize(200);
    cr_expect_eq(messages_between(), 0);
}

/* --- processor time --- */

/* Half of all time, also in calls. */
static int64_t half(void *context, uint32_t process, uint32_t thread,
                    int64_t from_ns, int64_t to_ns)
{
    (void)context;
    (void)process;
    cr_assert_neq(thread, PATHS_NONE);
    cr_assert_leq(from_ns, to_ns);
    return (to_ns - from_ns) / 2;
}

/* 500 of the 1000 before the send, whatever was used in calls. */
Test(ranks, compute_between_their_calls_only)
{
    begin(2);
    planted_send((planted_call){0, "MPI_Send", 1000, 1010, 100}, 1);
    planted_receive((planted_call){1, "MPI_Recv", 10, 1030, 100}, 0);
    profile_make_of((measure_known_times){.cpu = half});
    is_as_recorded();
    changes((condition){-1, 0.5, 0}, 500 + profile->actors[0].start_ns * 1e-3);
}

/* Two ranks on one processor: half of the time each, for which the other one
 * waits, or sleeps. */
static int64_t sleeping_ns(measure_cpu_between *ready)
{
    int64_t ns = 0;

    profile = predict_profile_create("test");
    cr_assert_eq(predict_profile_add_place(profile, "0", 1), 0);
    cr_assert_eq(predict_profile_add_node(profile, "rank_0", 0), 0);
    cr_assert_eq(predict_profile_add_node(profile, "rank_1", 0), 1);
    begin(2);
    for (uint32_t i = 0; i < 2; i++)
        planted_alone((planted_call){i, "MPI_Wtime", 1000, 1000, 0});
    profile_make_of((measure_known_times){.cpu = half, .ready = ready});
    for (size_t i = 0; i < profile->step_count; i++)
        if (profile->steps[i].kind == PREDICT_SLEEP)
            ns += profile->steps[i].ns;
    return ns;
}

static int64_t never(void *context, uint32_t process, uint32_t thread,
                     int64_t from_ns, int64_t to_ns)
{
    (void)context;
    (void)process;
    (void)thread;
    (void)from_ns;
    (void)to_ns;
    return 0;
}

Test(ranks, leave_waiting_for_a_processor_to_the_replay)
{
    NEAR((double)sleeping_ns(half) * 1e-3, 0);
}

Test(ranks, sleep_where_they_had_lost_no_processor)
{
    NEAR((double)sleeping_ns(never) * 1e-3, 1000);
}

/* --- how they wait --- */

/* A millisecond in 20: what is there to have of a processor that 19 others have
 * as well. */
static int64_t little(void *context, uint32_t process, uint32_t thread,
                      int64_t from_ns, int64_t to_ns)
{
    (void)context;
    (void)process;
    (void)thread;
    return (to_ns - from_ns) / 20;
}

static int64_t nearly_all(void *context, uint32_t process, uint32_t thread,
                          int64_t from_ns, int64_t to_ns)
{
    (void)context;
    (void)process;
    (void)thread;
    return to_ns - from_ns - (to_ns - from_ns) / 20;
}

/* Of rank 1, which waits for 100 ms, after it has been in MPI_Init. */
static uint32_t waiting_after(int64_t init_us, uint64_t yields,
                              measure_known_times times)
{
    int64_t end = init_us + 100000;

    profile = predict_profile_create("test");
    cr_assert_eq(predict_profile_add_place(profile, "0", 1), 0);
    cr_assert_eq(predict_profile_add_node(profile, "rank_0", 0), 0);
    cr_assert_eq(predict_profile_add_node(profile, "rank_1", 0), 1);
    begin(2);
    planted_alone((planted_call){1, "MPI_Init", 0, init_us, 0});
    planted_send((planted_call){0, "MPI_Send", end, end + 10, 8}, 1);
    planted_receive((planted_call){1, "MPI_Recv", init_us + 10, end + 20, 8},
                    0);
    planted_yields(1, yields);
    profile_make_of(times);
    return profile->nodes[1].waiting;
}

static uint32_t waiting_of(uint64_t yields, measure_known_times times)
{
    return waiting_after(1, yields, times);
}

Test(ranks, yield_as_often_as_they_have_a_processor)
{
    measure_known_times crowded = {.cpu = little, .ready = nearly_all};

    cr_expect_eq(waiting_of(20, crowded), PREDICT_YIELDS);
}

/* They are not counted there. */
Test(ranks, yield_however_long_they_have_been_in_init)
{
    measure_known_times crowded = {.cpu = little, .ready = nearly_all};

    cr_expect_eq(waiting_after(1000000, 20, crowded), PREDICT_YIELDS);
}

Test(ranks, spin_if_they_hardly_ever_yield)
{
    measure_known_times alone = {.cpu = nearly_all, .ready = never};

    cr_expect_eq(waiting_of(20, alone), PREDICT_SPINS);
}

Test(ranks, sleep_if_they_need_no_processor)
{
    measure_known_times alone = {.cpu = little, .ready = never};

    cr_expect_eq(waiting_of(20, alone), PREDICT_SLEEPS);
}

/* --- the file --- */

Test(ranks, are_in_the_file_of_a_profile)
{
    double alone_us;

    begin(2);
    planted_send((planted_call){0, "MPI_Send", 100, 110, 100}, 1);
    planted_receive((planted_call){1, "MPI_Recv", 1000, 1005, 100}, 0);
    profile_make();
    alone_us = replay_us(as_it_was);
    check_status(predict_profile_save(profile, scratch_file("p")), 0);
    predict_profile_destroy(profile);
    profile = NULL;
    check_status(predict_profile_load(&profile, scratch_file("p")), 0);
    wires_set(50);
    NEAR(replay_us(as_it_was), alone_us);
}

/* --- damage --- */

/* There is room for 1000 of each rank. */
Test(ranks, tell_how_many_events_they_lack)
{
    begin(2);
    for (int64_t i = 1; i <= 1010; i++)
        planted_alone((planted_call){0, "MPI_Wtime", i, i, 0});
    profile_make();
    cr_expect_eq(lost, 11);
}

/* All that was started would be done in one call. */
Test(ranks, do_not_take_what_claims_to_be_of_their_threads)
{
    planted_begin(scratch_file("run"), 8);
    for (uint32_t i = 0; i < 8; i++) {
        planted_pretend(i, 0);
        planted_start((planted_call){i, "MPI_Ibarrier", 10, 11, 0});
    }
    planted_alone((planted_call){0, "MPI_Wait", 20, 30, 0});
    profile_make();
    cr_expect_eq(messages_between(), 0);
    cr_expect_eq(profile->actor_count, 1);
}

/* --- memory --- */

static int add_traces(void *nothing)
{
    (void)nothing;
    return measure_traces_add(profile, run, 0, NULL, &lost);
}

Test(ranks, are_all_there_or_their_memory_is_lacking)
{
    size_t messages;
    int err;

    joined(3, "MPI_Allreduce", "reduce");
    messages = profile->message_count;
    predict_profile_destroy(profile);
    profile = predict_profile_create("test");
    for (unsigned at = 1; memory_fails_at(at, add_traces, NULL, &err); at++) {
        cr_assert_eq(err, PASTSET_ENOMEM, "allocation %u: %s", at,
                     pastset_status_name(err));
        predict_profile_destroy(profile);
        profile = predict_profile_create("test");
    }
    check_status(err, 0);
    cr_expect_eq(profile->message_count, messages);
}
