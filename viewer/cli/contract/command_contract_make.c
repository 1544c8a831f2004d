/* command_contract_make.c - eventspace contract make RUN...: what runs that
 * were as they should be promise of others. */
#include "viewer/cli/contract/command_contract.h"

#include <stdlib.h>
#include <string.h>

#include "contracts/contract/contract.h"
#include "contracts/signature/signature.h"
#include "pastset/status.h"
#include "viewer/cli/contract/contract_file.h"
#include "viewer/cli/contract/grouping.h"
#include "viewer/cli/contract/learning.h"
#include "viewer/cli/contract/measured_run.h"

#define VIOLATED_MAX 1000

enum { KEY_VIOLATED = CLI_KEY_LEARNING_END, KEY_GROUP, KEY_MACHINES };

typedef struct make_arguments {
    cli_learning learning;
    char **runs;
    size_t run_count;
    cli_grouping grouping;
    const char *output;
    unsigned violated;   /* 0: as the metrics' file says */
    const char *cluster; /* NULL: the same */
} make_arguments;

static const struct argp_option make_options[] = {
    CLI_INTERVAL_OPTION,
    {"tolerance", CLI_KEY_TOLERANCE, "SHARE", 0,
     "Let a metric be off by this share of what is expected (default 0.1)", 0},
    {"violated", KEY_VIOLATED, "N", 0,
     "Only N intervals, one after the other, violate the contract (default 3)",
     0},
    {"metrics", CLI_KEY_METRICS, "FILE", 0,
     "Take the metrics, and all else that is not learnt from the run, from "
     "FILE: a contract, or the beginning of one; - is standard input",
     0},
    {"cluster", 'c', "FILE", 0,
     "Machines and links, by which it is found out which link is slow: a "
     "process is on the machine of its name",
     0},
    {"group", KEY_GROUP, "NAME=PROCESSES", 0,
     "Judge the mean of these processes, too, under this name; "
     "PROCESSES may have wildcards; may be given more than once",
     0},
    {"machines", KEY_MACHINES, NULL, 0,
     "Judge the mean of the processes of each machine that had several of them",
     0},
    {"output", 'o', "FILE", 0,
     "Write the contract to FILE instead of standard output", 0},
    {0},
};

static error_t parse_make(int key, char *text, struct argp_state *state)
{
    make_arguments *a = state->input;

    switch (key) {
    case KEY_VIOLATED:
        a->violated = (unsigned)cli_number(text, 1, VIOLATED_MAX, state);
        return 0;
    case 'c':
        a->cluster = text;
        return 0;
    case KEY_GROUP:
        cli_take_group(&a->grouping, text, state);
        return 0;
    case KEY_MACHINES:
        a->grouping.machines = true;
        return 0;
    case 'o':
        a->output = text;
        return 0;
    case ARGP_KEY_ARG: /* all at once */
        return ARGP_ERR_UNKNOWN;
    case ARGP_KEY_ARGS:
        a->runs = state->argv + state->next;
        a->run_count = (size_t)(state->argc - state->next);
        for (size_t i = 0; i < a->run_count; i++)
            if (a->runs[i][0] == '\0')
                argp_error(state, "the run directory is missing");
        return 0;
    default:
        return cli_take_learning(&a->learning, key, text, state);
    }
}

/* A run that is learnt from. */
typedef struct learnt {
    eventspace_run *run;
    const char *name;
    cli_measured measured;
    contracts_signature *signature;
} learnt;

static int measure(learnt *all, size_t count, const contracts_contract *c)
{
    int err = 0;

    for (size_t i = 0; i < count && !err; i++) {
        err = cli_measured_begin(&all[i].measured, all[i].run, all[i].name, c);
        cli_measured_forget_events(&all[i].measured);
    }
    return err;
}

static int groups_add(contracts_contract *c, const learnt *all,
                      const make_arguments *a)
{
    cli_grouped *runs = calloc(a->run_count, sizeof(*runs));
    int err;

    if (!runs)
        return pastset_no_memory("for groups");
    for (size_t i = 0; i < a->run_count; i++)
        runs[i] = (cli_grouped){all[i].run, all[i].measured.names,
                                all[i].measured.processes};
    err = cli_grouping_add(c, &a->grouping, runs, a->run_count);
    free(runs);
    return err;
}

static int learn(contracts_contract *c, learnt *all, const make_arguments *a)
{
    contracts_example *runs = calloc(a->run_count, sizeof(*runs));
    int err = runs ? measure(all, a->run_count, c)
                   : pastset_no_memory("for a contract");

    if (!err)
        err = groups_add(c, all, a);
    for (size_t i = 0; i < a->run_count && !err; i++) {
        const cli_measured *m = &all[i].measured;
        err =
            contracts_signature_make(&all[i].signature, c->metrics, m->course);
        runs[i] = (contracts_example){m->course, all[i].signature, m->names};
    }
    if (!err)
        err = contracts_contract_learn(c, runs, a->run_count);
    free(runs);
    return err;
}

static int cluster_take(contracts_contract *c, const char *file)
{
    free(c->cluster_file);
    free(c->cluster_path);
    predict_cluster_destroy(c->cluster);
    c->cluster = NULL;
    c->cluster_file = strdup(file);
    c->cluster_path = strdup(file);
    if (!c->cluster_file || !c->cluster_path)
        return pastset_no_memory("for a contract");
    return predict_cluster_read(&c->cluster, file);
}

static int make(learnt *runs, const make_arguments *a)
{
    contracts_contract *c;
    int err = cli_learning_begin(&c, &a->learning);

    if (err)
        return err;
    if (a->violated)
        c->violated = a->violated;
    if (a->cluster)
        err = cluster_take(c, a->cluster);
    if (!err)
        err = cli_contract_files_fit(c, a->output);
    if (!err)
        err = learn(c, runs, a);
    if (!err)
        err = cli_contract_write(c, a->output);
    contracts_contract_destroy(c);
    return err;
}

/* False: it was told which cannot be opened. */
static bool runs_open(learnt *runs, const make_arguments *a)
{
    for (size_t i = 0; i < a->run_count; i++) {
        runs[i].name = a->runs[i];
        runs[i].run = cli_open_run(a->runs[i]);
        if (!runs[i].run)
            return false;
    }
    return true;
}

int cli_contract_make(int argc, char **argv)
{
    static const struct argp argp = {
        make_options,
        parse_make,
        "RUN...",
        "Makes a contract of a run that was as it should be, or of several of "
        "them: around which values the metrics of its processes stay, and "
        "where the time of their operations goes."
        "\vWhat is short, such as the end of a run, is only promised if there "
        "were three intervals of it, in one run or in several.\nA contract is "
        "a text, to be looked at and changed: eventspace-contract(1) says what "
        "is in it.",
        NULL,
        NULL,
        NULL};
    make_arguments a = {0};
    learnt *runs;
    int code;

    if (eventspace_options_parse(&argp, argc, argv, 0, EVENTSPACE_NO_PROGRAM,
                                 &a))
        return COMMAND_USAGE;
    runs = calloc(a.run_count, sizeof(*runs));
    if (!runs)
        return cli_no_memory("for a contract");
    code =
        runs_open(runs, &a) ? cli_end_output(make(runs, &a)) : COMMAND_FAILED;
    for (size_t i = 0; i < a.run_count; i++) {
        contracts_signature_destroy(runs[i].signature);
        cli_measured_end(&runs[i].measured);
        if (runs[i].run)
            eventspace_run_close(runs[i].run);
    }
    free(runs);
    cli_grouping_fini(&a.grouping);
    return code;
}
