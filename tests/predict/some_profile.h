/* some_profile.h - profiles for tests, made from a seed. */
#ifndef TESTS_PREDICT_SOME_PROFILE_H
#define TESTS_PREDICT_SOME_PROFILE_H

#include "predict/profile/profile.h"

/* Any profile that is allowed, of about that many messages; the same one for
 * the same seed. With `actors`, each message is sent and received. */
predict_profile *some_profile(uint64_t seed, size_t messages, bool actors);

/* Whether all of the two is the same; else the test fails. */
void check_same_profile(const predict_profile *a, const predict_profile *b);

#endif
