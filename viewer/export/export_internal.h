/* export_internal.h - what the formats of exports share. */
#ifndef VIEWER_EXPORT_INTERNAL_H
#define VIEWER_EXPORT_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "scopes/reading/cursor.h"
#include "scopes/reading/messages.h"
#include "scopes/reading/snapshot.h"
#include "viewer/export/export.h"

/* --- export_run.c: a run, and what of it is wanted --- */

typedef struct viewer__export {
    eventspace_run *run;
    const scopes_topology *topology;
    scopes_source *source;
    const scopes_clocks *clocks;
    scopes_snapshot *aligned; /* has the clocks, and no events */
    const viewer_export_options *options;
    int64_t from_ns, to_ns; /* INT64_MIN, INT64_MAX: all */
    uint64_t *from_ticks, *to_ticks;
    bool *collectors;
    paths_number_list known; /* threads, of a run that goes on */
    scopes_filter filter;
    scopes_ledger ledger;
    uint64_t start_wall_ns;  /* of the first process: time 0 */
    int64_t counter_step_ns; /* between two values of a counter; 0: none */
} viewer__export;

int viewer__export_open(viewer__export *out, eventspace_run *run,
                        const viewer_export_options *options);
void viewer__export_close(viewer__export *e);
/* PASTSET_ECANCELED when it shall end, or 0: asked once in a while. */
int viewer__export_stopped(void);

bool viewer__export_has_thread(const viewer__export *e, uint32_t thread);
bool viewer__export_has_process(const viewer__export *e, uint32_t process);
/* "" where a process has nothing that the map or a definition names. */
const char *viewer__export_id_name(const viewer__export *e, uint32_t id);
/* What is to be known of the run besides its events, of all events given so
 * far. NULL: no memory. */
json_t *viewer__export_facts(const viewer__export *e);

/* An event by aligned clocks; also what is no event but has a time. */
typedef struct viewer__event {
    int64_t start_ns, end_ns;
    uint32_t collector, thread, sequence, bytes;
    uint16_t operation, status;
    uint16_t process;
    uint16_t
        rank : 15; /* of two that begin at once: which is above the other */
    uint16_t under_way : 1; /* it has not come up */
} viewer__event;

/* Of `operation`, besides verbs, regions, marks and metrics; 0 is what nobody
 * knows. */
#define VIEWER__OFF                                                            \
    128 /* off the processor: in microseconds, `sequence` runnable and `bytes` \
           sleeping */
#define VIEWER__OFF_UNKNOWN 129

static inline bool viewer__is_off(const viewer__event *event)
{
    return event->operation == VIEWER__OFF ||
           event->operation == VIEWER__OFF_UNKNOWN;
}

static inline bool viewer__is_region(const viewer__event *event)
{
    return event->operation == EVENTSPACE_TRACE_REGION ||
           event->operation == EVENTSPACE_TRACE_MARK;
}

/* A non-zero answer ends the walk and is returned. */
typedef int viewer__each(const viewer__event *event, void *context);

/* --- export_sort.c: any number of records in order, in bounded memory --- */

typedef struct viewer__sorter viewer__sorter;
typedef int viewer__compare(const void *a, const void *b);

/* Keeps `capacity` records in memory; more go to a file in TMPDIR. */
int viewer__sorter_create(viewer__sorter **out, size_t record_bytes,
                          viewer__compare *compare, size_t capacity);
void viewer__sorter_destroy(viewer__sorter *sorter);
/* Errors: PASTSET_ENOMEM, PASTSET_EIO, PASTSET_ENOSPC. */
int viewer__sorter_add(viewer__sorter *sorter, const void *record);
/* After the last: the next in order, valid until the next call; NULL: there are
 * no more, or (`*err`) an error. */
const void *viewer__sorter_next(viewer__sorter *sorter, int *err);

/* --- export_events.c --- */

/* Gives all that has a time in the order of its begin, what lies around
 * something else before that: events, times off the processor, and operations
 * that are under way. `first_ns` and `last_ns` are set before the first. */
int viewer__export_sorted(viewer__export *e, int64_t *first_ns,
                          int64_t *last_ns, viewer__each *each, void *context);

/* --- export_text.c: text, through a buffer --- */

typedef struct viewer__text {
    FILE *file;
    int error; /* an errno, of the first failure */
    size_t used;
    char bytes[1 << 16];
} viewer__text;

void viewer__put(viewer__text *out, const char *text);
void viewer__put_bytes(viewer__text *out, const void *bytes, size_t count);
void viewer__put_number(viewer__text *out, int64_t number);
/* Microseconds with three decimals. */
void viewer__put_us(viewer__text *out, int64_t ns);
/* 0 or the error of all that was put. */
int viewer__put_status(const viewer__text *out);
int viewer__put_end(viewer__text *out);
/* A JSON string, with its quotes, of any bytes; NULL: no memory. The caller
 * frees it. */
char *viewer__json_string(const char *text);
/* The same text as UTF-8. */
char *viewer__utf8(const char *text);

/* --- export_tracks.c: events as slices on tracks --- */

typedef enum viewer__track_kind {
    VIEWER__TRACK_THREAD, /* of a thread: its own, or (`lane` > 0) more of it,
                             for operations that overlap */
    VIEWER__TRACK_SCHEDULING, /* when that thread had no processor */
    VIEWER__TRACK_COLLECTOR,  /* what passed a collector */
    VIEWER__TRACK_COUNTER,
} viewer__track_kind;

typedef struct viewer__track {
    uint32_t id; /* from 0, without a gap */
    viewer__track_kind kind;
    uint32_t process; /* PATHS_NONE: of none */
    uint32_t number;  /* thread or collector */
    uint32_t lane;
    const char *name; /* UTF-8; valid during the call */
    bool is_bytes;    /* what a counter counts */
} viewer__track;

