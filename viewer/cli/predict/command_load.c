/* command_load.c - eventspace load: how loaded machines and links are now,
 * printed and written into a cluster file.
 *
 * A machine measures itself. Others are asked by a command of the user's, such
 * as ssh, to run `eventspace load --format json` there; all at the same time,
 * so that what they tell belongs together. */
#include "viewer/cli/predict/command_load.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure/load/load_changes.h"
#include "pastset/status.h"

enum {
    KEY_DETECT_LAW = 256,
    KEY_MACHINE,
    KEY_MEASURE_LINK,
    KEY_REMOTE,
    KEY_PROCESSOR,
    KEY_DURATION,
    KEY_TABLE,
    LINKS_MAX = 1024,
};

#define DURATION_MIN_NS 10000000u
#define DURATION_MAX_NS 3600000000000u

static const struct argp_option load_options[] = {
    {"cluster", 'c', "FILE", 0,
     "Write the measurements into this cluster file too", 0},
    {"machine", KEY_MACHINE, "NAME", 0,
     "Name of this machine in the cluster file (default: its host name)", 0},
    {"measure-link", KEY_MEASURE_LINK, "MACHINE=ADDRESS[:PORT]", 0,
     "Measure the link to a machine too; 'eventspace netbench --serve' must be "
     "running at ADDRESS. Can be given several times",
     0},
    {"detect-law", KEY_DETECT_LAW, NULL, 0,
     "Detect how the scheduler shares a processor; takes about 6 s more", 0},
    {"processor", KEY_PROCESSOR, "CPU", 0,
     "Measure the load of this processor only (default: of all)", 0},
    {"duration", KEY_DURATION, "TIME", 0,
     "Measure the load for this long (default 2s)", 0},
    {"remote", KEY_REMOTE, "COMMAND", 0,
     "Measure all machines of the cluster file, each by running this command "
     "with {machine} replaced by its name: 'ssh {machine}'",
     0},
    CLI_FORMAT_OPTION,
    {"table", KEY_TABLE, "TABLE", 0,
     "Print only this table: machines or links (default: both; CSV: machines)",
     0},
    {"host", EVENTSPACE_RENAMED, "NAME", OPTION_HIDDEN, "machine", 0},
    {"link", EVENTSPACE_RENAMED, "LINK", OPTION_HIDDEN, "measure-link", 0},
    {"law", EVENTSPACE_RENAMED, NULL, OPTION_HIDDEN, "detect-law", 0},
    {"seconds", EVENTSPACE_RENAMED, "TIME", OPTION_HIDDEN, "duration", 0},
    {0},
};

/* --- the cluster file --- */

static int write_cluster(const load *l)
{
    measure_changes list = {0};
    int err = 0;
    for (size_t i = 0; i < l->machine_count && !err; i++) {
        const load_machine *row = &l->machines[i];
        err = measure_changes_machine(&list, row->name, &row->load,
                                      row->has_scheduler ? &row->scheduler
                                                         : NULL);
    }
    for (size_t i = 0; i < l->link_count && !err; i++)
        if (l->links[i].measured)
            err = measure_changes_link(&list, l->here, l->links[i].to,
                                       &l->links[i].link);
    if (!err)
        err = measure_changes_write(&list, l->a.cluster);
    measure_changes_clear(&list);
    return err;
}

/* --- the command --- */

/* Addresses are numbers: what the name of a machine hardly is. */
static bool is_address(const char *text)
{
    return (*text >= '0' && *text <= '9') || *text == '[' || *text == ':';
}

static void take_link(load *l, char *text, struct argp_state *state)
{
    char *equals = strchr(text, '=');
    if (!equals || equals == text || !is_address(equals + 1))
        argp_error(
            state,
            "'%s' is not a MACHINE=ADDRESS[:PORT], such as n4=10.0.0.4:4004",
            text);
    if (l->link_count == LINKS_MAX)
        argp_error(state, "more than %d links", LINKS_MAX);
    *equals = 0;
    l->links[l->link_count++] = (load_link){.address = equals + 1, .to = text};
}

