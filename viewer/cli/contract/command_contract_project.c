/* command_contract_project.c - eventspace contract project CONTRACT: what is
 * promised where processes run with more or less than in the run that the
 * contract is of (paper 003, 4.3.1). */
#include "viewer/cli/contract/command_contract.h"

#include <fnmatch.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "contracts/contract/contract.h"
#include "pastset/status.h"
#include "viewer/cli/contract/contract_file.h"

#define FACTOR_MIN 1e-6
#define FACTOR_MAX 1e6

enum { KEY_BY = 256, KEY_PREDICTED, KEY_PROCESS, KEY_METRIC };

typedef struct project_arguments {
    const char *contract, *output;
    const char *process, *metric; /* NULL: all */
    const char *predicted;        /* NULL: by the factor */
    double factor;                /* 0: by what was predicted */
} project_arguments;

static const struct argp_option project_options[] = {
    {"by", KEY_BY, "FACTOR", 0,
     "Multiply by this what the contract's run had: 0.5 is half", 0},
    {"predicted", KEY_PREDICTED, "FILE", 0,
     "Take the factor from what `eventspace predict --format=json` has printed "
     "(how many times as long it takes), or `eventspace forecast "
     "--format=json` "
     "(the share of a processor that there will be); - is standard input",
     0},
    {"process", KEY_PROCESS, "NAME", 0,
     "Of the processes of this name only, which may have wildcards", 0},
    {"metric", KEY_METRIC, "NAME", 0, "Of this metric only", 0},
    {"output", 'o', "FILE", 0,
     "Write the contract to FILE instead of standard output", 0},
    {0},
};

static double factor_parse(const char *text, struct argp_state *state)
{
    char *end;
    double factor = strtod(text, &end);

    if (end == text || *end || !(factor >= FACTOR_MIN && factor <= FACTOR_MAX))
        argp_error(state, "'%s' is not a factor from %g to %g", text,
                   FACTOR_MIN, FACTOR_MAX);
    return factor;
}

