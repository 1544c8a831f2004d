/* pack.h - a run in one file: a tar archive compressed with zstd, which tar
 * and other programs can unpack as well.
 *
 * Threads: one at a time. */
#ifndef VIEWER_PACK_H
#define VIEWER_PACK_H

#include <limits.h>
#include <signal.h>
#include <stdint.h>

/* When a handler sets it, packing and unpacking end with PASTSET_ECANCELED,
 * and what they had begun to write is removed. */
extern volatile sig_atomic_t viewer_pack_stop;

typedef struct viewer_pack_counts {
    uint64_t files, bytes; /* that went in, */
    uint64_t packed_bytes; /* and the size of what came out */
} viewer_pack_counts;

/* Packs all files below `directory` into `file`, which is written whole or not
 * at all; "-" is standard output, and devices and pipes are written to as they
 * are. Links, sockets and the like are left out; `skipped` is told of each,
 * and may be NULL.
 * Errors: PASTSET_EINVAL (the file would be in the directory), PASTSET_EIO,
 * PASTSET_ENOSPC, PASTSET_ENOMEM, PASTSET_ECANCELED. */
int viewer_pack(const char *file, const char *directory,
                void (*skipped)(const char *name), viewer_pack_counts *counts);

/* Unpacks a run into `directory`, which is there and empty. Nothing outside of
 * it is written, whatever the file says. `run` becomes the directory in it that
 * has a pathmap.dot.
 * Errors: PASTSET_EFORMAT (not a packed run, or damaged), PASTSET_EIO,
 * PASTSET_ENOSPC, PASTSET_ENOMEM, PASTSET_ECANCELED. */
int viewer_unpack(char run[PATH_MAX], const char *file, const char *directory);

/* Removes a directory with all that is in it; what cannot be removed stays. */
void viewer_remove(const char *directory);

#endif
