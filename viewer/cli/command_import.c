/* command_import.c - eventspace import: a trace of another tool made a run. */
#include "viewer/cli/command.h"

#include <inttypes.h>
#include <stdlib.h>

#include "pastset/status.h"
#include "viewer/import/import.h"

#define KEY_REPLACE 256

typedef struct import_arguments {
    import_options options;
    viewer_format format;
} import_arguments;

static const struct argp_option options[] = {
    {"output", 'o', "RUN", 0, "Write the run to RUN, a new directory", 0},
    {"replace", KEY_REPLACE, NULL, 0, "Replace an older run in that directory",
     0},
    CLI_FORMAT_OPTION,
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state)
{
    import_arguments *a = state->input;

    switch (key) {
    case 'o':
        a->options.directory = text;
        return 0;
    case KEY_REPLACE:
        a->options.replace = true;
        return 0;
    case 'f':
        a->format = cli_format(text, state);
        return 0;
    case ARGP_KEY_END:
        if (a->options.trace && !a->options.directory)
            argp_error(state, "--output is missing: write the run to which "
                              "directory?");
        /* fallthrough */
    default:
        return cli_take_one(&a->options.trace, "the trace", key, text, state);
    }
}

/* --- what came of it --- */

static const scopes_column columns[] = {
    {"what", "what", SCOPES_TEXT},
    {"count", "count", SCOPES_COUNT},
    {"note", "note", SCOPES_TEXT},
};

static void row(scopes_table *table, const char *what, uint64_t count,
                const char *note)
{
    scopes_table_text(table, what);
    scopes_table_integer(table, (int64_t)count);
    scopes_table_copy(table, note);
}

/* What went wrong with a trace is told only where it did. */
static void row_if_any(scopes_table *table, const char *what, uint64_t count,
                       const char *note)
{
    if (count)
        row(table, what, count, note);
}

static void unpaired_row(scopes_table *table, const import_report *r)
{
    char note[EVENTSPACE_REGION_NAME + 160];
    int used = snprintf(note, sizeof(note),
                        "left and not entered, or calls of MPI that did not "
                        "return; left out");

    if (*r->unpaired_name)
        snprintf(note + used, sizeof(note) - (size_t)used,
                 "; %" PRIu64 " of them: %s", r->unpaired_alike,
                 r->unpaired_name);
    row_if_any(table, "unpaired regions", r->unpaired, note);
}

static void rows(scopes_table *table, const import_report *r)
{
    char clocks[120] = "no message arrives before it was sent";
    uint64_t unseen =
        r->requests > r->requests_ended ? r->requests - r->requests_ended : 0;

    if (!r->one_clock)
        snprintf(clocks, sizeof(clocks),
                 "messages arrived before they were sent: aligned by them, by "
                 "up to %.3f ms",
                 (double)r->shift_ns / 1e6);
    row(table, "processes", r->processes, "");
    row(table, "threads", r->threads, "");
    row(table, "operations", r->operations,
        "calls of MPI; one for each message and collective in them");
    row(table, "messages", r->messages, "sent and received");
    row(table, "collectives", r->collectives, "operations in which all wait");
    row(table, "regions", r->regions, "");
    row(table, "clocks", r->one_clock ? 1 : r->processes, clocks);
    row_if_any(table, "open regions", r->open,
               "entered and not left: they last as long as their thread");
    row_if_any(table, "unmatched sends", r->sent_only,
               "it is not known which receives got them: nobody is said to "
               "wait for them");
    row_if_any(table, "unmatched receives", r->received_only,
               "it is not known which messages they got, and what they waited "
               "for");
    row_if_any(table, "unmatched collectives", r->joined_only,
               "some rank has not joined as often as the others: it is not "
               "known for whom they waited");
    row_if_any(table, "unfinished receives", unseen,
               "MPI_Irecv of which the trace does not say when it ended");
    row_if_any(table, "calls without messages", r->silent,
               "MPI_Sendrecv, MPI_Mrecv: what they sent or received was not "
               "recorded; other messages with the same tags may be taken for "
               "that");
    unpaired_row(table, r);
    row_if_any(table, "other events", r->others,
               "of kinds that have no place in a run, such as metrics, OpenMP, "
               "files and one-sided communication; left out");
    row_if_any(table, "clocks not aligned", r->unaligned,
               "no messages in both directions: these processes are moved only "
               "as far as it takes that none arrives before it was sent");
}

static int import(const import_arguments *a)
{
    import_report report;
    scopes_table *table;
    int err;

    if (viewer_import_run(&a->options, &report) != 0)
        return cli_fail();
    table = scopes_table_create(CLI_LIST(columns));
    if (!table)
        return cli_no_memory("for what was imported");
    rows(table, &report);
    err = viewer_table_print(table, a->format, stdout);
    if (!err && a->format == VIEWER_JSON)
        putchar('\n');
    scopes_table_destroy(table);
    return cli_end_output(err);
}

int cli_import(int argc, char **argv)
{
    static const struct argp argp = {
        options,
        parse,
        "TRACE.otf2 --output=RUN",
        "Makes a run of a trace of an MPI program in the Open Trace Format 2, "
        "as Score-P and EZTrace write it."
        "\vEach message becomes a write by its sender and a read by its "
        "receiver, each collective an operation of all its ranks, every other "
        "region a region. The clocks of the processes are aligned by the "
        "messages between them. What the trace lacks, and what has no place in "
        "a run, is listed.",
        NULL,
        NULL,
        NULL};
    import_arguments a = {.format = VIEWER_TABLE};

    if (eventspace_options_parse(&argp, argc, argv, 0, EVENTSPACE_NO_PROGRAM,
                                 &a) != 0)
        return COMMAND_USAGE;
    cli_refuse_large_files();
    return import(&a);
}
