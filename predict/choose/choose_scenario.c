/* choose_scenario.c - from a placement to a scenario. */
#include <math.h>
#include <stdlib.h>

#include "pastset/status.h"
#include "predict/choose/choose_internal.h"

predict__traffic *predict__traffic_make(const predict_profile *profile)
{
    predict__traffic *traffic =
        calloc(profile->link_count + 1, sizeof(*traffic));

    for (size_t i = 0; traffic && i < profile->message_count; i++) {
        const predict_message *m = &profile->messages[i];
        uint32_t link;
        if (m->from == m->to)
            continue;
        link = predict_profile_find_link(profile, m->from, m->to);
        if (link == PREDICT_NONE)
            continue;
        traffic[link].messages[m->from > m->to] += 1;
        traffic[link].bytes[m->from > m->to] += (double)m->bytes;
    }
    return traffic;
}

/* The mean of two by their weights; by halves if neither has any. */
static double mean(const double weights[2], double first, double second)
{
    double sum = weights[0] + weights[1];

    if (sum == 0)
        return (first + second) / 2;
    return (weights[0] * first + weights[1] * second) / sum;
}

predict_wire predict__placed_wire(const predict_cluster *cluster,
                                  const predict__traffic *traffic, uint32_t a,
                                  uint32_t b)
{
    predict_wire to = cluster->wires[(size_t)a * cluster->machine_count + b];
    predict_wire back = cluster->wires[(size_t)b * cluster->machine_count + a];

    if (to.bandwidth == 0 || back.bandwidth == 0)
        return (predict_wire){0, 0};
    if (to.latency_s == back.latency_s && to.bandwidth == back.bandwidth)
        return to;
    to.latency_s = mean(traffic->messages, to.latency_s, back.latency_s);
    to.bandwidth =
        1 / mean(traffic->bytes, 1 / to.bandwidth, 1 / back.bandwidth);
    return to;
}

/* The flow of a way; of one that has none, if that is wanted for comparing, the
 * one which comes nearest to L + size/B. */
static predict_flow flow_of(const predict_cluster *cluster, uint32_t from,
                            uint32_t to)
{
    size_t at = (size_t)from * cluster->machine_count + to;
    predict_wire wire = cluster->wires[at];

    if (cluster->flows[at].rate > 0)
        return cluster->flows[at];
    return (predict_flow){wire.bandwidth, 0, wire.latency_s};
}

/* The flow that a link gets between two machines; rate 0: not known. */
static predict_flow placed_flow(const predict_cluster *cluster,
                                const predict__traffic *traffic, uint32_t a,
                                uint32_t b)
{
    size_t machines = cluster->machine_count;
    predict_flow to, back;
    double burst_s;

    if (!cluster->flows || (cluster->flows[a * machines + b].rate == 0 &&
                            cluster->flows[b * machines + a].rate == 0))
        return (predict_flow){0, 0, 0};
    to = flow_of(cluster, a, b);
    back = flow_of(cluster, b, a);
    if (to.rate == back.rate && to.burst == back.burst &&
        to.latency_s == back.latency_s)
        return to;
    burst_s =
        mean(traffic->messages, to.burst / to.rate, back.burst / back.rate);
    to.rate = 1 / mean(traffic->bytes, 1 / to.rate, 1 / back.rate);
    to.burst = burst_s * to.rate;
    to.latency_s = mean(traffic->messages, to.latency_s, back.latency_s);
    return to;
}

/* Of a place: the largest load of its machines. */
static double place_load(const predict_cluster *cluster, uint32_t place)
{
    double load = 0;

    for (uint32_t i = 0; i < cluster->machine_count; i++) {
        if (cluster->machines[i].place == place &&
            cluster->machines[i].load > load)
            load = cluster->machines[i].load;
    }
    return load;
}

