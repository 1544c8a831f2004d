/* cluster.h - machines and how they are connected: a DOT graph.
 *
 * It is the cluster mapping of path maps (docs/map.md) with present conditions
 * in it. Machines are nodes, or nodes of subgraphs `cluster_*`; edges are
 * links, both ways unless there is one for the other way. A node with
 * kind=switch is none of the machines, but links lead over it.
 *
 *   machine  load=0.5  law=fair  speed=1  processors=2  place=NAME (machines
 *            of one place share its processors; default: each machine has its
 *            own)
 *   edge     bandwidth="100mbit"  latency="150us"
 *            rate="9.6mbit"  burst=1600  alone="20us": its flow (profile.h),
 *            for replays: what it carries for long, the bytes that it lets
 *            through at once, the time of a small message
 *
 * Without them a machine has load 0, law eevdf, speed 1 and one processor; a
 * link needs bandwidth and latency. A link with a rate has a burst of 0 and
 * takes `latency` for alone, unless it says other; without one its flow is not
 * known. Other attributes are left to others.
 *
 * A message goes over the link between the two machines, if there is one, else
 * over switches (machines do not forward), on the route of least latency, then
 * of fewest links, then of most bandwidth; its L is the sum, its B the least on
 * that way. If the narrowest of its links, by rate, else bandwidth, has a flow,
 * the way has its rate and burst, and of alone (else L) the sum; if that link
 * has none, the way has none. (Different streams on one link are taken not to
 * share it: 001, section 5.)
 *
 * Threads:   may be read by any.
 * Ownership: read gives, destroy takes back. */
#ifndef PREDICT_CLUSTER_H
#define PREDICT_CLUSTER_H

#include <stdint.h>
#include <stdio.h>

#include "predict/models/scheduler_model.h"
#include "predict/models/models.h"
#include "predict/profile/profile.h"

typedef struct predict_machine {
    char *name;
    double load;
    double split_load; /* the load by which work is divided; as read: `load` */
    double speed;
    predict_scheduler scheduler;
    uint32_t place; /* index: machines of the same one share processors */
} predict_machine;

/* A link between two nodes, in both directions. */
typedef struct predict_cable {
    uint32_t from, to;
    double bandwidth; /* bytes/s; of the slower direction */
} predict_cable;

typedef struct predict_cluster {
    predict_machine *machines;
    uint32_t machine_count;
    uint32_t *processors; /* by place */
    uint32_t place_count;
    predict_wire *wires; /* machine_count x machine_count, from row to column;
                            bandwidth 0: there is no way */
    predict_flow *flows; /* the same of flows, rate 0: not known; NULL if no
                            link has one */
    char **nodes; /* names of machines and switches, in the file's order */
    uint32_t node_count;
    uint32_t *node_of; /* by machine: its node */
    predict_cable *links;
    uint32_t link_count;
    uint32_t *last_links; /* machine_count x node_count: the link by which a
                             message from the machine reaches the node */
} predict_cluster;

/* Errors: PASTSET_EIO, PASTSET_ENOMEM, PASTSET_EFORMAT: "file:line: ", the name
 * of the machine or link, and what is wrong with it. At most 2000 machines. `-`
 * is standard input. */
int predict_cluster_read(predict_cluster **out, const char *file);
void predict_cluster_destroy(predict_cluster *cluster);

/* The number of the machine of that name; PREDICT_NONE: there is none. */
uint32_t predict_cluster_find(const predict_cluster *cluster,
                              const char *machine);
/* The links that a message goes over from one machine to another, by number,
 * the last one first; `out` has room for node_count of them. Gives how many
 * these are: 0, if there is no way, or none is needed. */
uint32_t predict_cluster_way(const predict_cluster *cluster, uint32_t from,
                             uint32_t to, uint32_t *out);

/* What was measured and is to be written into a cluster file. */
typedef struct predict_cluster_change {
    /* `to` is NULL for a machine, else a link machine--to. */
    const char *machine, *to;
    const char *key, *value; /* value NULL: the attribute is taken out */
} predict_cluster_change;

/* Writes the file anew with these attributes; machines and links that are not
 * in it yet are added, all else stays (comments do not). A link that is only in
 * it for the other direction stands for both, and is changed. `file` need not
 * exist. Errors: PASTSET_EIO, PASTSET_EFORMAT, PASTSET_ENOMEM. */
int predict_cluster_update(const char *file,
                           const predict_cluster_change *changes, size_t count);

#endif
