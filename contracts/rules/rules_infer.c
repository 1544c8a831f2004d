/* rules_infer.c - what follows from values. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contracts/rules/rules_internal.h"
#include "pastset/status.h"

static double degree_of(const contracts__set *set, double value)
{
    const double *x = set->x;

    if (value < x[0] || value > x[3])
        return 0;
    if (value < x[1])
        return (value - x[0]) / (x[1] - x[0]);
    if (value > x[2])
        return (x[3] - value) / (x[3] - x[2]);
    return 1;
}

static double within(const contracts__variable *v, double value)
{
    return fmin(fmax(value, v->from), v->to);
}

double contracts_rules_degree(const contracts_rules *rules, uint32_t variable,
                              size_t set, double value)
{
    const contracts__variable *v = &rules->variables[variable];

    return isnan(value) ? value : degree_of(&v->sets[set], within(v, value));
}

/* Of each condition; those that are parts come first. */
static void conditions_hold(const contracts_rules *rules, const double *values,
                            double *degrees)
{
    for (size_t i = 0; i < rules->condition_count; i++) {
        const contracts__condition *c = &rules->conditions[i];
        switch (c->op) {
        case CONTRACTS__IS:
            degrees[i] =
                contracts_rules_degree(rules, c->a, c->b, values[c->a]);
            break;
        case CONTRACTS__NOT:
            degrees[i] = 1 - degrees[c->a];
            break;
        case CONTRACTS__AND:
            degrees[i] = fmin(degrees[c->a], degrees[c->b]);
            break;
        case CONTRACTS__OR:
            degrees[i] = fmax(degrees[c->a], degrees[c->b]);
            break;
        }
    }
}

/* How high each set of a variable is by the rules. */
static void conclude(const contracts_rules *rules, uint32_t variable,
                     const double *degrees, double *heights)
{
    for (size_t i = 0; i < rules->variables[variable].set_count; i++)
        heights[i] = 0;
    for (size_t i = 0; i < rules->rule_count; i++) {
        const contracts__rule *r = &rules->rules[i];
        double degree = degrees[r->condition];
        if (r->variable != variable)
            continue;
        if (rules->is_product)
            heights[r->set] += degree;
        else
            heights[r->set] = fmax(heights[r->set], degree);
    }
}

static int check(const contracts_rules *rules, const double *values)
{
    for (size_t i = 0; i < rules->variable_count; i++)
        if (rules->variables[i].is_asked && isnan(values[i]))
            return pastset_fail(PASTSET_EINVAL,
                                "the rules ask for %s, which is no number",
                                rules->variables[i].name);
    return 0;
}

static size_t most_sets(const contracts_rules *rules)
{
    size_t most = 0;

    for (size_t i = 0; i < rules->variable_count; i++)
        if (rules->variables[i].set_count > most)
            most = rules->variables[i].set_count;
    return most;
}

int contracts_rules_infer(const contracts_rules *rules, double *values)
{
    int err = check(rules, values);
    double *degrees, *heights;

    if (err)
        return err;
    degrees =
        calloc(rules->condition_count + most_sets(rules) + 1, sizeof(*degrees));
    if (!degrees)
        return pastset_no_memory("for a rulebase");
    heights = degrees + rules->condition_count;
    conditions_hold(rules, values, degrees);
    for (uint32_t i = 0; i < rules->variable_count && !err; i++) {
        const contracts__variable *v = &rules->variables[i];
        if (!v->is_concluded)
            continue;
        conclude(rules, i, degrees, heights);
        values[i] = contracts__centroid(v->sets, heights, v->set_count, v->from,
                                        v->to, rules->is_product, &err);
    }
    free(degrees);
    return err;
}
