/* halo.h - a cube of doubles that is cut into slabs, one for each thread: who
 * has which layers, and what neighbours tell each other.
 *
 * Layers are planes (k), or rows (j) of all planes. Thread i has those behind
 * the layers of thread i - 1. Its part of a grid has a frame of ghosts around
 * it: cell i of row j of plane k is at (i + 1, j + 1, k + 1). The ghosts of the
 * layers before its first and behind its last stand for the neighbours'
 * nearest; where there is a wall, nobody changes them.
 *
 * Neighbours exchange faces: each writes its outermost layer, and observes that
 * of the other. Sweeps, which go through all slabs in one direction or the
 * other, have two paths more on each side, for what the thread that is next
 * waits for.
 *
 * Threads:   a halo belongs to one thread.
 * Functions return 0 or a negative code with its text. */
#ifndef COMMON_HALO_H
#define COMMON_HALO_H

#include <stddef.h>
#include <stdint.h>

#include "paths/paths.h"

typedef enum halo_cut {
    HALO_PLANES,
    HALO_ROWS,
} halo_cut;

/* A side on which another thread goes on; all NULL where there is a wall. */
typedef struct halo_side {
    paths_path *face_to, *face_from;
    paths_path *sweep_to, *sweep_from;
    size_t ghost; /* layer of ours that stands for the neighbour's nearest */
    size_t edge;  /* our layer that the neighbour needs */
} halo_side;

/* The names of its paths. */
typedef struct halo_names {
    const char *face_to, *face_from;
    const char *sweep_to, *sweep_from;
} halo_names;

typedef struct halo {
    size_t side;   /* of the cube */
    size_t layers; /* of this thread */
    int64_t first; /* the first of them in the whole cube */
    /* Doubles: from a row to the next, from a plane to the next, in all. */
    size_t line, plane, cells;
    size_t across, along; /* from a layer to the next; from a row of a layer to
                             the next */
    double *tuple; /* on its way to or from a neighbour: room for two faces */
    halo_side before, after;
} halo;

/* Rows `first` ... `end` - 1 of a layer, ghosts counted. */
typedef struct halo_rows {
    size_t first, end;
} halo_rows;

/* The thread's part of a cube, divided as the map says (division.h). Errors:
 * those of division_share, PASTSET_ENOMEM. */
int halo_init(halo *h, paths_thread *self, uint32_t side, halo_cut cut);
void halo_fini(halo *h);
/* Opens the paths to the neighbours that there are. */
int halo_open(halo *h, paths_thread *self, const halo_names *before,
              const halo_names *after);

/* Row `row` of plane `plane`, ghosts counted: its first cell. */
static inline size_t halo_at(const halo *h, size_t row, size_t plane)
{
    return plane * h->plane + row * h->line + 1;
}

/* Rows of a layer of `grid` into a tuple, and out of it: give what is behind
 * them in the tuple. */
double *halo_pack(const halo *h, const double *grid, size_t layer,
                  halo_rows rows, double *to);
const double *halo_unpack(const halo *h, double *grid, size_t layer,
                          halo_rows rows, const double *from);

/* Gives the faces of `grid` to both neighbours, and takes theirs. */
int halo_exchange(halo *h, double *grid);

#endif
