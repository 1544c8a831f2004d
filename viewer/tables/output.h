/* output.h - files that people asked for: written whole, or not at all.
 *
 * Threads: any; one file at a time. */
#ifndef VIEWER_OUTPUT_H
#define VIEWER_OUTPUT_H

#include <stddef.h>
#include <stdio.h>

/* Puts `count` bytes into `file`, in place of what was there: they go to a new
 * file beside it, which takes its name when it is whole. After an error what
 * was there still is. Devices and pipes are written to as they are.
 * Errors: PASTSET_EIO, PASTSET_ENOSPC with the name of the file system. */
int viewer_output_write(const char *file, const void *bytes, size_t count);

/* The same for what is too long to have in memory: written to the FILE that
 * `begin` gives, which takes its place when `end` is called without an error.
 * Errors: as above. */
typedef struct viewer_output viewer_output;
int viewer_output_begin(viewer_output **out, const char *file);
FILE *viewer_output_file(viewer_output *output);
/* `err` is what became of the writing; it is returned, with the file's name, if
 * it is one. Frees the output. */
int viewer_output_end(viewer_output *output, int err);

#endif
