/* grouping.c - see grouping.h. */
#include "viewer/cli/contract/grouping.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/array.h"
#include "pastset/status.h"
#include "viewer/cli/contract/measured_run.h"

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

static int group_add(contracts_contract *c, const char *group,
                     const char *const *names, uint32_t processes)
{
    size_t length = strcspn(group, "=");
    char *name = strndup(group, length);
    uint32_t found = 0;
    int err = name ? 0 : pastset_no_memory("for a group");

    for (uint32_t p = 0; p < processes && !err; p++) {
        char *list = strdup(&group[length + 1]);
        if (!list)
            err = pastset_no_memory("for a group");
        else if (is_among(list, names[p])) {
            err = contracts_contract_group(c, name, names[p]);
            found++;
        }
        free(list);
    }
    if (!err && found == 0)
        err = pastset_fail(PASTSET_EINVAL,
                           "--group=%s: no process of the run has such a name "
                           "(the first one is %s)",
                           group, processes ? names[0] : "missing");
    free(name);
    return err;
}

/* --- machines --- */

/* "": not known. */
static const char *machine_of(const eventspace_run *run, const char *process)
{
    const eventspace_run_process *one = cli_measured_process(run, process);

    return one && one->has_meta ? one->meta.machine : "";
}

static uint32_t count_on(const eventspace_run *run, const char *machine,
                         const char *const *names, uint32_t processes)
{
    uint32_t count = 0;

    for (uint32_t p = 0; p < processes; p++)
        count += strcmp(machine_of(run, names[p]), machine) == 0;
    return count;
}

static int machine_add(contracts_contract *c, const char *machine,
                       const char *process)
{
    char *name;
    int err;

    if (asprintf(&name, "on %s", machine) < 0)
        return pastset_no_memory("for a group");
    err = contracts_contract_group(c, name, process);
    free(name);
    return err;
}

static int machines_add(contracts_contract *c, const eventspace_run *run,
                        const char *const *names, uint32_t processes)
{
    bool is_any = false;
    int err = 0;

    for (uint32_t p = 0; p < processes && !err; p++) {
        const char *machine = machine_of(run, names[p]);
        if (!*machine || count_on(run, machine, names, processes) < 2)
            continue;
        is_any = true;
        err = machine_add(c, machine, names[p]);
    }
    return err || is_any
               ? err
               : pastset_fail(PASTSET_EINVAL,
                              "--machines: of no two processes of the run it "
                              "is known that they were on one machine");
}

int cli_grouping_add(contracts_contract *c, const cli_grouping *g,
                     const eventspace_run *run, const char *const *names,
                     uint32_t processes)
{
    int err = g->machines ? machines_add(c, run, names, processes) : 0;

    for (size_t i = 0; i < g->count && !err; i++)
        err = group_add(c, g->groups[i], names, processes);
    return err;
}

void cli_grouping_fini(cli_grouping *g)
{
    for (size_t i = 0; i < g->count; i++)
        free(g->groups[i]);
    free(g->groups);
}
