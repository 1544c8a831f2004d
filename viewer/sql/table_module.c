/* table_module.c - tables of scopes (scopes/tables/table.h) as virtual tables:
 * made when they are first read, and then kept.
 *
 * Tables of views are functions too, as SQLite has them: view('1s', '2s') is
 * the view of that window of the run. The arguments are two hidden columns,
 * window_from and window_to, which a query may also compare with a value. Each
 * is a time of the run: a text with a unit, a number of nanoseconds, or NULL
 * for no limit. Such a table stays as long as it is asked for again and again
 * (sql_run.c), so texts in it are copied for SQLite.
 *
 * SQLite makes no index of a virtual table by itself, and joins look up many
 * rows by one column. So a column that is asked for a value gets an index here:
 * the numbers of its rows in the order of its cells, found by bisection. It is
 * used for integers that are asked for integers, and texts for texts compared
 * as they are; else all rows are given. SQLite looks at them once more. */
#include "viewer/sql/sql_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "paths/map/units.h"
#include "pastset/status.h"

typedef struct run_table {
    sqlite3_vtab base;
    viewer__sql_run *sql;
    size_t position;
    viewer__sql_table_kind kind;
} run_table;

/* Limits of a window, in the order of their columns. */
enum { FROM, TO, LIMITS };

typedef struct run_cursor {
    sqlite3_vtab_cursor base;
    viewer__sql_window *window;    /* NULL: none yet */
    sqlite3_value *limits[LIMITS]; /* as the query says them; NULL: none */
    const scopes_table *table;
    const uint32_t *index; /* NULL: rows in their order */
    size_t at, end;        /* in the index, or rows */
} run_cursor;

/* --- the table --- */

static bool find_table(size_t *position, const char *name)
{
    viewer__sql_table_kind kind;

    for (*position = 0;; ++*position) {
        kind = viewer__sql_table_at(*position);
        if (!kind.summary || strcmp(kind.name, name) == 0)
            return kind.summary;
    }
}

static int table_disconnect(sqlite3_vtab *base)
{
    run_table *table = (run_table *)base;

    viewer__sql_run_unref(table->sql);
    sqlite3_free(table);
    return SQLITE_OK;
}

static int declare(sqlite3 *db, const viewer__sql_table_kind *kind)
{
    char *text = viewer__sql_declaration(kind->columns, kind->column_count,
                                         viewer__sql_hidden(kind));
    int code = text ? sqlite3_declare_vtab(db, text) : SQLITE_NOMEM;

    sqlite3_free(text);
    return code;
}

/* The argument behind module, schema and name says which table it is. */
static int table_connect(sqlite3 *db, void *context, int argc,
                         const char *const *argv, sqlite3_vtab **out,
                         char **error)
{
    run_table *table;
    size_t position;
    int code;

    if (argc != 4 || !find_table(&position, argv[3])) {
        *error = sqlite3_mprintf("no table of a run");
        return SQLITE_ERROR;
    }
    table = sqlite3_malloc(sizeof(*table));
    if (!table)
        return SQLITE_NOMEM;
    *table = (run_table){.sql = viewer__sql_run_ref(context),
                         .position = position,
                         .kind = viewer__sql_table_at(position)};
    code = declare(db, &table->kind);
    if (code)
        table_disconnect(&table->base);
    else
        *out = &table->base;
    return code;
}

/* --- indexes --- */

static bool is_indexed(scopes_kind kind)
{
    return kind != SCOPES_SHARE && kind != SCOPES_REAL;
}

/* Nothing is less than any text. */
static int compare_cells(scopes_kind kind, scopes_cell a, scopes_cell b)
{
    if (kind != SCOPES_TEXT)
        return (a.integer > b.integer) - (a.integer < b.integer);
    if (!a.text || !b.text)
        return (a.text != NULL) - (b.text != NULL);
    return strcmp(a.text, b.text);
}

typedef struct ordering {
    const scopes_table *table;
    size_t column;
    scopes_kind kind;
} ordering;

static int compare_rows(const void *a, const void *b, void *context)
{
    const ordering *o = context;
    uint32_t row = *(const uint32_t *)a, other = *(const uint32_t *)b;
    int order =
        compare_cells(o->kind, scopes_table_cell(o->table, row, o->column),
                      scopes_table_cell(o->table, other, o->column));

    return order ? order : (row > other) - (row < other);
}

/* Rows beyond those that have numbers are not indexed: all are looked at. */
static const uint32_t *index_of(viewer__sql_made *made, size_t column)
{
    ordering o = {made->table, column,
                  scopes_table_column(made->table, column)->kind};
    size_t count = scopes_table_rows(made->table);
    uint32_t *index;

    if (!made->indexes)
        made->indexes =
            calloc(scopes_table_columns(made->table), sizeof(uint32_t *));
    if (!made->indexes)
        return NULL;
    index = made->indexes[column];
    if (index || count > UINT32_MAX)
        return index;
    index = malloc((count + 1) * sizeof(*index));
    for (size_t i = 0; index && i < count; i++)
        index[i] = (uint32_t)i;
    if (index)
        qsort_r(index, count, sizeof(*index), compare_rows, &o);
    made->indexes[column] = index;
    return index;
}