static error_t parse_project(int key, char *text, struct argp_state *state)
{
    project_arguments *a = state->input;

    switch (key) {
    case KEY_BY:
        a->factor = factor_parse(text, state);
        return 0;
    case KEY_PREDICTED:
        a->predicted = cli_input(text);
        return 0;
    case KEY_PROCESS:
        a->process = text;
        return 0;
    case KEY_METRIC:
        a->metric = text;
        return 0;
    case 'o':
        a->output = text;
        return 0;
    case ARGP_KEY_END:
        if (!a->predicted && !a->factor)
            argp_error(state, "one of --by and --predicted is needed");
        if (a->predicted && a->factor)
            argp_error(state, "--by and --predicted exclude each other");
        if (a->predicted && a->contract &&
            strcmp(a->predicted, a->contract) == 0)
            argp_error(state, "the contract and what was predicted cannot be "
                              "the same file");
        return 0;
    case ARGP_KEY_ARG:
        if (a->contract)
            return ARGP_ERR_UNKNOWN;
        a->contract = cli_input(text);
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "the contract is missing");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* --- what was predicted --- */

/* Above 0; NAN: it is none. */
static double number_of(const json_t *object, const char *key)
{
    const json_t *number = json_object_get(object, key);

    return json_is_number(number) && json_number_value(number) > 0
               ? json_number_value(number)
               : (double)NAN;
}

/* How many times as long a program takes: of the best model, the middle of its
 * range; or by histories. NAN: nothing is said of that. */
static double slowdown_of(const json_t *prediction)
{
    const json_t *time = json_object_get(prediction, "time");
    size_t i;
    const json_t *one;

    if (json_is_object(time))
        return number_of(time, "time_s") / number_of(prediction, "dedicated_s");
    json_array_foreach(json_object_get(prediction, "answers"), i, one)
    {
        const char *best = json_string_value(json_object_get(one, "best"));
        if (best && strcmp(best, "best") == 0)
            return 0.5 * (number_of(one, "lower_slowdown") +
                          number_of(one, "upper_slowdown"));
    }
    return (double)NAN;
}

/* The next value of a series; NAN: nothing is said of that. */
static double next_of(const json_t *forecast)
{
    size_t i;
    const json_t *one;

    json_array_foreach(json_object_get(forecast, "values"), i, one)
    {
        const char *what = json_string_value(json_object_get(one, "what"));
        if (what && strcmp(what, "next") == 0)
            return number_of(one, "mean");
    }
    return (double)NAN;
}

#define SHARE_MAX                                                              \
    1.05 /* as it may be forecast where it is all of a processor */

static int factor_read(double *factor, const char *file)
{
    bool is_prediction;
    json_error_t error;
    json_t *told = json_load_file(file, 0, &error);

    if (!told)
        return pastset_fail(PASTSET_EFORMAT, "%s:%d:%d: %s", file, error.line,
                            error.column, error.text);
    is_prediction = json_object_get(told, "dedicated_s") != NULL;
    *factor = is_prediction ? 1 / slowdown_of(told) : next_of(told);
    json_decref(told);
    return *factor >= FACTOR_MIN &&
                   *factor <= (is_prediction ? FACTOR_MAX : SHARE_MAX)
               ? 0
               : pastset_fail(PASTSET_EFORMAT,
                              "%s: this is neither what `eventspace predict "
                              "--format=json` prints, nor a forecast by "
                              "`eventspace forecast --format=json` of shares, "
                              "from 0 to 1",
                              file);
}

/* --- projections --- */

/* Has a class of this kind been projected already, of the same process? */
static bool is_known(const contracts_contract *c, size_t number)
{
    for (size_t i = 0; i < number; i++)
        if (c->classes[i].kind == CONTRACTS_PERFORMANCE &&
            contracts_class_is_of(&c->classes[i], c->classes[number].process))
            return true;
    return false;
}

static bool is_group(const contracts_contract *c, const char *name)
{
    for (size_t i = 0; i < c->group_count; i++)
        if (strcmp(c->groups[i].name, name) == 0)
            return true;
    return false;
}

static int metrics_project(contracts_contract *c, const project_arguments *a,
                           const char *process, double factor, size_t *count)
{
    int err = 0;

    for (size_t i = 0; i < c->sizes[CONTRACTS_PERFORMANCE] && !err; i++) {
        size_t metric = c->members[CONTRACTS_PERFORMANCE][i];
        if (a->metric &&
            strcmp(a->metric, contracts_metric_name(c->metrics, metric)) != 0)
            continue;
        err = contracts_contract_project(c, process, metric, factor);
        ++*count;
    }
    return err;
}

static int project(contracts_contract *c, const project_arguments *a,
                   double factor)
{
    size_t count = 0;
    int err = 0;

    for (size_t i = 0; i < c->class_count && !err; i++) {
        const contracts_class *class = &c->classes[i];
        if (class->kind == CONTRACTS_PERFORMANCE && class->process &&
            !is_group(c, class->process) && !is_known(c, i) &&
            (!a->process || fnmatch(a->process, class->process, 0) == 0))
            err = metrics_project(c, a, class->process, factor, &count);
    }
    if (!err && count == 0)
        err = pastset_fail(PASTSET_EINVAL,
                           "%s: it promises no performance of such a process "
                           "and metric",
                           a->contract);
    return err;
}

static int make(contracts_contract *c, const project_arguments *a)
{
    double factor = a->factor;
    int err = a->predicted ? factor_read(&factor, a->predicted) : 0;

    if (!err)
        err = project(c, a, factor);
    if (!err)
        err = cli_contract_files_fit(c, a->output);
    return err ? err : cli_contract_write(c, a->output);
}

int cli_contract_project(int argc, char **argv)
{
    static const struct argp argp = {
        project_options,
        parse_project,
        "CONTRACT",
        "Makes a contract for other resources of one: the rates that processes "
        "had in the run that it is of are multiplied by a factor."
        "\vThe factor takes the place of an earlier one. `contract watch` goes "
        "over to the new contract when its file "
        "has "
        "changed.",
        NULL,
        NULL,
        NULL};
    project_arguments a = {0};
    contracts_contract *c;
    int err;

    if (eventspace_options_parse(&argp, argc, argv, 0, EVENTSPACE_NO_PROGRAM,
                                 &a))
        return COMMAND_USAGE;
    if (contracts_contract_read(&c, a.contract))
        return cli_fail();
    err = make(c, &a);
    contracts_contract_destroy(c);
    return cli_end_output(err);
}
