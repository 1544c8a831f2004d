/* run_internal.h - between the files that read runs (run.c, streams.c) and the
 * launcher. */
#ifndef EVENTSPACE_RUN_INTERNAL_H
#define EVENTSPACE_RUN_INTERNAL_H

#include <sys/types.h>
#include <time.h>

#include "eventspace/run/run.h"
#include "eventspace/run/run_map.h"

#define EVENTSPACE_PATH_BYTES 4096

/* Of a process's messages, or added to the map. `texts` holds its name and
 * attributes. */
typedef struct own_definition {
    eventspace_definition shown;
    char *texts;
    bool is_refused; /* the map cannot have it, which is said */
} own_definition;

/* A process, with what is not shown of it. */
typedef struct process_files {
    eventspace_run_process shown;
    pastset_space *drained;                   /* NULL: nothing was drained */
    pastset_space *side;                      /* of a mirror; NULL */
    eventspace_definition_reader definitions; /* those that are taken in */
    bool *defined;       /* which regions and marks; NULL: none */
    own_definition *own; /* by id: what its messages go by, and what it adds to
                            the map */
    size_t own_count;
    const eventspace_meta *clock; /* by which its ticks become times: its own
                                     meta or that of the reference process; NULL
                                     without meta */
    ino_t meta_inode; /* of the meta file that is shown; 0: none is */
    off_t meta_bytes;
    struct timespec meta_written;
    uint64_t meta_at;         /* see eventspace_run_changes: when it was the one
                                 in the directory */
    uint64_t drained_missing; /* when there was no such file; 0: never */
    int pidfd; /* of the process, while it runs here; -1: it is not kept */
} process_files;

struct eventspace_run {
    char *directory;
    char problem[EVENTSPACE_RUN_PROBLEM]; /* of its definitions */
    paths_map *base;  /* the map as it was before anybody ran */
    paths_map *map;   /* with what processes have added; the same if nothing */
    bool is_outgrown; /* processes have added what is not in `map` yet */
    int64_t digest;   /* of `base`; 0: it is not all there */
    uint32_t nodes;   /* that the whole of `base` had, at least */
    process_files *processes;         /* in the order of the map's processes */
    const eventspace_meta *reference; /* of the process that started earliest */
    uint32_t *collectors; /* nodes by id; PATHS_NONE where there is none */
    uint32_t collector_count;
    uint32_t base_ids;  /* of `base`; those of processes are behind them */
    uint32_t added_ids; /* the highest of a collector that a process has added,
                           + 1; 0: none has */
    struct timespec changed; /* the directory, when it was looked at */
    bool is_settled;         /* any later change has another time */
    uint64_t changes;        /* see eventspace_run_changes */
    const char **traces; /* the names of the trace elements, sorted, with one
                            entry for each collector */
    size_t trace_count;
    eventspace_run_definition *definitions; /* sorted by id */
    size_t definition_count;
};

/* Writes a small file that is there as a whole or not at all, in place of the
 * one of that name. Returns 0 or an errno. */
int eventspace__file_replace(const char *file, const void *data, size_t bytes);

/* Whether the process that wrote this is still there, on this machine: not
 * only another one that was given the same number later. */
bool eventspace__process_there(const eventspace_meta *meta);
/* How long ago it began, in nanoseconds: see eventspace_meta_now; maybe below
 * 0. */
int64_t eventspace__meta_age_ns(const eventspace_meta *meta);

/* Adds to what is wrong with a process's files, each thing once. */
void eventspace__problem_note(eventspace_run_process *process,
                              const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Makes the tables of collectors and of trace elements from the map. */
int eventspace__run_tables(eventspace_run *run);

/* Makes the map of the base and of what processes have added, and the tables.
 * `ranked`: processes by rank. Errors: PASTSET_ENOMEM. */
int eventspace__run_map_grow(eventspace_run *run, const uint32_t *ranked);

/* Gives back what a process has defined. */
void eventspace__definitions_drop(process_files *files);

/* Opens a process's spaces, or takes in what came to them since. `changes`: as
 * by eventspace_run_changes; 0: whatever it says, what was not there is looked
 * for. */
void eventspace__spaces_look(process_files *files, const char *directory,
                             uint64_t changes);

/* Orders pointers to names; for bsearch in the table of trace elements. */
int eventspace__name_compare(const void *left, const void *right);

#endif
