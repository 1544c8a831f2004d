/* command.h - what the subcommands of `eventspace` share.
 *
 * A command gets its own arguments, its full name ("eventspace map check") in
 * argv[0], and gives the exit code: 0 well, 1 failed, 2 wrong usage. What
 * failed is said on standard error, one line, by command_fail. */
#ifndef VIEWER_COMMAND_H
#define VIEWER_COMMAND_H

#include "eventspace/run.h"
#include "viewer/table.h"

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
int command_dispatch(const command *commands, int argc, char **argv);

/* The groups, one file each. */
int command_map(int argc, char **argv);
int command_run(int argc, char **argv);
int command_key(int argc, char **argv);
int command_info(int argc, char **argv);
int command_view(int argc, char **argv);
int command_report(int argc, char **argv);
int command_top(int argc, char **argv);
int command_clock(int argc, char **argv);
int command_archive(int argc, char **argv);
int command_scope(int argc, char **argv);
int command_merge(int argc, char **argv);
int command_pack(int argc, char **argv);
int command_unpack(int argc, char **argv);
int command_profile(int argc, char **argv);
int command_netbench(int argc, char **argv);
int command_predict(int argc, char **argv);
int command_choose(int argc, char **argv);
int command_load(int argc, char **argv);
int command_experiment(int argc, char **argv);

/* Tells pastset_error() on standard error; gives COMMAND_FAILED. */
int command_fail(void);

/* Takes the one positional argument that a command has; a second one is wrong
 * usage. For argp parsers. */
void command_take(const char **place, char *argument, struct argp_state *state);

/* SIGINT, SIGTERM and SIGHUP end this command in its own way, unless whoever
 * has started it does not want that (nohup). */
void command_catch(const struct sigaction *action);

/* For commands that read a run: `run`, or if that is a file of `eventspace
 * pack`, a directory with what is in it, which is removed when this process
 * ends. NULL after telling what is wrong. */
const char *command_run_directory(const char *run);
bool command_is_packed(const char *run);
/* A file's name in a run directory, RUN/NAME + suffix, or beside a packed run.
 * The caller frees it. */
char *command_beside(const char *run, const char *name, const char *suffix);

/* "-" is standard input for those that read by name. */
const char *command_input(const char *file);

/* Reads a map and tells every complaint about it on `complaints`, each as
 * "file:line: node: text". NULL after any. The caller destroys it. */
paths_map *command_read_map(const char *file);
int command_check_map(const paths_map *map, FILE *complaints);

/* Writes a map to a file, or (NULL or "-") to standard output. */
int command_write_map(const paths_map *map, const char *file);

/* Reads table, csv or json; anything else is wrong usage. */
viewer_format command_format(const char *text, struct argp_state *state);

/* A number from `least` to `most`; anything else is wrong usage. The unit
 * letters k and M are known. */
uint64_t command_number(const char *text, uint64_t least, uint64_t most,
                        struct argp_state *state);

/* Ends what was written to standard output; gives the exit code. */
int command_end_output(int err);

#endif
