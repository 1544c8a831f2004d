/* command_model.c - eventspace model MODEL: what a structural model comes to,
 * and what each of its terms contributes. */
#include "viewer/cli/predict/command_outlook.h"
#include "viewer/cli/predict/predict_arguments.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/array.h"
#include "pastset/status.h"
#include "predict/profile/profile.h"
#include "predict/structural/structural.h"
#include "predict/structural/structural_profile.h"
#include "viewer/tables/profile_table.h"
#include "viewer/tables/table_print.h"

enum { KEY_SET = 256, KEY_OF, KEY_RISK, KEY_FROM, KEY_PROFILED_LINK };

typedef struct model_arguments {
    const char *model, *of;
    const char **definitions;
    size_t definition_count;
    predict_group by;
    viewer_format format;
    cli_outlook_options outlook;
    bool is_profile; /* write a model of it */
    bool has_format;
    cli_conditions profiled_links;
} model_arguments;

static const struct argp_option model_options[] = {
    {"set", KEY_SET, "DEFINITION", 0,
     "Define this, or in place of what the model says: 'load(A) = 0.48 +- "
     "0.05'. Can be given several times",
     0},
    {"of", KEY_OF, "NAME", 0, "Work out this component (default time)", 0},
    {"risk", KEY_RISK, "mean|upper", 0,
     "Take as the largest of several the one with the largest mean, or, to be "
     "careful, with the largest upper end (default mean)",
     0},
    {"with", CLI_KEY_WITH, "HISTORIES", 0,
     "Take load(MACHINE), latency(A-B) and bandwidth(A-B) from what "
     "'eventspace "
     "watch' has measured: a file or a folder of them. Can be given several "
     "times",
     0},
    {"at", CLI_KEY_AT, "TIME", 0,
     "The run begins then, and only what was measured before counts: now "
     "(default), '2026-11-26 04:40:00' (UTC), or seconds since 1970",
     0},
    {"outlook", CLI_KEY_OUTLOOK, "forecast|modes", 0,
     "Take the forecast of what comes next, for as long as the run takes "
     "(default), or the modes of what was last, for as long, averaged",
     0},
    {"from-profile", KEY_FROM, NULL, 0,
     "Write a model of the profile that is given in its place, to go on from",
     0},
    CLI_PROFILED_LINK_OPTION(KEY_PROFILED_LINK),
    CLI_FORMAT_OPTION,
    {0},
};

/* --- printing --- */

static const scopes_column term_columns[] = {
    {"term", "term", SCOPES_TEXT},        {"line", "line", SCOPES_NUMBER},
    {"mean", "contributes", SCOPES_REAL}, {"range", "+-", SCOPES_REAL},
    {"share", "of all", SCOPES_SHARE},
};

static const scopes_column result_columns[] = {
    {"name", "name", SCOPES_TEXT},  {"unit", "unit", SCOPES_TEXT},
    {"mean", "mean", SCOPES_REAL},  {"range", "+-", SCOPES_REAL},
    {"lower", "from", SCOPES_REAL}, {"upper", "to", SCOPES_REAL},
};

static int print_terms(const predict_structural_result *r, viewer_format format)
{
    scopes_table *table = scopes_table_create(CLI_LIST(term_columns));
    int err;

    for (size_t i = 0; i < r->term_count; i++) {
        const predict_structural_term *term = &r->terms[i];
        scopes_table_text(table, term->name);
        scopes_table_integer(table, term->line);
        scopes_table_real(table, term->value.mean);
        scopes_table_real(table, term->value.range);
        scopes_table_real(table, r->value.mean != 0
                                     ? term->value.mean / r->value.mean
                                     : (double)NAN);
    }
    err = viewer_table_print(table, format, stdout);
    scopes_table_destroy(table);
    return err;
}

static int print_json(const predict_structural_result *r, const char *name,
                      const char *unit)
{
    scopes_table *table = scopes_table_create(CLI_LIST(result_columns));
    int err;

    scopes_table_text(table, name);
    scopes_table_text(table, unit);
    scopes_table_real(table, r->value.mean);
    scopes_table_real(table, r->value.range);
    scopes_table_real(table, predict_lower(r->value));
    scopes_table_real(table, predict_upper(r->value));
    putchar('{');
    err = viewer_table_print_members(table, 0, stdout);
    scopes_table_destroy(table);
    fputs(",\n\"terms\": ", stdout);
    if (!err)
        err = print_terms(r, VIEWER_JSON);
    puts("}");
    return err;
}

