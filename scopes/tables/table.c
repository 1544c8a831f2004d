/* table.c - the cells of a table in one array that grows. */
#include "scopes/tables/table.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/array.h"
#include "pastset/status.h"

struct scopes_table {
    const scopes_column *columns;
    size_t column_count;
    scopes_cell *cells;
    size_t count, capacity;
    char **copies;
    size_t copy_count;
    bool failed; /* memory was out */
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
    for (size_t i = 0; i < table->copy_count; i++)
        free(table->copies[i]);
    free(table->copies);
    free(table->cells);
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
        scopes_cell *more = realloc(table->cells, capacity * sizeof(*more));
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

void scopes_table_copy(scopes_table *table, const char *text)
{
    char **more, *copy;

    if (!table || table->failed)
        return;
    more = pastset_array_grow(table->copies, table->copy_count, sizeof(*more));
    if (!more) {
        table->failed = true;
        return;
    }
    table->copies = more;
    copy = strdup(text);
    table->failed = !copy;
    if (copy)
        table->copies[table->copy_count++] = copy;
    scopes_table_text(table, copy);
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

int scopes_table_status(const scopes_table *table)
{
    if (!table || table->failed)
        return pastset_no_memory("for a table");
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
