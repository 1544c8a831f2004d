/* process_internal.h - a process and what is in it, as the files of paths see
 * it.
 *
 * Who runs what. An application thread has blocking links of its own to other
 * processes, so that no hand-over between threads stands on the way of a remote
 * operation: it sends its request and reads its reply itself. The loop has
 * links too, for operations that it carries on: those that a delay held, and
 * those that came from another process and go to a third. */
#ifndef PATHS_PROCESS_INTERNAL_H
#define PATHS_PROCESS_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <uv.h>

#include "paths/engine/executor_internal.h"
#include "paths/engine/held_internal.h"
#include "paths/engine/process.h"
#include "paths/engine/thread_internal.h"
#include "paths/engine/wakeup_internal.h"

typedef struct connection_handler connection_handler;
typedef struct relay relay;
typedef struct type_state type_state;

/* Is a process there? */
typedef enum probe {
    PROBE_UNREACHABLE, /* it is not known */
    PROBE_REFUSED,     /* nobody listens at its address */
    PROBE_THERE
} probe;

/* Another process of the run, as this one sees it. */
struct peer {
    connection *link;     /* the loop's link to it; NULL: none */
    pending_list pending; /* wait for a reply on `link`; held_lock */
    connection *member;   /* coordinator: its membership connection */
    paths_join join;      /* coordinator: has it joined */
    bool done;            /* coordinator: its threads have ended */
    bool loop_needs;      /* the loop carries operations to it */
    _Atomic bool dead;    /* set by the loop, after `why` */
    char *why;            /* it died; guarded by failure_lock */
    uint64_t dead_ms;     /* loop time of that; loop only */
    char *lost;           /* coordinator: why its membership broke, while it is
                             not known whether it has died; NULL: it did not */
    uint64_t lost_ms;     /* loop time of that */
};

struct paths_process {
    const paths_map *map;
    uint32_t self;                        /* in the map */
    uint32_t process_count, thread_count; /* of the map; here */
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
    uint64_t (*ticks)(void);                /* of notes; NULL: no notes */
    void (*thread_begins)(uint32_t thread); /* or NULL */
    void (*thread_ends)(uint32_t thread, uint32_t operations);

    peer *peers;         /* by process of the map */
    uint32_t first;      /* the coordinator; loop only, as the next ones */
    bool has_succession; /* when that dies, another takes its place, */
    bool complete;       /* once all others have joined it, as is known here */
    uint64_t took_ms;    /* loop time when this one did, and others may not
                            have come yet; 0: no */
    bool *ended_threads; /* by node of the map, as far as it is known here:
                            only once a process has died; loop only */
    bool bereaved;       /* one has; loop only */

    uv_loop_t loop;
    uv_poll_t listener;
    uv_poll_t timer;
    wakeup wakeup;
    uv_timer_t tidy; /* closes connections that do not get on */
    uv_prepare_t rest;
    int listen_fd, timer_fd;
    bool listening; /* false: out of descriptors, until the next tidying */
    const connection_handler *handler; /* of what comes over connections */
    connection *connections;           /* loop only */
    _Atomic(connection *) flush;       /* have output that others queued */
    relay *relays;      /* of others by way of this one; loop only */
    uint64_t over_ms;   /* loop time when it would have ended, were it not for
                           these; 0: not yet */
    uint64_t since_ms;  /* loop time when it began to run */
    uint64_t failed_ms; /* loop time when it told its failure */
    uint32_t unauthenticated;    /* connections before their proof */
    uint32_t turned_away;        /* those that cannot be of the run; */
    const char *turned_away_why; /* the last one */
    bool loop_open; /* guarded by failure_lock once stages are made */
    bool closing;

