/* sql.c - a database in memory with the tables of a run, and its statements.
 *
 * The tables are made first, then the door is closed: from then on an
 * authorizer refuses whatever would reach a file or another database. */
#include "viewer/sql/sql.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "paths/map/nearest_word.h"
#include "pastset/array.h"
#include "pastset/status.h"
#include "viewer/sql/sql_internal.h"

typedef struct parameter {
    char *name, *value;
} parameter;

struct viewer_sql {
    sqlite3 *db;
    viewer__sql_run *run;
    parameter *parameters;
    size_t parameter_count;
    unsigned statements; /* that were run */
};

/* --- what is allowed --- */

static bool is_harmless_pragma(const char *name)
{
    static const char *const names[] = {"table_info",    "table_xinfo",
                                        "table_list",    "database_list",
                                        "function_list", "compile_options"};

    for (size_t i = 0; name && i < sizeof(names) / sizeof(*names); i++)
        if (strcasecmp(name, names[i]) == 0)
            return true;
    return false;
}

static int authorize(void *context, int action, const char *first,
                     const char *second, const char *database,
                     const char *trigger)
{
    (void)context;
    (void)database;
    (void)trigger;
    switch (action) {
    case SQLITE_ATTACH:
    case SQLITE_DETACH:
    case SQLITE_CREATE_VTABLE:
    case SQLITE_DROP_VTABLE:
        return SQLITE_DENY;
    case SQLITE_PRAGMA:
        return is_harmless_pragma(first) ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_FUNCTION:
        return second && strcasecmp(second, "load_extension") == 0 ? SQLITE_DENY
                                                                   : SQLITE_OK;
    default:
        return SQLITE_OK;
    }
}

static void close_door(sqlite3 *db)
{
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_set_authorizer(db, authorize, NULL);
}

/* --- opening --- */

static int fail_sqlite(int code, const char *error)
{
    if (code == SQLITE_NOMEM)
        return pastset_no_memory("for SQLite");
    return pastset_fail(PASTSET_EINVAL, "SQLite: %s",
                        error ? error : sqlite3_errstr(code));
}

static int make_database(viewer_sql *sql)
{
    char *error = NULL;
    int code = sqlite3_open_v2(
        ":memory:", &sql->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY, NULL);

    if (!code)
        code = viewer__sql_register(sql->db, sql->run, "main", "", &error);
    if (code) {
        code = fail_sqlite(code, error);
        sqlite3_free(error);
        return code;
    }
    close_door(sql->db);
    return 0;
}

int viewer_sql_open(viewer_sql **out, eventspace_run *run)
{
    viewer_sql *sql = calloc(1, sizeof(*sql));
    int err;

    *out = NULL;
    if (!sql)
        return pastset_no_memory("for a database");
    err = viewer__sql_run_create(&sql->run, run, false);
    if (!err)
        err = make_database(sql);
    if (err) {
        viewer_sql_close(sql);
        return err;
    }
    *out = sql;
    return 0;
}

void viewer_sql_close(viewer_sql *sql)
{
    if (!sql)
        return;
    sqlite3_close(sql->db);
    if (sql->run)
        viewer__sql_run_unref(sql->run);
    for (size_t i = 0; i < sql->parameter_count; i++) {
        free(sql->parameters[i].name);
        free(sql->parameters[i].value);
    }
    free(sql->parameters);
    free(sql);
}

const scopes_ledger *viewer_sql_ledger(const viewer_sql *sql)
{
    return viewer__sql_ledger(sql->run);
}

uint64_t viewer_sql_strange(const viewer_sql *sql)
{
    return viewer__sql_strange(sql->run);
}

uint64_t viewer_sql_messages_damaged(const viewer_sql *sql)
{
    return viewer__sql_messages_damaged(sql->run);
}

/* --- parameters --- */

static parameter *parameter_find(const viewer_sql *sql, const char *name)
{
    for (size_t i = 0; i < sql->parameter_count; i++)
        if (strcmp(sql->parameters[i].name, name) == 0)
            return &sql->parameters[i];
    return NULL;
}

