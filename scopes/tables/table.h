/* table.h - rows of texts and numbers: what a view is.
 *
 * Printing them for people or for programs is the viewer's.
 *
 * Threads:   one thread per table.
 * Ownership: create gives, destroy takes back. Texts are borrowed: names of
 *            the map, and whatever else lives as long as the table; those that
 *            do not are added with `copy`. The columns are borrowed. */
#ifndef SCOPES_TABLE_H
#define SCOPES_TABLE_H

#include <stddef.h>
#include <stdint.h>

typedef enum scopes_kind {
    SCOPES_TEXT,
    SCOPES_COUNT,   /* an integer */
    SCOPES_NUMBER,  /* an integer that names something: not grouped */
    SCOPES_TIME_NS, /* an integer, in nanoseconds */
    SCOPES_SHARE,   /* a real number from 0 to 1 */
    SCOPES_REAL,    /* another real number; its unit is in the column's key */
} scopes_kind;

typedef struct scopes_column {
    const char *key;  /* in CSV and JSON */
    const char *head; /* in tables */
    scopes_kind kind;
} scopes_column;

typedef union scopes_cell {
    const char *text;
    int64_t integer; /* COUNT, NUMBER, TIME_NS */
    double real;     /* SHARE, REAL */
} scopes_cell;

#define SCOPES_BLANK                                                           \
    INT64_MIN /* an integer that is not told; NaN for reals                    \
               */

typedef struct scopes_table scopes_table;

/* NULL when memory is out; the functions below then do nothing. */
scopes_table *scopes_table_create(const scopes_column *columns, size_t count);
void scopes_table_destroy(scopes_table *table);

/* The cells of a row are added from left to right, and row after row. Memory
 * that ran out is told by `status`. */
void scopes_table_text(scopes_table *table, const char *text);
void scopes_table_copy(scopes_table *table, const char *text);
/* Instead of the text that is in a cell already; borrowed. */
void scopes_table_set_text(scopes_table *table, size_t row, size_t column,
                           const char *text);
void scopes_table_integer(scopes_table *table, int64_t number);
void scopes_table_real(scopes_table *table, double number);

/* A whole row at once, for tables of many: its cells are to be filled in
 * before anything else is added. NULL when memory is out. */
scopes_cell *scopes_table_row(scopes_table *table);

/* For rows that are made in parts: so many tables with the columns of `table`
 * (NULL: no memory), whose rows are then moved behind its own, one table after
 * the other, and which are destroyed by that. `parts` may be NULL there. */
scopes_table **scopes_table_parts(const scopes_table *table, size_t count);
void scopes_table_join(scopes_table *table, scopes_table **parts, size_t count);

/* Puts the rows with the largest in this column, of integers, first; rows with
 * the same stay in their order, blanks come last. Errors: by `status`. */
void scopes_table_sort(scopes_table *table, size_t column);

/* 0, or PASTSET_ENOMEM. */
int scopes_table_status(const scopes_table *table);

size_t scopes_table_columns(const scopes_table *table);
size_t scopes_table_rows(const scopes_table *table);
const scopes_column *scopes_table_column(const scopes_table *table,
                                         size_t column);
scopes_cell scopes_table_cell(const scopes_table *table, size_t row,
                              size_t column);

#endif
