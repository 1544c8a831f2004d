/* waiting_internal.h - whom each operation of a run needs, and how long it
 * waited for him, by the names of the wait states of Scalasca.
 *
 * Operations are those that the view communication has, of the collectors at
 * the tops of threads' paths. An operation needs
 *
 *   a message   the operation that sent it. Of MPI programs that is known
 *               exactly, from what both ends have left (message_pairs.h); else
 *               it is told at the element (cause_internal.h). In the same way a
 *               write into a full element needs the read that made room
 *   a meeting   all operations of its round of a collective
 *
 * A send of MPI that may block needs its receive if that began before the send
 * had ended, as far as clocks can tell: then it may have been held until then.
 * MPI_Ssend also needs it on an ideal network.
 *
 * A wait is that part of an operation that came before the operation that it
 * waited for had begun, no more than until its own end. Operations that begin
 * and end together, such as the receives of one MPI_Waitall or those that the
 * root of a reduction has, are one call, which waited for the last of those it
 * needed; so the waits of a thread do not overlap.
 *
 *   late sender       a receive, for the send
 *   late receiver     a send, for the receive; a write, for room
 *   wait at barrier   for the last one who came
 *   wait at N x N     the same, of other collectives that all wait in
 *   early reduce      who gets a result, for one who only brings something
 *   late broadcast    who gets something, for the root
 *   early scan        a rank, for the one below
 *
 * Times are compared by aligned clocks.
 *
 * Threads:   may be read by any once made.
 * Ownership: make gives, destroy takes back; all of the input is borrowed. */
#ifndef SCOPES_WAITING_INTERNAL_H
#define SCOPES_WAITING_INTERNAL_H

#include "eventspace/run/run.h"
#include "scopes/causality/communication_times.h"
#include "scopes/causality/rounds.h"

typedef struct scopes__waiting_input {
    const scopes_topology *topology;
    const scopes_event_table *event_table;
    const scopes_clocks *clocks;
    const scopes_scheduling *scheduling; /* NULL: not known */
    const eventspace_run *run;           /* for its messages; NULL: it has none
                                          */
} scopes__waiting_input;

/* A round of a collective. It has of `last` what is asked for by all who met:
 * operations lie by thread, so each other look would be at memory far away. */
typedef struct scopes__meeting {
    int64_t last_ns; /* when it began */
    uint32_t last;   /* the operation for which all waited; SCOPES_MISSING */
    uint32_t top;    /* of its path */
    uint32_t site;   /* the root of its tree */
    uint16_t verb;
} scopes__meeting;

enum {
    SCOPES__BEGINS = 1,    /* no other of the thread was under way */
    SCOPES__MAY_BLOCK = 2, /* a send that may have waited for its receive */
    SCOPES__BLOCKS = 4,    /* it always does, on any network */
    SCOPES__MEETS = 8,     /* it is in a round of a collective */
};

typedef enum scopes__wait_kind {
    SCOPES__LATE_SENDER,
    SCOPES__LATE_RECEIVER,
    SCOPES__WAIT_AT_BARRIER,
    SCOPES__WAIT_AT_NXN,
    SCOPES__EARLY_REDUCE,
    SCOPES__LATE_BROADCAST,
    SCOPES__EARLY_SCAN,
} scopes__wait_kind;

/* In half a line of memory, with all that is asked for of each wait. */
typedef struct scopes__wait {
    int64_t from_ns, to_ns;
    uint32_t operation;      /* that waited */
    uint32_t other;          /* for which it did, of another thread */
    uint32_t top;            /* of its path */
    uint32_t other_top : 28; /* of the other's */
    uint32_t kind : 4;       /* a scopes__wait_kind */
} scopes__wait;

typedef struct scopes__waiting {
    bool kept; /* for others: see scopes_views_make */
    scopes__waiting_input in;
    scopes_communication *times; /* with all operations */
    bool times_kept; /* for others, and may be gone before this is */
    uint32_t count;  /* of operations */
    uint32_t *tops;  /* by path of `times`: its position in topology->tops */
    bool *dense;     /* by thread: the numbers of its operations ascend by 1 */
    uint8_t *flags;
    uint32_t *needs; /* by operation: another, or of those that meet in a round
                        that one; SCOPES_MISSING: nothing */
    scopes__meeting *met;
    uint32_t met_count;
    uint8_t *members; /* bits: [site * threads + thread] */
    uint32_t *lines;  /* of the program, by position in topology->tops;
                         SCOPES_MISSING: not known */
    uint32_t line_count;
    uint8_t *callers;    /* bits: [line * threads + thread] */
    scopes__wait *waits; /* by thread, then by time */
    uint32_t wait_count;
    uint32_t *first_waits; /* by thread; one more at the end */
} scopes__waiting;

