/* grouping.h - contract make --group and --machines: which processes are judged
 * together.
 *
 * Threads:   one thread per grouping.
 * Ownership: `{0}` is an empty one; fini gives back what it has. */
#ifndef VIEWER_GROUPING_H
#define VIEWER_GROUPING_H

#include <argp.h>
#include <stdbool.h>

#include "contracts/contract/contract.h"
#include "eventspace/run/run.h"

typedef struct cli_grouping {
    char **groups; /* "NAME=PROCESSES" each */
    size_t count;
    bool machines; /* one for each of them */
} cli_grouping;

/* The processes of a run. */
typedef struct cli_grouped {
    const eventspace_run *run;
    const char *const *names;
    uint32_t count;
} cli_grouped;

/* A value of --group. */
void cli_take_group(cli_grouping *grouping, const char *text,
                    struct argp_state *state);
/* Makes groups of the processes of so many runs. Errors: PASTSET_EINVAL (there
 * are none of a group), PASTSET_ENOMEM. */
int cli_grouping_add(contracts_contract *c, const cli_grouping *grouping,
                     const cli_grouped *runs, size_t count);
void cli_grouping_fini(cli_grouping *grouping);

#endif
