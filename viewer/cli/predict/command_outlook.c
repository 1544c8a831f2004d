/* command_outlook.c - see command_outlook.h. */
#include "viewer/cli/predict/command_outlook.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pastset/array.h"
#include "pastset/status.h"
#include "paths/map/units.h"

/* A machine that gives less than that, or a link, is not used. */
#define SHARE_MIN 0.01
#define LATENCY_MIN 1e-9
#define BANDWIDTH_MIN 1.0
/* What has not been measured for so many pieces is told. */
#define OLD_PIECES 10

/* --- options --- */

/* "now", seconds, or a date of UTC. */
static bool time_read(int64_t *ms, const char *text)
{
    struct tm tm = {0};
    const char *end = strptime(text, "%Y-%m-%d %H:%M", &tm);
    char *rest;
    long long seconds;

    if (strcmp(text, "now") == 0) {
        *ms = CLI_OUTLOOK_NOW;
        return true;
    }
    if (end && *end == ':')
        end = strptime(end, ":%S", &tm);
    if (end && !*end) {
        int day = tm.tm_mday;
        *ms = (int64_t)timegm(&tm) * 1000;
        return tm.tm_mday == day; /* else there is no such day */
    }
    errno = 0;
    seconds = strtoll(text, &rest, 10);
    *ms = (int64_t)seconds * 1000;
    return !errno && rest != text && !*rest && seconds > 0 &&
           seconds < INT64_MAX / 2000;
}

static double risk_read(const char *text, struct argp_state *state)
{
    double share;

    if (strcmp(text, "mean") == 0)
        return 0;
    if (strcmp(text, "upper") == 0)
        return 1;
    if (paths_parse_real(text, &share) != 0 || !(share > 0 && share < 1))
        argp_error(state,
                   "--risk=%s is not mean, upper, or a probability such as "
                   "0.95",
                   text);
    return share;
}

static void path_take(cli_outlook_options *o, const char *path,
                      struct argp_state *state)
{
    const char **paths =
        pastset_array_grow(o->paths, o->path_count, sizeof(*paths));

    if (!paths)
        argp_failure(state, COMMAND_FAILED, 0, "out of memory");
    o->paths = paths;
    paths[o->path_count++] = path;
}

error_t cli_outlook_parse(cli_outlook_options *o, int key, char *text,
                          struct argp_state *state)
{
    static const char *const hows[] = {"forecast", "modes", "runs"};
    int how;

