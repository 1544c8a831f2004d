/* replay_eevdf_internal.h - a processor of the replay as Linux shares it
 * from 6.6 on: "earliest eligible virtual deadline first".
 *
 * It is for places with one processor. What a thread gets over long times is
 * what the fluid of replay_processors.c gives it; but one that wakes up waits,
 * or does not, as it would there: see replay_eevdf.c. Without a load too: of
 * two who wake each other one is done with its message before the other begins,
 * not both at the same late time, so that messages leave in the order in which
 * they did.
 *
 * A thread that waits by looking for what it waits for (polling) stays among
 * those that are ready. It finds it as soon as it runs.
 *
 * Threads that compute are numbered from 0. Several actors of one thread are
 * served one after another, in the order in which they begin. Times are in
 * nanoseconds and never go back.
 *
 * Threads:   one at a time.
 * Ownership: create gives, destroy takes back. */
#ifndef PREDICT_REPLAY_EEVDF_INTERNAL_H
#define PREDICT_REPLAY_EEVDF_INTERNAL_H

#include <stdint.h>

#include "predict/profile/profile.h"

typedef struct replay_eevdf replay_eevdf;

/* `load` processes that are always busy (or 0); of a broken number the last one
 * has less weight. Errors: PASTSET_ENOMEM. */
int predict__replay_eevdf_create(replay_eevdf **out, double slice, double load,
                                 uint32_t threads);
typedef struct replay_manner {
    predict_waiting waiting;
    bool is_apart; /* of another session than the load */
    double weight; /* of the load each has 1 */
    uint64_t seed; /* above 0: of what is a matter of chance where one polls */
} replay_manner;

/* Before it computes. At first it sleeps, is not apart, and has a weight of 1.
 */
void predict__replay_eevdf_set(replay_eevdf *q, uint32_t thread,
                               const replay_manner *how);
/* NULL is allowed. */
void predict__replay_eevdf_destroy(replay_eevdf *q);

/* An actor of a thread needs the processor for `need` from `now` on, which must
 * not be later than predict__replay_eevdf_next. Errors: PASTSET_ENOMEM. */
int predict__replay_eevdf_begin(replay_eevdf *q, double now, uint32_t thread,
                                uint32_t actor, double need);
/* A thread that does not sleep while it waits begins to wait, from `now` on,
 * until an actor of it begins. */
void predict__replay_eevdf_poll(replay_eevdf *q, double now, uint32_t thread);
/* When something is due; INFINITY: while nobody begins, nothing. */
double predict__replay_eevdf_next(const replay_eevdf *q);
/* What was due: gives the actor who is done, or PREDICT_NONE. */
uint32_t predict__replay_eevdf_end(replay_eevdf *q);

#endif
