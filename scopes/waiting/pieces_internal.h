/* pieces_internal.h - what a thread did before some time, piece by piece back:
 * it computed, was in a call, or waited in one.
 *
 * Each piece is of a sort. Sorts of calls are those in one line of the program,
 * if both threads have calls in it; else each collective, sending, receiving,
 * and others. Each has two, for what is before the call and for what is in it.
 * All waiting is one.
 *
 * Threads:   any.
 * Ownership: find gives, free takes back. */
#ifndef SCOPES_PIECES_INTERNAL_H
#define SCOPES_PIECES_INTERNAL_H

#include "scopes/waiting/waiting_internal.h"

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

typedef struct scopes__pieces {
    scopes__piece *items; /* the last first */
    size_t count, capacity;
} scopes__pieces;

/* What a thread did, compared with another one, from `from_ns` to `at_ns`,
 * which is before its operation begins, or in it; of its waits, `waits` is the
 * first that begins then or later. Puts it in place of what `pieces` had, which
 * is zero at first. Errors: PASTSET_ENOMEM. */
int scopes__pieces_find(scopes__pieces *pieces, const scopes__waiting *w,
                        uint32_t operation, uint32_t other, uint32_t waits,
                        int64_t from_ns, int64_t at_ns);
void scopes__pieces_free(scopes__pieces *pieces);

#endif