static parameter *parameter_add(viewer_sql *sql, const char *name)
{
    parameter *more = pastset_array_grow(sql->parameters, sql->parameter_count,
                                         sizeof(*more));
    char *copy = strdup(name);

    if (more)
        sql->parameters = more;
    if (!more || !copy) {
        free(copy);
        return NULL;
    }
    more[sql->parameter_count] = (parameter){.name = copy};
    return &more[sql->parameter_count++];
}

int viewer_sql_set(viewer_sql *sql, const char *name, const char *value)
{
    parameter *p = parameter_find(sql, name);
    char *copy = strdup(value);

    if (!p)
        p = parameter_add(sql, name);
    if (!p || !copy) {
        free(copy);
        return pastset_no_memory("for the parameter %s", name);
    }
    free(p->value);
    p->value = copy;
    return 0;
}

static int bind_value(sqlite3_stmt *statement, int place, const char *value)
{
    char *end;
    long long number;
    double real;

    errno = 0;
    number = strtoll(value, &end, 10);
    if (*value && !*end && !errno)
        return sqlite3_bind_int64(statement, place, number);
    real = strtod(value, &end);
    if (*value && !*end && isfinite(real))
        return sqlite3_bind_double(statement, place, real);
    return sqlite3_bind_text(statement, place, value, -1, SQLITE_TRANSIENT);
}

static int bind_all(const viewer_sql *sql, sqlite3_stmt *statement)
{
    int count = sqlite3_bind_parameter_count(statement);

    for (int i = 1; i <= count; i++) {
        const char *name = sqlite3_bind_parameter_name(statement, i);
        const parameter *p = name ? parameter_find(sql, name + 1) : NULL;
        if (!name)
            return pastset_fail(PASTSET_EINVAL, "a parameter needs a name, "
                                                "such as :from");
        if (!p)
            return pastset_fail(PASTSET_EINVAL,
                                "the parameter %s has no value; give it one "
                                "with --param=%s=VALUE",
                                name, name + 1);
        if (bind_value(statement, i, p->value))
            return pastset_no_memory("for the parameter %s", name);
    }
    return 0;
}

/* --- what SQLite says --- */

/* A near name for the one that an error ends with. */
static const char *nearest_table(const char *name)
{
    static const char event[] = "event";
    viewer__sql_table_kind kinds[96];
    const char *names[97] = {event}, *nearest;
    static char found[sizeof(kinds[0].name)];
    size_t count = 1;

    for (size_t i = 0; i < 96; i++) {
        kinds[i] = viewer__sql_table_at(i);
        if (!kinds[i].summary)
            break;
        names[count++] = kinds[i].name;
    }
    nearest = paths_nearest_word(name, names, count);
    if (!nearest)
        return NULL;
    snprintf(found, sizeof(found), "%s", nearest);
    return found;
}

/* The statement in one line, cut where it is long. */
#define SHOWN 72

static const char *shorten(char out[SHOWN + 4], const char *text, size_t bytes)
{
    size_t used = 0, i = 0;

    while (i < bytes && used < SHOWN) {
        bool blank = isspace((unsigned char)text[i]);
        if (!blank || (used > 0 && out[used - 1] != ' '))
            out[used++] = blank ? ' ' : text[i];
        i++;
    }
    while (used > 0 && out[used - 1] == ' ')
        used--;
    while (used > 0 && i < bytes && ((unsigned char)out[used - 1] & 0x80))
        used--; /* no half of a character */
    strcpy(out + used, i < bytes ? "..." : "");
    return out;
}

static int fail_statement(viewer_sql *sql, const char *text, size_t bytes)
{
    static const char unknown[] = "no such table: ";
    const char *says = sqlite3_errmsg(sql->db), *nearest = NULL;
    char shown[SHOWN + 4];

    if (strncmp(says, unknown, sizeof(unknown) - 1) == 0)
        nearest = nearest_table(says + sizeof(unknown) - 1);
    if (strcmp(says, "not authorized") == 0)
        says = "this reaches beyond the run: other files and databases, "
               "settings and extensions are refused";
    shorten(shown, text, bytes);
    return pastset_fail(PASTSET_EINVAL, "statement %u, \"%s\": %s%s%s%s",
                        sql->statements, shown, says,
                        nearest ? "; did you mean '" : "",
                        nearest ? nearest : "", nearest ? "'?" : "");
}

