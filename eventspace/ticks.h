/* ticks.h - the host's own counter: cheap stamps, never rewritten.
 *
 * x86-64: the time stamp counter, when the processor says that it runs at a
 * constant rate in all states; aarch64: cntvct_el0; elsewhere, or when the
 * counter cannot be trusted, CLOCK_MONOTONIC_RAW in nanoseconds.
 *
 * Threads: init once, before any thread stamps; the rest by any. */
#ifndef EVENTSPACE_TICKS_H
#define EVENTSPACE_TICKS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Chooses the source and measures its rate (10 ms the first time, then
 * nothing). */
void eventspace_ticks_init(void);

/* "tsc", "cntvct" or "monotonic_raw". */
const char *eventspace_ticks_source(void);
/* Ticks a second. */
double eventspace_ticks_hz(void);

/* Set by init: whether the counter of the processor is used. */
extern bool eventspace_ticks_counter;

static inline uint64_t eventspace_ticks_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The stamp. It is not ordered with the instructions around it: rdtsc takes
 * some 8 ns, and a fence would cost as much again, to place the stamp more
 * exactly than the 8 ns that taking it lasts. */
static inline uint64_t eventspace_ticks(void)
{
#if defined(__x86_64__)
    if (__builtin_expect(eventspace_ticks_counter, 1))
        return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    if (__builtin_expect(eventspace_ticks_counter, 1)) {
        uint64_t ticks;
        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
        return ticks;
    }
#endif
    return eventspace_ticks_clock();
}

#endif
