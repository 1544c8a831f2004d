/* command_choose_with.c - eventspace choose --with: by the histories of
 * machines and links. */
#include "viewer/cli/predict/command_choose.h"

#include <math.h>
#include <stdlib.h>

#include "pastset/status.h"

static void cluster_set(predict_cluster *cluster, const double *values,
                        void *context)
{
    const cli_outlook *o = context;
    uint32_t n = cluster->machine_count;

    for (size_t i = 0; i < o->count; i++) {
        const cli_given *g = &o->given[i];
        predict_machine *machine = &cluster->machines[g->a];
        size_t there = (size_t)g->a * n + g->b, back = (size_t)g->b * n + g->a;
        if (g->kind == MEASURE_AVAILABILITY)
            machine->load = predict_load_of_share(
                values[i], cluster->processors[machine->place]);
        else if (g->kind == MEASURE_LATENCY)
            cluster->wires[there].latency_s = cluster->wires[back].latency_s =
                values[i];
        else
            cluster->wires[there].bandwidth = cluster->wires[back].bandwidth =
                values[i];
        if (g->kind != MEASURE_AVAILABILITY && cluster->flows)
            cluster->flows[there] = cluster->flows[back] =
                (predict_flow){0, 0, 0};
    }
}

typedef struct unsure_context {
    const cli_outlook *outlook;
    const predict_cluster *cluster;
} unsure_context;

static void unsure_set(predict_cluster *cluster, const double *values,
                       void *context)
{
    const unsure_context *c = context;

    cluster_set(cluster, values, (void *)(uintptr_t)c->outlook);
}

/* Of a machine: all of its place, whose processors they share. */
static bool unsure_matters(size_t i, const uint32_t *machines, uint32_t nodes,
                           void *context)
{
    const unsure_context *c = context;
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

static int means_set(predict_cluster *cluster, cli_outlook *o)
{
    double *values = calloc(o->count + 1, sizeof(*values));

    if (!values)
        return pastset_no_memory("to choose");
    for (size_t i = 0; i < o->count; i++)
        values[i] = fmin(fmax(o->varied[i].value.mean, o->varied[i].least),
                         o->varied[i].most);
    cluster_set(cluster, values, o);
    free(values);
    return 0;
}

/* As `predict --with` does: how long the best takes by what comes next says
 * which part of the histories counts. */
static int outlook_make(cli_outlook *o, choose_arguments *a,
                        const predict_profile *profile,
                        predict_cluster *cluster)
{
    predict_choice *choice = NULL;
    predict_choose_options quick = a->options;
    int err = cli_outlook_make(o, &a->outlook, 0);

    quick.seconds_s = (quick.seconds_s > 0 ? quick.seconds_s : 8) / 4;
    quick.keep = 1;
    quick.progress = NULL;
    if (!err)
        err = means_set(cluster, o);
    if (!err)
        err = predict_choose(&choice, profile, cluster, &quick);
    if (!err)
        err = cli_outlook_make(
            o, &a->outlook,
            (int64_t)fmax(1, choice->placements[0].time_s * 1000));
    predict_choice_destroy(choice);
    return err;
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
            machine->split_load =
                predict_load_of_share(fmin(fmax(share, o->varied[i].least), 1),
                                      cluster->processors[machine->place]);
    }
}

static int outlook_read(cli_outlook *o, const choose_arguments *a,
                        const predict_cluster *cluster)
{
    const char **names = calloc(cluster->machine_count + 1, sizeof(*names));
    int err;

    if (!names)
        return pastset_no_memory("to choose");
    for (uint32_t i = 0; i < cluster->machine_count; i++)
        names[i] = cluster->machines[i].name;
    err = cli_outlook_read(o, &a->outlook, names, cluster->machine_count);
    free(names);
    return err;
}

/* What is not measured is not certain, but nobody knows how much. */
static void tell_missing(const cli_outlook *o, const predict_cluster *cluster)
{
    for (uint32_t m = 0; m < cluster->machine_count; m++) {
        bool is_there = false;
        for (size_t i = 0; i < o->count; i++)
            is_there |=
                o->given[i].kind == MEASURE_AVAILABILITY && o->given[i].a == m;
        if (!is_there)
            fprintf(stderr,
                    "eventspace: there is no history of the availability of "
                    "%s: its load in the cluster file, %g, is taken, as if it "
                    "were certain\n",
                    cluster->machines[m].name, cluster->machines[m].load);
    }
}

int cli_choose_with(predict_choice **out, cli_outlook *o, choose_arguments *a,
                    const predict_profile *profile, predict_cluster *cluster)
{
    unsure_context context = {o, cluster};
    predict_unsure unsure = {.set = unsure_set,
                             .matters = unsure_matters,
                             .context = &context,
                             .risk = a->outlook.risk};
    int err = outlook_read(o, a, cluster);

    if (!err) {
        tell_missing(o, cluster);
        err = outlook_make(o, a, profile, cluster);
    }
    split_loads_set(cluster, o, a->split);
    unsure.varied = o->varied;
    unsure.count = o->count;
    return err ? err
               : predict_choose_surely(out, profile, cluster, &a->options,
                                       &unsure);
}
