/* line.h - a cache line that this thread is about to write. */
#ifndef PASTSET_LINE_H
#define PASTSET_LINE_H

/* Begins to bring the line, for writing: several at once then take no longer
 * than one. Changes nothing. Compilers make a fetch for reading of their own
 * builtin unless they are told of the processor, and that would be fetched
 * once more for the write. */
static inline void pastset_line_expect(const void *address)
{
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)address));
#else
    __builtin_prefetch(address, 1);
#endif
}

#endif
