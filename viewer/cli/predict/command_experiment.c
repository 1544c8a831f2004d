/* command_experiment.c - eventspace experiment MAP -- PROGRAM: measured times
 * beside predicted ones. */
#include "viewer/cli/predict/predict_arguments.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure/experiment/experiment.h"
#include "measure/load/others.h"
#include "pastset/status.h"

enum {
    KEY_SCENARIO = 256,
    KEY_TESTBED,
    KEY_BASE_RATE,
    KEY_DELAY,
    KEY_PIN,
    KEY_RUNS,
    KEY_SEED,
    KEY_LAW,
    KEY_PROFILE,
    KEY_COMMAND,
    KEY_TABLE,
};

static const struct argp_option experiment_options[] = {
    {"scenario", KEY_SCENARIO, "CONDITIONS", 0,
     "Measure under these conditions too: n0:load=1, '*:load=1', "
     "n0-n1:bandwidth=10mbit, or several of them separated by blanks. Can be "
     "given several times",
     0},
    {"runs", KEY_RUNS, "COUNT", 0,
     "Run each scenario this many times (default 5)", 0},
    {"pin", KEY_PIN, "CPUS", 0,
     "Bind the processes to these processors in turn, such as 0,3-5 (default: "
     "all that may be used)",
     0},
    {"testbed", KEY_TESTBED, "NAME", OPTION_ARG_OPTIONAL,
     "Put each process into a network namespace, so that links can be limited. "
     "Requires root",
     0},
    {"delay", KEY_DELAY, NULL, 0,
     "Limit links by delays in the map; does not require root", 0},
    {"base-rate", KEY_BASE_RATE, "RATE", 0,
     "Limit links that no condition names to this rate, such as 100mbit "
     "(default: unlimited). Requires --testbed or --delay",
     0},
    {"law", KEY_LAW, "LAW", 0,
     "How schedulers share a processor: eevdf (default), fair, credit or "
     "bounded:TIME. 'eventspace load --detect-law' measures it",
     0},
    {"profile", KEY_PROFILE, "FILE", 0,
     "Predict from this profile. If the file does not exist, measure the "
     "profile and write it there",
     0},
    {"command", KEY_COMMAND, NULL, 0, "Measure a command that has no map", 0},
    {"seed", KEY_SEED, "N", 0,
     "Shuffle the runs with this random seed (default 1)", 0},
    {"table", KEY_TABLE, "TABLE", 0,
     "Print this table: answers (measured and predicted times, the default), "
     "runs (each run) or links (what was measured of them)",
     0},
    CLI_FORMAT_OPTION,
    {"quiet", EVENTSPACE_RENAMED, "RATE", OPTION_HIDDEN, "base-rate", 0},
    {0},
};

#define PROCESSORS 256

typedef struct experiment_arguments {
    measure_experiment_options options;
    uint32_t processors[PROCESSORS];
    cli_conditions scenarios;
    viewer_format format;
    const char *table;
    bool command;
} experiment_arguments;

/* --- tables --- */

static const scopes_column answer_columns[] = {
    {"scenario", "scenario", SCOPES_TEXT},
    {"runs", "runs", SCOPES_COUNT},
    {"measured_s", "measured s", SCOPES_REAL},
    {"min_s", "min s", SCOPES_REAL},
    {"max_s", "max s", SCOPES_REAL},
    {"slowdown", "x alone", SCOPES_REAL},
    {"model", "model", SCOPES_TEXT},
    {"law", "law", SCOPES_TEXT},
    {"source", "source", SCOPES_TEXT},
    {"best", "best", SCOPES_TEXT},
    {"lower_s", "predicted s", SCOPES_REAL},
    {"upper_s", "to s", SCOPES_REAL},
    {"error", "error", SCOPES_SHARE},
    {"scaled_lower_s", "scaled s", SCOPES_REAL},
    {"scaled_upper_s", "to s", SCOPES_REAL},
    {"scaled_error", "error", SCOPES_SHARE},
};

