/* sql_register.c - the tables of a run in a connection.
 *
 * Its modules are called after the prefix of its tables. When another run is
 * opened with that prefix its modules take their place, and its tables that of
 * the tables, which are known by the names of modules: SQLite closes the run
 * that was there. */
#include "viewer/sql/sql_internal.h"

#include <string.h>

#include "pastset/status.h"

typedef struct target {
    sqlite3 *db;
    const char *schema, *prefix;
    char **error;
} target;

/* Runs a statement, which is freed. */
static int execute(const target *t, char *statement)
{
    int code = statement ? sqlite3_exec(t->db, statement, NULL, NULL, t->error)
                         : SQLITE_NOMEM;

    sqlite3_free(statement);
    return code;
}

static int drop_old(const target *t, const char *name)
{
    sqlite3_stmt *statement;
    char *text = sqlite3_mprintf("SELECT 1 FROM \"%w\".sqlite_master WHERE "
                                 "name = '%q%q' COLLATE NOCASE AND sql LIKE "
                                 "'CREATE VIRTUAL TABLE %% USING "
                                 "\"eventspace_%%'",
                                 t->schema, t->prefix, name);
    int code = text ? sqlite3_prepare_v2(t->db, text, -1, &statement, NULL)
                    : SQLITE_NOMEM;

    sqlite3_free(text);
    if (code)
        return code;
    code = sqlite3_step(statement);
    sqlite3_finalize(statement);
    if (code != SQLITE_ROW)
        return code == SQLITE_DONE ? SQLITE_OK : code;
    return execute(t, sqlite3_mprintf("DROP TABLE \"%w\".\"%w%w\"", t->schema,
                                      t->prefix, name));
}

static int make_table(const target *t, const char *name, const char *module)
{
    int code = drop_old(t, name);

    if (code)
        return code;
    return execute(t, sqlite3_mprintf("CREATE VIRTUAL TABLE \"%w\".\"%w%w\" "
                                      "USING \"eventspace_%w_%w\"(%s)",
                                      t->schema, t->prefix, name, module,
                                      t->prefix, name));
}

static int make_module(const target *t, const char *name,
                       const sqlite3_module *module, viewer__sql_run *sql)
{
    char *full = sqlite3_mprintf("eventspace_%s_%s", name, t->prefix);
    int code;

    if (!full)
        return SQLITE_NOMEM;
    code = sqlite3_create_module_v2(
        t->db, full, module, viewer__sql_run_ref(sql), viewer__sql_run_unref);
    sqlite3_free(full);
    return code;
}

int viewer__sql_register(sqlite3 *db, viewer__sql_run *sql, const char *schema,
                         const char *prefix, char **error)
{
    target t = {db, schema, prefix, error};
    viewer__sql_table_kind kind;
    int code = make_module(&t, "event", &viewer__event_module, sql);

    if (!code)
        code = make_module(&t, "table", &viewer__table_module, sql);
    if (!code)
        code = make_table(&t, "event", "event");
    for (size_t i = 0; !code; i++) {
        kind = viewer__sql_table_at(i);
        if (!kind.summary)
            break;
        code = make_table(&t, kind.name, "table");
    }
    return code;
}
