/* command_window.h - --from, --to and --last: the part of a run that a command
 * is about. */
#ifndef VIEWER_COMMAND_WINDOW_H
#define VIEWER_COMMAND_WINDOW_H

#include "scopes/reading/snapshot.h"
#include "viewer/cli/command.h"

/* Among the children of a parser that has these options; its input is a
 * scopes_snapshot_options, SCOPES_SNAPSHOT_ALL before. The parser says so:
 *
 *     case ARGP_KEY_INIT:
 *         state->child_inputs[0] = &a->snapshot; */
extern const struct argp cli_window;

/* Is it a part of the run, and not all of it? */
bool cli_has_window(const scopes_snapshot_options *options);

#endif
