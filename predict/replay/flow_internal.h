/* flow_internal.h - messages through one direction of a link, one after
 * another, each for size/B. It has come L after that.
 *
 * Where a link's flow is known, it is a token bucket of its rate and burst (the
 * virtual scheduling form of GCRA), and a message of one packet does not wait
 * until a long one before it is through, but for two packets of it: TCP keeps
 * no more of a connection in a link's queue, so that connections take turns. */
#ifndef PREDICT_FLOW_INTERNAL_H
#define PREDICT_FLOW_INTERNAL_H

#include <math.h>
#include <stdbool.h>

#include "predict/profile/profile.h"

/* Ethernet, IP and TCP with its time stamps: what a message costs besides its
 * own bytes. Only where the rate was told apart from B, which contains it. */
#define PREDICT__HEADERS 66
#define PREDICT__PACKET 1448
#define PREDICT__TURN (2 * (PREDICT__PACKET + PREDICT__HEADERS))

typedef struct predict__flow {
    double latency_ns;
    double per_byte_ns;
    double burst_ns;   /* time for the burst */
    double headers_ns; /* time for the headers of a message */
    bool turns;        /* messages of one packet do not wait for long ones */
} predict__flow;

/* When a direction will have carried all of its messages, and all of one
 * packet. At first -INFINITY. */
typedef struct predict__taken {
    double until_ns, short_ns;
} predict__taken;

/* NaN of L or B: not measured, and taken to cost nothing. */
static inline predict__flow
predict__flow_make(double latency_s, double bandwidth, predict_flow flow)
{
    double per_byte_ns = flow.rate > 0 ? 1e9 / flow.rate : 0;

    if (flow.rate > 0 && !isnan(bandwidth))
        return (predict__flow){.latency_ns = flow.latency_s * 1e9,
                               .per_byte_ns = per_byte_ns,
                               .burst_ns = flow.burst * per_byte_ns,
                               .headers_ns = PREDICT__HEADERS * per_byte_ns,
                               .turns = true};
    return (predict__flow){.latency_ns = isnan(latency_s) ? 0 : latency_s * 1e9,
                           .per_byte_ns =
                               isnan(bandwidth) ? 0 : 1e9 / bandwidth};
}

static inline double predict__later(double a, double b)
{
    return a > b ? a : b;
}

/* When a message that is sent at `now` has come. `*waited` (may be NULL) gets
 * for how long it was kept by others. */
static inline double predict__flow_arrival(const predict__flow *f,
                                           predict__taken *taken, double now,
                                           double bytes, double *waited)
{
    double rested = now - f->burst_ns;
    double takes = bytes * f->per_byte_ns + f->headers_ns;
    bool alone = f->turns && bytes <= PREDICT__PACKET;
    double turn = now + PREDICT__TURN * f->per_byte_ns;
    double from = predict__later(taken->until_ns, rested);

    if (alone && from > turn)
        from = predict__later(taken->short_ns, turn);
    taken->until_ns = predict__later(taken->until_ns, rested) + takes;
    if (alone)
        taken->short_ns = from + takes;
    if (waited)
        *waited = predict__later(from + takes, now) -
                  predict__later(rested + takes, now);
    return predict__later(from + takes, now) + f->latency_ns;
}

#endif
