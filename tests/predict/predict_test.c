/* predict_test.c - which models answer what, bounds of nodes that differ, what
 * costs how much, and the replay beside them. */
#include "predict/models/predict.h"
#include "tests/support/check.h"
#include "predict/models/predict_internal.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-6 * (fabs(a) + fabs(b) + 1e-6);
}

#define SECOND 1000000000LL

/* Three nodes in 10 s, n0 busy for 8, n1 for 6, n2 for 2, in phases of a tenth
 * of it. n0 and n1 exchange 100 messages of 10 kB, n1 and n2 50 of 20 kB, of
 * which each takes 1 ms + 10 ms and 1 ms + 20 ms; processors are idle then. */
static predict_profile *profile_make(void)
{
    static const int64_t busy_s[] = {8, 6, 2};
    predict_profile *p = predict_profile_create("test");
    p->wall_ns = 10 * SECOND;
    for (uint32_t i = 0; i < 3; i++) {
        char name[] = {'n', (char)('0' + i), 0};
        predict_profile_add_place(p, name + 1, 1);
        predict_profile_add_node(p, name, i);
        p->nodes[i].kernel_ns = busy_s[i] * SECOND;
        p->nodes[i].end_ns = 10 * SECOND;
        p->nodes[i].threads = 1;
        for (int64_t j = 0; j < 10; j++)
            predict_profile_add_phase(
                p, i,
                (predict_phase){j * SECOND, busy_s[i] * SECOND / 10,
                                (10 - busy_s[i]) * SECOND / 10});
    }
    predict_profile_add_link(p, 0, 1);
    predict_profile_add_link(p, 1, 2);
    for (int i = 0; i < 2; i++) {
        p->links[i].latency_s = 0.001;
        p->links[i].bandwidth = 1e6;
    }
    for (int64_t j = 0; j < 150; j++) {
        bool second = j % 3 == 2;
        predict_profile_add_message(
            p, (predict_message){j * 1000000, second ? 20000 : 10000,
                                 second ? 1 : 0, second ? 2 : 1});
    }
    return p;
}

static predict_profile *profile;
static predict_scenario *scenario;
static predict_answers answers;

static void begin(void)
{
    profile = profile_make();
    check_status(
        predict_scenario_create(&scenario, profile, PREDICT_SCHEDULER_CREDIT),
        0);
}

static void end(void)
{
    predict_scenario_destroy(scenario);
    predict_profile_destroy(profile);
}

TestSuite(predict, .init = begin, .fini = end, .timeout = 120);

static const predict_answer *find(const char *model, const char *scheduler)
{
    for (size_t i = 0; i < answers.count; i++) {
        if (strcmp(answers.all[i].model, model) == 0 &&
            strcmp(answers.all[i].scheduler, scheduler) == 0)
            return &answers.all[i];
    }
    cr_assert_fail("there is no answer \"%s\" by law \"%s\"", model, scheduler);
    return NULL;
}

static void ask(const char *node, const char *other, const char *link)
{
    if (node)
        check_status(predict_scenario_node(scenario, node), 0);
    if (other)
        check_status(predict_scenario_node(scenario, other), 0);
    if (link)
        check_status(predict_scenario_link(scenario, link), 0);
    check_status(predict_answer_all(&answers, scenario), 0);
    cr_assert_geq(answers.count, 1);
    cr_assert_lt(answers.best, answers.count);
}

static double term(const predict_answer *answer, const char *what,
                   const char *where)
{
    for (size_t i = 0; i < answer->term_count; i++) {
        if (strcmp(answer->terms[i].what, what) == 0 &&
            strcmp(answer->terms[i].where, where) == 0)
            return answer->terms[i].added_s;
    }
    cr_assert_fail("%s: no term \"%s\" of \"%s\"", answer->model, what, where);
    return NAN;
}

Test(predict, nothing_changed_takes_the_dedicated_time)
{
    ask(NULL, NULL, NULL);
    cr_expect_str_eq(answers.all[0].model, "dedicated");
    cr_expect_eq(answers.count, 1);
    cr_expect_eq(answers.all[0].upper_s, 10);
    cr_expect_eq(answers.dedicated_s, 10);
}