static int check_machines(const predict_profile *profile,
                          const predict_cluster *cluster,
                          const uint32_t *machines)
{
    for (size_t i = 0; i < profile->node_count; i++) {
        if (machines[i] >= cluster->machine_count)
            return pastset_fail(PASTSET_EINVAL,
                                "node %s: the cluster has %u machines, and no "
                                "machine %u",
                                profile->nodes[i].name, cluster->machine_count,
                                machines[i]);
        for (size_t j = 0; j < i; j++) {
            if (machines[j] == machines[i])
                return pastset_fail(PASTSET_EINVAL,
                                    "nodes %s and %s are both placed on "
                                    "machine %s, which takes only one",
                                    profile->nodes[j].name,
                                    profile->nodes[i].name,
                                    cluster->machines[machines[i]].name);
        }
    }
    return 0;
}

/* The loads of nodes of one place add up (replay.c), and what was measured at
 * each machine of a place is the load of all of it. */
static void share_loads(predict_scenario *s)
{
    size_t nodes = s->profile->node_count;

    for (size_t i = 0; i < nodes; i++) {
        unsigned there = 0;
        for (size_t j = 0; j < nodes; j++)
            there += s->places[j] == s->places[i];
        s->loads[i] /= there;
    }
}

static void set_nodes(predict_scenario *s, const predict_cluster *cluster,
                      const uint32_t *machines)
{
    size_t nodes = s->profile->node_count;
    uint32_t places = 0;

    for (size_t i = 0; i < nodes; i++) {
        const predict_machine *machine = &cluster->machines[machines[i]];
        size_t same = 0;
        s->loads[i] = place_load(cluster, machine->place);
        s->schedulers[i] = predict_scheduler_on(
            machine->scheduler, (double)s->profile->slice_ns / 1e9);
        s->speeds[i] = machine->speed;
        while (same < i &&
               cluster->machines[machines[same]].place != machine->place)
            same++;
        s->places[i] = same < i ? s->places[same] : places++;
        s->processors[s->places[i]] = cluster->processors[machine->place];
    }
    share_loads(s);
}

static int set_links(predict_scenario *s, const predict_cluster *cluster,
                     const predict__traffic *traffic, const uint32_t *machines)
{
    for (size_t i = 0; i < s->profile->link_count; i++) {
        const predict_link *link = &s->profile->links[i];
        predict_wire wire = predict__placed_wire(
            cluster, &traffic[i], machines[link->a], machines[link->b]);
        if (wire.bandwidth > 0) {
            s->wires[i] = wire;
            s->flows[i] = placed_flow(cluster, &traffic[i], machines[link->a],
                                      machines[link->b]);
            continue;
        }
        if (traffic[i].messages[0] + traffic[i].messages[1] > 0)
            return pastset_fail(PASTSET_ENOENT,
                                "nodes %s and %s send each other messages, but "
                                "there is no route between machines %s and %s",
                                s->profile->nodes[link->a].name,
                                s->profile->nodes[link->b].name,
                                cluster->machines[machines[link->a]].name,
                                cluster->machines[machines[link->b]].name);
    }
    return 0;
}

int predict__placed_scenario(predict_scenario **out,
                             const predict_profile *profile,
                             const predict_cluster *cluster,
                             const predict__traffic *traffic,
                             const uint32_t *machines)
{
    int err = check_machines(profile, cluster, machines);

    *out = NULL;
    if (!err)
        err = predict_scenario_create(out, profile, PREDICT_SCHEDULER_FAIR);
    if (err)
        return err;
    set_nodes(*out, cluster, machines);
    err = set_links(*out, cluster, traffic, machines);
    if (err) {
        predict_scenario_destroy(*out);
        *out = NULL;
    }
    return err;
}

int predict_placement_scenario(predict_scenario **out,
                               const predict_profile *profile,
                               const predict_cluster *cluster,
                               const uint32_t *machines)
{
    predict__traffic *traffic = predict__traffic_make(profile);
    int err;

    *out = NULL;
    if (!traffic)
        return pastset_no_memory("for a scenario");
    err = predict__placed_scenario(out, profile, cluster, traffic, machines);
    free(traffic);
    return err;
}
