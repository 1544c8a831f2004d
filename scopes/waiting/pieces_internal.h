/* pieces_internal.h - what a thread did before some time, piece by piece back:
 * it computed, was in a call, or waited in one.
 *
 * Each piece is of a sort. Sorts of calls are each collective, sending,
 * receiving, and others; and each has two, for what is before the call and for
 * what is in it. All waiting is one.
 *
 * Threads:   any. */
#ifndef SCOPES_PIECES_INTERNAL_H
#define SCOPES_PIECES_INTERNAL_H

#include "scopes/waiting/waiting_internal.h"

/* Goes back over what a thread did, piece by piece, until `from_ns`. */
typedef struct scopes__walk {
    const scopes__waiting *w;
    int64_t from_ns, at_ns;
    uint32_t first;     /* operation of the thread */
    uint32_t operation; /* the next one, before which the thread computed */
    bool in_gap;        /* ... until at_ns; else it is in the one before */
    uint32_t first_wait, waits; /* of the thread: those that were before */
} scopes__walk;

typedef enum scopes__piece_kind {
    SCOPES__COMPUTES,
    SCOPES__IS_IN_CALL,
    SCOPES__WAITS,
    SCOPES__PIECE_KINDS,
} scopes__piece_kind;

typedef struct scopes__piece {
    int64_t ns;
    uint32_t sort;
    uint32_t operation; /* before which it computed; or in which it was */
    uint32_t wait;      /* SCOPES_MISSING: it did not wait */
    scopes__piece_kind kind;
} scopes__piece;

uint32_t scopes__piece_sorts(const scopes__waiting *w);

/* From `at_ns` back, which is before the thread's next operation begins, or in
 * it; of the thread's waits, `waits` is the first that begins then or later. */
scopes__walk scopes__walk_begin(const scopes__waiting *w, uint32_t operation,
                                uint32_t waits, int64_t from_ns, int64_t at_ns);
/* The next piece; false: there are no more. */
bool scopes__piece_next(scopes__walk *walk, scopes__piece *out);

#endif
