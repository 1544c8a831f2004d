/* learning.c - see learning.h. */
#include "viewer/cli/contract/learning.h"

#include "viewer/cli/contract/command_contract.h"

error_t cli_take_learning(cli_learning *l, int key, char *text,
                          struct argp_state *state)
{
    switch (key) {
    case 'i':
        l->interval_ns =
            cli_time(text, CLI_INTERVAL_MIN_NS, CLI_INTERVAL_MAX_NS, state);
        return 0;
    case CLI_KEY_TOLERANCE:
        l->tolerance = cli_share(text, state);
        return 0;
    case CLI_KEY_METRICS:
        l->metrics = cli_input(text);
        return 0;
    default:
        return cli_take_one(&l->run, "the run directory", key, text, state);
    }
}

int cli_learning_begin(contracts_contract **out, const cli_learning *l)
{
    int err = contracts_contract_metrics(out, l->metrics);

    if (err)
        return err;
    if (l->interval_ns)
        (*out)->interval_s = 1e-9 * (double)l->interval_ns;
    if (l->tolerance > 0)
        (*out)->tolerance = l->tolerance;
    return 0;
}
