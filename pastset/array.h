/* array.h - arrays that grow by one item at a time.
 *
 * An array of `count` items has room for the next power of two of them, so
 * that no other number needs to be kept: it grows when `count` is a power of
 * two. It may shrink, and grow again.
 *
 * Ownership: an array that is empty at first is NULL; free gives it back. */
#ifndef PASTSET_ARRAY_H
#define PASTSET_ARRAY_H

#include <stddef.h>

/* Makes room for one more item behind `count` of `item_bytes` each. Gives the
 * array, which may have moved; NULL: no memory, and `items` stays as it is. */
void *pastset_array_grow(void *items, size_t count, size_t item_bytes);

/* The room that an array of `count` items has; for who makes it all at once. */
size_t pastset_array_room(size_t count);

#endif
