/* extension.c - libeventspace_sql.so, which SQLite's programs load:
 *
 *     .load libeventspace_sql           in the shell sqlite3
 *     select eventspace_open('RUN');    makes the tables of a run
 *     select eventspace_open('OTHER', 'other_');   and of another one
 *
 * The tables are temporary: they are in no database file. */
#include "pastset/status.h"
#include "viewer/sql/sql_internal.h"

static void fail(sqlite3_context *context)
{
    sqlite3_result_error(context, pastset_error(), -1);
}

static int open_run(viewer__sql_run **out, const char *directory)
{
    eventspace_run *run;
    int err = eventspace_run_open(&run, directory);

    if (err)
        return err;
    err = viewer__sql_run_create(out, run, true);
    if (err)
        eventspace_run_close(run);
    return err;
}

/* eventspace_open(RUN [, PREFIX]): how many processes the run has. */
static void extension_open(sqlite3_context *context, int argc,
                           sqlite3_value **argv)
{
    sqlite3 *db = sqlite3_context_db_handle(context);
    const char *directory = (const char *)sqlite3_value_text(argv[0]);
    const char *prefix =
        argc > 1 ? (const char *)sqlite3_value_text(argv[1]) : "";
    viewer__sql_run *sql;
    char *error = NULL;
    int code;

    if (!directory || !prefix) {
        sqlite3_result_error(context, "eventspace_open: the run is missing",
                             -1);
        return;
    }
    if (open_run(&sql, directory)) {
        fail(context);
        return;
    }
    code = viewer__sql_register(db, sql, "temp", prefix, &error);
    if (code)
        sqlite3_result_error(context, error ? error : sqlite3_errstr(code), -1);
    else
        sqlite3_result_int64(context,
                             (sqlite3_int64)eventspace_run_process_count(
                                 viewer__sql_run_opened(sql)));
    sqlite3_free(error);
    viewer__sql_run_unref(sql);
}

__attribute__((visibility("default"))) int
sqlite3_eventspacesql_init(sqlite3 *db, char **error,
                           const sqlite3_api_routines *api);

int sqlite3_eventspacesql_init(sqlite3 *db, char **error,
                               const sqlite3_api_routines *api)
{
    int code = SQLITE_OK;

    (void)error;
    SQLITE_EXTENSION_INIT2(api);
    /* A schema of others must not open runs. */
    for (int argc = 1; argc <= 2 && !code; argc++)
        code = sqlite3_create_function(db, "eventspace_open", argc,
                                       SQLITE_UTF8 | SQLITE_DIRECTONLY, NULL,
                                       extension_open, NULL, NULL);
    return code;
}
