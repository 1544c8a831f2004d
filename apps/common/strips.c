/* strips.c - see strips.h.
 *
 * Thread i gives its first row away by element up_<i>, and its last one by
 * down_<i>. They have one writer and one reader each, are of policy `block`,
 * and are read by observing, which takes a tuple out. Neighbours are never
 * more than one exchange apart: nobody writes in exchange s + 1 before he has
 * read what his neighbour wrote in exchange s, and before that the neighbour
 * had read everything of exchange s - 1. So there are two tuples in an element
 * at most, and with a capacity of 2 no writer ever waits for room; hence both
 * neighbours can write first and read afterwards. Rows that move from one strip
 * to the next go the same way, in which case, and just after it, who writes
 * does wait for room.
 *
 * Thread 0 collects the other strips by element `rows`, a piece of some rows
 * in each tuple:
 *
 *     8 bytes                 the number of the first row
 *     n x values x 8 bytes    n rows
 *
 * Whoever finds it full waits for thread 0, which waits for nobody while there
 * are rows to come. */
#include "apps/common/strips.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/division.h"
#include "apps/common/program.h"
#include "pastset/status.h"
#include "pastset/type.h"

#define BORDER_CAPACITY 2
#define PIECES_CAPACITY 8
#define PIECE_BYTES (256u * 1024)

static size_t row_bytes(uint32_t values)
{
    return values * sizeof(double);
}

/* As many rows as go into a piece, but one at least. */
static uint32_t piece_rows(uint32_t values)
{
    uint32_t rows = (uint32_t)(PIECE_BYTES / row_bytes(values));

    return rows > 0 ? rows : 1;
}

static size_t piece_bytes(uint32_t values, uint32_t rows)
{
    return sizeof(uint64_t) + rows * row_bytes(values);
}

/* --- the mapping --- */

static void border_print(FILE *out, const char *name, uint32_t i,
                         uint32_t values)
{
    fprintf(out,
            "    %s_%" PRIu32 " [kind=element, type=\"f64[%" PRIu32
            "]\", capacity=%d, policy=block];\n",
            name, i, values, BORDER_CAPACITY);
}

static void edge_print(FILE *out, uint32_t thread, const char *element,
                       uint32_t i, const char *as, const char *use)
{
    fprintf(out, "    t%" PRIu32 " -> %s_%" PRIu32 " [as=%s, use=%s];\n",
            thread, element, i, as, use);
}

/* The elements between threads i - 1 and i. */
static void neighbours_print(FILE *out, uint32_t i, uint32_t values)
{
    border_print(out, "down", i - 1, values);
    border_print(out, "up", i, values);
    edge_print(out, i - 1, "down", i - 1, "to_below", "write");
    edge_print(out, i - 1, "up", i, "from_below", "read");
    edge_print(out, i, "up", i, "to_above", "write");
    edge_print(out, i, "down", i - 1, "from_above", "read");
}

int strips_mapping(FILE *out, uint32_t rows, uint32_t values, uint32_t threads)
{
    size_t bytes = piece_bytes(values, piece_rows(values));
    uint32_t first, count;
    int err = division_share(NULL, rows, threads, 0, &first, &count);

    if (err)
        return err;
    if (bytes > PASTSET_TUPLE_BYTES)
        return pastset_fail(PASTSET_EINVAL,
                            "a row has %" PRIu32 " numbers, which is too many "
                            "for a tuple of %u bytes",
                            values, PASTSET_TUPLE_BYTES);
    for (uint32_t i = 1; i < threads; i++)
        neighbours_print(out, i, values);
    if (threads == 1)
        return 0;
    fprintf(out,
            "    rows [kind=element, type=\"bytes[%zu]\", capacity=%d, "
            "policy=block];\n"
            "    t0 -> rows [as=rows, use=read];\n",
            bytes, PIECES_CAPACITY);
    for (uint32_t i = 1; i < threads; i++)
        fprintf(out, "    t%" PRIu32 " -> rows [as=rows, use=write];\n", i);
    return 0;
}

/* --- borders --- */

static int border_open(paths_path **out, const strips *s, const char *name)
{
    size_t bytes = row_bytes(s->values);
    int err = paths_open(out, s->self, name);

    if (!err && paths_type(*out)->max_bytes != bytes)
        return pastset_fail(
            PASTSET_ETYPE,
            "%s: its tuples have %" PRIu32
            " bytes, but a row has %zu: the map is for another problem",
            paths_describe(*out), paths_type(*out)->max_bytes, bytes);
    return err;
}

