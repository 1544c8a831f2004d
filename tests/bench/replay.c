/* replay.c - what a replay costs: of a million messages, against one plain pass
 * over all that it reads.
 *
 * 64 threads on 8 nodes ask each other for something, 500,000 times in all:
 * three steps for the request and three for the thread that serves it, which
 * is an actor of its own. All nodes carry a load, and all links are measured,
 * so nothing is left out. */
#include <math.h>
#include <stdio.h>

#include "pastset/status.h"
#include "predict/replay/replay.h"
#include "tests/bench/bench.h"

#define NODES 8
#define THREADS 64
#define REQUESTS 500000
#define TURNS 5

static void added(int64_t status)
{
    if (status < 0)
        bench_check((int)status, "a profile for the replay");
}

static uint64_t some(uint64_t *seed, uint64_t max)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (*seed >> 33) % max;
}

static void add_step(predict_profile *p, uint32_t kind, uint32_t message,
                     uint64_t ns)
{
    added(predict_profile_add_step(p,
                                   (predict_step){kind, message, (int64_t)ns}));
}

static uint32_t add_message(predict_profile *p, uint32_t from, uint32_t to,
                            uint64_t bytes)
{
    int64_t at = (int64_t)p->message_count;

    added(
        predict_profile_add_message(p, (predict_message){at, bytes, from, to}));
    return (uint32_t)at;
}

static void add_nodes(predict_profile *p)
{
    char name[32];

    for (uint32_t i = 0; i < NODES; i++) {
        snprintf(name, sizeof(name), "%u", i);
        added(predict_profile_add_place(p, name, 1));
        added(predict_profile_add_node(p, name, i));
    }
    for (uint32_t a = 0; a < NODES; a++) {
        for (uint32_t b = a + 1; b < NODES; b++) {
            int64_t link = predict_profile_add_link(p, a, b);
            added(link);
            p->links[link].latency_s = 1e-4;
            p->links[link].bandwidth = 1e8;
        }
    }
}

/* Requests go in turns, as they would in time: message 2i is the request i,
 * 2i + 1 its reply. */
static void add_messages(predict_profile *p, uint64_t *seed)
{
    for (uint32_t i = 0; i < REQUESTS; i++) {
        uint32_t from = i % THREADS % NODES;
        uint32_t to = (from + 1 + (uint32_t)some(seed, NODES - 1)) % NODES;
        add_message(p, from, to, 48 + some(seed, 4000));
        add_message(p, to, from, 48);
    }
}

static void add_actors(predict_profile *p, uint64_t *seed)
{
    for (uint32_t thread = 0; thread < THREADS; thread++) {
        added(predict_profile_add_actor(p, thread % NODES, 0));
        for (uint32_t i = thread; i < REQUESTS; i += THREADS) {
            add_step(p, PREDICT_COMPUTE, PREDICT_NONE,
                     1000 + some(seed, 500000));
            add_step(p, PREDICT_SEND, 2 * i, 0);
            add_step(p, PREDICT_RECEIVE, 2 * i + 1, 0);
        }
    }
    for (uint32_t i = 0; i < REQUESTS; i++) {
        added(predict_profile_add_actor(p, p->messages[2 * i].to, 0));
        add_step(p, PREDICT_RECEIVE, 2 * i, 0);
        add_step(p, PREDICT_COMPUTE, PREDICT_NONE, 1000 + some(seed, 20000));
        add_step(p, PREDICT_SEND, 2 * i + 1, 0);
    }
}

static predict_profile *million(void)
{
    predict_profile *p = predict_profile_create("made");
    uint64_t seed = 1;

    if (!p)
        bench_check(PASTSET_ENOMEM, "a profile for the replay");
    add_nodes(p);
    add_messages(p, &seed);
    add_actors(p, &seed);
    bench_check(predict_profile_check(p), "the profile for the replay");
    return p;
}

static double plain_pass(const predict_profile *p)
{
    double begun = bench_now_ns();
    volatile int64_t sink;
    int64_t sum = 0;

    for (size_t i = 0; i < p->step_count; i++)
        sum += p->steps[i].ns + p->steps[i].message;
    for (size_t i = 0; i < p->message_count; i++)
        sum += (int64_t)p->messages[i].bytes + p->messages[i].to;
    for (size_t i = 0; i < p->actor_count; i++)
        sum += p->actors[i].start_ns + (int64_t)p->actors[i].step;
    sink = sum;
    (void)sink;
    return (bench_now_ns() - begun) / 1e9;
}

static double one_replay(const predict_scenario *scenario)
{
    double begun = bench_now_ns(), took;
    predict_replay *replay;

    bench_check(predict_replay_run(&replay, scenario), "a replay");
    took = (bench_now_ns() - begun) / 1e9;
    if (replay->stuck > 0)
        bench_check(PASTSET_EINVAL, "a replay got stuck");
    predict_replay_destroy(replay);
    return took;
}

static void measure(const char *name, const predict_scenario *scenario)
{
    double replays[TURNS], passes[TURNS];

    for (int i = 0; i < TURNS; i++) {
        passes[i] = plain_pass(scenario->profile);
        replays[i] = one_replay(scenario);
    }
    bench_print_beside(name, bench_median(replays, TURNS), "s",
                       bench_median(passes, TURNS),
                       "one pass over the profile");
}

/* Each law shares processors in another way; `quiet` is what all predictions
 * are compared with. */
void bench_replay(void)
{
    const struct {
        const char *name;
        predict_scheduler scheduler;
        double load;
    } cases[] = {
        {"replay.million", PREDICT_SCHEDULER_FAIR, 1},
        {"replay.million_credit", PREDICT_SCHEDULER_CREDIT, 1},
        {"replay.million_eevdf", PREDICT_SCHEDULER_EEVDF, 1},
        {"replay.million_quiet", PREDICT_SCHEDULER_EEVDF, 0},
    };
    predict_profile *profile = million();

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        predict_scenario *scenario;
        bench_check(
            predict_scenario_create(&scenario, profile, cases[i].scheduler),
            "a scenario");
        for (uint32_t n = 0; n < NODES; n++)
            scenario->loads[n] = cases[i].load;
        measure(cases[i].name, scenario);
        predict_scenario_destroy(scenario);
    }
    predict_profile_destroy(profile);
}
