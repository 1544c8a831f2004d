/* trust.h - how far what is said of a run is to be trusted: how good its clocks
 * are, and what observing it has cost. */
#ifndef VIEWER_TRUST_H
#define VIEWER_TRUST_H

#include <stdint.h>

#include "scopes/reading/snapshot.h"
#include "viewer/tables/facts.h"

typedef struct viewer_trust {
    double certain_ns;    /* of clocks, at the widest; INFINITY */
    uint32_t processes;   /* whose clocks are aligned */
    double event_cost_ns; /* measured when it is asked for; 0: not known */
    double observing;     /* share of the time of threads; NAN: not known */
} viewer_trust;

void viewer_trust_take(viewer_trust *out, const scopes_snapshot *snapshot,
                       const viewer_facts *facts);

#endif
