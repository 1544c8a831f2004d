/* replay.h - runs a profile once more, under other conditions: a
 * discrete-event simulation over its steps.
 *
 * Beyond the papers: any mixture of loaded nodes and changed links at once,
 * each operation waiting for what it waited for.
 *
 *   Processors  The actors of a place that compute share its processors with
 *               each other and with the load, fairly: each goes on at the rate
 *               min(1, processors/(actors + load)) times the node's speed. The
 *               load of a place is the sum of its nodes' loads.
 *   Credit      Where there is a load, an actor that has slept is served before
 *               others first, for min(slept/load, credit) by the scheduler
 * model of its node (scheduler_model.h). Several of those share among
 * themselves. It has slept since it last computed; one that begins with a
 * RECEIVE serves (profile.h), and has slept since the last of those of its node
 * was done, as they are one thread. Slices      A place of one processor, all
 * of whose nodes have the scheduler model eevdf, is shared as Linux does it
 * instead, with or without a load: one after another, and who wakes up may have
 * to wait (replay_eevdf_internal.h). Links       Each direction carries one
 * message after another, each for size/B; it arrives L after that. (A message
 * between nodes of a link that was not measured, or of one node, arrives at
 * once.) Actors      go through their steps in order. What the processor does
 * for a message is in their COMPUTE steps; predict_link.busy is not looked at.
 *
 * The cost is O(log n) per step, n being the actors that are under way.
 *
 * Threads: any, each with its own result. */
#ifndef PREDICT_REPLAY_H
#define PREDICT_REPLAY_H

#include "predict/cluster/scenario.h"

typedef struct predict_replay_node {
    double computing_s; /* processor time that its actors needed */
    double shared_s;    /* longer, as processors were shared */
    double end_s;       /* of its last actor */
} predict_replay_node;

typedef struct predict_replay_link {
    uint64_t messages;
    double carrying_s; /* L + size/B of all its messages */
    double queued_s;   /* messages waited for one another */
} predict_replay_link;

typedef struct predict_replay {
    double wall_s;   /* when the last actor ended */
    uint64_t events; /* of the simulation */
    uint64_t stuck;  /* actors that wait for a message for ever: 0, unless the
                        profile is of a part of a run */
    predict_replay_node *nodes; /* as in the profile */
    predict_replay_link *links; /* as in the profile */
} predict_replay;

/* The profile must be one that predict_profile_check accepts.
 * Errors: PASTSET_ENOMEM; PASTSET_EINVAL: the profile has no actors, or a node
 * or a link has conditions that make no sense, which the text names. */
int predict_replay_run(predict_replay **out, const predict_scenario *scenario);
void predict_replay_destroy(predict_replay *replay);

#endif
