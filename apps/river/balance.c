/* balance.c - strips with equally much work.
 *
 * Only wet cells make work, and the water moves: at first all of it is in the
 * north. So what there is to compute in a row is the sum of its wet cells over
 * all steps. Nobody knows that before the water has run down, but the same
 * valley in coarse cells shows it within a second. The cuts are made where the
 * work above them is a half, a third ... of all; within a coarse row it is
 * taken to be even.
 *
 * No such cut can be right in every step: there it gives too much to the north
 * at the beginning and to the south at the end. */
#include "apps/river/river.h"

#include <inttypes.h>
#include <stdlib.h>

#include "apps/common/division.h"
#include "pastset/status.h"

typedef struct work {
    uint32_t rows;
    uint64_t *wet; /* of each row */
} work;

/* Where, as a share of the valley's length from the north, this share of all
 * the work lies above. */
static double work_end(const work *w, double share)
{
    double all = 0, above = 0, wanted;
    uint32_t row = 0;

    for (uint32_t i = 0; i < w->rows; i++)
        all += (double)w->wet[i];
    wanted = share * all;
    while (row + 1 < w->rows && above + (double)w->wet[row] < wanted)
        above += (double)w->wet[row++];
    if (w->wet[row] == 0)
        return 1;
    return (row + (wanted - above) / (double)w->wet[row]) / w->rows;
}

/* Each strip has a row at least, even where that is more than its share.
 * `shares` NULL: all equally much. */
static int cut_print(FILE *out, const work *w, uint32_t rows, uint32_t threads,
                     const double *shares)
{
    uint32_t first = 0;
    double above = 0;

    for (uint32_t i = 1; i <= threads; i++) {
        double at =
            work_end(w, above += shares ? shares[i - 1] : 1.0 / threads) * rows;
        uint32_t end = (uint32_t)(at + 0.5), last = rows - (threads - i);
        if (end < first + 1)
            end = first + 1;
        if (end > last || i == threads)
            end = last;
        fprintf(out, "%s%" PRIu32, i > 1 ? "," : "", end - first);
        first = end;
    }
    return fclose(out) == 0 ? 0 : pastset_no_memory("for the strips");
}

static int work_find(work *w, const river *coarse)
{
    w->rows = coarse->rows;
    w->wet = calloc(coarse->rows, sizeof(*w->wet));
    if (!w->wet)
        return pastset_no_memory("for the rows");
    return river_rows_wet(coarse, w->wet);
}

int river_balance(char **out, const river *r, uint32_t threads,
                  const char *shares)
{
    const river coarse = river_coarse(r);
    work w = {.wet = NULL};
    uint32_t first, rows;
    size_t bytes;
    FILE *text = NULL;
    double *parts = NULL;
    int err = division_share(NULL, r->rows, threads, 0, &first, &rows);

    *out = NULL;
    if (!err && shares)
        err = division_shares(&parts, shares, threads);
    if (!err)
        err = work_find(&w, &coarse);
    if (!err) {
        text = open_memstream(out, &bytes);
        err = text ? cut_print(text, &w, r->rows, threads, parts)
                   : pastset_no_memory("for the strips");
    }
    free(parts);
    free(w.wet);
    return err;
}
