/* rules.c - a rulebase as such: asked for what is in it, destroyed. */
#include <stdlib.h>
#include <string.h>

#include "contracts/rules/rules_internal.h"

void contracts_rules_destroy(contracts_rules *rules)
{
    if (!rules)
        return;
    for (size_t i = 0; i < rules->variable_count; i++) {
        contracts__variable *v = &rules->variables[i];
        for (size_t k = 0; k < v->set_count; k++)
            free(v->sets[k].name);
        free(v->sets);
        free(v->name);
    }
    free(rules->variables);
    free(rules->conditions);
    free(rules->rules);
    free(rules);
}

size_t contracts_rules_count(const contracts_rules *rules)
{
    return rules->variable_count;
}

uint32_t contracts_rules_find(const contracts_rules *rules, const char *name)
{
    for (size_t i = 0; i < rules->variable_count; i++)
        if (strcmp(rules->variables[i].name, name) == 0)
            return (uint32_t)i;
    return CONTRACTS_NONE;
}

const char *contracts_rules_name(const contracts_rules *rules,
                                 uint32_t variable)
{
    return rules->variables[variable].name;
}

bool contracts_rules_concludes(const contracts_rules *rules, uint32_t variable)
{
    return rules->variables[variable].is_concluded;
}

const char *contracts_rules_set(const contracts_rules *rules, uint32_t variable,
                                size_t set)
{
    const contracts__variable *v = &rules->variables[variable];

    return set < v->set_count ? v->sets[set].name : NULL;
}
