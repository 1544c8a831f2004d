/* command_predict_with.h - eventspace predict --with: the time of a program on
 * machines and over links whose histories are known.
 *
 * A node of the profile runs on the machine of its name, or on the one that
 * --on says. Nodes of one machine share what it gives.
 *
 * Threads:   one thread per one of these.
 * Ownership: begin gives, end takes back; all else is borrowed. */
#ifndef VIEWER_COMMAND_PREDICT_WITH_H
#define VIEWER_COMMAND_PREDICT_WITH_H

#include "predict/models/predict.h"
#include "predict/stochastic/hindcast.h"
#include "viewer/cli/predict/command_outlook.h"
#include "viewer/cli/predict/predict_arguments.h"

typedef struct cli_predict_with {
    const cli_outlook_options *options;
    predict_scenario *scenario;
    const predict_profile *profile;
    const char **machines; /* their names */
    size_t machine_count;
    uint32_t *machine_of; /* by node */
    uint32_t *nodes_on;   /* by machine: how many */
    cli_outlook outlook;
    predict_answers *answers; /* of the last time */
    predict_stochastic time;
    predict_hindcast hindcast; /* `runs` 0: the time is not by one */
    /* Sets what was given on the command line, which goes before histories. */
    int (*set_more)(predict_scenario *scenario, void *context);
    void *context;
} cli_predict_with;

/* `placed`: NODE=MACHINE, `*=MACHINE`. Errors: those of cli_outlook_read;
 * PASTSET_EINVAL (`placed`), PASTSET_ENOMEM. */
int cli_predict_with_begin(cli_predict_with *w, predict_scenario *scenario,
                           const cli_outlook_options *options,
                           const cli_conditions *placed);
/* Works out the time and its range; the scenario and `answers` are those at
 * the means of all values then. */
int cli_predict_with_time(cli_predict_with *w, predict_answers *answers);
void cli_predict_with_end(cli_predict_with *w);

#endif
