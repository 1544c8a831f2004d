/* disk.h - the file system on which a run directory lies, for texts about one
 * that is full.
 *
 * Threads: any. */
#ifndef EVENTSPACE_DISK_H
#define EVENTSPACE_DISK_H

#include <stddef.h>

/* Writes where the file system of `path` is mounted and what it is, such as
 * "/data (/dev/vdb, ext4)"; "" when that cannot be found out. */
void eventspace_disk_name(char *out, size_t capacity, const char *path);

#endif
