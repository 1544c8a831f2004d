/* profiler_internal.h - what the files of making a profile share.
 *
 *   profiler.c           running the command, and the order of things
 *   profiler_notes.c     what is to be said beside it
 *   profiler_nodes.c     nodes, their times and phases
 *   profiler_launchers.c what starts a program and is none of its nodes
 *   profiler_messages.c  messages, from packets
 *   profiler_traces.c    messages and steps, from a run directory */
#ifndef MEASURE_PROFILER_INTERNAL_H
#define MEASURE_PROFILER_INTERNAL_H

#include "eventspace/run/run.h"
#include "measure/packets/packets.h"
#include "measure/processes/processes.h"
#include "measure/profiler/profiler.h"

#define MEASURE__CAPTURES 16

/* Processes of one label: what may become a node. */
typedef struct measure__group {
    const char *label;
    int64_t cpu_ns;
    uint64_t messages;
    bool wanted; /* it is a process of the run */
    uint32_t node;
} measure__group;

typedef struct measure__making {
    const measure_profile_options *options;
    measure_profile_notes *notes;
    predict_profile *profile;
    measure_watch *watch;
    const measure_processes *seen;
    measure__group *groups;
    size_t group_count;
    uint32_t *group_of; /* by process */
    int64_t real_ns;    /* REALTIME at the command's start */
    uint64_t network;   /* our network namespace */
    measure_capture *captures[MEASURE__CAPTURES];
    size_t capture_count;
    bool capture_failed;
    const char *run_directory;
    eventspace_run *run; /* of that directory; NULL: there is none */
    char counter[128];   /* of this machine (eventspace_ticks_name); "" */
} measure__making;

/* --- profiler_notes.c --- */

void measure__note(measure__making *m, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* --- profiler_nodes.c --- */

int measure__make_groups(measure__making *m);
/* Nodes of those groups that are worth it. */
int measure__make_nodes(measure__making *m);
/* Where probing and the kernel differ. */
void measure__compare(measure__making *m);

/* --- profiler_launchers.c --- */

/* Do all processes of a group do nothing but start others? */
bool measure__is_launcher(const measure__making *m, uint32_t group);

/* --- profiler_messages.c --- */

int measure__open_captures(measure__making *m);
void measure__step_captures(measure__making *m);
/* From packets to messages between groups, which makes nodes of them. */
typedef struct measure__messages {
    predict_message *items; /* from, to: groups */
    size_t count;
    uint64_t strange; /* with somebody who is none of the command's */
} measure__messages;
int measure__take_packets(measure__making *m, measure__messages *out);
int measure__add_messages(measure__making *m, const measure__messages *from);

/* --- profiler_traces.c --- */

/* The run directory of `eventspace run ... --output DIR`, or of `eventspace
 * mpi` behind a launcher; NULL. */
const char *measure__find_run(char *const *argv);
/* Opens it, once the command has ended. */
int measure__open_run(measure__making *m);
/* What a process that was seen is called: of a rank, and what it has started,
 * the name of the process of the run. */
const char *measure__label_of(const measure__making *m,
                              const measure_process *process);
void measure__want_processes(measure__making *m);
int measure__add_traces(measure__making *m);

#endif
