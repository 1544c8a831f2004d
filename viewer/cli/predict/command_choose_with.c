/* command_choose_with.c - eventspace choose --with: by the histories of
 * machines and links. */
#include "viewer/cli/predict/command_choose.h"

#include <stdlib.h>

#include "pastset/status.h"

/* What the functions below work on. */
typedef struct choosing {
    choose_arguments *a;
    const predict_profile *profile;
    predict_cluster *cluster;
    cli_outlook *outlook;
} choosing;

static void link_set(predict_cluster *cluster, const cli_given *g, double value)
{
    uint32_t n = cluster->machine_count;
    size_t ways[] = {(size_t)g->a * n + g->b, (size_t)g->b * n + g->a};

    for (size_t i = 0; i < 2; i++) {
        if (g->kind == MEASURE_LATENCY)
            cluster->wires[ways[i]].latency_s = value;
        else
            cluster->wires[ways[i]].bandwidth = value;
        if (cluster->flows)
            cluster->flows[ways[i]] = (predict_flow){0, 0, 0};
    }
}

static void cluster_set(predict_cluster *cluster, const double *values,
                        void *context)
{
    const choosing *c = context;

    for (size_t i = 0; i < c->outlook->count; i++) {
        const cli_given *g = &c->outlook->given[i];
        predict_machine *machine = &cluster->machines[g->a];
        if (g->kind == MEASURE_AVAILABILITY)
            machine->load = predict_load_of_share(
                values[i], cluster->processors[machine->place]);
        else
            link_set(cluster, g, values[i]);
    }
}

/* Of a machine: all of its place, whose processors they share. */
static bool matters(size_t i, const uint32_t *machines, uint32_t nodes,
                    void *context)
{
    const choosing *c = context;
    const cli_given *g = &c->outlook->given[i];
    bool has_a = false, has_b = g->kind == MEASURE_AVAILABILITY;

    for (uint32_t n = 0; n < nodes; n++) {
        has_a |=
            machines[n] == g->a || (g->kind == MEASURE_AVAILABILITY &&
                                    c->cluster->machines[machines[n]].place ==
                                        c->cluster->machines[g->a].place);
        has_b |= machines[n] == g->b;
    }
    return has_a && has_b;
}

/* Of the best placement with these values. */
static int best_time(double *seconds, const double *values, void *context)
{
    choosing *c = context;
    predict_choice *choice = NULL;
    predict_choose_options quick = c->a->options;
    int err;

    quick.seconds_s = (quick.seconds_s > 0 ? quick.seconds_s : 8) / 4;
    quick.keep = 1;
    quick.progress = NULL;
    cluster_set(c->cluster, values, c);
    err = predict_choose(&choice, c->profile, c->cluster, &quick);
    if (!err)
        *seconds = choice->placements[0].time_s;
    predict_choice_destroy(choice);
    return err;
}

static int best_time_at_means(double *seconds, void *context)
{
    choosing *c = context;

    return predict_vary_not(seconds, c->outlook->varied, c->outlook->count,
                            best_time, c);
}

/* What machines give, for who divides the work by it: the end of the range that
 * is asked for. */
static void split_loads_set(predict_cluster *cluster, const cli_outlook *o,
                            choose_split split)
{
    for (size_t i = 0; i < o->count; i++) {
        predict_machine *machine = &cluster->machines[o->given[i].a];
        predict_stochastic v = o->varied[i].value;
        double share = split == SPLIT_CAREFUL ? predict_lower(v)
                       : split == SPLIT_BOLD  ? predict_upper(v)
                                              : v.mean;
        if (o->given[i].kind == MEASURE_AVAILABILITY)
            machine->split_load = predict_load_of_share(
                predict_varied_within(&o->varied[i], share),
                cluster->processors[machine->place]);
    }
}

/* What is not measured is not certain, but nobody knows how much. */
static int outlook_read(choosing *c)
{
    uint32_t count = c->cluster->machine_count;
    const char **names = calloc(count + 1, sizeof(*names));
    int err;

    if (!names)
        return pastset_no_memory("to choose");
    for (uint32_t i = 0; i < count; i++)
        names[i] = c->cluster->machines[i].name;
    err = cli_outlook_read(c->outlook, &c->a->outlook, names, count);
    if (!err)
        cli_outlook_tell_missing(
            c->outlook, names, count,
            "its load in the cluster file is taken, as if it were certain");
    free(names);
    return err;
}

int cli_choose_with(predict_choice **out, cli_outlook *o, choose_arguments *a,
                    const predict_profile *profile, predict_cluster *cluster)
{
    choosing c = {a, profile, cluster, o};
    predict_unsure unsure = {.set = cluster_set,
                             .matters = matters,
                             .context = &c,
                             .risk = a->outlook.risk};
    int err = outlook_read(&c);

    if (!err)
        err = cli_outlook_settle(o, &a->outlook, best_time_at_means, &c);
    if (err)
        return err;
    split_loads_set(cluster, o, a->split);
    unsure.varied = o->varied;
    unsure.count = o->count;
    return predict_choose_surely(out, profile, cluster, &a->options, &unsure);
}