Test(predict, a_loaded_node_adds_its_own_time_to_that_of_all)
{
    ask("n0:load=1", NULL, NULL);
    cr_expect(near(find("node by phases", "credit")->upper_s, 16));
    cr_expect(near(find("node by totals", "credit")->upper_s, 16));
    cr_expect(near(find("node by sequence", "credit")->upper_s, 16));
    cr_expect_str_eq(answers.all[answers.best].model, "node by phases");
    cr_expect(
        near(term(&answers.all[answers.best], "competing processes", "n0"), 6));
}

Test(predict, a_node_that_is_mostly_idle_costs_nothing_by_credit)
{
    ask("n2:load=1", NULL, NULL);
    cr_expect_eq(find("node by phases", "credit")->upper_s, 10);
}

Test(predict, the_papers_law_is_told_too_where_the_machine_has_another)
{
    ask("n0:load=1,law=fair", NULL, NULL);
    cr_expect(near(find("node by phases", "fair")->upper_s, 18));
    cr_expect(near(find("node by totals", "fair")->upper_s, 18));
    cr_expect(near(find("node by phases", "credit")->upper_s, 16));
    cr_expect_str_eq(answers.all[answers.best].scheduler, "fair");
}

Test(predict, totals_are_left_out_for_bounded_laws)
{
    ask("n0:load=1,law=bounded:100ms", NULL, NULL);
    /* Ten phases of 0.8 s, each of which gets back 0.1 of 0.2 s. */
    cr_expect(near(find("node by phases", "bounded:100ms")->upper_s, 17));
    cr_expect(near(find("node by sequence", "bounded:100ms")->upper_s, 17));
    for (size_t i = 0; i < answers.count; i++)
        cr_expect(strcmp(answers.all[i].model, "node by totals") != 0 ||
                  strcmp(answers.all[i].scheduler, "credit") == 0);
}

Test(predict, a_slow_link_adds_what_its_messages_take_longer)
{
    ask(NULL, NULL, "n0-n1:latency=3ms,bandwidth=500kB");
    const predict_answer *link = find("link", "");
    /* 100 messages: 2 ms and 10 ms more */
    cr_expect(near(link->upper_s, 11.2));
    cr_expect(near(term(link, "latency of messages", "n0-n1"), 0.2));
    cr_expect(near(term(link, "bytes of messages", "n0-n1"), 1));
    cr_expect_str_eq(link->terms[0].what, "bytes of messages");
}

Test(predict, the_sum_message_by_message_is_the_same)
{
    uint64_t sizes[100];
    double added_s = 0;
    for (int i = 0; i < 100; i++)
        sizes[i] = 10000;
    ask(NULL, NULL, "n0-n1:latency=7ms,bandwidth=300kB");
    predict_link_added_each(&added_s, scenario->old[0], scenario->wires[0],
                            sizes, 100);
    cr_expect(near(find("link", "")->upper_s, 10 + added_s));
}

Test(predict, one_node_and_one_link_are_first_the_link_then_the_node)
{
    ask("n0:load=1", NULL, "n0-n1:latency=3ms,bandwidth=500kB");
    /* 1.2 s more, idle; then 2 * 8 is more than 11.2. */
    cr_expect(near(find("node and link", "credit")->upper_s, 16));
    profile->links[0].busy = profile->links[1].busy = 1;
    check_status(predict_answer_all(&answers, scenario), 0);
    cr_expect(near(find("node and link", "credit")->upper_s, 18.4));
}

Test(predict, several_but_not_all_nodes_have_bounds_from_the_largest)
{
    ask("n0:load=1", "n1:load=2", NULL);
    const predict_answer *all = find("all nodes", "credit");
    /* n0: 2 * 8, n1: 3 * 6. Above: n2 with 3 and 9, of 10 s. */
    cr_expect(near(all->lower_s, 18), "%f", all->lower_s);
    cr_expect(near(all->upper_s, 3 * 2 + 9 * 8), "%f", all->upper_s);
    cr_expect(near(term(all, "competing processes", "n1"), 8));
    cr_expect(near(term(all, "competing processes", "n0"), 6));
}