static void put_case(scopes_table *table, const measure_experiment *e,
                     const measure_case *c)
{
    scopes_table_text(table, c->text);
    scopes_table_integer(table, c->runs);
    scopes_table_real(table, c->median_s);
    scopes_table_real(table, c->min_s);
    scopes_table_real(table, c->max_s);
    scopes_table_real(table, c->median_s / e->cases[0].median_s);
}

/* As it was told before the runs; then scaled by the dedicated runs. */
static void put_answer(scopes_table *table, const measure_experiment *e,
                       const measure_case *c, size_t number)
{
    const predict_answer *a = &c->answers.all[number];
    double lower = measure_experiment_scaled(e, a->lower_s);
    double upper = measure_experiment_scaled(e, a->upper_s);

    scopes_table_text(table, a->model);
    scopes_table_text(table, a->scheduler);
    scopes_table_text(table, a->source);
    scopes_table_text(table, number == c->answers.best ? "best" : "");
    scopes_table_real(table, a->lower_s);
    scopes_table_real(table, a->upper_s > a->lower_s ? a->upper_s : NAN);
    scopes_table_real(table, measure_experiment_error(c, a));
    scopes_table_real(table, lower);
    scopes_table_real(table, upper > lower ? upper : NAN);
    scopes_table_real(table, measure_experiment_scaled_error(e, c, a));
}

static void put_nothing(scopes_table *table)
{
    for (int i = 0; i < 4; i++)
        scopes_table_text(table, NULL);
    for (int i = 0; i < 6; i++)
        scopes_table_real(table, NAN);
}

static scopes_table *answer_table(const measure_experiment *e)
{
    scopes_table *table = scopes_table_create(
        answer_columns, sizeof(answer_columns) / sizeof(*answer_columns));
    for (size_t i = 0; i < e->case_count; i++) {
        const measure_case *c = &e->cases[i];
        for (size_t k = 0; k < c->answers.count && c->predicted; k++) {
            put_case(table, e, c);
            put_answer(table, e, c, k);
        }
        if (!c->predicted) {
            put_case(table, e, c);
            put_nothing(table);
        }
    }
    return table;
}

static scopes_table *run_table(const measure_experiment *e)
{
    static const scopes_column columns[] = {
        {"scenario", "scenario", SCOPES_TEXT},
        {"round", "round", SCOPES_COUNT},
        {"time_s", "time s", SCOPES_REAL},
        {"others", "others", SCOPES_SHARE},
    };
    scopes_table *table = scopes_table_create(columns, 4);
    for (size_t i = 0; i < e->case_count; i++) {
        for (uint32_t k = 0; k < e->cases[i].runs; k++) {
            scopes_table_text(table, e->cases[i].text);
            scopes_table_integer(table, k + 1);
            scopes_table_real(table, e->cases[i].times_s[k]);
            scopes_table_real(table, e->cases[i].others[k]);
        }
    }
    return table;
}

static scopes_table *link_table(const measure_experiment *e)
{
    static const scopes_column columns[] = {
        {"limit_mbit_s", "limit Mbit/s", SCOPES_REAL},
        {"fitted_latency_ns", "latency ms", SCOPES_TIME_NS},
        {"fitted_bandwidth_mbit_s", "bandwidth Mbit/s", SCOPES_REAL},
        {"latency_ns", "all sizes: latency ms", SCOPES_TIME_NS},
        {"bandwidth_mbit_s", "bandwidth Mbit/s", SCOPES_REAL},
        {"busy", "busy", SCOPES_SHARE},
        {"residual", "residual", SCOPES_SHARE},
    };
    scopes_table *table = scopes_table_create(columns, 7);
    for (size_t i = 0; i < e->wire_count; i++) {
        const measure_wire *w = &e->wires[i];
        scopes_table_real(table, w->limit > 0 ? w->limit * 8 / 1e6 : NAN);
        scopes_table_integer(table, llround(w->fitted.latency_s * 1e9));
        scopes_table_real(table, w->fitted.bandwidth * 8 / 1e6);
        scopes_table_integer(table, llround(w->link.latency_s * 1e9));
        scopes_table_real(table, w->link.bandwidth * 8 / 1e6);
        scopes_table_real(table, w->link.busy);
        scopes_table_real(table, w->link.residual);
    }
    return table;
}

