/* pack.h - a run in one file: a tar archive compressed with zstd, which tar
 * and other programs can unpack as well.
 *
 * Threads: one at a time. */
#ifndef VIEWER_PACK_H
#define VIEWER_PACK_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct viewer_pack_counts {
    uint64_t files, bytes; /* that went in, */
    uint64_t packed_bytes; /* and the size of what came out */
} viewer_pack_counts;

/* Packs all files below `directory` into `file`, which is written whole or not
 * at all. Links, sockets and the like are left out; `skipped` is told of each,
 * and may be NULL.
 * Errors: PASTSET_EIO, PASTSET_ENOSPC, PASTSET_ENOMEM. */
int viewer_pack(const char *file, const char *directory,
                void (*skipped)(const char *name), viewer_pack_counts *counts);

/* Unpacks a run into `directory`, which is there and empty. Nothing outside of
 * it is written, whatever the file says. `run` becomes the directory in it that
 * has a pathmap.dot.
 * Errors: PASTSET_EFORMAT (not a packed run, or damaged), PASTSET_EIO,
 * PASTSET_ENOSPC, PASTSET_ENOMEM. */
int viewer_unpack(char run[PATH_MAX], const char *file, const char *directory);

/* Removes a directory with all that is in it; what cannot be removed stays. */
void viewer_remove(const char *directory);

#endif
