/* surroundings.h - times of which everything is kept: what a flight recorder
 * and the root of its tree remember of them.
 *
 * Threads: one at a time for each set. */
#ifndef SCOPES_SURROUNDINGS_H
#define SCOPES_SURROUNDINGS_H

#include "scopes/gather/gather.h"

/* In their order, and apart from each other. */
typedef struct surroundings {
    scopes_surroundings *items;
    size_t count;
} surroundings;

void scopes__surroundings_fini(surroundings *s);
/* Joins it with those that it meets. `*news`: a part of it was not there; NULL
 * is allowed. Errors: PASTSET_ENOMEM. */
int scopes__surroundings_add(surroundings *s, const scopes_surroundings *time,
                             bool *news);
/* Whether anything from `begin_ns` to `end_ns` is in one. */
bool scopes__surroundings_meet(const surroundings *s, uint64_t begin_ns,
                               uint64_t end_ns);
/* Nobody will ask for what was before. */
void scopes__surroundings_forget(surroundings *s, uint64_t before_ns);

#endif
