/* ticks.c - choosing the counter, and measuring how fast it runs.
 *
 * The rate is measured against CLOCK_MONOTONIC_RAW, which no time daemon
 * steers. Reading the two clocks is not one step: the counter is read between
 * two readings of the clock, and of many such tries the ones are kept where
 * those lie closest together, as these were not interrupted. The counter then
 * belongs to the middle of the two, and what is systematically wrong with
 * that is the same at both ends of the measurement and cancels out.
 *
 * Of 60 processes that measured over 10 ms with both cores busy, those in the
 * middle 80 % differed by 0.01 parts in a million, and all by 0.1: less than
 * 10 microseconds in a minute. The best single attempt with a bare rdtsc gave
 * 2.0, and 16 of 256 attempts 0.4 to 0.8.
 */
#include "eventspace/collect/ticks.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eventspace/collect/ticks_internal.h"
#include "pastset/status.h"
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define MEASURE_NS 10000000
#define ATTEMPTS 1024
#define BEST 64
/* Farther from the measured rate than this, a stated one is not believed. */
#define STATED_WITHIN 2e-6

bool eventspace_ticks_counter;

static const char *source = "monotonic_raw";
static double hz = 1e9;
static bool has_counter; /* of the processor, that can be used */

/* What is simulated; all 0 when nothing is. */
static int64_t simulated_offset_ns, simulated_rate_ppb;
static int64_t simulated_offset; /* ticks */
static int64_t simulated_rate;   /* in 2^-64ths */

#define BOOT_ID "/proc/sys/kernel/random/boot_id"
#define BOOT_ID_BYTES 36

/* The counter, read after all that stands before it and before all that
 * follows. */
static uint64_t ticks_fenced(void)
{
    uint64_t ticks;
#if defined(__x86_64__)
    __builtin_ia32_lfence();
    ticks = eventspace_ticks();
    __builtin_ia32_lfence();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
    ticks = eventspace_ticks();
    __asm__ volatile("isb" ::: "memory");
#else
    ticks = eventspace_ticks();
#endif
    return ticks;
}

/* The counter between two readings of the clock. */
typedef struct attempt {
    uint64_t before_ns, ticks, after_ns;
} attempt;

static int attempt_compare(const void *left, const void *right)
{
    const attempt *a = left, *b = right;
    uint64_t a_ns = a->after_ns - a->before_ns;
    uint64_t b_ns = b->after_ns - b->before_ns;
    return (a_ns > b_ns) - (a_ns < b_ns);
}

/* One moment on both clocks, as sums over BEST attempts. The sums may wrap;
 * their differences do not. */
typedef struct moment {
    uint64_t ticks_sum;
    uint64_t ns_sum; /* of both readings of the clock */
} moment;

static moment moment_take(void)
{
    attempt attempts[ATTEMPTS];
    moment taken = {0, 0};

    for (int i = 0; i < ATTEMPTS; i++) {
        attempts[i].before_ns = eventspace_ticks_clock();
        attempts[i].ticks = ticks_fenced();
        attempts[i].after_ns = eventspace_ticks_clock();
    }
    qsort(attempts, ATTEMPTS, sizeof(attempts[0]), attempt_compare);
    for (int i = 0; i < BEST; i++) {
        taken.ticks_sum += attempts[i].ticks;
        taken.ns_sum += attempts[i].before_ns + attempts[i].after_ns;
    }
    return taken;
}

static double measure_hz(void)
{
    struct timespec pause = {0, MEASURE_NS};
    moment from, to;

    (void)moment_take(); /* brings code and clock page into the caches */
    from = moment_take();
    /* Again when a signal has cut the pause short. */
    do {
        nanosleep(&pause, NULL);
        to = moment_take();
    } while (to.ns_sum - from.ns_sum < 2 * BEST * (uint64_t)MEASURE_NS);
    return (double)(to.ticks_sum - from.ticks_sum) * 2e9 /
           (double)(to.ns_sum - from.ns_sum);
}

#if defined(__x86_64__)

#define LEAF_TSC 0x15
#define LEAF_POWER 0x80000007
#define POWER_INVARIANT_TSC (1u << 8)

/* Does the processor have a counter of one rate, and does the kernel, which
 * compares those of its cores, believe in it? */
static bool counter_usable(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(LEAF_POWER, &a, &b, &c, &d) &&
           (d & POWER_INVARIANT_TSC) && eventspace__ticks_believed_now();
}

