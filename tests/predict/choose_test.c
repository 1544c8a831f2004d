/* choose_test.c - choosing machines: what is chosen is what trying everything
 * would find. */
#include "predict/choose/choose.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "predict/choose/choose_internal.h"
#include "predict/cluster/cluster_internal.h"
#include "predict/models/predict.h"
#include "tests/predict/ring.h"
#include "tests/support/check.h"

static predict_cluster *read_text(const char *text)
{
    predict_cluster *cluster;

    check_status(
        predict__cluster_parse(&cluster, text, strlen(text), "now.dot"), 0);
    return cluster;
}

static unsigned random_next(unsigned *state, unsigned below)
{
    *state = *state * 1103515245u + 12345u;
    return (*state >> 16) % below;
}

/* Machines with loads, scheduler models and speeds, a link between each two,
 * and, if `shared`, two places. */
static predict_cluster *random_cluster(unsigned seed, unsigned machines,
                                       bool shared)
{
    char *text = NULL;
    size_t bytes;
    FILE *file = open_memstream(&text, &bytes);
    unsigned state = seed;
    predict_cluster *cluster;

    fprintf(file, "digraph {\n");
    for (unsigned i = 0; i < machines; i++) {
        fprintf(file, "h%u [load=%g, law=%s, speed=%g", i,
                random_next(&state, 5) / 2.0,
                random_next(&state, 2) ? "fair" : "credit",
                0.5 + random_next(&state, 4) / 4.0);
        fprintf(file, shared ? ", place=p%u];\n" : "];\n", i % 2);
    }
    for (unsigned i = 0; i < machines; i++) {
        for (unsigned j = 0; j < machines; j++) {
            if (i != j)
                fprintf(file,
                        "h%u -> h%u [latency=\"%uus\", bandwidth=\"%umbit\"];"
                        "\n",
                        i, j, 50 + random_next(&state, 1000),
                        1 + random_next(&state, 100));
        }
    }
    fprintf(file, "}\n");
    fclose(file);
    cluster = read_text(text);
    free(text);
    return cluster;
}

static const ring small = {.nodes = 3,
                           .rounds = 20,
                           .busy_ns = {3000000, 1000000, 500000},
                           .bytes = {20000, 1000, 5000}};

static predict_profile *small_profile(bool actors)
{
    ring r = small;

    r.actors = actors;
    return ring_profile(&r);
}

/* --- against trying everything --- */

typedef struct tried {
    double best_s, worst_s;
    uint32_t best[3];
    unsigned count;
} tried;

static double replayed(const predict_scenario *s)
{
    predict_replay *r;
    double seconds;

    check_status(predict_replay_run(&r, s), 0);
    seconds = r->wall_s;
    predict_replay_destroy(r);
    return seconds;
}

/* What a replay takes longer is added; if it is shorter, in proportion. */
static double added(double wall_s, double replay_s, double dedicated_s)
{
    return replay_s > dedicated_s ? wall_s + replay_s - dedicated_s
                                  : wall_s / dedicated_s * replay_s;
}

static double time_of(const predict_scenario *s, double dedicated_s)
{
    predict_answers a;

    if (s->profile->actor_count)
        return added((double)s->profile->wall_ns / 1e9, replayed(s),
                     dedicated_s);
    check_status(predict_answer_all(&a, s), 0);
    return a.all[a.best].upper_s;
}

static tried try_all(const predict_profile *p, const predict_cluster *c)
{
    tried t = {INFINITY, 0, {0}, 0};
    predict_scenario *s;
    double dedicated_s = 0;

    check_status(predict_scenario_create(&s, p, PREDICT_SCHEDULER_FAIR), 0);
    if (p->actor_count)
        dedicated_s = replayed(s);
    predict_scenario_destroy(s);
    for (uint32_t i = 0;
         i < c->machine_count * c->machine_count * c->machine_count; i++) {
        uint32_t h[3] = {i % c->machine_count,
                         i / c->machine_count % c->machine_count,
                         i / c->machine_count / c->machine_count};
        double seconds;
        if (h[0] == h[1] || h[0] == h[2] || h[1] == h[2])
            continue;
        check_status(predict_placement_scenario(&s, p, c, h), 0);
        seconds = time_of(s, dedicated_s);
        predict_scenario_destroy(s);
        t.count++;
        t.worst_s = fmax(t.worst_s, seconds);
        if (seconds < t.best_s) {
            t.best_s = seconds;
            memcpy(t.best, h, sizeof(h));
        }
    }
    return t;
}

