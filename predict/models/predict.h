/* predict.h - the time that a program will take, or bounds for it, and why.
 *
 * Chooses the model by what is asked (scenario.h):
 *
 *   nothing changed        the time as measured
 *   one node loaded        models.h, one shared node
 *   one link changed       one shared link
 *   one of each            both
 *   several nodes, links   bounds
 *   anything               replay.h, if the profile has actors
 *
 * Every model that fits is worked out; `best` is the one to go by, which is
 * named before anything is measured: the replay where there is one, else the
 * papers' model with the scheduler model of the machine. Where the scheduler
 * model of a machine is not the papers' (`credit`), their answer is worked out
 * too.
 *
 * Nodes with several processors (a place of p, on which the node keeps t busy
 * on average): a load of k counts for the models as max(1, (t + k)/p) - 1, as
 * long as the others that are there have processors enough.
 *
 * Several, but not all: the lower bound is the largest that one of them alone
 * gives, the upper one that of all nodes with the largest load, or of all links
 * with the largest r of any node's own messages.
 *
 * Threads: any. */
#ifndef PREDICT_PREDICT_H
#define PREDICT_PREDICT_H

#include "predict/replay/replay.h"
#include "predict/cluster/scenario.h"

#define PREDICT_ANSWERS 12
#define PREDICT_TERMS 24

/* A part of a prediction: what costs how much. */
typedef struct predict_term {
    const char *what; /* "competing processes", "link", "waiting" ... */
    char where[80];   /* "n0", "n0-n1", "" */
    double added_s;   /* to the dedicated time */
} predict_term;

typedef struct predict_answer {
    const char *model;       /* "node by phases", "node by totals", "node by
                                sequence", "link", "node and link", "all nodes",
                                "all links", "nodes and links", "replay",
                                "dedicated" */
    const char *source;      /* "001, 3.2" ...; "" for the replay */
    char scheduler[32];      /* "" if it has none */
    double lower_s, upper_s; /* equal unless it gives bounds */
    predict_term terms[PREDICT_TERMS]; /* largest first */
    size_t term_count;
} predict_answer;

typedef struct predict_answers {
    double dedicated_s;
    predict_answer all[PREDICT_ANSWERS];
    size_t count;
    size_t best; /* index */
} predict_answers;

/* All answers. The replay's is the measured time and what its time under the
 * scenario is longer than its time without: what it does not know of, or sees
 * too long, is taken to stay as it is. (If it is shorter, in proportion.)
 * Errors: PASTSET_EINVAL (also: a link is to change that was not
 * measured), PASTSET_ENOMEM. */
int predict_answer_all(predict_answers *out, const predict_scenario *scenario);

#endif
