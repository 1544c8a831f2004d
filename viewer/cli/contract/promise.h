/* promise.h - a contract and the run that it is held against, as commands are
 * given them. */
#ifndef VIEWER_PROMISE_H
#define VIEWER_PROMISE_H

#include <sys/stat.h>

#include "contracts/contract/contract.h"
#include "viewer/cli/command.h"

/* The arguments CONTRACT and RUN. */
typedef struct cli_promise {
    const char *contract, *run;
    struct stat seen; /* the contract's file, when it was read */
} cli_promise;

/* Takes them, and tells of one that is missing. */
error_t cli_take_promise(cli_promise *promise, int key, char *text,
                         struct argp_state *state);
/* The contract once more, if its file has changed since it was `seen`, for the
 * caller to destroy. NULL: it has not, or it cannot be read, which is told. */
contracts_contract *cli_promise_again(const cli_promise *promise,
                                      struct stat *seen);
/* Tells of the last error, for which a contract is not gone over to. */
void cli_promise_complain(void);
/* Opens both for `use`, which gives the exit code. */
int cli_use_promise(cli_promise *promise,
                    int (*use)(const contracts_contract *contract,
                               eventspace_run *run, const void *arguments),
                    const void *arguments);

#endif
