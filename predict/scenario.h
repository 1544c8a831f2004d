/* scenario.h - what is asked: which nodes carry other load, which links are
 * how good.
 *
 *   n0=load:1              one process competes on node n0 (or a load average)
 *   n0=load:1,law:fair     and its scheduler follows that law
 *   n0=speed:0.5           its processor is half as fast as it was
 *   *=load:1               all nodes
 *   n0-n1=10mbit,400us     the link between n0 and n1 has B and L; either may
 *                          be left out (as it was)
 *   *=10mbit               all links
 *   n0-n1=13mbit,9us,rate:9.6mbit,burst:1600,alone:20us
 *                          its flow (profile.h) as well, for the replay
 *
 * n1-n0 is n0-n1. A link between two nodes that send each other nothing may be
 * named, and makes no difference (`unused` counts such).
 *
 * Units as in path maps (docs/map.md): bandwidths bit, kbit, mbit, gbit, B, kB,
 * MB, GB per second; times ns, us, ms, s, min.
 *
 * Threads:   one thread per scenario.
 * Ownership: create gives, free takes back; the profile is borrowed. */
#ifndef PREDICT_SCENARIO_H
#define PREDICT_SCENARIO_H

#include "predict/law.h"
#include "predict/models.h"
#include "predict/profile.h"

typedef struct predict_scenario {
    const predict_profile *profile;
    double *loads;       /* by node: processes that compete there */
    predict_law *laws;   /* by node */
    double *speeds;      /* by node: how fast its processor is, 1 as measured */
    predict_wire *old;   /* by link of the profile: as measured */
    predict_wire *wires; /* by link: as it will be */
    predict_flow *flows; /* by link: the same, for the replay */
    uint32_t *places; /* by node: those of the same number share processors */
    uint32_t *processors; /* by place number (at most as many as nodes) */
    uint32_t unused; /* conditions of links that the profile does not use */
} predict_scenario;

/* As it was measured: no load, law `law`, links and places of the profile. */
int predict_scenario_create(predict_scenario **out,
                            const predict_profile *profile, predict_law law);
void predict_scenario_free(predict_scenario *scenario);

/* Texts as above. Errors: PASTSET_EINVAL, PASTSET_ENOENT (a node or a link that
 * is not there; the text tells which are). */
int predict_scenario_node(predict_scenario *scenario, const char *text);
int predict_scenario_link(predict_scenario *scenario, const char *text);

/* What a link was while it was measured: sets L and B of links of a profile, by
 * a text as above ("*=100mbit,150us"), in which `busy:0.3` may stand too. To be
 * done before the scenario is created. Errors: those above. */
int predict_wire_set(predict_profile *profile, const char *text);

/* "10mbit" to bytes per second; "400us" to seconds. */
int predict_bandwidth_parse(double *out, const char *text);
int predict_time_parse(double *out, const char *text);

#endif