int strips_open(strips *s, paths_thread *self, uint32_t rows, uint32_t values,
                const char *cut)
{
    uint32_t number = paths_thread_number(self);
    uint32_t threads = paths_thread_count(self);
    int err;

    *s = (strips){.total = rows, .values = values, .self = self};
    err = division_share(cut, rows, threads, number, &s->first, &s->rows);
    if (err)
        return err;
    if (number > 0) {
        err = border_open(&s->to_above, s, "to_above");
        if (!err)
            err = border_open(&s->from_above, s, "from_above");
    }
    if (!err && number + 1 < threads) {
        err = border_open(&s->to_below, s, "to_below");
        if (!err)
            err = border_open(&s->from_below, s, "from_below");
    }
    return err;
}

/* Row n has index n, unless something dropped or took one. */
static int border_read(const strips *s, paths_path *path, uint64_t *index,
                       double *row)
{
    paths_arguments arguments = {
        .verb = PASTSET_OBSERVE,
        .tuple = row,
        .bytes = row_bytes(s->values),
        .timeout_ms = PASTSET_FOREVER,
    };
    int err = paths_call(path, &arguments);

    if (err)
        return err;
    if (arguments.index != *index)
        return pastset_fail(PASTSET_EAPP,
                            "%s: row %" PRIu64 " was lost, the next is row "
                            "%" PRIu64 ": the element needs policy=block and "
                            "no other reader",
                            paths_describe(path), *index, arguments.index);
    (*index)++;
    return 0;
}

int strips_exchange(strips *s, const double *first, const double *last,
                    double *above, double *below)
{
    size_t bytes = row_bytes(s->values);
    int err = 0;

    if (s->to_above)
        err = paths_write(s->to_above, first, bytes);
    if (err)
        return err;
    if (s->to_below)
        err = paths_write(s->to_below, last, bytes);
    if (err)
        return err;
    if (s->from_above)
        err = border_read(s, s->from_above, &s->read_above, above);
    if (!err && s->from_below)
        err = border_read(s, s->from_below, &s->read_below, below);
    return err;
}

/* --- rows that move --- */

/* A strip in memory, with a row above and one below it. */
typedef struct strip_rows {
    double *above;
    uint32_t first, count;
} strip_rows;

static double *row_of(const strips *s, const strip_rows *r, uint32_t row)
{
    return r->above + (size_t)(row - r->first + 1) * s->values;
}

/* Rows `first` ... `end` - 1. */
static int rows_give(const strips *s, paths_path *path, const strip_rows *from,
                     uint32_t first, uint32_t end)
{
    int err = 0;

    for (uint32_t row = first; row < end && !err; row++)
        err = paths_write(path, row_of(s, from, row), row_bytes(s->values));
    return err;
}

static int rows_take(const strips *s, paths_path *path, uint64_t *index,
                     const strip_rows *to, uint32_t first, uint32_t end)
{
    int err = 0;

    for (uint32_t row = first; row < end && !err; row++)
        err = border_read(s, path, index, row_of(s, to, row));
    return err;
}

/* Where strip `i` begins after one pass: not beyond where those beside it begin
 * now, so that its rows are the neighbours' or its own. As both divisions are
 * in order, so is this one. */
static uint32_t pass_start(const uint32_t *starts, const uint32_t *wanted,
                           uint32_t i)
{
    uint32_t least = starts[i - 1], most = starts[i + 1];

    if (wanted[i] < least)
        return least;
    return wanted[i] > most ? most : wanted[i];
}

/* First what is above, then what is below: there, the other thread begins with
 * this one. So all wait for the one above at most, which goes on, as the first
 * has nobody there; and it does not matter that elements have room for two. */
static int pass_run(strips *s, const strip_rows *old, const strip_rows *new)
{
    uint32_t end = old->first + old->count, new_end = new->first + new->count;
    uint32_t first = old->first > new->first ? old->first : new->first;
    int err = 0;

    for (uint32_t row = first; row < end && row < new_end; row++)
        memcpy(row_of(s, new, row), row_of(s, old, row), row_bytes(s->values));
    if (new->first > old->first)
        err = rows_give(s, s->to_above, old, old->first, new->first);
    else if (new->first < old->first)
        err = rows_take(s, s->from_above, &s->read_above, new, new->first,
                        old->first);
    if (err)
        return err;
    if (new_end < end)
        return rows_give(s, s->to_below, old, new_end, end);
    if (new_end > end)
        return rows_take(s, s->from_below, &s->read_below, new, end, new_end);
    return 0;
}

