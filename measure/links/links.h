/* links.h - L and B of a link, as a program sees them (papers 000, 3.2; 001,
 * 2).
 *
 * Messages of many sizes go there and back over TCP; half the time of a round
 * trip, the median of several, is fitted by L + size/B (least squares, weighted
 * so that it is the relative error that counts: small messages as much as large
 * ones). The processor time that both ends take for it gives `busy`.
 *
 * Threads: one thread per call. */
#ifndef MEASURE_LINKS_H
#define MEASURE_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEASURE_LINK_SIZES 32
#define MEASURE_LINK_PORT 4004 /* where an address has none */

typedef struct measure_link_size {
    uint64_t bytes;
    double median_s, min_s; /* one way */
    double fitted_s;
    uint32_t rounds;
} measure_link_size;

typedef struct measure_link {
    double latency_s; /* L */
    double bandwidth; /* B, bytes per second */
    double busy;      /* share of the time in which a processor was busy with
                         it: the mean of both ends */
    double rate;      /* what it carries for long, bytes per second: by the
                         largest sizes; 0: not less than B */
    double burst;     /* bytes that it lets through at once after a rest */
    double alone_s;   /* what a message takes besides its bytes, by the
                         smallest */
    double residual;  /* root mean square of (median - fitted)/fitted */
    bool by_min;      /* medians scatter so much that larger messages take no
                           longer than small ones: all is from the least
                           times, but for `residual` */
    measure_link_size sizes[MEASURE_LINK_SIZES];
    size_t size_count;
} measure_link;

typedef struct measure_link_options {
    uint64_t min, max; /* sizes, up to 16 MiB; 0: 1 byte, 1 MiB */
    double seconds_s;  /* about so long in all; 0: 2. What does not fit in is
                          left out, the largest sizes first */
    int processor;     /* pin this end there; -1: not */
    double timeout_s;  /* for connecting, and for silence; 0: 5 */
} measure_link_options;

/* The end that answers: listens at "ADDRESS:PORT" (paths/net/address.h; without
 * a port, any), tells the address that it got, and serves `clients`
 * measurements (0: for ever), one after another. Strangers, and clients that
 * are silent for 10 s, are sent away and not counted. Errors: PASTSET_EIO,
 * PASTSET_EINVAL. */
int measure_link_serve(const char *address, uint32_t clients, int processor,
                       void (*listening)(void *context, const char *address),
                       void *context);
/* The end that measures. Errors: PASTSET_EHOST: nobody is there, or it is not
 * `netbench --serve`; PASTSET_EIO; PASTSET_EINVAL. */
int measure_link_run(measure_link *out, const char *address,
                     const measure_link_options *options);
/* L and B by some small messages and two of `bytes`, with little load for the
 * link: for looks every few seconds. Messages that a shaper lets through at
 * once look as fast as the wire; so `bytes` should be more than its burst.
 * `*latency_s` is set as soon as it is known, also when no bandwidth can be
 * told. Errors: those of measure_link_run. */
int measure_link_probe(double *latency_s, double *bandwidth,
                       const char *address, uint64_t bytes, double timeout_s);
/* Both ends on this machine, over loopback, on two processors if there are;
 * `processor` is where this end is. Errors: those of the two above. */
int measure_link_here(measure_link *out, const measure_link_options *options);
/* Only the fit, of sizes[].median_s, or of min_s: see by_min. Errors:
 * PASTSET_EINVAL (fewer than two sizes, or times that make no link). */
int measure_link_fit(measure_link *link);

#endif
