/* command_whatif.c - eventspace whatif RUN CHANGE...: how long the run would
 * have taken. */
#include "viewer/cli/command_window.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "scopes/whatif/whatif.h"
#include "viewer/tables/facts.h"

#define CHANGES_MAX 64
#define NAME_MAX_BYTES 512

enum { KEY_THREAD = 256, KEY_HOP, KEY_ELEMENT, KEY_BALANCE, KEY_STEPS };

/* A change, and the option that it came from. */
typedef struct asked {
    scopes_change change;
    const char *option, *text; /* "hop", "A-B:latency=0" */
    char name[NAME_MAX_BYTES]; /* "A-B", which is `change.what` */
} asked;

typedef struct whatif_arguments {
    const char *run;
    scopes_snapshot_options snapshot;
    asked asked[CHANGES_MAX];
    size_t count;
    viewer_format format;
} whatif_arguments;

static const struct argp_option whatif_options[] = {
    CLI_FORMAT_OPTION,
    {"thread", KEY_THREAD, "LIST:WHAT=FACTOR", 0,
     "Let these threads, numbers, names and patterns such as 0,3-5 or 'w*', "
     "take FACTOR times as long for WHAT: compute, calls (without waiting), "
     "sleep, or runnable (without a processor); compute=peers: as long as the "
     "others for the same part of the work",
     0},
    {"hop", KEY_HOP, "NAME:latency=FACTOR", 0,
     "Let it take FACTOR times as long to pass a wrapper, to go from process A "
     "to process B (A-B), or to receive what an element has",
     0},
    {"element", KEY_ELEMENT, "NAME:room=unlimited", 0,
     "Let no writer wait for room in this element", 0},
    {"balance", KEY_BALANCE, "NAME", 0,
     "Let all who meet at this collective, or at the element behind it, have "
     "computed equally long since they met before",
     0},
    {"balance-steps", KEY_STEPS, NULL, 0,
     "Let all threads compute equally long in each step", 0},
    {0},
};

/* --- changes --- */

static bool take_factor(scopes_change *change, const char *text)
{
    char *end;

    change->factor = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(change->factor) &&
           change->factor >= 0;
}

static bool take_thread(scopes_change *change, const char *word,
                        const char *value)
{
    static const scopes_change_kind kinds[] = {
        SCOPES_CHANGE_COMPUTING, SCOPES_CHANGE_CALLS, SCOPES_CHANGE_SLEEPING,
        SCOPES_CHANGE_RUNNABLE};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        if (strcmp(word, scopes_change_word(kinds[i])) != 0)
            continue;
        change->kind = kinds[i];
        change->to_peers = change->kind == SCOPES_CHANGE_COMPUTING &&
                           strcmp(value, "peers") == 0;
        return change->to_peers || take_factor(change, value);
    }
    return false;
}

static bool take_hop(scopes_change *change, const char *word, const char *value)
{
    change->kind = SCOPES_CHANGE_HOP;
    return strcmp(word, "latency") == 0 && take_factor(change, value);
}

static bool take_element(scopes_change *change, const char *word,
                         const char *value)
{
    change->kind = SCOPES_CHANGE_ROOM;
    return strcmp(word, "room") == 0 && strcmp(value, "unlimited") == 0;
}

static asked *add(whatif_arguments *a, const char *option, const char *text,
                  struct argp_state *state)
{
    asked *one = &a->asked[a->count];

    if (a->count == CHANGES_MAX)
        argp_error(state, "there are more than %d changes", CHANGES_MAX);
    if (text && strlen(text) >= sizeof(one->name))
        argp_error(state, "--%s '%.20s...' is longer than %zu characters",
                   option, text, sizeof(one->name) - 1);
    a->count++;
    one->option = option;
    one->text = text;
    if (text)
        one->change.what = strcpy(one->name, text);
    return one;
}

/* NAME:WORD=VALUE; a name may have ':' and '=', too. */
static void take_change(whatif_arguments *a, const char *option,
                        const char *text, const char *form,
                        bool (*take)(scopes_change *, const char *,
                                     const char *),
                        struct argp_state *state)
{
    asked *one = add(a, option, text, state);
    char *value = strrchr(one->name, '='), *word;

    if (value)
        *value++ = '\0';
    word = value ? strrchr(one->name, ':') : NULL;
    if (word)
        *word++ = '\0';
    if (!word || word == one->name + 1 || !take(&one->change, word, value))
        argp_error(state, "--%s '%s' is not of the form %s", option, text,
                   form);
}

