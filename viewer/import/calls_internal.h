/* calls_internal.h - what a thread of an MPI program did, made of the events of
 * a trace.
 *
 * A call is an outermost MPI region. What it sent, received or took part in
 * becomes one operation each, which lasts as long as the call; a call in which
 * nothing of that was recorded is an operation by itself. Regions that are not
 * of MPI become regions. The same walk is done twice: once to see which
 * operations there are, once to write them.
 *
 * Threads:   one.
 * Ownership: begin gives, end takes back. */
#ifndef VIEWER_CALLS_INTERNAL_H
#define VIEWER_CALLS_INTERNAL_H

#include "viewer/import/otf2_trace_internal.h"

typedef enum call_what {
    CALL_SENDS,
    CALL_RECEIVES,
    CALL_JOINS, /* a collective */
    CALL_ALONE, /* nothing that has to do with others was recorded */
    CALL_REGION,
    CALL_LIFE /* the thread: from its begin to its end */
} call_what;

typedef struct mpi_call {
    call_what what;
    uint64_t start, end;     /* ticks */
    uint32_t region;         /* OTF2_NONE: what happened outside of one */
    const otf2_event *event; /* the message or collective */
    uint32_t depth;          /* of a region: in how many others it lies */
} mpi_call;

/* A non-zero answer ends it and is returned. */
typedef int call_visit(uint32_t thread, const mpi_call *call, void *context);

/* What did not fit together, added up over walks. */
typedef struct calls_odd {
    uint64_t others;   /* events of kinds that have no place in a run */
    uint64_t unpaired; /* regions that were left and not entered, and calls of
                          MPI that were entered and not left */
    uint32_t unpaired_first; /* the region of the first of these; OTF2_NONE: it
                                has no name */
    uint64_t unpaired_alike; /* how many of these are of its name */
    uint64_t open;           /* regions that were entered and not left */
    uint64_t requests;       /* MPI_Irecv that began */
    uint64_t received;       /* of these, that ended */
    uint64_t unbegun;        /* that ended and did not begin in their thread */
    uint64_t silent;    /* calls in which a message may have been received, and
                           none    was recorded */
    bool joined_groups; /* a communicator between two groups was made */
} calls_odd;

/* Errors: those of viewer__otf2_trace_walk; PASTSET_ENOMEM. `odd` may be NULL.
 */
int viewer__calls_walk(otf2_trace *trace, uint32_t thread, call_visit *visit,
                       void *context, calls_odd *odd);

#endif
