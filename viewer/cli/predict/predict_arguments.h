/* predict_arguments.h - what the parsers of the commands that predict share. */
#ifndef VIEWER_PREDICT_ARGUMENTS_H
#define VIEWER_PREDICT_ARGUMENTS_H

#include "predict/cluster/scenario.h"
#include "viewer/cli/command.h"

/* Conditions, in the order in which they were given. */
typedef struct cli_conditions {
    const char **texts;
    size_t count;
} cli_conditions;

void cli_add_condition(cli_conditions *conditions, const char *text,
                       struct argp_state *state);
/* Adds one that may tell what is in `allowed` (predict/cluster/condition.h);
 * one that cannot be read is wrong usage of `option`. */
void cli_take_condition(cli_conditions *conditions, const char *option,
                        const char *text, unsigned allowed,
                        struct argp_state *state);
void cli_clear_conditions(cli_conditions *conditions);

/* --law. */
predict_scheduler cli_law(const char *text, struct argp_state *state);

/* --profiled-link: what links were while the program was measured. */
#define CLI_PROFILED_LINK_OPTION(key)                                          \
    {"profiled-link",                                                          \
     key,                                                                      \
     "[A-B:]latency=TIME,bandwidth=RATE[,busy=SHARE]",                         \
     0,                                                                        \
     "Latency and bandwidth of links while the profile was taken, as "         \
     "'eventspace netbench' prints them, and the share of a message's time "   \
     "that a processor spends on it. Applies to all links, or to the one "     \
     "between A and B. Can be given several times",                            \
     0},                                                                       \
    {                                                                          \
        "wire", EVENTSPACE_RENAMED, "LINK", OPTION_HIDDEN, "profiled-link", 0  \
    }
void cli_take_profiled_link(cli_conditions *links, const char *text,
                            struct argp_state *state);
int cli_set_profiled_links(predict_profile *profile,
                           const cli_conditions *links);

/* Numbers of processors, "0,3-5", into `out`, of which there are at most
 * `max`. */
size_t cli_processors(uint32_t *out, size_t max, const char *text,
                      struct argp_state *state);

#endif
