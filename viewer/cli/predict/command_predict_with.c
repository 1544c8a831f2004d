/* command_predict_with.c - see command_predict_with.h. */
#include "viewer/cli/predict/command_predict_with.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"

/* --- which machine --- */

static const char *machine_on(const cli_conditions *placed, const char *node)
{
    const char *machine = node;

    for (size_t i = 0; i < placed->count; i++) {
        const char *text = placed->texts[i], *equals = strchr(text, '=');
        size_t bytes = (size_t)(equals - text);
        if (strlen(node) == bytes && strncmp(text, node, bytes) == 0)
            return equals + 1;
        if (bytes == 1 && *text == '*')
            machine = equals + 1;
    }
    return machine;
}

static int placed_check(const cli_predict_with *w, const cli_conditions *placed)
{
    for (size_t i = 0; i < placed->count; i++) {
        const char *text = placed->texts[i], *equals = strchr(text, '=');
        size_t bytes = (size_t)(equals - text);
        bool is_there = bytes == 1 && *text == '*';
        for (size_t n = 0; n < w->profile->node_count; n++)
            is_there |= strlen(w->profile->nodes[n].name) == bytes &&
                        strncmp(text, w->profile->nodes[n].name, bytes) == 0;
        if (!is_there)
            return pastset_fail(PASTSET_EINVAL,
                                "--on=%s: the profile has no node \"%.*s\"",
                                text, (int)bytes, text);
    }
    return 0;
}

static void machines_find(cli_predict_with *w, const cli_conditions *placed)
{
    for (size_t i = 0; i < w->profile->node_count; i++) {
        const char *name = machine_on(placed, w->profile->nodes[i].name);
        size_t at = 0;
        while (at < w->machine_count && strcmp(w->machines[at], name) != 0)
            at++;
        if (at == w->machine_count)
            w->machines[w->machine_count++] = name;
        w->machine_of[i] = (uint32_t)at;
        w->nodes_on[at]++;
    }
}

/* Nodes that were measured on one machine share no processors where they are to
 * be on two; those on one machine share its. */
static void places_part(cli_predict_with *w)
{
    predict_scenario *s = w->scenario;
    size_t nodes = w->profile->node_count;
    uint32_t *processors = calloc(nodes + 1, sizeof(*processors));

    for (size_t i = 0; processors && i < nodes; i++)
        processors[i] = s->processors[s->places[i]];
    for (size_t i = 0; processors && i < nodes; i++) {
        s->places[i] = w->machine_of[i];
        s->processors[s->places[i]] = processors[i];
    }
    free(processors);
}

/* --- values --- */

static void share_set(cli_predict_with *w, uint32_t machine, double share)
{
    predict_scenario *s = w->scenario;

    for (size_t i = 0; i < w->profile->node_count; i++)
        if (w->machine_of[i] == machine)
            s->loads[i] =
                predict_load_of_share(share, s->processors[s->places[i]]) /
                w->nodes_on[machine];
}

static void link_set(cli_predict_with *w, const cli_given *g, double value)
{
    predict_scenario *s = w->scenario;

    for (size_t i = 0; i < w->profile->link_count; i++) {
        const predict_link *link = &w->profile->links[i];
        uint32_t a = w->machine_of[link->a], b = w->machine_of[link->b];
        if (!((a == g->a && b == g->b) || (a == g->b && b == g->a)))
            continue;
        if (g->kind == MEASURE_LATENCY)
            s->wires[i].latency_s = value;
        else
            s->wires[i].bandwidth = value;
        s->flows[i] = (predict_flow){0, 0, 0};
    }
}

static int time_at(double *seconds, const double *values, void *context)
{
    cli_predict_with *w = context;
    const predict_answer *best;
    int err;

    for (size_t i = 0; i < w->outlook.count; i++) {
        const cli_given *g = &w->outlook.given[i];
        if (g->kind == MEASURE_AVAILABILITY)
            share_set(w, g->a, values[i]);
        else
            link_set(w, g, values[i]);
    }
    err = w->set_more(w->scenario, w->context);
    if (!err)
        err = predict_answer_all(w->answers, w->scenario);
    if (err)
        return err;
    best = &w->answers->all[w->answers->best];
    *seconds = (best->lower_s + best->upper_s) / 2;
    return 0;
}

static int time_at_means(double *seconds, void *context)
{
    cli_predict_with *w = context;

    return predict_vary_not(seconds, w->outlook.varied, w->outlook.count,
                            time_at, w);
}

/* How long it would have taken before says how long it will take; where too
 * little was measured for that, what each machine will give does. */
static int hindcast(cli_predict_with *w)
{
    const cli_outlook *o = &w->outlook;
    predict_readings *series = calloc(o->count + 1, sizeof(*series));
    int err;

    if (!series)
        return pastset_no_memory("to predict");
    for (size_t i = 0; i < o->count; i++)
        series[i] = o->given[i].readings;
    err = predict_hindcast_make(&w->hindcast, series, o->varied, o->count,
                                o->at_ms, o->lasts_ms, time_at, w);
    free(series);
    if (!err)
        w->time = w->hindcast.time_s;
    if (err != PASTSET_ENOENT)
        return err;
    w->hindcast.runs = 0;
    fprintf(stderr, "eventspace: --outlook=runs: %s; forecast is taken\n",
            pastset_error());
    return 0;
}

/* Bounds are no distribution: what is between them comes on top. */
static void bounds_add(cli_predict_with *w)
{
    const predict_answer *best = &w->answers->all[w->answers->best];
    double half_s = (best->upper_s - best->lower_s) / 2;

    w->time.range = hypot(w->time.range, half_s);
}

int cli_predict_with_time(cli_predict_with *w, predict_answers *answers)
{
    double seconds;
    int err;

    w->answers = answers;
    err = cli_outlook_settle(&w->outlook, w->options, time_at_means, w);
    if (!err)
        err = predict_vary(&w->time, w->outlook.varied, w->outlook.count,
                           time_at, w);
    if (!err && w->options->by_runs)
        err = hindcast(w);
    if (!err)
        err = time_at_means(&seconds, w);
    if (!err)
        bounds_add(w);
    return err;
}

/* --- all of it --- */

int cli_predict_with_begin(cli_predict_with *w, predict_scenario *scenario,
                           const cli_outlook_options *options,
                           const cli_conditions *placed)
{
    size_t nodes = scenario->profile->node_count;
    int err = 0;

    w->options = options;
    w->scenario = scenario;
    w->profile = scenario->profile;
    w->machines = calloc(nodes + 1, sizeof(*w->machines));
    w->machine_of = calloc(nodes + 1, sizeof(*w->machine_of));
    w->nodes_on = calloc(nodes + 1, sizeof(*w->nodes_on));
    if (!w->machines || !w->machine_of || !w->nodes_on)
        err = pastset_no_memory("to predict");
    if (!err)
        err = placed_check(w, placed);
    if (err)
        return err;
    machines_find(w, placed);
    places_part(w);
    err = cli_outlook_read(&w->outlook, options, w->machines, w->machine_count);
    if (!err)
        cli_outlook_tell_missing(&w->outlook, w->machines, w->machine_count,
                                 "it is taken to be free");
    return err;
}

void cli_predict_with_end(cli_predict_with *w)
{
    cli_outlook_clear(&w->outlook);
    free(w->machines);
    free(w->machine_of);
    free(w->nodes_on);
}