    pthread_t connector; /* makes the loop's links, before the threads run */
    _Atomic int connector_state; /* see join.c */
    char connector_text[512];
    struct channel *connector_channels; /* its connections, until the loop takes
                                           them over */
    bool begun; /* the connector is done: the threads run, or it has failed */
    pthread_t rejoiner; /* joins the next coordinator, or, at that, finds out
                           who is there */
    bool rejoining;     /* it is there; loop only, as the next */
    bool probing;       /* as the latter */
    uint8_t *probes;    /* what it has found: by process, a probe */
    bool rejoin_refused;
    _Atomic int rejoin_state; /* as the connector's */
    char rejoin_text[512];
    int launcher_fd; /* a socket to whoever started this process; -1: none */
    uv_poll_t launcher;
    _Atomic uint32_t linger_ms; /* that a coordinator which failed waits for
                                   processes that have not come yet */
    bool ended, told_done;
    _Atomic uint32_t threads_running;

    pthread_mutex_t held_lock;
    bool links_adopted; /* guarded by held_lock, as all below: the loop has
                           its links to other processes */
    operation *held;
    uint32_t held_count, held_max;
    heap timers;
    int64_t timer_set_ns; /* what timer_fd is set to; 0: nothing */

    _Atomic int failed; /* 0, or the status that ends the run */
    pthread_mutex_t failure_lock;
    char failure[1024]; /* guarded by failure_lock, as is the next */
    char thread_failure[1024];
    char loss[1024];   /* the last process that died, and why; "": none */
    bool failure_told; /* loop only: the other processes have been told, */
    bool acknowledged; /* and the coordinator knows */
};

static inline const char *process_name(const paths_process *process,
                                       uint32_t index)
{
    return process->map->processes[index].name;
}

/* --- failure.c: why a run, or what waits for a process, ends --- */

/* paths_process_fail, when a thread's program has failed: its text, which names
 * the path, is what the process reports in the end. */
void paths__process_fail_thread(paths_process *process, int status);
/* The failure's status, with its text as this thread's error. */
int paths__process_failure(paths_process *process);

/* What stands behind "process NAME: ", if that is how the text begins; else
 * NULL. */
const char *paths__failure_of(const char *text, const char *name);
/* The error of whoever waits for a process; 0: it has not died. Any thread. */
int paths__gone_why(paths_process *process, uint32_t other);
/* The error of an operation that would wait at an orphaned element. */
int paths__orphaned(paths_stage *stage);

/* --- gone.c --- */

/* The loop: a process has died. */
void paths__gone(paths_process *process, uint32_t gone, const char *why);
/* The loop: a thread of the map has ended, after a process has died. */
void paths__gone_ended(paths_process *process, uint32_t node);

/* --- bind.c: from map to stages --- */

int paths__bind(paths_process *process);
void paths__unbind(paths_process *process);

/* --- wrappers/state.c: of stages, and of types --- */

/* Zeroed, in cache lines of its own: for types that keep apart what several
 * threads write. To be freed; NULL: out of memory. */
void *paths__state_alloc(size_t bytes);
/* What all stages of a type on this process share, made when there is none yet;
 * NULL: the type has none.
 * Errors: PASTSET_ENOMEM, those of its process_init. */
int paths__type_state_get(paths_process *process,
                          const paths_wrapper_type *type, void **out);
void paths__type_states_fini(paths_process *process);

/* --- wrappers/answer.c: the stages of source types --- */

/* Errors: PASTSET_ENOMEM, PASTSET_EINVAL. After these too, fini. */
int paths__source_init(paths_stage *stage);
void paths__source_fini(paths_stage *stage);
/* A source completes an operation with 0. Errors: PASTSET_ETYPE (it is a read,
 * and was given no tuple of the type). */
int paths__answer_check(operation *o);

/* --- process.c --- */

/* A process that knows who it is and nothing more: it has no loop, no stages.
 * After an error too it is to be stopped, unless it is NULL. */
int paths__process_create(paths_process **out,
                          const paths_process_options *options);
/* Its loop, listening at a socket that it takes over, or at its address. */
int paths__loop_open(paths_process *process, int listen_fd);
/* Runs the loop until the run is over for this process. */
void paths__loop_run(paths_process *process);

#endif
