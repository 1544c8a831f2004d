/* predict_internal.h - what predict*.c share: a profile added up, what a
 * scenario changes, and the models with these numbers. */
#ifndef PREDICT_PREDICT_INTERNAL_H
#define PREDICT_PREDICT_INTERNAL_H

#include "predict/models/predict.h"

typedef struct predict__node {
    predict_sums sums;
    double busy_share; /* of its communication, in which it was busy */
    double threads;    /* of it that were busy at once, on average; from 1 */
} predict__node;

typedef struct predict__link {
    double messages, bytes;
} predict__link;

/* What the models need of a profile, added up once. It borrows the profile,
 * whose links must not be changed meanwhile. */
typedef struct predict_facts {
    const predict_profile *profile;
    double wall_s;
    predict__node *nodes;
    predict__link *links;
} predict_facts;

int predict_facts_create(predict_facts **out, const predict_profile *profile);
void predict_facts_destroy(predict_facts *facts);

/* What predict_answer_all would call the best if there were no actors. Its time
 * grows with nodes * (nodes + links), not with messages or phases. Errors: as
 * of predict_answer_all. */
int predict_answer_fast(predict_bounds *out, const predict_facts *facts,
                        const predict_scenario *scenario);

/* What a scenario asks for. */
typedef struct predict__asked {
    const predict_facts *facts;
    const predict_scenario *scenario;
    double *loads;           /* by node: as the models see it */
    double *ratios;          /* by node: r of its messages */
    uint32_t nodes, links;   /* how many are changed */
    uint32_t node, link;     /* the last of them */
    double load, ratio;      /* the largest */
    double slowest, fastest; /* speeds */
} predict__asked;

/* Errors: those of predict_answer_all. Links that are to change and nodes are
 * checked here, once for all models. */
int predict__asked_init(predict__asked *out, const predict_facts *facts,
                        const predict_scenario *scenario);
void predict__asked_fini(predict__asked *asked);
bool predict__node_changed(const predict__asked *asked, uint32_t node);
bool predict__link_changed(const predict_scenario *scenario, uint32_t link);

/* --- predict_models.c: seconds --- */

typedef enum predict__way {
    PREDICT__PHASES,
    PREDICT__TOTALS,
    PREDICT__SEQUENCE
} predict__way;

/* `scheduler` NULL: that of the node. */
int predict__node_time(double *out_s, const predict__asked *asked,
                       uint32_t node, const predict_scheduler *scheduler,
                       predict__way way);
/* What a link adds by its latency and by its bandwidth. */
void predict__link_parts(double *latency_s, double *bandwidth_s,
                         const predict__asked *asked, uint32_t link);
/* The whole program's time. */
double predict__link_time(const predict__asked *asked, uint32_t link);
int predict__node_and_link(double *out_s, const predict__asked *asked,
                           const predict_scheduler *scheduler);
int predict__all(predict_bounds *out, const predict__asked *asked,
                 const predict_scheduler *scheduler);

/* --- predict_terms.c --- */

/* Keeps the largest PREDICT_TERMS, in order. `b` may be NULL. */
void predict__term(predict_answer *answer, const char *what, const char *a,
                   const char *b, double added_s);
/* By the models: each node and link alone; what is left over of the (upper)
 * time is waiting for one another. */
int predict__terms(predict_answer *answer, const predict__asked *asked,
                   const predict_scheduler *scheduler, predict__way way);

/* --- predict_replay.c --- */

/* Puts the replay's numbers and terms into an answer. */
int predict__replay(predict_answer *out, const predict__asked *asked);

/* Whether all actors came to their end. Errors: PASTSET_EINVAL. */
int predict__replay_settled(const predict_replay *replay,
                            const predict_profile *profile);

/* See predict_answer_all. */
double predict__replay_time(double wall_s, double base_s, double run_s);

#endif
