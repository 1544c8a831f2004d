/* table1_test.c - golden: what the models say of paper 001's table 1, as
 * formulas of numbers and by way of a profile and a scenario. */
#include "predict/models/predict.h"
#include "tests/predict/table1.h"
#include "tests/support/check.h"

#include <math.h>

#define EACH(row)                                                              \
    for (const table1_row *row = table1; row < table1 + TABLE1_COUNT; row++)

#define expect_near(row, what, got, want, within)                              \
    cr_expect(fabs((got) - (want)) <= (within), "%s: %s is %.5f, not %.5f",    \
              (row)->name, what, (double)(got), (double)(want))

/* To the decimals that the issue and table1.h give. */
#define three(row, what, got, want) expect_near(row, what, got, want, 0.00051)
#define four(row, what, got, want) expect_near(row, what, got, want, 0.00006)

/* --- the formulas --- */

Test(table1, one_node_by_phases, .timeout = 120)
{
    EACH(row)
    {
        double factor = 0;
        check_status(predict_node_by_phases(&factor, row->busy_phase_ms / 1e3,
                                            row->idle_phase_ms / 1e3, 1,
                                            PREDICT_SCHEDULER_CREDIT),
                     0);
        three(row, "the factor", factor, row->by_phases);
    }
}

Test(table1, one_node_by_totals, .timeout = 120)
{
    EACH(row)
    {
        predict_times t = table1_times(row);
        double factor = 0;
        check_status(predict_node_by_totals(&factor, t.comp_s + t.comm_s,
                                            t.idle_s, 1,
                                            PREDICT_SCHEDULER_CREDIT),
                     0);
        three(row, "the factor", factor, row->by_totals);
    }
}

Test(table1, all_nodes, .timeout = 120)
{
    EACH(row)
    {
        predict_bounds b = {0, 0};
        check_status(predict_all_nodes(&b, table1_times(row), 1), 0);
        three(row, "the lower bound", b.lower_s / row->wall_s,
              row->nodes_lower);
        three(row, "the upper bound", b.upper_s / row->wall_s,
              row->nodes_upper);
    }
}

Test(table1, one_link, .timeout = 120)
{
    EACH(row)
    {
        double added_s = -1;
        check_status(predict_link_added(&added_s, TABLE1_OLD, TABLE1_NEW,
                                        row->kbytes * 1000, row->messages),
                     0);
        three(row, "what is added", added_s, row->added_s);
        four(row, "the factor", 1 + added_s / row->wall_s, row->link);
    }
}

static double ratio(const table1_row *row)
{
    uint64_t size = (uint64_t)llround(row->kbytes * 1000);
    double r = 0;
    check_status(predict_comm_ratio(&r, &TABLE1_OLD, &TABLE1_NEW, &size,
                                    row->messages > 0),
                 0);
    return r;
}

Test(table1, all_links, .timeout = 120)
{
    EACH(row)
    {
        predict_bounds b = {0, 0};
        four(row, "r", ratio(row), row->r);
        check_status(predict_all_links(&b, table1_times(row), ratio(row)), 0);
        four(row, "the lower bound", b.lower_s / row->wall_s, row->links_lower);
        four(row, "the upper bound", b.upper_s / row->wall_s, row->links_upper);
    }
}

Test(table1, one_node_and_one_link, .timeout = 120)
{
    EACH(row)
    {
        double time_s = 0;
        check_status(predict_node_and_link(&time_s, table1_times(row),
                                           row->added_s, 1, 1,
                                           PREDICT_SCHEDULER_CREDIT, 100),
                     0);
        four(row, "the factor", time_s / row->wall_s, row->both);
    }
}

Test(table1, all_nodes_and_all_links, .timeout = 120)
{
    EACH(row)
    {
        predict_bounds b = {0, 0};
        check_status(
            predict_nodes_and_links(&b, table1_times(row), 1, ratio(row)), 0);
        four(row, "the lower bound", b.lower_s / row->wall_s, row->all_lower);
        expect_near(row, "the upper bound", b.upper_s / row->wall_s,
                    row->all_upper, 0.0002);
    }
}

/* --- by way of a profile --- */

static predict_answers answers_of(const predict_profile *p, const char *node,
                                  const char *link)
{
    static predict_answers answers; /* large */
    predict_scenario *s;
    check_status(predict_scenario_create(&s, p, PREDICT_SCHEDULER_CREDIT), 0);
    if (node)
        check_status(predict_scenario_node(s, node), 0);
    if (link)
        check_status(predict_scenario_link(s, link), 0);
    check_status(predict_answer_all(&answers, s), 0);
    predict_scenario_destroy(s);
    return answers;
}

static const predict_answer *find(const predict_answers *answers,
                                  const char *model)
{
    for (size_t i = 0; i < answers->count; i++) {
        if (strcmp(answers->all[i].model, model) == 0)
            return &answers->all[i];
    }
    cr_assert_fail("there is no answer \"%s\"", model);
    return NULL;
}

Test(table1, a_profile_with_one_loaded_node, .timeout = 120)
{
    EACH(row)
    {
        predict_profile *p = table1_profile(row);
        predict_answers a = answers_of(p, "n1:load=1", NULL);
        const predict_answer *phases = find(&a, "node by phases");
        const predict_answer *totals = find(&a, "node by totals");
        cr_expect_eq(&a.all[a.best], phases);
        cr_expect_str_eq(phases->scheduler, "credit");
        three(row, "by phases", phases->upper_s / row->wall_s, row->by_phases);
        three(row, "by totals", totals->upper_s / row->wall_s, row->by_totals);
        /* All phases are alike. */
        three(row, "by sequence",
              find(&a, "node by sequence")->upper_s / row->wall_s,
              row->by_phases);
        cr_expect_eq(phases->lower_s, phases->upper_s);
        predict_profile_destroy(p);
    }
}

Test(table1, a_profile_with_all_nodes_loaded, .timeout = 120)
{
    EACH(row)
    {
        predict_profile *p = table1_profile(row);
        predict_answers a = answers_of(p, "*:load=1", NULL);
        const predict_answer *all = find(&a, "all nodes");
        three(row, "the lower bound", all->lower_s / row->wall_s,
              row->nodes_lower);
        three(row, "the upper bound", all->upper_s / row->wall_s,
              row->nodes_upper);
        predict_profile_destroy(p);
    }
}

Test(table1, a_profile_with_one_slow_link, .timeout = 120)
{
    EACH(row)
    {
        predict_profile *p = table1_profile(row);
        if (row->messages > 0) {
            predict_answers a = answers_of(p, NULL, "n1-n0:bandwidth=10mbit");
            const predict_answer *link = find(&a, "link");
            four(row, "the factor", link->upper_s / row->wall_s, row->link);
            cr_assert_eq(link->term_count, 1); /* L stays */
            three(row, "the term", link->terms[0].added_s, row->added_s);
            cr_expect_str_eq(link->terms[0].where, "n0-n1");
        }
        predict_profile_destroy(p);
    }
}

Test(table1, a_profile_with_a_loaded_node_and_a_slow_link, .timeout = 120)
{
    EACH(row)
    {
        predict_profile *p = table1_profile(row);
        if (row->messages > 0) {
            predict_answers a =
                answers_of(p, "n0:load=1", "n0-n1:bandwidth=10mbit");
            const predict_answer *both = find(&a, "node and link");
            four(row, "the factor", both->upper_s / row->wall_s, row->both);
        }
        predict_profile_destroy(p);
    }
}
