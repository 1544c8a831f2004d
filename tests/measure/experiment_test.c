/* experiment_test.c - experiments: their conditions, their maps, the line that
 * is put through the times of a link, and what is kept when a run fails. */
#include "measure/experiment/experiment.h"

#include <math.h>
#include <stdio.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "eventspace/register_collectors.h"
#include "measure/experiment/experiment_internal.h"
#include "measure/load/load_internal.h"
#include "paths/map/map.h"
#include "tests/predict/made.h"
#include "tests/support/check.h"
#include "tests/support/scratch.h"

TestSuite(experiment, .init = scratch_make, .fini = scratch_remove,
          .timeout = 240);

/* --- conditions --- */

static const char *const names[] = {"h0", "a-b", "b-h0", "a"};

static int parse(experiment_conditions *out, const char *text)
{
    return measure__experiment_conditions_parse(out, text, names, 4);
}

Test(experiment, conditions_tell_nodes_from_links)
{
    experiment_conditions c;
    check_status(
        parse(&c, " h0:load=1.5,law=credit  *:bandwidth=10mbit a-b:load=2"), 0);
    cr_assert_eq(c.count, 3);
    cr_assert_str_eq(c.items[0].text, "h0:load=1.5,law=credit");
    cr_assert(predict_condition_of_node(&c.items[0].is, 0));
    cr_assert(!predict_condition_of_node(&c.items[0].is, 1));
    cr_assert_eq(c.items[0].is.load, 1.5);
    cr_assert(predict_condition_of_link(&c.items[1].is, 2, 0));
    cr_assert(!predict_condition_of_node(&c.items[1].is, 0));
    cr_assert_eq(c.items[1].is.wire.bandwidth, 1.25e6);
    cr_assert(predict_condition_of_node(&c.items[2].is, 1));
    measure__experiment_conditions_fini(&c);
    check_status(parse(&c, "h0-a-b:bandwidth=8kbit\th0:load=1000\n"), 0);
    cr_assert_eq(c.count, 2);
    cr_assert(predict_condition_of_link(&c.items[0].is, 1, 0));
    measure__experiment_conditions_fini(&c);
}

Test(experiment, a_scenario_is_checked_before_its_nodes_are_known)
{
    check_status(measure_experiment_check("h9:load=1 h8-h9:bandwidth=1mbit"),
                 0);
    check_status(measure_experiment_check("h9:speed=2"), PASTSET_EINVAL);
    check_error("how fast");
    check_status(measure_experiment_check("h9=load:1"), PASTSET_EINVAL);
    check_error("write it as h9:load=1");
}