static int print(const predict_structural_result *r, const model_arguments *a)
{
    char text[32];
    const char *unit = predict_dimension_text(r->dimension, text);

    if (a->format == VIEWER_JSON)
        return print_json(r, a->of, unit);
    if (a->format == VIEWER_TABLE)
        printf("%s: %.4g%s%s +- %.3g%s%s\n\n", a->of, r->value.mean,
               *unit ? " " : "", unit, r->value.range, *unit ? " " : "", unit);
    return print_terms(r, a->format);
}

/* --- the command --- */

/* The range, as far as it can be: a share is never 0. */
static predict_stochastic within(const predict_varied *v)
{
    double mean = predict_varied_within(v, v->value.mean);
    double lower = predict_varied_within(v, mean - v->value.range);
    double upper = predict_varied_within(v, mean + v->value.range);

    return (predict_stochastic){
        mean, fmin(fmax(upper - mean, mean - lower), mean - v->least / 2)};
}

/* "n1-n0" for "n0-n1", where the name of one machine has no '-' in it. */
static bool turn(char *out, size_t bytes, const char *place)
{
    const char *dash = strchr(place, '-');

    if (!dash || strchr(dash + 1, '-'))
        return false;
    snprintf(out, bytes, "%s-%.*s", dash + 1, (int)(dash - place), place);
    return true;
}

static int define(predict_structural *model, measure_kind kind,
                  const char *place, predict_stochastic v)
{
    static const char *const names[MEASURE_KINDS] = {"load", "latency",
                                                     "bandwidth"};
    static const char *const units[MEASURE_KINDS] = {"", "s", "bit"};
    double factor = kind == MEASURE_BANDWIDTH ? 8 : 1;
    char text[1024];

    snprintf(text, sizeof(text), "%s(%s) = %.9f%s +- %.9f%s", names[kind],
             place, factor * v.mean, units[kind], factor * v.range,
             units[kind]);
    return predict_structural_set(model, text);
}

/* A model has its own values where it was written down; a history goes before
 * them, and the command line before that. A link may be named from either end.
 */
static int given_set(predict_structural *model, const cli_outlook *o, size_t i)
{
    const cli_given *g = &o->given[i];
    predict_stochastic v = within(&o->varied[i]);
    char turned[512];
    int err = define(model, g->kind, g->place, v);

    if (!err && g->kind != MEASURE_AVAILABILITY &&
        turn(turned, sizeof(turned), g->place))
        err = define(model, g->kind, turned, v);
    return err;
}

/* A model that is worked out, maybe several times. */
typedef struct evaluation {
    predict_structural *model;
    const model_arguments *a;
    cli_outlook outlook;
    predict_structural_result result;
} evaluation;

static int work_out(evaluation *e)
{
    int err = 0;

    for (size_t i = 0; i < e->outlook.count && !err; i++)
        err = given_set(e->model, &e->outlook, i);
    for (size_t i = 0; i < e->a->definition_count && !err; i++)
        err = predict_structural_set(e->model, e->a->definitions[i]);
    predict_structural_result_fini(&e->result);
    e->result = (predict_structural_result){0};
    return err ? err
               : predict_structural_evaluate(&e->result, e->model, e->a->of,
                                             e->a->by, NULL);
}

/* What is not a time has no part of a history that counts: what comes next. */
static int seconds_of(double *seconds, void *context)
{
    evaluation *e = context;
    int err = work_out(e);
    bool is_time =
        e->result.dimension.seconds == 1 && e->result.dimension.bytes == 0;

    *seconds = is_time ? e->result.value.mean : 0;
    return err;
}

/* Machines and links that the model does not have change nothing. A model that
 * needs histories cannot be worked out without. */
