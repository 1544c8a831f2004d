/* memory.c - see memory.h. The C library's own allocator, or nothing. */
#include "tests/support/memory.h"

#include <errno.h>
#include <stdlib.h>

/* How many allocations there are to the one that fails; 0: none does. */
static _Thread_local unsigned left;
static _Thread_local bool refuse;

#ifndef __SANITIZE_ADDRESS__
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);

static bool fails(void)
{
    bool this_one = left && !--left;

    if (this_one || refuse)
        errno = ENOMEM;
    return this_one || refuse;
}

void *malloc(size_t bytes)
{
    return fails() ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    return fails() ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes)
{
    return fails() ? NULL : __libc_realloc(old, bytes);
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

bool memory_fails_at(unsigned at, int (*call)(void *context), void *context,
                     int *err)
{
    bool failed;

    left = at;
    *err = call(context);
    failed = left == 0;
    left = 0;
    return failed;
}

void memory_refuse(bool all)
{
    refuse = all;
}
