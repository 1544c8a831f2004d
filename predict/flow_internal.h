/* flow_internal.h - messages through one direction of a link, one after
 * another, each for size/B, or, where a link's flow is known, by a token bucket
 * of its rate and burst (the virtual scheduling form of GCRA): the same with a
 * burst of nothing. Each has come L after that. */
#ifndef PREDICT_FLOW_INTERNAL_H
#define PREDICT_FLOW_INTERNAL_H

#include <math.h>

#include "predict/profile.h"

/* Ethernet, IP and TCP with its time stamps: what a message costs besides its
 * own bytes. Only where the rate was told apart from B, which contains it. */
#define PREDICT__HEADERS 66

typedef struct predict__flow {
    double latency_ns;
    double per_byte_ns;
    double burst_ns;   /* time for the burst */
    double headers_ns; /* time for the headers of a message */
} predict__flow;

/* NaN of L or B: not measured, and taken to cost nothing. */
static inline predict__flow
predict__flow_make(double latency_s, double bandwidth, predict_flow flow)
{
    double per_byte_ns = flow.rate > 0 ? 1e9 / flow.rate : 0;

    if (flow.rate > 0 && !isnan(bandwidth))
        return (predict__flow){.latency_ns = flow.latency_s * 1e9,
                               .per_byte_ns = per_byte_ns,
                               .burst_ns = flow.burst * per_byte_ns,
                               .headers_ns = PREDICT__HEADERS * per_byte_ns};
    return (predict__flow){.latency_ns = isnan(latency_s) ? 0 : latency_s * 1e9,
                           .per_byte_ns =
                               isnan(bandwidth) ? 0 : 1e9 / bandwidth};
}

/* When a message that is sent at `now` has come. `*until`: when the link will
 * have carried all before it. `*waited` (may be NULL) gets for how long it was
 * kept by those. */
static inline double predict__flow_arrival(const predict__flow *f,
                                           double *until, double now,
                                           double bytes, double *waited)
{
    double rested = now - f->burst_ns;
    double from = *until > rested ? *until : rested;

    *until = from + bytes * f->per_byte_ns + f->headers_ns;
    if (waited)
        *waited = *until > now && from > rested ? from - rested : 0;
    return (*until > now ? *until : now) + f->latency_ns;
}

#endif
