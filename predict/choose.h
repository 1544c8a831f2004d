/* choose.h - which hosts of a cluster, under its present load, will run a
 * program fastest: the question of papers 000 and 001.
 *
 * A placement gives each node of the profile a host. It is rated by the time
 * that is predicted for it: by the replay (replay.h) if the profile has actors,
 * else by the model of predict.h, of which the upper bound is taken.
 *
 * Threads: any. */
#ifndef PREDICT_CHOOSE_H
#define PREDICT_CHOOSE_H

#include "predict/cluster.h"
#include "predict/profile.h"
#include "predict/scenario.h"

typedef struct predict_choose_options {
    uint64_t most;    /* placements that are all tried; above, a search. 0:
                         20,000, less where one takes long (seconds_s) */
    double seconds_s; /* time that may be spent; 0: 8 */
    uint32_t keep;    /* how many placements are given; 0: 10 */
    uint64_t seed;    /* of the search */
    void (*progress)(void *context, uint64_t done, uint64_t all);
    void *context;
} predict_choose_options;

typedef struct predict_placement {
    uint32_t *hosts; /* by node of the profile: index of the cluster */
    double time_s;   /* by which it is rated */
    double lower_s, upper_s;
} predict_placement;

typedef struct predict_choice {
    predict_placement *placements; /* best first */
    uint32_t count;
    uint32_t nodes;
    uint64_t tried;    /* placements that were rated by `model` */
    double all;        /* that there are */
    const char *model; /* "replay" or "bounds" */
    char how[200];     /* "all 30 placements were tried", or how was searched */
} predict_choice;

/* Each host takes one node at most. Nodes of the profile are told apart.
 * Errors: PASTSET_EINVAL: fewer hosts than nodes; PASTSET_ENOMEM. */
int predict_choose(predict_choice **out, const predict_profile *profile,
                   const predict_cluster *cluster,
                   const predict_choose_options *options);
void predict_choice_free(predict_choice *choice);

/* The conditions of one placement, as a scenario. The caller frees it. Links of
 * the profile whose nodes have no way in the cluster: PASTSET_ENOENT. */
int predict_placement_scenario(predict_scenario **out,
                               const predict_profile *profile,
                               const predict_cluster *cluster,
                               const uint32_t *hosts);

#endif
