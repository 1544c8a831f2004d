/* contract_groups.c - processes that are judged together, and what they are
 * like on the average. */
#include <stdlib.h>
#include <string.h>

#include "contracts/contract/contract_internal.h"
#include "pastset/array.h"
#include "pastset/status.h"

#define GROUPS_MAX 10000
#define MEMBERS_MAX 20000 /* looked through for each that is added */

/* NULL: no memory. */
static contracts_group *group_of(contracts_contract *c, const char *name)
{
    contracts_group *grown;

    for (size_t i = 0; i < c->group_count; i++)
        if (strcmp(c->groups[i].name, name) == 0)
            return &c->groups[i];
    grown = pastset_array_grow(c->groups, c->group_count, sizeof(*grown));
    if (!grown)
        return NULL;
    c->groups = grown;
    grown += c->group_count;
    *grown = (contracts_group){.name = strdup(name)};
    c->group_count += grown->name != NULL;
    return grown->name ? grown : NULL;
}

int contracts_contract_group(contracts_contract *c, const char *name,
                             const char *process)
{
    contracts_group *group;
    char **grown;

    if (strcmp(name, "all") == 0)
        return pastset_fail(PASTSET_EINVAL,
                            "the mean of all processes is called all: give the "
                            "group another name");
    if (!*name || strpbrk(name, "\"\n") || strpbrk(process, "\"\n"))
        return pastset_fail(PASTSET_EINVAL,
                            "the group %s of %s cannot be written into a "
                            "contract",
                            name, process);
    group = group_of(c, name);
    if (!group)
        return pastset_no_memory("for a contract");
    if (c->group_count > GROUPS_MAX || group->member_count >= MEMBERS_MAX)
        return pastset_fail(PASTSET_EINVAL,
                            "more than %d groups, or %d processes in one",
                            GROUPS_MAX, MEMBERS_MAX);
    for (size_t i = 0; i < group->member_count; i++)
        if (strcmp(group->members[i], process) == 0)
            return 0;
    grown =
        pastset_array_grow(group->members, group->member_count, sizeof(*grown));
    if (!grown)
        return pastset_no_memory("for a contract");
    group->members = grown;
    grown[group->member_count] = strdup(process);
    if (!grown[group->member_count])
        return pastset_no_memory("for a contract");
    group->member_count++;
    return 0;
}

static int by_text(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

uint32_t *contracts_group_members(const contracts_group *group,
                                  const char *const *names, uint32_t processes,
                                  uint32_t *count)
{
    size_t members = group->member_count;
    uint32_t *out = malloc((members + 1) * sizeof(*out));
    const char **sorted = malloc((members + 1) * sizeof(*sorted));

    *count = 0;
    if (!out || !sorted) {
        free(out);
        free(sorted);
        pastset_no_memory("for a group");
        return NULL;
    }
    for (size_t i = 0; i < members; i++)
        sorted[i] = group->members[i];
    qsort(sorted, members, sizeof(*sorted), by_text);
    for (uint32_t p = 0; p < processes && *count < members; p++)
        if (bsearch(&names[p], sorted, members, sizeof(*sorted), by_text))
            out[(*count)++] = p;
    free(sorted);
    return out;
}

const char *contracts_row_name(const contracts_contract *c,
                               const char *const *names, uint32_t processes,
                               uint32_t row)
{
    return row < processes    ? names[row]
           : row == processes ? "all"
                              : c->groups[row - processes - 1].name;
}

int contracts_groups_check(const contracts_contract *c,
                           const char *const *names, uint32_t processes)
{
    for (size_t i = 0; i < c->group_count; i++)
        for (uint32_t p = 0; p < processes; p++)
            if (strcmp(c->groups[i].name, names[p]) == 0)
                return pastset_fail(PASTSET_EINVAL,
                                    "the group %s of the contract has the name "
                                    "of a process: give it another one",
                                    names[p]);
    return 0;
}

int contracts_contract_signature(contracts_signature **out,
                                 const contracts_contract *c,
                                 const contracts_course *course,
                                 const char *const *names)
{
    int err = contracts_groups_check(c, names, course->processes);

    *out = NULL;
    if (!err)
        err = contracts_signature_make(out, c->metrics, course);
    for (size_t i = 0; i < c->group_count && !err; i++) {
        uint32_t count;
        uint32_t *members = contracts_group_members(&c->groups[i], names,
                                                    course->processes, &count);
        err = members ? contracts_signature_add_mean(*out, members, count)
                      : PASTSET_ENOMEM;
        free(members);
    }
    if (err) {
        contracts_signature_destroy(*out);
        *out = NULL;
    }
    return err;
}
