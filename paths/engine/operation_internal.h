/* operation_internal.h - an operation, behind what wrapper.h shows of it, and
 * the stages through which it travels.
 *
 * An operation belongs to its home, the thread that submitted it, or to the
 * loop when it came from another process. Held operations are in one list per
 * process, under one lock, so that they can be ended when the run ends; those
 * whose threads wait at the gate of a collective are known to that alone. */
#ifndef PATHS_OPERATION_INTERNAL_H
#define PATHS_OPERATION_INTERNAL_H

#include <stdatomic.h>

#include "paths/engine/gate_internal.h"
#include "paths/paths.h"
#include "paths/wrappers/wrapper.h"
#include "pastset/element.h"
#include "pastset/request.h"

typedef struct operation operation;
typedef struct connection connection;
typedef struct thread_link thread_link;
typedef struct peer peer;

/* Nobody is left to write what reads wait for, or to read what writes do. */
enum { ORPHANED_READS = 1, ORPHANED_WRITES = 2 };

struct paths_stage {
    /* What each operation touches. */
    int (*down)(paths_stage *stage, paths_operation *op, uint64_t *note);
    int (*up)(paths_stage *stage, paths_operation *op, uint64_t *note);
    paths_stage *next; /* NULL: an element, or the next is on another process.
                          Of a source, owned: what refuses all that it passes */
    bool holds;        /* may hold: its type has a `drop` */
    bool joins;        /* of a type that joins */
    bool leads;        /* and so does one that follows it */
    bool proxy;        /* the next is on another process */
    _Atomic bool left; /* a proxy: nobody comes to those rounds any more */
    bool entry;        /* operations of other processes come in here */
    bool ready;        /* its type's `init` went well: `fini` is due */
    pastset_element *element; /* of element stages */
    _Atomic uint8_t orphaned; /* of element stages: ORPHANED_ */
    void *state;
    uint32_t input;     /* of a stage of a node that joins: the way in */
    paths_stage *ports; /* of the first stage of such a node: those of its ways
                           in, in order */

    void *process_state;   /* of its type; see wrappers/state.c */
    pastset_type *answers; /* of sources: the type of their tuples; owned */
    const paths_wrapper_type *type;
    paths_process *process;
    uint32_t node;
    uint32_t far_process, far_node; /* of proxies: where the next stage is */
};

typedef struct route_entry {
    paths_stage *stage;
    uint64_t note;
} route_entry;

/* Entries of a route: for the stages of a path, and for what stands below a
 * source. */
#define ROUTE_ENTRIES (PATHS_STAGES_MAX + 1)

/* An operation, behind what wrapper.h shows of it. */
struct operation {
    paths_operation op;      /* first */
    paths_stage *stage;      /* the one it is at on its way down */
    paths_thread *home;      /* NULL: it came from another process */
    uint16_t depth;          /* route entries below its place on the way up */
    uint16_t home_depth;     /* of these, the ones that its home ran */
    uint16_t carry_depth;    /* and those below the first collective for which
                                it goes on; PATHS_STAGES_MAX + 1: none */
    bool rising;             /* held on its way up */
    bool left;               /* its home let go of it */
    bool late;               /* its home does not watch its deadline, or no
                                longer */
    bool done;               /* at the top; home only */
    bool asynchronous;       /* started by paths_start */
    pastset_request request; /* at its element */
    uint64_t asked;          /* index that was asked for */
    size_t answer_bytes;     /* at a source: that it has room for, if... */
    bool answered;           /* it has asked for room */
    char *text; /* of a failure on another thread or process; owned */

    /* Its home waits at this gate until it is no longer at `gate_value`. */
    paths_gate *gate;
    uint32_t gate_value;
    uint8_t timeout;          /* at gates; stays from one call to the next */
    operation *next_released; /* while a collective lets go of its round */

