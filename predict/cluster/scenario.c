/* scenario.c - what is asked of a profile: see scenario.h.
 *
 * The texts are read as a whole (condition.c) before anything is changed. */
#include "predict/cluster/scenario.h"

#include <math.h>
#include <stdlib.h>

#include "pastset/status.h"

/* --- conditions --- */

static int parse(predict_condition *out, const predict_profile *profile,
                 const char *text, unsigned allowed)
{
    const char **names = calloc(profile->node_count + 1, sizeof(*names));
    int err;
    if (!names)
        return pastset_no_memory("for a condition");
    for (size_t i = 0; i < profile->node_count; i++)
        names[i] = profile->nodes[i].name;
    err =
        predict_condition_parse(out, text, allowed, names, profile->node_count);
    free(names);
    return err;
}

static void change_node(predict_scenario *s, size_t i,
                        const predict_condition *c)
{
    if (c->told & PREDICT_LOAD)
        s->loads[i] = c->load;
    if (c->told & PREDICT_SPEED)
        s->speeds[i] = c->speed;
    if (c->told & PREDICT_WAITING)
        s->waiting[i] = c->waiting;
    if (c->told & PREDICT_SESSION)
        s->of_other_sessions[i] = c->of_other_session;
    if (c->told & PREDICT_SCHEDULER)
        s->schedulers[i] = predict_scheduler_on(
            c->scheduler, (double)s->profile->slice_ns / 1e9);
}

/* Another bandwidth is another flow; it is not known if it is not told. */
static void change_link(predict_wire *wire, predict_flow *flow,
                        const predict_condition *c)
{
    if (c->told & PREDICT_LATENCY)
        wire->latency_s = c->wire.latency_s;
    if (c->told & PREDICT_BANDWIDTH)
        wire->bandwidth = c->wire.bandwidth;
    if (c->told & (PREDICT_BANDWIDTH | PREDICT_RATE))
        *flow = c->flow;
}

void predict_scenario_apply(predict_scenario *scenario,
                            const predict_condition *condition)
{
    const predict_profile *profile = scenario->profile;
    bool used = condition->told & PREDICT_OF_NODES;
    for (size_t i = 0; i < profile->node_count; i++)
        if (predict_condition_of_node(condition, (uint32_t)i))
            change_node(scenario, i, condition);
    for (size_t i = 0; i < profile->link_count; i++) {
        const predict_link *link = &profile->links[i];
        if (!predict_condition_of_link(condition, link->a, link->b))
            continue;
        change_link(&scenario->wires[i], &scenario->flows[i], condition);
        used = true;
    }
    scenario->unused += !used;
}

static int parse_and_apply(predict_scenario *scenario, const char *text,
                           unsigned allowed)
{
    predict_condition condition;
    int err = parse(&condition, scenario->profile, text, allowed);
    if (!err)
        predict_scenario_apply(scenario, &condition);
    return err;
}

int predict_scenario_node(predict_scenario *scenario, const char *text)
{
    return parse_and_apply(scenario, text, PREDICT_OF_NODES);
}

int predict_scenario_link(predict_scenario *scenario, const char *text)
{
    return parse_and_apply(scenario, text, PREDICT_OF_LINKS);
}

/* Only one of the two known is no setting: it is noted for later. */
static void set_wire(predict_setting *out, predict_link *l,
                     const predict_condition *c)
{
    predict_wire wire = {l->latency_s, l->bandwidth};
    predict_flow flow = l->flow;

    change_link(&wire, &flow, c);
    if (c->told & PREDICT_BUSY)
        l->busy = c->busy;
    if (!isnan(wire.latency_s) && !isnan(wire.bandwidth)) {
        *out = (predict_setting){true, wire.latency_s, wire.bandwidth, flow};
        return;
    }
    l->latency_s = wire.latency_s;
    l->bandwidth = wire.bandwidth;
}

