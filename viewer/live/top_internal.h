/* top_internal.h - what a top knows (top_model.c, top_slices.c) and how a
 * frame is made of it (top_frame.c).
 *
 * Time is cut into slices, a tenth of the window each, by each process's own
 * ticks from its start. A tuple is added to the slice of its end, and the time
 * it lasted to all slices that it lasted through. The window is the slices of
 * the last SLICES that are not older than it. So a tuple is looked at once, and
 * a frame costs what its rows cost, however many tuples there were. */
#ifndef VIEWER_TOP_INTERNAL_H
#define VIEWER_TOP_INTERNAL_H

#include "scopes/causality/in_flight.h"
#include "scopes/causality/topology.h"
#include "viewer/live/top.h"

#define TOP_SLICES 12 /* ten of a window, the one that it begins in, spare */

typedef struct top_cell {
    uint32_t operations;
    uint64_t bytes;
    uint64_t ticks; /* in operations */
    uint64_t longest_ticks;
    uint32_t longest; /* collector */
} top_cell;

/* What threads did since the run began (top_history.c). */
#define TOP_HISTORY_BINS 512

/* Of a process: its tuples that ended before `until` and were there before the
 * first window. `at`: those that ended before are taken in; `to`: the end of
 * the portion that is being taken in. Ticks. */
typedef struct top_older {
    uint64_t at, to, until;
} top_older;

typedef struct top_history {
    unsigned bin_shift; /* of one bin: 2 to the power of that, in ns */
    uint64_t end_ns;    /* the latest end of an operation */
    uint32_t first;     /* the process that started first; PATHS_NONE */
    uint64_t *ns; /* by thread and bin: in operations; NULL: it is not kept */
    int64_t *begin_ns; /* by process: its start, after that of the first */
    top_older *older;  /* by process */
} top_history;

typedef struct top_thread {
    uint32_t process;  /* of the map; PATHS_NONE: no thread of this number */
    uint64_t last_end; /* ticks of its process */
    uint32_t last;     /* collector of that one */
    uint32_t sequence; /* the greatest; 0: none yet */
} top_thread;

typedef struct top_process {
    bool known; /* its clock: the next four */
    uint64_t base, slice_ticks;
    double hz, tick_ns;
    double ahead;      /* its ticks are at least this much beyond those that
                          this process counts */
    uint64_t now;      /* ticks, at the last pull */
    uint64_t pulled;   /* the same, when the last pull looked at it */
    uint64_t last_end; /* the greatest that was seen */
    uint64_t recorded, lost;
    bool counted; /* recorded and lost have been taken once */
    /* The slice that was used last, to save divisions. */
    uint64_t slice_from, slice_to;
    uint32_t slice_place;
    struct {
        uint64_t number; /* + 1; 0: empty */
        uint64_t events, lost;
    } slices[TOP_SLICES];
} top_process;

struct viewer_top {
    viewer_top_options options;
    eventspace_run *run;
    scopes_source *source;
    const paths_map *map;
    scopes_topology *topology;

    uint32_t thread_count;
    top_thread *threads; /* by number */
    top_cell *cells;     /* by slice, then by thread */
    uint32_t *tops; /* by thread: its first one in topology->tops; one more */

    uint32_t collectors;
    bool *is_top;      /* by collector: it is at the top of a path */
    uint32_t *root_of; /* by collector: it counts the rounds of this root */
    uint32_t *roots;   /* collective sites without a parent */
    uint32_t root_count;
    uint32_t *arrivals; /* by slice, root and thread: who came last */
    bool *knows_last;   /* by root: there is a collector below it */

    uint32_t process_count;
    top_process *processes;
    top_history history;
    void *streams;                /* a tree (search.h): how far each was read */
    scopes_pending_list *pending; /* at the last frame; its texts */
    uint64_t pulls;
    uint64_t strange;
    uint64_t tuples; /* gathered */
    bool over;
    struct {
        int64_t time_ns, processor_ns;
        uint64_t tuples;
    } before; /* at the last frame */
};

/* --- top_slices.c --- */

/* Adds tuples of one stream of a process. Errors: PASTSET_ENOMEM. */
int viewer__top_take(viewer_top *top, const scopes_batch *batch);
void viewer__top_streams_fini(viewer_top *top);
/* The last end of the stream that is furthest behind, of those with one after
 * `after`; UINT64_MAX when there is none. */
uint64_t viewer__top_behind(const viewer_top *top, uint32_t process,
                            uint64_t after);

/* The place of the slice that holds `ticks`, made ready; PATHS_NONE when it is
 * too old. */
uint32_t viewer__top_slice(viewer_top *top, uint32_t process, uint64_t ticks);
/* Of a thread of the process, as it sees it, rather than of what is below. */
static inline bool viewer__top_is_operation(const viewer_top *top,
                                            uint32_t process,
                                            const eventspace_trace *event)
{
    return event->thread < top->thread_count &&
           event->collector < top->collectors &&
           top->is_top[event->collector] &&
           top->threads[event->thread].process == process;
}

/* The first slice of the window that ends now, and what it all covers. */
uint64_t viewer__top_window(const viewer_top *top, uint32_t process,
                            double *seconds);

/* --- top_back.c --- */

/* After the first window: what threads did last that did nothing in it.
 * Errors: PASTSET_ENOMEM, those of scopes_source_each. */
int viewer__top_look_back(viewer_top *top);

/* --- top_history.c --- */

/* Errors: PASTSET_ENOMEM. */
int viewer__history_init(viewer_top *top);
void viewer__history_fini(viewer_top *top);
/* When processes began. False: it is not as it was, and all tuples must be
 * taken again. */
bool viewer__history_look(viewer_top *top);
/* Those of its tuples that ended before `until` are left to
 * viewer_top_catch_up. */
void viewer__history_skip(viewer_top *top, uint32_t process, uint64_t until);
/* A tuple of a thread's operation. */
void viewer__history_add(viewer_top *top, uint32_t process,
                         const eventspace_trace *event);

/* --- top_model.c --- */

/* Processor time of this process and of its helper. */
int64_t viewer__top_processor_ns(const viewer_top *top);
int64_t viewer__top_clock_ns(void);

#endif