    /* At the top of an operation that came from another process: sends the
     * reply, and frees it. */
    void (*complete)(operation *o);
    void *(*capacity)(operation *o,
                      size_t bytes); /* for a tuple; may be NULL */
    connection *from;                /* whose request it is; referenced */
    unsigned char *reply;            /* header and tuple */
    size_t reply_capacity;
    const void *answer; /* of an exchange: its result; in place of `reply` */
    uint32_t from_id;   /* of the request on `from` */
    uint32_t id;        /* of the request on a link, to the next process */

    paths_path *path; /* home only */
    paths_arguments *arguments;
    paths_done *callback;
    void *context;
    operation *mail; /* the next in its home's mailbox */

    const paths_stage *let_go; /* where its home let go of it, if `left` */

    /* Of paths_start, until it is done; home only. */
    uint64_t begun; /* ticks */
    operation *older, *younger;

    /* Guarded by process->held_lock. */
    operation *held_next, *held_previous;
    bool held;
    bool timed;     /* `due_ns` resumes it; else ends it */
    int64_t due_ns; /* 0: no timer */
    uint64_t due_order;
    uint32_t heap_at; /* its place in the heap, plus one; 0: none */

    operation *pending_next, *pending_previous; /* waits for its reply */
    thread_link *on_link;                       /* of its thread */
    peer *on_peer;           /* whose `link` it waits on; held_lock */
    pastset_pattern pattern; /* of a request from another process */
    route_entry *route;
};

static inline operation *operation_of(paths_operation *op)
{
    return (operation *)(void *)op;
}

/* Does it bring a tuple down? Else it fetches one. */
static inline bool brings_tuple(const paths_operation *op)
{
    return op->verb == PASTSET_WRITE || op->verb == PASTSET_EXCHANGE;
}

/* Would an operation wait in vain at this element? */
static inline bool is_orphaned(const paths_stage *stage,
                               const paths_operation *op)
{
    return atomic_load(&stage->orphaned) &
           (brings_tuple(op) ? ORPHANED_WRITES : ORPHANED_READS);
}

/* --- those that wait for replies --- */

/* Operations that wait for their replies on a link, the oldest first: replies
 * mostly come in that order. */
typedef struct pending_list {
    operation *first, *last;
} pending_list;

static inline void pending_add(pending_list *list, operation *o)
{
    o->pending_next = NULL;
    o->pending_previous = list->last;
    if (list->last)
        list->last->pending_next = o;
    else
        list->first = o;
    list->last = o;
}

/* It must be in the list. */
static inline void pending_take(pending_list *list, operation *o)
{
    if (o->pending_previous)
        o->pending_previous->pending_next = o->pending_next;
    else
        list->first = o->pending_next;
    if (o->pending_next)
        o->pending_next->pending_previous = o->pending_previous;
    else
        list->last = o->pending_previous;
}

static inline operation *pending_find(const pending_list *list, uint32_t id)
{
    operation *o = list->first;

    while (o && o->id != id)
        o = o->pending_next;
    return o;
}

/* --- outcome.c: how it ends --- */

/* Keeps this thread's error text with the operation, for whoever reports it. */
void paths__keep_text(operation *o, int status);
/* In place of what it brought down: who answers knows better. */
void paths__replace_text(operation *o, int status);
/* What an exchange brings back: to its home's buffer, or for the reply. The
 * bytes must stay until it is at the top. Errors: PASTSET_EROOM. */
int paths__answer(operation *o, const void *result, size_t bytes);

/* --- operation.c: the engine --- */

enum { RUN_DONE = 1, RUN_HELD = 0 };

/* Runs an operation down from `o->stage` and up again, on this thread, until
 * it is at the top (RUN_DONE) or held (RUN_HELD: do not touch it). */
int paths__run(operation *o);
/* A held operation is complete: up it goes from here, also with an error. */
void paths__complete(operation *o, int status);
/* Goes on upwards with an operation of this thread, on this thread. */
void paths__bring_up(operation *o);
/* It is at the top, on the thread that submitted it. */
void paths__finished(operation *o);

#endif
