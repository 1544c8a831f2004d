/* choose_rate.c - how good a placement is: predicted, and quickly estimated.
 *
 * The estimate is what a search looks at many million times. It is the
 * measured time, plus the most that any node is slowed down by what competes
 * with it (scheduler_model.h, with average phases; 001, 3.2), plus the most
 * that the messages of any node take longer (001, 4.1, over all of its links).
 * Both are sums over nodes and links. As a maximum does not tell whether a
 * change of another node is good, a thousandth of the mean is added. */
#include <math.h>
#include <stdlib.h>

#include "pastset/status.h"
#include "predict/choose/choose_internal.h"
#include "predict/models/predict_internal.h"

#define NO_WAY_S 1e9   /* of the estimate, for each way that is missing */
#define TIE_BREAK 1e-3 /* of the mean over nodes */

/* --- a rater --- */

static double messages_of(const predict__traffic *traffic)
{
    return traffic->messages[0] + traffic->messages[1];
}

static double seconds_on(predict_wire wire, const predict__traffic *traffic)
{
    return messages_of(traffic) * wire.latency_s +
           (traffic->bytes[0] + traffic->bytes[1]) / wire.bandwidth;
}

static int check_links(const predict_profile *profile,
                       const predict__traffic *traffic)
{
    for (size_t i = 0; i < profile->link_count; i++) {
        const predict_link *link = &profile->links[i];
        if (messages_of(&traffic[i]) == 0 ||
            (isfinite(link->latency_s) && link->bandwidth > 0))
            continue;
        return pastset_fail(
            PASTSET_EINVAL,
            "the profile lacks the latency and bandwidth that the link %s-%s "
            "had when the program was measured: give them with "
            "--profiled-link=%s-%s:latency=TIME,bandwidth=RATE (eventspace "
            "netbench measures them)",
            profile->nodes[link->a].name, profile->nodes[link->b].name,
            profile->nodes[link->a].name, profile->nodes[link->b].name);
    }
    return 0;
}

static int replay(const predict_scenario *scenario, double *out)
{
    predict_replay *result;
    int err = predict_replay_run(&result, scenario);

    if (err)
        return err;
    err = predict__replay_settled(result, scenario->profile);
    *out = result->wall_s;
    predict_replay_destroy(result);
    return err;
}

static int replay_dedicated(predict__rater *r)
{
    predict_scenario *scenario;
    int err;

    if (r->profile->actor_count == 0)
        return 0;
    err = predict_scenario_create(&scenario, r->profile,
                                  PREDICT_SCHEDULER_DEFAULT);
    if (err)
        return err;
    err = replay(scenario, &r->replay_s);
    predict_scenario_destroy(scenario);
    if (!err && !(r->replay_s > 0))
        err = pastset_fail(PASTSET_EINVAL,
                           "the replay of the profile takes no time: there is "
                           "nothing to compare");
    return err;
}

static int allocate(predict__rater *r)
{
    size_t nodes = r->profile->node_count, places = r->cluster->place_count;

    r->traffic = predict__traffic_make(r->profile);
    r->sums = calloc(nodes + 1, sizeof(*r->sums));
    r->place_loads = calloc(places + 1, sizeof(*r->place_loads));
    r->link_s = calloc(r->profile->link_count + 1, sizeof(*r->link_s));
    r->use = calloc(places + 1, sizeof(*r->use));
    r->added = calloc(nodes + 1, sizeof(*r->added));
    r->factors = calloc(nodes + 1, sizeof(*r->factors));
    if (r->traffic && r->sums && r->place_loads && r->link_s && r->use &&
        r->added && r->factors)
        return 0;
    return pastset_no_memory("to rate placements");
}

int predict__rater_init(predict__rater *r, const predict_profile *profile,
                        const predict_cluster *cluster)
{
    int err;

    *r = (predict__rater){.profile = profile, .cluster = cluster};
    r->wall_s = (double)profile->wall_ns / 1e9;
    err = allocate(r);
    if (!err)
        err = check_links(profile, r->traffic);
    if (err)
        return err;
    predict__rater_reload(r);
    for (uint32_t i = 0; i < profile->node_count; i++)
        r->sums[i] = predict_profile_sums(profile, i);
    for (size_t i = 0; i < profile->link_count; i++) {
        const predict_link *link = &profile->links[i];
        if (messages_of(&r->traffic[i]) > 0)
            r->link_s[i] =
                seconds_on((predict_wire){link->latency_s, link->bandwidth},
                           &r->traffic[i]);
    }
    return replay_dedicated(r);
}

