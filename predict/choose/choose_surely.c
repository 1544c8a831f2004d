/* choose_surely.c - choosing where it is not certain what machines and links
 * give: see choose.h.
 *
 * What is best by its upper end need not be among the best by its mean. So
 * candidates are the best placements at the means, and those of a cluster in
 * which all is as bad as it may be. */
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "predict/choose/choose_internal.h"

#define CANDIDATES 30 /* of each of both, at least */
#define KEEP 10
#define SECONDS 8.0

/* --- values --- */

static double *values_make(const predict_unsure *u)
{
    return calloc(u->count + 1, sizeof(double));
}

/* Each value at its mean; or at the end that takes longer: of what a machine or
 * a link gives, less is bad, and of what it costs, more. */
static void values_set(double *values, const predict_unsure *u, bool is_bad)
{
    for (size_t i = 0; i < u->count; i++) {
        const predict_varied *v = &u->varied[i];
        double bad =
            v->is_cost ? predict_upper(v->value) : predict_lower(v->value);
        values[i] = predict_varied_within(v, is_bad ? bad : v->value.mean);
    }
}

/* --- one placement --- */

typedef struct rating {
    predict__rater *rater;
    predict_cluster *cluster;
    const predict_unsure *unsure;
    predict_placement *placement;
    double *values;      /* of all, at their means */
    predict_varied *own; /* those that matter to the placement */
    uint32_t *numbers;   /* which these are */
    size_t count;
} rating;

static int time_at(double *seconds, const double *values, void *context)
{
    rating *r = context;
    predict_placement p = *r->placement;
    int err;

    for (size_t i = 0; i < r->count; i++)
        r->values[r->numbers[i]] = values[i];
    r->unsure->set(r->cluster, r->values, r->unsure->context);
    predict__rater_reload(r->rater);
    err = predict__rate(r->rater, &p);
    *seconds = p.time_s;
    return err;
}

static void cause_find(predict_placement *p, const rating *r)
{
    p->cause = PREDICT_NONE;
    p->cause_s = 0;
    for (size_t i = 0; i < r->count; i++) {
        if (r->own[i].added_s <= p->cause_s)
            continue;
        p->cause = r->numbers[i];
        p->cause_s = r->own[i].added_s;
    }
}

static int placement_rate(rating *r, predict_placement *p, uint32_t nodes)
{
    const predict_unsure *u = r->unsure;
    int err;

    r->placement = p;
    r->count = 0;
    values_set(r->values, u, false);
    for (uint32_t i = 0; i < u->count; i++) {
        if (!u->matters(i, p->machines, nodes, u->context))
            continue;
        r->own[r->count] = u->varied[i];
        r->numbers[r->count++] = i;
    }
    err = predict_vary(&p->sure, r->own, r->count, time_at, r);
    if (err)
        return err;
    p->risk_s = predict_at_risk(p->sure, u->risk);
    cause_find(p, r);
    return 0;
}

static int placements_rate(rating *r, predict_choice *choice)
{
    size_t count = r->unsure->count;
    int err = 0;

    r->values = values_make(r->unsure);
    r->own = calloc(count + 1, sizeof(*r->own));
    r->numbers = calloc(count + 1, sizeof(*r->numbers));
    if (!r->values || !r->own || !r->numbers)
        err = pastset_no_memory("to choose");
    for (uint32_t i = 0; i < choice->count && !err; i++)
        err = placement_rate(r, &choice->placements[i], choice->nodes);
    if (!err) {
        values_set(r->values, r->unsure, false);
        r->unsure->set(r->cluster, r->values, r->unsure->context);
    }
    free(r->values);
    free(r->own);
    free(r->numbers);
    return err;
}

/* --- candidates --- */

static bool is_there(const predict_choice *choice, const uint32_t *machines)
{
    for (uint32_t i = 0; i < choice->count; i++)
        if (memcmp(choice->placements[i].machines, machines,
                   choice->nodes * sizeof(*machines)) == 0)
            return true;
    return false;
}

/* Takes over what `from` has and `to` has not, as it is at the means. */
static int add_those_of(predict_choice *to, predict_choice *from,
                        predict__rater *rater)
{
    predict_placement *all =
        realloc(to->placements, (to->count + from->count + 1) * sizeof(*all));
    int err = 0;

    if (!all)
        return pastset_no_memory("to choose");
    to->placements = all;
    for (uint32_t i = 0; i < from->count && !err; i++) {
        predict_placement *p = &from->placements[i];
        if (is_there(to, p->machines))
            continue;
        err = predict__rate(rater, p);
        all[to->count++] = *p;
        p->machines = NULL;
    }
    return err;
}

/* The cluster is as it is at the means afterwards. */
static int candidates(predict_choice **out, const predict_profile *profile,
                      predict_cluster *cluster,
                      const predict_choose_options *options,
                      const predict_unsure *u, predict__rater *rater)
{
    predict_choose_options each = *options;
    predict_choice *bad = NULL;
    double *values = values_make(u);
    int err = values ? 0 : pastset_no_memory("to choose");

    if (each.keep < CANDIDATES)
        each.keep = CANDIDATES;
    each.seconds_s = (each.seconds_s > 0 ? each.seconds_s : SECONDS) / 2;
    if (!err) {
        values_set(values, u, true);
        u->set(cluster, values, u->context);
        err = predict_choose(&bad, profile, cluster, &each);
    }
    if (!err) {
        values_set(values, u, false);
        u->set(cluster, values, u->context);
        predict__rater_reload(rater);
        err = predict_choose(out, profile, cluster, &each);
    }
    if (!err)
        err = add_those_of(*out, bad, rater);
    predict_choice_destroy(bad);
    free(values);
    return err;
}

static int compare(const void *left, const void *right)
{
    const predict_placement *a = left, *b = right;

    return (a->risk_s > b->risk_s) - (a->risk_s < b->risk_s);
}

static void keep_best(predict_choice *choice, uint32_t keep)
{
    qsort(choice->placements, choice->count, sizeof(*choice->placements),
          compare);
    while (choice->count > keep)
        free(choice->placements[--choice->count].machines);
}

int predict_choose_surely(predict_choice **out, const predict_profile *profile,
                          predict_cluster *cluster,
                          const predict_choose_options *options,
                          const predict_unsure *unsure)
{
    predict__rater rater;
    rating r = {.rater = &rater, .cluster = cluster, .unsure = unsure};
    int err = predict__rater_init(&rater, profile, cluster);

    rater.threads = options->threads;
    *out = NULL;
    if (!err)
        err = candidates(out, profile, cluster, options, unsure, &rater);
    if (!err)
        err = placements_rate(&r, *out);
    if (!err)
        keep_best(*out, options->keep ? options->keep : KEEP);
    predict__rater_fini(&rater);
    if (err) {
        predict_choice_destroy(*out);
        *out = NULL;
    }
    return err;
}
