/* rounds_internal.h - what rounds.c, rounds_place.c and match.c share. */
#ifndef SCOPES_ROUNDS_INTERNAL_H
#define SCOPES_ROUNDS_INTERNAL_H

#include "scopes/causality/rounds.h"

/* --- operations by their names (match.c) --- */

/* The name of an operation as one number. */
static inline uint64_t scopes__key(const eventspace_trace *event)
{
    return (uint64_t)event->thread << 32 | event->sequence;
}

/* Those of a series, in its order; NULL when memory is out. */
uint64_t *scopes__keys(const scopes_series *series);

/* `out[i]`: where key i of `upper` is in `lower`, or SCOPES_MISSING.
 * Errors: PASTSET_ENOMEM. */
int scopes__match_keys(uint32_t *out, const uint64_t *upper, size_t count,
                       const uint64_t *lower, size_t lower_count);

/* --- events to rounds (rounds_place.c) --- */

/* The event of an input in a round. */
typedef struct scopes__span {
    uint64_t start, end;
    uint32_t round;
} scopes__span;

/* What is known beforehand about an input's events and rounds. */
typedef struct scopes__known {
    const scopes__span *spans; /* of other inputs on its process, in the order
                                  of the rounds, one of a round at most */
    uint32_t span_count;
    uint32_t count; /* of rounds */
    bool dense;     /* no round is missing between the first and the last */
    bool begun;     /* nor before the first; then `dense` too */
    bool solid;     /* no event of the input is missing between the first and
                       the last */
    bool first;     /* nor before the first; then `solid` too */
} scopes__known;

/* Puts each event of a series to its round, if that is certain. `out[e]`: the
 * round of event e, or SCOPES_MISSING; those that are set already stay.
 * Errors: PASTSET_ENOMEM. */
int scopes__rounds_place(uint32_t *out, const scopes_series *series,
                         const scopes__known *known);

#endif
