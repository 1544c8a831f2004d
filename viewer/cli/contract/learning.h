/* learning.h - a run to learn from, and how: what `signature` and `contract
 * make` are both given. */
#ifndef VIEWER_LEARNING_H
#define VIEWER_LEARNING_H

#include "contracts/contract/contract.h"
#include "viewer/cli/command.h"

enum { CLI_KEY_TOLERANCE = 256, CLI_KEY_METRICS, CLI_KEY_LEARNING_END };

typedef struct cli_learning {
    const char *run, *metrics;
    uint64_t interval_ns; /* 0: as the metrics' file says */
    double tolerance;     /* the same */
} cli_learning;

/* Takes the options -i, --tolerance and --metrics, and the run. */
error_t cli_take_learning(cli_learning *learning, int key, char *text,
                          struct argp_state *state);
/* A contract with these metrics, and nothing learnt so far. Errors: those of
 * contracts_contract_metrics. */
int cli_learning_begin(contracts_contract **out, const cli_learning *learning);

#endif
