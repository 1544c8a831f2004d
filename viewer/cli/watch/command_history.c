/* command_history.c - eventspace history: what sensors have measured, a row for
 * each series. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pastset/array.h"
#include "pastset/status.h"
#include "measure/sensors/histories.h"
#include "paths/map/units.h"
#include "viewer/cli/watch/command_histories.h"
#include "viewer/report/series.h"
#include "viewer/tables/output.h"
#include "viewer/tables/table_print.h"

enum { KEY_LAST = 256 };

typedef struct history_arguments {
    const char **paths;
    size_t path_count;
    int64_t last_ms;  /* 0: all samples */
    const char *page; /* NULL: a table */
    viewer_format format;
} history_arguments;

static const struct argp_option history_options[] = {
    {"last", KEY_LAST, "TIME", 0,
     "Use only the samples of the last TIME of each series, such as 30min "
     "(default: all that are not yet kept as means, two days)",
     0},
    {"output", 'o', "FILE", 0,
     "Write a page with pictures of the series to FILE, instead of a table", 0},
    CLI_FORMAT_OPTION,
    {0},
};

/* --- printing --- */

/* Of `unit`: numbers for programs, "151.2us" for people. */
static const scopes_column columns[] = {
    {"series", "series", SCOPES_TEXT},    {"unit", "unit", SCOPES_TEXT},
    {"samples", "samples", SCOPES_COUNT}, {"from", "from (UTC)", SCOPES_TEXT},
    {"to", "to (UTC)", SCOPES_TEXT},      {"gaps", "gaps", SCOPES_COUNT},
    {"last", "last", SCOPES_REAL},        {"mean", "mean", SCOPES_REAL},
    {"range", "+-", SCOPES_REAL},         {"within", "within", SCOPES_SHARE},
    {"modes", "modes", SCOPES_TEXT},      {"next", "next", SCOPES_REAL},
    {"next_range", "+-", SCOPES_REAL},    {"method", "by", SCOPES_TEXT},
};
#define COLUMNS (sizeof(columns) / sizeof(*columns))

typedef struct printer {
    scopes_table *table;
    const char *unit;
    bool for_people;
} printer;

static void put_value(const printer *p, double value)
{
    char text[64];

    if (p->for_people)
        scopes_table_copy(p->table,
                          cli_unit_text(text, sizeof(text), p->unit, value));
    else
        scopes_table_real(p->table, value);
}

/* "0.94 28 %, 0.49 61 %": by mean. */
static void put_modes(const printer *p, const predict_modes *modes)
{
    char text[64 * PREDICT_MODES_MAX] = "", value[64];
    size_t used = 0;

    for (size_t i = 0; i < modes->count; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used,
                                 "%s%s %.0f %%", i ? ", " : "",
                                 cli_unit_text(value, sizeof(value), p->unit,
                                               modes->modes[i].value.mean),
                                 modes->modes[i].share * 100);
    scopes_table_copy(p->table, text);
}

static void put_row(printer *p, const viewer_series *s)
{
    const measure_history *h = s->history;
    char text[64];

    p->unit = h->unit;
    scopes_table_copy(p->table, h->series);
    scopes_table_copy(p->table, h->unit);
    scopes_table_integer(p->table, (int64_t)viewer_series_samples(s));
    scopes_table_copy(
        p->table, cli_date_text(text, sizeof(text), h->rows[s->first].time_ms));
    scopes_table_copy(p->table, cli_date_text(text, sizeof(text),
                                              h->rows[h->count - 1].time_ms));
    scopes_table_integer(p->table, (int64_t)viewer_series_gaps(s));
    put_value(p, h->rows[h->count - 1].value);
    put_value(p, s->all.mean);
    put_value(p, s->all.range);
    scopes_table_real(p->table, predict_coverage(s->all, s->values, s->count));
    put_modes(p, &s->modes);
    put_value(p, s->next.value.mean);
    put_value(p, s->next.value.range);
    scopes_table_copy(p->table, s->next.method);
}