int predict_wire_set(predict_profile *profile, const char *text)
{
    predict_condition c;
    predict_setting *settings;
    int err = parse(&c, profile, text, PREDICT_OF_PROFILED_LINKS);
    if (err)
        return err;
    settings = calloc(profile->link_count + 1, sizeof(*settings));
    if (!settings)
        return pastset_no_memory("for %zu links", profile->link_count);
    for (size_t i = 0; i < profile->link_count; i++) {
        predict_link *l = &profile->links[i];
        if (predict_condition_of_link(&c, l->a, l->b))
            set_wire(&settings[i], l, &c);
    }
    err = predict_profile_set_wires(profile, settings);
    free(settings);
    return err;
}

/* --- a scenario --- */

static int allocate(predict_scenario *s, size_t nodes, size_t links)
{
    s->loads = calloc(nodes + 1, sizeof(*s->loads));
    s->schedulers = calloc(nodes + 1, sizeof(*s->schedulers));
    s->of_other_sessions = calloc(nodes + 1, sizeof(*s->of_other_sessions));
    s->waiting = calloc(nodes + 1, sizeof(*s->waiting));
    s->speeds = calloc(nodes + 1, sizeof(*s->speeds));
    s->old = calloc(links + 1, sizeof(*s->old));
    s->wires = calloc(links + 1, sizeof(*s->wires));
    s->flows = calloc(links + 1, sizeof(*s->flows));
    s->places = calloc(nodes + 1, sizeof(*s->places));
    s->processors = calloc(nodes + 1, sizeof(*s->processors));
    if (s->loads && s->schedulers && s->of_other_sessions && s->waiting &&
        s->speeds && s->old && s->wires && s->flows && s->places &&
        s->processors)
        return 0;
    return pastset_no_memory("for a scenario");
}

/* Where each node is a session of its own (as ranks of MPICH are), no other
 * process is of the same one. */
static bool are_apart(const predict_profile *profile)
{
    for (size_t i = 0; i < profile->node_count; i++) {
        if (profile->nodes[i].session == 0)
            return false;
        for (size_t n = 0; n < i; n++)
            if (profile->nodes[n].session == profile->nodes[i].session)
                return false;
    }
    return profile->node_count > 1;
}

/* There may be more places in a profile than nodes, of which some are not
 * used; here a place has the number of its first node. */
static void fill_places(predict_scenario *s)
{
    const predict_profile *profile = s->profile;
    for (uint32_t i = 0; i < profile->node_count; i++) {
        uint32_t place = profile->nodes[i].place;
        uint32_t first = 0;
        while (profile->nodes[first].place != place)
            first++;
        s->places[i] = first;
        s->processors[i] = 1;
        if (place < profile->place_count)
            s->processors[first] = profile->places[place].processors;
    }
}

int predict_scenario_create(predict_scenario **out,
                            const predict_profile *profile,
                            predict_scheduler scheduler)
{
    predict_scenario *s = calloc(1, sizeof(*s));
    bool apart = are_apart(profile);
    int err;
    *out = NULL;
    if (!s)
        return pastset_no_memory("for a scenario");
    s->profile = profile;
    err = allocate(s, profile->node_count, profile->link_count);
    if (err) {
        predict_scenario_destroy(s);
        return err;
    }
    for (size_t i = 0; i < profile->node_count; i++) {
        s->schedulers[i] =
            predict_scheduler_on(scheduler, (double)profile->slice_ns / 1e9);
        s->waiting[i] = profile->nodes[i].waiting;
        s->of_other_sessions[i] = apart;
        s->speeds[i] = 1;
    }
    for (size_t i = 0; i < profile->link_count; i++) {
        const predict_link *link = &profile->links[i];
        s->old[i] = (predict_wire){link->latency_s, link->bandwidth};
        s->wires[i] = s->old[i];
        s->flows[i] = link->flow;
    }
    fill_places(s);
    *out = s;
    return 0;
}

void predict_scenario_destroy(predict_scenario *s)
{
    if (!s)
        return;
    free(s->loads);
    free(s->schedulers);
    free(s->of_other_sessions);
    free(s->waiting);
    free(s->speeds);
    free(s->old);
    free(s->wires);
    free(s->flows);
    free(s->places);
    free(s->processors);
    free(s);
}
