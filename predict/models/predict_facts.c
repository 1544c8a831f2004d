/* predict_facts.c - a profile added up, and what a scenario changes of it.
 *
 * As L + size/B is linear in the size, a link's number of messages and bytes
 * are all that the models need of them: the sum message by message is the same
 * (models.h has both; the tests compare them). */
#include "predict/models/predict_internal.h"

#include <math.h>
#include <stdlib.h>

#include "pastset/status.h"

/* --- adding up --- */

static double busy_threads(const predict_node *node)
{
    double busy_ns = 0;
    for (size_t i = 0; i < node->phase_count; i++)
        busy_ns += (double)node->phases[i].busy_ns;
    return busy_ns > 0 ? fmax(1, (double)node->kernel_ns / busy_ns) : 1;
}

static void fill_node(predict__node *out, const predict_profile *profile,
                      uint32_t node)
{
    predict_sums s = predict_profile_sums(profile, node);
    out->sums = s;
    out->busy_share =
        s.comm_s > 0 ? fmin(1, fmax(0, (s.busy_s - s.comp_s) / s.comm_s)) : 0;
    out->threads = busy_threads(&profile->nodes[node]);
}

static void fill_links(predict_facts *facts)
{
    const predict_profile *profile = facts->profile;
    for (size_t i = 0; i < profile->message_count; i++) {
        const predict_message *m = &profile->messages[i];
        uint32_t link =
            m->from == m->to
                ? PREDICT_NONE
                : predict_profile_find_link(profile, m->from, m->to);
        if (link == PREDICT_NONE)
            continue;
        facts->links[link].messages += 1;
        facts->links[link].bytes += (double)m->bytes;
    }
}

int predict_facts_create(predict_facts **out, const predict_profile *profile)
{
    predict_facts *facts = calloc(1, sizeof(*facts));
    *out = NULL;
    if (facts) {
        facts->profile = profile;
        facts->wall_s = (double)profile->wall_ns / 1e9;
        facts->nodes = calloc(profile->node_count + 1, sizeof(*facts->nodes));
        facts->links = calloc(profile->link_count + 1, sizeof(*facts->links));
    }
    if (!facts || !facts->nodes || !facts->links) {
        predict_facts_destroy(facts);
        return pastset_no_memory("to predict");
    }
    for (uint32_t i = 0; i < profile->node_count; i++)
        fill_node(&facts->nodes[i], profile, i);
    fill_links(facts);
    *out = facts;
    return 0;
}

void predict_facts_destroy(predict_facts *facts)
{
    if (!facts)
        return;
    free(facts->nodes);
    free(facts->links);
    free(facts);
}

/* --- how a load counts where there are more processors, or more nodes --- */

/* What share of its time a node is busy. */
static double utilisation(const predict__node *node)
{
    return node->sums.wall_s > 0
               ? fmin(1, node->sums.busy_s / node->sums.wall_s) * node->threads
               : 0;
}

static uint32_t place_of(const predict_facts *facts,
                         const predict_scenario *scenario, uint32_t node)
{
    return scenario ? scenario->places[node]
                    : facts->profile->nodes[node].place;
}

static double processors_of(const predict_facts *facts,
                            const predict_scenario *scenario, uint32_t place)
{
    const predict_profile *profile = facts->profile;
    uint32_t count = 1;
    if (scenario)
        count = scenario->processors[place];
    else if (place < profile->place_count)
        count = profile->places[place].processors;
    return count ? count : 1;
}

/* By how much a node's computing is stretched, by the others of its place and
 * by the load; `scenario` NULL: as it was measured. */
static double stretch(const predict_facts *facts,
                      const predict_scenario *scenario, uint32_t node)
{
    uint32_t place = place_of(facts, scenario, node);
    double processors = processors_of(facts, scenario, place);
    double wanted = fmin(facts->nodes[node].threads, processors);
    for (uint32_t i = 0; i < facts->profile->node_count; i++) {
        if (place_of(facts, scenario, i) != place)
            continue;
        if (i != node)
            wanted += utilisation(&facts->nodes[i]);
        if (scenario)
            wanted += scenario->loads[i];
    }
    return fmax(1, wanted / processors);
}

/* --- what is asked --- */

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

bool predict__link_changed(const predict_scenario *scenario, uint32_t link)
{
    predict_wire old = scenario->old[link], now = scenario->wires[link];
    return !same(old.latency_s, now.latency_s) ||
           !same(old.bandwidth, now.bandwidth);
}

bool predict__node_changed(const predict__asked *asked, uint32_t node)
{
    return asked->loads[node] > 1e-9 || asked->scenario->speeds[node] != 1;
}

static bool is_wire(predict_wire wire)
{
    return wire.latency_s >= 0 && isfinite(wire.latency_s) &&
           wire.bandwidth > 0 && isfinite(wire.bandwidth);
}

