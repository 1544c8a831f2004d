/* command_model.c - eventspace model MODEL: what a structural model comes to,
 * and what each of its terms contributes. */
#include "viewer/cli/command.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/array.h"
#include "pastset/status.h"
#include "predict/structural/structural.h"
#include "viewer/tables/table_print.h"

enum { KEY_SET = 256, KEY_OF, KEY_RISK };

typedef struct model_arguments {
    const char *model, *of;
    const char **definitions;
    size_t definition_count;
    predict_group by;
    viewer_format format;
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

static int evaluate(const model_arguments *a)
{
    predict_structural *model;
    predict_structural_result result = {0};
    int err = predict_structural_read(&model, a->model);

    for (size_t i = 0; i < a->definition_count && !err; i++)
        err = predict_structural_set(model, a->definitions[i]);
    if (!err)
        err = predict_structural_evaluate(&result, model, a->of, a->by, NULL);
    if (!err)
        err = print(&result, a);
    predict_structural_result_fini(&result);
    predict_structural_destroy(model);
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
        "docs/models.md has the language.",
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
    err = evaluate(&a);
    free(a.definitions);
    return cli_end_output(err);
}
