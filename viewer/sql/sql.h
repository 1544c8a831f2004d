/* sql.h - SQL over a run: a database in memory whose tables are read from the
 * run's files.
 *
 * `event` has the trace tuples, which are read while a query goes on. All other
 * tables are made when they are first asked for: collector, wrapper, thread,
 * process, element, path, edge, clock, step, round, and each view, which takes
 * a window of time (docs/sql.md). A query can make tables of its own, in
 * memory. It cannot open, read or write a file: ATTACH, VACUUM INTO, most
 * pragmas and loading of extensions are refused.
 *
 * Threads:   one thread per connection.
 * Ownership: open gives, close takes back. The run is borrowed. */
#ifndef VIEWER_SQL_H
#define VIEWER_SQL_H

#include "eventspace/run/run.h"
#include "scopes/reading/source.h"
#include "scopes/tables/table.h"

typedef struct viewer_sql viewer_sql;

/* Errors: PASTSET_EMAP, PASTSET_ENOMEM. */
int viewer_sql_open(viewer_sql **out, eventspace_run *run);
void viewer_sql_close(viewer_sql *sql);

/* Gives the parameter :NAME a value in all statements that follow: a number if
 * it reads like one, else a text. Errors: PASTSET_ENOMEM. */
int viewer_sql_set(viewer_sql *sql, const char *name, const char *value);

/* What a statement has given. All zero: nothing, not even columns. */
typedef struct viewer_sql_result {
    scopes_table *table;
    scopes_column *columns; /* of the table */
    char *names;            /* of the columns */
    scopes_table *values;   /* whose texts the table shows; NULL */
} viewer_sql_result;

void viewer_sql_result_fini(viewer_sql_result *result);

/* Runs the first statement of `*text` and moves `*text` behind it. Columns have
 * the kinds that their values and names say: those called ..._ns are times.
 * With `raw`, for programs, times that are real numbers stay real numbers.
 * Errors: PASTSET_EINVAL, with the statement and what SQLite says of it;
 * PASTSET_ENOMEM. `*text` is behind the statement then too. */
int viewer_sql_run(viewer_sql *sql, const char **text, bool raw,
                   viewer_sql_result *out);

/* Is there no statement in it, but blanks and comments? */
bool viewer_sql_is_blank(const char *text);
/* Does the text end with a whole statement? */
bool viewer_sql_is_complete(const char *text);

/* What became of the events that `event` has passed, in all queries. */
const scopes_ledger *viewer_sql_ledger(const viewer_sql *sql);

/* How many events the query that came by the most of them has come by whose id
 * no collector of the map has, and no process has defined. */
uint64_t viewer_sql_strange(const viewer_sql *sql);
/* How many sends and receives `message` leaves out, as files are damaged. */
uint64_t viewer_sql_messages_damaged(const viewer_sql *sql);

/* The tables, and what their rows are; or the columns of one of them, as SQL.
 * `table` NULL: all. Errors: PASTSET_ENOENT (no such table), PASTSET_ENOMEM. */
int viewer_sql_tables(viewer_sql *sql, viewer_sql_result *out);
int viewer_sql_schema(viewer_sql *sql, const char *table,
                      viewer_sql_result *out);

#endif