Test(experiment, conditions_that_cannot_be_made_are_refused)
{
    static const struct {
        const char *text;
        int status;
        const char *says;
    } wrong[] = {
        {"", PASTSET_EINVAL, "no condition"},
        {"h0", PASTSET_EINVAL, "write it as n0:load=1"},
        {":load=1", PASTSET_EINVAL, "write it as n0:load=1"},
        {"=load:1", PASTSET_EINVAL, "write it as n0:load=1"},
        {"h0=", PASTSET_EINVAL, "h0="},
        {"h9:load=1", PASTSET_ENOENT, "no node \"h9\"; the nodes are: h0, a-b"},
        {"h0-h9:bandwidth=10mbit", PASTSET_ENOENT, "no link \"h0-h9\""},
        {"h0-h0:bandwidth=10mbit", PASTSET_EINVAL,
         "\"h0-h0\" leads from a node to"},
        /* a and b-h0, or a-b and h0 */
        {"a-b-h0:bandwidth=8kbit", PASTSET_EINVAL, "can be read as 2 links"},
        {"h0:load=-1", PASTSET_EINVAL, "not a number"},
        {"h0:load=x", PASTSET_EINVAL, "not a number"},
        {"h0:load=inf", PASTSET_EINVAL, "not a number"},
        {"h0:speed=2", PASTSET_EINVAL, "how fast"},
        {"h0:load=1,waiting=spin", PASTSET_EINVAL, "how a program waits"},
        {"h0:load=1,session=other", PASTSET_EINVAL, "the session"},
        {"h0:load=1000.5", PASTSET_EINVAL, "h0:load=1000.5: the load 1000.5"},
        {"*:load=2 h0:law=fair,speed=2", PASTSET_EINVAL, "how fast"},
        {"*:latency=400us,bandwidth=10mbit", PASTSET_EINVAL,
         "limit a bandwidth"},
        {"*:latency=400us", PASTSET_EINVAL, "anything else of a link"},
        {"*:bandwidth=10mbit,burst=0", PASTSET_EINVAL,
         "anything else of a link"},
        {"*:bandwidth=10mbit,busy=0", PASTSET_EINVAL,
         "anything else of a link"},
        {"*:bandwidth=-10mbit", PASTSET_EINVAL, "\"-10mbit\" is not a rate"},
        {"h0=load:1 *=10mbit", PASTSET_EINVAL, "write it as h0:load=1"},
        {"h0:load=1 *=10mbit", PASTSET_EINVAL, "write it as *:bandwidth=10mb"},
        {"*:bandwidth=10mbit,load=1", PASTSET_EINVAL, "either of a node"},
        {"h0:load=1,law=none", PASTSET_EINVAL, "none"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        experiment_conditions c;
        check_status(parse(&c, wrong[i].text), wrong[i].status);
        check_error(wrong[i].says);
        cr_assert_eq(c.count, 0);
    }
}

/* --- links --- */

/* As behind a token bucket: 1,600 bytes for nothing, then 1 MB/s. */
static double bucket_s(double bytes)
{
    return 20e-6 + (bytes > 1600 ? (bytes - 1600) / 1e6 : 0);
}

static measure_link bucket(void)
{
    measure_link link = {.latency_s = 1, .bandwidth = 1};
    for (uint64_t size = 1; size <= 65536; size *= 2)
        link.sizes[link.size_count++] = (measure_link_size){
            .bytes = size, .median_s = bucket_s((double)size), .rounds = 9};
    return link;
}

static predict_profile *sends(const uint64_t *sizes, size_t count)
{
    predict_profile *p = predict_profile_create("");
    predict_profile_add_place(p, "0", 1);
    predict_profile_add_node(p, "n0", 0);
    predict_profile_add_node(p, "n1", 0);
    for (size_t i = 0; i < count; i++) {
        predict_profile_add_message(p, (predict_message){0, sizes[i], 0, 1});
        predict_profile_add_message(p, (predict_message){0, 999999, 1, 1});
    }
    return p;
}

static void check_sum(const uint64_t *sizes, size_t count)
{
    measure_link link = bucket();
    predict_profile *p = sends(sizes, count);
    predict_wire w = measure__experiment_wire_fit(&link, p);
    double sum = 0, want = 0;
    cr_assert(w.latency_s >= 0 && w.bandwidth > 0);
    for (size_t i = 0; i < count; i++) {
        sum += w.latency_s + (double)sizes[i] / w.bandwidth;
        want += bucket_s((double)sizes[i]);
    }
    cr_assert_float_eq(sum, want, 1e-9 + 1e-9 * want, "%g, not %g", sum, want);
    predict_profile_destroy(p);
}

Test(experiment, a_links_line_has_the_sum_of_what_was_measured)
{
    check_sum((uint64_t[]){4096, 4096, 4096}, 3);
    check_sum((uint64_t[]){16}, 1);
    check_sum((uint64_t[]){4096, 65536, 8192, 16384, 32768}, 5);
    check_sum((uint64_t[]){1, 2, 512, 1024, 8, 65536}, 6);
    check_sum((uint64_t[]){1, 1024, 131072, 262144}, 4);
}

Test(experiment, a_link_that_is_a_line_is_found_again)
{
    measure_link link = {0};
    uint64_t sizes[] = {100, 5000, 300, 60000, 4096};
    predict_profile *p = sends(sizes, 5);
    predict_wire w;
    for (uint64_t size = 1; size <= 65536; size *= 2)
        link.sizes[link.size_count++] = (measure_link_size){
            .bytes = size, .median_s = 400e-6 + (double)size / 8.75e6};
    w = measure__experiment_wire_fit(&link, p);
    cr_assert_float_eq(w.latency_s, 400e-6, 1e-10);
    cr_assert_float_eq(w.bandwidth, 8.75e6, 1);
    predict_profile_destroy(p);
}

/* Of one measurement the small ones are disturbed, of the other one the large
 * ones, and their medians all along: the least times of both are the link's. */
Test(experiment, of_disturbed_measurements_the_least_times_tell)
{
    measure_link both = {0};
    for (int k = 0; k < 2; k++) {
        measure_link link = {0};
        for (uint64_t size = 1; size <= 65536; size *= 2) {
            double s = 20e-6 + (double)size / 1e9;
            bool good = (size < 512) == k;
            link.sizes[link.size_count++] =
                (measure_link_size){.bytes = size,
                                    .median_s = 0.03 - 3e-7 * (double)size,
                                    .min_s = good ? s : 5 * s};
        }
        check_status(measure_link_fit(&link), k ? 0 : PASTSET_EINVAL);
        measure__experiment_take_better(&both, &link);
    }
    check_status(measure_link_fit(&both), 0);
    cr_assert(both.by_min);
    cr_assert_float_eq(both.latency_s, 20e-6, 1e-10);
    cr_assert_float_eq(both.bandwidth, 1e9, 1);
}

static void count_calls(void *context, const char *what, uint32_t done,
                        uint32_t all)
{
    (void)what;
    (void)done;
    (void)all;
    ++*(int *)context;
}

/* As of a script that starts programs: they are nodes, and send nothing. */
Test(experiment, links_are_not_measured_where_nothing_is_sent)
{
    int calls = 0;
    uint32_t processor = (uint32_t)measure__processor_first();
    experiment_node nodes[2] = {{NULL, NULL}};
    measure_experiment e = {.profile = made_profile(2)};
    measure_experiment_options o = {.progress = count_calls, .context = &calls};
    experiment_setup *s = calloc(1, sizeof(*s));
    s->options = &o;
    s->result = &e;
    s->nodes = nodes;
    s->node_count = 2;
    s->processors = &processor;
    s->processor_count = 1;
    check_status(measure__experiment_wires_measure(s), 0);
    cr_assert_eq(calls, 0);
    free(e.wires);
    predict_profile_destroy(e.profile);
    free(s);
}

/* --- maps --- */

static const char *const map_text =
    "digraph two {\n"
    "  subgraph cluster_h0 { t0 [kind=thread, number=0];\n"
    "    p [kind=proxy]; }\n"
    "  subgraph cluster_h1 { e [kind=element, type=\"u64\"]; }\n"
    "  t0 -> p [as=e, use=write];\n"
    "  p -> e;\n"
    "}\n";

Test(experiment, links_are_simulated_by_delays_before_proxies)
{
    static measure_experiment result;
    const char *cases[] = {"h0-h1:bandwidth=1mbit",
                           "h1-h0:bandwidth=2mbit h0:load=1"};
    static char program[] = "true";
    char *argv[] = {program, NULL};
    measure_experiment_options o = {.argv = argv,
                                    .eventspace = "eventspace",
                                    .links = MEASURE_LINKS_DELAYS,
                                    .base_rate = 1e6,
                                    .cases = cases,
                                    .case_count = 2};
    const char *const rates[] = {"8000000bit", "1000000bit", "2000000bit"};
    experiment_setup *s = calloc(1, sizeof(*s));
    check_status(eventspace_register(), 0);
    o.map = scratch_write("two.dot", map_text);
    s->options = &o;
    s->result = &result;
    check_status(measure__experiment_setup_init(s), 0);
    for (int i = 0; i < 3; i++) {
        char file[EXPERIMENT_PATH];
        paths_map *map = NULL;
        uint32_t delay, nodes[8];
        check_status(
            measure__experiment_map_write(
                s, "a", i ? &s->conditions[i - 1] : NULL, i == 1, file),
            0);
        check_status(paths_map_read(&map, file), 0);
        check_status(paths_map_check(map, &(paths_diagnostics){0}), 0);
        delay = paths_map_find_node(map, "p.experiment");
        cr_assert_neq(delay, PATHS_NONE);
        cr_assert_str_eq(map->nodes[delay].type, "delay");
        cr_assert_str_eq(
            paths_attributes_get(&map->nodes[delay].attributes, "bandwidth"),
            rates[i]);
        /* delay, p, e; and, with collectors, one on each edge. */
        cr_assert_eq(paths_map_walk(map, 0, nodes, 8), i == 1 ? 6 : 3);
        cr_assert_not_null(
            paths_attributes_get(&map->processes[0].attributes, "affinity"));
        paths_map_destroy(map);
    }
    measure__experiment_setup_fini(s);
    for (size_t i = 0; i < result.case_count; i++) {
        free(result.cases[i].text);
        free(result.cases[i].times_s);
        free(result.cases[i].others);
    }
    free(result.cases);
    free(s);
}

/* --- predictions --- */

/* Three nodes; n0 sends to n1, and n1 to n2. */
static predict_profile *line(void)
{
    predict_profile *p = made_profile(3);
    uint32_t first, second;
    made_link(p, 0, 1, 1e-3, 1e6);
    made_link(p, 1, 2, 1e-3, 1e6);
    first = made_message(p, 0, 1, 100000);
    second = made_message(p, 1, 2, 200000);
    made_actor(p, 0, 0);
    made_compute(p, 1000000000);
    made_send(p, first);
    made_actor(p, 1, 0);
    made_receive(p, first);
    made_compute(p, 2000000000);
    made_send(p, second);
    made_actor(p, 2, 0);
    made_receive(p, second);
    made_compute(p, 3000000000);
    p->wall_ns = 6302000000;
    return p;
}

/* What the same is with texts; L and B are those of `quarter` below. */
static double told_s(const predict_profile *profile, const char *node,
                     const char *other, const char *link)
{
    predict_scenario *s = NULL;
    predict_answers answers;
    check_status(predict_scenario_create(&s, profile, PREDICT_SCHEDULER_FAIR),
                 0);
    check_status(predict_scenario_node(s, node), 0);
    if (other)
        check_status(predict_scenario_node(s, other), 0);
    if (link)
        check_status(predict_scenario_link(s, link), 0);
    check_status(predict_answer_all(&answers, s), 0);
    predict_scenario_destroy(s);
    return answers.all[answers.best].upper_s;
}

static double best_s(const measure_case *c)
{
    return c->answers.all[c->answers.best].upper_s;
}

/* The processes are in another order than the nodes of the profile, which has
 * one more; "x" was idle. */
Test(experiment, predictions_find_nodes_by_their_names)
{
    const char *texts[] = {"n2:load=1,law=credit n1-n2:bandwidth=2mbit",
                           "*:load=2", "x:load=1"};
    char first[] = "n2", second[] = "n1", idle[] = "x";
    experiment_node nodes[] = {
        {.name = first}, {.name = second}, {.name = idle}};
    measure_wire quarter = {.limit = 250e3, .fitted = {2e-3, 240e3}};
    measure_case cases[4] = {{.text = NULL}};
    experiment_conditions conditions[3] = {{NULL, 0}};
    measure_experiment e = {.cases = cases,
                            .case_count = 3,
                            .wires = &quarter,
                            .wire_count = 1,
                            .profile = line()};
    measure_experiment_options o = {.links = MEASURE_LINKS_DELAYS,
                                    .cases = texts,
                                    .case_count = 3,
                                    .scheduler = PREDICT_SCHEDULER_FAIR};
    experiment_setup *s = calloc(1, sizeof(*s));
    s->options = &o;
    s->result = &e;
    s->nodes = nodes;
    s->node_count = 3;
    s->conditions = conditions;
    check_status(measure__experiment_parse_cases(s), 0);
    check_status(measure__experiment_predict(s), 0);
    cr_assert_eq(best_s(&cases[1]),
                 told_s(e.profile, "n2:load=1,law=credit", NULL,
                        "n1-n2:latency=2ms,bandwidth=240kB"));
    cr_assert_eq(best_s(&cases[2]),
                 told_s(e.profile, "n1:load=2", "n2:load=2", NULL));
    cr_assert_gt(best_s(&cases[1]), best_s(&cases[0]) + 0.5);
    cr_assert_lt(best_s(&cases[2]), told_s(e.profile, "*:load=2", NULL, NULL));
    e.case_count = 4;
    cases[3].text = idle;
    check_status(measure__experiment_predict(s), PASTSET_ENOENT);
    check_error("x:load=1: the profile has no such node");
    for (int i = 0; i < 3; i++)
        measure__experiment_conditions_fini(&conditions[i]);
    predict_profile_destroy(e.profile);
    free(s);
}

/* --- runs --- */

static int experiment(measure_experiment **out, const char *script,
                      const char *condition)
{
    static char sh[] = "sh", option[] = "-c";
    char *copy = strdup(script), *argv[] = {sh, option, copy, NULL};
    uint32_t processor = (uint32_t)measure__processor_first();
    int err;
    measure_experiment_options o = {.argv = argv,
                                    .cases = &condition,
                                    .case_count = condition != NULL,
                                    .runs = 3,
                                    .processors = &processor,
                                    .processor_count = 1,
                                    .eventspace = "/nowhere"};
    err = measure_experiment_run(out, &o);
    free(copy);
    return err;
}

/* Enough of work for a node, whatever the machine. */
#define WORK "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; "

Test(experiment, each_scenario_is_measured_and_predicted)
{
    measure_experiment *e = NULL;
    check_status(experiment(&e, WORK, "*:load=1"), 0);
    cr_assert_eq(e->case_count, 2);
    cr_assert_str_eq(e->cases[0].text, "dedicated");
    for (int i = 0; i < 2; i++) {
        measure_case *c = &e->cases[i];
        cr_assert_eq(c->runs, 3);
        cr_assert(c->min_s > 0 && c->min_s <= c->median_s &&
                  c->median_s <= c->max_s);
        cr_assert(c->predicted);
        for (int k = 0; k < 3; k++)
            cr_assert(c->times_s[k] >= c->min_s && c->times_s[k] <= c->max_s);
    }
    cr_assert_gt(e->cases[1].answers.all[0].upper_s,
                 e->cases[0].answers.all[0].upper_s);
    /* What is predicted for the dedicated case is what it took, scaled. */
    cr_assert_float_eq(
        measure_experiment_scaled(e, e->cases[0].answers.dedicated_s),
        e->cases[0].median_s, 1e-9);
    measure_experiment_destroy(e);
}

Test(experiment, what_was_measured_before_a_run_fails_is_kept)
{
    measure_experiment *e = NULL;
    const char *count = scratch_write("count", "");
    char *script;
    /* Nothing but one process: another one may be a node as well. */
    cr_assert(asprintf(&script,
                       WORK "echo >>%s; n=0; "
                            "while read line; do n=$((n+1)); done <%s; "
                            "[ $n -lt 4 ] || { echo it broke >&2; exit 7; }",
                       count, count) > 0);
    check_status(experiment(&e, script, NULL), PASTSET_EAPP);
    check_error("\"dedicated\", run 3");
    check_error("exit code 7: it broke");
    cr_assert_not_null(e);
    cr_assert_eq(e->cases[0].runs, 2);
    cr_assert(e->cases[0].median_s > 0);
    measure_experiment_destroy(e);
    free(script);
}

Test(experiment, a_program_that_fails_at_once_is_told)
{
    measure_experiment *e = NULL;
    check_status(experiment(&e, "exit 3", NULL), PASTSET_EAPP);
    check_error("exit code 3");
    measure_experiment_destroy(e);
}

Test(experiment, links_need_a_testbed_or_delays)
{
    measure_experiment *e = NULL;
    static char program[] = "true";
    char *argv[] = {program, NULL};
    const char *cases[] = {"h0-h1:bandwidth=10mbit"};
    measure_experiment_options o = {
        .argv = argv, .cases = cases, .case_count = 1};
    o.map = scratch_write("two.dot", map_text);
    check_status(measure_experiment_run(&e, &o), PASTSET_EINVAL);
    check_error("--delay");
    cr_assert_null(e);
    cases[0] = "h7:load=1";
    check_status(measure_experiment_run(&e, &o), PASTSET_ENOENT);
    check_error("the nodes are: h0, h1");
    o.processors = (uint32_t[]){1000};
    o.processor_count = 1;
    check_status(measure_experiment_run(&e, &o), PASTSET_EINVAL);
    check_error("processor 1000");
}

/* By somebody without rights, in a process of his own. */
Test(experiment, who_may_not_make_a_testbed_is_told_what_he_may)
{
    measure_experiment *e = NULL;
    static char program[] = "true";
    char *argv[] = {program, NULL};
    const char *cases[] = {"h0-h1:bandwidth=10mbit"};
    measure_experiment_options o = {.argv = argv,
                                    .cases = cases,
                                    .case_count = 1,
                                    .links = MEASURE_LINKS_TESTBED,
                                    .testbed = "esnobody"};
    int fd = open(scratch_write("two.dot", map_text), O_RDONLY), status;
    char map[32];
    pid_t child;
    cr_assert_geq(fd, 0);
    cr_assert_eq(fchmod(fd, 0644), 0);
    snprintf(map, sizeof(map), "/dev/fd/%d", fd); /* he may not look there */
    o.map = map;
    child = fork();
    if (child == 0) {
        if (getuid() == 0 && setuid(65534) != 0)
            _exit(2);
        if (measure_experiment_run(&e, &o) != PASTSET_ENOTSUP)
            _exit(3);
        _exit(strstr(pastset_error(), "--delay") ? 0 : 4);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_eq(WEXITSTATUS(status), 0);
    close(fd);
}

Test(experiment, it_ends_when_it_is_asked_to)
{
    static volatile sig_atomic_t stop = 1;
    measure_experiment *e = NULL;
    static char program[] = "true";
    char *argv[] = {program, NULL};
    measure_experiment_options o = {.argv = argv, .stop = &stop};
    check_status(measure_experiment_run(&e, &o), PASTSET_ECANCELED);
    measure_experiment_destroy(e);
}

/* What the dedicated runs took has nothing to do with it. */
Test(experiment, errors_are_those_of_what_was_told_and_0_within_bounds)
{
    measure_case c = {.median_s = 20, .predicted = true};
    predict_answer a = {.lower_s = 15, .upper_s = 25};
    cr_assert_float_eq(measure_experiment_error(&c, &a), 0, 1e-12);
    c.median_s = 50;
    cr_assert_float_eq(measure_experiment_error(&c, &a), -0.5, 1e-12);
    c.median_s = 10;
    cr_assert_float_eq(measure_experiment_error(&c, &a), 0.5, 1e-12);
    c.median_s = NAN;
    cr_assert(isnan(measure_experiment_error(&c, &a)));
}

Test(experiment, scaled_errors_are_beside_them)
{
    measure_case c[2] = {{.median_s = 10, .predicted = true},
                         {.median_s = 60, .predicted = true}};
    measure_experiment e = {.cases = c, .case_count = 2};
    predict_answer a = {.lower_s = 15, .upper_s = 25};
    c[0].answers.dedicated_s = 5; /* the profiled run was twice as fast */
    cr_assert_float_eq(measure_experiment_scaled_error(&e, &c[1], &a), -1.0 / 6,
                       1e-12);
    cr_assert_float_eq(measure_experiment_error(&c[1], &a), -35.0 / 60, 1e-12);
    c[0].predicted = false;
    cr_assert(isnan(measure_experiment_scaled_error(&e, &c[1], &a)));
}