void predict__rater_reload(predict__rater *r)
{
    const predict_cluster *cluster = r->cluster;

    for (uint32_t i = 0; i < cluster->place_count; i++)
        r->place_loads[i] = 0;
    for (uint32_t i = 0; i < cluster->machine_count; i++) {
        double *load = &r->place_loads[cluster->machines[i].place];
        *load = fmax(*load, cluster->machines[i].load);
    }
}

void predict__rater_fini(predict__rater *r)
{
    free(r->traffic);
    free(r->sums);
    free(r->place_loads);
    free(r->link_s);
    free(r->use);
    free(r->added);
    free(r->factors);
    *r = (predict__rater){0};
}

/* --- the estimate --- */

static double use_of(const predict__rater *r, size_t node)
{
    return r->wall_s > 0 ? r->sums[node].busy_s / r->wall_s : 0;
}

/* How many processes compete with a node for one processor: those of others
 * at its place, and the program's own nodes there, as far as they are busy. */
static double background_load(const predict__rater *r,
                              const predict_machine *machine, double others)
{
    double processors = r->cluster->processors[machine->place];

    return fmax(0,
                (r->place_loads[machine->place] + others + 1) / processors - 1);
}

/* Seconds that a node takes longer on a machine on which so many compete. */
static double slowed(const predict_sums *sums, const predict_machine *machine,
                     double load)
{
    double slower = 1 / machine->speed;
    double extra;

    if (sums->phases)
        extra = (double)sums->phases *
                predict_scheduler_extra(machine->scheduler,
                                        sums->busy_phase_s * slower,
                                        sums->idle_phase_s, load);
    else
        extra =
            predict_scheduler_extra(machine->scheduler, sums->busy_s * slower,
                                    fmax(0, sums->wall_s - sums->busy_s), load);
    return extra + (slower - 1) * sums->busy_s;
}

/* Seconds that the messages of each node take longer; gives the seconds for
 * ways that are missing. */
static double add_links(predict__rater *r, const uint32_t *machines)
{
    double missing_s = 0;

    for (size_t i = 0; i < r->profile->link_count; i++) {
        const predict_link *link = &r->profile->links[i];
        uint32_t a = machines[link->a], b = machines[link->b];
        predict_wire wire;
        double added;
        if (a == PREDICT_NONE || b == PREDICT_NONE ||
            messages_of(&r->traffic[i]) == 0)
            continue;
        wire = predict__placed_wire(r->cluster, &r->traffic[i], a, b);
        if (wire.bandwidth == 0) {
            missing_s += NO_WAY_S;
            continue;
        }
        added = seconds_on(wire, &r->traffic[i]) - r->link_s[i];
        r->added[link->a] += added;
        r->added[link->b] += added;
    }
    return missing_s;
}

double predict__estimate(predict__rater *r, const uint32_t *machines)
{
    const predict_machine *all = r->cluster->machines;
    size_t nodes = r->profile->node_count;
    double max_slowed = 0, max_added = -INFINITY, sum = 0;
    double missing_s = add_links(r, machines);

    for (size_t i = 0; i < nodes; i++) {
        if (machines[i] != PREDICT_NONE)
            r->use[all[machines[i]].place] += use_of(r, i);
    }
    for (size_t i = 0; i < nodes; i++) {
        const predict_machine *machine;
        double by, others;
        if (machines[i] == PREDICT_NONE)
            continue;
        machine = &all[machines[i]];
        others = fmax(0, r->use[machine->place] - use_of(r, i));
        by = slowed(&r->sums[i], machine, background_load(r, machine, others));
        max_slowed = fmax(max_slowed, by);
        max_added = fmax(max_added, r->added[i]);
        sum += by + r->added[i];
    }
    for (size_t i = 0; i < nodes; i++) {
        r->added[i] = 0;
        if (machines[i] != PREDICT_NONE)
            r->use[all[machines[i]].place] = 0;
    }
    if (!isfinite(max_added))
        max_added = 0;
    return r->wall_s + missing_s + max_slowed + max_added +
           TIE_BREAK * sum / (double)(nodes ? nodes : 1);
}

/* --- the prediction --- */