static void check_best(bool actors, bool shared, const char *model)
{
    predict_profile *p = small_profile(actors);
    predict_choose_options all = {.max = 1000};
    unsigned different = 0;

    for (unsigned seed = 1; seed <= 10; seed++) {
        predict_cluster *c = random_cluster(seed, 5, shared);
        tried want = try_all(p, c);
        predict_choice *got;
        check_status(predict_choose(&got, p, c, &all), 0);
        cr_assert_str_eq(got->model, model);
        cr_assert_str_eq(got->how, "all 60 placements were tried");
        cr_assert_eq(got->tried, want.count);
        cr_assert_eq(got->all, 60);
        cr_assert_float_eq(got->placements[0].time_s, want.best_s, 1e-9);
        cr_assert_float_eq(got->worst_s, want.worst_s, 1e-9);
        cr_assert_arr_eq(got->placements[0].machines, want.best,
                         sizeof(want.best));
        different += want.worst_s > 1.5 * want.best_s;
        predict_choice_destroy(got);
        predict_cluster_destroy(c);
    }
    cr_assert_gt(different, 5, "the clusters leave nothing to choose");
    predict_profile_destroy(p);
}

Test(choose, finds_by_replay_what_trying_everything_finds, .timeout = 300)
{
    check_best(true, false, "replay");
}

Test(choose, finds_it_where_machines_share_processors, .timeout = 300)
{
    check_best(true, true, "replay");
}

Test(choose, finds_by_bounds_what_trying_everything_finds, .timeout = 300)
{
    check_best(false, false, "bounds");
}

Test(choose, gives_different_placements_best_first, .timeout = 120)
{
    predict_profile *p = small_profile(true);
    predict_cluster *c = random_cluster(7, 5, false);
    predict_choose_options options = {.max = 1000, .keep = 25};
    predict_choice *got;

    check_status(predict_choose(&got, p, c, &options), 0);
    cr_assert_eq(got->count, 25);
    for (uint32_t i = 1; i < got->count; i++) {
        const predict_placement *a = &got->placements[i - 1];
        const predict_placement *b = &got->placements[i];
        cr_assert_leq(a->time_s, b->time_s);
        cr_assert(memcmp(a->machines, b->machines, 3 * sizeof(uint32_t)) != 0);
        cr_assert_leq(b->lower_s, b->upper_s);
    }
    predict_choice_destroy(got);
    predict_cluster_destroy(c);
    predict_profile_destroy(p);
}

/* --- search --- */

Test(choose, a_search_finds_the_best_of_all_estimates, .timeout = 300)
{
    predict_profile *p = small_profile(false);

    for (unsigned seed = 1; seed <= 20; seed++) {
        predict_cluster *c = random_cluster(seed, 9, seed % 2);
        predict__rater rater;
        predict__pool all, found;
        predict__search s = {.rater = &rater, .pool = &all, .seed = seed};
        check_status(predict__rater_init(&rater, p, c), 0);
        check_status(predict__pool_init(&all, 3, 4), 0);
        check_status(predict__pool_init(&found, 3, 4), 0);
        check_status(predict__search_all(&s), 0);
        cr_assert_eq(s.estimated, 9 * 8 * 7);
        s.pool = &found;
        s.until_s = predict__now() + 200;
        check_status(predict__search_run(&s), 0);
        cr_assert_float_eq(found.items[0].time_s, all.items[0].time_s, 1e-12);
        predict__pool_fini(&all);
        predict__pool_fini(&found);
        predict__rater_fini(&rater);
        predict_cluster_destroy(c);
    }
    predict_profile_destroy(p);
}

Test(choose, rating_the_best_estimates_finds_what_rating_all_finds,
     .timeout = 300)
{
    predict_profile *p = small_profile(true);

    for (unsigned seed = 1; seed <= 10; seed++) {
        predict_cluster *c = random_cluster(seed, 12, seed % 2);
        predict_choose_options options = {.max = 2000, .seconds_s = 200};
        predict_choice *all, *some;
        check_status(predict_choose(&all, p, c, &options), 0);
        options.max = 1;
        check_status(predict_choose(&some, p, c, &options), 0);
        cr_assert_eq(all->tried, 12 * 11 * 10);
        cr_assert_lt(some->tried, 600);
        cr_assert_float_eq(some->placements[0].time_s,
                           all->placements[0].time_s, 1e-9);
        predict_choice_destroy(all);
        predict_choice_destroy(some);
        predict_cluster_destroy(c);
    }
    predict_profile_destroy(p);
}

