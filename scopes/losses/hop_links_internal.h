/* hop_links_internal.h - how long operations take on the hops of their ways,
 * compared with other hops, or with the same at its best.
 *
 * A hop leads from a collector to the one below it, and back. Hops between two
 * processes are one link, in both directions and with what stands in front of
 * them in their process (a delay) since the thread or the collective. Each hop
 * within a process is a link of its own.
 *
 * A link is compared with its peers: those that lead to another process, too;
 * or, within one, that begin at a thread, or have a collective in between, if
 * it does. Tuples on them must be of about that size. The lesser median of what
 * these take in the mean counts; where there is none, what the link itself
 * takes at most in the fastest tenth. It is delayed if it takes twice that.
 *
 * Threads:   may be read by any once made.
 * Ownership: make gives, free takes back. */
#ifndef SCOPES_HOP_LINKS_INTERNAL_H
#define SCOPES_HOP_LINKS_INTERNAL_H

#include "scopes/waiting/waiting_internal.h"

typedef struct scopes__link {
    uint32_t process, other; /* the lesser number first; the same: within it */
    uint32_t hop;            /* the lowest collector above one of its hops */
    bool has_collective, is_top; /* it begins at threads */
    uint32_t ways;               /* of operations that lead over it */
    uint64_t count;              /* of operations */
    double ns;                   /* there and back, of a way in the mean */
    double best_ns, bytes;
    double peer_ns; /* 0: there is nothing to compare with */
    bool is_delayed;
} scopes__link;

typedef struct scopes__links {
    scopes__link *items;
    uint32_t count, collectors;
    uint32_t *of; /* by collector id: of the hop below; SCOPES_MISSING */
} scopes__links;

/* Errors: PASTSET_ENOMEM, PASTSET_ENOSPC. */
int scopes__links_make(scopes__links *links, const scopes__waiting *waiting);
/* Also of what was not made, if it is zero. */
void scopes__links_free(scopes__links *links);

/* --- parts of making it --- */

/* A direction of a hop. */
#define SCOPES__HOP_TIMES 512
typedef struct scopes__hop_times {
    uint64_t count;
    double sum_ns;
    int64_t kept_ns[SCOPES__HOP_TIMES]; /* some of them */
} scopes__hop_times;

typedef struct scopes__hop_sample {
    scopes__hop_times down, up;
    double bytes;
} scopes__hop_sample;

/* By collector id; NULL where nothing passed the hop below. The caller frees
 * all (hop_samples.c). */
int scopes__hop_samples(scopes__hop_sample **samples,
                        const scopes__waiting *waiting);

#endif
