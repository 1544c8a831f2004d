/* command_forecast.c - eventspace forecast SERIES: what comes next in a series
 * of measured values, and what the values are like. */
#include "viewer/cli/command.h"
#include "viewer/cli/watch/command_series.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "predict/stochastic/forecast.h"
#include "predict/stochastic/modes.h"
#include "viewer/tables/table_print.h"

typedef struct forecast_arguments {
    const char *series;
    viewer_format format;
} forecast_arguments;

static const struct argp_option forecast_options[] = {
    CLI_FORMAT_OPTION,
    {0},
};

/* --- what is told --- */

typedef struct told {
    const cli_series *series;
    predict_forecast next;
    predict_modes modes;
    predict_method methods[PREDICT_METHODS_MAX];
    size_t method_count;
} told;

static int forecast(told *t)
{
    predict_forecaster *f;
    int err = predict_forecaster_create(&f);

    for (size_t i = 0; i < t->series->count && !err; i++)
        err = predict_forecaster_add(f, t->series->values[i]);
    if (!err)
        err = predict_forecaster_next(&t->next, f);
    if (!err)
        t->method_count = predict_forecaster_methods(f, t->methods);
    predict_forecaster_destroy(f);
    return err;
}

/* --- printing --- */

static const scopes_column value_columns[] = {
    {"what", "", SCOPES_TEXT},          {"mean", "mean", SCOPES_REAL},
    {"range", "+-", SCOPES_REAL},       {"lower", "from", SCOPES_REAL},
    {"upper", "to", SCOPES_REAL},       {"share", "share", SCOPES_SHARE},
    {"within", "within", SCOPES_SHARE},
};

static const scopes_column method_columns[] = {
    {"method", "method", SCOPES_TEXT},
    {"error", "off by", SCOPES_REAL},
};

static void value_row(scopes_table *table, const char *what,
                      predict_stochastic v, double share, double within)
{
    scopes_table_copy(table, what);
    scopes_table_real(table, v.mean);
    scopes_table_real(table, v.range);
    scopes_table_real(table, predict_lower(v));
    scopes_table_real(table, predict_upper(v));
    scopes_table_real(table, share);
    scopes_table_real(table, within);
}

/* How many of the values of a mode are within its range. */
static double within_mode(const told *t, size_t mode)
{
    double within = 0, all = 0;

    for (size_t i = 0; i < t->series->count; i++) {
        double value = t->series->values[i];
        if (predict_modes_of(&t->modes, value) != mode)
            continue;
        all++;
        within +=
            predict_stochastic_miss(t->modes.modes[mode].value, value) == 0;
    }
    return all > 0 ? within / all : (double)NAN;
}

static int print_values(const told *t, viewer_format format)
{
    const double *values = t->series->values;
    size_t count = t->series->count;
    predict_stochastic all = predict_stochastic_of(values, count);
    scopes_table *table = scopes_table_create(CLI_LIST(value_columns));
    char what[32];
    int err;

    value_row(table, "next", t->next.value, (double)NAN, (double)NAN);
    value_row(table, "all", all, 1, predict_coverage(all, values, count));
    for (size_t i = 0; i < t->modes.count; i++) {
        snprintf(what, sizeof(what), "mode %zu", i + 1);
        value_row(table, what, t->modes.modes[i].value, t->modes.modes[i].share,
                  within_mode(t, i));
    }
    value_row(table, "modes averaged", predict_modes_averaged(&t->modes),
              (double)NAN, (double)NAN);
    value_row(table, "modes mixed", predict_modes_mixed(&t->modes), (double)NAN,
              predict_coverage(predict_modes_mixed(&t->modes), values, count));
    err = viewer_table_print(table, format, stdout);
    scopes_table_destroy(table);
    return err;
}

static int print_methods(const told *t)
{
    scopes_table *table = scopes_table_create(CLI_LIST(method_columns));
    int err;

    for (size_t i = 0; i < t->method_count; i++) {
        scopes_table_text(table, t->methods[i].name);
        scopes_table_real(table, t->methods[i].error);
    }
    err = viewer_table_print(table, VIEWER_JSON, stdout);
    scopes_table_destroy(table);
    return err;
}

static int print_json(const told *t)
{
    int err;

    printf(
        "{\"count\": %zu, \"method\": \"%s\", \"mode\": %zu,\n\"values\": ",
        t->series->count, t->next.method,
        predict_modes_of(&t->modes, t->series->values[t->series->count - 1]) +
            1);
    err = print_values(t, VIEWER_JSON);
    fputs(",\n\"methods\": ", stdout);
    if (!err)
        err = print_methods(t);
    puts("}");
    return err;
}

static int print(const told *t, viewer_format format)
{
    if (format == VIEWER_JSON)
        return print_json(t);
    if (format == VIEWER_TABLE)
        printf("Next: %.4g +- %.3g, by the %s, which was off by %.3g on "
               "average; %zu values.\n\n",
               t->next.value.mean, t->next.value.range, t->next.method,
               t->next.error, t->series->count);
    return print_values(t, format);
}

/* --- the command --- */

static int tell(const forecast_arguments *a)
{
    cli_series s = {0};
    told t = {.series = &s};
    int err = cli_series_read(&s, a->series);

    if (!err)
        err = forecast(&t);
    if (!err)
        err = predict_modes_find(&t.modes, s.values, s.count);
    if (!err)
        err = print(&t, a->format);
    cli_series_clear(&s);
    return err;
}

static error_t parse_forecast(int key, char *text, struct argp_state *state)
{
    forecast_arguments *a = state->input;

    if (key == 'f') {
        a->format = cli_format(text, state);
        return 0;
    }
    return cli_take_one(&a->series, "the series", key, text, state);
}

int cli_forecast(int argc, char **argv)
{
    static const struct argp argp = {
        forecast_options,
        parse_forecast,
        "SERIES",
        "Forecasts the next value of a series, such as the load of a machine, "
        "with the range that 95 % of such forecasts are within; and tells what "
        "the values are like: their mean and range, and the modes that they "
        "stay around."
        "\vSERIES is a history of `eventspace watch`, or a text file with a "
        "value a line, the oldest first, or a table of which the last column "
        "is the values; - is standard input. Of "
        "many simple methods the one is taken that has been off least up to "
        "now.",
        NULL,
        NULL,
        NULL};
    forecast_arguments a = {0};

    if (eventspace_options_parse(&argp, argc, argv, 0, EVENTSPACE_NO_PROGRAM,
                                 &a))
        return COMMAND_USAGE;
    return cli_end_output(tell(&a));
}
