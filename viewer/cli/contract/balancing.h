/* balancing.h - contract watch --balance: while performance is violated, a
 * number of the program (eventspace/tunable.h) gets each process the share of
 * the work with which all are busy for equally long
 * (contracts/check/balance.h). */
#ifndef VIEWER_BALANCING_H
#define VIEWER_BALANCING_H

#include "contracts/check/balance.h"
#include "viewer/cli/contract/measured_run.h"

/* Cleared at first, but for `tunable`. */
typedef struct cli_balancing {
    const char *tunable; /* its name */
    contracts_balance balance;
    int64_t from_ns;    /* intervals that begin earlier were before a change */
    char complaint[64]; /* what was told last */
    bool is_made;
} cli_balancing;

void cli_balancing_end(cli_balancing *b);

/* Takes an interval of `m` in, unless it is long over. If performance is
 * violated, and has been for as many intervals as the contract says since the
 * last change, and some processes wait for others: changes their numbers.
 * `*told` is how they are then, "h0 0.67, h1 1.33", for the caller to free;
 * NULL: nothing was changed. What cannot be changed is told on standard error,
 * once. `looked_ns` is when `m` was looked at (pastset_now_ns). Errors:
 * PASTSET_ENOMEM. */
int cli_balancing_take(cli_balancing *b, char **told, eventspace_run *run,
                       const cli_measured *m, size_t interval,
                       const contracts_contract *contract, bool is_violated,
                       int64_t looked_ns);

#endif
