/* memory_internal.h - large pieces of memory, in the heap or in a file. See
 * memory.h for the limit.
 *
 * Threads:   any.
 * Ownership: allocate and resize give, free takes back; the limit stays as it
 *            is meanwhile. */
#ifndef SCOPES_MEMORY_INTERNAL_H
#define SCOPES_MEMORY_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scopes/memory/memory.h"

/* As scopes_memory_limit, of any limit, and for pieces from `large_bytes` on;
 * for tests. */
int scopes__memory_limit(uint64_t bytes, size_t large_bytes);

/* As malloc, realloc and free. NULL: scopes__no_room says why. */
void *scopes__allocate(size_t bytes);
void *scopes__resize(void *piece, size_t bytes);
void scopes__free(void *piece);

/* Makes room for one more item, as pastset_array_grow does. */
void *scopes__array_grow(void *items, size_t count, size_t item_bytes);

/* Does a piece lie in the file? Then it is best written in large blocks, by
 * put. */
bool scopes__is_filed(void *piece);
/* Copies so much to what is `offset` behind the begin of a piece: into the
 * file by a write, which costs no faults. */
void scopes__put(void *piece, size_t offset, const void *from, size_t bytes);

/* Is there a limit? */
bool scopes__memory_is_limited(void);

/* Takes pages of files out of the process's memory if it comes to the limit. */
void scopes__memory_look(void);

/* Leaves the text of an allocation that has failed, `what` it was for, such as
 * "for the rounds". Gives PASTSET_ENOMEM, or PASTSET_ENOSPC and others when it
 * is the temporary file that has no room. */
int scopes__no_room(const char *what);

/* Pages of files that are mapped here and only read: from now on, until
 * unwatch, they are among those that are taken out of the process's memory
 * when it comes to the limit. Watch gives false when there is no memory, and
 * then they are not. */
bool scopes__memory_watch(const void *begin, size_t bytes);
void scopes__memory_unwatch(const void *begin);

#endif
