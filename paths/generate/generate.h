/* generate.h - path generate functions: three mappings make a path map.
 *
 * Paper 004, section 4.1. (1) The application mapping says which threads use
 * which elements, and how. (2) The cluster mapping says which processes there
 * are. (3) The application-to-cluster mapping says which threads and elements
 * live on which process. All three are small Graphviz graphs:
 *
 *   application  t0 -> up_0 [as=to_above, use=write];  t0, up_0 are nodes with
 *                kind=thread / kind=element and their attributes, as in a path
 *                map, but in no process and with no wrappers
 *   cluster      process nodes h0 [address="10.0.0.4:7000"]; subgraph cluster_x
 *                groups processes of one cluster; an edge h0 -> h1
 *                [latency="2ms", bandwidth="10mbit"] describes a link: paths
 *                over it get a `delay` wrapper when it says `simulate=true`. It
 *                stands for both directions unless there is an edge h1 -> h0
 *                too
 *   placement    edges t0 -> h0; up_0 -> h1
 *
 * Threads are numbered in their order when none of them has a number. The
 * attributes of threads, elements and uses go into the path map as they are,
 * those of process nodes become those of the process, and `cluster` of a
 * process names the group it stands in. The nodes of a path are
 * "<thread>.<as>.proxy" and "<thread>.<as>.delay".
 *
 * Edges whose use is a collective one, as in t0 -> total [use=sum], become a
 * tree of wrappers of that kind, from the threads to the element:
 * "<element>.<use>", and the same with ".<process>", ".<cluster>" or
 * ".<thread>". The element says its shape and its fanout, and the attributes
 * that its wrappers get: deadline, waiting, function. docs/map.md tells more.
 *
 * Threads:   none shared.
 * Ownership: the caller owns what it gets. */
#ifndef PATHS_GENERATE_H
#define PATHS_GENERATE_H

#include <stdbool.h>
#include <stdint.h>

#include "paths/map/path_map.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where the threads go that the placement does not name. */
typedef enum paths_spread {
    PATHS_BLOCK,  /* thread i of n goes to process i * processes / n */
    PATHS_CYCLIC, /* thread i goes to process i mod processes */
} paths_spread;

/* Where the elements go that the placement does not name. */
typedef enum paths_home {
    PATHS_WITH_READER, /* with the first thread that reads it */
    PATHS_WITH_WRITER, /* with the first thread that writes it */
} paths_home;

typedef struct paths_generate_options {
    const paths_map *application;
    const paths_map *cluster; /* NULL: `processes` processes h0, h1 ... here */
    uint32_t processes;
    const paths_map *placement; /* NULL: everything by `spread` and `home` */
    paths_spread spread;
    paths_home home;
    /* Of the trees of elements that do not say it themselves: */
    const char *shape; /* flat, hierarchical, binomial; NULL: hierarchical */
    unsigned fanout;   /* most inputs of one wrapper, from 2; 0: any number */
} paths_generate_options;

/* True for the words of `use` by which threads do something together: sum, min,
 * max, product, and, or, xor, reduce, barrier, broadcast, gather, scatter,
 * alltoall. Their wrappers are of the kind of this name. */
bool paths_is_collective(const char *use);

/* Reads a mapping (any of the three): a graph as of map.h, except that nodes
 * need no `kind` and may be process nodes. Diagnostics name file and line.
 * Errors: PASTSET_EIO, PASTSET_EMAP. */
int paths_mapping_read(paths_map **out, const char *file);

/* Makes the path map: each thread and element on its process, and for each use
 * the path from the thread to the element, with a `proxy` on the thread's
 * process where the two differ. For collective uses it lays a tree.
 * Errors: PASTSET_EMAP with file, line and node; PASTSET_EINVAL (no such shape
 * or fan-out); PASTSET_ENOMEM. */
int paths_generate(paths_map **out, const paths_generate_options *options);

#ifdef __cplusplus
}
#endif

#endif