static int print(const measure_experiment *e, const experiment_arguments *a)
{
    scopes_table *table;
    int err;
    if (strcmp(a->table, "runs") == 0)
        table = run_table(e);
    else if (strcmp(a->table, "links") == 0)
        table = link_table(e);
    else
        table = answer_table(e);
    err = table ? viewer_table_print(table, a->format, stdout)
                : pastset_no_memory("for the table");
    if (a->format == VIEWER_JSON)
        putchar('\n');
    scopes_table_destroy(table);
    return err;
}

/* --- while it runs --- */

static volatile sig_atomic_t stop, pass_on;

/* What the terminal sends goes to the command as well. */
static void on_signal(int number, siginfo_t *about, void *unused)
{
    (void)unused;
    stop = 1;
    if (about->si_code <= 0)
        pass_on = number;
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_sigaction = on_signal,
                               .sa_flags = SA_SIGINFO}; /* no SA_RESTART */
    cli_catch(&action);
}

static void show_progress(void *context, const char *what, uint32_t done,
                          uint32_t all)
{
    (void)context;
    fprintf(stderr, "\r\033[K%u of %u: %s", done, all, what);
    fflush(stderr);
}

static void tell_notes(const measure_experiment *e)
{
    for (size_t i = 0; i < e->notes.text_count; i++)
        fprintf(stderr, "eventspace experiment: %s\n", e->notes.texts[i]);
}

/* Runs that did not have the processors to themselves. */
static void tell_others(const measure_experiment *e)
{
    uint32_t runs = 0, flagged = 0;
    double max = 0;

    for (size_t i = 0; i < e->case_count; i++) {
        for (uint32_t k = 0; k < e->cases[i].runs; k++) {
            double share = e->cases[i].others[k];
            runs++;
            flagged += share > MEASURE_OTHERS_MAX;
            max = share > max ? share : max;
        }
    }
    if (flagged)
        fprintf(stderr,
                "eventspace: other programs had up to %.0f %% of the "
                "processors in %u of %u runs: what was measured is not the "
                "program alone. --table=runs shows which\n",
                max * 100, flagged, runs);
}

static int run(experiment_arguments *a)
{
    measure_experiment *e = NULL;
    char text[1024];
    bool terminal = isatty(2);
    int err, failed = 0;
    catch_signals();
    a->options.stop = &stop;
    a->options.pass_on = &pass_on;
    if (terminal)
        a->options.progress = show_progress;
    err = measure_experiment_run(&e, &a->options);
    snprintf(text, sizeof(text), "%s", pastset_error());
    if (terminal)
        fputs("\r\033[K", stderr);
    if (e) {
        if (!stop) {
            tell_notes(e);
            tell_others(e);
        }
        if (e->cases[0].predicted)
            failed = print(e, a);
    }
    measure_experiment_destroy(e);
    if (!err)
        return cli_end_output(failed);
    fflush(stdout);
    pastset_fail(err, "%s", text);
    return cli_fail();
}

/* --- arguments --- */

/* Its conditions are checked now, the names in them when nodes are known. */
static void take_scenario(experiment_arguments *a, const char *text,
                          struct argp_state *state)
{
    if (measure_experiment_check(text))
        argp_error(state, "--scenario: %s", pastset_error());
    cli_add_condition(&a->scenarios, text, state);
}

static void take_links(experiment_arguments *a, measure_experiment_links links,
                       struct argp_state *state)
{
    if (a->options.links != MEASURE_LINKS_AS_THEY_ARE &&
        a->options.links != links)
        argp_error(state, "--testbed cannot be combined with --delay");
    a->options.links = links;
}

