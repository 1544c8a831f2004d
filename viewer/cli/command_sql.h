/* command_sql.h - what `sql` and view scripts (command_script.c) share. */
#ifndef VIEWER_COMMAND_SQL_H
#define VIEWER_COMMAND_SQL_H

#include "viewer/cli/command.h"
#include "viewer/sql/script.h"
#include "viewer/sql/sql.h"

#define CLI_PARAMETERS_MAX 64

/* Of --param=NAME=VALUE; the texts are borrowed. */
typedef struct cli_parameters {
    const char *names[CLI_PARAMETERS_MAX], *values[CLI_PARAMETERS_MAX];
    size_t count;
} cli_parameters;

/* Takes the value of an option --param, which it cuts in two. */
void cli_parameter(cli_parameters *parameters, char *text,
                   struct argp_state *state);
int cli_parameters_set(const cli_parameters *parameters, viewer_sql *sql);

/* Runs the statements of a text and prints what they give. */
int cli_sql_run(viewer_sql *sql, const char *text, viewer_format format);
/* Says on standard error how many events were lost, if any, and what is wrong
 * with the run. */
void cli_sql_warn(const viewer_sql *sql, const eventspace_run *run,
                  const char *name);

/* --- view scripts (command_script.c) --- */

/* Runs a script. What --param says is before what the script says; `name` is
 * what errors call it. Errors: as of viewer_script_run. */
int cli_script_run(viewer_script *script, viewer_sql *sql, const char *name,
                   const cli_parameters *parameters, bool raw,
                   viewer_sql_result *out);
/* Prints what the script of a file gives for a run. */
int cli_script_view(eventspace_run *run, const char *name, const char *file,
                    const cli_parameters *parameters, viewer_format format);
/* Adds to the list of views the scripts of the run directory (NULL: none) and
 * those of all runs. */
int cli_script_list(scopes_table *table, const char *run);

#endif
