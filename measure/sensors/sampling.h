/* sampling.h - sensors that sample a machine and its links for as long as they
 * are let: how much of a processor one more thread would get, and L and B of
 * links to other machines.
 *
 * Processors are looked at by the calling thread some ten times a second;
 * another thread sends small messages over the links, one after another. What
 * does not answer is tried less and less often, at most every five minutes:
 * there is a gap in its histories.
 *
 * Threads: one thread per call. */
#ifndef MEASURE_SAMPLING_H
#define MEASURE_SAMPLING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure/sensors/histories.h"

typedef struct measure_sampling_link {
    const char *to; /* the machine at the other end */
    const char
        *address; /* where `netbench --serve`, or another watch, answers */
} measure_sampling_link;

/* Where samples go, and what happens meanwhile. */
typedef struct measure_sampling_calls {
    void *context;
    /* Waits. False: it is the end. Called by the calling thread only. */
    bool (*rest)(void *context, int64_t ns);
    /* A sample; called by one thread at a time. */
    void (*sample)(void *context, measure_kind kind, const char *place,
                   int64_t time_ms, double value);
    /* Something failed that worked before, `err` with its pastset_error, or
     * works again: 0. */
    void (*changed)(void *context, const char *place, int err);
} measure_sampling_calls;

typedef struct measure_sampling_options {
    const char *machine; /* what this one is called */
    int processor;       /* -1: all of the machine */
    int64_t interval_ns; /* between two samples of the processors */
    uint64_t samples;    /* it ends after so many; 0: never */
    const measure_sampling_link *links;
    size_t link_count;
    int64_t link_interval_ns; /* between two samples of each link */
    uint64_t bytes;           /* of a large message */
} measure_sampling_options;

/* Until it is the end. Errors: those of availability.h when it begins;
 * PASTSET_ELIMIT (there can be no thread). */
int measure_sampling_run(const measure_sampling_options *options,
                         const measure_sampling_calls *calls);

/* "n0-n1"; `out` is of 512 bytes. */
const char *measure_sampling_link_name(char *out, const char *from,
                                       const char *to);

#endif