/* What slices are called; kept as long as the walk lasts. */
typedef struct viewer__name {
    uint32_t id;       /* from 0, without a gap; one for each text of a kind */
    char kind;         /* 'c'ollective, 'o'peration, 'h'op, 'r'egion or mark,
                          's'cheduling */
    char *text, *json; /* UTF-8; the same in quotes */
} viewer__name;

/* What an operation has sent or received. */
typedef struct viewer__message {
    scopes_message_end end;
    const char *communicator; /* its name */
    uint64_t id;              /* the same for both ends; another message is
                                 hardly ever of this id, too */
} viewer__message;

typedef struct viewer__slice {
    const viewer__track *track;
    const viewer__name *name;
    const char *category;
    const viewer__event *event;
    int64_t start_ns, end_ns; /* the end is not before the start */
    uint32_t depth;           /* on its track, from 1 */
    bool under_way;
    bool hops;       /* the operation may be on other tracks too */
    uint64_t number; /* of the slice, from 0 */
    const viewer__message *messages;
    size_t message_count;
} viewer__slice;

/* A place in a slice that is connected with another. */
typedef struct viewer__end {
    uint32_t track, depth;
    uint64_t slice;
    int64_t start_ns, end_ns;
} viewer__end;

/* An operation goes from the slice of one collector to that of the next; or a
 * message from that of its sender to that of its receiver. */
typedef struct viewer__flow {
    uint64_t id; /* from 1 */
    bool remote;
    viewer__end upper, lower;
    const viewer__event *event;      /* below; of a message NULL */
    const viewer__message *message;  /* as it was sent; NULL: an operation */
    const viewer__message *received; /* as it was received */
} viewer__flow;

/* A member of a round of a collective. */
typedef struct viewer__member {
    viewer__end at;
    uint32_t thread, bytes;
    uint16_t operation;
    bool is_filled;
} viewer__member;

/* A round: all members, in the order of `threads` of the tree. */
typedef struct viewer__tree {
    uint32_t site;     /* its root, of the topology */
    uint32_t *threads; /* that have collectors */
    uint32_t count;
    viewer__member *members;
    uint32_t filled;
    uint64_t rounds;
} viewer__tree;

/* What a format does with all of this. Those that are NULL are passed over. */
typedef struct viewer__sink {
    int (*track)(void *context, const viewer__track *track);
    int (*slice)(void *context, const viewer__slice *slice);
    int (*slice_end)(void *context, const viewer__track *track, int64_t end_ns,
                     bool under_way);
    int (*instant)(void *context, const viewer__slice *slice);
    int (*flow)(void *context, const viewer__flow *flow);
    int (*counter)(void *context, const viewer__track *track, int64_t at_ns,
                   int64_t value);
    int (*round)(void *context, const viewer__tree *tree);
} viewer__sink;

/* Walks the whole export. `first_ns` is the earliest time there is. */
int viewer__tracks_walk(viewer__export *e, const viewer__sink *sink,
                        void *context, int64_t *first_ns, int64_t *last_ns);

/* --- export_messages.c --- */

typedef struct viewer__messages viewer__messages;

/* `*flow_count` is the id of the last flow. */
int viewer__messages_create(viewer__messages **out, viewer__export *e,
                            const viewer__sink *sink, void *context,
                            uint64_t *flow_count);
void viewer__messages_destroy(viewer__messages *messages);
/* What an operation has sent or received; valid until the next call. Operations
 * are to come in the order of their begins. */
int viewer__messages_claim(viewer__messages *messages,
                           const viewer__event *event,
                           const viewer__message **out, size_t *count);
/* The slice of that operation is there: gives the flows that end in it. */
int viewer__messages_place(viewer__messages *messages, const viewer__end *at);

/* --- export_names.c --- */

typedef struct viewer__names viewer__names;

/* By collector: whether it is the first below a thread, and which tree of a
 * collective begins there (PATHS_NONE: none). Both are borrowed. */
int viewer__names_create(viewer__names **out, const viewer__export *e,
                         const bool *is_top, const uint32_t *tree_of);
void viewer__names_destroy(viewer__names *names);
/* What the slice of an event is called; NULL: no memory. */
const viewer__name *viewer__name_of(viewer__names *names,
                                    const viewer__event *event);
const char *viewer__category_of(const viewer__name *name,
                                const viewer__event *event);

/* --- export_counters.c --- */

typedef struct viewer__counters viewer__counters;

/* `track_count` says which id the next track has. Without `counter` in the sink
 * nothing is counted. */
int viewer__counters_create(viewer__counters **out, viewer__export *e,
                            const viewer__sink *sink, void *context,
                            uint32_t *track_count, const bool *is_top);
void viewer__counters_destroy(viewer__counters *counters);
/* Before the first event, each one, and after the last. */
void viewer__counters_begin(viewer__counters *counters, int64_t first_ns,
                            int64_t last_ns);
int viewer__counters_take(viewer__counters *counters,
                          const viewer__event *event);
/* What a program counted itself. */
int viewer__counters_metric(viewer__counters *counters,
                            const viewer__event *event);
int viewer__counters_end(viewer__counters *counters, int64_t last_ns);

/* --- the formats --- */

int viewer__export_rows(viewer__export *e, bool json, viewer__text *out);
int viewer__export_chrome(viewer__export *e, viewer__text *out);
int viewer__export_perfetto(viewer__export *e, viewer__text *out);
int viewer__export_prometheus(viewer__export *e, viewer__text *out);

#endif