/* 500 machines at 20 switches, which are slowly connected, all loaded, but for
 * four: three of them at one switch, and one at the next. */
static predict_cluster *planted(void)
{
    char *text = NULL;
    size_t bytes;
    FILE *file = open_memstream(&text, &bytes);
    unsigned state = 5;
    predict_cluster *cluster;

    fprintf(file, "digraph {\n");
    for (unsigned i = 0; i < 20; i++)
        fprintf(file,
                "x%u [kind=switch]; x%u -> top [latency=\"300us\","
                " bandwidth=\"20mbit\"];\n",
                i, i);
    fprintf(file, "top [kind=switch];\n");
    for (unsigned i = 0; i < 500; i++) {
        bool idle = i == 260 || i == 267 || i == 271 || i == 280;
        fprintf(file,
                "h%u [load=%g]; h%u -> x%u [latency=\"50us\","
                " bandwidth=\"100mbit\"];\n",
                i, idle ? 0 : 0.5 + random_next(&state, 6) / 2.0, i, i / 25);
    }
    fprintf(file, "}\n");
    fclose(file);
    cluster = read_text(text);
    free(text);
    return cluster;
}

static void check_planted(bool actors)
{
    static const char *const want[] = {"h260", "h267", "h271"};
    ring r = {.nodes = 3, /* whose nodes all matter */
              .rounds = 20,
              .busy_ns = {3000000, 3000000, 3000000},
              .bytes = {20000, 20000, 20000},
              .actors = actors};
    predict_profile *p = ring_profile(&r);
    predict_cluster *c = planted();
    predict_choose_options options = {.seconds_s = 200};
    predict_choice *got;
    unsigned there = 0;

    check_status(predict_choose(&got, p, c, &options), 0);
    cr_assert_float_eq(got->all, 500.0 * 499 * 498, 1);
    check_says(got->how, "greedy placing and local search");
    for (unsigned i = 0; i < 3; i++) {
        const char *name = c->machines[got->placements[0].machines[i]].name;
        for (unsigned j = 0; j < 3; j++)
            there += strcmp(name, want[j]) == 0;
    }
    cr_assert_eq(there, 3, "%s, %s, %s",
                 c->machines[got->placements[0].machines[0]].name,
                 c->machines[got->placements[0].machines[1]].name,
                 c->machines[got->placements[0].machines[2]].name);
    predict_choice_destroy(got);
    predict_cluster_destroy(c);
    predict_profile_destroy(p);
}

Test(choose, finds_the_idle_machines_among_500_by_replay, .timeout = 600)
{
    check_planted(true);
}

Test(choose, finds_the_idle_machines_among_500_by_bounds, .timeout = 600)
{
    check_planted(false);
}

/* --- scenarios --- */

Test(choose, the_load_of_a_place_is_that_of_all_its_machines, .timeout = 120)
{
    predict_profile *p = small_profile(false);
    predict_cluster *c =
        read_text("digraph { a [place=m, load=1]; b [place=m, processors=2]; c;"
                  " d [load=3, place=m];"
                  " a -> b [latency=\"1us\", bandwidth=\"1mbit\"];"
                  " a -> c [latency=\"1us\", bandwidth=\"1mbit\"];"
                  " b -> c [latency=\"1us\", bandwidth=\"1mbit\"]; }");
    predict_scenario *s;

    check_status(predict_placement_scenario(&s, p, c, (uint32_t[]){0, 2, 1}),
                 0);
    cr_assert_eq(s->places[0], s->places[2]);
    cr_assert_neq(s->places[0], s->places[1]);
    cr_assert_float_eq(s->loads[0] + s->loads[2], 3, 1e-12);
    cr_assert_eq(s->loads[1], 0);
    cr_assert_eq(s->processors[s->places[0]], 2);
    cr_assert_eq(s->processors[s->places[1]], 1);
    predict_scenario_destroy(s);
    predict_cluster_destroy(c);
    predict_profile_destroy(p);
}

