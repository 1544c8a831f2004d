/* command_advise.c - eventspace advise: what a run has lost time by, in
 * sentences: the rows of the view "causes"; and how far they are to be
 * trusted. */
#include "viewer/cli/command_window.h"
#include "viewer/tables/view_print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "scopes/memory/memory.h"
#include "scopes/reading/snapshot.h"
#include "scopes/views/view.h"
#include "viewer/tables/facts.h"
#include "scopes/tables/say.h"
#include "viewer/tables/alone.h"
#include "viewer/tables/lacking.h"
#include "viewer/tables/trust.h"

#define WIDTH 79                /* of lines for people */
#define LITTLE_OBSERVING 0.0001 /* nobody needs to know less */
#define INDENT 4

enum { KEY_REFERENCE = 256, KEY_MEMORY };

typedef struct advise_arguments {
    const char *run, *reference;
    scopes_snapshot_options snapshot;
    viewer_format format;
    bool is_text;
    uint64_t memory_bytes;
} advise_arguments;

static const struct argp_option advise_options[] = {
    {"format", 'f', "text|table|csv|json", 0,
     "Print sentences, or the rows in this format (default text)", 0},
    {"reference", KEY_REFERENCE, "PROCESS", 0,
     "Align the clocks to that of this process (default: the one that the "
     "others reach by the fewest hops)",
     0},
    CLI_MEMORY_OPTION(KEY_MEMORY),
    {0},
};

/* --- cells --- */

static size_t column_of(const scopes_table *table, const char *key)
{
    size_t column = 0;

    while (strcmp(scopes_table_column(table, column)->key, key) != 0)
        column++;
    return column;
}

static scopes_cell cell(const scopes_table *table, size_t row, const char *key)
{
    return scopes_table_cell(table, row, column_of(table, key));
}

/* How long the run took; SCOPES_BLANK: no row says. */
static int64_t took(const scopes_table *table)
{
    for (size_t i = 0; i < scopes_table_rows(table); i++) {
        int64_t gain_ns = cell(table, i, "gain_ns").integer;
        if (gain_ns != SCOPES_BLANK)
            return gain_ns + cell(table, i, "without_ns").integer;
    }
    return SCOPES_BLANK;
}

/* --- sentences --- */

/* A number is not parted from its unit. */
static size_t word_length(const char *text)
{
    static const char *const units[] = {"%", "ns", "us", "ms", "s"};
    size_t length = strcspn(text, " ");
    const char *digit = text + (*text == '(');

    if (*digit < '0' || *digit > '9' || text[length] == '\0')
        return length;
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
        const char *unit = text + length + 1;
        if (strncmp(unit, units[i], strlen(units[i])) == 0 &&
            !strchr("abcdefghijklmnopqrstuvwxyz", unit[strlen(units[i])]))
            return length + 1 + strcspn(unit, " ");
    }
    return length;
}

static size_t print_word(const char *word, size_t length, size_t at)
{
    if (at + 1 + length > WIDTH) {
        printf("\n%*s", INDENT, "");
        at = INDENT;
    } else if (at > INDENT) {
        putchar(' ');
        at++;
    }
    fwrite(word, 1, length, stdout);
    return at + length;
}

/* Behind a number, in lines of WIDTH. */
static void print_paragraph(size_t number, const char *text)
{
    size_t at = INDENT;

    printf("%2zu. ", number);
    while (*text) {
        size_t length = word_length(text);
        at = print_word(text, length, at);
        text += length;
        text += strspn(text, " ");
    }
    putchar('\n');
}

/* How certain a gain is, is of interest where there is one. */
static char *sentence(const char *says, int64_t gain_ns, int64_t low_ns,
                      int64_t high_ns)
{
    char low[SCOPES_SAY_BYTES], high[SCOPES_SAY_BYTES], *text;
    int bytes = low_ns == SCOPES_BLANK || gain_ns <= 0
                    ? asprintf(&text, "%s.", says)
                    : asprintf(&text, "%s (nearly certain: %s to %s).", says,
                               scopes_say_time((double)low_ns, low),
                               scopes_say_time((double)high_ns, high));

    return bytes < 0 ? NULL : text;
}

