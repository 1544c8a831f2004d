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
#include "predict/profile/profile_internal.h"

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
    /* Links of damaged files may have taken any time, or none that can be
     * told. */
    sleep->ns =
        rest_ns > 0 ? llround(fmin(rest_ns, (double)PREDICT__MAX_NS)) : 0;
}

static int check(const predict_setting *setting)
{
    if (!setting->is_set || (setting->latency_s >= 0 && setting->bandwidth > 0))
        return 0;
    return pastset_fail(PASTSET_EINVAL,
                        "a link with a latency of %g s and a bandwidth of "
                        "%g bytes per second",
                        setting->latency_s, setting->bandwidth);
}

/* Two for each link: from a to b, and back. NULL: no memory. */
static direction *directions_make(const predict_profile *profile,
                                  const predict_setting *settings)
{
    direction *ways = calloc(2 * profile->link_count + 1, sizeof(*ways));

    for (size_t i = 0; ways && i < 2 * profile->link_count; i++) {
        const predict_link *l = &profile->links[i / 2];
        const predict_setting *s = &settings[i / 2];
        if (s->is_set)
            ways[i] = (direction){
                .old = wire_of(l->latency_s, l->bandwidth, l->flow),
                .changed = wire_of(s->latency_s, s->bandwidth, s->flow)};
    }
    return ways;
}

static int take_all_out(predict_profile *profile,
                        const predict_setting *settings)
{
    direction *ways = directions_make(profile, settings);
    reception *received = find_receptions(profile);
    bool has_room = ways && received;

    for (size_t i = 0; has_room && i < profile->message_count; i++) {
        const predict_message *m = &profile->messages[i];
        uint32_t link = predict_profile_find_link(profile, m->from, m->to);
        direction *d;
        if (link == PREDICT_NONE || !settings[link].is_set)
            continue;
        d = &ways[2 * (size_t)link + (m->from != profile->links[link].a)];
        take_out(d, &received[i],
                 waited_ns(&d->changed, m, &received[i]) -
                     waited_ns(&d->old, m, &received[i]));
    }
    free(ways);
    free(received);
    return has_room
               ? 0
               : pastset_no_memory("for %zu messages", profile->message_count);
}

int predict_profile_set_wires(predict_profile *profile,
                              const predict_setting *settings)
{
    int err = 0;

    for (size_t i = 0; i < profile->link_count && !err; i++)
        err = check(&settings[i]);
    if (!err && profile->source && strcmp(profile->source, "traces") == 0)
        err = take_all_out(profile, settings);
    for (size_t i = 0; i < profile->link_count && !err; i++) {
        predict_link *l = &profile->links[i];
        if (!settings[i].is_set)
            continue;
        l->latency_s = settings[i].latency_s;
        l->bandwidth = settings[i].bandwidth;
        l->flow = settings[i].flow;
    }
    return err;
}