static error_t parse_whatif(int key, char *text, struct argp_state *state)
{
    whatif_arguments *a = state->input;

    switch (key) {
    case 'f':
        a->format = cli_format(text, state);
        return 0;
    case KEY_THREAD:
        take_change(a, "thread", text,
                    "LIST:WHAT=FACTOR, such as t0:compute=0.5", take_thread,
                    state);
        return 0;
    case KEY_HOP:
        take_change(a, "hop", text,
                    "NAME:latency=FACTOR, such as A-B:latency=0", take_hop,
                    state);
        return 0;
    case KEY_ELEMENT:
        take_change(a, "element", text, "NAME:room=unlimited", take_element,
                    state);
        return 0;
    case KEY_BALANCE:
        add(a, "balance", text, state)->change.kind = SCOPES_CHANGE_BALANCE;
        return 0;
    case KEY_STEPS:
        add(a, "balance-steps", NULL, state)->change.kind =
            SCOPES_CHANGE_BALANCE;
        return 0;
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->snapshot;
        return 0;
    default:
        return cli_take_one(&a->run, "the run directory", key, text, state);
    }
}

/* --- the table --- */

static const scopes_column columns[] = {
    {"change", "change", SCOPES_TEXT},
    {"run_ns", "run ms", SCOPES_TIME_NS},
    {"gain_ns", "gain ms", SCOPES_TIME_NS},
    {"gain_share", "gain, share of the run", SCOPES_SHARE},
};

static void add_row(scopes_table *table, const char *change, int64_t run_ns,
                    int64_t before_ns)
{
    scopes_table_copy(table, change);
    scopes_table_integer(table, run_ns);
    scopes_table_integer(table, before_ns - run_ns);
    scopes_table_real(table, before_ns > 0 ? (double)(before_ns - run_ns) /
                                                 (double)before_ns
                                           : 0);
}

static void add_asked(scopes_table *table, const asked *one, int64_t run_ns,
                      int64_t before_ns)
{
    char said[NAME_MAX_BYTES + 32];

    snprintf(said, sizeof(said), "--%s%s%s", one->option, one->text ? "=" : "",
             one->text ? one->text : "");
    add_row(table, said, run_ns, before_ns);
}

static int add_changes(scopes_table *table, const whatif_arguments *a,
                       scopes_whatif *whatif)
{
    scopes_change all[CHANGES_MAX];
    /* That of the run, unless operations that are missing make others need each
     * other in a circle. */
    int64_t before_ns = scopes_whatif_replayed_ns(whatif), run_ns;
    int err = 0;

    add_row(table, "none", scopes_whatif_recorded_ns(whatif), before_ns);
    for (size_t i = 0; i < a->count && !err; i++) {
        all[i] = a->asked[i].change;
        err = scopes_whatif_time(whatif, &all[i], 1, &run_ns);
        if (!err)
            add_asked(table, &a->asked[i], run_ns, before_ns);
    }
    if (err || a->count < 2)
        return err;
    err = scopes_whatif_time(whatif, all, a->count, &run_ns);
    if (!err)
        add_row(table, "all of these", run_ns, before_ns);
    return err;
}

static int print(const whatif_arguments *a, const scopes_snapshot *snapshot)
{
    scopes_view_input input = scopes_view_input_of(snapshot);
    scopes_table *table =
        scopes_table_create(columns, sizeof(columns) / sizeof(*columns));
    scopes_whatif *whatif = NULL;
    int err = table ? scopes_whatif_create(&whatif, &input)
                    : pastset_no_memory("for a table");

    if (!err)
        err = add_changes(table, a, whatif);
    if (!err)
        err = viewer_table_print(table, a->format, stdout);
    if (!err && a->format == VIEWER_JSON)
        putchar('\n');
    if (!err && a->count == 0)
        fprintf(stderr,
                "eventspace: no change was named, such as --balance or "
                "--thread=NAME:compute=0.5: see eventspace whatif --help\n");
    scopes_whatif_destroy(whatif);
    scopes_table_destroy(table);
    return err;
}

static int whatif_run(eventspace_run *run, const whatif_arguments *a)
{
    scopes_snapshot *snapshot;
    int err = scopes_snapshot_take(&snapshot, run, &a->snapshot);

    if (err)
        return err;
    cli_warn_of_run(run, a->run);
    cli_warn_of_clocks(run, snapshot->clocks);
    err = viewer_require_events(snapshot, a->run);
    if (!err)
        err = print(a, snapshot);
    scopes_snapshot_destroy(snapshot);
    return err;
}

int cli_whatif(int argc, char **argv)
{
    static const struct argp_child children[] = {{&cli_window, 0, NULL, 0},
                                                 {0}};
    static const struct argp argp = {
        whatif_options,
        parse_whatif,
        "RUN",
        "Says how long a run would have taken if something in it had been "
        "otherwise: each change alone, and all of them together."
        "\vAll operations are replayed with what they cost in the run, but for "
        "the changes; waiting is what comes out. That threads which have less "
        "to do leave their processor to others is not taken into account.",
        children,
        NULL,
        NULL};
    whatif_arguments a = {.snapshot = SCOPES_SNAPSHOT_ALL};
    eventspace_run *run;
    int err;

    if (eventspace_options_parse(&argp, argc, argv, 0, EVENTSPACE_NO_PROGRAM,
                                 &a))
        return COMMAND_USAGE;
    run = cli_open_run(a.run);
    if (!run)
        return COMMAND_FAILED;
    err = whatif_run(run, &a);
    eventspace_run_close(run);
    return cli_end_output(err);
}