/* --- results --- */

typedef struct value {
    int type;
    union {
        int64_t integer;
        double real;
        const char *text; /* of texts and blobs */
    } is;
} value;

/* They are kept in a table, whose memory is limited where that of views is. */
typedef struct rows {
    sqlite3_stmt *statement;
    int columns;
    scopes_table *values; /* row by row: the type, and the value */
    size_t count;
} rows;

static const scopes_column value_columns[] = {{"type", "type", SCOPES_NUMBER},
                                              {"value", "value", SCOPES_TEXT}};

static value value_at(const rows *r, size_t i)
{
    value v = {.type = (int)scopes_table_cell(r->values, i, 0).integer};
    scopes_cell cell = scopes_table_cell(r->values, i, 1);

    if (v.type == SQLITE_TEXT)
        v.is.text = cell.text;
    else if (v.type == SQLITE_FLOAT)
        v.is.real = cell.real;
    else
        v.is.integer = cell.integer;
    return v;
}

/* Bytes are shown as SQL writes them. */
static int add_blob(rows *r, int column)
{
    const unsigned char *bytes = sqlite3_column_blob(r->statement, column);
    size_t count = (size_t)sqlite3_column_bytes(r->statement, column);
    char *text = malloc(2 * count + 4);

    if (!text || (count && !bytes)) {
        free(text);
        return pastset_no_memory("for the rows of a query");
    }
    memcpy(text, "x'", 2);
    for (size_t i = 0; i < count; i++)
        sprintf(text + 2 + 2 * i, "%02X", bytes[i]);
    strcpy(text + 2 + 2 * count, "'");
    scopes_table_copy(r->values, text);
    free(text);
    return 0;
}

static int add_text_of(rows *r, int column)
{
    const char *text = (const char *)sqlite3_column_text(r->statement, column);

    if (!text)
        return pastset_no_memory("for the rows of a query");
    scopes_table_copy(r->values, text);
    return 0;
}

static int add_value(rows *r, int column)
{
    int type = sqlite3_column_type(r->statement, column), err = 0;

    scopes_table_integer(r->values, type == SQLITE_BLOB ? SQLITE_TEXT : type);
    if (type == SQLITE_TEXT)
        err = add_text_of(r, column);
    else if (type == SQLITE_BLOB)
        err = add_blob(r, column);
    else if (type == SQLITE_FLOAT)
        scopes_table_real(r->values,
                          sqlite3_column_double(r->statement, column));
    else
        scopes_table_integer(r->values,
                             sqlite3_column_int64(r->statement, column));
    r->count++;
    return err ? err : scopes_table_status(r->values);
}

static bool ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);

    return length > tail && strcmp(text + length - tail, end) == 0;
}

/* Of integers: a name, a time, or a count. */
static scopes_kind integer_kind(const rows *r, int column)
{
    const char *type = sqlite3_column_decltype(r->statement, column);

    if (ends_in(sqlite3_column_name(r->statement, column), "_ns"))
        return SCOPES_TIME_NS;
    return type && strcmp(type, "INT") == 0 ? SCOPES_NUMBER : SCOPES_COUNT;
}

static scopes_kind real_kind(const rows *r, int column, bool raw)
{
    const char *name = sqlite3_column_name(r->statement, column);

    if (!raw && ends_in(name, "_ns"))
        return SCOPES_TIME_NS;
    return ends_in(name, "_share") ? SCOPES_SHARE : SCOPES_REAL;
}

static scopes_kind kind_of(const rows *r, int column, bool raw)
{
    bool real = false;

    for (size_t i = (size_t)column; i < r->count; i += (size_t)r->columns) {
        int type = value_at(r, i).type;
        if (type == SQLITE_TEXT)
            return SCOPES_TEXT;
        real |= type == SQLITE_FLOAT;
    }
    return real ? real_kind(r, column, raw) : integer_kind(r, column);
}

/* As in tables of views: "start_ns" is "start ms". */
static void head_of(char *out, const char *name, scopes_kind kind)
{
    strcpy(out, name);
    if (kind == SCOPES_TIME_NS)
        out[strlen(out) - 2] = 'm';
    for (char *c = out; *c; c++)
        if (*c == '_')
            *c = ' ';
}

