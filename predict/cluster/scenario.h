/* scenario.h - what is asked: which nodes carry other load, which links are
 * how good. Conditions are texts as in condition.h.
 *
 * A link between two nodes that send each other nothing may be named, and makes
 * no difference (`unused` counts such).
 *
 * Threads:   one thread per scenario.
 * Ownership: create gives, destroy takes back; the profile is borrowed. */
#ifndef PREDICT_SCENARIO_H
#define PREDICT_SCENARIO_H

#include "predict/cluster/condition.h"
#include "predict/models/scheduler_model.h"
#include "predict/models/models.h"
#include "predict/profile/profile.h"

typedef struct predict_scenario {
    const predict_profile *profile;
    double *loads;                 /* by node: processes that compete there */
    predict_scheduler *schedulers; /* by node */
    bool *of_other_sessions;       /* by node: its load is */
    uint32_t *waiting;             /* by node: predict_waiting */
    double *speeds;      /* by node: how fast its processor is, 1 as measured */
    predict_wire *old;   /* by link of the profile: as measured */
    predict_wire *wires; /* by link: as it will be */
    predict_flow *flows; /* by link: the same, for the replay */
    uint32_t *places; /* by node: those of the same number share processors */
    uint32_t *processors; /* by place number (at most as many as nodes) */
    uint32_t unused; /* conditions of links that the profile does not use */
} predict_scenario;

/* As it was measured: no load, law `scheduler`, links and places of the
 * profile. */
int predict_scenario_create(predict_scenario **out,
                            const predict_profile *profile,
                            predict_scheduler scheduler);
void predict_scenario_destroy(predict_scenario *scenario);

/* Texts of nodes and of links. Errors: PASTSET_EINVAL, PASTSET_ENOENT (a node
 * or a link that is not there; the text tells which are). */
int predict_scenario_node(predict_scenario *scenario, const char *text);
int predict_scenario_link(predict_scenario *scenario, const char *text);
/* The same of a condition that was read, whose indexes are those of the
 * profile's nodes. */
void predict_scenario_apply(predict_scenario *scenario,
                            const predict_condition *condition);

/* What a link was while it was measured: sets L and B of links of a profile, by
 * a text of links ("*:latency=150us,bandwidth=100mbit"), in which "busy=0.3"
 * may stand too, and the name may be missing. To be done before the scenario is
 * created. Errors: those above. */
int predict_wire_set(predict_profile *profile, const char *text);

#endif
