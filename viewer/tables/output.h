/* output.h - files that people asked for: written whole, or not at all.
 *
 * Threads: any; one file at a time. */
#ifndef VIEWER_OUTPUT_H
#define VIEWER_OUTPUT_H

#include <stddef.h>

/* Puts `count` bytes into `file`, in place of what was there: they go to a new
 * file beside it, which takes its name when it is whole. After an error what
 * was there still is. Devices and pipes are written to as they are.
 * Errors: PASTSET_EIO, PASTSET_ENOSPC with the name of the file system. */
int viewer_output_write(const char *file, const void *bytes, size_t count);

#endif
