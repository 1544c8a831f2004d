/* numbers_internal.h - arrays of numbers by node, round or event, of which none
 * is known yet. */
#ifndef SCOPES_NUMBERS_INTERNAL_H
#define SCOPES_NUMBERS_INTERNAL_H

#include <stdint.h>
#include <string.h>

#include "scopes/memory/memory_internal.h"

/* `count` times UINT32_MAX, which is SCOPES_MISSING as well as PATHS_NONE. The
 * caller gives it back by scopes__free. NULL: memory is out. */
static inline uint32_t *scopes__numbers_make(size_t count)
{
    size_t bytes = (count + 1) * sizeof(uint32_t);
    uint32_t *numbers = scopes__allocate(bytes);

    return numbers ? memset(numbers, 0xff, bytes) : NULL;
}

#endif