Test(predict, each_node_counts_with_its_own_load_where_all_are_loaded)
{
    ask("*:load=1", "n2:load=3", NULL);
    const predict_answer *all = find("all nodes", "credit");
    /* n2 with 4 * 2 + 16 * 8 is the largest above, n0 with 16 below. */
    cr_expect(near(all->lower_s, 16));
    cr_expect(near(all->upper_s, 8 + 128));
}

Test(predict, the_lower_bound_of_all_nodes_is_higher_by_the_fair_law)
{
    ask("*:load=1,law=fair", NULL, NULL);
    cr_expect(near(find("all nodes", "fair")->lower_s, 18));
    cr_expect(near(find("all nodes", "credit")->lower_s, 16));
    cr_expect_eq(find("all nodes", "fair")->upper_s,
                 find("all nodes", "credit")->upper_s);
}

Test(predict, all_links_take_the_largest_r_of_any_node)
{
    ask(NULL, NULL, "*:bandwidth=500kB");
    const predict_answer *all = find("all links", "");
    double r0 = 2.1 / 1.1, r1 = 4.15 / 2.15, r2 = 2.05 / 1.05;
    /* comm: n0 1.1 s, n1 2.15 s, n2 1.05 s; comp 8, 6, 2 */
    double lower = fmax(10 + (r0 - 1) * 1.1,
                        fmax(10 + (r1 - 1) * 2.15, 10 + (r2 - 1) * 1.05));
    cr_expect(near(all->lower_s, lower), "%f, not %f", all->lower_s, lower);
    cr_expect(near(all->upper_s, 2 + r2 * 8), "%f", all->upper_s);
    cr_expect(r2 > r0 && r2 > r1);
}

Test(predict, nodes_and_links_at_once_are_bounds_of_both)
{
    ask("*:load=1", NULL, "*:bandwidth=500kB");
    const predict_answer *both = find("nodes and links", "credit");
    double r2 = 2.05 / 1.05;
    cr_expect(near(both->lower_s, 16));
    cr_expect(near(both->upper_s, 2 * 2 + 4 * r2 * 8), "%f", both->upper_s);
}

Test(predict, a_link_that_was_not_measured_is_refused)
{
    profile->links[1].latency_s = profile->links[1].bandwidth = NAN;
    predict_scenario_destroy(scenario);
    check_status(
        predict_scenario_create(&scenario, profile, PREDICT_SCHEDULER_FAIR), 0);
    check_status(
        predict_scenario_link(scenario, "n1-n2:latency=1ms,bandwidth=1mbit"),
        0);
    check_status(predict_answer_all(&answers, scenario), PASTSET_EINVAL);
    check_error("n1-n2");
    check_error("netbench");
    check_error("--profiled-link=latency=150us,bandwidth=100mbit");
}

/* By all that answer, the fast one too. */
Test(predict, a_link_that_can_be_none_is_refused)
{
    static const predict_wire none[] = {
        {0.001, 0}, {-0.001, 1e6}, {NAN, 1e6}, {0.001, INFINITY}};
    predict_facts *facts;
    predict_bounds fast;

    check_status(predict_facts_create(&facts, profile), 0);
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        scenario->wires[0] = none[i];
        check_status(predict_answer_all(&answers, scenario), PASTSET_EINVAL);
        check_status(predict_answer_fast(&fast, facts, scenario),
                     PASTSET_EINVAL);
        check_error("n0-n1");
    }
    predict_facts_destroy(facts);
}

Test(predict, a_profile_of_nothing_is_refused)
{
    profile->wall_ns = 0;
    check_status(predict_answer_all(&answers, scenario), PASTSET_EINVAL);
    check_error("execution time");
}

Test(predict, numbers_that_make_no_sense_are_refused)
{
    scenario->loads[1] = -1;
    check_status(predict_answer_all(&answers, scenario), PASTSET_EINVAL);
    check_error("n1");
    scenario->loads[1] = 0;
    scenario->speeds[2] = 0;
    check_status(predict_answer_all(&answers, scenario), PASTSET_EINVAL);
    check_error("n2");
}

