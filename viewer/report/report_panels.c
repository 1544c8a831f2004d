/* report_panels.c - see report_panels_internal.h. */
#include "viewer/report/report_panels_internal.h"

#include <math.h>

#include "viewer/tables/table_print.h"

static const char *const kinds[] = {
    [SCOPES_TEXT] = "text",   [SCOPES_COUNT] = "count",
    [SCOPES_NUMBER] = "name", [SCOPES_TIME_NS] = "time",
    [SCOPES_SHARE] = "share", [SCOPES_REAL] = "real",
};

static json_t *cell_of(scopes_kind kind, scopes_cell cell)
{
    switch (kind) {
    case SCOPES_TEXT:
        return cell.text ? viewer_json_text(cell.text) : json_null();
    case SCOPES_SHARE:
    case SCOPES_REAL:
        return isfinite(cell.real) ? json_real(cell.real) : json_null();
    default:
        return cell.integer == SCOPES_BLANK ? json_null()
                                            : json_integer(cell.integer);
    }
}

static json_t *columns_of(const scopes_table *table)
{
    json_t *columns = json_array();

    for (size_t i = 0; i < scopes_table_columns(table); i++) {
        const scopes_column *column = scopes_table_column(table, i);
        json_array_append_new(columns, json_pack("{s:o, s:s}", "head",
                                                 viewer_json_text(column->head),
                                                 "kind", kinds[column->kind]));
    }
    return columns;
}

static json_t *rows_of(const scopes_table *table)
{
    json_t *rows = json_array();

    for (size_t i = 0; i < scopes_table_rows(table) && i < VIEWER__PANEL_ROWS;
         i++) {
        json_t *row = json_array();
        for (size_t k = 0; k < scopes_table_columns(table); k++)
            json_array_append_new(row,
                                  cell_of(scopes_table_column(table, k)->kind,
                                          scopes_table_cell(table, i, k)));
        json_array_append_new(rows, row);
    }
    return rows;
}

json_t *viewer__report_panels(const viewer_report_panel *panels, size_t count)
{
    json_t *json = json_array();

    for (size_t i = 0; i < count; i++)
        json_array_append_new(
            json, json_pack("{s:o, s:o, s:o, s:I}", "title",
                            viewer_json_text(panels[i].title), "columns",
                            columns_of(panels[i].table), "rows",
                            rows_of(panels[i].table), "count",
                            (json_int_t)scopes_table_rows(panels[i].table)));
    return json;
}
