/* table.c - the cells of a table in one array that grows, and the texts that it
 * copies in blocks, each as large as all before it, up to some MiB: a result of
 * SQL may have millions. */
#include "scopes/tables/table.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "scopes/memory/memory_internal.h"

#define FIRST_TEXTS 1024u
#define MOST_TEXTS (4u << 20)

typedef struct texts {
    struct texts *next;
    size_t used, bytes;
    char text[];
} texts;

struct scopes_table {
    const scopes_column *columns;
    size_t column_count;
    scopes_cell *cells;
    size_t count, capacity;
    texts *copies; /* the first has room */
    bool failed;   /* memory was out */
};

scopes_table *scopes_table_create(const scopes_column *columns, size_t count)
{
    scopes_table *table = calloc(1, sizeof(*table));

    if (table) {
        table->columns = columns;
        table->column_count = count;
    }
    return table;
}

void scopes_table_destroy(scopes_table *table)
{
    if (!table)
        return;
    for (texts *next, *t = table->copies; t; t = next) {
        next = t->next;
        scopes__free(t);
    }
    scopes__free(table->cells);
    free(table);
}

/* Room for so many cells; NULL when memory is out. */
static scopes_cell *add(scopes_table *table, size_t count)
{
    scopes_cell *cells;

    if (!table || table->failed)
        return NULL;
    if (table->count + count > table->capacity) {
        size_t capacity = 2 * table->capacity + 256 + count;
        scopes_cell *more =
            scopes__resize(table->cells, capacity * sizeof(*more));
        if (!more) {
            table->failed = true;
            return NULL;
        }
        table->cells = more;
        table->capacity = capacity;
    }
    cells = &table->cells[table->count];
    table->count += count;
    return cells;
}

scopes_cell *scopes_table_row(scopes_table *table)
{
    return add(table, table ? table->column_count : 0);
}

void scopes_table_text(scopes_table *table, const char *text)
{
    scopes_cell *cell = add(table, 1);

    if (cell)
        cell->text = text;
}

/* NULL when memory is out. */
static char *text_room(scopes_table *table, size_t bytes)
{
    texts *t = table->copies;
    size_t capacity = t ? 2 * t->bytes : FIRST_TEXTS;

    if (!t || t->bytes - t->used < bytes) {
        if (capacity > MOST_TEXTS)
            capacity = MOST_TEXTS;
        if (capacity < bytes)
            capacity = bytes;
        t = scopes__allocate(sizeof(*t) + capacity);
        if (!t)
            return NULL;
        *t = (texts){.next = table->copies, .bytes = capacity};
        table->copies = t;
    }
    t->used += bytes;
    return t->text + t->used - bytes;
}

void scopes_table_copy(scopes_table *table, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy;

    if (!table || table->failed)
        return;
    copy = text_room(table, bytes);
    table->failed = !copy;
    if (!copy)
        return;
    memcpy(copy, text, bytes);
    scopes_table_text(table, copy);
}

void scopes_table_set_text(scopes_table *table, size_t row, size_t column,
                           const char *text)
{
    size_t at = row * table->column_count + column;

    if (at < table->count) /* or memory was out */
        table->cells[at].text = text;
}

void scopes_table_integer(scopes_table *table, int64_t number)
{
    scopes_cell *cell = add(table, 1);

    if (cell)
        cell->integer = number;
}

void scopes_table_real(scopes_table *table, double number)
{
    scopes_cell *cell = add(table, 1);

    if (cell)
        cell->real = number;
}

/* The texts that it has copied. */
static void append_copies(scopes_table *table, scopes_table *more)
{
    texts **end = &more->copies;

    while (*end)
        end = &(*end)->next;
    *end = table->copies;
    table->copies = more->copies;
    more->copies = NULL;
}

static void append(scopes_table *table, scopes_table *more)
{
    scopes_cell *cells;

    if (!more || more->failed) {
        table->failed = true;
        return;
    }
    cells = add(table, more->count);
    if (cells && more->count)
        memcpy(cells, more->cells, more->count * sizeof(*cells));
    if (cells)
        append_copies(table, more);
}

scopes_table **scopes_table_parts(const scopes_table *table, size_t count)
{
    scopes_table **parts =
        table ? calloc(count + 1, sizeof(scopes_table *)) : NULL;

    for (size_t i = 0; i < count && parts; i++)
        parts[i] = scopes_table_create(table->columns, table->column_count);
    return parts;
}

void scopes_table_join(scopes_table *table, scopes_table **parts, size_t count)
{
    for (size_t i = 0; i < count && parts; i++) {
        append(table, parts[i]);
        scopes_table_destroy(parts[i]);
    }
    free(parts);
}

typedef struct place {
    int64_t value;
    size_t row;
} place;

static int by_value(const void *a, const void *b)
{
    const place *x = a, *y = b;

    if (x->value != y->value)
        return x->value > y->value ? -1 : 1; /* a blank is the least */
    return (x->row > y->row) - (x->row < y->row);
}

void scopes_table_sort(scopes_table *table, size_t column)
{
    size_t width = table ? table->column_count : 0;
    size_t rows = table ? scopes_table_rows(table) : 0;
    scopes_cell *cells = scopes__allocate((rows * width + 1) * sizeof(*cells));
    place *places = scopes__allocate((rows + 1) * sizeof(*places));

    if (table && (!cells || !places))
        table->failed = true;
    if (table && !table->failed) {
        for (size_t i = 0; i < rows; i++)
            places[i] = (place){table->cells[i * width + column].integer, i};
        qsort(places, rows, sizeof(*places), by_value);
        for (size_t i = 0; i < rows; i++)
            memcpy(&cells[i * width], &table->cells[places[i].row * width],
                   width * sizeof(*cells));
        if (rows)
            memcpy(table->cells, cells, rows * width * sizeof(*cells));
    }
    scopes__free(cells);
    scopes__free(places);
}

int scopes_table_status(const scopes_table *table)
{
    if (!table || table->failed)
        return scopes__no_room("for a table");
    return 0;
}

size_t scopes_table_columns(const scopes_table *table)
{
    return table->column_count;
}

size_t scopes_table_rows(const scopes_table *table)
{
    return table->column_count ? table->count / table->column_count : 0;
}

const scopes_column *scopes_table_column(const scopes_table *table,
                                         size_t column)
{
    return &table->columns[column];
}

scopes_cell scopes_table_cell(const scopes_table *table, size_t row,
                              size_t column)
{
    return table->cells[row * table->column_count + column];
}
