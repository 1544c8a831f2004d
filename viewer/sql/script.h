/* script.h - view scripts: views that are written in SQL.
 *
 * A script is a file NAME.sql of statements (sql.h), the last of which gives
 * the rows of the view. Comments at its top may say more:
 *
 *     -- title: Who comes last to each barrier
 *     -- chart: bar
 *     -- columns: thread, last
 *     -- param: from=0
 *
 * title is one line; chart is line, bar, matrix or none, and columns are those
 * that the chart shows, the first along its x axis; param gives a parameter a
 * value for when nobody else does.
 *
 * Threads:   any, each with its own script.
 * Ownership: read gives, fini takes back. */
#ifndef VIEWER_SCRIPT_H
#define VIEWER_SCRIPT_H

#include <stddef.h>

#include "viewer/sql/sql.h"

#define VIEWER_SCRIPT_SUFFIX ".sql"
#define VIEWER_SCRIPT_ITEMS 32 /* most columns, and parameters */

typedef struct viewer_script {
    char *text;        /* of the file */
    char *head;        /* what follows is in it */
    const char *title; /* "" when it has none */
    const char *chart; /* "line", "bar", "matrix" or "none" */
    const char *columns[VIEWER_SCRIPT_ITEMS];
    size_t column_count;
    const char *names[VIEWER_SCRIPT_ITEMS], *values[VIEWER_SCRIPT_ITEMS];
    size_t parameter_count;
} viewer_script;

/* Errors: PASTSET_ENOENT, PASTSET_EIO, PASTSET_EINVAL (what the file's top says
 * is wrong; with its line), PASTSET_ENOMEM. */
int viewer_script_read(viewer_script *out, const char *file);
void viewer_script_fini(viewer_script *script);

/* The file of a script: `name` itself, if it has a '/' or is there; else a file
 * of this name, with or without ".sql", in the run directory (NULL: none), in
 * ~/.config/eventspace/views and in share/eventspace/views of where this
 * program is installed. The caller frees it.
 * Errors: PASTSET_ENOENT, PASTSET_ENOMEM. */
int viewer_script_find(char **out, const char *name, const char *run);

/* Calls `each` for the scripts of these three folders, by name; of those that
 * have one name only for the first, which is the one that is found. A non-zero
 * answer ends it and is returned. */
typedef int viewer_script_each(const char *name, const char *file,
                               void *context);
int viewer_scripts(const char *run, viewer_script_each *each, void *context);

/* Gives `sql` the parameters of the script, runs it, and checks that the
 * columns are there. Errors: as of viewer_sql_run; PASTSET_EINVAL. */
int viewer_script_run(const viewer_script *script, viewer_sql *sql, bool raw,
                      viewer_sql_result *out);

#endif
