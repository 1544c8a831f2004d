/* command.h - what the subcommands of `eventspace` share.
 *
 * A command gets its own arguments, its full name ("eventspace map check") in
 * argv[0], and gives the exit code: 0 well, 1 failed, 2 wrong usage. What
 * failed is said on standard error, one line, by cli_fail. */
#ifndef VIEWER_COMMAND_H
#define VIEWER_COMMAND_H

#include "eventspace/options/node_list.h"
#include "eventspace/options/options.h"
#include "eventspace/run/run.h"
#include "scopes/clocks/clock.h"
#include "scopes/reading/source.h"
#include "viewer/tables/table_print.h"

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
int cli_mpi(int argc, char **argv);
int cli_key(int argc, char **argv);
int cli_info(int argc, char **argv);
int cli_view(int argc, char **argv);
int cli_sql(int argc, char **argv);
int cli_export(int argc, char **argv);
int cli_report(int argc, char **argv);
int cli_advise(int argc, char **argv);
int cli_serve(int argc, char **argv);
int cli_top(int argc, char **argv);
int cli_tune(int argc, char **argv);
int cli_clock(int argc, char **argv);
int cli_diff(int argc, char **argv);
int cli_archive(int argc, char **argv);
int cli_scope(int argc, char **argv);
int cli_import(int argc, char **argv);
int cli_merge(int argc, char **argv);
int cli_pack(int argc, char **argv);
int cli_unpack(int argc, char **argv);
int cli_profile(int argc, char **argv);
int cli_netbench(int argc, char **argv);
int cli_predict(int argc, char **argv);
int cli_model(int argc, char **argv);
int cli_forecast(int argc, char **argv);
int cli_history(int argc, char **argv);
int cli_watch(int argc, char **argv);
int cli_choose(int argc, char **argv);
int cli_load(int argc, char **argv);
int cli_experiment(int argc, char **argv);
int cli_whatif(int argc, char **argv);
int cli_signature(int argc, char **argv);
int cli_contract(int argc, char **argv);

/* Tells pastset_error() on standard error; gives COMMAND_FAILED. */
int cli_fail(void);
/* The same, when there is no memory `what`, such as "for a name". */
int cli_no_memory(const char *what);

/* SIGINT, SIGTERM and SIGHUP end this command in its own way, unless whoever
 * has started it does not want that (nohup). */
void cli_catch(const struct sigaction *action);
/* The same for a command that waits for them (sigwait): they are blocked, also
 * in threads that begin later. */
void cli_block_ending(sigset_t *ending);

/* That a file becomes larger than is allowed (ulimit -f) is an error from now
 * on, and no signal that ends the command and leaves what it has begun. Not for
 * commands that start programs, which would have that, too. */
void cli_refuse_large_files(void);

/* For commands that read a run: `run`, or if that is a file of `eventspace
 * pack`, a directory with what is in it, which is removed when this process
 * ends. NULL after telling what is wrong. */
const char *cli_run_directory(const char *run);
bool cli_is_packed(const char *run);
/* Opens it. NULL after telling what is wrong; of its definitions, that is told
 * and the run is opened. The caller closes it. */
eventspace_run *cli_open_run(const char *run);
/* Says on standard error what is wrong with the definitions of a run that the
 * command leaves to others to open. */
void cli_warn_of_definitions(const char *directory);
/* Says on standard error which processes are missing, did not end well, or have
 * damaged files. `name`: of the run, as it was given. */
void cli_warn_of_run(const eventspace_run *run, const char *name);
/* Only of the damaged files, and what is wrong with them. */
void cli_warn_of_damage(const eventspace_run *run);
/* Of which processes the clocks may be wrong, and why. */
void cli_warn_of_clocks(const eventspace_run *run, const scopes_clocks *clocks);
/* And of events whose ids neither the map nor a process explains, if any. */
void cli_warn_of_strange(uint64_t events);
/* The process of that name; PATHS_NONE without a name.
 * Errors: PASTSET_ENOENT. */
int cli_find_process(const eventspace_run *run, const char *name,
                     uint32_t *out);