/* The rate that the processor states, or 0. */
static double stated_hz(void)
{
    unsigned denominator, numerator, crystal_hz, d;
    if (!__get_cpuid_count(LEAF_TSC, 0, &denominator, &numerator, &crystal_hz,
                           &d) ||
        denominator == 0)
        return 0;
    return (double)crystal_hz * numerator / denominator;
}

/* A stated rate has no noise, but a virtual machine may show that of another
 * processor: the measurement decides. */
static double counter_hz(void)
{
    double measured = measure_hz();
    double stated = stated_hz();
    return fabs(stated - measured) < measured * STATED_WITHIN ? stated
                                                              : measured;
}

#define COUNTER_NAME "tsc"

#elif defined(__aarch64__)

/* The architecture prescribes one counter for all cores at one rate. */
static bool counter_usable(void)
{
    return true;
}

/* cntfrq is set by the firmware, and 0 where that forgot it. */
static double counter_hz(void)
{
    uint64_t stated;
    __asm__("mrs %0, cntfrq_el0" : "=r"(stated));
    return stated ? (double)stated : measure_hz();
}

#define COUNTER_NAME "cntvct"

#else

static bool counter_usable(void)
{
    return false;
}

static double counter_hz(void)
{
    return measure_hz();
}

#define COUNTER_NAME ""

#endif

void eventspace_ticks_init(void)
{
    static bool chosen;

    if (chosen)
        return;
    chosen = true;
    if (!counter_usable())
        return;
    has_counter = true;
    eventspace_ticks_counter = true; /* measuring reads it */
    hz = counter_hz();
    source = COUNTER_NAME;
}

const char *eventspace_ticks_source(void)
{
    return source;
}

double eventspace_ticks_hz(void)
{
    return hz;
}

bool eventspace__ticks_rejected(void)
{
    return strcmp(eventspace_ticks_source(), "tsc") == 0 &&
           !eventspace__ticks_believed_now();
}

/* --- another counter than the real one --- */

static uint64_t ticks_raw(void)
{
#if defined(__x86_64__)
    if (has_counter)
        return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    if (has_counter) {
        uint64_t ticks;
        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
        return ticks;
    }
#endif
    return eventspace_ticks_clock();
}

/* Shifting rounds down, for negative rates too: so the ticks never go back. */
uint64_t eventspace_ticks_other(void)
{
    uint64_t raw = ticks_raw();
    __int128 more = ((__int128)raw * simulated_rate) >> 64;

    return raw + (uint64_t)(int64_t)more + (uint64_t)simulated_offset;
}

static bool within(int64_t value, int64_t max)
{
    return value >= -max && value <= max;
}

int eventspace_ticks_simulate(int64_t offset_ns, int64_t rate_ppb)
{
    if (!within(offset_ns, EVENTSPACE_TICKS_OFFSET_NS_MAX) ||
        !within(rate_ppb, EVENTSPACE_TICKS_RATE_PPB_MAX))
        return pastset_fail(
            PASTSET_EINVAL,
            "a simulated counter can differ from the real one by up to %" PRId64
            " s, and by up to %" PRId64 " ppm in rate",
            EVENTSPACE_TICKS_OFFSET_NS_MAX / 1000000000,
            (int64_t)EVENTSPACE_TICKS_RATE_PPB_MAX / 1000);
    simulated_offset_ns = offset_ns;
    simulated_rate_ppb = rate_ppb;
    simulated_offset = llround((double)offset_ns * hz / 1e9);
    simulated_rate =
        (int64_t)((__int128)rate_ppb * ((__int128)1 << 64) / 1000000000);
    eventspace_ticks_counter = has_counter && !offset_ns && !rate_ppb;
    return 0;
}

void eventspace_ticks_name(char *out, size_t capacity)
{
    char boot[BOOT_ID_BYTES + 1] = "";
    FILE *in = fopen(BOOT_ID, "re");
    size_t got = in ? fread(boot, 1, BOOT_ID_BYTES, in) : 0;
    int used;

    if (in)
        fclose(in);
    out[0] = 0;
    if (got != BOOT_ID_BYTES)
        return;
    used = snprintf(out, capacity, "%s %s", boot, source);
    if (simulated_offset_ns || simulated_rate_ppb)
        snprintf(out + used, capacity - (size_t)used,
                 " offset_ns=%" PRId64 " rate_ppb=%" PRId64,
                 simulated_offset_ns, simulated_rate_ppb);
}
