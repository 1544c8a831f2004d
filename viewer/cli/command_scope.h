/* command_scope.h - what the files of `eventspace scope` share: its arguments
 * (command_scope.c), the root of a tree (command_scope_root.c), trees of
 * processes and trees over the network (command_scope_tree.c). */
#ifndef VIEWER_COMMAND_SCOPE_H
#define VIEWER_COMMAND_SCOPE_H

#include "scopes/gather/gather.h"
#include "viewer/cli/command.h"

typedef struct scope {
    scopes_gather_options gather;
    const char *run, *out, *listen, *connect, *key_file;
    bool print_map, serve, as_process, statistics;
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

/* --- each gives the exit code --- */

int cli_scope_tree(scope *s);
int cli_scope_process(scope *s); /* one of that tree */
int cli_scope_serve(scope *s);
int cli_scope_connect(scope *s);

#endif
