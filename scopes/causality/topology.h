/* topology.h - what stands between the collectors of a path map.
 *
 * Views see a map by its collectors: from each of them there is one hop down,
 * to the next collector on the way or to the element, and in between stand
 * wrappers. Where several collectors have the same next one, operations join:
 * at a collective wrapper, or (ways that only join) without collective site.
 *
 * Threads:   may be read by any.
 * Ownership: make gives, free takes back; it refers to the map. */
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
    bool remote;         /* it leads to another process */
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
typedef struct scopes_site {
    uint32_t node; /* of the map */
    uint32_t process;
    uint32_t element;  /* node of the element at the end of the way */
    uint32_t lower;    /* the collector below it; PATHS_NONE */
    bool shared;       /* other ways join this one before `lower`, so that not
                          all that passes there comes from here */
    scopes_ids inputs; /* the collectors above it, in the order of the edges;
                          PATHS_NONE for a way in that has none */
    uint32_t parent;   /* the collective site further down; PATHS_NONE: this is
                          the   root of its tree */
    uint32_t parent_input; /* number of the parent's input that is reached
                              from here */
    uint32_t depth;        /* 0 for the root */
} scopes_site;

/* The top of a thread's path. */
typedef struct scopes_top {
    uint32_t thread;    /* its number */
    uint32_t edge;      /* of the map, which leaves the thread */
    uint32_t collector; /* id; PATHS_NONE: this path has none at its top */
    uint32_t element;   /* node */
    uint32_t site;      /* the first one on the way; PATHS_NONE */
    uint32_t input;     /* number of its input that is reached from here */
    const char *name;   /* its `as`, else the element's name */
} scopes_top;

typedef struct scopes_topology {
    const paths_map *map;
    scopes_hop *hops;  /* by collector id; `upper` is PATHS_NONE where there is
                          no such collector */
    scopes_ids *above; /* by collector id: the collectors one hop above it */
    uint32_t *nodes;   /* by collector id */
    uint32_t collectors;
    scopes_site *sites; /* parents before their children */
    uint32_t site_count;
    scopes_top *tops; /* by thread, then in the order of the map */
    uint32_t top_count;
    scopes_ids *lowest; /* by node: of an element, the collectors that stand
                           last on a way to it */
    uint32_t *threads;  /* node by thread number */
    uint32_t thread_count;
} scopes_topology;

/* Errors: PASTSET_EMAP, PASTSET_ENOMEM. */
int scopes_topology_create(scopes_topology **out, const paths_map *map);
/* NULL is allowed. */
void scopes_topology_destroy(scopes_topology *topology);

/* The number of the input by which a thread's operations come to a collective
 * site; PATHS_NONE when they do not. There is one at most. */
uint32_t scopes_topology_input(const scopes_topology *topology, uint32_t site,
                               uint32_t thread);

/* Names for tables: "" when there is none. */
const char *scopes_topology_node_name(const scopes_topology *topology,
                                      uint32_t node);
const char *scopes_topology_process_name(const scopes_topology *topology,
                                         uint32_t process);
const char *scopes_topology_thread_name(const scopes_topology *topology,
                                        uint32_t thread);
const char *scopes_topology_collector_name(const scopes_topology *topology,
                                           uint32_t id);

#endif
