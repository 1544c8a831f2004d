/* top.h - a run in numbers, while it goes on: who communicates how much, who
 * is silent, who comes last, what is lost, and what watching costs.
 *
 * A top looks at a run directory: one that processes of this machine write, or
 * a mirror of a run elsewhere (see eventspace-scope(1)). Each pull takes in the
 * trace tuples that came since the one before; a frame is what a window that
 * ends now holds. Of a run that is over it is the last window of the run.
 *
 * A thread leaves a tuple when its operation has come up again, and none
 * before: until then it is silent. Operations that have been waited for longer
 * than a second are told by the notes of executors, of runs on this machine.
 *
 * Threads:   one thread per top.
 * Ownership: open gives, close takes back with all that was borrowed. Texts
 *            of a frame are borrowed from the top. */
#ifndef VIEWER_TOP_H
#define VIEWER_TOP_H

#include <stdbool.h>
#include <sys/types.h>

#include "scopes/reading/source.h"
#include "scopes/tables/table.h"
#include "viewer/tables/table_print.h"

typedef struct viewer_top viewer_top;

typedef struct viewer_top_options {
    int64_t window_ns;    /* 0: 5 s */
    double event_cost_ns; /* what making a tuple costs a thread, see facts.h;
                             0: not known */
    bool mirror; /* of a run on other machines: that a process of it cannot be
                    seen here does not mean that it was killed */
    const char *name; /* shown in place of the directory; NULL: that */
    bool history; /* what threads did since the run began is kept, for which all
                     tuples are read; see viewer_top_catch_up */
    uint64_t portion; /* tuples that are caught up with at once, about;
                         0: 2 million */
    pid_t helper; /* a process whose processor time is part of watching; 0 */
} viewer_top_options;

/* Opens the run and takes in its last window. `options` may be NULL.
 * Errors: those of eventspace_run_open, PASTSET_ENOMEM. */
int viewer_top_open(viewer_top **out, const char *directory,
                    const viewer_top_options *options);
/* NULL is allowed. */
void viewer_top_close(viewer_top *top);

/* Takes in what has come. To be called several times a second, since small
 * trace elements are soon overwritten. Errors: PASTSET_ENOMEM, those of
 * scopes_source_each. */
int viewer_top_pull(viewer_top *top);

/* Takes a portion of what was there before the first window into the history,
 * oldest first. Small enough not to be in the way of pulls. Errors: as above;
 * then that portion is missing. */
int viewer_top_catch_up(viewer_top *top);
/* Some of that is not in the history yet. */
bool viewer_top_is_behind(const viewer_top *top);

/* Every process that ever came up has ended, and at least one did come up. */
bool viewer_top_over(const viewer_top *top);

typedef struct viewer_top_thread {
    uint32_t number; /* in the map */
    const char *name, *process;
    double operations_per_s, bytes_per_s;
    double share;        /* of the time: in operations that came up */
    int64_t silent_ns;   /* since its last operation came up; SCOPES_BLANK: it
                            has done none that is known of */
    const char *last;    /* the path of that one */
    int64_t longest_ns;  /* the longest of the window; SCOPES_BLANK: none */
    const char *longest; /* its path */
    uint64_t operations; /* since the run began, by the number of the last */
} viewer_top_thread;

/* The root of a tree of collective wrappers. */
typedef struct viewer_top_collective {
    const char *name, *element, *process; /* the wrapper, ... */
    double rounds_per_s;
    uint64_t rounds;          /* in the window */
    const char *last;         /* the thread that came last most often; "" when
                                 there is no collector below the wrapper, which
                                 would know */
    const char *last_process; /* that thread's */
    double last_share;        /* of the rounds; NaN when not known */
} viewer_top_collective;

