/* models.h - formulas for the time that a program takes when processors and
 * links are shared, from what it takes alone.
 *
 * Papers 000 and 001. All of them are functions of numbers: seconds, bytes,
 * bytes per second. Each gives its result by `out` and refuses numbers that
 * make no sense (negative, NaN, no bandwidth) with PASTSET_EINVAL and a text
 * that names the number.
 *
 * Threads: any. */
#ifndef PREDICT_MODELS_H
#define PREDICT_MODELS_H

#include <stddef.h>
#include <stdint.h>

#include "predict/models/scheduler_model.h"

/* How a node's time divides: the columns of 000, figure 3 and 001, table 1. */
typedef struct predict_times {
    double comp_s, comm_s, idle_s; /* their sum is the execution time */
} predict_times;

/* A message's time: L + size/B. */
typedef struct predict_wire {
    double latency_s; /* L */
    double bandwidth; /* B, bytes per second */
} predict_wire;

typedef struct predict_bounds {
    double lower_s, upper_s;
} predict_bounds;

/* One shared node, by phases: 000, 2.1 and 001, 3.2. Of each busy phase and
 * the idle one after it as predict_scheduler_extra. Gives the factor by which
 * the execution time grows: 1 + extra/(busy + idle), with the average phases.
 */
int predict_node_by_phases(double *out, double busy_phase_s,
                           double idle_phase_s, double load,
                           predict_scheduler scheduler);

/* The same by totals (001, 3.2: "2 * cpubusy"). By `credit` it is
 * max(busy + idle, (load + 1) * busy)/(busy + idle). Totals do not tell how
 * often a `bounded` credit was had; here it counts once. */
int predict_node_by_totals(double *out, double busy_s, double idle_s,
                           double load, predict_scheduler scheduler);

/* The same, phase after phase: seconds that the sequence takes with the load.
 * This is what 001, 3.2 asks for where long phases differ. */
typedef struct predict_span {
    double busy_s, idle_s;
} predict_span;
int predict_node_by_sequence(double *out, const predict_span *phases,
                             size_t count, double load,
                             predict_scheduler scheduler);

/* One shared link: 001, 4.1. Seconds that are added:
 *
 *   [(newL + size/newB) - (L + size/B)] * count
 *
 * The formula printed in 000, 2.2 divides this by L + size/B as well, which
 * leaves no consistent unit; 001's is used. May be negative (a better link). */
int predict_link_added(double *out, predict_wire old, predict_wire changed,
                       double size_bytes, double count);
/* The same message by message. Both are equal when all messages have one size,
 * and, as the formula is linear, when the average is exact. */
int predict_link_added_each(double *out, predict_wire old, predict_wire changed,
                            const uint64_t *sizes, size_t count);

/* One link and one node together: 000, 3.3. First the link: the time it adds
 * is communication, and `busy` (0 to 1) of all communication is processor time
 * (the papers': 1); then the node, with the busy time and utilisation that this
 * gives, in so many phases (they matter to `bounded` scheduler models only).
 * Gives seconds. */
int predict_node_and_link(double *out, predict_times dedicated, double added_s,
                          double busy, double load, predict_scheduler scheduler,
                          double phases);

/* All nodes shared: 001, 3.3.
 *   above  2*comp + 4*(comm + idle), in general
 *          (k+1)*comp + (k+1)^2*(comm + idle): communication takes k+1 times as
 *          long for the processor, and again for a peer that is not running
 *   below  2*(comp + comm), in general (k+1)*(comp + comm): the one shared
 *          node of the credit law; but never less than alone
 * With a different load on each node the largest decides (001, 5). */
int predict_all_nodes(predict_bounds *out, predict_times dedicated,
                      double load);

/* All links changed: 001, 4.2, with r = commratio.
 *   above  comp + r*(comm + idle)
 *   below  comp + r*comm + idle
 * For r < 1 (better links) the two change places. */
int predict_all_links(predict_bounds *out, predict_times dedicated, double r);

/* r of a sequence of messages: the time of all of them on the changed links by
 * that on the old ones (001, 4.2). wires[i] belongs to sizes[i]. 1 when there
 * is none. */
int predict_comm_ratio(double *out, const predict_wire *old,
                       const predict_wire *changed, const uint64_t *sizes,
                       size_t count);

/* All nodes and all links at once, by the same reasoning (001, 5): links first,
 * then nodes:
 *   above  (k+1)*comp + (k+1)^2*r*(comm + idle)
 *   below  max((k+1)*(comp + comm), comp + r*comm + idle)
 *
 * For r < 1 idle time may stay or shrink with communication:
 *   above  (k+1)*comp + (k+1)^2*(r*comm + idle)
 *   below  max((k+1)*(comp + r*comm), comp + r*(comm + idle))
 */
int predict_nodes_and_links(predict_bounds *out, predict_times dedicated,
                            double load, double r);

#endif
