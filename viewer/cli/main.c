/* main.c - the command `eventspace`. */
#include "viewer/cli/command.h"

#include "predict/register_conditions.h"

#include <string.h>

static const command commands[] = {
    {"map", "make, instrument, check and draw path maps", cli_map},
    {"run", "run a program on the processes of a path map", cli_run},
    {"key", "make a key for processes that are started one by one", cli_key},
    {"info", "tell processes, elements, events and losses of a run", cli_info},
    {"view", "tables of how a run communicated and who waited", cli_view},
    {"top", "watch a run while it goes on", cli_top},
    {"clock", "align the clocks of processes, and tell how well", cli_clock},
    {"archive", "save the events of a run while it goes on", cli_archive},
    {"scope", "gather the events of a run over its processes", cli_scope},
    {"merge", "make one run directory of those of several machines", cli_merge},
    {"pack", "make one compressed file of a run directory", cli_pack},
    {"unpack", "make a run directory of a packed run", cli_unpack},
    {"report", "write a page that shows a run", cli_report},
    {"profile", "measure how a program uses processors and links", cli_profile},
    {"predict", "how long it will take where these are shared", cli_predict},
    {"choose", "which machines of a cluster will run it fastest", cli_choose},
    {"load", "measure how loaded machines and links are", cli_load},
    {"netbench", "measure latency and bandwidth of a link", cli_netbench},
    {"experiment", "compare predictions with runs under load", cli_experiment},
    {NULL, NULL, NULL},
};

int main(int argc, char **argv)
{
    static char name[] = "eventspace";
    argp_err_exit_status = COMMAND_USAGE;
    argp_program_version = "eventspace " EVENTSPACE_VERSION;
    if (argc > 1 && strcmp(argv[1], "--version") == 0) {
        puts(argp_program_version);
        return COMMAND_OK;
    }
    if (predict_register())
        return cli_fail();
    argv[0] = name;
    return cli_dispatch(commands, argc, argv);
}
