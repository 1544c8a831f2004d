/* counts.h - the events of a run, counted by collector and by thread, in one
 * walk and without keeping them. */
#ifndef VIEWER_COUNTS_H
#define VIEWER_COUNTS_H

#include "eventspace/run/run.h"
#include "scopes/causality/topology.h"

typedef struct viewer_collector_counts {
    uint64_t events;
    uint64_t bytes;  /* of the tuples that passed */
    uint64_t failed; /* with a status other than 0 */
} viewer_collector_counts;

typedef struct viewer_thread_counts {
    uint64_t operations;    /* seen at the tops of its paths */
    uint64_t lost;          /* operations without a tuple, as their numbers
                               tell; 0 where some path has no collector */
    uint32_t last_sequence; /* the highest seen */
    bool all_collected;
} viewer_thread_counts;

typedef struct viewer_counts {
    scopes_topology *topology;
    viewer_collector_counts *collectors; /* by id, as many as in `topology` */
    viewer_thread_counts *threads;       /* by number */
} viewer_counts;

/* Errors: PASTSET_ENOMEM, those of scopes_topology_create and
 * scopes_source_open. Drop it also after an error. */
int viewer_counts_take(viewer_counts *out, eventspace_run *run);
void viewer_counts_fini(viewer_counts *counts);

#endif
