/* sql_values.c - between the tables of scopes and those of SQLite. */
#include "viewer/sql/sql_internal.h"

#include <math.h>

#include "pastset/status.h"

/* What names something is INT, what counts or measures INTEGER: both are
 * integers to SQLite, and sql.c knows by it how to print them. */
static const char *type_name(scopes_kind kind)
{
    switch (kind) {
    case SCOPES_TEXT:
        return "TEXT";
    case SCOPES_NUMBER:
        return "INT";
    case SCOPES_COUNT:
    case SCOPES_TIME_NS:
        return "INTEGER";
    case SCOPES_SHARE:
    case SCOPES_REAL:
        break;
    }
    return "REAL";
}

const char *viewer__sql_hidden(const viewer__sql_table_kind *kind)
{
    return kind->view ? ", window_from HIDDEN, window_to HIDDEN" : "";
}

char *viewer__sql_declaration(const scopes_column *columns, size_t count,
                              const char *more)
{
    sqlite3_str *text = sqlite3_str_new(NULL);

    sqlite3_str_appendall(text, "CREATE TABLE x(");
    for (size_t i = 0; i < count; i++)
        sqlite3_str_appendf(text, "%s\"%w\" %s", i ? ", " : "", columns[i].key,
                            type_name(columns[i].kind));
    sqlite3_str_appendf(text, "%s)", more);
    return sqlite3_str_finish(text);
}

void viewer__sql_result(sqlite3_context *context, scopes_kind kind,
                        scopes_cell cell, sqlite3_destructor_type texts)
{
    switch (kind) {
    case SCOPES_TEXT: /* NULL: NULL */
        sqlite3_result_text(context, cell.text, -1, texts);
        break;
    case SCOPES_COUNT:
    case SCOPES_NUMBER:
    case SCOPES_TIME_NS:
        if (cell.integer == SCOPES_BLANK)
            sqlite3_result_null(context);
        else
            sqlite3_result_int64(context, cell.integer);
        break;
    case SCOPES_SHARE:
    case SCOPES_REAL:
        if (isfinite(cell.real))
            sqlite3_result_double(context, cell.real);
        else
            sqlite3_result_null(context);
        break;
    }
}

int viewer__sql_fail(sqlite3_vtab *table)
{
    sqlite3_free(table->zErrMsg);
    table->zErrMsg = sqlite3_mprintf("%s", pastset_error());
    return SQLITE_ERROR;
}