static int need_wires(const predict__asked *asked, uint32_t link)
{
    const predict_profile *profile = asked->facts->profile;
    const predict_scenario *s = asked->scenario;
    const char *a = profile->nodes[profile->links[link].a].name;
    const char *b = profile->nodes[profile->links[link].b].name;
    if (!is_wire(s->old[link]))
        return pastset_fail(
            PASTSET_EINVAL,
            "link %.60s-%.60s: its latency and bandwidth were not measured, so "
            "the cost of a change cannot be predicted; measure them with "
            "`eventspace netbench` and give them with --profiled-link, such as "
            "--profiled-link=latency=150us,bandwidth=100mbit",
            a, b);
    if (!is_wire(s->wires[link]))
        return pastset_fail(PASTSET_EINVAL,
                            "link %.60s-%.60s cannot have a latency of %g s "
                            "and a bandwidth of %g bytes per second",
                            a, b, s->wires[link].latency_s,
                            s->wires[link].bandwidth);
    return 0;
}

static int ask_links(predict__asked *out)
{
    const predict_facts *facts = out->facts;
    for (uint32_t i = 0; i < facts->profile->link_count; i++) {
        int err;
        if (!predict__link_changed(out->scenario, i))
            continue;
        err = need_wires(out, i);
        if (err)
            return err;
        if (facts->links[i].messages == 0)
            continue;
        out->links++;
        out->link = i;
    }
    return 0;
}

/* r of all messages that a node sent or got (001, 4.2), on links of which
 * the time is known. */
static double ratio_of(const predict__asked *asked, uint32_t node)
{
    const predict_profile *profile = asked->facts->profile;
    double before_s = 0, after_s = 0;
    for (uint32_t i = 0; i < profile->link_count; i++) {
        const predict_link *link = &profile->links[i];
        predict__link sum = asked->facts->links[i];
        predict_wire old = asked->scenario->old[i];
        predict_wire now = asked->scenario->wires[i];
        if ((link->a != node && link->b != node) || !is_wire(old) ||
            !is_wire(now))
            continue;
        before_s += sum.messages * old.latency_s + sum.bytes / old.bandwidth;
        after_s += sum.messages * now.latency_s + sum.bytes / now.bandwidth;
    }
    return before_s > 0 && after_s > 0 ? after_s / before_s : 1;
}

static int check_node(const predict_scenario *s, uint32_t node)
{
    const char *name = s->profile->nodes[node].name;
    if (!(s->loads[node] >= 0 && isfinite(s->loads[node])))
        return pastset_fail(
            PASTSET_EINVAL,
            "node %.60s: the load is %g, but must be a number from 0", name,
            s->loads[node]);
    if (!(s->speeds[node] > 0 && isfinite(s->speeds[node])))
        return pastset_fail(
            PASTSET_EINVAL,
            "node %.60s: the speed is %g, but must be a number above 0", name,
            s->speeds[node]);
    return 0;
}

static int ask_nodes(predict__asked *out)
{
    uint32_t count = (uint32_t)out->facts->profile->node_count;
    out->slowest = out->fastest = out->ratio = 1;
    for (uint32_t i = 0; i < count; i++) {
        int err = check_node(out->scenario, i);
        if (err)
            return err;
    }
    for (uint32_t i = 0; i < count; i++) {
        double k = stretch(out->facts, out->scenario, i) /
                       stretch(out->facts, NULL, i) -
                   1;
        double speed = out->scenario->speeds[i];
        out->loads[i] = fmax(0, k);
        out->ratios[i] = ratio_of(out, i);
        out->load = fmax(out->load, out->loads[i]);
        out->ratio = i ? fmax(out->ratio, out->ratios[i]) : out->ratios[i];
        out->slowest = i ? fmin(out->slowest, speed) : speed;
        out->fastest = i ? fmax(out->fastest, speed) : speed;
        if (predict__node_changed(out, i)) {
            out->nodes++;
            out->node = i;
        }
    }
    return 0;
}

int predict__asked_init(predict__asked *out, const predict_facts *facts,
                        const predict_scenario *scenario)
{
    size_t nodes = facts->profile->node_count;
    int err = 0;
    *out = (predict__asked){.facts = facts, .scenario = scenario};
    if (!nodes || !(facts->wall_s > 0))
        return pastset_fail(PASTSET_EINVAL,
                            "the profile has no %s: there is nothing to "
                            "predict from",
                            nodes ? "execution time" : "nodes");
    out->loads = calloc(2 * nodes, sizeof(double));
    if (!out->loads)
        return pastset_no_memory("to predict");
    out->ratios = out->loads + nodes;
    err = ask_links(out);
    if (!err)
        err = ask_nodes(out);
    if (err)
        predict__asked_fini(out);
    return err;
}

void predict__asked_fini(predict__asked *asked)
{
    free(asked->loads);
    asked->loads = NULL;
}
