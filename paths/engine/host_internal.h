/* host_internal.h - a host and what is in it, as the files of paths see it.
 *
 * Who runs what. An executor is a thread that runs operations: the network
 * loop (number 0) or a thread of the application. An application thread has
 * blocking links of its own to other hosts, so that no hand-over between
 * threads stands on the way of a remote operation: it sends its request and
 * reads its reply itself. The loop has links too, for operations that it
 * carries on: those that a delay held, and those that came from another host
 * and go to a third.
 *
 * An operation belongs to its home, the thread that submitted it, or to the
 * loop when it came from another host. Held operations are in one list per
 * host, under one lock, so that they can be ended when the run ends; those
 * whose threads wait at the gate of a collective are known to that alone. */
#ifndef PATHS_HOST_INTERNAL_H
#define PATHS_HOST_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>
#include <uv.h>

#include "paths/engine/executor.h"
#include "paths/engine/gate_internal.h"
#include "paths/engine/host.h"
#include "paths/net/wire_internal.h"
#include "pastset/append.h"
#include "pastset/waiter.h"

typedef struct operation operation;
typedef struct thread_link thread_link;
typedef struct peer peer;
typedef struct type_state type_state;

/* Nobody is left to write what reads wait for, or to read what writes do. */
enum { ORPHANED_READS = 1, ORPHANED_WRITES = 2 };

struct paths_stage {
    /* What each operation touches. */
    int (*down)(paths_stage *stage, paths_operation *op, uint64_t *note);
    int (*up)(paths_stage *stage, paths_operation *op, uint64_t *note);
    paths_stage *next; /* NULL: an element, or the next is on another host. Of
                          a source, owned: what refuses all that it passes */
    bool holds;        /* may hold: its type has a `drop` */
    bool joins;        /* of a type that joins */
    bool leads;        /* and so does one that follows it */
    _Atomic bool left; /* a proxy: nobody comes to those rounds any more */
    bool entry;        /* operations of other hosts come in here */
    bool ready;        /* its type's `init` went well: `fini` is due */
    pastset_element *element; /* of element stages */
    _Atomic uint8_t orphaned; /* of element stages: ORPHANED_ */
    void *state;
    uint32_t input;     /* of a stage of a node that joins: the way in */
    paths_stage *ports; /* of the first stage of such a node: those of its ways
                           in, in order */

    void *host_state;      /* of its type; see wrappers/state.c */
    pastset_type *answers; /* of sources: the type of their tuples; owned */
    const paths_wrapper_type *type;
    paths_host *host;
    uint32_t node;
    uint32_t far_host, far_node; /* of proxies: where the next stage is */
};

typedef struct executor {
    uint32_t number;      /* 0: the loop */
    paths_thread *thread; /* NULL: the loop */
    paths_host *host;

    /* Notes of what it is in; see executor.h. Its own. */
    pastset_appender *notes; /* NULL: it makes none */
    uint64_t noted_since;
    uint32_t noted_sequence; /* of the operation that the last note is about */
    bool noted;              /* the last note is not that it goes on */
} executor;

extern _Thread_local executor *paths__current;
/* Sets it for the calling thread, or (NULL) takes it away. */
void paths__current_set(executor *e);

typedef struct route_entry {
    paths_stage *stage;
    uint64_t note;
} route_entry;

/* An operation, behind what wrapper.h shows of it. */
struct operation {
    paths_operation op;      /* first */
    paths_stage *stage;      /* the one it is at on its way down */
    paths_thread *home;      /* NULL: it came from another host */
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
    char *text;              /* of a failure on another thread or host; owned */

    /* Its home waits at this gate until it is no longer at `gate_value`. */
    paths_gate *gate;
    uint32_t gate_value;
    uint8_t timeout;          /* at gates; stays from one call to the next */
    operation *next_released; /* while a collective lets go of its round */

    /* At the top of an operation that came from another host: sends the
     * reply, and frees it. */
    void (*complete)(operation *o);
    void *(*capacity)(operation *o,
                      size_t bytes); /* for a tuple; may be NULL */
    connection *from;                /* whose request it is; referenced */
    unsigned char *reply;            /* header and tuple */
    size_t reply_capacity;
    const void *answer; /* of an exchange: its result; in place of `reply` */
    uint32_t from_id;   /* of the request on `from` */
    uint32_t id;        /* of the request on a link, to the next host */

    paths_path *path; /* home only */
    paths_arguments *arguments;
    paths_done *callback;
    void *context;
    operation *mail; /* the next in its home's mailbox */