static int make_columns(viewer_sql_result *out, const rows *r, bool raw)
{
    size_t bytes = 1;
    char *next;

    for (int i = 0; i < r->columns; i++)
        bytes += 2 * (strlen(sqlite3_column_name(r->statement, i)) + 1);
    out->columns = calloc((size_t)r->columns, sizeof(*out->columns));
    out->names = next = malloc(bytes);
    if (!out->columns || !out->names)
        return pastset_no_memory("for the columns of a query");
    for (int i = 0; i < r->columns; i++) {
        const char *name = sqlite3_column_name(r->statement, i);
        size_t length = strlen(name) + 1;
        scopes_kind kind = kind_of(r, i, raw);
        memcpy(next, name, length);
        head_of(next + length, name, kind);
        out->columns[i] = (scopes_column){next, next + length, kind};
        next += 2 * length;
    }
    return 0;
}

/* Numbers in a column of texts become texts. Texts stay where the values are.
 */
static void add_text(scopes_table *table, const value *v)
{
    char digits[64];

    if (v->type == SQLITE_TEXT)
        scopes_table_text(table, v->is.text);
    else if (v->type == SQLITE_NULL)
        scopes_table_text(table, NULL);
    else {
        if (v->type == SQLITE_INTEGER)
            snprintf(digits, sizeof(digits), "%lld", (long long)v->is.integer);
        else
            snprintf(digits, sizeof(digits), "%.15g", v->is.real);
        scopes_table_copy(table, digits);
    }
}

static void add_number(scopes_table *table, const value *v, scopes_kind kind)
{
    bool is_real = kind == SCOPES_REAL || kind == SCOPES_SHARE;

    if (v->type == SQLITE_NULL && is_real)
        scopes_table_real(table, NAN);
    else if (v->type == SQLITE_NULL)
        scopes_table_integer(table, SCOPES_BLANK);
    else if (is_real)
        scopes_table_real(table, v->type == SQLITE_FLOAT
                                     ? v->is.real
                                     : (double)v->is.integer);
    else if (v->type == SQLITE_FLOAT)
        scopes_table_integer(table, fabs(v->is.real) < 9e18
                                        ? llround(v->is.real)
                                        : SCOPES_BLANK);
    else
        scopes_table_integer(table, v->is.integer);
}

static int make_table(viewer_sql_result *out, const rows *r, bool raw)
{
    int err = make_columns(out, r, raw);

    if (err)
        return err;
    out->table = scopes_table_create(out->columns, (size_t)r->columns);
    for (size_t i = 0; i < r->count; i++) {
        scopes_kind kind = out->columns[i % (size_t)r->columns].kind;
        value v = value_at(r, i);
        if (kind == SCOPES_TEXT)
            add_text(out->table, &v);
        else
            add_number(out->table, &v, kind);
    }
    return scopes_table_status(out->table);
}

void viewer_sql_result_fini(viewer_sql_result *result)
{
    scopes_table_destroy(result->table);
    scopes_table_destroy(result->values);
    free(result->columns);
    free(result->names);
    *result = (viewer_sql_result){0};
}

/* --- statements --- */

/* Gives 1 behind the last row. */
static int take_rows(viewer_sql *sql, rows *r, const char *text, size_t bytes)
{
    int code = SQLITE_DONE, err = scopes_table_status(r->values);

    while (!err && (code = sqlite3_step(r->statement)) == SQLITE_ROW)
        for (int i = 0; i < r->columns && !err; i++)
            err = add_value(r, i);
    if (!err && code != SQLITE_DONE)
        err = fail_statement(sql, text, bytes);
    return err;
}

static int run_statement(viewer_sql *sql, sqlite3_stmt *statement, bool raw,
                         const char *text, size_t bytes, viewer_sql_result *out)
{
    rows r = {.statement = statement,
              .columns = sqlite3_column_count(statement),
              .values = scopes_table_create(value_columns, 2)};
    char shown[SHOWN + 4];
    int err = bind_all(sql, statement);

    out->values = r.values;
    if (err)
        return pastset_fail_while(err, "statement %u, \"%s\"", sql->statements,
                                  shorten(shown, text, bytes));
    err = take_rows(sql, &r, text, bytes);
    if (!err && r.columns > 0)
        return make_table(out, &r, raw);
    viewer_sql_result_fini(out); /* nothing is given */
    return err;
}

