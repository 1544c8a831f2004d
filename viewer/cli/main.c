/* main.c - the command `eventspace`. */
#include "viewer/cli/command.h"

#include "eventspace/launch/launch.h"
#include "predict/register_conditions.h"
#include "viewer/cli/packed_runs.h"

#include <malloc.h>
#include <string.h>

static const command commands[] = {
    {"map", "make, instrument, check and draw path maps", cli_map},
    {"run", "run a program on the processes of a path map", cli_run},
    {"mpi", "record an MPI program as it is", cli_mpi},
    {"key", "make a key for processes that are started one by one", cli_key},
    {"info", "show the processes, elements, events and losses of a run",
     cli_info},
    {"advise", "say what a run has lost time by, and what it would gain",
     cli_advise},
    {"view", "print tables of how a run communicated and who waited", cli_view},
    {"sql", "ask questions about a run in SQL", cli_sql},
    {"diff", "compare runs: what became slower, and by how much", cli_diff},
    {"whatif", "say how long a run would have taken with something changed",
     cli_whatif},
    {"export", "write a run in the formats of other tools", cli_export},
    {"top", "watch a run while it goes on", cli_top},
    {"tune", "change numbers of a program while it runs", cli_tune},
    {"clock", "align the clocks of processes, and show how accurately",
     cli_clock},
    {"archive", "save the events of a run while it goes on", cli_archive},
    {"scope", "gather the events of a run from its processes", cli_scope},
    {"import", "make a run of a trace that another tool recorded", cli_import},
    {"merge", "merge the run directories of several machines into one",
     cli_merge},
    {"pack", "pack a run directory into one compressed file", cli_pack},
    {"unpack", "unpack a packed run into a run directory", cli_unpack},
    {"report", "write a page that shows a run", cli_report},
    {"serve", "show runs in a browser while they go on", cli_serve},
    {"profile", "measure how a program uses processors and links", cli_profile},
    {"predict",
     "predict how long a program takes on shared processors and links",
     cli_predict},
    {"watch", "sample machines and links for long, into histories", cli_watch},
    {"history", "show what was sampled: means, modes, forecasts", cli_history},
    {"model", "work out what a structural model comes to", cli_model},
    {"forecast", "forecast the next value of a measured series", cli_forecast},
    {"choose", "choose the machines of a cluster that run a program fastest",
     cli_choose},
    {"signature", "show what the processes of a run are like, by metrics",
     cli_signature},
    {"contract", "say when, where and why a run is not as promised",
     cli_contract},
    {"load", "measure how loaded machines and links are", cli_load},
    {"netbench", "measure latency and bandwidth of a link", cli_netbench},
    {"experiment", "compare predictions with runs under load", cli_experiment},
    {NULL, NULL, NULL},
};

/* The memory of one view is used again by the next: to clear its pages anew
 * takes up to a third of the time of a report. */
static void keep_memory(void)
{
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

int main(int argc, char **argv)
{
    static char name[] = "eventspace";
    argp_err_exit_status = COMMAND_USAGE;
    argp_program_version = "eventspace " EVENTSPACE_VERSION;
    if (argc > 1 && strcmp(argv[1], "--version") == 0) {
        puts(argp_program_version);
        return COMMAND_OK;
    }
    if (argc > 1 && cli_begin_packed(argv + 1))
        return COMMAND_FAILED;
    keep_memory();
    eventspace_files_allow_many();
    if (predict_register())
        return cli_fail();
    argv[0] = name;
    return cli_dispatch(commands, argc, argv);
}
