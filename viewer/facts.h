/* facts.h - what is to be said about a run: how its hosts ended, how many
 * events they made, and what was lost. */
#ifndef VIEWER_FACTS_H
#define VIEWER_FACTS_H

#include "eventspace/run.h"

typedef struct viewer_host_facts {
    const eventspace_run_host *host; /* borrowed from the run */
    const char *state; /* as in meta.h, or "missing" without a meta file */
    const char *text;  /* why; "" when there is nothing to say */
    uint32_t threads;  /* of the map that stand on it */
    size_t elements;   /* in its space, without those of traces */
    size_t traces;     /* lanes of trace elements */
    eventspace_events events;
} viewer_host_facts;

typedef struct viewer_facts {
    viewer_host_facts *hosts;
    size_t host_count;
    viewer_host_facts total; /* `host` NULL; `state` "finished" if all are */
} viewer_facts;

/* Errors: PASTSET_ENOMEM, those of eventspace_run_events. */
int viewer_facts_take(viewer_facts *out, eventspace_run *run);
void viewer_facts_drop(viewer_facts *facts);

#endif
