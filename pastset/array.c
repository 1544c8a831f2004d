/* array.c - see array.h. */
#include "pastset/array.h"

#include <stdlib.h>

void *pastset_array_grow(void *items, size_t count, size_t item_bytes)
{
    size_t room = 1, bytes;

    if (count & (count - 1))
        return items;
    if ((count && __builtin_mul_overflow(count, (size_t)2, &room)) ||
        __builtin_mul_overflow(room, item_bytes, &bytes))
        return NULL;
    return realloc(items, bytes);
}

size_t pastset_array_room(size_t count)
{
    size_t room = 1;

    while (room < count)
        room *= 2;
    return room;
}