    switch (key) {
    case CLI_KEY_WITH:
        path_take(o, text, state);
        return 0;
    case CLI_KEY_AT:
        o->has_at = true;
        if (!time_read(&o->at_ms, text))
            argp_error(state,
                       "--at=%s is not a time: write now, '2026-11-26 "
                       "04:40:00' or seconds since 1970",
                       text);
        return 0;
    case CLI_KEY_OUTLOOK:
        o->has_how = true;
        how = (int)cli_choice(
            text, CLI_LIST(hows),
            "--outlook=%s is not one of forecast, modes, runs", state);
        o->how = how == 1 ? PREDICT_BY_MODES : PREDICT_BY_FORECAST;
        o->by_runs = how == 2;
        return 0;
    case CLI_KEY_RISK:
        o->has_risk = true;
        o->risk = risk_read(text, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

void cli_outlook_check(const cli_outlook_options *o, bool has_runs,
                       struct argp_state *state)
{
    if (o->by_runs && !has_runs)
        argp_error(state, "--outlook=runs is for 'eventspace predict': choose "
                          "forecast or modes");
    if (o->path_count == 0 && (o->has_at || o->has_how || o->has_risk))
        argp_error(state,
                   "%s needs --with=HISTORIES, which 'eventspace watch' writes",
                   o->has_at    ? "--at"
                   : o->has_how ? "--outlook"
                                : "--risk");
}

void cli_outlook_options_clear(cli_outlook_options *o)
{
    free(o->paths);
    o->paths = NULL;
    o->path_count = 0;
}

/* --- finding --- */

static size_t machine_of(const char *name, size_t bytes,
                         const char *const *machines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(machines[i]) == bytes &&
            strncmp(machines[i], name, bytes) == 0)
            return i;
    return count;
}

/* "n0-n1"; names may have a '-' in them. */
static bool link_of(cli_given *g, const char *place,
                    const char *const *machines, size_t count)
{
    for (const char *at = place; (at = strchr(at, '-')); at++) {
        size_t a = machine_of(place, (size_t)(at - place), machines, count);
        size_t b = machine_of(at + 1, strlen(at + 1), machines, count);
        if (a == count || b == count || a == b)
            continue;
        g->a = (uint32_t)a;
        g->b = (uint32_t)b;
        return true;
    }
    return false;
}

/* False: it is of others. */
static bool given_of(cli_given *g, const measure_history *history,
                     const char *const *machines, size_t count)
{
    const char *place;
    size_t a;

    *g = (cli_given){.history = history};
    if (measure_kind_of(&g->kind, &place, history->series) != 0)
        return false;
    g->place = place;
    if (!machines)
        return true;
    if (g->kind != MEASURE_AVAILABILITY)
        return link_of(g, place, machines, count);
    a = machine_of(place, strlen(place), machines, count);
    g->a = (uint32_t)a;
    return a < count;
}

static int readings_make(predict_readings *out, const measure_history *h)
{
    predict_reading *items = calloc(h->count + 1, sizeof(*items));

    if (!items)
        return pastset_no_memory("for a history");
    for (size_t i = 0; i < h->count; i++) {
        const measure_history_row *row = &h->rows[i];
        items[i] = (predict_reading){row->time_ms, row->lasts_ms, row->value,
                                     (double)row->interval_ms * row->count};
    }
    *out = (predict_readings){items, h->count};
    return 0;
}

/* Of two of one thing the one that ends later. */
static cli_given *same_find(const cli_outlook *o, const cli_given *g)
{
    for (size_t i = 0; i < o->count; i++) {
        cli_given *other = &o->given[i];
        bool is_same = strcmp(other->place, g->place) == 0;
        bool is_back = g->kind != MEASURE_AVAILABILITY && g->a != g->b &&
                       other->a == g->b && other->b == g->a;
        if (other->kind == g->kind && (is_same || is_back))
            return other;
    }
    return NULL;
}

static int64_t end_of(const measure_history *h)
{
    return h->rows[h->count - 1].time_ms + h->rows[h->count - 1].lasts_ms;
}

static int given_add(cli_outlook *o, const cli_given *g)
{
    cli_given *same = same_find(o, g), own = *g;
    int err;

    if (same && end_of(same->history) >= end_of(g->history))
        return 0;
    err = readings_make(&own.readings, g->history);
    if (err)
        return err;
    if (same) {
        free((void *)(uintptr_t)same->readings.items);
        *same = own;
    } else {
        o->given[o->count++] = own;
    }
    return 0;
}

static int unit_check(const cli_given *g)
{
    const char *wanted = measure_kind_unit(g->kind);

    if (strcmp(g->history->unit, wanted) == 0)
        return 0;
    return pastset_fail(PASTSET_EFORMAT,
                        "the history \"%s\" is in \"%s\", not in \"%s\"",
                        g->history->series, g->history->unit, wanted);
}

static int given_find(cli_outlook *o, const char *const *machines, size_t count)
{
    int err = 0;

    o->given = calloc(o->histories.count + 1, sizeof(*o->given));
    o->varied = calloc(o->histories.count + 1, sizeof(*o->varied));
    if (!o->given || !o->varied)
        return pastset_no_memory("for histories");
    for (size_t i = 0; i < o->histories.count && !err; i++) {
        cli_given g;
        if (!given_of(&g, o->histories.items[i], machines, count))
            continue;
        err = unit_check(&g);
        if (!err)
            err = given_add(o, &g);
    }
    return err;
}

static int none_is_there(const cli_outlook *o, const char *machine)
{
    if (o->histories.count == 0)
        return pastset_fail(PASTSET_ENOENT, "no history has samples yet");
    return pastset_fail(PASTSET_ENOENT,
                        "no history is of machine %s or of the others: there "
                        "is \"%s\", and so on",
                        machine, o->histories.items[0]->series);
}

int cli_outlook_read(cli_outlook *out, const cli_outlook_options *options,
                     const char *const *machines, size_t count)
{
    struct timespec now;
    int err = 0;

    *out = (cli_outlook){.at_ms = options->at_ms};
    clock_gettime(CLOCK_REALTIME, &now);
    if (!options->has_at || options->at_ms == CLI_OUTLOOK_NOW)
        out->at_ms = now.tv_sec * (int64_t)1000 + now.tv_nsec / 1000000;
    for (size_t i = 0; i < options->path_count && !err; i++)
        err = cli_histories_read(&out->histories, options->paths[i]);
    if (!err && out->histories.bad)
        err = pastset_fail(PASTSET_EFORMAT, "%zu of the files cannot be read",
                           out->histories.bad);
    if (!err)
        err = given_find(out, machines, count);
    if (!err && out->count == 0)
        err = none_is_there(out, count ? machines[0] : "");
    if (err)
        cli_outlook_clear(out);
    return err;
}

void cli_outlook_clear(cli_outlook *o)
{
    for (size_t i = 0; i < o->count; i++)
        free((void *)(uintptr_t)o->given[i].readings.items);
    free(o->given);
    free(o->varied);
    cli_histories_clear(&o->histories);
    *o = (cli_outlook){0};
}

/* --- what will be --- */

/* What the traffic of others does to a link it does to both its values. */
static uint32_t group_of(const cli_outlook *o, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (o->given[k].kind != MEASURE_AVAILABILITY &&
            o->given[i].kind != MEASURE_AVAILABILITY &&
            o->given[k].a + o->given[k].b == o->given[i].a + o->given[i].b &&
            o->given[k].a * o->given[k].b == o->given[i].a * o->given[i].b)
            return (uint32_t)k;
    return (uint32_t)i;
}

static predict_varied varied_of(const cli_outlook *o, size_t i)
{
    static const double least[MEASURE_KINDS] = {SHARE_MIN, LATENCY_MIN,
                                                BANDWIDTH_MIN};
    const cli_given *g = &o->given[i];

    return (predict_varied){.value = g->outlook.value,
                            .least = fmax(least[g->kind], g->outlook.least),
                            .most = g->kind == MEASURE_AVAILABILITY
                                        ? fmin(1, g->outlook.most)
                                        : g->outlook.most,
                            .is_cost = g->kind == MEASURE_LATENCY,
                            .group = group_of(o, i)};
}

/* A history that ended long before says little. */
static const char *age_text(char *out, size_t bytes, int64_t ms)
{
    double hours = (double)ms / 3600000;

    if (hours < 2)
        return paths_duration_text((double)(ms / 1000), out, bytes);
    if (hours < 48)
        snprintf(out, bytes, "%.0f hours", hours);
    else
        snprintf(out, bytes, "%.0f days", hours / 24);
    return out;
}

static void warn_if_old(const cli_outlook *o, const cli_given *g)
{
    const measure_history *h = g->history;
    int64_t since_ms = o->at_ms - g->outlook.latest_ms;
    char text[64];

    if (since_ms <= OLD_PIECES * h->interval_ms || since_ms <= o->lasts_ms)
        return;
    fprintf(stderr,
            "eventspace: nothing was measured of \"%s\" in the last %s before "
            "the run\n",
            h->series, age_text(text, sizeof(text), since_ms));
}

/* `lasts_ms` 0: of what comes next. */
static int outlook_make(cli_outlook *o, const cli_outlook_options *options,
                        int64_t lasts_ms)
{
    int err = 0;

    o->lasts_ms = lasts_ms;
    for (size_t i = 0; i < o->count && !err; i++) {
        cli_given *g = &o->given[i];
        char date[32];
        err =
            predict_outlook_make(&g->outlook, g->readings, o->at_ms, lasts_ms,
                                 lasts_ms ? options->how : PREDICT_BY_FORECAST);
        if (err == PASTSET_ENOENT)
            return pastset_fail(err, "%s: nothing was measured before %s",
                                g->history->series,
                                cli_date_text(date, sizeof(date), o->at_ms));
        if (!err && lasts_ms)
            warn_if_old(o, g);
    }
    for (size_t i = 0; i < o->count && !err; i++)
        o->varied[i] = varied_of(o, i);
    return err;
}

int cli_outlook_settle(cli_outlook *o, const cli_outlook_options *options,
                       int (*time)(double *seconds, void *context),
                       void *context)
{
    double seconds = 0;
    int err = outlook_make(o, options, 0);

    if (!err)
        err = time(&seconds, context);
    return err ? err
               : outlook_make(o, options, (int64_t)fmax(1, seconds * 1000));
}

/* --- telling --- */

/* Numbers for programs, "151.2us" for people. */
#define OUTLOOK_COLUMNS(kind)                                                  \
    {                                                                          \
        {"series", "history", SCOPES_TEXT}, {"unit", "unit", SCOPES_TEXT},     \
            {"piece_s", "mean of s", SCOPES_REAL},                             \
            {"pieces", "pieces", SCOPES_COUNT}, {"value", "will be", kind},    \
            {"range", "+-", kind}, {"method", "by", SCOPES_TEXT},              \
            {"added_s", "range adds s", SCOPES_REAL},                          \
    }
static const scopes_column columns[] = OUTLOOK_COLUMNS(SCOPES_REAL),
                           people_columns[] = OUTLOOK_COLUMNS(SCOPES_TEXT);
#define COLUMNS (sizeof(columns) / sizeof(*columns))

static bool has_share(const cli_outlook *o, size_t machine)
{
    for (size_t i = 0; i < o->count; i++)
        if (o->given[i].kind == MEASURE_AVAILABILITY &&
            o->given[i].a == machine)
            return true;
    return false;
}

void cli_outlook_tell_missing(const cli_outlook *o, const char *const *machines,
                              size_t count, const char *instead)
{
    for (size_t i = 0; i < count; i++)
        if (!has_share(o, i))
            fprintf(stderr,
                    "eventspace: there is no history of the availability of "
                    "%s: %s\n",
                    machines[i], instead);
}

static void put_value(scopes_table *table, const char *unit, double value,
                      bool for_people)
{
    char text[64];

    if (for_people)
        scopes_table_copy(table,
                          cli_unit_text(text, sizeof(text), unit, value));
    else
        scopes_table_real(table, value);
}

scopes_table *cli_outlook_table(const cli_outlook *o, bool adds,
                                bool for_people)
{
    scopes_table *table = scopes_table_create(
        for_people ? people_columns : columns, COLUMNS - !adds);

    for (size_t i = 0; i < o->count; i++) {
        const cli_given *g = &o->given[i];
        scopes_table_copy(table, g->history->series);
        scopes_table_copy(table, g->history->unit);
        scopes_table_real(table, (double)g->outlook.piece_ms / 1000);
        scopes_table_integer(table, (int64_t)g->outlook.pieces);
        put_value(table, g->history->unit, g->outlook.value.mean, for_people);
        put_value(table, g->history->unit, g->outlook.value.range, for_people);
        scopes_table_copy(table, g->outlook.method);
        if (adds)
            scopes_table_real(table, o->varied[i].added_s);
    }
    return table;
}