/* n0 sends to n1 and n1 to n0, each after it has received. */
Test(predict, actors_that_wait_for_each_other_are_refused)
{
    for (uint32_t i = 0; i < 2; i++) {
        int64_t own = predict_profile_add_message(
            profile, (predict_message){SECOND, 8, i, !i});
        predict_profile_add_actor(profile, i, 0);
        predict_profile_add_step(
            profile, (predict_step){PREDICT_COMPUTE, PREDICT_NONE, SECOND});
        predict_profile_add_step(
            profile, (predict_step){PREDICT_RECEIVE,
                                    (uint32_t)(i ? own - 1 : own + 1), 0});
        predict_profile_add_step(
            profile, (predict_step){PREDICT_SEND, (uint32_t)own, 0});
    }
    predict_profile_add_actor(profile, 2, 0);
    predict_profile_add_step(
        profile, (predict_step){PREDICT_COMPUTE, PREDICT_NONE, SECOND});
    check_status(predict_scenario_node(scenario, "n2:load=1"), 0);
    check_status(predict_answer_all(&answers, scenario), PASTSET_EINVAL);
    check_error("2 of the 3 actors");
}

Test(predict, a_slower_processor_computes_longer)
{
    ask("n0:speed=0.5", NULL, NULL);
    cr_expect(near(answers.all[answers.best].upper_s, 18));
    ask("n0:speed=2", NULL, NULL);
    cr_expect(near(answers.all[answers.best].upper_s, 6));
}

Test(predict, a_load_beside_a_spare_processor_costs_nothing)
{
    scenario->processors[scenario->places[0]] = 2;
    ask("n0:load=1", NULL, NULL);
    cr_expect_str_eq(answers.all[answers.best].model, "dedicated");
    ask("n0:load=3", NULL, NULL); /* as one competitor of one processor */
    cr_expect(near(find("node by phases", "credit")->upper_s, 16));
}

Test(predict, nodes_that_are_put_on_one_processor_compete)
{
    scenario->places[1] = scenario->places[0];
    ask(NULL, NULL, NULL);
    cr_expect_gt(answers.all[answers.best].upper_s, 10);
}

/* --- beside each other --- */

static double some(double max)
{
    return max * rand() / RAND_MAX;
}

Test(predict, bounds_are_in_order_and_the_fast_answer_is_the_best_one)
{
    predict_facts *facts;
    check_status(predict_facts_create(&facts, profile), 0);
    for (int i = 0; i < 3000; i++) {
        predict_bounds fast = {-1, -1};
        for (int j = 0; j < 3; j++) {
            scenario->loads[j] = rand() % 2 ? 0 : some(3);
            scenario->speeds[j] = rand() % 4 ? 1 : 0.25 + some(2);
            scenario->schedulers[j].credit_s = rand() % 2 ? 0 : some(0.5);
        }
        for (int j = 0; j < 2; j++) {
            scenario->wires[j] = scenario->old[j];
            if (rand() % 2)
                scenario->wires[j] =
                    (predict_wire){some(0.01), 1e4 + some(1e7)};
        }
        check_status(predict_answer_all(&answers, scenario), 0);
        for (size_t j = 0; j < answers.count; j++)
            cr_assert(answers.all[j].lower_s <= answers.all[j].upper_s &&
                          answers.all[j].lower_s > 0,
                      "%s: %g to %g", answers.all[j].model,
                      answers.all[j].lower_s, answers.all[j].upper_s);
        check_status(predict_answer_fast(&fast, facts, scenario), 0);
        cr_assert_eq(fast.lower_s, answers.all[answers.best].lower_s);
        cr_assert_eq(fast.upper_s, answers.all[answers.best].upper_s);
    }
    predict_facts_destroy(facts);
}

Test(predict, terms_of_predictions_add_up_to_them)
{
    static const char *const links[] = {
        NULL, "n0-n1:latency=5ms,bandwidth=200kB", "*:bandwidth=200kB"};
    static const char *const nodes[] = {NULL, "n0:load=1", "*:load=2"};
    for (int i = 0; i < 9; i++) {
        predict_scenario_destroy(scenario);
        predict_scenario_create(&scenario, profile, PREDICT_SCHEDULER_FAIR);
        ask(nodes[i % 3], NULL, links[i / 3]);
        for (size_t j = 0; j < answers.count; j++) {
            const predict_answer *a = &answers.all[j];
            double sum = answers.dedicated_s;
            for (size_t k = 0; k < a->term_count; k++)
                sum += a->terms[k].added_s;
            cr_expect(near(sum, a->upper_s), "%s: %g, not %g", a->model, sum,
                      a->upper_s);
        }
    }
}

