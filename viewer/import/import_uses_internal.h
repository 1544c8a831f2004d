/* import_uses_internal.h - what threads of an imported trace communicate by,
 * and how.
 *
 * MPI knows no elements. What stands for them here is a `place`:
 *
 *   channel     a lane of messages from one thread to another in a communicator
 *               (import_channels_internal.h); also of a rooted collective, from
 *               the root to each other or from each other to the root, and of a
 *               scan, from each rank to the next: it is then as many messages
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
    uint32_t lane;      /* of messages */
    uint32_t region;    /* of calls; OTF2_NONE: outside of any */
    uint32_t operation; /* of collectives */
} place_key;

typedef struct import_place {
    place_key key;
    uint64_t written, taken;           /* of a channel */
    uint64_t joined;                   /* of a collective: by all */
    uint32_t writers, takers, joiners; /* uses */
    bool matched;
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
 * that has ended. Errors: PASTSET_ENOMEM. */
int viewer__import_uses_settle(import_uses *uses, bool joined_groups,
                               bool all_ended);

uint32_t viewer__import_uses_count(const import_uses *uses);
const import_use *viewer__import_uses_at(const import_uses *uses, uint32_t use);
uint32_t viewer__import_uses_places(const import_uses *uses);
const import_place *viewer__import_uses_place(const import_uses *uses,
                                              uint32_t place);

/* Of messages, the tag that all of a place have. False: they have several. */
bool viewer__import_place_tag(const import_uses *uses, uint32_t place,
                              int32_t *tag);
/* Of messages: is it known which is which? Of a collective: has each rank
 * joined it, with one thread, and equally often? Else it cannot be told what
 * belongs together. */
bool viewer__import_place_is_matched(const import_place *place);

/* A use of a call. */
typedef struct import_given {
    uint32_t thread;
    bool is_message;
    uint32_t use; /* of a message OTF2_NONE, as long as nothing is settled */
    uint32_t ordinal; /* of a message, among those of its channel with its tag,
                         from 0; OTF2_NONE: that cannot be told */
} import_given;

/* Calls `each` for each use of a call: one, or more for the root of a
 * collective, who deals with all others. New ones are added, until all is
 * settled. Calls that are regions or lives have none. Errors: PASTSET_ENOMEM;
 * PASTSET_EFORMAT, when what is settled was not there before; those of `each`.
 */
typedef int import_use_each(const import_given *given, void *context);
int viewer__import_uses_of(import_uses *uses, uint32_t thread,
                           const mpi_call *call, import_use_each *each,
                           void *context);

#endif