    const paths_stage *let_go; /* where its home let go of it, if `left` */

    /* Of paths_start, until it is done; home only. */
    uint64_t begun; /* ticks */
    operation *older, *younger;

    /* Guarded by host->held_lock. */
    operation *held_next, *held_previous;
    bool held;
    bool timed;     /* `due_ns` resumes it; else ends it */
    int64_t due_ns; /* 0: no timer */
    uint64_t due_order;
    uint32_t heap_at; /* its place in the heap, plus one; 0: none */

    operation *pending_next, *pending_previous; /* waits for its reply */
    thread_link *on_link;                       /* of its thread */
    peer *on_peer;           /* whose `link` it waits on; held_lock */
    pastset_pattern pattern; /* of a request from another host */
    route_entry *route;
};

struct paths_path {
    paths_thread *thread;
    paths_path *next; /* of its thread */
    uint32_t edge;    /* of the map, from the thread */
    char *name;
    char *description;
    paths_stage *first;
    const pastset_type *type;
    uint32_t verbs;      /* that the map allows, a bit for each */
    uint32_t read_bytes; /* what a read of it brings, at most */
    pastset_cursor cursor;
    operation call; /* the one of paths_call */
    route_entry route[PATHS_STAGES_MAX];
};

struct paths_thread {
    executor executor;
    paths_host *host;
    const paths_map_node *node;
    uint32_t number;
    uint32_t sequence; /* of its last operation */
    paths_path *paths;
    thread_link **links;  /* to each host of the map; NULL: none yet */
    uint32_t pending;     /* operations that wait for a reply on its links */
    uint32_t under_way;   /* started by paths_start, not yet done */
    int64_t links_due_ns; /* the earliest deadline of these on links; 0: none */
    struct pollfd *poll_fds; /* to wait on its links; NULL: it has none */

    operation *oldest, *youngest; /* of these */

    operation *finished, *finished_last; /* of these: paths_poll's */

    /* Operations that others completed and this thread has to bring up. */
    _Atomic(operation *) mailbox;
    pastset_waiter waiter;
    int event_fd; /* rings instead, while it is in poll; -1: it has no links */
    _Atomic bool in_poll;

    pthread_t id;
    bool started;
    _Atomic bool ended;
    bool ended_told; /* loop only */
    paths_main *program;
    void *argument;
    int status;
};

/* Operations that wait for their replies on a link, the oldest first: replies
 * mostly come in that order. */
typedef struct pending_list {
    operation *first, *last;
} pending_list;

typedef struct heap {
    operation **items;
    uint32_t count, capacity;
    uint64_t order; /* of the next that is put in */
} heap;

/* Another host of the run, as this one sees it. */
struct peer {
    connection *link;     /* the loop's link to it; NULL: none */
    pending_list pending; /* wait for a reply on `link`; held_lock */
    connection *member;   /* coordinator: its membership connection */
    paths_join join;      /* coordinator: has it joined */
    bool done;            /* coordinator: its threads have ended */
    bool loop_needs;      /* the loop carries operations to it */
    _Atomic bool dead;    /* set by the loop, after `why` */
    char *why;            /* it died; guarded by failure_lock */
};

struct paths_host {
    const paths_map *map;
    uint32_t self;                     /* in the map */
    uint32_t host_count, thread_count; /* of the map; here */
    uint32_t map_threads;
    uint64_t digest;
    uint8_t key[PATHS_KEY_BYTES];
    bool polling;
    uint32_t connect_timeout_ms, refused_ms;
    uint32_t largest_bytes; /* of a tuple of any element of the map */

    pastset_space *space;
    paths_stage **stages;  /* by node; NULL: not here */
    paths_stage **entries; /* by edge: where it leads in; NULL: not here */
    uint32_t *numbers;     /* of each node, on the wire: its rank by name */
    uint32_t *numbered;    /* and the node of each number */
    uint32_t *verbs;       /* that may come through each node */
    const paths_wrapper_context *contexts; /* while it is started; or NULL */
    type_state *type_states;
    bool oversubscribed; /* this machine has more threads than processors */
    paths_thread *threads;
    executor loop_executor;
    uint64_t (*ticks)(void); /* of notes; NULL: no notes */

    peer *peers;         /* by host of the map */
    bool *ended_threads; /* by node of the map, as far as it is known here:
                            only once a host has died; loop only */
    bool bereaved;       /* one has; loop only */