int viewer_sql_run(viewer_sql *sql, const char **text, bool raw,
                   viewer_sql_result *out)
{
    const char *begin = *text, *end = NULL;
    sqlite3_stmt *statement;
    int code, err = 0;

    *out = (viewer_sql_result){0};
    sql->statements++;
    code = sqlite3_prepare_v2(sql->db, begin, -1, &statement, &end);
    *text = end && end > begin ? end : begin + strlen(begin);
    if (code)
        err = fail_statement(sql, begin, (size_t)(*text - begin));
    else if (statement)
        err = run_statement(sql, statement, raw, begin, (size_t)(*text - begin),
                            out);
    sqlite3_finalize(statement);
    if (err)
        viewer_sql_result_fini(out);
    return err;
}

/* Behind a comment; NULL when there is none here. */
static const char *skip_comment(const char *text)
{
    const char *end;

    if (strncmp(text, "--", 2) == 0)
        return text + strcspn(text, "\n");
    if (strncmp(text, "/*", 2) != 0)
        return NULL;
    end = strstr(text + 2, "*/");
    return end ? end + 2 : text + strlen(text);
}

bool viewer_sql_is_blank(const char *text)
{
    const char *next;

    for (;;) {
        text += strspn(text, " \t\r\n\f;");
        next = skip_comment(text);
        if (!next)
            return !*text;
        text = next;
    }
}

bool viewer_sql_is_complete(const char *text)
{
    return sqlite3_complete(text);
}

/* --- what there is --- */

int viewer_sql_tables(viewer_sql *sql, viewer_sql_result *out)
{
    static const scopes_column columns[] = {{"table", "table", SCOPES_TEXT},
                                            {"summary", "rows", SCOPES_TEXT}};
    viewer__sql_table_kind kind;

    (void)sql;
    *out = (viewer_sql_result){.table = scopes_table_create(columns, 2)};
    scopes_table_text(out->table, "event");
    scopes_table_text(out->table, "the events that collectors recorded");
    for (size_t i = 0;; i++) {
        kind = viewer__sql_table_at(i);
        if (!kind.summary)
            break;
        scopes_table_copy(out->table, kind.name);
        scopes_table_text(out->table, kind.summary);
    }
    return scopes_table_status(out->table);
}

static void add_schema(viewer_sql_result *out, const char *name,
                       const scopes_column *columns, size_t count,
                       const char *more)
{
    char *text = viewer__sql_declaration(columns, count, more);
    const char *list = text ? strchr(text, '(') : NULL;
    char *line =
        list ? sqlite3_mprintf("CREATE TABLE %s%s;", name, list) : NULL;

    scopes_table_copy(out->table, line ? line : "");
    sqlite3_free(line);
    sqlite3_free(text);
}

int viewer_sql_schema(viewer_sql *sql, const char *table,
                      viewer_sql_result *out)
{
    static const scopes_column columns[] = {{"schema", "schema", SCOPES_TEXT}};
    viewer__sql_table_kind kind;
    const char *nearest;

    (void)sql;
    *out = (viewer_sql_result){.table = scopes_table_create(columns, 1)};
    if (!table || strcmp(table, "event") == 0)
        add_schema(out, "event", viewer__event_columns,
                   viewer__event_column_count, "");
    for (size_t i = 0;; i++) {
        kind = viewer__sql_table_at(i);
        if (!kind.summary)
            break;
        if (!table || strcmp(table, kind.name) == 0)
            add_schema(out, kind.name, kind.columns, kind.column_count,
                       viewer__sql_hidden(&kind));
    }
    if (scopes_table_status(out->table) || scopes_table_rows(out->table) > 0)
        return scopes_table_status(out->table);
    nearest = nearest_table(table);
    return pastset_fail(PASTSET_ENOENT, "there is no table '%s'%s%s%s", table,
                        nearest ? "; did you mean '" : "",
                        nearest ? nearest : "", nearest ? "'?" : "");
}
