/* view_json.c - see view_json_internal.h. */
#include "viewer/report/view_json_internal.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "viewer/tables/table_print.h"

#define NO_COLUMN SIZE_MAX

static const char *const kinds[] = {
    [SCOPES_TEXT] = "text",   [SCOPES_COUNT] = "count",
    [SCOPES_NUMBER] = "name", [SCOPES_TIME_NS] = "time",
    [SCOPES_SHARE] = "share", [SCOPES_REAL] = "real",
};

static json_t *columns_of(const scopes_table *table)
{
    json_t *columns = json_array();

    for (size_t i = 0; i < scopes_table_columns(table); i++) {
        const scopes_column *column = scopes_table_column(table, i);
        json_array_append_new(columns,
                              json_pack("{s:s, s:o, s:s}", "key", column->key,
                                        "head", viewer_json_text(column->head),
                                        "kind", kinds[column->kind]));
    }
    return columns;
}

/* --- which rows --- */

/* Of steps or rounds. */
static size_t series_column(const scopes_table *table)
{
    for (size_t i = 0; i < scopes_table_columns(table); i++) {
        const scopes_column *column = scopes_table_column(table, i);
        if (column->kind == SCOPES_NUMBER &&
            (strcmp(column->key, "step") == 0 ||
             strcmp(column->key, "round") == 0))
            return i;
    }
    return NO_COLUMN;
}

static bool is_kept(const scopes_table *table, size_t row, size_t series,
                    int64_t every)
{
    int64_t number;

    if (every == 1)
        return true;
    number = scopes_table_cell(table, row, series).integer;
    return number != SCOPES_BLANK && number % every == 0;
}

static size_t kept(const scopes_table *table, size_t series, int64_t every)
{
    size_t count = 0;

    for (size_t i = 0; i < scopes_table_rows(table); i++)
        count += is_kept(table, i, series, every);
    return count;
}

/* 1 when all fit, or when there is nothing to go by. */
static int64_t choose_every(const scopes_table *table, size_t series,
                            size_t most)
{
    size_t rows = scopes_table_rows(table), left = rows;
    int64_t every = 1;

    if (series == NO_COLUMN || most == 0)
        return 1;
    while (left > most && (size_t)every <= rows) {
        size_t more = (left + most - 1) / most;
        every *= (int64_t)(more > 2 ? more : 2);
        left = kept(table, series, every);
    }
    return left > 0 && left <= most ? every : 1;
}

/* --- rows --- */

static json_t *row_of(const scopes_table *table, size_t row)
{
    json_t *cells = json_array();

    for (size_t k = 0; k < scopes_table_columns(table); k++)
        json_array_append_new(
            cells, viewer_json_cell(scopes_table_column(table, k)->kind,
                                    scopes_table_cell(table, row, k)));
    return cells;
}

static json_t *rows_of(const scopes_table *table, size_t most, size_t series,
                       int64_t every)
{
    json_t *rows = json_array();

    for (size_t i = 0;
         i < scopes_table_rows(table) && json_array_size(rows) < most; i++)
        if (is_kept(table, i, series, every))
            json_array_append_new(rows, row_of(table, i));
    return rows;
}

json_t *viewer__view_json(const scopes_table *table, size_t most)
{
    size_t series = series_column(table);
    int64_t every = choose_every(table, series, most);

    return json_pack("{s:o, s:o, s:I, s:I}", "columns", columns_of(table),
                     "rows", rows_of(table, most, series, every), "count",
                     (json_int_t)scopes_table_rows(table), "every",
                     (json_int_t)every);
}