    uv_loop_t loop;
    uv_poll_t listener;
    uv_poll_t timer;
    uv_async_t wakeup;
    uv_timer_t tidy; /* closes connections that do not get on */
    uv_prepare_t rest;
    int listen_fd, timer_fd;
    bool listening; /* false: out of descriptors, until the next tidying */
    connection *connections;     /* loop only */
    _Atomic(connection *) flush; /* have output that others queued */
    uint64_t since_ms;           /* loop time when it began to run */
    uint64_t failed_ms;          /* loop time when it told its failure */
    uint32_t unauthenticated;    /* connections before their proof */
    uint32_t turned_away;        /* those that cannot be of the run; */
    const char *turned_away_why; /* the last one */
    bool loop_open, closing;

    pthread_t connector; /* makes the loop's links, before the threads run */
    _Atomic int connector_state; /* see join.c */
    char connector_text[512];
    int *connector_fds; /* its connections, until the loop takes them over */
    bool begun; /* the connector is done: the threads run, or it has failed */
    int launcher_fd; /* a socket to whoever started this process; -1: none */
    uv_poll_t launcher;
    _Atomic uint32_t linger_ms; /* that a coordinator which failed waits for
                                   hosts that have not come yet */
    bool ended, told_done;
    _Atomic uint32_t threads_running;

    pthread_mutex_t held_lock;
    bool links_adopted; /* guarded by held_lock, as all below: the loop has
                           its links to other hosts */
    operation *held;
    uint32_t held_count, held_max;
    heap timers;
    int64_t timer_set_ns; /* what timer_fd is set to; 0: nothing */

