/* condition.h - one condition: what load a node carries, or how good a link is,
 * as a text, NAME:KEY=VALUE[,KEY=VALUE...].
 *
 *   n0:load=1              one process competes on node n0 (or a load average)
 *   n0:load=1,law=fair     and its scheduler follows that scheduler model
 *   n0:speed=0.5           its processor is half as fast as it was
 *   n0:load=1,session=other
 *                          which is of another session, where Linux first
 *                          divides a processor among sessions (autogroup)
 *   n0:waiting=yield       while it waits for messages it does that (profile.h:
 *                          sleep, spin or yield)
 *   *:load=1               all nodes
 *   n0-n1:latency=400us,bandwidth=10mbit
 *                          the link between n0 and n1 has L and B; either may
 *                          be left out (as it was)
 *   *:bandwidth=10mbit     all links
 *   n0-n1:latency=9us,bandwidth=13mbit,rate=9.6mbit,burst=1600,alone=20us
 *                          its flow (profile.h) as well, for the replay
 *   n0-n1:busy=0.3         how busy it keeps its processors
 *
 * n1-n0 is n0-n1. Where one thing is told twice, the last one counts. The form
 * of before, n0=load:1 and n0-n1=10mbit,400us, is refused with the one of now.
 *
 * Units as in path maps (docs/map.md): bandwidths bit, kbit, mbit, gbit, B, kB,
 * MB, GB per second; times ns, us, ms, s, min.
 *
 * Threads: any. */
#ifndef PREDICT_CONDITION_H
#define PREDICT_CONDITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "predict/models/scheduler_model.h"
#include "predict/models/models.h"
#include "predict/profile/profile.h"

/* What a condition can tell, as bits. */
enum {
    PREDICT_LOAD = 1,
    PREDICT_SCHEDULER = 2,
    PREDICT_SPEED = 4,
    PREDICT_BANDWIDTH = 8,
    PREDICT_LATENCY = 16,
    PREDICT_RATE = 32,
    PREDICT_BURST = 64,
    PREDICT_ALONE = 128,
    PREDICT_BUSY = 256,
    PREDICT_WAITING = 1024,
    PREDICT_SESSION = 2048,
    PREDICT_UNNAMED = 512, /* only in `allowed`: of all links, without "*:" */
    PREDICT_OF_NODES = PREDICT_LOAD | PREDICT_SCHEDULER | PREDICT_SPEED |
                       PREDICT_WAITING | PREDICT_SESSION,
    PREDICT_OF_LINKS = PREDICT_BANDWIDTH | PREDICT_LATENCY | PREDICT_RATE |
                       PREDICT_BURST | PREDICT_ALONE,
    PREDICT_OF_PROFILED_LINKS =
        PREDICT_OF_LINKS | PREDICT_BUSY | PREDICT_UNNAMED,
};

typedef struct predict_condition {
    unsigned told; /* bits as above, never none; of a node or of a link */
    bool all;      /* `*` */
    uint32_t a, b; /* else the index of the node, or of both ends */
    double load;   /* here and below: 0 when it is not told */
    predict_scheduler scheduler;
    double speed;
    uint32_t waiting;      /* predict_waiting */
    bool of_other_session; /* its load is */
    predict_wire wire;
    predict_flow flow;
    double busy;
} predict_condition;

/* Reads a text. It may tell what is in `allowed` (bits as above), and name
 * nodes in `names` (NULL: not known yet). Names may have a '-' in them.
 * Errors: PASTSET_EINVAL; PASTSET_ENOENT: no node or link of that name. */
int predict_condition_parse(predict_condition *out, const char *text,
                            unsigned allowed, const char *const *names,
                            size_t count);
/* Whether it can be read, whatever the names are. Errors: PASTSET_EINVAL. */
int predict_condition_check(const char *text, unsigned allowed);

/* Whether it is about this node, or the link between these, in any order. */
bool predict_condition_of_node(const predict_condition *c, uint32_t node);
bool predict_condition_of_link(const predict_condition *c, uint32_t a,
                               uint32_t b);

/* What a condition says of a link: "latency=151.2us,bandwidth=94.12mbit", and
 * its flow if it has one. */
#define PREDICT_LINK_TEXT_BYTES 192
const char *predict_link_text(predict_wire wire, predict_flow flow,
                              char *buffer, size_t bytes);

#endif