static void check_arguments(const load *l, struct argp_state *state)
{
    if (!l->a.remote)
        return;
    if (!l->a.cluster)
        argp_error(state,
                   "--remote requires --cluster, which names the machines");
    if (!strstr(l->a.remote, "{machine}"))
        argp_error(
            state, "--remote must contain {machine}, as in 'ssh {machine}'%s",
            strstr(l->a.remote, "{host}") ? "; {host} is its older name" : "");
    if (l->link_count || l->a.machine || l->a.processor >= 0)
        argp_error(state,
                   "--machine, --measure-link and --processor cannot be "
                   "combined with --remote: they are about this machine");
}

static load_table read_table(const char *text, struct argp_state *state)
{
    static const char *const names[] = {"machines", "links"};

    return cli_choice(text, CLI_LIST(names),
                      "the table '%s' is not one of machines, links",
                      state) == 0
               ? LOAD_MACHINES
               : LOAD_LINKS;
}

static error_t parse_load(int key, char *text, struct argp_state *state)
{
    load *l = state->input;
    switch (key) {
    case 'c':
        l->a.cluster = text;
        return 0;
    case KEY_MACHINE:
        l->a.machine = text;
        return 0;
    case KEY_MEASURE_LINK:
        take_link(l, text, state);
        return 0;
    case KEY_DETECT_LAW:
        l->a.scheduler = true;
        return 0;
    case KEY_PROCESSOR:
        l->a.processor = (int)cli_number(text, 0, 65535, state);
        return 0;
    case KEY_DURATION:
        l->a.seconds_s =
            (double)cli_time(text, DURATION_MIN_NS, DURATION_MAX_NS, state) /
            1e9;
        return 0;
    case KEY_REMOTE:
        l->a.remote = text;
        return 0;
    case 'f':
        l->a.format = cli_format(text, state);
        return 0;
    case KEY_TABLE:
        l->a.table = read_table(text, state);
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "one argument too many: '%s'", text);
        return 0;
    case ARGP_KEY_END:
        check_arguments(l, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* What was measured is printed and written, whatever else failed. */
static int run_load(load *l)
{
    char why[1024] = "";
    int err = l->a.remote ? cli_load_remote(l) : cli_load_here(l), then = 0;
    if (err)
        snprintf(why, sizeof(why), "%s", pastset_error());
    if (l->machine_count) {
        then = cli_load_print(l);
        if (!then && l->a.cluster)
            then = write_cluster(l);
    }
    if (err && then)
        fprintf(stderr, "eventspace: %s\n", why);
    else if (err)
        pastset_fail(err, "%s", why);
    return then ? then : err;
}

int cli_load(int argc, char **argv)
{
    static const struct argp argp = {
        load_options,
        parse_load,
        NULL,
        "Measures how loaded this machine is: how many threads run or are "
        "ready to run, on average. 'eventspace choose' reads the cluster file "
        "that it writes.",
        NULL,
        NULL,
        NULL};
    load l = {.a = {.processor = -1, .seconds_s = 2}};
    int err;
    l.links = calloc(LINKS_MAX, sizeof(*l.links));
    if (!l.links) {
        pastset_no_memory("for links");
        return cli_fail();
    }
    if (eventspace_options_parse(&argp, argc, argv, 0, EVENTSPACE_NO_PROGRAM,
                                 &l)) {
        free(l.links);
        return COMMAND_USAGE;
    }
    if (l.a.machine)
        snprintf(l.here, sizeof(l.here), "%s", l.a.machine);
    else if (gethostname(l.here, sizeof(l.here) - 1))
        snprintf(l.here, sizeof(l.here), "localhost");
    err = run_load(&l);
    for (size_t i = 0; i < l.machine_count; i++)
        free(l.machines[i].name);
    free(l.machines);
    free(l.links);
    return cli_end_output(err);
}
