/* topology_internal.h - what the files that make a topology share. */
#ifndef SCOPES_TOPOLOGY_INTERNAL_H
#define SCOPES_TOPOLOGY_INTERNAL_H

#include "scopes/causality/topology.h"

/* What is only needed while it is made. */
typedef struct scopes__topology_maker {
    const paths_map *map;
    scopes_topology *topology;
    uint32_t *next; /* by node: the node below it; PATHS_NONE */
    uint32_t *ids;  /* by node: of a collector, its id; else PATHS_NONE */
    uint32_t *at;   /* by node: the number of its collective site; PATHS_NONE */
    uint32_t *site; /* by collector: to whose input it leads; PATHS_NONE */
    uint32_t *input;   /* by collector: and the number of that input */
    uint32_t *by_edge; /* by edge: the input, where no collector stands
                          between the thread and the collective site */
    bool *joins;       /* by node: it is a collective */
} scopes__topology_maker;

/* The element at the end of the way that passes a node; PATHS_NONE. */
static inline uint32_t scopes__topology_element(const scopes__topology_maker *m,
                                                uint32_t node)
{
    uint32_t at = node;

    while (m->next[at] != PATHS_NONE)
        at = m->next[at];
    return m->map->nodes[at].kind == PATHS_ELEMENT ? at : PATHS_NONE;
}

/* Errors: PASTSET_ENOMEM. */
int scopes__topology_add(scopes_ids *list, uint32_t id);
/* Leaves the text of PASTSET_ENOMEM, and returns it. */
int scopes__topology_no_memory(void);

/* Fill in the collective sites, and then the tops (topology_sites.c). Errors:
 * PASTSET_EMAP, PASTSET_ENOMEM. */
int scopes__topology_sites(scopes__topology_maker *m);
int scopes__topology_tops(scopes__topology_maker *m);

#endif
