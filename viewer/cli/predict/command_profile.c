/* command_profile.c - eventspace profile: how a program uses processors and
 * links.
 *
 * The command's own output is passed on as it is; the table comes after it, or
 * into a file of its own. */
#include "viewer/cli/command.h"

#include "measure/profiler/profiler.h"
#include "pastset/status.h"
#include "viewer/tables/profile_table.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_INTERVAL = 256,
    KEY_PACKETS,
    KEY_NO_PACKETS,
    KEY_NO_SWITCHES,
    KEY_RUN,
    KEY_WIRE,
    KEY_BUSY,
    KEY_SHOW,
    KEY_TABLE,
};

#define INTERFACES 16

typedef struct profile_arguments {
    measure_profile_options measure;
    const char *interfaces[INTERFACES + 1];
    size_t interface_count;
    const char *out, *table_file;
    const char *show, *table;
    viewer_format format;
    double latency_s, bandwidth, busy; /* NaN: not told */
} profile_arguments;

static const struct argp_option profile_options[] = {
    {"out", 'o', "FILE", 0, "Write the profile there", 0},
    {"interval", KEY_INTERVAL, "TIME", 0,
     "How often to look at processes (default 20ms)", 0},
    {"interface", 'i', "NAME", 0,
     "Capture packets there; may be given again (default lo)", 0},
    {"packets", KEY_PACKETS, "FILE", 0,
     "Take messages from a file that tcpdump wrote meanwhile", 0},
    {"no-packets", KEY_NO_PACKETS, NULL, 0, "Do not look for messages", 0},
    {"no-switches", KEY_NO_SWITCHES, NULL, 0,
     "Phases by probing alone, as in the papers", 0},
    {"run", KEY_RUN, "RUN", 0,
     "Take messages from the run directory that the command leaves (found by "
     "itself for `eventspace run ... --out RUN`)",
     0},
    {"wire", KEY_WIRE, "TIME,RATE", 0,
     "Latency and bandwidth of the links, as netbench tells: 400us,70mbit", 0},
    {"busy", KEY_BUSY, "SHARE", 0,
     "The share of a message's time in which the processor is busy (default "
     "0)",
     0},
    {"show", KEY_SHOW, "FILE", 0, "Tell what a profile holds; run nothing", 0},
    {"table", KEY_TABLE, "nodes|links|phases|messages", 0,
     "Which table (default nodes)", 0},
    {"table-file", 't', "FILE", 0, "Write the table there", 0},
    CLI_FORMAT_OPTION,
    {0},
};

/* --- arguments --- */

static void read_wire(profile_arguments *a, const char *text,
                      struct argp_state *state)
{
    const char *comma = strchr(text, ',');
    char time[64] = "";
    uint64_t ns = 0, rate = 0;
    if (!comma || (size_t)(comma - text) >= sizeof(time))
        argp_error(state, "--wire %s: expected TIME,RATE, such as 400us,70mbit",
                   text);
    memcpy(time, text, (size_t)(comma - text));
    if (paths_parse_duration(time, &ns) || paths_parse_rate(comma + 1, &rate))
        argp_error(state, "--wire %s: %s", text, pastset_error());
    if (rate == 0)
        argp_error(state, "--wire %s: a link needs a bandwidth", text);
    a->latency_s = (double)ns / 1e9;
    a->bandwidth = (double)rate;
}

static double read_share(const char *text, struct argp_state *state)
{
    char *end;
    double share = strtod(text, &end);
    if (end == text || *end || !(share >= 0 && share <= 1))
        argp_error(state, "--busy %s: expected a share from 0 to 1", text);
    return share;
}

static int64_t read_interval(const char *text, struct argp_state *state)
{
    uint64_t ns;
    if (paths_parse_duration(text, &ns))
        argp_error(state, "--interval: %s", pastset_error());
    if (ns < 100000 || ns > 60000000000)
        argp_error(state, "--interval %s: expected 100us to 1min", text);
    return (int64_t)ns;
}

static const char *read_table_name(const char *text, struct argp_state *state)
{
    static const char *const names[] = {"nodes", "links", "phases", "messages"};

    return names[cli_choice(
        text, CLI_LIST(names),
        "--table %s: expected nodes, links, phases or messages", state)];
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
        argp_error(state, "--show runs nothing: leave out the command");
    else if (!a->show && !m->argv)
        argp_error(state, "the command is missing");
    else if (m->packets_file && (m->no_packets || m->interfaces))
        argp_error(state, "--packets takes messages from a file: leave out "
                          "--interface and --no-packets");
    else if (m->no_packets && m->interfaces)
        argp_error(state, "--interface and --no-packets exclude each other");
}

static error_t parse_more(int key, char *text, struct argp_state *state)
{
    profile_arguments *a = state->input;
    switch (key) {
    case KEY_WIRE:
        read_wire(a, text, state);
        return 0;
    case KEY_BUSY:
        a->busy = read_share(text, state);
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
        a->out = text;
        return 0;
    case 't':
        a->table_file = text;
        return 0;
    case 'f':
        a->format = cli_format(text, state);
        return 0;
    case 'i':
        add_interface(a, text, state);
        return 0;
    case KEY_INTERVAL:
        a->measure.interval_ns = read_interval(text, state);
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

static int set_wires(predict_profile *profile, const profile_arguments *a)
{
    int err = 0;
    for (uint32_t i = 0; i < profile->link_count && !err; i++) {
        profile->links[i].busy = a->busy;
        if (!isnan(a->latency_s))
            err =
                predict_profile_set_wire(profile, i, a->latency_s, a->bandwidth,
                                         (predict_flow){0, 0, 0});
    }
    return err;
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
    if (set_wires(profile, a))
        code = cli_fail();
    if (a->out && predict_profile_save(profile, a->out))
        code = cli_fail();
    if (print(profile, a) != COMMAND_OK)
        code = COMMAND_FAILED;
    if (notes.exit_code || notes.incomplete)
        code = COMMAND_FAILED;
    if ((notes.exit_code || notes.incomplete) && a->out)
        fprintf(stderr, "eventspace: %s holds what was measured\n", a->out);
    predict_profile_destroy(profile);
    measure_profile_notes_clear(&notes);
    return code;
}

int cli_profile(int argc, char **argv)
{
    static const struct argp argp = {
        profile_options,
        parse_profile,
        "[-o FILE] -- COMMAND [ARGUMENTS]\n--show FILE",
        "Runs a command, without changing it, and measures how its processes "
        "use processors and what they send each other; prints what they "
        "computed, communicated and idled.\vPredictions are made from the "
        "profile by `eventspace predict`.",
        NULL,
        NULL,
        NULL};
    profile_arguments a = {
        .table = "nodes", .latency_s = NAN, .bandwidth = NAN, .busy = 0};
    if (eventspace_options_parse(&argp, argc, argv, ARGP_IN_ORDER, 0, &a))
        return COMMAND_USAGE;
    return a.show ? show(&a) : measure(&a);
}
