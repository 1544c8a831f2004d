/* promise.c - see promise.h. */
#include "viewer/cli/contract/promise.h"

#include <stdio.h>

#include "pastset/status.h"

error_t cli_take_promise(cli_promise *promise, int key, char *text,
                         struct argp_state *state)
{
    if (key == ARGP_KEY_ARG && !promise->contract) {
        promise->contract = cli_input(text);
        return 0;
    }
    if (key == ARGP_KEY_ARG) {
        cli_take(&promise->run, text, state);
        return 0;
    }
    if (key != ARGP_KEY_END)
        return ARGP_ERR_UNKNOWN;
    if (!promise->run)
        argp_error(state, "%s is missing",
                   promise->contract ? "the run directory" : "the contract");
    return 0;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
           a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

void cli_promise_complain(void)
{
    fprintf(stderr, "eventspace: the contract stays as it was: %s\n",
            pastset_error());
}

contracts_contract *cli_promise_again(const cli_promise *promise,
                                      struct stat *seen)
{
    contracts_contract *again = NULL;
    struct stat now;

    if (stat(promise->contract, &now) != 0 || !S_ISREG(now.st_mode) ||
        is_same_file(&now, seen))
        return NULL;
    *seen = now;
    if (contracts_contract_read(&again, promise->contract))
        cli_promise_complain();
    return again;
}

int cli_use_promise(cli_promise *promise,
                    int (*use)(const contracts_contract *contract,
                               eventspace_run *run, const void *arguments),
                    const void *arguments)
{
    contracts_contract *contract;
    eventspace_run *run;
    int code;

    (void)stat(promise->contract, &promise->seen); /* before: it may change */
    if (contracts_contract_read(&contract, promise->contract))
        return cli_fail();
    run = cli_open_run(promise->run);
    code = run ? use(contract, run, arguments) : COMMAND_FAILED;
    if (run)
        eventspace_run_close(run);
    contracts_contract_destroy(contract);
    return code;
}
