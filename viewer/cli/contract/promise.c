/* promise.c - see promise.h. */
#include "viewer/cli/contract/promise.h"

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

int cli_use_promise(const cli_promise *promise,
                    int (*use)(const contracts_contract *contract,
                               eventspace_run *run, const void *arguments),
                    const void *arguments)
{
    contracts_contract *contract;
    eventspace_run *run;
    int code;

    if (contracts_contract_read(&contract, promise->contract))
        return cli_fail();
    run = cli_open_run(promise->run);
    code = run ? use(contract, run, arguments) : COMMAND_FAILED;
    if (run)
        eventspace_run_close(run);
    contracts_contract_destroy(contract);
    return code;
}
