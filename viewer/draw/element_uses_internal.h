/* element_uses_internal.h - which threads use which element, and what follows
 * from that: who communicates with whom over it, or that it is where many meet.
 * Between traffic.c and element_uses.c. */
#ifndef VIEWER_ELEMENT_USES_INTERNAL_H
#define VIEWER_ELEMENT_USES_INTERNAL_H

#include "scopes/causality/communication_times.h"
#include "viewer/draw/traffic_internal.h"

/* What went over one path of a thread. */
typedef struct viewer__use {
    uint32_t element; /* node of the map */
    uint32_t process;
    bool is_joint; /* by a collective */
    bool writes, reads;
    viewer_way way;
    int64_t time_ns;
} viewer__use;

typedef struct viewer__uses {
    viewer__use *items;
    size_t count;
    uint32_t *site_of; /* by node: its site + 1; 0: none */
} viewer__uses;

/* Errors: PASTSET_ENOMEM. */
int viewer__uses_add(viewer__uses *uses, const scopes_topology *topology,
                     const scopes_top *top, const scopes_path *path);
/* Adds the sites, and tells of what went over other elements; with `only_sites`
 * nothing is told. Errors: PASTSET_ENOMEM, those of `each`. */
typedef int viewer__flow_each(void *context, uint32_t from, uint32_t to,
                              bool is_received, const viewer_way *flow);
int viewer__uses_sum(viewer__uses *uses, viewer_traffic *traffic,
                     bool only_sites, viewer__flow_each *each, void *context);
/* The site of an element, if it is one; before they are sorted. */
viewer_site *viewer__uses_site(const viewer__uses *uses,
                               viewer_traffic *traffic, uint32_t element);
void viewer__uses_fini(viewer__uses *uses);

#endif