Test(choose, a_link_with_two_rates_takes_as_long_as_its_messages_would,
     .timeout = 120)
{
    ring r = {.nodes = 2,
              .rounds = 10,
              .busy_ns = {1000000, 1000000},
              .bytes = {9000, 1000}};
    predict_profile *p = ring_profile(&r);
    predict_cluster *c =
        read_text("digraph { a -> b [latency=\"2ms\", bandwidth=\"80kbit\"];"
                  " b -> a [latency=\"4ms\", bandwidth=\"8kbit\"]; }");
    double want = 10 * (2e-3 + 9000 / 1e4) + 10 * (4e-3 + 1000 / 1e3);
    double got = 0;
    predict_scenario *s;

    check_status(predict_placement_scenario(&s, p, c, (uint32_t[]){0, 1}), 0);
    for (size_t i = 0; i < p->message_count; i++)
        got += s->wires[0].latency_s +
               (double)p->messages[i].bytes / s->wires[0].bandwidth;
    cr_assert_float_eq(got, want, 1e-9, "%g, not %g", got, want);
    cr_assert_float_eq(s->old[0].bandwidth, 12.5e6, 1e-6);
    predict_scenario_destroy(s);
    predict_cluster_destroy(c);
    predict_profile_destroy(p);
}

Test(choose, a_scenario_needs_machines_that_are_there_and_connected,
     .timeout = 120)
{
    predict_profile *p = small_profile(false);
    predict_cluster *c = read_text("digraph { a; b; c; }");
    predict_scenario *s;

    check_status(predict_placement_scenario(&s, p, c, (uint32_t[]){0, 1, 3}),
                 PASTSET_EINVAL);
    check_error("node n2");
    check_status(predict_placement_scenario(&s, p, c, (uint32_t[]){0, 1, 0}),
                 PASTSET_EINVAL);
    check_error("nodes n0 and n2 are both placed on machine a");
    check_status(predict_placement_scenario(&s, p, c, (uint32_t[]){0, 1, 2}),
                 PASTSET_ENOENT);
    check_error("no route between machines a and b");
    cr_assert_null(s);
    predict_cluster_destroy(c);
    predict_profile_destroy(p);
}

/* --- what is refused --- */

Test(choose, needs_a_machine_for_each_node, .timeout = 120)
{
    predict_profile *p = small_profile(true);
    predict_cluster *c = random_cluster(1, 2, false);
    predict_choice *got;

    check_status(predict_choose(&got, p, c, NULL), PASTSET_EINVAL);
    check_error("has 3 nodes, but the cluster has only 2 machines");
    predict_cluster_destroy(c);
    predict_profile_destroy(p);
}

Test(choose, needs_ways_between_machines, .timeout = 120)
{
    predict_profile *p = small_profile(true);
    predict_cluster *c = read_text("digraph { a; b; c; d; }");
    predict_choice *got;

    check_status(predict_choose(&got, p, c, NULL), PASTSET_ENOENT);
    check_error("found no placement");
    predict_cluster_destroy(c);
    predict_profile_destroy(p);
}

Test(choose, leaves_machines_out_that_cannot_be_reached, .timeout = 120)
{
    predict_profile *p = small_profile(true);
    predict_cluster *c =
        read_text("digraph { alone; a [load=9]; b [load=9]; c [load=9]; lonely;"
                  " x [kind=switch];"
                  " a -> x [latency=\"1us\", bandwidth=\"1mbit\"];"
                  " b -> x [latency=\"1us\", bandwidth=\"1mbit\"];"
                  " c -> x [latency=\"1us\", bandwidth=\"1mbit\"]; }");
    predict_choice *got;

    check_status(predict_choose(&got, p, c, NULL), 0);
    cr_assert_eq(got->tried, 6, "3 machines have 6 orders");
    for (uint32_t i = 0; i < 3; i++)
        cr_assert(got->placements[0].machines[i] >= 1 &&
                  got->placements[0].machines[i] <= 3);
    predict_choice_destroy(got);
    predict_cluster_destroy(c);
    predict_profile_destroy(p);
}

Test(choose, needs_to_know_what_links_were, .timeout = 120)
{
    predict_profile *p = small_profile(true);
    predict_cluster *c = random_cluster(1, 4, false);
    predict_choice *got;

    p->links[1].bandwidth = NAN;
    check_status(predict_choose(&got, p, c, NULL), PASTSET_EINVAL);
    check_error("link n0-n2");
    predict_cluster_destroy(c);
    predict_profile_destroy(p);
}