/* The first place in the index whose cell is not below the value, or above
 * it. */
static size_t bisect(const run_cursor *c, const ordering *o, scopes_cell value,
                     bool above)
{
    size_t low = 0, high = scopes_table_rows(c->table);

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_cells(
            o->kind, scopes_table_cell(c->table, c->index[middle], o->column),
            value);
        if (order < 0 || (above && order == 0))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Only the rows that have the value, where an index can tell. */
static void look_up(run_cursor *c, viewer__sql_made *made, size_t column,
                    sqlite3_value *value)
{
    ordering o = {c->table, column,
                  scopes_table_column(c->table, column)->kind};
    int type = sqlite3_value_type(value);
    scopes_cell cell;

    if (type == SQLITE_NULL) {
        c->end = 0; /* nothing is equal to it */
        return;
    }
    if (type != (o.kind == SCOPES_TEXT ? SQLITE_TEXT : SQLITE_INTEGER))
        return;
    if (type == SQLITE_TEXT)
        cell.text = (const char *)sqlite3_value_text(value);
    else
        cell.integer = sqlite3_value_int64(value);
    if (type == SQLITE_TEXT && !cell.text)
        return;
    c->index = index_of(made, column);
    if (!c->index)
        return;
    c->at = bisect(c, &o, cell, false);
    c->end = bisect(c, &o, cell, true);
}

/* --- windows --- */

static int fail_time(const char *column, const char *text)
{
    return pastset_fail(
        PASTSET_EINVAL,
        "%s: '%s' is neither a time, such as 500us or 2.5s, nor "
        "a number of nanoseconds",
        column, text ? text : "");
}

/* Errors: PASTSET_EINVAL. */
static int read_limit(int64_t *ns, const char *column, sqlite3_value *value)
{
    const char *text;
    uint64_t read_ns = 0;

    switch (sqlite3_value_type(value)) {
    case SQLITE_NULL:
        return 0;
    case SQLITE_INTEGER:
        *ns = sqlite3_value_int64(value);
        return 0;
    case SQLITE_FLOAT:
        if (!(fabs(sqlite3_value_double(value)) < (double)(INT64_MAX / 4)))
            return fail_time(column, (const char *)sqlite3_value_text(value));
        *ns = llround(sqlite3_value_double(value));
        return 0;
    default:
        text = (const char *)sqlite3_value_text(value);
        if (!text ||
            (strcmp(text, "0") != 0 &&
             (paths_parse_duration(text, &read_ns) || read_ns > INT64_MAX / 4)))
            return fail_time(column, text);
        *ns = (int64_t)read_ns;
        return 0;
    }
}

static int read_span(viewer__sql_span *span, const run_cursor *c)
{
    int err = 0;

    if (c->limits[FROM])
        err = read_limit(&span->from_ns, "window_from", c->limits[FROM]);
    if (!err && c->limits[TO])
        err = read_limit(&span->to_ns, "window_to", c->limits[TO]);
    if (!err && span->from_ns > span->to_ns)
        err =
            pastset_fail(PASTSET_EINVAL, "window_from is later than window_to");
    return err;
}

static void drop_limits(run_cursor *c)
{
    for (int i = 0; i < LIMITS; i++) {
        sqlite3_value_free(c->limits[i]);
        c->limits[i] = NULL;
    }
}

/* The cursor's own window is kept where a query walks through it again: another
 * cursor may have taken another one since. */
static int choose_window(run_cursor *c, const run_table *table)
{
    viewer__sql_span span = VIEWER__SQL_ALL;
    viewer__sql_window *window;
    int err = read_span(&span, c);

    if (err)
        return err;
    span.numbered = table->kind.each;
    if (viewer__sql_window_is(c->window, span))
        return 0;
    err = viewer__sql_window_take(&window, table->sql, span);
    if (err)
        return err;
    viewer__sql_window_unref(c->window);
    c->window = window;
    return 0;
}

/* --- asking --- */

/* How constraints get from xBestIndex to xFilter, in this order: the value of
 * an indexed column, whose number is in idxNum, and the limits of the window.
 */
#define HAS_VALUE 1
#define HAS_FROM 2
#define HAS_TO 4
#define COLUMN_SHIFT 3

/* Which of these a constraint is; 0: none. */
static int use(sqlite3_index_info *info, const run_table *table, int i)
{
    int column = info->aConstraint[i].iColumn;
    int count = (int)table->kind.column_count;

    if (column < 0 || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
        return 0;
    if (column >= count)
        return column == count ? HAS_FROM : HAS_TO;
    if (!is_indexed(table->kind.columns[column].kind) ||
        strcmp(sqlite3_vtab_collation(info, i), "BINARY") != 0)
        return 0;
    return HAS_VALUE;
}

static int table_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    static const int order[] = {HAS_VALUE, HAS_FROM, HAS_TO};
    const run_table *table = (const run_table *)base;
    int found[HAS_TO + 1], argument = 0;
    int64_t rows = table->kind.view ? 10000 : 100;

    for (int i = 0; i <= HAS_TO; i++)
        found[i] = -1;
    for (int i = 0; i < info->nConstraint; i++) {
        int what = use(info, table, i);
        if (what > HAS_VALUE && !info->aConstraint[i].usable)
            return SQLITE_CONSTRAINT; /* the view needs it to be made */
        if (what && info->aConstraint[i].usable && found[what] < 0)
            found[what] = i;
    }
    info->idxNum = 0;
    for (int k = 0; k < 3; k++) {
        int i = found[order[k]];
        if (i < 0)
            continue;
        info->idxNum |= order[k];
        info->aConstraintUsage[i].argvIndex = ++argument;
        if (order[k] == HAS_VALUE)
            info->idxNum |= info->aConstraint[i].iColumn << COLUMN_SHIFT;
        else
            info->aConstraintUsage[i].omit = 1;
    }
    info->estimatedRows = info->idxNum & HAS_VALUE ? 5 : rows;
    info->estimatedCost = (double)info->estimatedRows;
    return SQLITE_OK;
}

static int table_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
    run_cursor *c = sqlite3_malloc(sizeof(*c));

    (void)base;
    if (!c)
        return SQLITE_NOMEM;
    *c = (run_cursor){0};
    *out = &c->base;
    return SQLITE_OK;
}

