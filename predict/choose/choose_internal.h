/* choose_internal.h - what the files of choosing share. */
#ifndef PREDICT_CHOOSE_INTERNAL_H
#define PREDICT_CHOOSE_INTERNAL_H

#include "predict/choose/choose.h"

/* --- choose_scenario.c --- */

/* What goes over a link of the profile: [0] from a to b, [1] from b to a. */
typedef struct predict__traffic {
    double messages[2];
    double bytes[2];
} predict__traffic;

/* By link; the caller frees it. NULL when memory is out. */
predict__traffic *predict__traffic_make(const predict_profile *profile);

/* The wire that a link gets between two machines; bandwidth 0: there is
 * none. */
predict_wire predict__placed_wire(const predict_cluster *cluster,
                                  const predict__traffic *traffic, uint32_t a,
                                  uint32_t b);

/* The conditions of one placement, as a scenario. The caller frees it.
 *
 *   loads    the load of a place is the largest one of its machines, as all of
 *            them share its processors; the nodes that are placed there divide
 *            it, as their loads add up
 *   wires    of a link of the profile: those of the ways between its machines.
 *            If the two directions differ, L is their mean by messages and B
 *            that by bytes, so that the time of all messages is right.
 *   flows    those of the same ways, for the replay, and likewise in the middle
 *            if the two directions differ. What is measured of the profile's
 *            links does not count there. (The bounds, and the estimates of a
 *            search, know L and B only.)
 *
 * Errors: PASTSET_ENOENT: a link of the profile with messages whose machines
 * have no way in the cluster; PASTSET_EINVAL: no such machine, or one twice;
 * PASTSET_ENOMEM. */
int predict_placement_scenario(predict_scenario **out,
                               const predict_profile *profile,
                               const predict_cluster *cluster,
                               const uint32_t *machines);
/* The same; `traffic` is that of the profile. */
int predict__placed_scenario(predict_scenario **out,
                             const predict_profile *profile,
                             const predict_cluster *cluster,
                             const predict__traffic *traffic,
                             const uint32_t *machines);

/* --- choose_rate.c --- */

typedef struct predict__rater {
    const predict_profile *profile;
    const predict_cluster *cluster;
    predict__traffic *traffic;
    predict_sums *sums;      /* by node */
    double *place_loads;     /* by place of the cluster */
    double *link_s;          /* by link: seconds of its messages as measured */
    const uint32_t *threads; /* by node; NULL: the work is not divided */
    double *factors;         /* by node: how much work it has; of the placement
                                that is rated */
    double wall_s;
    double replay_s; /* as replayed without any change; 0: no actors */
    /* For estimates, all zero in between: */
    double *use;   /* by place: processor time of the nodes there, by the wall
                      time */
    double *added; /* by node: seconds */
} predict__rater;

int predict__rater_init(predict__rater *rater, const predict_profile *profile,
                        const predict_cluster *cluster);
void predict__rater_fini(predict__rater *rater);
/* The loads of the cluster are others now. */
void predict__rater_reload(predict__rater *rater);

/* A quick estimate of the time, in seconds, for finding candidates. Nodes on
 * PREDICT_NONE are left out. For each way that is missing 1e9 s are added. */
double predict__estimate(predict__rater *rater, const uint32_t *machines);

/* The prediction. Errors: those of predict_placement_scenario and of the
 * model. */
int predict__rate(predict__rater *rater, predict_placement *placement);

/* --- choose_split.c --- */

/* A node with so many times as much work is so much slower. NULL: it has as
 * much as in the profile. */
void predict__split_scenario(predict_scenario *scenario, const double *factors);

/* --- choose_pool.c --- */

/* The best placements so far, each once, in order: by time, then by
 * machines. */
typedef struct predict__pool {
    predict_placement *items;
    uint32_t count, capacity, nodes;
} predict__pool;

int predict__pool_init(predict__pool *pool, uint32_t nodes, uint32_t capacity);
void predict__pool_fini(predict__pool *pool);
void predict__pool_add(predict__pool *pool, const predict_placement *placement);

/* --- choose_search.c --- */

typedef struct predict__search {
    predict__rater *rater;
    predict__pool *pool; /* gets every placement that was estimated, if it is
                            among the best */
    uint64_t estimated;
    uint32_t starts;
    uint64_t seed;
    double until_s; /* by predict__now */
} predict__search;

double predict__now(void);

/* Estimates all placements. Errors: PASTSET_ENOMEM. */
int predict__search_all(predict__search *search);

/* Greedy starts and local search. Errors: PASTSET_ENOMEM. */
int predict__search_run(predict__search *search);

/* Estimates all that differ from `machines` by one node elsewhere, or by two
 * that change places. `machines` is the same again afterwards. */
void predict__search_around(predict__search *search, uint32_t *machines);

/* Calls `visit` for each placement until it fails. Errors: PASTSET_ENOMEM, and
 * what `visit` gives. */
int predict__each_placement(uint32_t nodes, uint32_t machines,
                            int (*visit)(void *context, uint32_t *placement),
                            void *context);

#endif