    _Atomic int failed; /* 0, or the status that ends the run */
    pthread_mutex_t failure_lock;
    char failure[1024]; /* guarded by failure_lock, as is the next */
    char thread_failure[1024];
    char loss[1024];   /* the last host that died, and why; "": none */
    bool failure_told; /* loop only: the other hosts know */
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

static inline const char *host_name(const paths_host *host, uint32_t index)
{
    return host->map->hosts[index].name;
}

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

/* --- operation.c: the engine --- */

enum { RUN_DONE = 1, RUN_HELD = 0 };

/* Runs an operation down from `o->stage` and up again, on this thread, until
 * it is at the top (RUN_DONE) or held (RUN_HELD: do not touch it). */
int paths__run(operation *o);
/* Goes on upwards. */
int paths__rise(operation *o);
/* Keeps this thread's error text with the operation, for whoever reports it. */
void paths__keep_text(operation *o, int status);
/* In place of what it brought down: who answers knows better. */
void paths__replace_text(operation *o, int status);
/* What an exchange brings back: to its home's buffer, or for the reply. The
 * bytes must stay until it is at the top. Errors: PASTSET_EROOM. */
int paths__answer(operation *o, const void *result, size_t bytes);
/* A held operation is complete: up it goes from here, also with an error. */
void paths__complete(operation *o, int status);
/* Puts it in its home's mailbox and wakes it. */
void paths__post(operation *o);

/* --- executor.c: notes of what executors are in --- */

int paths__executors_make(paths_host *host);
/* About to wait for an operation. Its home. */
void paths__executor_waits(executor *e, const operation *o);
/* About to connect to a host. */
void paths__executor_connects(executor *e, uint32_t to);
/* The loop: about to carry an operation on. */
void paths__executor_runs(executor *e, const operation *o);
void paths__executor_is(executor *e, paths_activity activity);

/* Goes on, if it has noted that it waits. */
static inline void paths__executor_goes_on(executor *e)
{
    if (e->noted)
        paths__executor_is(e, PATHS_COMPUTING);
}

/* --- held.c: held operations and their timers --- */

/* Another host that does not answer by a deadline and this is given up: it
 * ends the operation itself, and knows better why. */
#define PATHS__GRACE_NS 2000000000

/* Before an operation is held: puts it in the list, sets its deadline.
 * Errors: PASTSET_ELIMIT, and the host's failure. */
int paths__hold(operation *o);
/* It is no longer held. */
void paths__unhold(operation *o);
/* It was not held after all, so that its home has not let go of it, unless it
 * had (`left`) before. */
void paths__unhold_again(operation *o, bool left);
/* Ends it if it is still held: its deadline passed. Its home. */
void paths__end(operation *o, int status);
/* Ends every held operation, because the run ends or has ended. */
void paths__end_all(paths_host *host);
/* Ends those that came over a connection that is closed. */
void paths__end_from(paths_host *host, const connection *from);
/* Ends those of which `is` is true, with the error and its text. */
void paths__end_those(paths_host *host,
                      bool (*is)(const operation *o, const void *context),
                      const void *context, int status, const char *text);
/* The loop: what is due. */
void paths__timers_run(paths_host *host);
void paths__timers_fini(paths_host *host);

/* --- bind.c: from map to stages --- */

int paths__bind(paths_host *host);
void paths__unbind(paths_host *host);
/* "t3 -> proxy -> down_3 on h1"; to be freed. NULL: out of memory. */
char *paths__describe(const paths_map *map, uint32_t edge);
/* The type of the tuples of an element or a source, wherever it lives. */
int paths__element_type_of(const paths_map *map, uint32_t node,
                           pastset_type *out);

/* --- wrappers/state.c: of stages, and of types --- */

/* Zeroed, in cache lines of its own: for types that keep apart what several
 * threads write. To be freed; NULL: out of memory. */
void *paths__state_alloc(size_t bytes);
/* What all stages of a type on this host share, made when there is none yet;
 * NULL: the type has none.
 * Errors: PASTSET_ENOMEM, those of its host_init. */
int paths__type_state_get(paths_host *host, const paths_wrapper_type *type,
                          void **out);
void paths__type_states_fini(paths_host *host);

/* --- wrappers/answer.c: the stages of source types --- */

/* Errors: PASTSET_ENOMEM, PASTSET_EINVAL. After these too, fini. */
int paths__source_init(paths_stage *stage);
void paths__source_fini(paths_stage *stage);

/* --- uses.c: what the map allows --- */

/* The verbs that the `use` of an edge allows, a bit for each. */
uint32_t paths__uses_verbs(const paths_map_edge *edge);
/* Finds what may come through each node: host->verbs. */
int paths__uses_make(paths_host *host);
/* The error of an operation that the map does not allow. */
int paths__uses_refuse(const paths_path *path, unsigned verb);

static inline bool is_allowed(uint32_t verbs, unsigned verb)
{
    return verbs >> (verb & 31) & 1;
}

/* --- thread.c --- */

void *paths__thread_run(void *thread);
void paths__thread_fini(paths_thread *thread);
/* Goes on upwards with an operation of this thread, on this thread. */
void paths__thread_bring_up(paths_thread *self, operation *o);
/* It is at the top, on this thread. */
void paths__thread_finished(paths_thread *self, operation *o);
/* Shuts its links, so that a wait on them ends. Any thread. */
void paths__thread_interrupt(paths_thread *thread);

/* --- link.c: the blocking links of threads --- */

int paths__link_open(paths_thread *thread, uint32_t host);
void paths__link_close(thread_link *link);
int paths__link_send(thread_link *link, operation *o, const paths_stage *proxy);
/* Reads replies until `o`, which waits on a link, is done, or the mailbox has
 * something. False: the deadline that stands in it passed, and the other host
 * did not answer in its time of grace either. */
bool paths__links_wait(paths_thread *thread, const operation *o);
/* The same for any operation of paths_start; false: the deadline passed. Those
 * whose own deadline passes are ended. */
bool paths__links_wait_any(paths_thread *thread, int64_t deadline_ns);
/* An operation of paths_start waits on a link, and may have a deadline. */
void paths__links_watch(paths_thread *thread, const operation *o);
/* Its deadline passed: takes it off its link, and up it goes. What comes of a
 * reply is ignored. */
void paths__link_give_up(operation *o);
void paths__link_interrupt(thread_link *link);
/* Fills in the header of a request; gives its payload. */
const void *paths__request_header(wire_header *header, operation *o,
                                  const paths_stage *proxy);
/* Takes what the header of a reply says into the operation. */
void paths__reply_take(operation *o, const wire_header *header);
/* Where the tuple of a reply goes (NULL: away). False: more than was asked. */
bool paths__reply_target(const operation *o, size_t bytes, void **out);
void paths__socket_tune(int fd);
/* Connects, proves the key, is let in. Blocking; any thread. It ends early
 * when the run fails, and when that host is known to have died. */
int paths__connect(paths_host *host, uint32_t to, uint16_t role, int *fd);

/* --- serve.c: requests of other hosts; replies to the loop --- */

/* The loop's links are lost / closed: their operations fail. */
void paths__serve_lost(connection *c, const char *why);
/* The loop's link to a host is there: sends what came in before it was. */
void paths__serve_linked(paths_host *host, peer *p, connection *link);
/* There will be none: that host has died. */
void paths__serve_unlinked(paths_host *host, uint32_t other);
/* The loop's way through a proxy. Any thread that holds `o`. */
int paths__serve_send(paths_host *host, operation *o, const paths_stage *proxy);
bool paths__serve_forget(paths_host *host, operation *o);
/* Tells the host behind a proxy that nobody contributes that way any more. */
void paths__serve_left(const paths_stage *proxy, const char *why);

/* --- wrappers/collective.c: rounds --- */

/* What a read brings by a way that begins with a node: of a scatter, a block
 * of the element's tuple. Errors: PASTSET_ENOMEM. */
int paths__collective_read_bytes(const paths_map *map, uint32_t node,
                                 const pastset_type *type, uint32_t *out);
bool paths__joins(const paths_map_node *node);
/* Has a host a part in the tree of a collective? */
bool paths__collective_touches(const paths_map *map, uint32_t node,
                               uint32_t host);
bool paths__leads_to_collective(const paths_map *map, uint32_t node);
/* Does an element have one way that leads to it, from a collective on its host
 * that writes, with nothing but collectors between? Its representatives follow
 * one another. */
bool paths__collective_writes_alone(const paths_map *map, uint32_t element);
/* The last collective of the way down from a node; itself, if there is none or
 * it is the last. */
uint32_t paths__collective_root(const paths_map *map, uint32_t node);
/* An operation that has passed the gate: takes its result; its status. */
int paths__collective_opened(paths_stage *stage, operation *o);
/* Every collective of this host fails from now on. Not under held_lock. */
void paths__collectives_end(paths_host *host);
/* Those in whose tree the host has a part fail: it died. */
void paths__collectives_gone(paths_host *host, uint32_t gone, const char *why);
/* Nobody contributes any more by this way, which leads through `stage`. */
void paths__collective_left(paths_stage *stage, const char *why);
/* A contribution has not come through `proxy`, or nobody knows whether it has,
 * by that error: from here on the next one could be counted in its round. So
 * there are no more rounds on that way. `o` NULL: not here, only beyond the
 * proxy. */
void paths__collective_lost_step(paths_stage *proxy, const operation *o,
                                 int err);

/* --- join.c: how a host joins the others --- */

/* Begins to connect. Errors: PASTSET_ENOMEM, PASTSET_ELIMIT. */
int paths__join_start(paths_host *host);
/* The loop: takes over what is connected. 1, once: all of it is there. Errors:
 * what went wrong, once. */
int paths__join_turn(paths_host *host);
/* The loop: the run fails when hosts have not come in time. */
void paths__join_late(paths_host *host);

/* --- launcher.c: the line to whoever started this process --- */

/* Takes the socket over. Errors: PASTSET_EINVAL. */
int paths__launcher_open(paths_host *host, int fd);
/* The loop: a host has joined, this one or, at the coordinator, another. */
void paths__launcher_tell(paths_host *host, uint32_t joined, paths_join state);

/* --- member.c: who is there, who is done, what failed --- */

/* Whoever connected has proven who it is. False: close it. */
bool paths__member_come(connection *c, const handshake_claim *claim);
/* DONE, END, FAILED and GONE. */
void paths__member_frame(connection *c);
void paths__member_lost(connection *c, const char *why);
/* The loop: looks whether the run can end, and tells the others what they
 * must know. */
void paths__member_turn(paths_host *host);
/* The run has failed, and everybody who can be told knows. */
bool paths__member_gone(const paths_host *host);

/* --- gone.c --- */

/* The loop: a host has died. */
void paths__gone(paths_host *host, uint32_t gone, const char *why);
/* The loop: a thread of the map has ended, after a host has died. */
void paths__gone_ended(paths_host *host, uint32_t node);
/* The error of an operation that would wait at a orphaned element. */
int paths__orphaned(paths_stage *stage);
/* The error of whoever waits for a host; 0: it has not died. Any thread. */
int paths__gone_why(paths_host *host, uint32_t other);

/* --- host.c --- */

/* A host that knows who it is and nothing more: it has no loop, no stages.
 * After an error too it is to be stopped, unless it is NULL. */
int paths__host_make(paths_host **out, const paths_host_options *options);
/* Its loop, listening at a socket that it takes over, or at its address. */
int paths__loop_open(paths_host *host, int listen_fd);
/* Runs the loop until the run is over for this host. */
void paths__loop_run(paths_host *host);

/* paths_host_fail, when a thread's program has failed: its text, which names
 * the path, is what the host reports in the end. */
void paths__host_fail_thread(paths_host *host, int status);
/* The failure's status, with its text as this thread's error. */
int paths__host_failure(paths_host *host);

#endif