typedef struct viewer_top_process {
    const char *name;
    const char *state;   /* "missing": it has not come up */
    const char *problem; /* with its files, or why it ended; "" */
    double events_per_s;
    uint64_t recorded, lost; /* as in scopes_ledger, of the whole run */
    double lost_per_s;
    int64_t behind_ns; /* of a mirror: how long ago it heard of the process;
                          SCOPES_BLANK when it is of this machine, or over */
    double collectors; /* share of one processor for making tuples; NaN when
                          the cost of one is not known */
} viewer_top_process;

/* An operation that is under way, for long. */
typedef struct viewer_top_pending {
    const char *thread, *process; /* "loop": the network loop of the process */
    const char *process_state, *state;
    int64_t for_ns;
    const char *verb, *path, *stage, *peer, *waits_for;
} viewer_top_pending;

/* Since the frame before. */
typedef struct viewer_top_watching {
    double processor;       /* share of one processor */
    double bytes_per_s;     /* gathered */
    uint64_t tuples, bytes; /* gathered since it began */
    double event_cost_ns;
} viewer_top_watching;

typedef struct viewer_top_frame {
    const char *run, *map, *state; /* "running", "over" */
    int64_t run_ns;                /* how long the run lasts, or lasted */
    int64_t window_ns;
    int64_t behind_ns; /* the most of any process; SCOPES_BLANK */
    viewer_top_thread *threads;
    viewer_top_collective *collectives;
    viewer_top_process *processes;
    viewer_top_pending *pending; /* the longest first */
    size_t thread_count, collective_count, process_count, pending_count;
    uint64_t strange; /* tuples of threads or collectors that the map lacks */
    viewer_top_watching watching;
} viewer_top_frame;

typedef enum viewer_top_sort {
    VIEWER_TOP_SHARE, /* the greatest first */
    VIEWER_TOP_RATE,
    VIEWER_TOP_BYTES,
    VIEWER_TOP_SILENT,
    VIEWER_TOP_LONGEST,
    VIEWER_TOP_NUMBER, /* in the order of their numbers */
    VIEWER_TOP_SORTS,
} viewer_top_sort;

/* "share", "rate" ...; VIEWER_TOP_SORTS when it is none of them. */
const char *viewer_top_sort_name(viewer_top_sort sort);
viewer_top_sort viewer_top_sort_find(const char *name);

/* Errors: PASTSET_ENOMEM. The caller clears it. */
int viewer_top_frame_init(viewer_top_frame *out, viewer_top *top,
                          viewer_top_sort sort);
void viewer_top_frame_fini(viewer_top_frame *frame);

/* --- as tables --- */

typedef enum viewer_top_list {
    VIEWER_TOP_THREADS,
    VIEWER_TOP_COLLECTIVES,
    VIEWER_TOP_PROCESSES,
    VIEWER_TOP_PENDING,
    VIEWER_TOP_LISTS,
} viewer_top_list;

/* A whole frame: as tables, as one object of JSON and a newline, or as CSV
 * this list. Errors: PASTSET_ENOMEM, PASTSET_EIO. */
int viewer_top_print(const viewer_top_frame *frame, viewer_top_list list,
                     viewer_format format, FILE *file);

/* What threads did since the run began, if that is kept: an object with the
 * length of a bin of time, `bin_ns`; `read_ns`, until when all is in it that
 * was there before the first window, or null if all of that is (see
 * viewer_top_catch_up); and `threads`, an array of their `number` and
 * `communicating_ns`, the time in operations that have come up, for each bin
 * from the first start of a process on. Errors: PASTSET_EIO. */
int viewer_top_print_history(const viewer_top *top, FILE *file);

/* As lines of a terminal: exactly `rows` lines at most, of `columns`
 * characters at most, without a newline behind the last. Rows that do not fit
 * are counted instead. `colour`: heads stand out by escape sequences. `keys`
 * (what can be pressed) is told in the first line, unless it is NULL.
 * Errors: PASTSET_ENOMEM. */
int viewer_top_draw(const viewer_top_frame *frame, unsigned rows,
                    unsigned columns, bool colour, const char *keys,
                    FILE *file);

#endif
