/* command_arguments.c - what the argp parsers of commands share. */
#include "paths/map/units.h"
#include "pastset/status.h"
#include "scopes/memory/memory.h"
#include "viewer/cli/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MS_NS 1000000u

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
        text, CLI_LIST(names), "the format '%s' is not one of table, csv, json",
        state);
}

const char *const cli_methods[] = {
    [SCOPES_CLOCK_HULL] = "hull", [SCOPES_CLOCK_AVERAGE] = "average"};

scopes_clock_method cli_method(const char *text, struct argp_state *state)
{
    return (scopes_clock_method)cli_choice(
        text, CLI_LIST(cli_methods),
        "the method '%s' is not one of hull, average", state);
}

static bool number_read(uint64_t *out, const char *text, uint64_t max)
{
    char *end;
    errno = 0;
    uint64_t number = strtoull(text, &end, 10);
    uint64_t unit = *end == 'k'   ? 1000
                    : *end == 'M' ? 1000000
                    : *end == 'G' ? 1000000000
                                  : 1;
    if (unit > 1)
        end++;
    *out = number * unit;
    return !errno && end != text && !*end && *text != '-' &&
           number <= max / unit;
}

uint64_t cli_number(const char *text, uint64_t min, uint64_t max,
                    struct argp_state *state)
{
    uint64_t number;

    if (!number_read(&number, text, max) || number < min)
        argp_error(state, "'%s' is not a number from %llu to %llu", text,
                   (unsigned long long)min, (unsigned long long)max);
    return number;
}

uint64_t cli_memory(const char *text, struct argp_state *state)
{
    uint64_t bytes;

    if (!number_read(&bytes, text, UINT64_MAX / 4))
        argp_error(state, "'%s' is not an amount of memory, such as 500M or 2G",
                   text);
    if (bytes < SCOPES_MEMORY_MIN)
        argp_error(state, "'%s' is too little memory; it must be 64M at least",
                   text);
    return bytes;
}

/* A number without a unit is said to be one in an error of its own: it is what
 * one forgets. */
static bool is_bare(const char *text)
{
    char *end;

    strtod(text, &end);
    return end != text && !*end;
}

uint64_t cli_time(const char *text, uint64_t min_ns, uint64_t max_ns,
                  struct argp_state *state)
{
    char min[32], max[32];
    uint64_t ns = 0;

    if (strcmp(text, "0") != 0 && paths_parse_duration(text, &ns)) {
        if (is_bare(text))
            argp_error(state, "'%s' has no unit; write %sms or %ss", text, text,
                       text);
        argp_error(state, "'%s' is not a time, such as 500us, 5ms or 2.5s",
                   text);
    }
    if (ns < min_ns || ns > max_ns)
        argp_error(state, "'%s' is not a time from %s to %s", text,
                   paths_exact_duration_text(min_ns, min, sizeof(min)),
                   paths_exact_duration_text(max_ns, max, sizeof(max)));
    return ns;
}

uint32_t cli_time_ms(const char *text, uint32_t min_ms, uint32_t max_ms,
                     struct argp_state *state)
{
    uint64_t ns = cli_time(text, (uint64_t)min_ms * MS_NS,
                           (uint64_t)max_ms * MS_NS, state);

    return (uint32_t)((ns + MS_NS - 1) / MS_NS);
}

const char *cli_nodes(const char *text, const eventspace_node_kind *kind,
                      struct argp_state *state)
{
    paths_number_list list = {0};

    if (eventspace_node_list_read(&list, text, kind, NULL, NULL))
        argp_error(state, "%s", pastset_error());
    paths_number_list_fini(&list);
    return text;
}

uint64_t cli_rate(const char *text, struct argp_state *state)
{
    uint64_t bytes_s = 0;

    if (paths_parse_rate(text, &bytes_s) || bytes_s == 0) {
        if (is_bare(text))
            argp_error(state, "'%s' has no unit; write %smbit or %sgbit", text,
                       text, text);
        argp_error(state, "'%s' is not a rate, such as 100mbit or 1gbit", text);
    }
    return bytes_s;
}

double cli_share(const char *text, struct argp_state *state)
{
    char *end;
    double share = strtod(text, &end);

    if (end == text || *end || !(share > 0 && share <= 1))
        argp_error(state,
                   "'%s' is not a share of a processor: above 0, at most 1",
                   text);
    return share;
}