static int print_cause(const scopes_table *table, size_t row)
{
    char *text = sentence(cell(table, row, "says").text,
                          cell(table, row, "gain_ns").integer,
                          cell(table, row, "low_ns").integer,
                          cell(table, row, "high_ns").integer);

    if (!text)
        return pastset_no_memory("for a sentence");
    print_paragraph(row + 1, text);
    free(text);
    return 0;
}

/* What is said besides of a run. */
typedef struct besides {
    viewer_trust trust;
    viewer_alone alone;
    viewer_lacking processors;
    const scopes_ledger *ledger;
} besides;

static void print_besides(const besides *b)
{
    const viewer_trust *t = &b->trust;
    char says[512];

    if (*viewer_alone_says(&b->alone, says, sizeof(says)))
        printf("alone: %s\n", says);
    if (*viewer_lacking_says(&b->processors, says, sizeof(says)))
        printf("processors: %s\n", says);
    cli_print_ledger(b->ledger, stdout);
    putchar('\n');
    if (t->processes < 2)
        puts("clocks: one process");
    else if (isinf(t->certain_ns))
        puts("clocks: not of all processes is it certain how they are aligned");
    else if (t->certain_ns <= 0)
        puts("clocks: all processes have one counter");
    else
        printf("clocks: aligned, certainly within %s\n",
               scopes_say_time(t->certain_ns, says));
    if (t->event_cost_ns > 0)
        printf("observing: %s %.2g %% of the time of threads, %.0f ns for an "
               "event\n",
               t->observing < LITTLE_OBSERVING ? "less than" : "about",
               100 * fmax(t->observing, LITTLE_OBSERVING), t->event_cost_ns);
}

static int print_text(const scopes_table *table, const besides *b)
{
    int64_t took_ns = took(table);
    char says[SCOPES_SAY_BYTES];
    int err = 0;

    if (took_ns == SCOPES_BLANK)
        puts("No cause was found by which this run has lost time.\n");
    else
        printf("The run took %s. What it has lost time by, in the order of "
               "what it\nwould gain without each:\n\n",
               scopes_say_time((double)took_ns, says));
    for (size_t i = 0; i < scopes_table_rows(table) && !err; i++)
        err = print_cause(table, i);
    if (scopes_table_rows(table) > 0)
        putchar('\n');
    print_besides(b);
    return err;
}

/* --- for programs --- */

static const scopes_column trust_columns[] = {
    {"took_ns", "took ms", SCOPES_TIME_NS},
    {"clocks_certain_ns", "clocks certain ms", SCOPES_TIME_NS},
    {"event_cost_ns", "an event ns", SCOPES_REAL},
    {"observing_share", "observing", SCOPES_SHARE},
    {"without_processor_share", "without processor", SCOPES_SHARE},
    {"alone_first_thread", "alone at first", SCOPES_TEXT},
    {"alone_first_ns", "for ms", SCOPES_TIME_NS},
    {"alone_last_thread", "alone at last", SCOPES_TEXT},
    {"alone_last_ns", "for ms", SCOPES_TIME_NS},
};

static void add_alone(scopes_table *out, const char *thread, int64_t ns)
{
    scopes_table_text(out, thread ? thread : "");
    scopes_table_integer(out, thread ? ns : SCOPES_BLANK);
}

static int print_json(const scopes_table *table, const besides *b)
{
    const viewer_trust *t = &b->trust;
    scopes_table *about = scopes_table_create(CLI_LIST(trust_columns));
    int err;

    scopes_table_integer(about, took(table));
    scopes_table_integer(about, isinf(t->certain_ns) ? SCOPES_BLANK
                                                     : llround(t->certain_ns));
    scopes_table_real(about,
                      t->event_cost_ns > 0 ? t->event_cost_ns : (double)NAN);
    scopes_table_real(about, t->observing);
    scopes_table_real(about, b->processors.share);
    add_alone(about, b->alone.first, b->alone.begin_ns);
    add_alone(about, b->alone.last, b->alone.end_ns);
    putchar('{');
    err = about ? viewer_table_print_members(about, 0, stdout)
                : pastset_no_memory("for what is advised");
    scopes_table_destroy(about);
    if (err)
        return err;
    putchar(',');
    viewer_ledger_print(b->ledger, stdout);
    fputs(",\"rows\":", stdout);
    err = viewer_table_print(table, VIEWER_JSON, stdout);
    puts("}");
    return err;
}

