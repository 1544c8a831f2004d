/* grouping.c - see grouping.h. */
#include "viewer/cli/contract/grouping.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/array.h"
#include "pastset/status.h"

void cli_take_group(cli_grouping *g, const char *text, struct argp_state *state)
{
    const char *equals = strchr(text, '=');
    char **grown = pastset_array_grow(g->groups, g->count, sizeof(*grown));

    if (!equals || equals == text || !equals[1])
        argp_error(state, "'%s' is not NAME=PROCESSES", text);
    if (!grown)
        argp_failure(state, 1, 0, "no memory for groups");
    g->groups = grown;
    g->groups[g->count] = strdup(text);
    if (!g->groups[g->count++])
        argp_failure(state, 1, 0, "no memory for groups");
}

/* The list's patterns are divided by commas. */
static bool is_among(char *list, const char *name)
{
    for (char *rest, *one = strtok_r(list, ",", &rest); one;
         one = strtok_r(NULL, ",", &rest))
        if (fnmatch(one, name, 0) == 0)
            return true;
    return false;
}

/* `*found` is how many there are now. */
static int members_add(contracts_contract *c, const char *name,
                       const char *patterns, const cli_grouped *run,
                       size_t *found)
{
    int err = 0;

    for (uint32_t p = 0; p < run->count && !err; p++) {
        char *list = strdup(patterns);
        if (!list)
            err = pastset_no_memory("for a group");
        else if (is_among(list, run->names[p])) {
            err = contracts_contract_group(c, name, run->names[p]);
            ++*found;
        }
        free(list);
    }
    return err;
}

static int group_add(contracts_contract *c, const char *group,
                     const cli_grouped *runs, size_t count)
{
    size_t length = strcspn(group, "="), found = 0;
    char *name = strndup(group, length);
    int err = name ? 0 : pastset_no_memory("for a group");

    for (size_t i = 0; i < count && !err; i++)
        err = members_add(c, name, &group[length + 1], &runs[i], &found);
    if (!err && found == 0)
        err = pastset_fail(PASTSET_EINVAL,
                           "--group=%s: no process has such a name (the first "
                           "one is %s)",
                           group, runs[0].count ? runs[0].names[0] : "missing");
    free(name);
    return err;
}

/* --- machines --- */

typedef struct placed {
    const char *machine; /* "": not known */
    const char *process;
    size_t number; /* of the process: they stay in their order */
} placed;

static int by_machine(const void *left, const void *right)
{
    const placed *a = left, *b = right;
    int order = strcmp(a->machine, b->machine);

    return order ? order : (a->number > b->number) - (a->number < b->number);
}

static int machine_add(contracts_contract *c, const placed *first, size_t count)
{
    char *name;
    int err = 0;

    if (count < 2 || !*first->machine)
        return 0;
    if (asprintf(&name, "on %s", first->machine) < 0)
        return pastset_no_memory("for a group");
    for (size_t i = 0; i < count && !err; i++)
        err = contracts_contract_group(c, name, first[i].process);
    free(name);
    return err;
}

static int machines_add(contracts_contract *c, const cli_grouped *run)
{
    size_t count = eventspace_run_process_count(run->run);
    placed *all = malloc((count + 1) * sizeof(*all));
    int err = 0;

    if (!all)
        return pastset_no_memory("for a group");
    for (size_t i = 0; i < count; i++) {
        const eventspace_run_process *one =
            eventspace_run_process_at(run->run, i);
        all[i] = (placed){one->has_meta ? one->meta.machine : "", one->name, i};
    }
    qsort(all, count, sizeof(*all), by_machine);
    for (size_t first = 0, i = 1; i <= count && !err; i++) {
        if (i < count && strcmp(all[first].machine, all[i].machine) == 0)
            continue;
        err = machine_add(c, &all[first], i - first);
        first = i;
    }
    free(all);
    return err;
}

int cli_grouping_add(contracts_contract *c, const cli_grouping *g,
                     const cli_grouped *runs, size_t count)
{
    size_t were = c->group_count;
    int err = 0;

    for (size_t i = 0; i < count && g->machines && !err; i++)
        err = machines_add(c, &runs[i]);
    if (!err && g->machines && were == 0 && c->group_count == 0)
        err = pastset_fail(PASTSET_EINVAL,
                           "--machines: of no two processes of a run it is "
                           "known that they were on one machine");
    for (size_t i = 0; i < g->count && !err; i++)
        err = group_add(c, g->groups[i], runs, count);
    return err;
}

void cli_grouping_fini(cli_grouping *g)
{
    for (size_t i = 0; i < g->count; i++)
        free(g->groups[i]);
    free(g->groups);
}
