/* experiment_predict.c - the profile of an experiment, and what it lets expect
 * of each case. */
#include "measure/experiment/experiment_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pastset/status.h"

/* --- the profile --- */

static int bind_us(const experiment_setup *s, cpu_set_t *before)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (size_t i = 0; i < s->processor_count; i++)
        CPU_SET(s->processors[i], &set);
    if (sched_getaffinity(0, sizeof(*before), before) != 0 ||
        sched_setaffinity(0, sizeof(set), &set) != 0)
        return pastset_fail(PASTSET_EIO, "processors: %s", strerror(errno));
    return 0;
}

/* Interrupted, a command and all that it has started have much to say. */
static int judge(const experiment_setup *s, int said)
{
    char buffer[EXPERIMENT_SAID];
    const char *line = measure__experiment_said_last(said, buffer);
    int code = s->result->notes.exit_code;
    if (measure__experiment_stopped(s))
        return pastset_fail(PASTSET_ECANCELED, "interrupted");
    if (code == 0)
        return 0;
    return pastset_fail(PASTSET_EAPP,
                        "the program failed with exit code %d%s%s", code,
                        *line ? ": " : "", line);
}

static int measure(experiment_setup *s, char **argv, const char *run,
                   int output, int said)
{
    measure_experiment *e = s->result;
    measure_profile_options options = {.argv = argv,
                                       .output = output,
                                       .errors = said,
                                       .run_directory = run,
                                       .pass_on = s->options->pass_on};
    cpu_set_t before;
    /* Programs that have no map are bound as a whole, by what they inherit. */
    int err = run ? 0 : bind_us(s, &before);
    if (err)
        return err;
    if (run)
        options.no_packets = true;
    err = measure_profile(&e->profile, &e->notes, &options);
    if (!run)
        sched_setaffinity(0, sizeof(before), &before);
    return err && !measure__experiment_stopped(s) ? err : judge(s, said);
}

static int profile_now(experiment_setup *s)
{
    char map[EXPERIMENT_PATH] = "", run[EXPERIMENT_PATH];
    char **argv = NULL;
    int output = open("/dev/null", O_WRONLY | O_CLOEXEC);
    int said, err = 0;
    if (output < 0)
        return pastset_fail(PASTSET_EIO, "/dev/null: %s", strerror(errno));
    said = measure__experiment_said_open(s);
    if (said < 0) {
        close(output);
        return said;
    }
    snprintf(run, sizeof(run), "%s/profiled", s->folder);
    if (s->options->map)
        err = measure__experiment_map_write(s, "profiled", NULL, true, map);
    if (err)
        goto done;
    argv = measure__experiment_arguments(s, map, run);
    if (!argv) {
        err = pastset_no_memory("for the experiment");
        goto done;
    }
    err = measure(s, argv, s->options->map ? run : NULL, output, said);
done:
    free(argv);
    close(said);
    close(output);
    return err;
}

/* Nodes of programs that have no map are known only now. */
static int take_nodes(experiment_setup *s)
{
    const predict_profile *p = s->result->profile;
    int err = 0;
    for (size_t i = 0; i < p->node_count && !err; i++)
        err = measure__experiment_setup_add_node(
            s, p->nodes[i].name, p->places[p->nodes[i].place].name);
    return err ? err : measure__experiment_parse_cases(s);
}

int measure__experiment_profile(experiment_setup *s)
{
    const char *file = s->options->profile;
    bool there = file && access(file, F_OK) == 0;
    int err;
    measure__experiment_tell(s, "profiling", 0, 1);
    err = there ? predict_profile_load(&s->result->profile, file)
                : profile_now(s);
    if (!err && measure__experiment_stopped(s))
        return pastset_fail(PASTSET_ECANCELED, "interrupted");
    if (!err && file && !there)
        err = predict_profile_save(s->result->profile, file);
    if (err)
        return pastset_fail_while(err, "the profile");
    return s->options->map ? 0 : take_nodes(s);
}

static predict_flow flow_of(const measure_wire *wire)
{
    return (predict_flow){wire->link.rate, wire->link.burst,
                          wire->link.alone_s};
}

/* What the profile's steps hold of it already is taken out of them. */
static int set_links(predict_profile *profile, const measure_wire *wire)
{
    predict_setting *settings =
        calloc(profile->link_count + 1, sizeof(*settings));
    int err;

    if (!settings)
        return pastset_no_memory("for %zu links", profile->link_count);
    for (size_t i = 0; i < profile->link_count; i++) {
        settings[i] = (predict_setting){true, wire->fitted.latency_s,
                                        wire->fitted.bandwidth, flow_of(wire)};
        profile->links[i].busy = wire->link.busy;
    }
    err = predict_profile_set_wires(profile, settings);
    free(settings);
    return err;
}

