/* choose.c - choosing machines: which placements are rated, and how many.
 *
 * A prediction (rating) of a large profile may take a second. The first one
 * tells how long. If there is time for all placements, all are rated. Else
 * they are estimated - all, or where there are too many those that a search
 * comes by (choose_search.c) - and those of the best estimates are rated. In
 * the time that remains the neighbours of the best one are, until none is
 * better. */
#include "predict/choose/choose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/array.h"
#include "pastset/status.h"
#include "predict/choose/choose_internal.h"

#define MAX 20000        /* placements that are all rated */
#define ESTIMATED 500000 /* placements that are all estimated */
#define SECONDS 8.0
#define KEEP 10
#define CANDIDATES 400
#define NEIGHBOURS 40
#define SEARCH_SHARE 0.4 /* of the time, for estimates */
#define RATE_SHARE 0.8   /* of it, until the candidates are rated */

typedef struct chooser {
    predict_choose_options options; /* with numbers for zeros */
    predict__rater rater;
    predict__pool best;  /* by prediction */
    predict__pool found; /* by estimate */
    predict_choice *choice;
    uint32_t nodes;
    double begin_s;
    double each_s;   /* that a rating takes */
    uint64_t todo;   /* ratings, for the progress */
    uint64_t *rated; /* hashes of the placements that were */
    size_t rated_count;
    uint32_t again; /* times that the first one came by once more */
    bool timed;     /* stops when the time is over */
    bool cut;       /* and it was */
} chooser;

/* --- rating --- */

static uint64_t hash_of(const uint32_t *machines, uint32_t nodes)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (uint32_t i = 0; i < nodes; i++)
        hash = (hash ^ machines[i]) * 0x100000001b3u;
    return hash;
}

static bool was_rated(const chooser *c, const uint32_t *machines)
{
    uint64_t hash = hash_of(machines, c->nodes);

    for (size_t i = 0; i < c->rated_count; i++) {
        if (c->rated[i] == hash)
            return true;
    }
    return false;
}

static int note_rated(chooser *c, const uint32_t *machines)
{
    uint64_t *more =
        pastset_array_grow(c->rated, c->rated_count, sizeof(*more));

    if (!more)
        return pastset_no_memory("to choose");
    c->rated = more;
    c->rated[c->rated_count++] = hash_of(machines, c->nodes);
    return 0;
}

static bool over(const chooser *c, double share)
{
    return predict__now() >= c->begin_s + share * c->options.seconds_s;
}

/* A placement that has no way for some link is none: that is no error. */
static int rate(chooser *c, uint32_t *machines)
{
    predict_placement p = {
        .machines = machines, .time_s = NAN, .lower_s = NAN, .upper_s = NAN};
    int err = note_rated(c, machines);

    if (!err)
        err = predict__rate(&c->rater, &p);
    if (err == PASTSET_ENOENT)
        return 0;
    if (err)
        return err;
    c->choice->tried++;
    if (c->choice->tried == 1 || p.time_s > c->choice->worst_s)
        c->choice->worst_s = p.time_s;
    predict__pool_add(&c->best, &p);
    if (c->options.progress)
        c->options.progress(c->options.context, c->choice->tried, c->todo);
    return 0;
}

/* How long one takes, by the best candidate that there is so far. */
static int rate_first(chooser *c)
{
    double begin = predict__now();
    int err;

    c->todo = 1;
    err = c->found.count ? rate(c, c->found.items[0].machines) : 0;

    c->each_s = predict__now() - begin;
    return err;
}

/* --- all placements --- */

static int visit(void *context, uint32_t *machines)
{
    chooser *c = context;

    if (c->timed && over(c, 1)) {
        c->cut = true;
        return PASTSET_ETIMEDOUT;
    }
    /* One was, to see how long that takes. */
    if (c->rated_count && hash_of(machines, c->nodes) == c->rated[0] &&
        !c->again++)
        return 0;
    return rate(c, machines);
}

static int rate_all(chooser *c)
{
    int err;

    c->todo = (uint64_t)c->choice->all;
    err = predict__each_placement(c->nodes, c->rater.cluster->machine_count,
                                  visit, c);
    if (err == PASTSET_ETIMEDOUT)
        err = 0;
    if (c->cut)
        snprintf(c->choice->how, sizeof(c->choice->how),
                 "%.0f of all %.0f placements were tried within the time limit",
                 (double)c->rated_count, c->choice->all);
    else
        snprintf(c->choice->how, sizeof(c->choice->how),
                 "all %.0f placements were tried", c->choice->all);
    return err;
}

/* --- some of them --- */

static int rate_found(chooser *c)
{
    uint32_t before = c->found.count;
    int err = 0;

    c->todo = before;
    for (uint32_t i = 0; i < before && !err && !over(c, RATE_SHARE); i++) {
        if (!was_rated(c, c->found.items[i].machines))
            err = rate(c, c->found.items[i].machines);
    }
    return err;
}

/* Rates neighbours of the best one until none is better. */
static int polish(chooser *c)
{
    uint32_t *machines = calloc(c->nodes, sizeof(*machines));
    double before = INFINITY;
    int err = machines ? 0 : pastset_no_memory("to choose");

    while (!err && c->best.count && c->best.items[0].time_s < before &&
           !over(c, 1)) {
        predict__pool around;
        predict__search search = {.rater = &c->rater, .pool = &around};
        before = c->best.items[0].time_s;
        memcpy(machines, c->best.items[0].machines,
               c->nodes * sizeof(*machines));
        err = predict__pool_init(&around, c->nodes, NEIGHBOURS);
        if (!err)
            predict__search_around(&search, machines);
        c->todo += around.count;
        for (uint32_t i = 0; i < around.count && !err && !over(c, 1); i++) {
            if (!was_rated(c, around.items[i].machines))
                err = rate(c, around.items[i].machines);
        }
        c->choice->estimated += search.estimated;
        predict__pool_fini(&around);
    }
    free(machines);
    return err;
}

