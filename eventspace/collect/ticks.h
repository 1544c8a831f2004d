/* ticks.h - the process's own counter: cheap stamps, never rewritten.
 *
 * x86-64: the time stamp counter, when the processor says that it runs at a
 * constant rate in all states and the kernel has not rejected it (see
 * ticks_trust.c); aarch64: cntvct_el0; elsewhere, or when the counter cannot
 * be trusted, CLOCK_MONOTONIC_RAW in nanoseconds.
 *
 * A counter can be simulated, for tests of what aligns clocks: it then runs at
 * another rate and has another offset than that of the machine, whose processes
 * would otherwise share one.
 *
 * Threads: init and simulate once, before any thread stamps; the rest by
 * any. */
#ifndef EVENTSPACE_TICKS_H
#define EVENTSPACE_TICKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* Most that a simulated counter may be beside the real one: an hour, and a
 * thousandth of its rate. */
#define EVENTSPACE_TICKS_OFFSET_NS_MAX 3600000000000
#define EVENTSPACE_TICKS_RATE_PPB_MAX 1000000

/* Chooses the source and measures its rate (10 ms the first time, then
 * nothing). */
void eventspace_ticks_init(void);

/* "tsc", "cntvct" or "monotonic_raw". */
const char *eventspace_ticks_source(void);
/* Ticks a second. */
double eventspace_ticks_hz(void);

/* From now on ticks are raw + raw * rate_ppb / 10^9 + offset_ns, rounded down
 * to whole ticks, where raw are those of the real counter, and the offset is
 * turned into ticks by the rate of `hz`, which stays as it is: a machine whose
 * crystal is off does not know it.
 * Call after init. Both 0: the real counter again.
 * Errors: PASTSET_EINVAL (beyond what may be). */
int eventspace_ticks_simulate(int64_t offset_ns, int64_t rate_ppb);

/* The name of the counter: of this boot of this machine, with its source and
 * what is simulated. "" when the machine has none. `capacity` is 128 at least.
 */
void eventspace_ticks_name(char *out, size_t capacity);

/* Set by init: whether the counter of the processor is read, as it is. */
extern bool eventspace_ticks_counter;

/* All other stamps: of the clock, or simulated. */
uint64_t eventspace_ticks_other(void);

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
    return eventspace_ticks_other();
}

#endif
