/* table.h - rows of texts and numbers, printed for people or for programs.
 *
 * As a table, numbers are grouped and times are milliseconds; as CSV (RFC
 * 4180) and JSON they stand as they are, times in nanoseconds.
 *
 * Threads:   one thread per table.
 * Ownership: create gives, destroy takes back; texts are copied. The columns
 *            are borrowed. */
#ifndef VIEWER_TABLE_H
#define VIEWER_TABLE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

typedef enum viewer_format {
    VIEWER_TABLE,
    VIEWER_CSV,
    VIEWER_JSON,
} viewer_format;

typedef enum viewer_kind {
    VIEWER_TEXT,
    VIEWER_COUNT,   /* an integer */
    VIEWER_NUMBER,  /* an integer that names something: not grouped */
    VIEWER_TIME_NS, /* an integer */
    VIEWER_SHARE,   /* a real number from 0 to 1 */
} viewer_kind;

typedef struct viewer_column {
    const char *key;  /* in CSV and JSON */
    const char *head; /* in tables */
    viewer_kind kind;
} viewer_column;

typedef struct viewer_table viewer_table;

/* NULL when memory is out; the functions below then do nothing. */
viewer_table *viewer_table_create(const viewer_column *columns, size_t count);
void viewer_table_destroy(viewer_table *table);

/* The cells of a row are added from left to right, and row after row. Memory
 * that ran out is told by print. */
void viewer_table_text(viewer_table *table, const char *text);
void viewer_table_integer(viewer_table *table, int64_t number);
#define VIEWER_BLANK INT64_MIN /* an integer that is not told */
void viewer_table_real(viewer_table *table, double number);

/* Errors: PASTSET_ENOMEM, PASTSET_EIO. */
int viewer_table_print(const viewer_table *table, viewer_format format,
                       FILE *file);

/* A JSON string of any text: bytes that are not UTF-8 become '?'. NULL when
 * memory is out. */
json_t *viewer_json_text(const char *text);

#endif
