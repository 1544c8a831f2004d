/* structural_profile.h - a structural model that is made of a profile, for
 * people to go on from.
 *
 * Each node computes, and exchanges messages with others; the time is the one
 * of the node that takes longest, and what is neither, such as waiting for
 * others in turn:
 *
 *     exchange(n) = sum of messages * latency + bytes / bandwidth, of its links
 *     time = max(n in N: compute(n) / load(n) + exchange(n)) + rest
 *
 * With all machines free and all links as they were, that is the measured time.
 *
 * Threads: any. */
#ifndef PREDICT_STRUCTURAL_PROFILE_H
#define PREDICT_STRUCTURAL_PROFILE_H

#include <stdio.h>

#include "predict/profile/profile.h"

/* Prints the text of the model. Links of which it is not known how good they
 * were take the time that was measured. Errors: PASTSET_EINVAL (a node whose
 * name cannot stand in a model), PASTSET_EIO. */
int predict_structural_of_profile(FILE *out, const predict_profile *profile);

#endif
