/* command_contract_make.c - eventspace contract make RUN: what a run that was
 * as it should be promises of others. */
#include "viewer/cli/contract/command_contract.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "contracts/contract/contract.h"
#include "contracts/signature/signature.h"
#include "pastset/status.h"
#include "viewer/cli/contract/learning.h"
#include "viewer/cli/contract/measured_run.h"
#include "viewer/tables/output.h"

#define VIOLATED_MAX 1000

enum { KEY_VIOLATED = CLI_KEY_LEARNING_END };

typedef struct make_arguments {
    cli_learning learning;
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
    case 'o':
        a->output = text;
        return 0;
    default:
        return cli_take_learning(&a->learning, key, text, state);
    }
}

/* Half of a contract could be read, and would promise less. */
static int write_contract(const contracts_contract *c, const char *file)
{
    viewer_output *output;
    int err;

    if (!file || strcmp(file, "-") == 0)
        return contracts_contract_print(c, stdout);
    err = viewer_output_begin(&output, file);
    if (err)
        return err;
    err = contracts_contract_print(c, viewer_output_file(output));
    return viewer_output_end(output, err);
}

static int learn(contracts_contract *c, eventspace_run *run, const char *name)
{
    contracts_signature *signature = NULL;
    cli_measured m;
    int err = cli_measured_begin(&m, run, name, c);

    if (!err)
        err = contracts_signature_make(&signature, c->metrics, m.course);
    if (!err)
        err = contracts_contract_learn(c, m.course, signature, m.names);
    contracts_signature_destroy(signature);
    cli_measured_end(&m);
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

/* A contract looks for a file beside itself: it may be written elsewhere than
 * where the file was named. */
static int name_fit(char **name, const char *path, bool is_elsewhere)
{
    struct stat about;
    char *whole = NULL;

    if (!*name)
        return 0;
    if (strncmp(path, "/dev/", 5) == 0 || stat(path, &about) != 0 ||
        !S_ISREG(about.st_mode))
        return pastset_fail(PASTSET_EINVAL,
                            "%s: the contract names this file, so it has to "
                            "be one that is there later",
                            path);
    if (is_elsewhere && **name != '/') {
        whole = realpath(path, NULL);
        if (!whole)
            return pastset_fail(PASTSET_EIO, "%s: %s", path, strerror(errno));
        free(*name);
        *name = whole;
    }
    return strpbrk(*name, "\"\n")
               ? pastset_fail(PASTSET_EINVAL,
                              "%s: a contract cannot name this file, for its "
                              "quotation marks",
                              *name)
               : 0;
}

static int names_fit(contracts_contract *c, const make_arguments *a)
{
    const char *metrics = a->learning.metrics;
    bool is_elsewhere = (metrics && strchr(metrics, '/')) ||
                        (a->output && strchr(a->output, '/'));
    int err = name_fit(&c->rules_file, c->rules_path, is_elsewhere);

    return err ? err
               : name_fit(&c->cluster_file, c->cluster_path, is_elsewhere);
}

static int make(eventspace_run *run, const make_arguments *a)
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
        err = names_fit(c, a);
    if (!err)
        err = learn(c, run, a->learning.run);
    if (!err)
        err = write_contract(c, a->output);
    contracts_contract_destroy(c);
    return err;
}

int cli_contract_make(int argc, char **argv)
{
    static const struct argp argp = {
        make_options,
        parse_make,
        "RUN",
        "Makes a contract of a run that was as it should be: around which "
        "values the metrics of its processes stay, and where the time of their "
        "operations goes."
        "\vA contract is a text, to be looked at and changed: "
        "eventspace-contract(1) says what is in it.",
        NULL,
        NULL,
        NULL};
    make_arguments a = {0};
    eventspace_run *run;
    int err;

    if (eventspace_options_parse(&argp, argc, argv, 0, EVENTSPACE_NO_PROGRAM,
                                 &a))
        return COMMAND_USAGE;
    run = cli_open_run(a.learning.run);
    if (!run)
        return COMMAND_FAILED;
    err = make(run, &a);
    eventspace_run_close(run);
    return cli_end_output(err);
}
