/* command_profile.c - eventspace profile: how a program uses processors and
 * links.
 *
 * The command's own output is passed on as it is; the table comes after it, or
 * into a file of its own. */
#include "viewer/cli/predict/predict_arguments.h"

#include "measure/profiler/profiler.h"
#include "pastset/status.h"
#include "viewer/tables/profile_table.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_INTERFACE = 256,
    KEY_PACKETS,
    KEY_NO_PACKETS,
    KEY_NO_SWITCHES,
    KEY_RUN,
    KEY_PROFILED_LINK,
    KEY_SHOW,
    KEY_TABLE,
    KEY_TABLE_FILE,
};

#define INTERFACES 16
#define INTERVAL_MIN_NS 100000u
#define INTERVAL_MAX_NS 60000000000u

typedef struct profile_arguments {
    measure_profile_options measure;
    const char *interfaces[INTERFACES + 1];
    size_t interface_count;
    cli_conditions profiled_links;
    const char *output, *table_file;
    const char *show, *table;
    viewer_format format;
} profile_arguments;

static const struct argp_option profile_options[] = {
    {"output", 'o', "FILE", 0, "Write the profile to a file", 0},
    {"interval", 'i', "TIME", 0,
     "Look at the processes this often (default 20ms)", 0},
    {"interface", KEY_INTERFACE, "NAME", 0,
     "Capture packets on this network interface (default lo). Can be given "
     "several times",
     0},
    {"packets", KEY_PACKETS, "FILE", 0,
     "Read packets from a file that tcpdump wrote during the run", 0},
    {"no-packets", KEY_NO_PACKETS, NULL, 0, "Ignore messages", 0},
    {"no-switches", KEY_NO_SWITCHES, NULL, 0,
     "Find phases by sampling only, without recording context switches", 0},
    {"run", KEY_RUN, "RUN", 0,
     "Read messages from this run directory, which the command writes. Not "
     "needed if the command is 'eventspace run', or a launcher with "
     "'eventspace mpi'",
     0},
    CLI_PROFILED_LINK_OPTION(KEY_PROFILED_LINK),
    {"show", KEY_SHOW, "FILE", 0, "Print an existing profile; run nothing", 0},
    {"table", KEY_TABLE, "TABLE", 0,
     "Print this table: nodes (default), links, phases or messages", 0},
    {"table-file", KEY_TABLE_FILE, "FILE", 0,
     "Write the table to a file, not to standard output", 0},
    CLI_FORMAT_OPTION,
    {"out", EVENTSPACE_RENAMED, "FILE", OPTION_HIDDEN, "output", 0},
    {"busy", EVENTSPACE_RENAMED, "SHARE", OPTION_HIDDEN,
     "profiled-link=busy=SHARE", 0},
    {0},
};

/* --- arguments --- */

static const char *read_table_name(const char *text, struct argp_state *state)
{
    static const char *const names[] = {"nodes", "links", "phases", "messages"};

    return names[cli_choice(
        text, CLI_LIST(names),
        "the table '%s' is not one of nodes, links, phases, messages", state)];
}

static void add_interface(profile_arguments *a, const char *name,
                          struct argp_state *state)
{
    if (a->interface_count == INTERFACES)
        argp_error(state, "more than %d interfaces", INTERFACES);
    a->interfaces[a->interface_count++] = name;
    a->measure.interfaces = a->interfaces;
}

static void check(const profile_arguments *a, struct argp_state *state)
{
    const measure_profile_options *m = &a->measure;
    if (a->show && m->argv)
        argp_error(state, "--show takes no command: it runs nothing");
    else if (!a->show && !m->argv)
        argp_error(state, "the command is missing");
    else if (m->packets_file && (m->no_packets || m->interfaces))
        argp_error(state, "--packets cannot be combined with --interface or "
                          "--no-packets: it takes messages from a file");
    else if (m->no_packets && m->interfaces)
        argp_error(state, "--interface cannot be combined with --no-packets");
}