/* --- the replay --- */

/* n0 computes for 80 ms and sends 10 kB to n1, which computes for 60 ms and
 * answers; a hundred times. In all a hundred times 80 + 11 + 60 + 11 ms. */
static predict_profile *rounds_make(void)
{
    predict_profile *p = profile_make();
    predict_profile *q = predict_profile_create("rounds");
    q->wall_ns = 100 * 162000000LL;
    for (uint32_t i = 0; i < 2; i++) {
        predict_profile_add_place(q, i ? "1" : "0", 1);
        predict_profile_add_node(q, i ? "n1" : "n0", i);
        q->nodes[i].kernel_ns = 100 * (i ? 60000000LL : 80000000LL);
        q->nodes[i].threads = 1;
    }
    predict_profile_add_link(q, 0, 1);
    q->links[0] = p->links[0];
    predict_profile_destroy(p);
    for (int64_t j = 0; j < 200; j++)
        predict_profile_add_message(
            q, (predict_message){j / 2 * 162000000 +
                                     (j % 2 ? 151000000 : 80000000),
                                 10000, j % 2, !(j % 2)});
    for (uint32_t i = 0; i < 2; i++) {
        predict_profile_add_actor(q, i, 0);
        for (uint32_t j = 0; j < 100; j++) {
            predict_step out = {PREDICT_SEND, 2 * j + i, 0};
            predict_step in = {PREDICT_RECEIVE, 2 * j + !i, 0};
            if (i)
                predict_profile_add_step(q, in);
            predict_profile_add_step(
                q, (predict_step){PREDICT_COMPUTE, PREDICT_NONE,
                                  i ? 60000000 : 80000000});
            predict_profile_add_step(q, out);
            if (!i)
                predict_profile_add_step(q, in);
        }
    }
    return q;
}

Test(predict, the_replay_is_the_answer_where_there_are_actors)
{
    predict_profile *rounds = rounds_make();
    predict_scenario *asked;
    const predict_answer *best = &answers.all[0];
    check_status(predict_profile_check(rounds), 0);
    check_status(
        predict_scenario_create(&asked, rounds, PREDICT_SCHEDULER_FAIR), 0);
    check_status(predict_scenario_node(asked, "n0:load=1"), 0);
    check_status(
        predict_scenario_link(asked, "n0-n1:latency=3ms,bandwidth=500kB"), 0);
    check_status(predict_answer_all(&answers, asked), 0);
    best = &answers.all[answers.best];
    cr_assert_str_eq(best->model, "replay");
    /* Each round: 80 ms more for n0, and 12 ms more for each message. */
    cr_expect(near(best->upper_s, 16.2 + 8 + 2.4), "%f", best->upper_s);
    cr_expect(near(term(best, "competing processes", "n0"), 8));
    cr_expect(near(term(best, "link", "n0-n1"), 2.4));
    cr_expect_eq(best->term_count, 2);
    predict_scenario_destroy(asked);
    predict_profile_destroy(rounds);
}

Test(predict, what_the_replay_adds_is_added_to_the_measured_time)
{
    predict_profile *rounds = rounds_make();
    predict_scenario *asked;
    rounds->wall_ns *= 2; /* of which the actors know half */
    check_status(
        predict_scenario_create(&asked, rounds, PREDICT_SCHEDULER_FAIR), 0);
    check_status(predict_scenario_node(asked, "n1:load=1"), 0);
    check_status(predict_answer_all(&answers, asked), 0);
    cr_expect(near(answers.all[answers.best].upper_s, 2 * 16.2 + 6));
    predict_scenario_destroy(asked);
    check_status(
        predict_scenario_create(&asked, rounds, PREDICT_SCHEDULER_FAIR), 0);
    check_status(predict_scenario_node(asked, "*:speed=2"), 0);
    check_status(predict_answer_all(&answers, asked), 0);
    cr_expect(answers.all[answers.best].upper_s > 0);
    cr_expect(answers.all[answers.best].upper_s < 2 * 16.2);
    predict_scenario_destroy(asked);
    predict_profile_destroy(rounds);
}