/* Errors: PASTSET_ENOMEM, PASTSET_ENOSPC, PASTSET_ELIMIT (more operations than
 * can be numbered). */
int scopes__waiting_create(scopes__waiting **out,
                           const scopes__waiting_input *input);
/* NULL is allowed. */
void scopes__waiting_destroy(scopes__waiting *waiting);

const char *scopes__wait_kind_name(scopes__wait_kind kind);

static inline const scopes_operation *
scopes__waiting_operation(const scopes__waiting *w, uint32_t operation)
{
    return &w->times->operations[operation];
}

/* The top of its path: its position in topology->tops; and that. */
static inline uint32_t scopes__waiting_top_number(const scopes__waiting *w,
                                                  uint32_t operation)
{
    return w->tops[w->times->operations[operation].path];
}

static inline const scopes_top *scopes__waiting_top(const scopes__waiting *w,
                                                    uint32_t operation)
{
    return &w->in.topology->tops[scopes__waiting_top_number(w, operation)];
}

/* The round it is in; SCOPES_MISSING. */
static inline uint32_t scopes__waiting_meeting(const scopes__waiting *w,
                                               uint32_t operation)
{
    return w->flags[operation] & SCOPES__MEETS ? w->needs[operation]
                                               : SCOPES_MISSING;
}

/* The one that it needs; SCOPES_MISSING. */
static inline uint32_t scopes__waiting_other(const scopes__waiting *w,
                                             uint32_t operation)
{
    return w->flags[operation] & SCOPES__MEETS ? SCOPES_MISSING
                                               : w->needs[operation];
}

/* How long its thread had computed when it began: nearly always since the one
 * before. */
static inline int64_t scopes__waiting_gap_ns(const scopes__waiting *w,
                                             const scopes_thread *thread,
                                             uint32_t operation)
{
    const scopes_operation *items = w->times->operations;
    int64_t busy_until = thread->start_ns;

    if (!(w->flags[operation] & SCOPES__BEGINS))
        return 0;
    for (uint32_t i = operation; i-- > thread->operation;) {
        if (items[i].end_ns > busy_until)
            busy_until = items[i].end_ns;
        if (w->flags[i] & SCOPES__BEGINS)
            break;
    }
    return items[operation].start_ns - busy_until;
}

/* The operation of a thread with this number; SCOPES_MISSING. */
uint32_t scopes__waiting_find(const scopes__waiting *w, uint32_t thread,
                              uint32_t sequence);

/* Does the thread take part in the collective? */
static inline bool scopes__waiting_joins(const scopes__waiting *w,
                                         uint32_t site, uint32_t thread)
{
    size_t bit = (size_t)site * w->in.topology->thread_count + thread;

    return w->members[bit / 8] >> (bit % 8) & 1;
}

/* Does the thread call in that line, too? */
static inline bool scopes__waiting_calls_in(const scopes__waiting *w,
                                            uint32_t line, uint32_t thread)
{
    size_t bit = (size_t)line * w->in.topology->thread_count + thread;

    return w->callers[bit / 8] >> (bit % 8) & 1;
}

/* --- parts of making it --- */

/* Its operations, of which it is not known what they need
 * (waiting_operations.c). */
int scopes__waiting_operations(scopes__waiting *w);
/* Who needs whom at elements and in collectives (needs.c), and by messages
 * (needs_messages.c). */
int scopes__waiting_needs(scopes__waiting *w);
int scopes__waiting_messages(scopes__waiting *w);
/* In which lines of the program they stand (call_lines.c). */
int scopes__waiting_lines(scopes__waiting *w);
/* The waits of what is needed (wait_list.c). */
int scopes__waiting_list(scopes__waiting *w);

#endif