static void tell_some(chooser *c, const char *found, uint64_t candidates)
{
    predict_choice *choice = c->choice;

    snprintf(choice->how, sizeof(choice->how),
             "%s; of the best estimates %.0f were rated by the %s, then %.0f "
             "neighbours of the best%s",
             found, (double)candidates, choice->model,
             (double)(c->rated_count - candidates),
             over(c, 1) ? ", until the time limit" : "");
}

static int rate_some(chooser *c)
{
    char found[200];
    predict__search search = {.rater = &c->rater,
                              .pool = &c->found,
                              .seed = c->options.seed,
                              .until_s = c->begin_s +
                                         SEARCH_SHARE * c->options.seconds_s};
    uint64_t candidates;
    int err;

    if (c->choice->all <= ESTIMATED) {
        err = predict__search_all(&search);
        snprintf(found, sizeof(found), "all %.0f placements were estimated",
                 c->choice->all);
    } else {
        err = predict__search_run(&search);
        snprintf(found, sizeof(found),
                 "of %.3g placements %.0f were estimated: greedy placing and "
                 "local search (move a node, swap two) from %u starts, seed "
                 "%llu",
                 c->choice->all, (double)search.estimated, search.starts,
                 (unsigned long long)c->options.seed);
    }
    c->choice->estimated = search.estimated;
    if (!err)
        err = rate_found(c);
    candidates = c->rated_count;
    if (!err)
        err = polish(c);
    tell_some(c, found, candidates);
    return err;
}

/* --- in all --- */

/* How many placements there are. */
static double count_all(uint32_t machines, uint32_t nodes)
{
    double all = 1;

    for (uint32_t i = 0; i < nodes; i++)
        all *= machines - i;
    return all;
}

/* Any placement, to see how long one takes. */
static int find_one(chooser *c)
{
    predict__search search = {.rater = &c->rater, .pool = &c->found};

    return predict__search_run(&search); /* its time is over: one start */
}

static int choose(chooser *c)
{
    bool all = c->choice->all <= (double)c->options.max;
    int err = find_one(c);

    if (!err)
        err = rate_first(c);
    if (err)
        return err;
    if (all && !c->timed)
        return rate_all(c);
    if (all && c->each_s * c->choice->all <= c->options.seconds_s / 2)
        return rate_all(c);
    return rate_some(c);
}

static int check(const predict_profile *profile, const predict_cluster *cluster)
{
    if (profile->node_count == 0)
        return pastset_fail(PASTSET_EINVAL, "the profile has no nodes to "
                                            "place");
    if (profile->node_count > cluster->machine_count)
        return pastset_fail(PASTSET_EINVAL,
                            "the profile has %zu nodes, but the cluster has "
                            "only %u machines, each for one node",
                            profile->node_count, cluster->machine_count);
    return 0;
}

static void init_options(chooser *c, const predict_choose_options *options)
{
    if (options)
        c->options = *options;
    c->timed = c->options.max == 0;
    if (c->options.max == 0)
        c->options.max = MAX;
    if (!(c->options.seconds_s > 0))
        c->options.seconds_s = SECONDS;
    if (c->options.keep == 0)
        c->options.keep = KEEP;
}

static int init(chooser *c, const predict_profile *profile,
                const predict_cluster *cluster)
{
    int err = predict__rater_init(&c->rater, profile, cluster);

    if (err)
        return err;
    c->rater.threads = c->options.threads;
    err = predict__pool_init(&c->best, c->nodes, c->options.keep);
    if (err)
        return err;
    err = predict__pool_init(&c->found, c->nodes, CANDIDATES);
    if (err)
        return err;
    c->choice = calloc(1, sizeof(*c->choice));
    if (!c->choice)
        return pastset_no_memory("to choose");
    c->choice->nodes = c->nodes;
    c->choice->all = count_all(cluster->machine_count, c->nodes);
    c->choice->model = profile->actor_count ? "replay" : "bounds";
    c->choice->dedicated_s = c->rater.wall_s;
    return 0;
}

/* Gives the pool's placements to the choice. */
static int take_best(chooser *c)
{
    if (c->best.count == 0)
        return pastset_fail(
            PASTSET_ENOENT,
            "found no placement with a route between the machines of all nodes "
            "that send each other messages");
    for (uint32_t i = c->best.count; i < c->best.capacity; i++)
        free(c->best.items[i].machines);
    c->choice->placements = c->best.items;
    c->choice->count = c->best.count;
    c->best.items = NULL;
    return 0;
}

int predict_choose(predict_choice **out, const predict_profile *profile,
                   const predict_cluster *cluster,
                   const predict_choose_options *options)
{
    chooser c = {.begin_s = predict__now(),
                 .nodes = (uint32_t)profile->node_count};
    int err = check(profile, cluster);

    *out = NULL;
    if (err)
        return err;
    init_options(&c, options);
    err = init(&c, profile, cluster);
    if (!err)
        err = choose(&c);
    if (!err)
        err = take_best(&c);
    if (err)
        predict_choice_destroy(c.choice);
    else
        *out = c.choice;
    predict__rater_fini(&c.rater);
    predict__pool_fini(&c.best);
    predict__pool_fini(&c.found);
    free(c.rated);
    return err;
}

void predict_choice_destroy(predict_choice *choice)
{
    if (!choice)
        return;
    for (uint32_t i = 0; i < choice->count; i++)
        free(choice->placements[i].machines);
    free(choice->placements);
    free(choice);
}
