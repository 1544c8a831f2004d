/* replay_links.c - messages under way: each direction of a link is a queue.
 *
 * When a message is sent it is known when it will have come (flow_internal.h),
 * so the queue needs no more memory than the moment until which the link is
 * taken. */
#include "pastset/status.h"
#include "predict/replay/replay_internal.h"

#include <math.h>

static int refuse(const predict_scenario *scenario, size_t link,
                  const char *what, double value)
{
    const predict_profile *profile = scenario->profile;
    const predict_link *l = &profile->links[link];

    return pastset_fail(PASTSET_EINVAL, "link %s-%s: %g is not a %s",
                        profile->nodes[l->a].name, profile->nodes[l->b].name,
                        value, what);
}

int predict__replay_links_init(replay_link *links,
                               const predict_scenario *scenario)
{
    for (size_t i = 0; i < scenario->profile->link_count; i++) {
        predict_wire wire = scenario->wires[i];
        if (wire.latency_s < 0 || isinf(wire.latency_s))
            return refuse(scenario, i, "latency in seconds", wire.latency_s);
        if (wire.bandwidth <= 0)
            return refuse(scenario, i, "bandwidth in bytes per second",
                          wire.bandwidth);
        /* NaN: not measured, and taken to cost nothing. */
        links[i] = (replay_link){
            .flow = predict__flow_make(wire.latency_s, wire.bandwidth,
                                       scenario->flows[i]),
            .taken = {{-INFINITY, -INFINITY}, {-INFINITY, -INFINITY}},
            .a = scenario->profile->links[i].a,
        };
    }
    return 0;
}

double predict__replay_links_send(replay_link *links,
                                  const predict_profile *profile,
                                  const predict_message *message, double now)
{
    uint32_t index;
    replay_link *link;
    double arrival, waited;

    if (message->from == message->to)
        return now;
    index = predict_profile_find_link(profile, message->from, message->to);
    if (index == PREDICT_NONE)
        return now;
    link = &links[index];
    arrival = predict__flow_arrival(&link->flow,
                                    &link->taken[message->from != link->a], now,
                                    (double)message->bytes, &waited);
    link->messages++;
    link->carrying += arrival - now - waited;
    link->queued += waited;
    return arrival;
}
