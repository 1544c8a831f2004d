/* topology.h - what stands between the collectors of a path map.
 *
 * Views see a map by its collectors: from each of them there is one hop down,
 * to the next collector on the way or to the element, and in between stand
 * wrappers. Where several collectors have the same next one, operations join:
 * at a collective wrapper, or (ways that only join) without meeting.
 *
 * Threads:   may be read by any.
 * Ownership: make gives, free takes back; the map is borrowed. */
#ifndef SCOPES_TOPOLOGY_H
#define SCOPES_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "paths/map/map.h"

/* From a collector down. */
typedef struct scopes_hop {
    uint32_t upper;      /* collector id */
    uint32_t lower;      /* collector id; PATHS_NONE: there is none below */
    uint32_t collective; /* node of the (lowest) collective wrapper in
                            between; PATHS_NONE */
    uint32_t proxy;      /* node of the (lowest) proxy in between; PATHS_NONE */
    uint32_t element;    /* node to which the way leads; PATHS_NONE if none */
    bool remote;         /* it leads to another host */
    char *name;          /* what stands in between, from the top: node names
                            joined by " > "; the element's when nothing else
                            does, "" when nothing does */
} scopes_hop;

/* Collectors (ids) from which ways lead to one wrapper or collector. */
typedef struct scopes_ids {
    uint32_t *ids;
    uint32_t count;
} scopes_ids;

/* A collective wrapper, as collectors see it. When several collectives stand
 * above each other without a collector in between, they are seen as one: the
 * lowest. */
typedef struct scopes_meeting {
    uint32_t node; /* of the map */
    uint32_t host;
    uint32_t element;  /* node of the element at the end of the way */
    uint32_t lower;    /* the collector below it; PATHS_NONE */
    bool shared;       /* other ways join this one before `lower`, so that not
                          all that passes there comes from here */
    scopes_ids inputs; /* the collectors above it, in the order of the edges;
                          PATHS_NONE for a way in that has none */
    uint32_t parent;   /* the meeting further down; PATHS_NONE: this is the
                          root of its tree */
    uint32_t parent_input; /* number of the parent's input that is reached
                              from here */
    uint32_t depth;        /* 0 for the root */
} scopes_meeting;

/* The top of a thread's path. */
typedef struct scopes_top {
    uint32_t thread;    /* its number */
    uint32_t edge;      /* of the map, which leaves the thread */
    uint32_t collector; /* id; PATHS_NONE: this path has none at its top */
    uint32_t element;   /* node */
    uint32_t meeting;   /* the first one on the way; PATHS_NONE */
    uint32_t input;     /* number of its input that is reached from here */
    const char *name;   /* its `as`, else the element's name */
} scopes_top;

typedef struct scopes_ways {
    const paths_map *map;
    scopes_hop *hops;  /* by collector id; `upper` is PATHS_NONE where there is
                          no such collector */
    scopes_ids *above; /* by collector id: the collectors one hop above it */
    uint32_t *nodes;   /* by collector id */
    uint32_t collectors;
    scopes_meeting *meetings; /* parents before their children */
    uint32_t meeting_count;
    scopes_top *tops; /* by thread, then in the order of the map */
    uint32_t top_count;
    scopes_ids *lowest; /* by node: of an element, the collectors that stand
                           last on a way to it */
    uint32_t *threads;  /* node by thread number */
    uint32_t thread_count;
} scopes_ways;

/* Errors: PASTSET_EMAP, PASTSET_ENOMEM. */
int scopes_ways_make(scopes_ways **out, const paths_map *map);
/* NULL is allowed. */
void scopes_ways_free(scopes_ways *ways);

/* The number of the input by which a thread's operations come to a meeting;
 * PATHS_NONE when they do not. There is one at most. */
uint32_t scopes_ways_input(const scopes_ways *ways, uint32_t meeting,
                           uint32_t thread);

/* Names for tables: "" when there is none. */
const char *scopes_ways_node_name(const scopes_ways *ways, uint32_t node);
const char *scopes_ways_host_name(const scopes_ways *ways, uint32_t host);
const char *scopes_ways_thread_name(const scopes_ways *ways, uint32_t thread);
const char *scopes_ways_collector_name(const scopes_ways *ways, uint32_t id);

#endif
