/* command_contract_rules.c - eventspace contract rules NAME=VALUE...: what a
 * rulebase concludes. */
#include "viewer/cli/contract/command_contract.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contracts/rules/rules.h"
#include "pastset/status.h"

#define ASKED_MAX 64
#define VALUES_MAX 10000

enum { KEY_RULES = 256 };

/* A variable, and the values that it has one after the other. */
typedef struct asked {
    char *name, *values; /* "3,4,5" */
} asked;

typedef struct rules_arguments {
    const char *file; /* NULL: the usual one */
    viewer_format format;
    bool detail;
    asked asked[ASKED_MAX];
    size_t count;
} rules_arguments;

static const struct argp_option rules_options[] = {
    {"rules", KEY_RULES, "FILE", 0,
     "Take the rulebase of FILE instead of the usual one; - is standard input",
     0},
    {"detail", 'd', NULL, 0,
     "Print to which degree each value belongs to each set of its variable", 0},
    CLI_FORMAT_OPTION,
    {0},
};

static void take_value(rules_arguments *a, char *text, struct argp_state *state)
{
    char *value = strchr(text, '=');

    if (!value || value == text || !value[1])
        argp_error(state, "'%s' is not of the form NAME=VALUE", text);
    if (a->count == ASKED_MAX)
        argp_error(state, "more than %d variables", ASKED_MAX);
    *value = '\0';
    a->asked[a->count++] = (asked){text, value + 1};
}

static error_t parse_rules(int key, char *text, struct argp_state *state)
{
    rules_arguments *a = state->input;

    switch (key) {
    case KEY_RULES:
        a->file = cli_input(text);
        return 0;
    case 'd':
        a->detail = true;
        return 0;
    case 'f':
        a->format = cli_format(text, state);
        return 0;
    case ARGP_KEY_ARG:
        take_value(a, text, state);
        return 0;
    case ARGP_KEY_END:
        if (a->count == 0)
            argp_error(state, "no value is given, such as distance=4.5");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* --- values --- */

/* The value of a row: the last one goes on. */
static int value_at(double *out, const asked *one, size_t row, bool *is_last)
{
    const char *text = one->values;
    char *end;

    for (size_t i = 0; i < row && strchr(text, ','); i++)
        text = strchr(text, ',') + 1;
    *out = strtod(text, &end);
    if (end == text || (*end && *end != ',') || !isfinite(*out))
        return pastset_fail(PASTSET_EINVAL,
                            "%s=%s: a value is a number, or several with a "
                            "comma in between",
                            one->name, one->values);
    *is_last &= !*end;
    return 0;
}

typedef struct working {
    const rules_arguments *a;
    contracts_rules *rules;
    double *values; /* by variable */
    scopes_column *columns;
    scopes_table *table;
} working;

static int values_set(working *w, size_t row, bool *is_last)
{
    int err = 0;

    *is_last = true;
    for (size_t i = 0; i < w->a->count && !err; i++) {
        const asked *one = &w->a->asked[i];
        uint32_t variable = contracts_rules_find(w->rules, one->name);
        if (variable == CONTRACTS_NONE ||
            contracts_rules_concludes(w->rules, variable))
            return pastset_fail(
                PASTSET_EINVAL, "%s: %s", one->name,
                variable == CONTRACTS_NONE
                    ? "the rulebase has no such variable"
                    : "the rules conclude it: it cannot be given");
        err = value_at(&w->values[variable], one, row, is_last);
    }
    return err;
}

static const scopes_column detail_columns[] = {
    {"variable", "variable", SCOPES_TEXT},
    {"value", "value", SCOPES_REAL},
    {"set", "set", SCOPES_TEXT},
    {"degree", "degree", SCOPES_REAL},
};

static void detail_add(working *w, uint32_t variable)
{
    double value = w->values[variable];
    const char *set;

    for (size_t i = 0; (set = contracts_rules_set(w->rules, variable, i));
         i++) {
        scopes_table_text(w->table, contracts_rules_name(w->rules, variable));
        scopes_table_real(w->table, value);
        scopes_table_text(w->table, set);
        scopes_table_real(w->table,
                          contracts_rules_degree(w->rules, variable, i, value));
    }
}

static int rows_add(working *w)
{
    size_t count = contracts_rules_count(w->rules);
    bool is_last = false;
    int err = 0;

    for (size_t row = 0; !is_last && !err && row < VALUES_MAX; row++) {
        for (uint32_t v = 0; v < count; v++)
            w->values[v] = (double)NAN;
        err = values_set(w, row, &is_last);
        if (!err)
            err = contracts_rules_infer(w->rules, w->values);
        for (uint32_t v = 0; v < count && !err; v++) {
            if (w->a->detail)
                detail_add(w, v);
            else
                scopes_table_real(w->table, w->values[v]);
        }
    }
    return err;
}

static int work(working *w)
{
    size_t count = contracts_rules_count(w->rules);
    int err;

    w->values = calloc(count + 1, sizeof(*w->values));
    w->columns = calloc(count + 1, sizeof(*w->columns));
    if (!w->values || !w->columns)
        return pastset_no_memory("for a rulebase");
    for (uint32_t v = 0; v < count; v++) {
        const char *name = contracts_rules_name(w->rules, v);
        w->columns[v] = (scopes_column){name, name, SCOPES_REAL};
    }
    w->table = w->a->detail ? scopes_table_create(CLI_LIST(detail_columns))
                            : scopes_table_create(w->columns, count);
    if (!w->table)
        return pastset_no_memory("for a table");
    err = rows_add(w);
    if (!err)
        err = viewer_table_print(w->table, w->a->format, stdout);
    if (!err && w->a->format == VIEWER_JSON)
        putchar('\n');
    return err;
}

int cli_contract_rules(int argc, char **argv)
{
    static const struct argp argp = {
        rules_options,
        parse_rules,
        "NAME=VALUE...",
        "Works out what a rulebase concludes of values, such as distance=4.5. "
        "Several values, as in distance=3,4,5, are worked out one by one."
        "\vThe usual rulebase is that by which contracts are checked: it "
        "concludes a contract of 0 (kept) to 1 (violated) from a distance.",
        NULL,
        NULL,
        NULL};
    static rules_arguments a;
    working w = {.a = &a};
    int err;

    if (eventspace_options_parse(&argp, argc, argv, 0, EVENTSPACE_NO_PROGRAM,
                                 &a))
        return COMMAND_USAGE;
    err = contracts_rules_read(&w.rules, a.file);
    if (!err)
        err = work(&w);
    scopes_table_destroy(w.table);
    free(w.columns);
    free(w.values);
    contracts_rules_destroy(w.rules);
    return cli_end_output(err);
}
