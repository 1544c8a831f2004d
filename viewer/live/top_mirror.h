/* top_mirror.h - a run on other machines, mirrored here for as long as it is
 * watched.
 *
 * `eventspace scope --connect`, a process of its own, writes the mirror into a
 * directory that is removed at the end. The program that calls this must be
 * `eventspace` itself: it starts itself again.
 *
 * Threads: one. */
#ifndef VIEWER_TOP_MIRROR_H
#define VIEWER_TOP_MIRROR_H

#include <stdbool.h>
#include <sys/types.h>

#define VIEWER_MIRROR_BYTES 4096

typedef struct viewer_mirror {
    char directory[VIEWER_MIRROR_BYTES]; /* "" when there is none */
    char run[VIEWER_MIRROR_BYTES + 8];   /* the run directory in it */
    char log[VIEWER_MIRROR_BYTES + 8];   /* what the scope says */
    pid_t pid;                           /* of the scope; 0 when it has ended */
    bool failed;                         /* it has ended, and not well */
} viewer_mirror;

/* Starts the scope. `key` (a file) may be NULL.
 * Errors: PASTSET_EIO. End is to be called after an error, too. */
int viewer_mirror_open(viewer_mirror *mirror, const char *address,
                       const char *key);
/* Is the map there, so that the run can be opened? 1, 0 (not yet), or
 * PASTSET_EIO: the scope has ended without it, and this is what it said. */
int viewer_mirror_ready(viewer_mirror *mirror);
/* The scope has ended: because the run has, or because it was lost. */
bool viewer_mirror_ended(viewer_mirror *mirror);
/* 0, or, when the scope has failed, PASTSET_EIO with what it said. */
int viewer_mirror_status(const viewer_mirror *mirror);
/* Ends the scope and removes the directory. */
void viewer_mirror_close(viewer_mirror *mirror);

#endif
