/* traffic_internal.h - who communicated with whom in a run: what a picture of
 * it shows.
 *
 * A link is two processes that communicated, by messages or over an element
 * that one of them writes and the other reads; a site is what more than two of
 * them meet at: a collective, or an element that several write and several
 * read. All are sums of what views and the table `message` have.
 *
 * Threads:   one.
 * Ownership: make gives, destroy takes back. Names are those of the run's map,
 *            which must stay in place. */
#ifndef VIEWER_TRAFFIC_INTERNAL_H
#define VIEWER_TRAFFIC_INTERNAL_H

#include <stdint.h>

#include "scopes/reading/snapshot.h"

/* One direction. Of a message whose two ends are not both there, the one that
 * is counts. */
typedef struct viewer_way {
    uint64_t messages, bytes;
} viewer_way;

typedef struct viewer_link {
    uint32_t ends[2];   /* processes, the lower number first */
    viewer_way ways[2]; /* from ends[0] to ends[1], and back */
    int64_t waiting_ns; /* of both, for each other */
} viewer_link;

typedef struct viewer_site {
    const char *name; /* of the element: "MPI_Allreduce" */
    uint32_t processes;
    uint64_t rounds; /* as far as one of its threads has come */
    uint64_t bytes;
    int64_t time_ns;    /* of its operations, of all threads together */
    int64_t waiting_ns; /* of that, for others who came later */
} viewer_site;

/* What stands for a process, or, when folded, for several that follow each
 * other. */
typedef struct viewer_place {
    uint32_t first, last;                   /* processes of the map */
    int64_t communicating_ns, computing_ns; /* of their threads */
} viewer_place;

typedef struct viewer_traffic {
    const paths_map *map;
    viewer_place *places;
    uint32_t place_count;
    uint32_t folded;    /* processes in a place; 1: not folded */
    viewer_link *links; /* by their ends, which are places */
    size_t link_count;
    viewer_site *sites; /* those with the most time first */
    size_t site_count;
    viewer_way inside; /* from places to themselves: in no link */
    uint64_t lost;     /* events */
} viewer_traffic;

/* Errors: PASTSET_ENOMEM, and those of views. */
int viewer__traffic_make(viewer_traffic **out, const scopes_snapshot *snapshot);
/* NULL is allowed. */
void viewer__traffic_destroy(viewer_traffic *traffic);

/* Makes one place of each `count` that follow each other; what they sent to
 * each other is `inside` then. */
void viewer__traffic_fold(viewer_traffic *traffic, uint32_t count);

/* The most that there can be, where a damaged file has more. */
static inline int64_t viewer__sum_ns(int64_t a, int64_t b)
{
    int64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* Both directions together. */
static inline uint64_t viewer__link_bytes(const viewer_link *link)
{
    return link->ways[0].bytes + link->ways[1].bytes;
}

static inline uint64_t viewer__link_messages(const viewer_link *link)
{
    return link->ways[0].messages + link->ways[1].messages;
}

#endif
