/* facts.h - what is to be said about a run: how its processes ended, how many
 * events were recorded, what was lost, and what recording and archiving cost.
 *
 * Events that are in an archive are present: they are not lost when the trace
 * elements have them no more. */
#ifndef VIEWER_FACTS_H
#define VIEWER_FACTS_H

#include "eventspace/run/run.h"
#include "scopes/archive/archive.h"
#include "scopes/reading/snapshot.h"

typedef struct viewer_process_facts {
    const eventspace_run_process *process; /* borrowed from the run */
    const char *state; /* as in meta.h, or "missing" without a meta file */
    const char *text;  /* why; "" when there is nothing to say */
    uint32_t threads;  /* of the map that stand on it */
    size_t elements;   /* in its space, without those of traces */
    size_t streams;    /* of its trace elements */
    eventspace_events events;
    int64_t
        scheduling_ns; /* that its recorder of scheduling took; 0: not known */
    int64_t lasted_ns; /* from its start to its end, or until now; 0: when it
                          began or ended is not known */
    bool archived;     /* there is an archive, and this is what it has cost: */
    scopes_archive_cost archive;
} viewer_process_facts;

typedef struct viewer_facts {
    viewer_process_facts *processes;
    size_t process_count;
    /* `process` NULL; `state` "finished" if all are; `lasted_ns` of the one
     * that lasted longest. */
    viewer_process_facts total;
} viewer_facts;

/* Errors: PASTSET_ENOMEM, those of eventspace_run_events and
 * scopes_source_each. */
int viewer_facts_take(viewer_facts *out, eventspace_run *run);
void viewer_facts_fini(viewer_facts *facts);

/* Does a process of it still run? */
bool viewer_is_running(const eventspace_run *run);

/* Is there anything to show? What is not there yet may come. PASTSET_ENOENT,
 * with what to do about it: the map of the run, called `name`, has no
 * collectors; or it has ended without events. */
int viewer_require_events(const scopes_snapshot *snapshot, const char *name);

/* What making a trace tuple takes a thread: two stamps, and 36 bytes into a
 * trace element whose memory is there. Measured when it is called, in a few
 * milliseconds on this machine: another one, or other work beside it, takes
 * other times. 0 when it could not be measured. */
double viewer_event_cost_ns(void);

#endif