/* --- telling how far it is --- */

static void count_progress(void *context, uint64_t done, uint64_t all)
{
    unsigned *calls = context;

    cr_assert_leq(done, all);
    cr_assert_eq(done, ++*calls);
}

Test(choose, tells_how_far_it_is, .timeout = 120)
{
    predict_profile *p = small_profile(true);
    predict_cluster *c = random_cluster(1, 5, false);
    unsigned calls = 0;
    predict_choose_options options = {
        .max = 60, .progress = count_progress, .context = &calls};
    predict_choice *got;

    check_status(predict_choose(&got, p, c, &options), 0);
    cr_assert_eq(calls, 60);
    predict_choice_destroy(got);
    options.max = 1;
    calls = 0;
    check_status(predict_choose(&got, p, c, &options), 0);
    cr_assert_eq(calls, 60);
    check_says(got->how, "all 60 placements were estimated");
    predict_choice_destroy(got);
    predict_cluster_destroy(c);
    predict_profile_destroy(p);
}

/* --- work that is divided, and what is not certain --- */

static predict_machine machine_with(double load, double speed, uint32_t place)
{
    static char name[] = "m";

    return (predict_machine){.name = name,
                             .load = load,
                             .split_load = load,
                             .speed = speed,
                             .scheduler = PREDICT_SCHEDULER_DEFAULT,
                             .place = place};
}

/* Two machines, each its own place. */
static predict_cluster pair_of(predict_machine *machines, uint32_t *processors)
{
    return (predict_cluster){.machines = machines,
                             .machine_count = 2,
                             .processors = processors,
                             .place_count = 2};
}

/* Paper 002, table 1: units of work take 12 s on both machines, +- 5 % on A and
 * +- 30 % on B, which alone take 10 and 5 s. */
Test(choose, work_is_divided_as_table_1_says)
{
    predict_machine machines[] = {machine_with(0.2, 1, 0),
                                  machine_with(1.4, 2, 1)};
    uint32_t processors[] = {1, 1}, where[] = {0, 1}, threads[] = {1, 1};
    predict_node nodes[2] = {{.name = NULL}};
    predict_profile p = {.nodes = nodes, .node_count = 2};
    predict_cluster c = pair_of(machines, processors);
    double factors[2];

    predict_split(factors, &p, &c, where, threads);
    cr_assert_float_eq(factors[0], 1, 1e-9);
    cr_assert_float_eq(factors[1], 1, 1e-9);
    machines[0].split_load = 0.26; /* 12.6 s */
    machines[1].split_load = 2.12; /* 15.6 s */
    predict_split(factors, &p, &c, where, threads);
    cr_assert_float_eq(factors[0] / factors[1], 15.6 / 12.6, 1e-9);
    cr_assert_float_eq(factors[0] + factors[1], 2, 1e-9);
    machines[0].split_load = 0.14; /* 11.4 s */
    machines[1].split_load = 0.68; /* 8.4 s */
    predict_split(factors, &p, &c, where, threads);
    cr_assert_float_eq(factors[1] / factors[0], 11.4 / 8.4, 1e-9);
}

/* Whoever waits for others all the time has as much as they. */
Test(choose, fine_grained_work_is_divided_by_speeds)
{
    predict_phase phase = {.busy_ns = 1000000, .idle_ns = 1000000};
    predict_node nodes[2] = {{.phases = &phase, .phase_count = 1},
                             {.phases = &phase, .phase_count = 1}};
    predict_profile p = {.nodes = nodes, .node_count = 2, .wall_ns = 2000000};
    predict_machine machines[] = {machine_with(3, 1, 0), machine_with(0, 2, 1)};
    uint32_t processors[] = {1, 1}, where[] = {0, 1}, threads[] = {1, 1};
    predict_cluster c = pair_of(machines, processors);
    double factors[2];

    cr_assert(predict_is_fine_grained(&p));
    predict_split(factors, &p, &c, where, threads);
    cr_assert_float_eq(factors[1] / factors[0], 2, 1e-9);
    phase.busy_ns = 2000000;
    cr_assert_not(predict_is_fine_grained(&p));
    predict_split(factors, &p, &c, where, threads);
    cr_assert_float_eq(factors[1] / factors[0], 8, 1e-9);
}

/* Threads of one machine share what it gives; one with processors enough gives
 * each a whole one. */
