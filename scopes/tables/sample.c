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

/* Puts those that are less than `limit` in front, and gives their number. There
 * is no branch that depends on them: half of these would be guessed wrong,
 * which takes many times as long as to move a value. */
static size_t put_less(int64_t *values, size_t count, int64_t limit)
{
    size_t less = 0;

    for (size_t i = 0; i < count; i++) {
        int64_t value = values[i];
        values[i] = values[less];
        values[less] = value;
        less += (size_t)(value < limit);
    }
    return less;
}

static int64_t middle_of(int64_t a, int64_t b, int64_t c)
{
    int64_t low = a < b ? a : b, high = a < b ? b : a;

    return c < low ? low : c > high ? high : c;
}

/* The value that would stand at `place` if they were sorted: quickselect,
 * with three parts, so that many equal values do no harm. */
static int64_t select_at(int64_t *values, size_t count, size_t place)
{
    while (count > 1) {
        int64_t pivot =
            middle_of(values[0], values[count / 2], values[count - 1]);
        size_t less = put_less(values, count, pivot);
        if (place < less) {
            count = less;
            continue;
        }
        values += less;
        count -= less;
        place -= less;
        if (pivot == INT64_MAX)
            return pivot;
        less = put_less(values, count, pivot + 1);
        if (place < less)
            return pivot;
        values += less;
        count -= less;
        place -= less;
    }
    return values[0];
}

int64_t scopes__sample_at(scopes__sample *sample, double share)
{
    size_t n = sample->count;
    size_t place = (size_t)ceil(share * (double)n);

    if (n == 0)
        return SCOPES_BLANK;
    place = place > n ? n : place;
    return select_at(sample->values, n, place > 0 ? place - 1 : 0);
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
