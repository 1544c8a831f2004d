/* import_uses_internal.h - what threads of an imported trace communicate by,
 * and how.
 *
 * MPI knows no elements. What stands for them here is a `place`:
 *
 *   channel     messages from one thread to another in a communicator with one
 *               tag; also of a rooted collective, from the root to each other
 *               or from each other to the root, and of a scan, from each rank
 *               to the next: it is then as many messages
 *   collective  one in which everybody waits for everybody, of a communicator
 *   calls       of one function of MPI in a process, in which nothing else was
 *               recorded
 *
 * Ranks are processes: whichever thread of a process sends or receives, it is
 * the rank that does.
 *
 * A use is what one thread does at one place: it writes, takes, joins or calls.
 * Each becomes a path with a collector.
 *
 * Threads:   one.
 * Ownership: the table owns all; free gives it back. */
#ifndef VIEWER_IMPORT_USES_INTERNAL_H
#define VIEWER_IMPORT_USES_INTERNAL_H

#include "viewer/import/calls_internal.h"

typedef enum place_kind {
    PLACE_CHANNEL,
    PLACE_ROOTED, /* a channel, of the collective `operation` */
    PLACE_COLLECTIVE,
    PLACE_CALLS,
} place_kind;

typedef struct place_key {
    uint32_t kind;
    uint32_t comm;      /* of the trace */
    uint32_t from, to;  /* threads that are the ranks; of calls, `from`: the
                           process */
    uint32_t tag;       /* of messages */
    uint32_t region;    /* of calls; OTF2_NONE: outside of any */
    uint32_t operation; /* of collectives */
} place_key;

typedef struct import_place {
    place_key key;
    uint64_t written, taken;           /* of a channel */
    uint64_t joined;                   /* of a collective: by all */
    uint32_t writers, takers, joiners; /* uses */
    bool disordered; /* receives ended in another order than they began */
    bool matched;
    bool numbered; /* its messages: each has been sent and received by one
                      thread, and none is missing before another */
} import_place;

typedef enum use_role {
    USE_WRITES,
    USE_TAKES,
    USE_JOINS,
    USE_CALLS,
} use_role;

typedef struct import_use {
    uint32_t place, thread, role;
    uint32_t rank;  /* of one who joins */
    uint64_t count; /* operations */
} import_use;

typedef struct import_uses import_uses;

/* NULL: no memory. */
import_uses *viewer__import_uses_make(const otf2_trace *trace);
void viewer__import_uses_destroy(import_uses *uses);

/* All calls have been seen: from now on nothing is counted. `joined_groups`: a
 * communicator between two groups may be among the derived ones, and then ranks
 * in it are not those that the trace says; `all_ended`: no receive is missing
 * that has ended. True in `*again` when all calls have to be seen once more, to
 * learn in which order receives that ended in another one began.
 * Errors: PASTSET_ENOMEM. */
int viewer__import_uses_settle(import_uses *uses, bool joined_groups,
                               bool all_ended, bool *again);
/* They have been seen once more. */
void viewer__import_uses_settled(import_uses *uses);

uint32_t viewer__import_uses_count(const import_uses *uses);
const import_use *viewer__import_uses_at(const import_uses *uses, uint32_t use);
uint32_t viewer__import_uses_places(const import_uses *uses);
const import_place *viewer__import_uses_place(const import_uses *uses,
                                              uint32_t place);

/* Of messages: is each there twice, sent by one thread and received by one, and
 * were they received in the order in which they were asked for? Of a
 * collective: has each rank joined it, with one thread, and equally often? Else
 * it cannot be told what belongs together. */
bool viewer__import_place_is_matched(const import_place *place);

/* Calls `each` for each use of a call: one, or more for the root of a
 * collective, who deals with all others. New ones are added. Calls that are
 * regions or lives have none. `ordinal` is, once all is settled, the number of
 * the message among those at its place, from 0; OTF2_NONE where that cannot be
 * told. Errors: PASTSET_ENOMEM; those of `each`. */
typedef int import_use_each(uint32_t use, uint32_t ordinal, void *context);
int viewer__import_uses_of(import_uses *uses, uint32_t thread,
                           const mpi_call *call, import_use_each *each,
                           void *context);

#endif
