/* sample.c - what is said of many times: count, sum, mean, median, deviation,
 * least and most. */
#include "scopes/tables/sample_internal.h"

#include <math.h>
#include <stdlib.h>

#include "pastset/array.h"
#include "pastset/status.h"
#include "scopes/clocks/clock.h"
#include "scopes/memory/memory_internal.h"

int scopes__sample_add(scopes__sample *sample, int64_t value)
{
    int64_t *more =
        scopes__array_grow(sample->values, sample->count, sizeof(*more));

    if (!more)
        return scopes__no_room("for the view");
    sample->values = more;
    sample->values[sample->count++] = value;
    return 0;
}

void scopes__sample_fini(scopes__sample *sample)
{
    scopes__free(sample->values);
    *sample = (scopes__sample){0};
}

static void swap(int64_t *a, int64_t *b)
{
    int64_t kept = *a;
    *a = *b;
    *b = kept;
}

/* The value that would stand at `place` if they were sorted: quickselect,
 * with three parts, so that many equal values do no harm. */
static int64_t select_at(int64_t *values, size_t count, size_t place)
{
    size_t low = 0, high = count; /* it is in [low, high) */

    while (high - low > 1) {
        int64_t pivot = values[low + (high - low) / 2];
        size_t less = low, at = low, more = high;
        while (at < more) {
            if (values[at] < pivot)
                swap(&values[at++], &values[less++]);
            else if (values[at] > pivot)
                swap(&values[at], &values[--more]);
            else
                at++;
        }
        if (place < less)
            high = less;
        else if (place >= more)
            low = more;
        else
            return pivot;
    }
    return values[low];
}

void scopes__sample_row(scopes_table *table, scopes__sample *sample)
{
    size_t n = sample->count;
    int64_t total = 0, min = INT64_MAX, max = INT64_MIN;
    double mean, squares = 0;

    scopes_table_integer(table, (int64_t)n);
    if (n == 0) {
        for (int i = 0; i < 6; i++)
            scopes_table_integer(table, SCOPES_BLANK);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        int64_t value = sample->values[i];
        total = scopes__sum_ns(total, value);
        min = value < min ? value : min;
        max = value > max ? value : max;
    }
    mean = (double)total / (double)n;
    for (size_t i = 0; i < n; i++) {
        double off = (double)sample->values[i] - mean;
        squares += off * off;
    }
    scopes_table_integer(table, total);
    scopes_table_integer(table, llround(mean));
    scopes_table_integer(table, select_at(sample->values, n, (n - 1) / 2));
    scopes_table_integer(table, llround(sqrt(squares / (double)n)));
    scopes_table_integer(table, min);
    scopes_table_integer(table, max);
}
