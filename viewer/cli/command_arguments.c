/* command_arguments.c - what the argp parsers of commands share. */
#include "viewer/cli/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void cli_take(const char **place, char *argument, struct argp_state *state)
{
    if (*place)
        argp_error(state, "one argument too many: '%s'", argument);
    *place = argument;
}

error_t cli_take_one(const char **place, const char *what, int key, char *text,
                     struct argp_state *state)
{
    switch (key) {
    case ARGP_KEY_ARG:
        cli_take(place, text, state);
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "%s is missing", what);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* argp_parse puts a command's options below its own. */
static const struct argp_option *find_option(const struct argp *argp, int key)
{
    const struct argp_option *option = argp->options, *found = NULL;
    const struct argp_child *child = argp->children;

    for (; option && (option->name || option->doc) && !found; option++)
        found = option->key == key ? option : NULL;
    for (; child && child->argp && !found; child++)
        found = find_option(child->argp, key);
    return found;
}

error_t cli_renamed(int key, struct argp_state *state)
{
    const struct argp_option *option;

    if (key < CLI_RENAMED || key > 0xfffff) /* argp's own are beyond */
        return ARGP_ERR_UNKNOWN;
    option = find_option(state->root_argp, key);
    argp_error(state, "--%s is called --%s now", option->name, option->doc);
    return 0;
}

/* --- values of options --- */

size_t cli_choice(const char *text, const char *const *names, size_t count,
                  const char *otherwise, struct argp_state *state)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(text, names[i]) == 0)
            return i;
    }
    argp_error(state, otherwise, text);
    return 0;
}

viewer_format cli_format(const char *text, struct argp_state *state)
{
    static const char *const names[] = {
        [VIEWER_TABLE] = "table", [VIEWER_CSV] = "csv", [VIEWER_JSON] = "json"};

    return (viewer_format)cli_choice(
        text, CLI_LIST(names), "the format '%s' is none of table, csv, json",
        state);
}

const char *const cli_methods[] = {
    [SCOPES_CLOCK_HULL] = "hull", [SCOPES_CLOCK_AVERAGE] = "average"};

scopes_clock_method cli_method(const char *text, struct argp_state *state)
{
    return (scopes_clock_method)cli_choice(
        text, CLI_LIST(cli_methods), "the method '%s' is none of hull, average",
        state);
}

uint64_t cli_number(const char *text, uint64_t min, uint64_t max,
                    struct argp_state *state)
{
    char *end;
    errno = 0;
    uint64_t number = strtoull(text, &end, 10);
    uint64_t unit = *end == 'k' ? 1000 : *end == 'M' ? 1000000 : 1;
    if (unit > 1)
        end++;
    if (errno || end == text || *end || *text == '-' || number > max / unit ||
        number * unit < min)
        argp_error(state, "'%s' is no number from %llu to %llu", text,
                   (unsigned long long)min, (unsigned long long)max);
    return number * unit;
}

double cli_seconds(const char *text, double min, double max,
                   struct argp_state *state)
{
    char *end;
    double seconds = strtod(text, &end);

    if (end == text || *end || !(seconds >= min && seconds <= max))
        argp_error(state, "'%s' is no number of seconds from %g to %g", text,
                   min, max);
    return seconds;
}

double cli_share(const char *text, struct argp_state *state)
{
    char *end;
    double share = strtod(text, &end);

    if (end == text || *end || !(share > 0 && share <= 1))
        argp_error(state, "'%s' is no share of a processor: above 0, at most 1",
                   text);
    return share;
}
