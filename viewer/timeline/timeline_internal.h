/* timeline_internal.h - what a timeline has, its bins, and the parts of it that
 * matter most. */
#ifndef VIEWER_TIMELINE_INTERNAL_H
#define VIEWER_TIMELINE_INTERNAL_H

#include "scopes/causality/off_processor.h"
#include "scopes/tables/table.h"
#include "viewer/timeline/levels.h"
#include "viewer/timeline/timeline_waits_internal.h"

/* A link of the critical path. */
typedef struct viewer__link {
    uint32_t thread;
    int64_t start_ns, end_ns;
} viewer__link;

struct viewer_timeline {
    const scopes_snapshot *snapshot;
    scopes_communication *view;
    viewer__waits waits;
    scopes_off_time *off;       /* by operation: since those before it */
    scopes_off_time *off_after; /* by thread: after its last operation */
    int64_t *reach_ns;          /* by operation: the latest end of its thread so
                                   far */
    viewer__link *links;        /* by time */
    viewer__link *by_thread;    /* the same by thread, then by time */
    size_t *first_link;         /* of each thread in these, and the end */
    size_t link_count;
};

/* --- bins --- */

typedef enum viewer__state {
    VIEWER__WAITING,
    VIEWER__TRANSFERRING,
    VIEWER__FAILED,
    VIEWER__RUNNABLE,
    VIEWER__SLEEPING,
    VIEWER__CRITICAL,  /* beside the others: on the critical path */
    VIEWER__COMPUTING, /* the rest of what the thread is there */
    VIEWER__STATES,
} viewer__state;

typedef struct viewer__bin {
    int64_t ns[VIEWER__STATES];
    uint32_t operations; /* that begin in it; of these: */
    size_t longest;      /* its place in the view */
    int64_t longest_ns;
    int64_t longest_wait_ns;
    uint32_t waits_for; /* of that one; PATHS_NONE: none waited */
} viewer__bin;

/* Bins of one length, behind each other. */
typedef struct viewer__grid {
    int64_t start_ns, bin_ns;
    size_t count;
} viewer__grid;

/* At most so many bins that reach from one time to the other. */
viewer__grid viewer__grid_of(int64_t from_ns, int64_t to_ns, size_t columns);
/* Those of a thread; there is room for as many as the grid has. */
void viewer__bins_fill(viewer__bin *bins, const viewer__grid *grid,
                       const viewer_timeline *timeline, uint32_t thread);

/* --- operations --- */

/* Is it one that failed, and not only one that had nothing to wait for? */
bool viewer__has_failed(const scopes_operation *op);

/* The place of the first operation of a thread that ends after a time. */
size_t viewer__first_beyond(const viewer_timeline *timeline, uint32_t thread,
                            int64_t ns);
/* The first that starts at a time or later. */
size_t viewer__first_from(const viewer_timeline *timeline, uint32_t thread,
                          int64_t ns);

/* --- parts --- */

#define VIEWER__PARTS_MAX 64

typedef struct viewer__part {
    int64_t from_ns, to_ns;
} viewer__part;

/* Those of the grid, in order, in which there are no more than so many
 * operations all together. Gives how many parts there are; -1: no memory. */
int viewer__parts_choose(viewer__part *out, const viewer_timeline *timeline,
                         const viewer__grid *grid, uint64_t operations_max);

#endif
