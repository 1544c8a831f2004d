/* command.h - what the subcommands of `eventspace` share.
 *
 * A command gets its own arguments, its full name ("eventspace map check") in
 * argv[0], and gives the exit code: 0 well, 1 failed, 2 wrong usage. What
 * failed is said on standard error, one line, by cli_fail. */
#ifndef VIEWER_COMMAND_H
#define VIEWER_COMMAND_H

#include "eventspace/run/run.h"
#include "viewer/tables/table_print.h"

#include <argp.h>
#include <signal.h>
#include <stdbool.h>

#define COMMAND_OK 0
#define COMMAND_FAILED 1
#define COMMAND_USAGE 2

typedef struct command {
    const char *name;
    const char *summary; /* one line, without a full stop */
    int (*run)(int argc, char **argv);
} command;

/* Runs the command that argv[1] names; without one, or with --help, tells
 * what there is. `commands` ends with a NULL name. */
int cli_dispatch(const command *commands, int argc, char **argv);

/* The groups, one file each. */
int cli_map(int argc, char **argv);
int cli_run(int argc, char **argv);
int cli_key(int argc, char **argv);
int cli_info(int argc, char **argv);
int cli_view(int argc, char **argv);
int cli_report(int argc, char **argv);
int cli_top(int argc, char **argv);
int cli_clock(int argc, char **argv);
int cli_archive(int argc, char **argv);
int cli_scope(int argc, char **argv);
int cli_merge(int argc, char **argv);
int cli_pack(int argc, char **argv);
int cli_unpack(int argc, char **argv);
int cli_profile(int argc, char **argv);
int cli_netbench(int argc, char **argv);
int cli_predict(int argc, char **argv);
int cli_choose(int argc, char **argv);
int cli_load(int argc, char **argv);
int cli_experiment(int argc, char **argv);

/* Tells pastset_error() on standard error; gives COMMAND_FAILED. */
int cli_fail(void);

/* Takes the one positional argument that a command has; a second one is wrong
 * usage. For argp parsers. */
void cli_take(const char **place, char *argument, struct argp_state *state);

/* SIGINT, SIGTERM and SIGHUP end this command in its own way, unless whoever
 * has started it does not want that (nohup). */
void cli_catch(const struct sigaction *action);

/* For commands that read a run: `run`, or if that is a file of `eventspace
 * pack`, a directory with what is in it, which is removed when this process
 * ends. NULL after telling what is wrong. */
const char *cli_run_directory(const char *run);
bool cli_is_packed(const char *run);
/* A file's name in a run directory, RUN/NAME + suffix, or beside a packed run.
 * The caller frees it. */
char *cli_beside(const char *run, const char *name, const char *suffix);

/* "-" is standard input for those that read by name. */
const char *cli_input(const char *file);

/* Reads a map and tells every diagnostic about it on `diagnostics`, each as
 * "file:line: node: text". NULL after any. The caller destroys it. */
paths_map *cli_read_map(const char *file);
int cli_check_map(const paths_map *map, FILE *diagnostics);

/* Writes a map to a file, or (NULL or "-") to standard output. */
int cli_write_map(const paths_map *map, const char *file);

/* Reads table, csv or json; anything else is wrong usage. */
viewer_format cli_format(const char *text, struct argp_state *state);

/* A number from `min` to `max`; anything else is wrong usage. The unit
 * letters k and M are known. */
uint64_t cli_number(const char *text, uint64_t min, uint64_t max,
                    struct argp_state *state);

/* Ends what was written to standard output; gives the exit code. */
int cli_end_output(int err);

#endif
