/* merge.h - several run directories of one run made into one.
 *
 * Processes that were started on several machines leave a run directory on
 * each, and a scope leaves a mirror of what it has gathered. Each of them has
 * the same path map, and the files of some of its processes.
 *
 * Threads: any; one merge of a directory at a time. */
#ifndef SCOPES_MERGE_H
#define SCOPES_MERGE_H

#include <stddef.h>

/* From where the files of a process came, one of the directories as given;
 * NULL: none has any. `problem` says what is missing or damaged of them, or was
 * left behind; "" when nothing. */
typedef void scopes_merged(const char *process, const char *directory,
                           const char *problem, void *context);

/* Makes the run directory `out`, which is not there or empty, of `count`
 * others, which stay as they are: the map, and of each process the files from
 * the directory from which the most of its events can be read; all are read for
 * that. Files without a readable meta file, of which nobody knows which run
 * they are of, are taken when no directory has the process with one. Tells
 * `merged` of each process of the map, in its order.
 * Errors: PASTSET_EEXIST (`out` is not empty; two directories have different
 * runs of a process), PASTSET_EINVAL (they have different maps), PASTSET_EIO,
 * PASTSET_ENOSPC, PASTSET_ENOMEM, and those of eventspace_run_open. After an
 * error nothing is left in `out`. */
int scopes_merge(const char *out, const char *const *directories, size_t count,
                 scopes_merged *merged, void *context);

#endif
