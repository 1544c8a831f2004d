/* allocation.c - see allocation.h. What the C library allocates for itself
 * comes through here too, as for asprintf(). */
#include "tests/support/allocation.h"

#include <errno.h>
#include <stdlib.h>

static _Thread_local unsigned left; /* until the first that fails; 0: none */
static _Thread_local bool alone, failed;

void allocation_refuse(unsigned first, bool once)
{
    left = first;
    alone = once;
    failed = false;
}

bool allocation_allow(void)
{
    left = 0;
    return failed;
}

#ifndef __SANITIZE_ADDRESS__
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);

static bool refused(void)
{
    if (left == 0)
        return false;
    if (left > 1) {
        left--;
        return false;
    }
    if (alone)
        left = 0;
    failed = true;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t bytes)
{
    return refused() ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    return refused() ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes)
{
    return refused() ? NULL : __libc_realloc(old, bytes);
}

/* That of the C library does not come through here. */
void *reallocarray(void *old, size_t count, size_t bytes)
{
    size_t all;

    if (__builtin_mul_overflow(count, bytes, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(old, all);
}
#endif