static int table_close(sqlite3_vtab_cursor *base)
{
    run_cursor *c = (run_cursor *)base;

    drop_limits(c);
    viewer__sql_window_unref(c->window);
    sqlite3_free(c);
    return SQLITE_OK;
}

static int take_limits(run_cursor *c, int index, sqlite3_value **argv)
{
    static const int has[LIMITS] = {HAS_FROM, HAS_TO};

    drop_limits(c);
    for (int i = 0; i < LIMITS; i++) {
        if (!(index & has[i]))
            continue;
        c->limits[i] = sqlite3_value_dup(*argv++);
        if (!c->limits[i])
            return SQLITE_NOMEM;
    }
    return SQLITE_OK;
}

static int table_filter(sqlite3_vtab_cursor *base, int index, const char *text,
                        int argc, sqlite3_value **argv)
{
    run_cursor *c = (run_cursor *)base;
    run_table *table = (run_table *)base->pVtab;
    bool has_value = index & HAS_VALUE;
    viewer__sql_made *made;
    int err;

    (void)text;
    (void)argc;
    if (take_limits(c, index, argv + has_value))
        return SQLITE_NOMEM;
    err = choose_window(c, table);
    if (!err)
        err = viewer__sql_table(c->window, table->position, &made);
    if (err)
        return viewer__sql_fail(base->pVtab);
    c->table = made->table;
    c->index = NULL;
    c->at = 0;
    c->end = scopes_table_rows(c->table);
    if (has_value)
        look_up(c, made, (size_t)index >> COLUMN_SHIFT, argv[0]);
    return SQLITE_OK;
}

static int table_next(sqlite3_vtab_cursor *base)
{
    ((run_cursor *)base)->at++;
    return SQLITE_OK;
}

static int table_eof(sqlite3_vtab_cursor *base)
{
    const run_cursor *c = (const run_cursor *)base;

    return c->at >= c->end;
}

static size_t row_of(const run_cursor *c)
{
    return c->index ? c->index[c->at] : c->at;
}

static int table_column(sqlite3_vtab_cursor *base, sqlite3_context *context,
                        int column)
{
    const run_cursor *c = (const run_cursor *)base;
    size_t columns = scopes_table_columns(c->table);

    if ((size_t)column < columns)
        viewer__sql_result(
            context, scopes_table_column(c->table, (size_t)column)->kind,
            scopes_table_cell(c->table, row_of(c), (size_t)column),
            c->limits[FROM] || c->limits[TO] ? SQLITE_TRANSIENT
                                             : SQLITE_STATIC);
    else if (c->limits[(size_t)column - columns])
        sqlite3_result_value(context, c->limits[(size_t)column - columns]);
    return SQLITE_OK;
}

static int table_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *row)
{
    *row = (sqlite3_int64)row_of((const run_cursor *)base) + 1;
    return SQLITE_OK;
}

const sqlite3_module viewer__table_module = {
    .xCreate = table_connect,
    .xConnect = table_connect,
    .xBestIndex = table_best_index,
    .xDisconnect = table_disconnect,
    .xDestroy = table_disconnect,
    .xOpen = table_open,
    .xClose = table_close,
    .xFilter = table_filter,
    .xNext = table_next,
    .xEof = table_eof,
    .xColumn = table_column,
    .xRowid = table_rowid,
};
