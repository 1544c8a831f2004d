/* import.h - a trace of an MPI program becomes a run.
 *
 * What every reader reads, made of an OTF2 trace: processes and threads, one
 * operation for each message and collective (calls_internal.h,
 * import_uses_internal.h), regions, and the begins and ends of threads. Ticks
 * are those of the trace. Where a message arrives before it was sent, by the
 * times of the trace, each process has a counter of its own: readers align them
 * by the messages (scopes/clocks/clock_message.c). Else there is one for all.
 *
 * Threads:   one.
 * Ownership: the report is plain data. */
#ifndef VIEWER_IMPORT_H
#define VIEWER_IMPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/define/definition.h"

typedef struct import_options {
    const char *trace;     /* a file.otf2 */
    const char *directory; /* of the run */
    bool replace;          /* a run that is there */
} import_options;

/* What the run has, what had no place in it, and what the trace lacks. */
typedef struct import_report {
    uint64_t processes, threads;
    uint64_t operations;  /* trace tuples, in all */
    uint64_t messages;    /* that were sent and received */
    uint64_t collectives; /* operations in them */
    uint64_t regions;
    uint64_t others;   /* events of other kinds: metrics, OpenMP, I/O */
    uint64_t unpaired; /* enters and leaves without the other */
    char unpaired_name[EVENTSPACE_REGION_NAME]; /* the region of the first
                                                       of these; "": it has no
                                                       name */
    uint64_t unpaired_alike;                    /* those of that name */
    uint64_t open; /* of `regions`, those that were not left */
    /* Of `operations`, those that are not matched (import_uses_internal.h). */
    uint64_t sent_only, received_only, joined_only;
    uint64_t requests, requests_ended; /* of MPI_Irecv */
    uint64_t silent;    /* calls such as MPI_Sendrecv without a message */
    bool one_clock;     /* no message contradicts the times of the trace */
    int64_t shift_ns;   /* else: by how much a clock was moved at most */
    uint64_t unaligned; /* else: processes whose clocks no message aligns */
} import_report;

/* Errors: PASTSET_ENOENT, PASTSET_EFORMAT, PASTSET_EEXIST, PASTSET_EIO,
 * PASTSET_ENOSPC, PASTSET_ENOMEM; then nothing is left of the run. */
int viewer_import_run(const import_options *options, import_report *report);

#endif