/* What became of the events of a run: "events: 9 recorded, 7 read, 2 lost",
 * without an end of the line. For programs: viewer_ledger_print. */
void cli_print_ledger(const scopes_ledger *ledger, FILE *file);
#define CLI_TEXT_BYTES 32
/* "36 B", "16.2 kB", "2.1 MB"; returns the buffer, of CLI_TEXT_BYTES. */
const char *cli_size_text(uint64_t bytes, char *buffer);
/* A file's name in a run directory, RUN/NAME + suffix, or beside a packed run.
 * The caller frees it. */
char *cli_beside(const char *run, const char *name, const char *suffix);
/* The name of a packed run without its suffix, or with another one. The caller
 * frees it. */
#define CLI_PACKED_SUFFIX ".tar.zst"
char *cli_packed_name(const char *file, const char *suffix);

/* "-" is standard input for those that read by name. */
const char *cli_input(const char *file);

/* Reads a map and tells every diagnostic about it on `diagnostics`, each as
 * "file:line: node: text". NULL after any. The caller destroys it. */
paths_map *cli_read_map(const char *file);
int cli_check_map(const paths_map *map, FILE *diagnostics);

/* Writes a map to a file, or (NULL or "-") to standard output. */
int cli_write_map(const paths_map *map, const char *file);

/* Ends what was written to standard output; gives the exit code. */
int cli_end_output(int err);

/* --- for argp parsers (command_arguments.c) --- */

/* list, count */
#define CLI_LIST(list) list, sizeof(list) / sizeof(*(list))

#define CLI_FORMAT_OPTION                                                      \
    {                                                                          \
        "format", 'f', "table|csv|json", 0,                                    \
            "Print in this format (default table)", 0                          \
    }

/* --memory, for commands that make views; for cli_memory. */
#define CLI_MEMORY_OPTION(key)                                                 \
    {                                                                          \
        "memory", key, "BYTES", 0,                                             \
            "Take at most this much memory, such as 500M or 2G, and a "        \
            "temporary file in TMPDIR for what is more",                       \
            0                                                                  \
    }
/* The bytes, for scopes_memory_limit; too few are wrong usage. */
uint64_t cli_memory(const char *text, struct argp_state *state);

/* Takes the one positional argument that a command has; a second one is wrong
 * usage. */
void cli_take(const char **place, char *argument, struct argp_state *state);
/* Of a parser, the keys of the one argument that its command must have: `what`
 * it is, as in "the map". Others are not known. */
error_t cli_take_one(const char **place, const char *what, int key, char *text,
                     struct argp_state *state);

/* Values of options; anything else is wrong usage. */

/* One of `count` names: its place. `otherwise` is said of any other text, which
 * stands for its %s. */
size_t cli_choice(const char *text, const char *const *names, size_t count,
                  const char *otherwise, struct argp_state *state);
/* table, csv or json. */
viewer_format cli_format(const char *text, struct argp_state *state);
/* How clocks are aligned: hull or average. */
extern const char *const cli_methods[2];
scopes_clock_method cli_method(const char *text, struct argp_state *state);
/* A number from `min` to `max`. The unit letters k and M are known. */
uint64_t cli_number(const char *text, uint64_t min, uint64_t max,
                    struct argp_state *state);
/* A duration with its unit, such as 5ms, in nanoseconds; 0 needs none. */
uint64_t cli_time(const char *text, uint64_t min_ns, uint64_t max_ns,
                  struct argp_state *state);
/* The same in milliseconds, rounded up. */
uint32_t cli_time_ms(const char *text, uint32_t min_ms, uint32_t max_ms,
                     struct argp_state *state);
/* A list of threads or collectors, such as 0,3-5 or 'w*', of which only the
 * ranges are looked at: what there is, the map of the run knows
 * (eventspace_node_list_read). */
const char *cli_nodes(const char *text, const eventspace_node_kind *kind,
                      struct argp_state *state);
/* A rate with its unit, such as 100mbit, in bytes per second; above 0. */
uint64_t cli_rate(const char *text, struct argp_state *state);
/* A share of a processor, above 0 and up to 1. */
double cli_share(const char *text, struct argp_state *state);

#endif
