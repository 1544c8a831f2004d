/* experiment_apply.c - makes the conditions of a case true for one run, and
 * takes them back. */
#include "measure/experiment/experiment_internal.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "paths/engine/processors.h"

/* --- competitors --- */

/* The last load that is told for a node counts, as in predictions. */
static double load_of(const experiment_conditions *conditions, uint32_t node)
{
    double load = 0;
    for (size_t i = 0; i < conditions->count; i++) {
        const predict_condition *c = &conditions->items[i].is;
        if ((c->told & PREDICT_LOAD) && predict_condition_of_node(c, node))
            load = c->load;
    }
    return load;
}

/* A node may have several processors: then its competitors may use the same
 * ones, and inherit that from us. */
static int compete(measure_background_load **out, const experiment_node *node,
                   double load)
{
    cpu_set_t before, set;
    int err = paths_processors_parse(&set, node->processors);
    if (err)
        return err;
    if (CPU_COUNT(&set) == 1)
        return measure_background_load_create(out, atoi(node->processors),
                                              load);
    if (sched_getaffinity(0, sizeof(before), &before) != 0 ||
        sched_setaffinity(0, sizeof(set), &set) != 0)
        return pastset_fail(PASTSET_EINVAL, "processors %s: %s",
                            node->processors, strerror(errno));
    err = measure_background_load_create(out, -1, load);
    sched_setaffinity(0, sizeof(before), &before);
    return err;
}

/* --- links --- */

int measure__experiment_make_quiet(experiment_setup *s)
{
    int err = 0;
    for (uint32_t i = 0; s->testbed && i < s->node_count; i++)
        for (uint32_t k = i + 1; k < s->node_count && !err; k++)
            err =
                measure_testbed_limit(s->testbed, i, k, s->options->base_rate);
    return err;
}

static int set_links(experiment_setup *s,
                     const experiment_conditions *conditions, bool quiet)
{
    int err = 0;
    for (uint32_t i = 0; s->testbed && i < s->node_count; i++) {
        for (uint32_t k = i + 1; k < s->node_count && !err; k++) {
            double rate = -1;
            for (size_t c = 0; c < conditions->count; c++)
                if (predict_condition_of_link(&conditions->items[c].is, i, k))
                    rate = conditions->items[c].is.wire.bandwidth;
            if (rate >= 0)
                err = measure_testbed_limit(
                    s->testbed, i, k, quiet ? s->options->base_rate : rate);
        }
    }
    return err;
}

/* --- both --- */

int measure__experiment_apply(experiment_applied *out, experiment_setup *s,
                              const experiment_conditions *conditions)
{
    int err;
    out->background_load =
        calloc(s->node_count + 1, sizeof(*out->background_load));
    if (!out->background_load)
        return pastset_no_memory("for competitors");
    err = set_links(s, conditions, false);
    for (uint32_t i = 0; i < s->node_count && !err; i++) {
        double load = load_of(conditions, i);
        if (load > 0)
            err = compete(&out->background_load[i], &s->nodes[i], load);
    }
    return err;
}

void measure__experiment_undo(experiment_applied *applied, experiment_setup *s,
                              const experiment_conditions *conditions)
{
    for (size_t i = 0; applied->background_load && i < s->node_count; i++)
        measure_background_load_destroy(applied->background_load[i]);
    free(applied->background_load);
    applied->background_load = NULL;
    (void)set_links(s, conditions, true);
}
