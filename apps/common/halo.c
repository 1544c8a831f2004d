/* halo.c - see halo.h. */
#include "apps/common/halo.h"

#include <stdlib.h>
#include <string.h>

#include "apps/common/division.h"
#include "pastset/status.h"

int halo_init(halo *h, paths_thread *self, uint32_t side, halo_cut cut)
{
    uint32_t first, layers;
    int err = division_share(paths_thread_attribute(self, DIVISION_ATTRIBUTE),
                             side, paths_thread_count(self),
                             paths_thread_number(self), &first, &layers);

    *h = (halo){.side = side};
    if (err)
        return err;
    *h = (halo){.side = side, .layers = layers, .first = (int64_t)first};
    h->line = h->side + 2;
    h->plane = (cut == HALO_ROWS ? h->layers + 2 : h->line) * h->line;
    h->cells = (cut == HALO_ROWS ? h->line : h->layers + 2) * h->plane;
    h->across = cut == HALO_ROWS ? h->line : h->plane;
    h->along = cut == HALO_ROWS ? h->plane : h->line;
    h->tuple = calloc(2 * h->side * h->side, sizeof(*h->tuple));
    return h->tuple ? 0 : pastset_no_memory("for the slab");
}

void halo_fini(halo *h)
{
    free(h->tuple);
}

/* --- paths --- */

static int side_open(halo_side *n, paths_thread *self, const halo_names *names)
{
    int err = paths_open(&n->face_to, self, names->face_to);

    if (!err)
        err = paths_open(&n->face_from, self, names->face_from);
    if (!err)
        err = paths_open(&n->sweep_to, self, names->sweep_to);
    return err ? err : paths_open(&n->sweep_from, self, names->sweep_from);
}

int halo_open(halo *h, paths_thread *self, const halo_names *before,
              const halo_names *after)
{
    int err = 0;

    h->before.ghost = 0;
    h->before.edge = 1;
    h->after.ghost = h->layers + 1;
    h->after.edge = h->layers;
    if (paths_thread_number(self) > 0)
        err = side_open(&h->before, self, before);
    if (!err && paths_thread_number(self) + 1 < paths_thread_count(self))
        err = side_open(&h->after, self, after);
    return err;
}

/* --- rows into a tuple and out of it --- */

double *halo_pack(const halo *h, const double *grid, size_t layer,
                  halo_rows rows, double *to)
{
    for (size_t r = rows.first; r < rows.end; r++, to += h->side)
        memcpy(to, grid + layer * h->across + r * h->along + 1,
               h->side * sizeof(*to));
    return to;
}

const double *halo_unpack(const halo *h, double *grid, size_t layer,
                          halo_rows rows, const double *from)
{
    for (size_t r = rows.first; r < rows.end; r++, from += h->side)
        memcpy(grid + layer * h->across + r * h->along + 1, from,
               h->side * sizeof(*from));
    return from;
}

/* --- faces --- */

static size_t face_bytes(const halo *h)
{
    return h->side * h->side * sizeof(double);
}

static int face_send(halo *h, const halo_side *n, const double *grid)
{
    if (!n->face_to)
        return 0;
    halo_pack(h, grid, n->edge, (halo_rows){1, h->side + 1}, h->tuple);
    return paths_write(n->face_to, h->tuple, face_bytes(h));
}

static int face_receive(halo *h, const halo_side *n, double *grid)
{
    int err;

    if (!n->face_from)
        return 0;
    err = paths_observe(n->face_from, h->tuple, face_bytes(h));
    if (!err)
        halo_unpack(h, grid, n->ghost, (halo_rows){1, h->side + 1}, h->tuple);
    return err;
}

int halo_exchange(halo *h, double *grid)
{
    int err = face_send(h, &h->before, grid);

    if (err)
        return err;
    err = face_send(h, &h->after, grid);
    if (err)
        return err;
    err = face_receive(h, &h->before, grid);
    if (err)
        return err;
    return face_receive(h, &h->after, grid);
}
