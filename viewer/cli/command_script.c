/* command_script.c - view scripts (viewer/sql/script.h) of the command
 * `view`. */
#include "viewer/cli/command_sql.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "viewer/sql/script.h"
#include "viewer/tables/view_print.h"

static void print_json_text(const char *text)
{
    json_t *json = viewer_json_text(text);

    json_dumpf(json, stdout, JSON_COMPACT | JSON_ENCODE_ANY);
    json_decref(json);
}

static void print_json_member(const char *key, const char *text)
{
    printf("\"%s\":", key);
    print_json_text(text);
    putchar(',');
}

static int print_json(const viewer_script *script, const char *name,
                      const viewer_sql_result *result,
                      const scopes_ledger *ledger)
{
    int err;

    putchar('{');
    print_json_member("view", name);
    print_json_member("title", script->title);
    print_json_member("chart", script->chart);
    fputs("\"columns\":[", stdout);
    for (size_t i = 0; i < script->column_count; i++) {
        fputs(i ? "," : "", stdout);
        print_json_text(script->columns[i]);
    }
    fputs("],", stdout);
    viewer_ledger_print(ledger, stdout);
    fputs(",\"rows\":", stdout);
    err = viewer_table_print(result->table, VIEWER_JSON, stdout);
    fputs("}\n", stdout);
    return err;
}

int cli_script_run(viewer_script *script, viewer_sql *sql, const char *name,
                   const cli_parameters *parameters, bool raw,
                   viewer_sql_result *out)
{
    int err = 0;

    *out = (viewer_sql_result){0};
    for (size_t i = 0; i < script->parameter_count; i++)
        for (size_t k = 0; k < parameters->count; k++)
            if (strcmp(script->names[i], parameters->names[k]) == 0)
                script->values[i] = parameters->values[k];
    err = cli_parameters_set(parameters, sql);
    if (!err)
        err = viewer_script_run(script, sql, raw, out);
    return err ? pastset_fail_while(err, "%s", name) : 0;
}

static int print_script(viewer_script *script, viewer_sql *sql,
                        const char *name, const cli_parameters *parameters,
                        viewer_format format)
{
    viewer_sql_result result;
    int err = cli_script_run(script, sql, name, parameters,
                             format != VIEWER_TABLE, &result);

    if (err)
        return err;
    if (format == VIEWER_JSON)
        err = print_json(script, name, &result, viewer_sql_ledger(sql));
    else
        err = viewer_table_print(result.table, format, stdout);
    viewer_sql_result_fini(&result);
    return err;
}

int cli_script_view(eventspace_run *run, const char *name, const char *file,
                    const cli_parameters *parameters, viewer_format format)
{
    const char *slash = strrchr(file, '/');
    viewer_script script;
    viewer_sql *sql;
    int err = viewer_script_read(&script, file);

    if (err)
        return err;
    err = viewer_sql_open(&sql, run);
    if (!err)
        err = print_script(&script, sql, slash ? slash + 1 : file, parameters,
                           format);
    if (sql)
        cli_sql_warn(sql, run, name);
    viewer_sql_close(sql);
    viewer_script_fini(&script);
    return err;
}

/* A script that cannot be read is listed with what is wrong. */
static int add_script(const char *name, const char *file, void *context)
{
    scopes_table *table = context;
    viewer_script script;

    scopes_table_copy(table, name);
    if (viewer_script_read(&script, file)) {
        scopes_table_copy(table, pastset_error());
    } else {
        scopes_table_copy(table, script.title);
        viewer_script_fini(&script);
    }
    scopes_table_text(table, "");
    return 0;
}

int cli_script_list(scopes_table *table, const char *run)
{
    return viewer_scripts(run, add_script, table);
}
