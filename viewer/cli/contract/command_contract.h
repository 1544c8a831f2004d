/* command_contract.h - between the files of `eventspace contract` and
 * `eventspace signature`. */
#ifndef VIEWER_COMMAND_CONTRACT_H
#define VIEWER_COMMAND_CONTRACT_H

#include "viewer/cli/command.h"

int cli_contract_rules(int argc, char **argv);
int cli_contract_make(int argc, char **argv);
int cli_contract_check(int argc, char **argv);
int cli_contract_project(int argc, char **argv);
int cli_contract_watch(int argc, char **argv);

/* An exit code: the command has done what it was asked for. */
#define CLI_CONTRACT_VIOLATED 3

#define CLI_INTERVAL_OPTION                                                    \
    {                                                                          \
        "interval", 'i', "TIME", 0,                                            \
            "Measure in intervals of this length, such as 500ms (default "     \
            "0.5 s)",                                                          \
            0                                                                  \
    }
#define CLI_INTERVAL_MIN_NS 1000
#define CLI_INTERVAL_MAX_NS 1000000000000000

#endif
