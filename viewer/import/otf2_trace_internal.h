/* otf2_trace_internal.h - a trace in the Open Trace Format 2, as its library
 * reads it.
 *
 * Definitions first: processes (location groups), threads (locations), the
 * names of regions, communicators. Then the events of one thread after the
 * other, in the thread's own order, without holding them in memory.
 *
 * Tracers differ: some define things out of order or twice (the last one
 * counts), leave out the clock, or name members of communicators that are not
 * there. What cannot be resolved is OTF2_NONE.
 *
 * Threads:   one.
 * Ownership: open gives, close takes back. */
#ifndef VIEWER_OTF2_TRACE_INTERNAL_H
#define VIEWER_OTF2_TRACE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OTF2_NONE UINT32_MAX
#define OTF2_TICKS_MAX 1e12 /* a second; of a meta file */

typedef struct otf2_thread {
    uint64_t id; /* in the file */
    const char *name;
    uint32_t process;
    uint64_t events; /* as the definitions have it */
} otf2_thread;

typedef struct otf2_process {
    uint64_t id;
    const char *name;
} otf2_process;

typedef struct otf2_region {
    uint64_t id;
    const char *name;
    bool is_mpi;
    bool joins_groups; /* makes a communicator between two groups */
    bool receives;     /* may receive what some tracers do not record */
    const char *file;  /* of the source, where it begins at `line`; NULL */
    uint32_t line;
} otf2_region;

typedef struct otf2_comm {
    uint64_t id;
    const char *name;
    bool is_self;      /* each member is alone in it */
    bool derived;      /* made from another one */
    uint32_t *members; /* threads, by rank; OTF2_NONE: it is not known which */
    uint32_t member_count;
} otf2_comm;

typedef struct otf2_trace {
    uint64_t id; /* that its tracer gave it, as to no other one */
    double ticks_per_second;
    uint64_t begin_ticks, length_ticks;
    uint64_t begin_wall_ns; /* since 1970; 0: not known */
    otf2_process *processes;
    uint32_t process_count;
    otf2_thread *threads; /* by process, then in the order of the file */
    uint32_t thread_count;
    otf2_region *regions;
    uint32_t region_count;
    otf2_comm *comms;
    uint32_t comm_count;
} otf2_trace;

/* Errors: PASTSET_ENOENT, PASTSET_EFORMAT with what the library says. */
int viewer__otf2_trace_open(otf2_trace **out, const char *file);
void viewer__otf2_trace_close(otf2_trace *trace);

typedef enum otf2_event_kind {
    OTF2_ENTER,
    OTF2_LEAVE,
    OTF2_SEND,
    OTF2_RECEIVE, /* it was received: of MPI_Irecv, when that was seen */
    OTF2_RECEIVE_REQUEST, /* MPI_Irecv was called */
    OTF2_COLLECTIVE,      /* its end */
    OTF2_THREAD_BEGINS,
    OTF2_THREAD_ENDS,
    OTF2_NOTHING, /* that this is interested in: begins of collectives, sends
                     that are complete */
} otf2_event_kind;

typedef struct otf2_event {
    otf2_event_kind kind;
    uint64_t ticks;
    uint32_t region; /* of enter and leave; OTF2_NONE: it is not defined */
    /* Of messages and collectives. */
    uint32_t comm;
    uint32_t rank;      /* the peer's, or the root's in `comm`; OTF2_NONE */
    uint32_t tag;       /* of a message */
    uint32_t operation; /* of a collective: an OTF2_CollectiveOp */
    uint64_t bytes;
    bool requested;   /* of a receive: by MPI_Irecv */
    uint64_t request; /* of MPI_Irecv: its id, which may be used again */
    uint64_t posted;  /* of a receive: its number in its thread, in the
                         order in which they began (calls.c); UINT64_MAX: that
                         is not known */
} otf2_event;

/* A non-zero answer ends the walk and is returned. */
typedef int otf2_visit(uint32_t thread, const otf2_event *event, void *context);

/* All events of a thread in their order. `*others`: how many there were of
 * kinds that have no place here. Errors: PASTSET_EFORMAT; those of `visit`. */
int viewer__otf2_trace_walk(otf2_trace *trace, uint32_t thread,
                            otf2_visit *visit, void *context, uint64_t *others);

#endif