/* `next` is how the rows are divided then. */
static int pass_make(strips *s, double **strip, const uint32_t *next)
{
    uint32_t number = paths_thread_number(s->self);
    strip_rows old = {*strip, s->first, s->rows};
    strip_rows new = {NULL, next[number], next[number + 1] - next[number]};
    size_t bytes = row_bytes(s->values);
    int err;

    if (new.first == old.first &&new.count == old.count)
        return 0;
    new.above = malloc((new.count + (size_t)2) * bytes);
    if (!new.above)
        return pastset_no_memory("for the strip");
    memcpy(new.above, old.above, bytes);
    memcpy(row_of(s, &new, new.first + new.count),
           row_of(s, &old, old.first + old.count), bytes);
    err = pass_run(s, &old, &new);
    if (err) {
        free(new.above);
        return err;
    }
    free(old.above);
    *strip = new.above;
    s->first = new.first;
    s->rows = new.count;
    return 0;
}

int strips_move(strips *s, double **strip, const uint32_t *starts,
                const uint32_t *wanted)
{
    size_t count = paths_thread_count(s->self) + (size_t)1;
    uint32_t *now = calloc(2 * count, sizeof(*now)), *next = now + count;
    int err = now ? 0 : pastset_no_memory("for the rows of all threads");

    if (err)
        return err;
    memcpy(now, starts, count * sizeof(*now));
    memcpy(next, starts, count * sizeof(*next));
    while (!err && memcmp(now, wanted, count * sizeof(*now)) != 0) {
        for (uint32_t i = 1; i + 1 < count; i++)
            next[i] = pass_start(now, wanted, i);
        err = pass_make(s, strip, next);
        memcpy(now, next, count * sizeof(*now));
    }
    free(now);
    return err;
}

/* --- all rows --- */

static int pieces_write(const strips *s, paths_path *path, const double *mine,
                        uint64_t *piece)
{
    uint32_t max = piece_rows(s->values);
    int err = 0;

    for (uint32_t row = 0; row < s->rows && !err; row += max) {
        uint32_t rows = s->rows - row < max ? s->rows - row : max;
        piece[0] = s->first + row;
        memcpy(piece + 1, mine + (size_t)row * s->values,
               rows * row_bytes(s->values));
        err = paths_write(path, piece, piece_bytes(s->values, rows));
    }
    return err;
}

/* Puts one piece to its place; `*rows` is how many it had. */
static int piece_read(const strips *s, paths_path *path, uint64_t *piece,
                      double *all, uint32_t *rows)
{
    paths_arguments arguments = {
        .verb = PASTSET_OBSERVE,
        .tuple = piece,
        .bytes = piece_bytes(s->values, piece_rows(s->values)),
        .timeout_ms = PASTSET_FOREVER,
    };
    int err = paths_call(path, &arguments);

    if (err)
        return err;
    *rows =
        (uint32_t)((arguments.bytes - sizeof(uint64_t)) / row_bytes(s->values));
    if (arguments.bytes != piece_bytes(s->values, *rows) || *rows == 0 ||
        piece[0] > s->total || *rows > s->total - piece[0])
        return pastset_fail(PASTSET_EAPP,
                            "%s: tuple %" PRIu64 " of %zu bytes has no rows of "
                            "this grid",
                            paths_describe(path), arguments.index,
                            arguments.bytes);
    memcpy(all + piece[0] * s->values, piece + 1, *rows * row_bytes(s->values));
    return 0;
}

static int pieces_read(const strips *s, paths_path *path, uint64_t *piece,
                       double *all)
{
    uint32_t rows = 0;
    int err = 0;

    for (uint32_t have = s->rows; have < s->total && !err; have += rows)
        err = piece_read(s, path, piece, all, &rows);
    return err;
}

int strips_collect(const strips *s, const double *mine, double *all)
{
    bool collects = paths_thread_number(s->self) == 0;
    paths_path *path;
    uint64_t *piece;
    int err;

    if (collects)
        memcpy(all, mine, s->rows * row_bytes(s->values));
    if (s->rows == s->total)
        return 0;
    err = paths_open(&path, s->self, "rows");
    if (err)
        return err;
    piece = malloc(piece_bytes(s->values, piece_rows(s->values)));
    if (!piece)
        return pastset_no_memory("for the rows");
    err = collects ? pieces_read(s, path, piece, all)
                   : pieces_write(s, path, mine, piece);
    free(piece);
    return err;
}