Test(choose, threads_share_what_a_machine_gives)
{
    predict_machine machines[] = {machine_with(1, 1, 0), machine_with(1, 1, 1)};
    uint32_t processors[] = {1, 4}, where[] = {1, 0}, threads[] = {3, 1};
    predict_node nodes[2] = {{.name = NULL}};
    predict_profile p = {.nodes = nodes, .node_count = 2};
    predict_cluster c = pair_of(machines, processors);
    double factors[2];

    predict_split(factors, &p, &c, where, threads);
    cr_assert_float_eq(factors[0] / factors[1], 2, 1e-9);
    cr_assert_float_eq(3 * factors[0] + factors[1], 4, 1e-9);
}

typedef struct unsure_loads {
    uint32_t first; /* machines 0 ... first - 1 are not certain */
} unsure_loads;

static void loads_set(predict_cluster *cluster, const double *values,
                      void *context)
{
    const unsure_loads *u = context;

    for (uint32_t i = 0; i < u->first; i++)
        cluster->machines[i].load = values[i];
}

static bool load_matters(size_t i, const uint32_t *machines, uint32_t nodes,
                         void *context)
{
    (void)context;
    for (uint32_t n = 0; n < nodes; n++)
        if (machines[n] == i)
            return true;
    return false;
}

/* All placements, each rated by hand at both ends of each load. */
static double upper_of(const predict_profile *p, predict_cluster *c,
                       const predict_varied *varied, const uint32_t *where,
                       double dedicated_s)
{
    double middle, squares = 0, curve = 0;
    predict_scenario *s;

    check_status(predict_placement_scenario(&s, p, c, where), 0);
    middle = time_of(s, dedicated_s);
    predict_scenario_destroy(s);
    for (uint32_t n = 0; n < 3; n++) {
        double mean = c->machines[where[n]].load, ends[2];
        for (int end = 0; end < 2; end++) {
            double off = varied[where[n]].value.range * (end ? 1 : -1);
            c->machines[where[n]].load = fmax(0, mean + off);
            check_status(predict_placement_scenario(&s, p, c, where), 0);
            ends[end] = time_of(s, dedicated_s);
            predict_scenario_destroy(s);
        }
        c->machines[where[n]].load = mean;
        squares += (pow(ends[0] - middle, 2) + pow(ends[1] - middle, 2)) / 2;
        curve += (ends[0] + ends[1] - 2 * middle) / 8;
    }
    return middle + curve + sqrt(squares);
}

Test(choose, the_safe_placement_is_the_one_that_trying_everything_finds,
     .timeout = 300)
{
    predict_profile *p = small_profile(true);

    for (unsigned seed = 1; seed <= 5; seed++) {
        predict_cluster *c = random_cluster(seed, 5, false);
        predict_varied varied[5];
        unsure_loads context = {5};
        predict_unsure unsure = {.varied = varied,
                                 .count = 5,
                                 .set = loads_set,
                                 .matters = load_matters,
                                 .context = &context,
                                 .risk = 1};
        predict_choose_options all = {.max = 1000, .keep = 3};
        double dedicated_s, best = INFINITY;
        predict_scenario *s;
        predict_choice *got;
        for (uint32_t i = 0; i < 5; i++)
            varied[i] = (predict_varied){
                .value = {c->machines[i].load, 0.2 + 0.5 * ((seed + i) % 3)},
                .most = 100,
                .is_cost = true,
                .group = i};
        check_status(predict_choose_surely(&got, p, c, &all, &unsure), 0);
        check_status(predict_scenario_create(&s, p, PREDICT_SCHEDULER_FAIR), 0);
        dedicated_s = replayed(s);
        predict_scenario_destroy(s);
        for (uint32_t i = 0; i < 125; i++) {
            uint32_t where[3] = {i % 5, i / 5 % 5, i / 25};
            if (where[0] == where[1] || where[0] == where[2] ||
                where[1] == where[2])
                continue;
            best = fmin(best, upper_of(p, c, varied, where, dedicated_s));
        }
        cr_assert_eq(got->count, 3);
        cr_assert_float_eq(got->placements[0].risk_s, best, 1e-6 * best,
                           "%u: %g, not %g", seed, got->placements[0].risk_s,
                           best);
        cr_assert_leq(got->placements[0].risk_s, got->placements[1].risk_s);
        predict_choice_destroy(got);
        predict_cluster_destroy(c);
    }
    predict_profile_destroy(p);
}