/* Other nodes at the place of a node, as far as they are busy. */
static double others_at(const predict__rater *r, const uint32_t *machines,
                        size_t node)
{
    const predict_machine *all = r->cluster->machines;
    double sum = 0;

    for (size_t i = 0; i < r->profile->node_count; i++) {
        if (i != node && all[machines[i]].place == all[machines[node]].place)
            sum += use_of(r, i);
    }
    return sum;
}

/* By how much the messages of a node take longer: 001, 4.2. */
static double ratio_of(const predict__rater *r, size_t node)
{
    double old_s = 0;

    for (size_t i = 0; i < r->profile->link_count; i++) {
        const predict_link *link = &r->profile->links[i];
        if (link->a == node || link->b == node)
            old_s += r->link_s[i];
    }
    return old_s > 0 ? fmax(0, (old_s + r->added[node]) / old_s) : 1;
}

/* The papers' bounds, of the node for which they are the latest. */
static predict_bounds bounds_of(predict__rater *r, const uint32_t *machines)
{
    predict_bounds latest = {0, 0};
    size_t nodes = r->profile->node_count;
    int err = 0;

    add_links(r, machines);
    for (size_t i = 0; i < nodes && !err; i++) {
        const predict_machine *machine = &r->cluster->machines[machines[i]];
        const predict_sums *s = &r->sums[i];
        predict_times times = {s->comp_s * r->factors[i] / machine->speed,
                               s->comm_s, s->idle_s};
        predict_bounds b = {0, 0};
        err = predict_nodes_and_links(
            &b, times, background_load(r, machine, others_at(r, machines, i)),
            ratio_of(r, i));
        latest.lower_s = fmax(latest.lower_s, b.lower_s);
        latest.upper_s = fmax(latest.upper_s, b.upper_s);
    }
    for (size_t i = 0; i < nodes; i++)
        r->added[i] = 0;
    return err ? (predict_bounds){NAN, NAN} : latest;
}

/* The papers' models look at each node by itself: to a node, those of the
 * program that share its processors are competitors as others are. */
static void part_places(const predict__rater *r, predict_scenario *scenario,
                        const uint32_t *machines)
{
    for (uint32_t i = 0; i < r->profile->node_count; i++) {
        scenario->loads[i] = background_load(
            r, &r->cluster->machines[machines[i]], others_at(r, machines, i));
        scenario->places[i] = i;
        scenario->processors[i] = 1;
    }
}

static int rate_by_model(const predict__rater *r, predict_scenario *scenario,
                         predict_placement *placement)
{
    predict_answers *answers = calloc(1, sizeof(*answers));
    int err;

    part_places(r, scenario, placement->machines);
    if (!answers)
        return pastset_no_memory("to rate a placement");
    err = predict_answer_all(answers, scenario);
    if (!err) {
        const predict_answer *best = &answers->all[answers->best];
        placement->time_s = best->upper_s;
        placement->lower_s = best->lower_s;
        placement->upper_s = best->upper_s;
    }
    free(answers);
    return err;
}

static int rate_by_replay(predict__rater *r, const predict_scenario *scenario,
                          predict_placement *placement)
{
    double seconds = 0;
    predict_bounds bounds;
    int err = replay(scenario, &seconds);

    if (err)
        return err;
    bounds = bounds_of(r, placement->machines);
    placement->time_s = predict__replay_time(r->wall_s, r->replay_s, seconds);
    placement->lower_s = bounds.lower_s;
    placement->upper_s = bounds.upper_s;
    return 0;
}

static void factors_find(predict__rater *r, const uint32_t *machines)
{
    size_t nodes = r->profile->node_count;

    for (size_t i = 0; i < nodes; i++)
        r->factors[i] = 1;
    if (r->threads)
        predict_split(r->factors, r->profile, r->cluster, machines, r->threads);
}

int predict__rate(predict__rater *r, predict_placement *placement)
{
    predict_scenario *scenario;
    int err = predict__placed_scenario(&scenario, r->profile, r->cluster,
                                       r->traffic, placement->machines);

    if (err)
        return err;
    factors_find(r, placement->machines);
    predict__split_scenario(scenario, r->factors);
    if (r->replay_s > 0)
        err = rate_by_replay(r, scenario, placement);
    else
        err = rate_by_model(r, scenario, placement);
    predict_scenario_destroy(scenario);
    return err;
}
