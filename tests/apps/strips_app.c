/* strips_app.c - rows that move, in a program of its own.
 *
 *     strips_app ROUNDS
 *
 * Under a map of `sor mapping`, of 120 rows. In each round all threads draw the
 * same division, rows move there, and each thread looks whether it has those
 * that it shall have and no others; then they exchange borders. At the end
 * thread 0 collects all rows. Prints "moved", by thread 0. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/strips.h"
#include "eventspace/eventspace.h"
#include "pastset/status.h"

#define ROWS 120u
#define VALUES (ROWS + 2)

/* What row `row` has in column `column`; beside the grid are rows -1 and ROWS.
 */
static double value_of(int64_t row, uint32_t column)
{
    return (double)(row * 1000 + column);
}

static void row_fill(double *at, int64_t row)
{
    for (uint32_t i = 0; i < VALUES; i++)
        at[i] = value_of(row, i);
}

static int row_check(const double *at, int64_t row, const char *what)
{
    for (uint32_t i = 0; i < VALUES; i++)
        if (at[i] != value_of(row, i))
            return pastset_fail(PASTSET_EAPP, "%s: row %d has %g in column %u",
                                what, (int)row, at[i], i);
    return 0;
}

static uint64_t random_next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* Some divisions hardly differ, and of some nearly all rows are one thread's.
 */
static void division_draw(uint32_t *starts, uint32_t threads, uint64_t *state)
{
    uint32_t left = ROWS - threads;

    starts[0] = 0;
    for (uint32_t i = 0; i < threads; i++) {
        uint32_t share = left;
        if (i + 1 < threads)
            share = (uint32_t)(random_next(state) % (left + 1));
        if (random_next(state) % 3 == 0 && i + 1 < threads)
            share = 0;
        starts[i + 1] = starts[i] + 1 + share;
        left -= share;
    }
}

static int strip_check(const strips *s, const double *strip)
{
    int err = 0;

    for (uint32_t i = 0; i < s->rows && !err; i++)
        err = row_check(strip + (i + (size_t)1) * VALUES, s->first + i, "own");
    return err;
}

static int round_run(strips *s, double **strip, uint32_t *now,
                     const uint32_t *next, size_t bytes)
{
    double *at;
    int err = strips_move(s, strip, now, next);

    if (err)
        return err;
    memcpy(now, next, bytes);
    at = *strip;
    err = strip_check(s, at);
    if (!err)
        err = strips_exchange(s, at + VALUES, at + s->rows * VALUES, at,
                              at + (s->rows + (size_t)1) * VALUES);
    if (!err)
        err = row_check(at, (int64_t)s->first - 1, "above");
    if (!err)
        err = row_check(at + (s->rows + (size_t)1) * VALUES,
                        (int64_t)s->first + s->rows, "below");
    return err;
}

static int rounds_run(strips *s, double **strip, unsigned rounds)
{
    uint32_t threads = paths_thread_count(s->self);
    size_t bytes = (threads + (size_t)1) * sizeof(uint32_t);
    uint32_t *now = malloc(2 * bytes), *next = now + threads + 1;
    uint64_t state = 42;
    int err = 0;

    if (!now)
        return pastset_no_memory("for divisions");
    for (uint32_t i = 0; i <= threads; i++) { /* as of strips_open */
        uint32_t more = ROWS % threads;
        now[i] = i * (ROWS / threads) + (i < more ? i : more);
    }
    for (unsigned round = 0; round < rounds && !err; round++) {
        division_draw(next, threads, &state);
        err = round_run(s, strip, now, next, bytes);
        if (err)
            pastset_fail_while(err, "round %u", round);
    }
    free(now);
    return err;
}

static int all_check(const strips *s, const double *strip)
{
    bool collects = paths_thread_number(s->self) == 0;
    double *all = collects ? malloc(ROWS * VALUES * sizeof(*all)) : NULL;
    int err = strips_collect(s, strip + VALUES, all);

    for (uint32_t row = 0; collects && row < ROWS && !err; row++)
        err = row_check(all + (size_t)row * VALUES, row, "all");
    free(all);
    return err;
}

static int thread_run(paths_thread *self, void *argument)
{
    const unsigned *rounds = argument;
    double *strip;
    strips s;
    int err = strips_open(&s, self, ROWS, VALUES, NULL);

    if (err)
        return err;
    strip = malloc((s.rows + (size_t)2) * VALUES * sizeof(*strip));
    if (!strip)
        return pastset_no_memory("for a strip");
    for (uint32_t i = 0; i < s.rows + 2; i++)
        row_fill(strip + (size_t)i * VALUES, (int64_t)s.first + i - 1);
    err = rounds_run(&s, &strip, *rounds);
    if (!err)
        err = all_check(&s, strip);
    free(strip);
    if (!err && paths_thread_number(self) == 0)
        puts("moved");
    return err;
}

int main(int argc, char **argv)
{
    unsigned rounds = argc == 2 ? (unsigned)atoi(argv[1]) : 0;
    eventspace *es;
    int err = eventspace_start(&es);

    if (!err)
        err = eventspace_program(es, "*", thread_run, &rounds);
    return eventspace_finish(es, err);
}
