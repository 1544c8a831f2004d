/* river.h - the parts of the program `river`, and the problem that its two
 * computations agree on: a reservoir whose dam is open, above a dry valley.
 *
 *   water.c     what happens at a face between two cells, and to a cell
 *   landscape.c sizes, the bed, and where the water is at first
 *   single.c    the whole grid, plainly, in this process
 *   balance.c   strips with equally much work
 *   parallel.c  the same as threads with a strip of rows each
 *   mapping.c   which threads use which elements
 *   picture.c   the river from above
 *   report.c    the results, and their check
 *   main.c      the program
 *
 * Columns go east and rows go south, which is downstream. All numbers of the
 * problem come from additions, products, quotients and square roots in double
 * precision, which IEEE 754 rounds in one way only, and in an order that does
 * not depend on who has which row. So a cell has the same bits however the
 * grid is cut, and on every machine. */
#ifndef RIVER_RIVER_H
#define RIVER_RIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apps/common/program.h"

/* --- water (water.c) --- */

#define RIVER_GRAVITY 9.81 /* m/s2 */
#define RIVER_CHEZY 40.0   /* m^(1/2)/s, of the bed's friction */
#define RIVER_WET 1e-4     /* m; what is not deeper stays where it is */
#define RIVER_LONGEST 5.0  /* s; the time step where no water moves */

typedef struct river_cell {
    double depth;       /* of the water, m; never below 0 */
    double east, south; /* what flows through it, m2/s: depth times speed */
} river_cell;

#define RIVER_CELL_VALUES (sizeof(river_cell) / sizeof(double))

/* What goes through a metre of a face, to the east or to the south, in a
 * second. The momentum along that way is not one number: where the bed has a
 * step, it pushes too, so the cells on the low side (west, north) and on the
 * high side of the face see different ones. */
typedef struct river_face {
    double water;     /* m2/s */
    double low, high; /* momentum along the way, m3/s2 */
    double across;    /* momentum across it */
} river_face;

typedef enum river_way { RIVER_EAST, RIVER_SOUTH } river_way;

/* A cell with the height of its bed, m. */
typedef struct river_place {
    river_cell cell;
    double bed;
} river_place;

/* The face between two cells, of which `low` is the one in the west or in the
 * north. All zero when neither is wet. */
river_face river_face_between(const river_place *low, const river_place *high,
                              river_way way);

/* What stands behind a closed wall: the cell's own mirror image. Nothing goes
 * through the face between the two. */
river_place river_mirror(const river_place *place, river_way way);

typedef struct river_faces {
    river_face west, east, north, south;
} river_faces;

/* The cell after `seconds`; the faces are a cell of `metres` apart. */
river_cell river_cell_after(const river_cell *cell, const river_faces *faces,
                            double seconds, double metres);

/* The longest time step that cells of `metres` allow, as far as this one is
 * concerned: 9/10 of what keeps all depths above zero (see water.c). */
double river_cell_seconds(const river_cell *cell, double metres);

/* --- the problem (landscape.c) --- */

#define RIVER_WIDTH 3000.0  /* m, of all columns */
#define RIVER_LENGTH 4000.0 /* m, of all rows */
#define RIVER_CHECK 32u     /* the water is summed up every so many steps */

/* How far the sum of all water may go from the first one, relatively. What
 * leaves one cell enters another, so only roundings change it: at most about
 * 3 units in the last place (2^-53) of each cell's depth in a step. If all went
 * one way, that would be 3e-16 a step; as they go up and down by chance they
 * add up like the square root of steps times cells instead, to some 1e-15. */
#define RIVER_LOST_MAX 1e-12

typedef struct river {
    uint32_t columns, rows, steps;
    double metres; /* of a cell, either way */
    uint64_t seed; /* of the hills */
} river;

/* The problem of these options. Errors: PASTSET_EINVAL. */
int river_make(river *r, const program_options *options);

/* The same valley for as long a time, in the coarsest cells there are. */
river river_coarse(const river *r);

/* The height of the bed, m, at a point so many km east and south of the
 * north-western corner; and in the middle of a cell. */
double river_height(const river *r, double east, double south);
double river_bed(const river *r, uint32_t row, uint32_t column);

/* The cell before the first step: the reservoir is full, all else dry. */
river_cell river_start(const river *r, uint32_t row, uint32_t column);

/* Compares the sum of all water with the one before the first step, and keeps
 * the largest difference there was, relatively. Errors: PASTSET_EAPP. */
int river_water_check(double start, double now, double *lost_max);

/* --- strips --- */

typedef struct river_options {
    bool balance;     /* mapping: strips with equally much work */
    const char *rows; /* mapping: this cut; NULL: none is given */
} river_options;

/* A cut of the valley into this many strips with equally much work, or so much
 * as `shares` say, for division_share; the caller frees it (balance.c). Errors:
 * those of division_shares, PASTSET_EINVAL (more threads than rows). */
int river_balance(char **out, const river *r, uint32_t threads,
                  const char *shares);

/* Computes all steps on the whole grid, and sums up in how many of them each
 * cell of a row was wet: what there was to compute in it. `wet` has a number
 * for each row (single.c). Errors: PASTSET_ENOMEM. */
int river_rows_wet(const river *r, uint64_t *wet);

/* What a thread tells of its strip at the end: all numbers are u64, as these
 * are gathered in one tuple. Times are those of the steps, by its own clock. */
typedef struct river_strip {
    uint64_t first, rows;
    uint64_t wet_start, wet_end; /* cells */
    uint64_t computing_ns;       /* between operations */
    uint64_t communicating_ns;   /* in operations */
} river_strip;

#define RIVER_STRIP_VALUES (sizeof(river_strip) / sizeof(uint64_t))

/* --- results (report.c) --- */

typedef struct river_report {
    const river *problem;
    const river_cell *cells;       /* all, row by row, after the last step */
    double seconds;                /* simulated */
    double water_start, water_end; /* m3 */
    double lost_max;               /* of the checks, relatively */
    uint32_t threads;
    const river_strip *strips; /* one for each thread */
} river_report;

/* Puts the values into the result, and draws river.png if there is a directory
 * for it. */
int river_report_write(const river_report *report,
                       const program_options *options, program_result *result);

/* --- the parts of the program --- */

int river_mapping(const program_options *options, FILE *out);
int river_single(const program_options *options, program_result *result);
int river_thread(paths_thread *self, void *run); /* parallel.c */

/* Draws the water over its bed into DIR/river.png: the bed as a map in relief,
 * light from the north-west, the water the bluer the deeper; and which thread
 * computes which strip, and how long (apps/common/pixels_slices.h).
 * Errors: PASTSET_EIO, PASTSET_ENOMEM. */
int river_picture_write(const river_report *report,
                        const program_options *options);

#endif