static const char *read_table_name(const char *text, struct argp_state *state)
{
    static const char *const names[] = {"answers", "runs", "links"};

    return names[cli_choice(text, CLI_LIST(names),
                            "the table '%s' is not one of answers, runs, links",
                            state)];
}

/* The map first, but with --command; then the program with all that follows. */
static void take_argument(experiment_arguments *a, char *text,
                          struct argp_state *state)
{
    if (!a->command && !a->options.map) {
        a->options.map = text;
        return;
    }
    a->options.argv = &state->argv[state->next - 1];
    state->next = state->argc;
}

static void check(const experiment_arguments *a, struct argp_state *state)
{
    if (!a->command && !a->options.map)
        argp_error(state, "the map is missing; use --command for a program "
                          "that has none");
    else if (!a->options.argv)
        argp_error(state, "the program is missing");
    else if (a->options.base_rate > 0 &&
             a->options.links == MEASURE_LINKS_AS_THEY_ARE)
        argp_error(state, "--base-rate requires --testbed or --delay");
    else if (a->command && a->options.links != MEASURE_LINKS_AS_THEY_ARE)
        argp_error(state, "--command cannot be combined with --testbed or "
                          "--delay: they limit the links of a map");
}

static error_t parse_links(int key, char *text, experiment_arguments *a,
                           struct argp_state *state)
{
    switch (key) {
    case KEY_TESTBED:
        take_links(a, MEASURE_LINKS_TESTBED, state);
        a->options.testbed = text;
        return 0;
    case KEY_DELAY:
        take_links(a, MEASURE_LINKS_DELAYS, state);
        return 0;
    case KEY_BASE_RATE:
        a->options.base_rate = (double)cli_rate(text, state);
        return 0;
    case KEY_LAW:
        a->options.scheduler = cli_law(text, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_experiment(int key, char *text, struct argp_state *state)
{
    experiment_arguments *a = state->input;
    switch (key) {
    case KEY_SCENARIO:
        take_scenario(a, text, state);
        return 0;
    case 'f':
        a->format = cli_format(text, state);
        return 0;
    case KEY_RUNS:
        a->options.runs = (uint32_t)cli_number(text, 1, 10000, state);
        return 0;
    case KEY_PIN:
        a->options.processor_count =
            cli_processors(a->processors, PROCESSORS, text, state);
        a->options.processors = a->processors;
        return 0;
    case KEY_SEED:
        a->options.seed = cli_number(text, 1, UINT64_MAX, state);
        return 0;
    case KEY_PROFILE:
        a->options.profile = text;
        return 0;
    case KEY_COMMAND:
        a->command = true;
        return 0;
    case KEY_TABLE:
        a->table = read_table_name(text, state);
        return 0;
    case ARGP_KEY_ARG:
        take_argument(a, text, state);
        return 0;
    case ARGP_KEY_END:
        check(a, state);
        return 0;
    default:
        return parse_links(key, text, a, state);
    }
}

int cli_experiment(int argc, char **argv)
{
    static const struct argp argp = {
        experiment_options,
        parse_experiment,
        "MAP -- PROGRAM [ARGUMENTS]\n--command -- COMMAND [ARGUMENTS]",
        "Runs a program alone and under other conditions, and prints measured "
        "and predicted times side by side.\v"
        "Predictions are made before anything is measured. Scaled predictions "
        "are corrected by how much longer the program takes when it is "
        "profiled.",
        NULL,
        NULL,
        NULL};
    experiment_arguments a = {
        .table = "answers",
        .options = {.scheduler = PREDICT_SCHEDULER_DEFAULT}};
    int code;
    if (eventspace_options_parse(&argp, argc, argv, ARGP_IN_ORDER, 1, &a))
        return COMMAND_USAGE;
    a.options.cases = a.scenarios.texts;
    a.options.case_count = a.scenarios.count;
    code = run(&a);
    cli_clear_conditions(&a.scenarios);
    return code;
}