static error_t parse_more(int key, char *text, struct argp_state *state)
{
    profile_arguments *a = state->input;
    switch (key) {
    case KEY_PROFILED_LINK:
        cli_take_profiled_link(&a->profiled_links, text, state);
        return 0;
    case KEY_TABLE_FILE:
        a->table_file = text;
        return 0;
    case KEY_SHOW:
        a->show = text;
        return 0;
    case KEY_TABLE:
        a->table = read_table_name(text, state);
        return 0;
    case ARGP_KEY_ARG:
        /* All from here on is the command's. */
        a->measure.argv = &state->argv[state->next - 1];
        state->next = state->argc;
        return 0;
    case ARGP_KEY_END:
        check(a, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_profile(int key, char *text, struct argp_state *state)
{
    profile_arguments *a = state->input;
    switch (key) {
    case 'o':
        a->output = text;
        return 0;
    case 'f':
        a->format = cli_format(text, state);
        return 0;
    case 'i':
        a->measure.interval_ns =
            (int64_t)cli_time(text, INTERVAL_MIN_NS, INTERVAL_MAX_NS, state);
        return 0;
    case KEY_INTERFACE:
        add_interface(a, text, state);
        return 0;
    case KEY_PACKETS:
        a->measure.packets_file = text;
        return 0;
    case KEY_NO_PACKETS:
        a->measure.no_packets = true;
        return 0;
    case KEY_NO_SWITCHES:
        a->measure.no_switches = true;
        return 0;
    case KEY_RUN:
        a->measure.run_directory = text;
        return 0;
    default:
        return parse_more(key, text, state);
    }
}

/* --- printing --- */

static int print_to(const predict_profile *profile, const profile_arguments *a,
                    FILE *file)
{
    scopes_table *table = viewer_profile_table(profile, a->table);
    int err;
    if (!table)
        return pastset_no_memory("for the table");
    err = viewer_table_print(table, a->format, file);
    if (!err && a->format == VIEWER_JSON)
        fputc('\n', file);
    scopes_table_destroy(table);
    return err;
}

static int print(const predict_profile *profile, const profile_arguments *a)
{
    FILE *file;
    int err;
    if (!a->table_file)
        return cli_end_output(print_to(profile, a, stdout));
    file = fopen(a->table_file, "we");
    if (!file) {
        pastset_fail(PASTSET_EIO, "%s cannot be written: %s", a->table_file,
                     strerror(errno));
        return cli_fail();
    }
    err = print_to(profile, a, file);
    if (fclose(file) && !err)
        err = pastset_fail(PASTSET_EIO, "%s cannot be written: %s",
                           a->table_file, strerror(errno));
    return err ? cli_fail() : COMMAND_OK;
}

static int show(const profile_arguments *a)
{
    predict_profile *profile;
    int code;
    if (predict_profile_load(&profile, a->show))
        return cli_fail();
    viewer_profile_warn(profile, a->show);
    code = print(profile, a);
    predict_profile_destroy(profile);
    return code;
}

/* --- measuring --- */

static volatile sig_atomic_t pass_on;

/* What the terminal sends goes to the command as well. */
static void on_signal(int number, siginfo_t *about, void *unused)
{
    (void)unused;
    if (about->si_code <= 0)
        pass_on = number;
}

static void handle_signals(void)
{
    struct sigaction action = {.sa_sigaction = on_signal,
                               .sa_flags = SA_SIGINFO};
    cli_catch(&action);
}

static void tell(const measure_profile_notes *notes)
{
    for (size_t i = 0; i < notes->text_count; i++)
        fprintf(stderr, "eventspace: %s\n", notes->texts[i]);
}

static int measure(profile_arguments *a)
{
    predict_profile *profile;
    measure_profile_notes notes;
    int code = COMMAND_OK;
    handle_signals();
    a->measure.output = -1;
    a->measure.pass_on = &pass_on;
    fflush(stdout);
    if (measure_profile(&profile, &notes, &a->measure)) {
        code = cli_fail();
        tell(&notes);
        measure_profile_notes_clear(&notes);
        return code;
    }
    tell(&notes);
    viewer_profile_warn(profile, "the profile");
    if (cli_set_profiled_links(profile, &a->profiled_links))
        code = cli_fail();
    if (a->output && predict_profile_save(profile, a->output))
        code = cli_fail();
    if (print(profile, a) != COMMAND_OK)
        code = COMMAND_FAILED;
    if (notes.exit_code || notes.incomplete)
        code = COMMAND_FAILED;
    if ((notes.exit_code || notes.incomplete) && a->output)
        fprintf(stderr, "eventspace: %s holds what was measured\n", a->output);
    predict_profile_destroy(profile);
    measure_profile_notes_clear(&notes);
    return code;
}

int cli_profile(int argc, char **argv)
{
    static const struct argp argp = {
        profile_options,
        parse_profile,
        "-- COMMAND [ARGUMENTS]\n--show=FILE",
        "Runs a command unchanged and measures how its processes use "
        "processors and what they send each other. Prints how long each "
        "computed, communicated and idled.\v"
        "'eventspace predict' and 'eventspace choose' work from the profile.",
        NULL,
        NULL,
        NULL};
    profile_arguments a = {.table = "nodes"};
    int code;
    if (eventspace_options_parse(&argp, argc, argv, ARGP_IN_ORDER, 0, &a))
        return COMMAND_USAGE;
    code = a.show ? show(&a) : measure(&a);
    cli_clear_conditions(&a.profiled_links);
    return code;
}
