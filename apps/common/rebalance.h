/* rebalance.h - who has which rows, changed while the program runs: each
 * process has a tunable, `share`, how much of its rows of the map it shall
 * have.
 *
 *     rebalance_open(&r, self, rows, cut);
 *     ...
 *     rebalance_ask(&r);                   all threads, in the same round
 *     if (rebalance_is_due(&r))
 *         ... rows from r.starts to r.wanted ...; rebalance_done(&r);
 *
 * `eventspace tune RUN share=0.5 --process=h0` has h0 do half as much as
 * before, in proportion to the others, from the next round on in which it asks;
 * where all have the same share, each has what the map says. All threads come
 * to the same division, as they tell each other their shares.
 *
 * Threads:   a `rebalance` belongs to one thread.
 * Functions return 0 or a negative code with its text. */
#ifndef COMMON_REBALANCE_H
#define COMMON_REBALANCE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "eventspace/tunable.h"
#include "paths/paths.h"

typedef struct rebalance {
    uint32_t rows, threads, number;
    uint32_t *starts; /* of the part of each thread, and the end of the last */
    uint32_t *wanted; /* the same, by what was said last */
    uint32_t changes; /* of the division, so far */
    eventspace_tunable *share;
    paths_path *shares; /* an all-reduce, the sum */
    double *by_map;     /* rows of each thread */
    double *said;       /* twice `threads`: by this thread; by all */
} rebalance;

/* Prints the element that the threads t0 ... tell each other their shares by,
 * and its edges, into an application mapping. */
void rebalance_mapping(FILE *out, uint32_t threads);

/* `rows` cut as in division_share. rebalance_close in any case. Errors: those
 * of division_share, paths_open and eventspace_tunable_open, PASTSET_ENOMEM. */
int rebalance_open(rebalance *r, paths_thread *self, uint32_t rows,
                   const char *cut);
void rebalance_close(rebalance *r);

/* All threads: what each shall have from now on. */
int rebalance_ask(rebalance *r);
bool rebalance_is_due(const rebalance *r);
/* It is so. */
void rebalance_done(rebalance *r);

/* How many rows each thread has, as in the map: "30,75,15". The caller frees
 * it. Errors: PASTSET_ENOMEM. */
int rebalance_print(char **cut, const rebalance *r);

#endif
