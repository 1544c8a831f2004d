/* packed_runs.h - runs in files of `eventspace pack`, as arguments of commands.
 */
#ifndef VIEWER_PACKED_RUNS_H
#define VIEWER_PACKED_RUNS_H

/* Before anything else: if one of these words is such a file, goes on as the
 * program that can unpack it, if this one cannot (elsewhere.c). Gives
 * COMMAND_OK unless that has failed, which has been told. */
int cli_begin_packed(char *const *words);
/* A temporary directory with what is in the file, which is removed when this
 * process ends. NULL after telling what is wrong. */
const char *cli_run_unpack(const char *file);

#endif
