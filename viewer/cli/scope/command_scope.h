/* command_scope.h - what the files of `eventspace scope` share: its arguments
 * (command_scope.c), the root of a tree (command_scope_root.c), trees of
 * processes (command_scope_tree.c), of processes on several machines
 * (command_scope_machines.c, command_scope_agent.c), and of two that find each
 * other over the network (command_scope_serve.c). */
#ifndef VIEWER_COMMAND_SCOPE_H
#define VIEWER_COMMAND_SCOPE_H

#include <stdatomic.h>

#include "eventspace/launch/job.h"
#include "scopes/gather/gather.h"
#include "viewer/cli/command.h"

typedef struct scope {
    scopes_gather_options gather;
    const char *run, *out, *listen, *connect, *key_file;
    const char *cluster, *remote; /* machines, and how they are reached */
    bool print_map, serve, as_process, as_agent, statistics;
    uint64_t clients; /* of --serve; 0: any number */
    bool told;        /* where it listens */
    viewer_format format;
    int print_fd;
    /* Of the root: */
    FILE *print;
    scopes_mirror *mirror;
    scopes_windows *windows;
} scope;

/* --- the root: it writes the mirror, or prints the statistics --- */

/* `app` NULL: the map comes with the rest. Errors: those of
 * scopes_mirror_open. */
int cli_scope_begin(scope *s, const paths_map *app);
/* For a scopes_consumer; its context is the scope. */
int cli_scope_record(const scopes_record *record, void *scope);
int cli_scope_turn(void *scope);
/* Prints what is left and what was gathered, and closes. Gives `err`, with its
 * text, or what else went wrong. */
int cli_scope_end(scope *s, int err);

/* --- a tree of processes --- */

/* Finds the run, its map, and what the options ask for in it: what is wrong is
 * better said once than by each process of the tree. `run`, of PATH_MAX bytes,
 * becomes its absolute path, which the options get.
 * Errors: those of eventspace_run_map_read and scopes_gather_check. */
int cli_scope_find_run(scope *s, char *run, paths_map **app);

/* One of several launchers of a tree, which meet as a job. */
typedef struct scope_part {
    eventspace_job *job;
    const char *_Atomic end; /* becomes why it is to end */
    void (*started)(struct scope_part *part);
    void *context; /* for `started` */
} scope_part;

/* A command: this program as a process of a tree (--as-process), or as what
 * starts one (--agent), and what the root is to do. */
typedef struct scope_command {
    const char *argv[16];
    char self[4096], print[16], window[32];
    int print_fd; /* on which the root prints: processes' own lines get names in
                     front. The caller closes it */
} scope_command;

/* `run` may be NULL. Errors: PASTSET_EIO. */
int cli_scope_command(scope_command *out, const scope *s, const char *kind,
                      const char *run);

/* Starts the tree's processes that are to run here, and waits for them: with
 * `part` that of the job's task, else all of them, until a signal ends them.
 * Gives the exit code. */
int cli_scope_launch(const scope *s, const paths_map *map, scope_part *part);

/* --- each gives the exit code --- */

int cli_scope_tree(scope *s);
int cli_scope_process(scope *s); /* one of that tree */
int cli_scope_machines(scope *s);
int cli_scope_agent(scope *s); /* on one of these */
int cli_scope_serve(scope *s);
int cli_scope_connect(scope *s);

#endif
