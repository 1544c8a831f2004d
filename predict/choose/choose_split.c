/* choose_split.c - work that is divided by what machines give: see choose.h. */
#include <math.h>

#include "predict/choose/choose_internal.h"

/* Threads of all nodes that share the processors of a place. */
static double threads_at(const predict_cluster *cluster,
                         const uint32_t *machines, const uint32_t *threads,
                         size_t nodes, uint32_t place)
{
    double sum = 0;

    for (size_t i = 0; i < nodes; i++)
        if (cluster->machines[machines[i]].place == place)
            sum += threads[i];
    return sum;
}

/* Of a place: the largest one of its machines, as its load is. */
static double split_load(const predict_cluster *cluster, uint32_t place)
{
    double load = 0;

    for (uint32_t i = 0; i < cluster->machine_count; i++)
        if (cluster->machines[i].place == place)
            load = fmax(load, cluster->machines[i].split_load);
    return load;
}

bool predict_is_fine_grained(const predict_profile *profile)
{
    double busy_s = 0, phases = 0;
    double slice_s = predict_scheduler_on(PREDICT_SCHEDULER_DEFAULT,
                                          (double)profile->slice_ns / 1e9)
                         .slice_s;

    for (uint32_t i = 0; i < profile->node_count; i++) {
        predict_sums sums = predict_profile_sums(profile, i);
        busy_s += sums.busy_phase_s * (double)sums.phases;
        phases += (double)sums.phases;
    }
    return phases > 0 && busy_s / phases < slice_s / 2;
}

void predict_split(double *out, const predict_profile *profile,
                   const predict_cluster *cluster, const uint32_t *machines,
                   const uint32_t *threads)
{
    bool is_fine_grained = predict_is_fine_grained(profile);
    size_t nodes = profile->node_count;
    double all = 0, given = 0;

    for (size_t i = 0; i < nodes; i++) {
        const predict_machine *m = &cluster->machines[machines[i]];
        double own = threads_at(cluster, machines, threads, nodes, m->place);
        double load = is_fine_grained ? 0 : split_load(cluster, m->place);
        out[i] =
            m->speed * fmin(1, cluster->processors[m->place] / (load + own));
        all += threads[i];
        given += threads[i] * out[i];
    }
    for (size_t i = 0; i < nodes; i++)
        out[i] *= all / given;
}

void predict__split_scenario(predict_scenario *scenario, const double *factors)
{
    for (size_t i = 0; factors && i < scenario->profile->node_count; i++)
        scenario->speeds[i] /= factors[i];
}
