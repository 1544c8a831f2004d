/* sql_internal.h - a run as SQLite's virtual tables: what the files of this
 * folder share.
 *
 * They are compiled twice: for the command, which is linked with SQLite, and
 * for the extension, which SQLite's programs load and which calls what they
 * give it (sqlite3ext.h). */
#ifndef VIEWER_SQL_INTERNAL_H
#define VIEWER_SQL_INTERNAL_H

/* What the macros of sqlite3ext.h call goes by a name of this layer. */
#define sqlite3_api viewer__sqlite_api
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT3

#include "eventspace/run/run.h"
#include "scopes/causality/topology.h"
#include "scopes/reading/cursor.h"
#include "scopes/reading/snapshot.h"
#include "scopes/tables/table.h"

/* --- sql_run.c --- */

/* A run, and what its tables need, each when it is first asked for. */
typedef struct viewer__sql_run viewer__sql_run;

/* With `owned`, the last who leaves it closes `run`; not after an error.
 * Errors: PASTSET_EMAP, PASTSET_ENOMEM. */
int viewer__sql_run_create(viewer__sql_run **out, eventspace_run *run,
                           bool owned);
viewer__sql_run *viewer__sql_run_ref(viewer__sql_run *sql);
void viewer__sql_run_unref(void *sql);

eventspace_run *viewer__sql_run_opened(viewer__sql_run *sql);
const scopes_topology *viewer__sql_topology(viewer__sql_run *sql);
scopes_source *viewer__sql_source(viewer__sql_run *sql);
/* Clocks as the views of the whole run have them. Errors: PASTSET_ENOMEM ... */
int viewer__sql_clocks(viewer__sql_run *sql, const scopes_clocks **out);
/* What became of the events that `event` has passed. */
scopes_ledger *viewer__sql_ledger(viewer__sql_run *sql);

/* A query has come by this many events of ids that nobody has defined. The most
 * that one query has come by stays. */
void viewer__sql_note_strange(viewer__sql_run *sql, uint64_t events);
uint64_t viewer__sql_strange(const viewer__sql_run *sql);
/* Ends of messages that could not be read. */
void viewer__sql_note_messages(viewer__sql_run *sql, uint64_t damaged);
uint64_t viewer__sql_messages_damaged(const viewer__sql_run *sql);

/* A part of the run, with the tables of it that were made. */
typedef struct viewer__sql_window viewer__sql_window;

typedef struct viewer__sql_span {
    int64_t from_ns, to_ns; /* as in scopes_snapshot_options */
    bool numbered;          /* too; of all the run it is so anyway */
} viewer__sql_span;
#define VIEWER__SQL_ALL                                                        \
    (viewer__sql_span)                                                         \
    {                                                                          \
        .from_ns = INT64_MIN, .to_ns = INT64_MAX                               \
    }

/* All of the run, which stays as long as that is open, or a part, of which the
 * last one stays until another one is taken. Give it back with unref.
 * Errors: PASTSET_ENOMEM. */
int viewer__sql_window_take(viewer__sql_window **out, viewer__sql_run *sql,
                            viewer__sql_span span);
/* NULL is allowed. */
void viewer__sql_window_unref(viewer__sql_window *window);
bool viewer__sql_window_is(const viewer__sql_window *window,
                           viewer__sql_span span);
/* All that views of it are made from. Errors: as of scopes_snapshot_take. */
int viewer__sql_snapshot(viewer__sql_window *window,
                         const scopes_snapshot **out);
viewer__sql_run *viewer__sql_window_run(viewer__sql_window *window);

/* A table, and for each column the numbers of its rows in the order of its
 * cells (table_module.c). */
typedef struct viewer__sql_made {
    scopes_table *table; /* NULL: not made yet */
    uint32_t **indexes;  /* by column; NULL: none yet */
} viewer__sql_made;

/* Where the table at a position (sql_tables.c) is kept, until the next call.
 * NULL: no memory. */
viewer__sql_made *viewer__sql_place(viewer__sql_window *window,
                                    size_t position);

/* --- sql_tables.c --- */

/* What a table is called, its columns, and what a row is: of the run's own
 * tables and of views. `summary` NULL: there is no table at this position. */
typedef struct viewer__sql_table_kind {
    char name[64];
    const char *summary;
    const scopes_column *columns;
    size_t column_count;
    const struct scopes_view *view; /* NULL: `make` */
    bool each;
    int (*make)(scopes_table *out, viewer__sql_run *sql);
} viewer__sql_table_kind;

viewer__sql_table_kind viewer__sql_table_at(size_t position);
/* Made when it is first asked for; it stays as long as the window, and what is
 * given until the next call. */
int viewer__sql_table(viewer__sql_window *window, size_t position,
                      viewer__sql_made **out);

/* --- sql_messages.c --- */

#define VIEWER__MESSAGE_COLUMNS 16
extern const scopes_column viewer__message_columns[VIEWER__MESSAGE_COLUMNS];
/* Errors: PASTSET_ENOMEM; as of viewer__sql_clocks. */
int viewer__sql_make_messages(scopes_table *out, viewer__sql_run *sql);

/* --- sql_values.c --- */

/* "CREATE TABLE x(...)" for columns, and with `more`, such as ", a HIDDEN",
 * behind them; sqlite3_free it. NULL: no memory. */
char *viewer__sql_declaration(const scopes_column *columns, size_t count,
                              const char *more);
/* The columns that tables of views have besides; "" of others. */
const char *viewer__sql_hidden(const viewer__sql_table_kind *kind);
/* Gives a cell to SQLite; a blank is NULL. Texts are SQLITE_STATIC, where they
 * stay as long as the connection, or SQLITE_TRANSIENT. */
void viewer__sql_result(sqlite3_context *context, scopes_kind kind,
                        scopes_cell cell, sqlite3_destructor_type texts);
/* The text of the last failure, as SQLite wants it from a virtual table. */
int viewer__sql_fail(sqlite3_vtab *table);

/* --- event_module.c, table_module.c --- */

/* The columns of `event`. */
extern const scopes_column viewer__event_columns[];
extern const size_t viewer__event_column_count;
extern const sqlite3_module viewer__event_module, viewer__table_module;

/* --- sql_register.c --- */

/* Makes the tables of a run in the schema `schema` of a connection, each name
 * with `prefix` before it; those that an earlier call has made of this name are
 * replaced. The connection keeps a reference. Gives a code of SQLite; `*error`
 * is for sqlite3_free. */
int viewer__sql_register(sqlite3 *db, viewer__sql_run *sql, const char *schema,
                         const char *prefix, char **error);

#endif