static int print_table(const viewer_series *series, size_t count,
                       viewer_format format)
{
    scopes_column shown[COLUMNS];
    printer p = {.for_people = format == VIEWER_TABLE};
    int err;

    memcpy(shown, columns, sizeof(shown));
    for (size_t i = 0; i < COLUMNS && p.for_people; i++)
        if (shown[i].kind == SCOPES_REAL)
            shown[i].kind = SCOPES_TEXT;
    p.table = scopes_table_create(shown, COLUMNS);
    for (size_t i = 0; i < count; i++)
        put_row(&p, &series[i]);
    err = viewer_table_print(p.table, format, stdout);
    scopes_table_destroy(p.table);
    return err;
}

static int print_page(const viewer_series *series, size_t count,
                      const char *file)
{
    viewer_output *output;
    int err = viewer_output_begin(&output, file);

    if (err)
        return err;
    err = viewer_series_page_print(series, count, viewer_output_file(output));
    return viewer_output_end(output, err);
}

static int print(const cli_histories *list, const history_arguments *a)
{
    viewer_series *series = calloc(list->count + 1, sizeof(*series));
    int err = series ? 0 : pastset_no_memory("for series");

    for (size_t i = 0; i < list->count && !err; i++)
        err = viewer_series_init(&series[i], list->items[i], a->last_ms);
    if (!err)
        err = a->page ? print_page(series, list->count, a->page)
                      : print_table(series, list->count, a->format);
    for (size_t i = 0; series && i < list->count; i++)
        viewer_series_fini(&series[i]);
    free(series);
    return err;
}

/* --- the command --- */

static void take_path(history_arguments *a, const char *path,
                      struct argp_state *state)
{
    const char **paths =
        pastset_array_grow(a->paths, a->path_count, sizeof(*paths));

    if (!paths)
        argp_failure(state, COMMAND_FAILED, 0, "out of memory");
    a->paths = paths;
    paths[a->path_count++] = path;
}

static error_t parse_history(int key, char *text, struct argp_state *state)
{
    history_arguments *a = state->input;

    switch (key) {
    case KEY_LAST:
        a->last_ms =
            (int64_t)(cli_time(text, 1000000, INT64_MAX / 4, state) / 1000000);
        return 0;
    case 'o':
        a->page = text;
        return 0;
    case 'f':
        a->format = cli_format(text, state);
        return 0;
    case ARGP_KEY_ARG:
        take_path(a, text, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int tell(const history_arguments *a)
{
    static const char *const here = "histories";
    cli_histories list = {0};
    int err = a->path_count ? 0 : cli_histories_read(&list, here);

    for (size_t i = 0; i < a->path_count && !err; i++)
        err = cli_histories_read(&list, a->paths[i]);
    if (!err)
        err = print(&list, a);
    if (!err && list.bad)
        err = pastset_fail(PASTSET_EFORMAT, "%zu of the files cannot be read",
                           list.bad);
    cli_histories_clear(&list);
    return err;
}

int cli_history(int argc, char **argv)
{
    static const struct argp argp = {
        history_options,
        parse_history,
        "[HISTORY...]",
        "Shows what `eventspace watch` has measured: for each series how many "
        "samples there are and since when, how often there was a gap, their "
        "mean and range and how many are within, the modes that they stay "
        "around with the share of each, and the forecast of the next value."
        "\vHISTORY is a file, or a folder of such files (default ./histories). "
        "`eventspace forecast` tells more of one of them.",
        NULL,
        NULL,
        NULL};
    history_arguments a = {0};
    int err;

    if (eventspace_options_parse(&argp, argc, argv, 0, EVENTSPACE_NO_PROGRAM,
                                 &a))
        return COMMAND_USAGE;
    err = tell(&a);
    free(a.paths);
    return cli_end_output(err);
}
