/* traces_ranks_internal.h - steps of processes that communicate by other means
 * than paths (`eventspace mpi`).
 *
 *     traces_calls.c        the calls of each thread
 *     traces_pairs.c        whose message is whose
 *     traces_meetings.c     which calls are of one collective
 *     traces_collectives.c  by what messages a collective is modelled
 *     traces_waiting.c      what a rank does while it waits
 *     traces_ranks.c        the steps of a thread, from call to call
 *
 * A thread computes between its calls, for as long as it had a processor. What
 * it does in them counts as communicating: libraries of MPI go on using the
 * processor while they wait.
 *
 * An operation is an event of a call; a call that completes several requests
 * has several, of the same times. */
#ifndef MEASURE_TRACES_RANKS_INTERNAL_H
#define MEASURE_TRACES_RANKS_INTERNAL_H

#include "measure/traces/traces_internal.h"

typedef enum ranks_kind {
    RANKS_ALONE,
    RANKS_SENDS,
    RANKS_RECEIVES,
    RANKS_MEETS,
} ranks_kind;

typedef struct ranks_operation {
    int64_t start_ns, end_ns;
    ranks_kind kind;
    uint32_t stream, event;
    uint32_t process, thread, sequence;
    uint32_t message; /* SENDS, RECEIVES: its number */
    uint32_t ready;   /* a message by which the receiver tells the sender of a
                         long one that it has come, or that there is room;
                         TRACES_NONE */
    uint32_t room;    /* messages by which it tells senders when it has ended
                         that there is room: the first, then by `next`;
                         TRACES_NONE */
    bool is_second;   /* SENDS: one of a call that receives first; see
                         measure__ranks_are_in_turns */
    uint32_t meeting; /* MEETS: which, and its number there */
    uint32_t member;
} ranks_operation;

typedef enum ranks_model {
    RANKS_ALL,       /* all need all */
    RANKS_EACH,      /* the same, each with a part of its own for each */
    RANKS_STARTED,   /* all need all, in a call that comes later */
    RANKS_FROM_ROOT, /* all need the root */
    RANKS_TO_ROOT,   /* the root needs all */
} ranks_model;

/* Operations of one collective. */
typedef struct ranks_meeting {
    ranks_model model;
    bool is_growing;  /* what is passed on is what came together so far; else
                         it is as long as what was brought */
    bool is_whole;    /* STARTED: each gets all that another one has brought */
    bool is_flat;     /* directly between the root and all others */
    bool is_in_turns; /* EACH, of two: see measure__ranks_are_in_turns */
    uint32_t first, count; /* of `members`; a root is the first */
    uint32_t message;      /* the first */
    int64_t hop_ns;        /* what a message takes */
    int64_t all_ns;        /* ALL: when all know of all */
} ranks_meeting;

/* Where a member of one that was started is done. */
typedef struct ranks_completion {
    uint32_t operation; /* any of the call */
    uint32_t meeting, member;
} ranks_completion;

typedef struct ranks {
    traces *t;
    ranks_operation *operations; /* by thread, then by sequence */
    size_t count;
    size_t *threads;   /* by thread: the first operation; and one more */
    uint32_t *members; /* operations, meeting by meeting */
    size_t member_count;
    ranks_meeting *meetings;
    size_t meeting_count;
    uint32_t *waits;               /* by operation: the next wait or test of its
                                      thread, which it may be itself, or
                                      TRACES_NONE; NULL: not needed so far */
    ranks_completion *completions; /* by operation */
    size_t completion_count;
    struct ranks_due *due; /* room for those of one call */
} ranks;

/* A message that is received, and when it was sent. */
typedef struct ranks_due {
    int64_t at_ns;
    uint32_t message;
} ranks_due;

/* --- traces_calls.c --- */

int measure__ranks_collect(ranks *r);
/* The number of the first of so many new messages. Errors: PASTSET_ENOMEM,
 * PASTSET_ELIMIT. */
int measure__ranks_messages(traces *t, uint32_t *first, size_t count);
/* Is the call of this name? Or does its name begin like this? */
bool measure__ranks_is_call(const ranks *r, const ranks_operation *o,
                            const char *name);
bool measure__ranks_is_like(const ranks *r, const ranks_operation *o,
                            const char *begin);

/* The first call of a thread that has not ended before this moment. */
size_t measure__ranks_call_at(const ranks *r, uint32_t thread, int64_t ns);

static inline uint64_t measure__ranks_bytes(const ranks *r,
                                            const ranks_operation *o)
{
    return scopes_event_at(r->t->streams[o->stream].events, o->event)->bytes;
}

/* Receives all of these, for one who has come at `from_ns`; when all have been
 * sent and it was there. */
int64_t measure__ranks_receive(traces *t, ranks_due *due, size_t count,
                               int64_t from_ns);

/* --- traces_pairs.c --- */

int measure__ranks_pair(ranks *r);
/* Whether messages that two processes send each other at the same time, so long
 * at least, go one after the other. */
bool measure__ranks_are_in_turns(const ranks *r, uint32_t a, uint32_t b,
                                 uint64_t bytes);

/* --- traces_meetings.c --- */

int measure__ranks_find_meetings(ranks *r);

/* --- traces_collectives.c --- */

/* How long its messages take, and when they are sent. */
int measure__ranks_model(ranks *r, ranks_meeting *m);
/* The steps of a member; when it would be done with them if it went on at once.
 */
int64_t measure__ranks_meet(ranks *r, const ranks_operation *o);
/* Adds what an operation receives of collectives that were started. */
size_t measure__ranks_complete(const ranks *r, uint32_t operation,
                               ranks_due *due);

/* --- traces_waiting.c --- */

/* How a thread waits in its calls; as one that sleeps, where its processor time
 * is not known. */
predict_waiting measure__ranks_waiting(const ranks *r, uint32_t process,
                                       uint32_t thread);

/* --- traces_ranks.c --- */

int measure__ranks_all(traces *t, int64_t wall_ns);

#endif
