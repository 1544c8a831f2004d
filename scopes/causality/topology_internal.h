/* topology_internal.h - what topology.c and topology_sites.c share. */
#ifndef SCOPES_TOPOLOGY_INTERNAL_H
#define SCOPES_TOPOLOGY_INTERNAL_H

#include "scopes/causality/topology.h"

/* What is only needed while ways are made. */
typedef struct scopes__ways_maker {
    const paths_map *map;
    scopes_ways *ways;
    uint32_t *next;    /* by node: the node below it; PATHS_NONE */
    uint32_t *ids;     /* by node: of a collector, its id; else PATHS_NONE */
    uint32_t *at;      /* by node: the number of its meeting; PATHS_NONE */
    uint32_t *meeting; /* by collector: to whose input it leads; PATHS_NONE */
    uint32_t *input;   /* by collector: and the number of that input */
    uint32_t *by_edge; /* by edge: the input, where no collector stands
                          between the thread and the meeting */
    bool *joins;       /* by node: it is a collective */
} scopes__ways_maker;

/* Fill in the meetings, and then the tops. Errors: PASTSET_EMAP,
 * PASTSET_ENOMEM. */
int scopes__ways_meetings(scopes__ways_maker *m);
int scopes__ways_tops(scopes__ways_maker *m);

/* The element at the end of the way that passes a node. */
uint32_t scopes__ways_element(const scopes__ways_maker *m, uint32_t node);

int scopes__ways_add(scopes_ids *list, uint32_t id);
/* Leaves the text of PASTSET_ENOMEM, and returns it. */
int scopes__ways_no_memory(void);

#endif
