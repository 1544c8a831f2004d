/* table_print.h - tables (scopes/tables/table.h), printed for people or for
 * programs.
 *
 * As a table, numbers are grouped and times are milliseconds, with three
 * decimals, or six where they are below a millisecond; real numbers have up to
 * three, as many in all columns whose heads end in the same unit. As CSV (RFC
 * 4180) and JSON they are not grouped, times are nanoseconds, and real numbers
 * have six digits. What is not known is blank, in JSON null.
 *
 * Threads:   any, each with its own file. */
#ifndef VIEWER_TABLE_PRINT_H
#define VIEWER_TABLE_PRINT_H

#include <stdio.h>

#include <jansson.h>

#include "scopes/tables/table.h"

typedef enum viewer_format {
    VIEWER_TABLE,
    VIEWER_CSV,
    VIEWER_JSON, /* an array of objects, without a newline at its end */
} viewer_format;

/* Errors: PASTSET_ENOMEM, also when memory ran out while the table was made;
 * PASTSET_EIO. */
int viewer_table_print(const scopes_table *table, viewer_format format,
                       FILE *file);

/* One row as members of a JSON object, without its braces, for what stands
 * beside a table. Errors: as above. */
int viewer_table_print_members(const scopes_table *table, size_t row,
                               FILE *file);

/* A JSON string of any text: bytes that are not UTF-8 become '?'. NULL when
 * memory is out. */
json_t *viewer_json_text(const char *text);

/* A cell as a JSON value, the one that the format JSON prints; null for what is
 * not known. NULL when memory is out. */
json_t *viewer_json_cell(scopes_kind kind, scopes_cell cell);

#endif
