/* experiment_internal.h - what the files of an experiment share. */
#ifndef MEASURE_EXPERIMENT_INTERNAL_H
#define MEASURE_EXPERIMENT_INTERNAL_H

#include "measure/experiment/experiment.h"
#include "measure/load/load.h"
#include "measure/experiment/testbed_internal.h"

#define EXPERIMENT_PATH 4096

/* --- conditions: experiment_conditions.c --- */

typedef struct experiment_condition {
    char *text; /* as it was given */
    predict_condition is;
} experiment_condition;

typedef struct experiment_conditions {
    experiment_condition *items;
    size_t count;
} experiment_conditions;

/* Nodes are told by `names`. Errors: PASTSET_EINVAL, PASTSET_ENOENT. */
int measure__experiment_conditions_parse(experiment_conditions *out,
                                         const char *text,
                                         const char *const *names,
                                         size_t count);
void measure__experiment_conditions_fini(experiment_conditions *conditions);

/* --- the set-up: experiment_setup.c --- */

typedef struct experiment_node {
    char *name;
    char *processors; /* as in an affinity: "0", "0-1" */
} experiment_node;

typedef struct experiment_setup {
    const measure_experiment_options *options;
    char folder[EXPERIMENT_PATH - 64]; /* made by us, and removed */
    char eventspace[EXPERIMENT_PATH];
    experiment_node *nodes; /* processes of the map; nodes of the profile */
    size_t node_count;
    uint32_t *processors;
    size_t processor_count;
    measure_testbed *testbed;
    experiment_conditions *conditions; /* by case, without the first */
    measure_experiment *result;
} experiment_setup;

int measure__experiment_setup_init(experiment_setup *s);
void measure__experiment_setup_fini(experiment_setup *s);
int measure__experiment_setup_add_node(experiment_setup *s, const char *name,
                                       const char *processors);
/* Writes the map for a case: with its delays, if any, and collectors if asked
 * for. `conditions` NULL: dedicated. The file's name goes to `file`. */
int measure__experiment_map_write(const experiment_setup *s, const char *name,
                                  const experiment_conditions *conditions,
                                  bool collectors, char file[EXPERIMENT_PATH]);
int measure__experiment_parse_cases(experiment_setup *s);

/* --- links: experiment_links.c --- */

/* Of two measurements of one link, what is less disturbed. */
void measure__experiment_take_better(measure_link *link,
                                     const measure_link *other);
/* L and B of all rates that are asked for, over the sizes of the profile's
 * messages, to which they are fitted. */
int measure__experiment_wires_measure(experiment_setup *s);
predict_wire measure__experiment_wire_fit(const measure_link *link,
                                          const predict_profile *profile);
const measure_wire *measure__experiment_wire(const experiment_setup *s,
                                             double limit);

/* --- conditions made true: experiment_apply.c --- */

typedef struct experiment_applied {
    measure_background_load **background_load; /* by node */
} experiment_applied;

int measure__experiment_apply(experiment_applied *out, experiment_setup *s,
                              const experiment_conditions *conditions);
void measure__experiment_undo(experiment_applied *applied, experiment_setup *s,
                              const experiment_conditions *conditions);
/* Limits all links to the quiet rate. */
int measure__experiment_make_quiet(experiment_setup *s);

/* --- runs: experiment_child.c --- */

/* The arguments of one run with this map. The caller frees the array. */
char **measure__experiment_arguments(const experiment_setup *s, const char *map,
                                     const char *run_directory);
/* Runs a command and waits; its output is thrown away. Errors: PASTSET_EAPP,
 * with the last line that it said on standard error; PASTSET_ECANCELED. */
int measure__experiment_time(double *out_s, const experiment_setup *s,
                             char *const *argv);
/* A file for what a command says on standard error, opened; or a negative
 * status. Its last line, without the newline, is what it says of its end. */
#define EXPERIMENT_SAID 400
int measure__experiment_said_open(const experiment_setup *s);
const char *measure__experiment_said_last(int said,
                                          char buffer[EXPERIMENT_SAID]);
/* Whether a signal has asked us to end. */
bool measure__experiment_stopped(const experiment_setup *s);
void measure__experiment_tell(const experiment_setup *s, const char *what,
                              uint32_t done, uint32_t all);

/* --- profile and predictions: experiment_predict.c --- */

int measure__experiment_profile(experiment_setup *s);
/* L and B of the quiet links become those of the profile. */
int measure__experiment_links_set(experiment_setup *s);
int measure__experiment_predict(experiment_setup *s);

#endif
