/* memory.h - how much memory views may take.
 *
 * What is proportional to the number of events (event tables, rounds, samples,
 * the rows of tables) is kept in large pieces. Without a limit they are
 * ordinary memory. With one, half of it is for them; what is more lies in a
 * temporary file that has no name and goes with the process. The kernel keeps
 * the pages of this file, and those of a run's own files, in memory or writes
 * them out as it likes; they are taken out of the process's memory before that
 * comes to the limit. So the limit is on what is resident, and what it costs is
 * room on the disk, not a part of the answer.
 *
 * Threads:   set by one, while no views are made. It holds for the whole
 *            process. */
#ifndef SCOPES_MEMORY_H
#define SCOPES_MEMORY_H

#include <stdint.h>

/* The least limit: views of small runs take some of that anyway. */
#define SCOPES_MEMORY_MIN UINT64_C(64000000)

/* Sets the limit; 0: none, which is how it begins. The temporary file is in
 * $TMPDIR, or in /var/tmp. Errors: PASTSET_EINVAL (below the least),
 * PASTSET_EIO and others (no such file can be made), PASTSET_EAGAIN (no
 * thread). */
int scopes_memory_limit(uint64_t bytes);

#endif