static int work_out_with(evaluation *e)
{
    bool has_plain = work_out(e) == 0;
    predict_stochastic plain = e->result.value;
    int err = cli_outlook_read(&e->outlook, &e->a->outlook, NULL, 0);

    if (!err)
        err = cli_outlook_settle(&e->outlook, &e->a->outlook, seconds_of, e);
    if (!err)
        err = work_out(e);
    if (!err && has_plain && plain.mean == e->result.value.mean &&
        plain.range == e->result.value.range)
        fputs("eventspace: the histories change nothing: are they of the "
              "machines and links of the model?\n",
              stderr);
    return err;
}

static int evaluate(const model_arguments *a)
{
    evaluation e = {.a = a};
    int err = predict_structural_read(&e.model, a->model);

    if (!err)
        err = a->outlook.path_count ? work_out_with(&e) : work_out(&e);
    if (!err)
        err = print(&e.result, a);
    predict_structural_result_fini(&e.result);
    predict_structural_destroy(e.model);
    cli_outlook_clear(&e.outlook);
    return err;
}

static int write_model(const model_arguments *a)
{
    predict_profile *profile;
    int err = predict_profile_load(&profile, cli_input(a->model));

    if (err)
        return err;
    viewer_profile_warn(profile, a->model);
    err = cli_set_profiled_links(profile, &a->profiled_links);
    if (!err)
        err = predict_structural_of_profile(stdout, profile);
    predict_profile_destroy(profile);
    return err;
}

static void take_definition(model_arguments *a, const char *text,
                            struct argp_state *state)
{
    const char **definitions = pastset_array_grow(
        a->definitions, a->definition_count, sizeof(*definitions));

    if (!definitions) {
        argp_failure(state, COMMAND_FAILED, 0, "no memory");
        return;
    }
    a->definitions = definitions;
    definitions[a->definition_count++] = text;
}

static error_t parse_model(int key, char *text, struct argp_state *state)
{
    static const char *const risks[] = {"mean", "upper"};
    model_arguments *a = state->input;

    switch (key) {
    case KEY_SET:
        take_definition(a, text, state);
        return 0;
    case KEY_OF:
        a->of = text;
        return 0;
    case KEY_RISK:
        a->by =
            cli_choice(text, CLI_LIST(risks),
                       "the risk '%s' is not one of mean, upper", state) == 0
                ? PREDICT_BY_MEAN
                : PREDICT_BY_UPPER;
        return 0;
    case 'f':
        a->format = cli_format(text, state);
        a->has_format = true;
        return 0;
    case KEY_PROFILED_LINK:
        cli_take_profiled_link(&a->profiled_links, text, state);
        return 0;
    case KEY_FROM:
        a->is_profile = true;
        return 0;
    case CLI_KEY_WITH:
    case CLI_KEY_AT:
    case CLI_KEY_OUTLOOK:
        return cli_outlook_parse(&a->outlook, key, text, state);
    case ARGP_KEY_END:
        cli_outlook_check(&a->outlook, false, state);
        if (a->is_profile &&
            (a->definition_count || a->outlook.path_count || a->has_format ||
             strcmp(a->of, "time") != 0 || a->by != PREDICT_BY_MEAN))
            argp_error(state, "--from-profile writes a model, and heeds only "
                              "--profiled-link");
        if (!a->is_profile && a->profiled_links.count)
            argp_error(state, "--profiled-link is for --from-profile");
        return 0;
    default:
        return cli_take_one(&a->model, "the model", key, text, state);
    }
}

int cli_model(int argc, char **argv)
{
    static const struct argp argp = {
        model_options,
        parse_model,
        "MODEL",
        "Works out what a structural model comes to: how long a program takes, "
        "from components and parameters that a text file tells, each a number "
        "or a number with a range, as in 0.48 +- 0.05."
        "\vA range is two standard deviations: 95 % of the values are within. "
        "docs/models.md has the language. A model of a program is a "
        "beginning: 'eventspace model --from-profile PROFILE' writes one.",
        NULL,
        NULL,
        NULL};
    model_arguments a = {.of = "time"};
    int err;

    if (eventspace_options_parse(&argp, argc, argv, 0, EVENTSPACE_NO_PROGRAM,
                                 &a)) {
        free(a.definitions);
        return COMMAND_USAGE;
    }
    err = a.is_profile ? write_model(&a) : evaluate(&a);
    free(a.definitions);
    cli_outlook_options_clear(&a.outlook);
    cli_clear_conditions(&a.profiled_links);
    return cli_end_output(err);
}
