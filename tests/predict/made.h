/* made.h - small profiles for tests: actors step by step, and random ones. */
#ifndef TESTS_PREDICT_MADE_H
#define TESTS_PREDICT_MADE_H

#include "predict/cluster/scenario.h"

/* Nodes n0, n1 ... with a place of one processor each. */
predict_profile *made_profile(uint32_t nodes);
void made_link(predict_profile *profile, uint32_t a, uint32_t b,
               double latency_s, double bandwidth);
uint32_t made_message(predict_profile *profile, uint32_t from, uint32_t to,
                      uint64_t bytes);
void made_actor(predict_profile *profile, uint32_t node, int64_t start_ns);
/* Steps of the last actor. */
void made_compute(predict_profile *profile, int64_t ns);
void made_sleep(predict_profile *profile, int64_t ns);
void made_send(predict_profile *profile, uint32_t message);
void made_receive(predict_profile *profile, uint32_t message);

/* A number of 0 to 1; `seed` moves on. */
double made_random(uint64_t *seed);
uint64_t made_below(uint64_t *seed, uint64_t max);

/* Threads that compute, sleep, send to one another and to some who serve, and
 * wait for replies; up to 5 nodes on up to 3 places. No two things happen at
 * one moment. The scenario is as random. */
predict_profile *made_random_profile(uint64_t *seed);
predict_scenario *made_random_scenario(const predict_profile *profile,
                                       uint64_t *seed);

#endif
