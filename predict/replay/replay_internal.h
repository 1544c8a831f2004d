/* replay_internal.h - what the files of the replay share.
 *
 *   replay.c             actors and their steps, what happens next
 *   replay_processors.c  places: who computes, how fast, who is done next
 *   replay_eevdf.c       one processor by the rules of Linux
 *   replay_threads.c     which places that are, and their threads
 *   replay_links.c       messages under way
 *   replay_heap.c        what waits for a moment
 *
 * Times are doubles, in nanoseconds: under a load they are no whole numbers,
 * and up to 50 days they are exact to a microsecond's millionth part.
 *
 * Memory: 16 bytes per actor, 8 per message; and 24 for each actor that
 * computes, sleeps, or whose message is on its way. Those who wait for a
 * message that was not sent yet, most of them, are in no heap. */
#ifndef PREDICT_REPLAY_INTERNAL_H
#define PREDICT_REPLAY_INTERNAL_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "predict/replay/flow_internal.h"
#include "predict/replay/replay.h"

/* --- heaps --- */

/* Least key first; of equal ones the one that was put in first. */
typedef struct replay_entry {
    double key;
    double rest; /* of the owner, see replay_processors.c */
    uint32_t order;
    uint32_t actor;
} replay_entry;

typedef struct replay_heap {
    replay_entry *entries; /* the children of i are 4i + 1 to 4i + 4 */
    size_t count, capacity;
    uint32_t order;
} replay_heap;

/* Errors: PASTSET_ENOMEM. */
int predict__replay_heap_push(replay_heap *heap, double key, double rest,
                              uint32_t actor);
/* The heap must not be empty. */
replay_entry predict__replay_heap_pop(replay_heap *heap);
void predict__replay_heap_fini(replay_heap *heap);

/* --- processors --- */

typedef struct replay_place {
    double processors;
    double load;
    double spinning; /* actors who look for a message all the time */
    struct replay_eevdf
        *eevdf;       /* shares it instead (replay_eevdf_internal.h), or NULL */
    replay_heap fair; /* actors who compute, by `fair_served` at their end */
    replay_heap first;                /* those who are served before others */
    double fair_served, first_served; /* what each of them got so far, ns */
    double fair_rate, first_rate;     /* and gets per nanosecond */
    double now;                       /* when `served` was as it stands here */
    double next;                      /* when the next one is done; INFINITY */
    bool first_is_next;               /* it is one of `first` */
} replay_place;

typedef struct replay_processors {
    replay_place *places;
    uint32_t leaves;   /* places, filled up to a power of two */
    uint32_t *winners; /* of a tournament of all places: [1] is the place
                          whose `next` is least, [leaves + i] is i */
} replay_processors;

/* Errors: PASTSET_ENOMEM. */
int predict__replay_processors_init(replay_processors *all, uint32_t places);
void predict__replay_processors_fini(replay_processors *all);

/* An actor needs a processor for `need` nanoseconds from `now` on, and is
 * served before others for `credit` of them. Errors: PASTSET_ENOMEM. */
int predict__replay_place_begin(replay_place *place, double now, uint32_t actor,
                                double need, double credit);
/* From `now` on so many more actors, or fewer, spin. */
void predict__replay_place_spin(replay_place *place, double now, int more);
/* What was due at `next`: gives the actor who is done, and what is left of its
 * credit; or PREDICT_NONE, when only a credit was used up.
 * Errors (`err`): PASTSET_ENOMEM. */
uint32_t predict__replay_place_end(replay_place *place, double *credit,
                                   int *err);
/* After one or more of the above: works out `next`. */
void predict__replay_processors_settle(replay_processors *all, uint32_t place);

static inline uint32_t
predict__replay_processors_next(const replay_processors *all)
{
    return all->winners[1];
}

/* --- threads --- */

/* Threads that serve the requests of others are told by their first step: each
 * request is an actor of its own. Such a thread has slept since the last of
 * the requests that its node served. */
static inline bool predict__replay_serves(const predict_profile *profile,
                                          const predict_actor *actor)
{
    return actor->steps > 0 &&
           profile->steps[actor->step].kind == PREDICT_RECEIVE;
}

/* Gives the places that are shared by the rules of eevdf what they need, and
 * the number of each actor's thread at its place, to be released with free.
 * Errors: PASTSET_ENOMEM. */
int predict__replay_threads_assign(uint32_t **threads, replay_processors *all,
                                   const predict_scenario *scenario);

/* --- links --- */

typedef struct replay_link {
    predict__flow flow;
    predict__taken taken[2]; /* [0] is a to b */
    double carrying, queued; /* ns */
    uint64_t messages;
    uint32_t a;
} replay_link;

/* Errors: PASTSET_EINVAL, with the link's nodes. */
int predict__replay_links_init(replay_link *links,
                               const predict_scenario *scenario);
/* Gives the time at which a message that is sent now has come. */
double predict__replay_links_send(replay_link *links,
                                  const predict_profile *profile,
                                  const predict_message *message, double now);

#endif
