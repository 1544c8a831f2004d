/* replay_links.c - messages under way: each direction of a link is a queue.
 *
 * A message leaves when those before it have left, takes size/B for that, and
 * has come L later. So it is known when it is sent when it will have come, and
 * the queue needs no more memory than the moment at which it will be empty. */
#include "pastset/status.h"
#include "predict/replay_internal.h"

static int refuse(const predict_scenario *scenario, size_t link,
                  const char *what, double value)
{
    const predict_profile *profile = scenario->profile;
    const predict_link *l = &profile->links[link];

    return pastset_fail(PASTSET_EINVAL, "link %s-%s: %g is no %s",
                        profile->nodes[l->a].name, profile->nodes[l->b].name,
                        value, what);
}

int replay__links_init(replay_link *links, const predict_scenario *scenario)
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
            .latency = isnan(wire.latency_s) ? 0 : wire.latency_s * 1e9,
            .per_byte = isnan(wire.bandwidth) ? 0 : 1e9 / wire.bandwidth,
            .a = scenario->profile->links[i].a,
        };
    }
    return 0;
}

double replay__links_send(replay_link *links, const predict_profile *profile,
                          const predict_message *message, double now)
{
    uint32_t index;
    replay_link *link;
    double *free_at, start, leaving;

    if (message->from == message->to)
        return now;
    index = predict_profile_find_link(profile, message->from, message->to);
    if (index == PREDICT_NONE)
        return now;
    link = &links[index];
    free_at = &link->free_at[message->from != link->a];
    start = *free_at > now ? *free_at : now;
    leaving = (double)message->bytes * link->per_byte;
    *free_at = start + leaving;
    link->messages++;
    link->carrying += leaving + link->latency;
    link->queued += start - now;
    return start + leaving + link->latency;
}
