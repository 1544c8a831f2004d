/* contract.c - a contract as such: made empty, taken apart, destroyed. */
#include "contracts/contract/contract.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "contracts/contract/contract_internal.h"
#include "pastset/array.h"
#include "pastset/status.h"

const char *const contracts_kind_names[CONTRACTS_KINDS] = {"intrinsic",
                                                           "performance"};

const char *const contracts_part_names[CONTRACTS_PARTS] = {
    "computing", "ready", "sleeping", "waiting", "transfer"};

int contracts__contract_create(contracts_contract **out)
{
    contracts_contract *c = calloc(1, sizeof(*c));
    int err;

    *out = NULL;
    if (!c)
        return pastset_no_memory("for a contract");
    c->interval_s = CONTRACTS_INTERVAL_S;
    c->tolerance = CONTRACTS_TOLERANCE;
    c->violated = CONTRACTS_VIOLATED;
    err = contracts_metrics_create(&c->metrics, contracts_quantities,
                                   CONTRACTS_QUANTITIES);
    if (err)
        contracts_contract_destroy(c);
    else
        *out = c;
    return err;
}

static void usual_fini(contracts_usual *usual)
{
    for (size_t i = 0; i < usual->peer_count; i++)
        free(usual->peers[i].name);
    free(usual->peers);
    free(usual->process);
}

void contracts__contract_forget(contracts_contract *c)
{
    for (size_t i = 0; i < c->projection_count; i++)
        free(c->projections[i].process);
    free(c->projections);
    c->projections = NULL;
    c->projection_count = 0;
    for (size_t i = 0; i < c->class_count; i++) {
        free(c->classes[i].process);
        free(c->classes[i].centroid);
        free(c->classes[i].with);
        free(c->classes[i].deviation);
    }
    for (size_t i = 0; i < c->usual_count; i++)
        usual_fini(&c->usual[i]);
    free(c->classes);
    free(c->usual);
    c->classes = NULL;
    c->usual = NULL;
    c->class_count = c->usual_count = 0;
}

static void groups_fini(contracts_contract *c)
{
    for (size_t i = 0; i < c->group_count; i++) {
        for (size_t m = 0; m < c->groups[i].member_count; m++)
            free(c->groups[i].members[m]);
        free(c->groups[i].members);
        free(c->groups[i].name);
    }
    free(c->groups);
}

void contracts_contract_destroy(contracts_contract *c)
{
    if (!c)
        return;
    contracts__contract_forget(c);
    groups_fini(c);
    for (int k = 0; k < CONTRACTS_KINDS; k++)
        free(c->members[k]);
    free(c->rules_file);
    free(c->rules_path);
    contracts_rules_destroy(c->rules);
    free(c->cluster_file);
    free(c->cluster_path);
    free(c->histories_file);
    free(c->histories_path);
    predict_cluster_destroy(c->cluster);
    contracts_metrics_destroy(c->metrics);
    free(c);
}

int contracts__contract_members(contracts_contract *c)
{
    size_t count = contracts_metrics_count(c->metrics);

    for (int k = 0; k < CONTRACTS_KINDS; k++) {
        free(c->members[k]);
        c->sizes[k] = 0;
        c->members[k] = calloc(count + 1, sizeof(*c->members[k]));
        if (!c->members[k])
            return pastset_no_memory("for a contract");
    }
    for (size_t m = 0; m < count; m++) {
        contracts_kind kind = contracts_metric_is_intrinsic(c->metrics, m)
                                  ? CONTRACTS_INTRINSIC
                                  : CONTRACTS_PERFORMANCE;
        c->members[kind][c->sizes[kind]++] = m;
    }
    return 0;
}

bool contracts_class_is_of(const contracts_class *c, const char *process)
{
    return c->process && process ? strcmp(c->process, process) == 0
                                 : c->process == process;
}

int contracts_contract_project(contracts_contract *c, const char *process,
                               size_t metric, double factor)
{
    contracts_projection *grown;

    for (size_t i = 0; i < c->projection_count; i++) {
        contracts_projection *one = &c->projections[i];
        if (one->metric != metric || strcmp(one->process, process) != 0)
            continue;
        one->factor = factor;
        return 0;
    }
    grown =
        pastset_array_grow(c->projections, c->projection_count, sizeof(*grown));
    if (!grown)
        return pastset_no_memory("for a contract");
    c->projections = grown;
    grown += c->projection_count;
    *grown = (contracts_projection){strdup(process), metric, factor};
    if (!grown->process)
        return pastset_no_memory("for a contract");
    c->projection_count++;
    return 0;
}

double contracts_factor_of(const contracts_contract *c, const char *process,
                           size_t metric)
{
    for (size_t i = 0; i < c->projection_count && process; i++)
        if (c->projections[i].metric == metric &&
            strcmp(c->projections[i].process, process) == 0)
            return c->projections[i].factor;
    return 1;
}

bool contracts_values_of(double *out, const contracts_contract *c,
                         contracts_kind kind, const double *values)
{
    bool is_known = c->sizes[kind] > 0;

    for (size_t i = 0; i < c->sizes[kind]; i++) {
        out[i] = values[c->members[kind][i]];
        is_known &= !isnan(out[i]);
    }
    return is_known;
}

bool contracts_parts_of(double out[CONTRACTS_PARTS], const double *quantities)
{
    const double *q = quantities;
    double operations = q[CONTRACTS_OPERATIONS];
    bool has_cpu = !isnan(q[CONTRACTS_CPU]);

    if (isnan(operations))
        return false;
    if (operations == 0)
        operations = 1;
    out[CONTRACTS_PART_COMPUTING] =
        (has_cpu ? q[CONTRACTS_CPU] : q[CONTRACTS_COMPUTING]) / operations;
    out[CONTRACTS_PART_READY] = q[CONTRACTS_READY] / operations;
    out[CONTRACTS_PART_SLEEPING] =
        has_cpu ? fmax(q[CONTRACTS_COMPUTING] - q[CONTRACTS_CPU] -
                           q[CONTRACTS_READY],
                       0) /
                      operations
                : (double)NAN;
    out[CONTRACTS_PART_WAITING] = q[CONTRACTS_WAITING] / operations;
    out[CONTRACTS_PART_TRANSFER] =
        fmax(q[CONTRACTS_COMMUNICATING] - q[CONTRACTS_WAITING], 0) / operations;
    return true;
}
