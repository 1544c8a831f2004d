/* experiment.h - runs a program alone and under other conditions, and puts
 * beside each time what was predicted for it.
 *
 *   1. The program is profiled once (measure/profiler/profiler.h), with nothing
 * else.
 *   2. All cases are predicted (predict/models/predict.h), before any is
 * measured.
 *   3. It is run `runs` times in each case; all cases once, then again in
 *      another order, so that what changes on the machine meanwhile changes
 *      all of them.
 *
 * A case is conditions as in predict/cluster/condition.h, with blanks between
 * them:
 *
 *   n0:load=1      competing processes on the processor of node n0, or of all
 *                  (`*`). `law=LAW` may stand behind; it changes the
 *                  prediction only
 *   n0-n1:bandwidth=10mbit
 *                  the link is limited to this rate (`*`: all links). That
 *                  needs a testbed (testbed_internal.h) or simulated links
 *
 * L and B of links, quiet and limited, are measured between the machines of
 * the testbed by measure/links/links.h, and fitted to the sizes of messages
 * that the program sends; the predictions go by these.
 *
 * Programs of ours run with a path map: its processes are the nodes, each is
 * bound to one processor and, on a testbed, put into a namespace. Other
 * programs are bound as a whole; their nodes are those of their profile.
 *
 * Threads:   one thread per experiment.
 * Ownership: run gives, destroy takes back. */
#ifndef MEASURE_EXPERIMENT_H
#define MEASURE_EXPERIMENT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "measure/links/links.h"
#include "measure/profiler/profiler.h"
#include "predict/models/predict.h"

typedef enum measure_experiment_links {
    MEASURE_LINKS_AS_THEY_ARE,
    MEASURE_LINKS_TESTBED, /* namespaces, and `tc tbf` */
    MEASURE_LINKS_DELAYS,  /* a wrapper `delay` in the map before each proxy
                              that leads to another process: needs no rights */
} measure_experiment_links;

typedef struct measure_experiment_options {
    const char *map;            /* of the program; NULL: it needs none */
    char *const *argv;          /* the program and its arguments */
    const char *eventspace;     /* the command; NULL: this program's file */
    const uint32_t *processors; /* of processes, in turn */
    size_t processor_count;     /* 0: those that we may use */
    measure_experiment_links links;
    const char *testbed;      /* its name; NULL: "experiment" */
    double base_rate;         /* bytes/s of links that no condition names; 0:
                                 not limited */
    const char *const *cases; /* texts, without the one that is alone */
    size_t case_count;
    uint32_t runs; /* of each; 0: 5 */
    uint64_t seed; /* of the order */
    predict_scheduler scheduler;
    const char *profile; /* read if it is there, else written; NULL: neither */
    volatile sig_atomic_t *stop;    /* set by a signal: end soon; NULL: none */
    volatile sig_atomic_t *pass_on; /* as that of measure_profile_options */
    void (*progress)(void *context, const char *what, uint32_t done,
                     uint32_t all);
    void *context;
} measure_experiment_options;

/* One case; the first of an experiment is "dedicated". */
typedef struct measure_case {
    char *text;
    double *times_s;               /* in the order of their rounds */
    double *others;                /* the share of the processors that other
                                      programs had in each: others.h */
    uint32_t runs;                 /* that ended well so far */
    double median_s, min_s, max_s; /* NaN: there is none */
    bool predicted;
    predict_answers answers;
} measure_case;

/* What a link of the testbed is that is limited to `limit`. */
typedef struct measure_wire {
    double limit;        /* bytes per second; 0: not limited */
    measure_link link;   /* as measured, over all sizes */
    predict_wire fitted; /* L and B at the sizes that the program sends; the
                            predictions go by these */
} measure_wire;

typedef struct measure_experiment {
    measure_case *cases;
    size_t case_count;
    measure_wire *wires;
    size_t wire_count;
    predict_profile *profile; /* NULL: it did not come so far */
    measure_profile_notes notes;
} measure_experiment;

/* Can a case of this text be made, whatever the names of nodes are? Errors:
 * PASTSET_EINVAL. */
int measure_experiment_check(const char *text);

/* When something fails, what was measured until then is in `*out` as well;
 * NULL when nothing was. The text names the case and the run that failed.
 * Errors: those of maps, testbed, profile and predict; PASTSET_EINVAL: a
 * condition that cannot be made; PASTSET_EAPP: a run failed;
 * PASTSET_ECANCELED: `stop`. */
int measure_experiment_run(measure_experiment **out,
                           const measure_experiment_options *options);
void measure_experiment_destroy(measure_experiment *experiment);

/* By how much a prediction misses what was measured, as a share of it, as it
 * was told before the runs; 0 within bounds. Below 0: it is too low. NaN when
 * nothing was measured. */
double measure_experiment_error(const measure_case *of,
                                const predict_answer *answer);

/* Scaled: a predicted time for the program without what profiling it costs,
 * times the median of its dedicated runs, by the dedicated time of the profile.
 * As the papers do it, who tell times in per cent of the dedicated one; it
 * takes runs of the same experiment, which a prediction does not have. */
double measure_experiment_scaled(const measure_experiment *experiment,
                                 double predicted_s);
double measure_experiment_scaled_error(const measure_experiment *experiment,
                                       const measure_case *of,
                                       const predict_answer *answer);

#endif
