/* profile_wire.c - L and B for a link of a profile.
 *
 * Steps from traces hold all the time that a message took, in the SLEEP behind
 * its RECEIVE. When L and B of its link are set, the replay lets it take
 * L + size/B, and longer where messages wait for one another; so this is taken
 * out of the SLEEP. Messages are followed through the link for that, by the
 * times at which they were sent. What a message took before its receiver came
 * for it, the SLEEP does not hold. */
#include "predict/replay/flow_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"

/* One direction of a link, with certain L, B and flow. */
typedef struct wire {
    bool known;
    predict__flow flow;
    predict__taken taken;
} wire;

typedef struct direction {
    wire old, changed;
    double owed_ns; /* that could not be taken out yet */
} direction;

static wire wire_of(double latency_s, double bandwidth, predict_flow flow)
{
    return (wire){.known = isfinite(latency_s) && bandwidth > 0,
                  .flow = predict__flow_make(latency_s, bandwidth, flow),
                  .taken = {-INFINITY, -INFINITY}};
}

static double arrival_ns(wire *w, const predict_message *m)
{
    if (!w->known)
        return (double)m->at_ns;
    return predict__flow_arrival(&w->flow, &w->taken, (double)m->at_ns,
                                 (double)m->bytes, NULL);
}

/* How a message was received. */
typedef struct reception {
    predict_step *sleep; /* behind its RECEIVE; NULL: there is none */
    double early_ns;
} reception;

/* By message. */
static reception *find_receptions(predict_profile *profile)
{
    reception *found = calloc(profile->message_count + 1, sizeof(*found));

    if (!found)
        return NULL;
    for (size_t i = 0; i < profile->actor_count; i++) {
        const predict_actor *a = &profile->actors[i];
        for (size_t s = a->step; s < a->step + a->steps; s++) {
            predict_step *step = &profile->steps[s];
            if (step->kind != PREDICT_RECEIVE)
                continue;
            found[step->message].early_ns = (double)step->ns;
            if (s + 1 < a->step + a->steps && step[1].kind == PREDICT_SLEEP)
                found[step->message].sleep = &step[1];
        }
    }
    return found;
}

/* For how long its receiver waited for a message that comes at this moment. */
static double waited_ns(wire *w, const predict_message *m,
                        const reception *received)
{
    double ns = arrival_ns(w, m) - (double)m->at_ns - received->early_ns;

    return ns > 0 ? ns : 0;
}

/* Of several that were received at once the last one is waited for, and the
 * others owe nothing. */
static void take_out(direction *d, const reception *received, double ns)
{
    predict_step *sleep = received->sleep;
    double rest_ns;

    if (!sleep && received->early_ns > 0)
        return;
    d->owed_ns += ns;
    if (!sleep)
        return;
    rest_ns = (double)sleep->ns - d->owed_ns;
    d->owed_ns = rest_ns < 0 ? -rest_ns : 0;
    sleep->ns = rest_ns < 0 ? 0 : llround(rest_ns);
}

int predict_profile_set_wire(predict_profile *profile, uint32_t link,
                             double latency_s, double bandwidth,
                             predict_flow flow)
{
    predict_link *l;
    reception *received;
    direction ways[2];
    bool from_traces;

    if (link >= profile->link_count)
        return pastset_fail(PASTSET_EINVAL, "there is no link %u", link);
    if (!(latency_s >= 0) || !(bandwidth > 0))
        return pastset_fail(PASTSET_EINVAL,
                            "a link with a latency of %g s and a bandwidth of "
                            "%g bytes per second",
                            latency_s, bandwidth);
    received = find_receptions(profile);
    if (!received)
        return pastset_no_memory("for %zu messages", profile->message_count);
    l = &profile->links[link];
    from_traces = profile->source && strcmp(profile->source, "traces") == 0;
    ways[0] = (direction){.old = wire_of(l->latency_s, l->bandwidth, l->flow),
                          .changed = wire_of(latency_s, bandwidth, flow)};
    ways[1] = ways[0];
    for (size_t i = 0; from_traces && i < profile->message_count; i++) {
        const predict_message *m = &profile->messages[i];
        direction *d = &ways[m->from == l->a ? 0 : 1];
        if ((m->from == l->a && m->to == l->b) ||
            (m->from == l->b && m->to == l->a))
            take_out(d, &received[i],
                     waited_ns(&d->changed, m, &received[i]) -
                         waited_ns(&d->old, m, &received[i]));
    }
    free(received);
    l->latency_s = latency_s;
    l->bandwidth = bandwidth;
    l->flow = flow;
    return 0;
}
