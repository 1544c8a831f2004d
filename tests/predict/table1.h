/* table1.h - paper 001's table 1, and what follows from it by hand.
 *
 * "KByte" is 1,000 bytes: CG's vector of 14,000 numbers of 8 bytes goes in two
 * halves of 56,000 bytes, 416 times over a link; 416 * 56,000 bytes over the
 * 1,264 messages of the table are its 18.4 KBytes, or 18.0 of 1,024 bytes.
 *
 * The columns that were worked out are times the dedicated time, by exact
 * fractions and from the table alone, with
 *
 *   added   = messages * size * (1/newB - 1/B)  as L stays 400 us
 *           = messages * size * 8 * (1/10e6 - 1/70e6)
 *   r       = (400us + size/newB) / (400us + size/B)
 *   link    = 1 + added/wall
 *   links   = comp + r*comm + idle .. comp + r*(comm + idle)
 *   both    = 2*(comp + comm + added/wall)          one node, one link
 *   all     = max(2*(comp + comm), links from) .. 2*comp + 4*r*(comm + idle)
 */
#ifndef TESTS_PREDICT_TABLE1_H
#define TESTS_PREDICT_TABLE1_H

#include "predict/models/models.h"
#include "predict/profile/profile.h"

#define TABLE1_COUNT 7
#define TABLE1_OLD ((predict_wire){400e-6, 70e6 / 8})
#define TABLE1_NEW ((predict_wire){400e-6, 10e6 / 8})

typedef struct table1_row {
    const char *name;
    double wall_s;
    double comp, comm, idle; /* percent */
    double busy_phase_ms, idle_phase_ms;
    double messages, kbytes; /* on one link; average size */
    /* what follows: */
    double by_phases, by_totals;
    double nodes_lower, nodes_upper;
    double added_s, link;
    double r, links_lower, links_upper;
    double both;
    double all_lower, all_upper;
} table1_row;

extern const table1_row table1[TABLE1_COUNT];

/* In seconds; their sum is the wall time. */
predict_times table1_times(const table1_row *row);

/* A profile with two nodes alike. The table does not tell all messages of a
 * node, so here the latency is whatever makes those of one link the node's
 * communication; all of it is busy, as in the table. NULL: no memory. */
predict_profile *table1_profile(const table1_row *row);

#endif
