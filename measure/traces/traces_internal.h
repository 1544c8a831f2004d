/* traces_internal.h - what the files of measure/traces share.
 *
 *     traces.c          from a run to a profile; messages for themselves
 *     traces_open.c     a run: what follows what, and who needs whom
 *     traces_steps.c    the steps of an operation, from collector to collector
 *     traces_loops.c    what network loops computed for which request
 *     traces_serve.c    what is done for others: requests, rounds
 *     traces_threads.c  a thread, from operation to operation
 *     traces_write.c    into the profile
 *     traces_ranks.c    what communicates without paths, in place of the steps
 *                       of paths (traces_ranks_internal.h)
 *
 * A `stream` is a collector with what follows it. Below its event stands either
 * the same operation at another collector, of this process or behind a proxy;
 * or a round of a collective; or an element. Each event has numbers for the
 * messages that it may need: those of a hop and those of a collective are
 * two, there and back; at an element it is one by which it is released, and
 * two with which its thread waits for it if it has several under way.
 *
 * Times are nanoseconds since the beginning of the profile. */
#ifndef MEASURE_TRACES_INTERNAL_H
#define MEASURE_TRACES_INTERNAL_H

#include "measure/traces/traces.h"
#include "scopes/causality/cause.h"
#include "scopes/reading/snapshot.h"
#include "scopes/causality/rounds.h"

#define TRACES_NONE UINT32_MAX

typedef enum traces_below {
    TRACES_NOTHING, /* nothing is known below */
    TRACES_LOCAL,   /* a collector of this process */
    TRACES_REMOTE,  /* a collector of another process */
    TRACES_SITE,
    TRACES_ELEMENT,
} traces_below;

typedef struct traces_stream {
    traces_below kind;
    scopes_events events;
    uint32_t count;
    uint32_t process;
    uint32_t lower;  /* LOCAL, REMOTE: the collector below */
    uint32_t *below; /* LOCAL, REMOTE: its event; MEETING: the round;
                        TRACES_NONE where it is missing */
    uint32_t site;   /* MEETING: its number, and by which way in */
    uint32_t input;
    uint32_t *release; /* ELEMENT: the first of those who need this event, by
                          the number of their message; NULL: nobody does */
    size_t messages;   /* the number of the first */
} traces_stream;

/* A message while steps are made. */
typedef struct traces_message {
    int64_t at_ns;
    int64_t wait_ns; /* it takes longer than is told otherwise */
    uint64_t bytes;
    uint32_t from, to;  /* processes */
    uint32_t next;      /* another one that is sent by the same event */
    int64_t loop_ns;    /* what the loop that serves it computed for it; */
    int64_t service_ns; /* of that, before the far process went on */
    bool sent;
} traces_message;

typedef struct traces_actor {
    uint32_t process;
    int64_t start_ns;
    size_t steps;
} traces_actor;

/* Somebody who may use a processor. */
typedef struct traces_runner {
    uint32_t process, thread; /* PATHS_NONE: the loop */
} traces_runner;

typedef struct traces_process {
    bool known;                              /* it came up */
    const char *machine, *library, *counter; /* "": not known */
    int64_t start_ns;
    uint32_t node;                /* of the profile */
    predict_waiting waiting;      /* of a rank */
    const traces_runner *runners; /* of its place, if these are more than it
                                     has processors; else NULL */
    uint32_t runner_count;
} traces_process;

/* An operation of a thread that is one of several under way: somebody else
 * waits for it at the element. */
typedef struct traces_spot {
    uint32_t stream, event;
} traces_spot;

typedef struct traces {
    scopes_snapshot *snapshot;
    const scopes_topology *topology;
    scopes_causes *causes;
    scopes_rounds **rounds;    /* by collective site */
    traces_stream *streams;    /* by collector */
    traces_process *processes; /* of the map */
    traces_runner *runners;
    int64_t shift_ns; /* to be added to times of the clocks */
    int64_t start_ns; /* wall clock, of the profile's beginning */
    int64_t last_ns;  /* an operation ended */
    bool has_paths;   /* else processes communicate by other means */
    measure_known_times times;

    traces_message *messages;
    size_t message_capacity;
    predict_step *steps;
    size_t step_count;
    traces_actor *actors;
    size_t actor_count;
    traces_spot *spots;
    size_t spot_count;
    int err; /* PASTSET_ENOMEM: a step or more could not be added */
} traces;

/* --- traces.c --- */

/* One message over a hop between processes, as collectors saw it: for comparing
 * with packets. Wall clock (REALTIME), aligned. */
typedef struct measure_hop_message {
    int64_t at_ns;
    uint64_t bytes;    /* with the header of the wire */
    uint32_t from, to; /* processes of the map */
    uint32_t thread;   /* whose operation */
    uint32_t sequence;
    int reply; /* 1: on the way back */
} measure_hop_message;

