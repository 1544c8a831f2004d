/* command_contract.c - eventspace contract make|check|watch|project|rules. */
#include "viewer/cli/contract/command_contract.h"

int cli_contract(int argc, char **argv)
{
    static const command commands[] = {
        {"make", "make a contract of a run that was as it should be",
         cli_contract_make},
        {"check", "say when, where and why a run broke a contract",
         cli_contract_check},
        {"watch", "say the same of a run while it goes on", cli_contract_watch},
        {"project", "make one for other resources of it", cli_contract_project},
        {"rules", "work out what a rulebase concludes", cli_contract_rules},
        {NULL, NULL, NULL},
    };

    cli_refuse_large_files();
    return cli_dispatch(commands, argc, argv);
}
