/* text.h - a text in memory that is written like a file.
 *
 * As open_memstream of the C library, which says nowhere that there was no
 * memory for a part of what was printed: here that is seen in the end.
 *
 * Threads:   one per text.
 * Ownership: the text is the caller's, to be freed, also when it is not whole.
 */
#ifndef PASTSET_TEXT_H
#define PASTSET_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* `*text` and `*bytes` are told when it ends; a zero byte is behind the text.
 * NULL: no memory, and `*text` is NULL. */
FILE *pastset_text_begin(char **text, size_t *bytes);
/* False: there was no memory for all of it. */
bool pastset_text_end(FILE *file);

#endif