static int print(const advise_arguments *a, const scopes_table *table,
                 const besides *b)
{
    if (a->is_text)
        return print_text(table, b);
    return a->format == VIEWER_JSON
               ? print_json(table, b)
               : viewer_table_print(table, a->format, stdout);
}

/* --- what is known --- */

static int besides_make(besides *b, const scopes_snapshot *snapshot)
{
    viewer_facts facts;
    int err = viewer_facts_take(&facts, snapshot->run);

    if (err)
        return err;
    viewer_trust_take(&b->trust, snapshot, &facts);
    b->alone = viewer_alone_of(snapshot);
    b->processors = viewer_lacking_of(snapshot);
    b->ledger = &snapshot->event_table->ledger;
    viewer_facts_fini(&facts);
    return 0;
}

static int advise(const advise_arguments *a, const scopes_snapshot *snapshot)
{
    scopes_view_input view_input = scopes_view_input_of(snapshot);
    scopes_table *table;
    besides b;
    int err = besides_make(&b, snapshot);

    if (!err)
        err = scopes_view_make(&table, scopes_view_find("causes"), &view_input);
    if (err)
        return err;
    err = print(a, table, &b);
    scopes_table_destroy(table);
    return err;
}

static int advise_run(eventspace_run *run, advise_arguments *a)
{
    scopes_snapshot *snapshot;
    int err = cli_find_process(run, a->reference, &a->snapshot.reference);

    if (!err)
        err = scopes_snapshot_take(&snapshot, run, &a->snapshot);
    if (err)
        return err;
    cli_warn_of_run(snapshot->run, a->run);
    cli_warn_of_strange(snapshot->event_table->strange);
    err = viewer_require_events(snapshot, a->run);
    if (!err)
        err = advise(a, snapshot);
    scopes_snapshot_destroy(snapshot);
    return err;
}

/* --- the command --- */

static error_t parse_advise(int key, char *text, struct argp_state *state)
{
    advise_arguments *a = state->input;

    switch (key) {
    case 'f':
        a->is_text = strcmp(text, "text") == 0;
        if (!a->is_text)
            a->format = cli_format(text, state);
        return 0;
    case KEY_REFERENCE:
        a->reference = text;
        return 0;
    case KEY_MEMORY:
        a->memory_bytes = cli_memory(text, state);
        return 0;
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->snapshot;
        return 0;
    default:
        return cli_take_one(&a->run, "the run directory", key, text, state);
    }
}

int cli_advise(int argc, char **argv)
{
    static const struct argp_child children[] = {{&cli_window, 0, NULL, 0},
                                                 {0}};
    static const struct argp argp = {
        advise_options,
        parse_advise,
        "RUN",
        "Says what a run has lost time by: the causes of its waiting, in the "
        "order of what it would gain without each, and how sure that is.\v"
        "The run may still be going on, and its processes may have been "
        "killed. `eventspace view RUN causes` prints the same as a table.",
        children,
        NULL,
        NULL};
    advise_arguments a = {.snapshot = SCOPES_SNAPSHOT_ALL, .is_text = true};
    eventspace_run *run;
    int code;

    if (eventspace_options_parse(&argp, argc, argv, 0, EVENTSPACE_NO_PROGRAM,
                                 &a))
        return COMMAND_USAGE;
    if (scopes_memory_limit(a.memory_bytes))
        return cli_fail();
    run = cli_open_run(a.run);
    if (!run)
        return COMMAND_FAILED;
    code = cli_end_output(advise_run(run, &a));
    eventspace_run_close(run);
    return code;
}
