/* choose.h - which machines of a cluster, under its present load, will run a
 * program fastest: the question of papers 000 and 001.
 *
 * A placement gives each node of the profile a machine. It is rated by the time
 * that is predicted for it: by the replay (replay.h) if the profile has actors,
 * else by the model of predict.h, of which the upper bound is taken.
 *
 * Threads: any. */
#ifndef PREDICT_CHOOSE_H
#define PREDICT_CHOOSE_H

#include "predict/cluster/cluster.h"
#include "predict/profile/profile.h"
#include "predict/cluster/scenario.h"
#include "predict/stochastic/vary.h"

typedef struct predict_choose_options {
    uint64_t max;            /* placements that are all tried, however long that
                                 takes; above, a search. 0: 20,000, less where the time
                                 is too short for them */
    double seconds_s;        /* time that may be spent; 0: 8 */
    uint32_t keep;           /* how many placements are given; 0: 10 */
    uint64_t seed;           /* of the search */
    const uint32_t *threads; /* by node: how many share its part of the work,
                                which is divided as predict_split does; NULL:
                                as in the profile, equally much for each
                                thread of all nodes */
    void (*progress)(void *context, uint64_t done, uint64_t all);
    void *context;
} predict_choose_options;

typedef struct predict_placement {
    uint32_t *machines;      /* by node of the profile: index of the cluster */
    double time_s;           /* by which it is rated */
    double lower_s, upper_s; /* the papers' bounds; NaN: they cannot be told */
    /* Only of predict_choose_surely: */
    predict_stochastic sure; /* the time, with its range */
    double risk_s;           /* what to count on */
    uint32_t cause; /* what adds most to the range: index; PREDICT_NONE */
    double cause_s; /* so much */
} predict_placement;

typedef struct predict_choice {
    predict_placement *placements; /* best first */
    uint32_t count;
    uint32_t nodes;
    uint64_t tried;     /* placements that were rated by `model` */
    uint64_t estimated; /* that were only estimated, to find those */
    double all;         /* that there are */
    double dedicated_s; /* the time that was measured */
    double worst_s;     /* the longest time of those that were rated */
    const char *model;  /* "replay" or "bounds" */
    char how[320]; /* "all 30 placements were tried", or how was searched */
} predict_choice;

/* Each machine takes one node at most. Nodes of the profile are told apart.
 * With the same seed the result is the same, unless the time was over.
 * Errors: PASTSET_EINVAL: fewer machines than nodes, or a link of the profile
 * was not measured; PASTSET_ENOENT: no placement has a way for each link that
 * the program uses; PASTSET_ENOMEM. */
int predict_choose(predict_choice **out, const predict_profile *profile,
                   const predict_cluster *cluster,
                   const predict_choose_options *options);
void predict_choice_destroy(predict_choice *choice);

/* Is the program busy, between two waits for others, for less than half a slice
 * of the scheduler? Then it does not go on at all while one of its threads has
 * no processor, and while all have one, the thread with most work holds up the
 * others: beside competitors, equal parts are best. */
bool predict_is_fine_grained(const predict_profile *profile);

/* How many times as much work each thread of a node has, if all of the work is
 * divided by what their machines give to a thread, as if all had equally much
 * (002, table 1). A machine with a load of n gives each of its t threads a
 * p/(n + t) of a processor, at most 1, times its speed; n is `split_load`, and
 * 0 if the program is fine-grained. */
void predict_split(double *out, const predict_profile *profile,
                   const predict_cluster *cluster, const uint32_t *machines,
                   const uint32_t *threads);

/* --- where it is not certain what machines and links give --- */

typedef struct predict_unsure {
    predict_varied *varied; /* its `added_s` is used */
    size_t count;
    /* Makes the cluster what it is with these values, one for each. */
    void (*set)(predict_cluster *cluster, const double *values, void *context);
    /* Has the i-th to do with any of these machines, of so many nodes? */
    bool (*matters)(size_t i, const uint32_t *machines, uint32_t nodes,
                    void *context);
    void *context;
    double risk; /* as in predict_at_risk */
} predict_unsure;

/* As above, ordered by the time that is to be counted on: placements that are
 * among the best at the means of all values, or where all values are as bad as
 * their ranges reach, are each rated at both ends of each value that matters to
 * them. `time_s` is the one at the means. The cluster is left as it is with
 * these. Errors: those above. */
int predict_choose_surely(predict_choice **out, const predict_profile *profile,
                          predict_cluster *cluster,
                          const predict_choose_options *options,
                          const predict_unsure *unsure);

#endif
