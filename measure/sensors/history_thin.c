/* history_thin.c - old rows in coarser steps.
 *
 * Each step is a multiple of the one before, and a row is put into the step
 * that it begins in, so that it does not matter in how many goes rows become
 * coarser. */
#include "measure/sensors/history_internal.h"

#include <math.h>

static const struct {
    int64_t after_ms, step_ms;
} levels[] = {
    {2 * MEASURE__DAY_MS, 60000},
    {30 * MEASURE__DAY_MS, 600000},
    {730 * MEASURE__DAY_MS, 3600000},
};
#define LEVELS (sizeof(levels) / sizeof(*levels))

/* 0: samples stay as they are. Whole steps only: the border between two levels
 * is that of a step. */
static int64_t step_at(int64_t time_ms, int64_t now_ms)
{
    int64_t step_ms = 0;

    for (size_t i = 0; i < LEVELS; i++) {
        int64_t border_ms = now_ms - levels[i].after_ms;
        border_ms -= border_ms % levels[i].step_ms;
        if (time_ms < border_ms)
            step_ms = levels[i].step_ms;
    }
    return step_ms;
}

/* Two means and deviations as one. */
static void row_join(measure_history_row *to, const measure_history_row *from)
{
    double n = to->count, m = from->count, all = n + m;
    double apart = from->value - to->value;
    double squares = n * to->deviation * to->deviation +
                     m * from->deviation * from->deviation +
                     n * m / all * apart * apart;

    to->value += apart * m / all;
    to->deviation = sqrt(squares / all);
    to->count = from->count < UINT32_MAX - to->count ? to->count + from->count
                                                     : UINT32_MAX;
    to->least = fmin(to->least, from->least);
    to->most = fmax(to->most, from->most);
}

void measure__history_thin(measure_history *h, int64_t now_ms)
{
    size_t kept = 0;

    h->first_sample = 0;
    for (size_t i = 0; i < h->count; i++) {
        measure_history_row row = h->rows[i];
        int64_t step_ms = step_at(row.time_ms, now_ms);
        if (step_ms > row.lasts_ms) {
            row.time_ms -= row.time_ms % step_ms;
            row.lasts_ms = step_ms;
        }
        if (row.lasts_ms && kept && h->rows[kept - 1].lasts_ms &&
            row.time_ms <
                h->rows[kept - 1].time_ms + h->rows[kept - 1].lasts_ms)
            row_join(&h->rows[kept - 1], &row);
        else
            h->rows[kept++] = row;
        if (row.lasts_ms)
            h->first_sample = kept;
    }
    h->count = kept;
}

/* When samples are a quarter older than they need be. What is older still is
 * put together by the way. */
int64_t measure__history_thin_at(const measure_history *h)
{
    if (h->first_sample == h->count)
        return INT64_MAX;
    return h->rows[h->first_sample].time_ms + levels[0].after_ms +
           levels[0].after_ms / 4;
}
