/* profiler.h - runs a command and measures its profile
 * (predict/profile/profile.h).
 *
 * Phases are times in which any thread of a node was busy: had a processor, or
 * was ready for one (as a probe finds it). Two that are less than 5 us apart
 * are one: so long does it take to switch from one thread to another.
 *
 * Threads:   one thread; it waits until the command has ended. */
#ifndef MEASURE_PROFILER_H
#define MEASURE_PROFILER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "predict/profile/profile.h"

typedef struct measure_profile_options {
    char **argv;
    int64_t interval_ns;           /* 0: 20 ms */
    const char *const *interfaces; /* to capture from, NULL-terminated; NULL:
                                      "lo". Empty: none */
    const char *filter;            /* of the capture; NULL: "tcp" */
    const char *run_directory;     /* if it leaves one: messages and steps come
                                      from its trace tuples; NULL: it is looked
                                      for in `eventspace run ... --output DIR` */
    const char *packets_file;      /* read these instead of capturing */
    bool no_packets;
    bool no_switches;  /* phases by probing alone, as in the papers */
    double differ;     /* share by which the two methods may differ; 0: 0.05 */
    double idle_share; /* processes with less of the processor time than this,
                          and without messages, are no nodes; 0: 0.01 */
    int output; /* descriptor for the command's standard output; -1: ours */
    int errors; /* the same for its standard error; 0: ours */
    /* A number that a handler of the caller's event tables is a signal to be
     * passed on to the command; it is set to 0 then. NULL: none are. */
    volatile sig_atomic_t *pass_on;
} measure_profile_options;

/* What a user should know. */
typedef struct measure_profile_notes {
    int exit_code; /* of the command */
    char **texts;  /* sentences: methods that differ, what was not allowed
                      and what was done instead, packets lost ... */
    size_t text_count;
    bool incomplete;   /* something that was asked for could not be had; the
                          profile holds the rest */
    double watching_s; /* processor time that the measuring took */
} measure_profile_notes;

/* A command that fails is profiled all the same; `exit_code` tells.
 * Errors: PASTSET_ENOENT: no such program; PASTSET_EINVAL; PASTSET_EIO;
 * PASTSET_ENOMEM. */
int measure_profile(predict_profile **out, measure_profile_notes *notes,
                    const measure_profile_options *options);
void measure_profile_notes_clear(measure_profile_notes *notes);

#endif
