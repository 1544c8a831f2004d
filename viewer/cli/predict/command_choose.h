/* command_choose.h - what the files of `eventspace choose` share. */
#ifndef VIEWER_COMMAND_CHOOSE_H
#define VIEWER_COMMAND_CHOOSE_H

#include "predict/choose/choose.h"
#include "viewer/cli/predict/command_outlook.h"
#include "viewer/cli/predict/predict_arguments.h"

/* By which end of what machines will give the work is divided. */
typedef enum choose_split {
    SPLIT_NOT,
    SPLIT_MEAN,
    SPLIT_CAREFUL,
    SPLIT_BOLD,
} choose_split;

typedef struct choose_arguments {
    const char *profile, *cluster, *map, *output;
    cli_conditions profiled_links;
    uint64_t nodes; /* 0: those of the profile */
    viewer_format format;
    predict_choose_options options;
    cli_outlook_options outlook;
    choose_split split;
    uint32_t *node_of; /* --split: by number of a thread: of the profile */
    uint32_t thread_count;
    uint32_t *threads_on; /* by node */
} choose_arguments;

/* What a choice is printed from. `outlook` NULL: without histories. */
typedef struct chosen {
    const choose_arguments *a;
    const predict_choice *choice;
    const predict_profile *profile;
    const predict_cluster *cluster;
    const cli_outlook *outlook;
} chosen;

/* --- command_choose_print.c --- */

int cli_choose_print(const chosen *c);

/* --- command_choose_map.c --- */

/* Which threads of the map are on which node of the profile. Errors: those of
 * paths_map_read; PASTSET_ENOENT, PASTSET_EMAP: the map is of another run. */
int cli_choose_threads_read(choose_arguments *a,
                            const predict_profile *profile);
/* Writes the best placement into the file `output`. Errors: those, and
 * PASTSET_EIO. */
int cli_choose_placement_write(const chosen *c);

/* --- command_choose_with.c --- */

/* By histories: `outlook` becomes what machines and links will give. */
int cli_choose_with(predict_choice **out, cli_outlook *outlook,
                    choose_arguments *a, const predict_profile *profile,
                    predict_cluster *cluster);

#endif
