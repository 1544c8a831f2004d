/* predict_arguments.c - see predict_arguments.h. */
#include "viewer/cli/predict/predict_arguments.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/array.h"
#include "pastset/status.h"

#define PROCESSOR_MAX 65535

/* --- conditions --- */

void cli_add_condition(cli_conditions *conditions, const char *text,
                       struct argp_state *state)
{
    const char **more = pastset_array_grow((void *)conditions->texts,
                                           conditions->count, sizeof(*more));

    if (!more)
        argp_failure(state, COMMAND_FAILED, 0, "no memory for options");
    conditions->texts = more;
    conditions->texts[conditions->count++] = text;
}

void cli_take_condition(cli_conditions *conditions, const char *option,
                        const char *text, unsigned allowed,
                        struct argp_state *state)
{
    if (predict_condition_check(text, allowed))
        argp_error(state, "--%s: %s", option, pastset_error());
    cli_add_condition(conditions, text, state);
}

void cli_clear_conditions(cli_conditions *conditions)
{
    free(conditions->texts);
    *conditions = (cli_conditions){0};
}

predict_scheduler cli_law(const char *text, struct argp_state *state)
{
    predict_scheduler law = PREDICT_SCHEDULER_DEFAULT;

    if (predict_scheduler_parse(&law, text))
        argp_error(state, "--law: %s", pastset_error());
    return law;
}

/* --- links of a profile --- */

void cli_take_profiled_link(cli_conditions *links, const char *text,
                            struct argp_state *state)
{
    cli_take_condition(links, "profiled-link", text, PREDICT_OF_PROFILED_LINKS,
                       state);
}

int cli_set_profiled_links(predict_profile *profile,
                           const cli_conditions *links)
{
    int err = 0;

    for (size_t i = 0; i < links->count && !err; i++)
        err = predict_wire_set(profile, links->texts[i]);
    return err;
}

/* --- processors --- */

/* "3-5", whose '-' becomes an end; "3" is from and to 3. */
static void read_range(uint64_t *first, uint64_t *last, char *text,
                       struct argp_state *state)
{
    char *dash = strchr(text, '-');

    if (dash)
        *dash = '\0';
    *first = cli_number(text, 0, PROCESSOR_MAX, state);
    *last = dash ? cli_number(dash + 1, *first, PROCESSOR_MAX, state) : *first;
}

size_t cli_processors(uint32_t *out, size_t max, const char *text,
                      struct argp_state *state)
{
    char *copy = strdup(text), *save;
    size_t count = 0;

    if (!copy)
        argp_failure(state, COMMAND_FAILED, 0, "no memory for options");
    for (char *word = strtok_r(copy, ",", &save); word;
         word = strtok_r(NULL, ",", &save)) {
        uint64_t first, last;
        read_range(&first, &last, word, state);
        if (last - first >= max - count)
            argp_error(state, "'%s' are more than %zu processors", text, max);
        for (; first <= last; first++)
            out[count++] = (uint32_t)first;
    }
    free(copy);
    if (!count)
        argp_error(state, "'%s' is not a list of processors, such as 0,3-5",
                   text);
    return count;
}