/* All of them, by time. The caller frees. */
int measure_traces_messages(measure_hop_message **out, size_t *count,
                            eventspace_run *run);

/* --- traces_open.c --- */

int measure__traces_no_memory(void);
/* Errors: those of measure_traces_add. Close it in any case. */
int measure__traces_open(traces *t, eventspace_run *run, int64_t start_ns);
void measure__traces_close(traces *t);

static inline int64_t measure__traces_ns(const traces *t, uint32_t process,
                                         uint64_t ticks)
{
    return scopes_clocks_ns(t->snapshot->clocks, process, ticks) + t->shift_ns;
}
static inline int64_t measure__traces_start(const traces *t, uint32_t stream,
                                            uint32_t e)
{
    const traces_stream *l = &t->streams[stream];
    return measure__traces_ns(t, l->process,
                              scopes_event_at(l->events, e)->start);
}
static inline int64_t measure__traces_end(const traces *t, uint32_t stream,
                                          uint32_t e)
{
    const traces_stream *l = &t->streams[stream];
    return measure__traces_ns(t, l->process,
                              scopes_event_at(l->events, e)->end);
}

static inline bool measure__traces_is_of(const traces *t, uint32_t thread,
                                         uint32_t process)
{
    uint32_t node = t->topology->threads[thread]; /* numbers may be left out */

    return node != PATHS_NONE &&
           t->topology->map->nodes[node].process == process;
}

/* The bytes of a request and of its reply, of an event above a proxy. */
uint64_t measure__traces_request_bytes(const traces *t, uint32_t stream,
                                       uint32_t event);
uint64_t measure__traces_reply_bytes(const traces *t, uint32_t stream,
                                     uint32_t event);

/* --- traces_steps.c --- */

/* Those that add do nothing once `err` is set. */
void measure__traces_actor(traces *t, uint32_t process, int64_t start_ns);
void measure__traces_compute(traces *t, int64_t ns);
void measure__traces_sleep(traces *t, int64_t ns);
void measure__traces_send(traces *t, size_t message, int64_t at_ns,
                          uint64_t bytes, uint32_t from, uint32_t to);
void measure__traces_receive(traces *t, size_t message);
/* One that had been sent for so long when its receiver came for it. */
void measure__traces_receive_early(traces *t, size_t message, int64_t early_ns);

/* Processor time of a thread or loop; 0 when it is not known. */
int64_t measure__traces_cpu(const traces *t, uint32_t process, uint32_t thread,
                            int64_t from_ns, int64_t to_ns);

/* What others had of its processors, if they are too many for them; at most
 * `max_ns`. */
int64_t measure__traces_others_cpu(const traces *t, uint32_t process,
                                   uint32_t thread, int64_t from_ns,
                                   int64_t to_ns, int64_t max_ns);

/* What a thread does after its last operation. */
void measure__traces_finish(traces *t, uint32_t process, uint32_t thread,
                            int64_t from_ns, int64_t wall_ns);

/* All that the operation does from this collector on, for the actor that was
 * begun last. `thread` is PATHS_NONE unless that is the thread itself. */
void measure__traces_pass(traces *t, uint32_t stream, uint32_t event,
                          uint32_t thread);
/* The same in two parts, for threads with several operations under way. It did
 * something else until `looked_ns`. */
void measure__traces_pass_begin(traces *t, uint32_t stream, uint32_t event);
void measure__traces_pass_end(traces *t, uint32_t stream, uint32_t event,
                              int64_t looked_ns);
/* How a hop's time divides: what its thread, which needed so much processor
 * time, computes before and after. What the other process's loop does and the
 * rest is noted with the messages. */
typedef struct traces_hop {
    int64_t before, after;
} traces_hop;
traces_hop measure__traces_divide(traces *t, traces_spot at, int64_t cpu_ns);
/* Needs those whom it needs at an element, and releases others. */
void measure__traces_at_element(traces *t, traces_spot at);

/* --- traces_loops.c --- */

/* Fills in `loop_ns` of the messages of all requests and replies. */
int measure__traces_loops(traces *t);

/* --- traces_serve.c --- */

/* What serving takes; before any steps are made. */
int measure__traces_serve_prepare(traces *t);
void measure__traces_serve_all(traces *t);

/* --- traces_threads.c --- */

int measure__traces_threads_all(traces *t, int64_t wall_ns);

/* --- traces_write.c --- */

/* Finds or adds the nodes, and who shares their processors. */
int measure__traces_nodes(traces *t, predict_profile *profile);
int measure__traces_write(traces *t, predict_profile *profile);

#endif