int measure__experiment_links_set(experiment_setup *s)
{
    predict_profile *p = s->result->profile;
    const measure_wire *quiet =
        measure__experiment_wire(s, s->options->base_rate);
    int err = quiet ? set_links(p, quiet) : 0;

    if (err || !quiet || !s->options->profile)
        return err;
    return predict_profile_save(p, s->options->profile);
}

/* --- predictions --- */

/* The profile's index of a node of ours. */
static uint32_t in_profile(const experiment_setup *s, uint32_t node)
{
    return predict_profile_find_node(s->result->profile, s->nodes[node].name);
}

/* What the link is when it has this limit. */
static int fill_link(predict_condition *link, const experiment_setup *s)
{
    const measure_wire *wire =
        measure__experiment_wire(s, link->wire.bandwidth);
    if (!wire || !(wire->fitted.bandwidth >= 1))
        return pastset_fail(PASTSET_EINVAL, "the link was not measured");
    link->told |= PREDICT_LATENCY;
    link->wire = wire->fitted;
    link->flow = flow_of(wire);
    return 0;
}

/* `*` is all nodes that get competitors; the profile may have more: who starts
 * the processes of a run is a node as well, if it is busy enough. */
static void add_to_all(predict_scenario *scenario, const experiment_setup *s,
                       predict_condition is)
{
    is.all = false;
    for (uint32_t i = 0; i < s->node_count; i++) {
        is.a = in_profile(s, i);
        predict_scenario_apply(scenario, &is);
    }
}

static int scenario_add(predict_scenario *scenario, const experiment_setup *s,
                        const experiment_condition *c)
{
    predict_condition is = c->is;
    bool nodes = is.told & PREDICT_OF_NODES;
    int err = nodes ? 0 : fill_link(&is, s);
    if (!is.all) {
        is.a = in_profile(s, is.a);
        is.b = in_profile(s, is.b);
        if (!err && (is.a == PREDICT_NONE || is.b == PREDICT_NONE))
            err = pastset_fail(PASTSET_ENOENT, "the profile has no such node");
    }
    if (err)
        return pastset_fail_while(err, "%s", c->text);
    if (is.all && nodes)
        add_to_all(scenario, s, is);
    else
        predict_scenario_apply(scenario, &is);
    return 0;
}

static int predict_case(measure_case *out, const experiment_setup *s,
                        const experiment_conditions *conditions)
{
    predict_scenario *scenario = NULL;
    int err = predict_scenario_create(&scenario, s->result->profile,
                                      s->options->scheduler);
    for (size_t i = 0; !err && conditions && i < conditions->count; i++)
        err = scenario_add(scenario, s, &conditions->items[i]);
    if (!err)
        err = predict_answer_all(&out->answers, scenario);
    predict_scenario_destroy(scenario);
    out->predicted = !err;
    return err ? pastset_fail_while(err, "predicting \"%s\"", out->text) : 0;
}

int measure__experiment_predict(experiment_setup *s)
{
    measure_experiment *e = s->result;
    int err = predict_case(&e->cases[0], s, NULL);
    for (size_t i = 1; i < e->case_count && !err; i++) {
        measure__experiment_tell(s, "predicting", (uint32_t)i,
                                 (uint32_t)e->case_count);
        err = predict_case(&e->cases[i], s, &s->conditions[i - 1]);
    }
    return err;
}

double measure_experiment_scaled(const measure_experiment *experiment,
                                 double predicted_s)
{
    const measure_case *dedicated = &experiment->cases[0];
    if (!dedicated->predicted || !(dedicated->answers.dedicated_s > 0))
        return NAN;
    return predicted_s * dedicated->median_s / dedicated->answers.dedicated_s;
}

static double error_of(double median_s, double lower_s, double upper_s)
{
    if (isnan(lower_s) || isnan(upper_s) || isnan(median_s))
        return NAN;
    if (median_s < lower_s)
        return (lower_s - median_s) / median_s;
    if (median_s > upper_s)
        return (upper_s - median_s) / median_s;
    return 0;
}

double measure_experiment_error(const measure_case *of,
                                const predict_answer *answer)
{
    return error_of(of->median_s, answer->lower_s, answer->upper_s);
}

double measure_experiment_scaled_error(const measure_experiment *experiment,
                                       const measure_case *of,
                                       const predict_answer *answer)
{
    return error_of(of->median_s,
                    measure_experiment_scaled(experiment, answer->lower_s),
                    measure_experiment_scaled(experiment, answer->upper_s));
}
