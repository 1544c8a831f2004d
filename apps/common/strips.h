/* strips.h - a grid of doubles that is cut into strips of rows, one strip for
 * each thread: who has which rows, and what the threads tell each other.
 *
 * Thread i has the rows below those of thread i - 1 and above those of thread
 * i + 1. Before each sweep over its strip it exchanges border rows with both:
 * it writes its first row to the thread above and its last row to the one
 * below, and then reads theirs. At the end thread 0 collects all rows.
 *
 * Threads:   a `strips` belongs to one thread.
 * Functions return 0 or a negative code with its text. */
#ifndef COMMON_STRIPS_H
#define COMMON_STRIPS_H

#include <stdint.h>
#include <stdio.h>

#include "paths/paths.h"

typedef struct strips {
    uint32_t total;  /* rows of the grid */
    uint32_t values; /* doubles in a row */
    uint32_t first;  /* row of this strip, and how many it has */
    uint32_t rows;
    uint64_t read_above, read_below; /* rows that came from there */
    paths_thread *self;
    /* NULL: the grid ends here. */
    paths_path *to_above, *from_above, *to_below, *from_below;
} strips;

/* Prints the elements and edges of the threads t0 ... into an application
 * mapping. Errors: PASTSET_EINVAL (more threads than rows; or a row that does
 * not fit into a tuple). */
int strips_mapping(FILE *out, uint32_t rows, uint32_t values, uint32_t threads);

/* Finds this thread's strip of a grid of so many rows, cut as in
 * division_share, and opens its paths. Errors: those of division_share and
 * paths_open. */
int strips_open(strips *s, paths_thread *self, uint32_t rows, uint32_t values,
                const char *cut);

/* One exchange: `first` and `last` are this strip's border rows, `above` and
 * `below` become the neighbours', and stay as they are at the grid's ends. */
int strips_exchange(strips *s, const double *first, const double *last,
                    double *above, double *below);

/* All threads, between two exchanges: rows move until each thread has those of
 * `wanted`, in passes, in which neighbours give each other rows by the elements
 * of the borders. `starts` and `wanted` are where the strip of each thread
 * begins, and the end of the last one; all have the same. `*strip` is this
 * strip's rows, with a row above and one below them, allocated; it is replaced,
 * and the rows beside the strip, but for those beside the grid, are to be
 * exchanged again. Errors: PASTSET_ENOMEM, those of paths_call; `*strip` is to
 * be freed then, too. */
int strips_move(strips *s, double **strip, const uint32_t *starts,
                const uint32_t *wanted);

/* All threads, once, at the end: brings the rows of all strips to thread 0.
 * `mine` are this strip's, without gaps; `all` is for the whole grid, at thread
 * 0 only. */
int strips_collect(const strips *s, const double *mine, double *all);

#endif
