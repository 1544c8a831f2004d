/* memo_internal.h - what several views need is made once, by the first that
 * asks for it, while the others wait for it.
 *
 * Rounds, trees and the like are functions of an event table, which has a memo.
 * It keeps them between begin and end only; at other times, whoever asks makes
 * his own, and gives it back.
 *
 * Threads:   any between begin and end. Whoever makes something may ask for
 *            other things, but not, by way of these, for the same.
 * Ownership: what is `kept` is the memo's, until `end`; else it belongs to who
 *            has asked for it. */
#ifndef SCOPES_MEMO_INTERNAL_H
#define SCOPES_MEMO_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct scopes__memo scopes__memo;

typedef enum scopes__memo_kind {
    SCOPES__MEMO_ROUNDS,  /* by collective site */
    SCOPES__MEMO_TREE,    /* by collective site */
    SCOPES__MEMO_PLAIN,   /* a tree, by position among the tops */
    SCOPES__MEMO_CAUSES,  /* there is one */
    SCOPES__MEMO_TIMES,   /* of communication, by detail */
    SCOPES__MEMO_WAITING, /* there is one */
} scopes__memo_kind;

/* How a thing is made, from a context: `kept` when the memo keeps it. And how
 * it is given back then. */
typedef struct scopes__made {
    int (*make)(void **out, const void *context, bool kept);
    void (*destroy)(void *made);
} scopes__made;

scopes__memo *scopes__memo_create(void);
void scopes__memo_destroy(scopes__memo *memo); /* NULL is allowed */

void scopes__memo_begin(scopes__memo *memo);
void scopes__memo_end(scopes__memo *memo);
bool scopes__memo_keeps(scopes__memo *memo);
/* Does it keep this, or is it being made? */
bool scopes__memo_has(scopes__memo *memo, scopes__memo_kind kind,
                      uint32_t number);

/* Gives the thing of this kind and number, or makes it. Errors: those of
 * `make`; PASTSET_ENOMEM. */
int scopes__memo_get(scopes__memo *memo, scopes__memo_kind kind,
                     uint32_t number, const scopes__made *how,
                     const void *context, void **out);

#endif
