/* load.c - how loaded this machine is now.
 *
 * The number of threads that run or are ready is what a program competes with;
 * the kernel's load average counts those that wait for disks as well, over a
 * minute, and on all processors together. So threads are looked at in /proc
 * (competitors.c). A look takes a while where there are thousands; it is taken
 * the less often then, so that it is no load itself. Looks are spread at
 * random, for much wakes up by the same clock tick as a sleep would end with.
 */
#include "measure/load/load.h"

#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "measure/load/load_internal.h"
#include "pastset/status.h"

#define LOOK_S 0.01     /* from one look to the next, on average */
#define LOOK_SHARE 0.05 /* of the time may be spent with looking */

/* --- the kernel's own numbers --- */

static double read_average(void)
{
    char text[128];
    return measure__slurp(AT_FDCWD, "/proc/loadavg", text, sizeof(text))
               ? atof(text)
               : NAN;
}

/* --- which processors --- */

#define BOOT_DIGITS 12 /* enough to tell machines apart */

/* "0-3,6"; cut where there is no room, so that the length tells what it would
 * need. */
static size_t tell_set(char *text, size_t capacity, const cpu_set_t *set)
{
    size_t used = 0;
    for (int i = 0; i < CPU_SETSIZE; i++) {
        int from = i;
        size_t left = used < capacity ? capacity - used : 0;
        if (!CPU_ISSET(i, set))
            continue;
        while (i + 1 < CPU_SETSIZE && CPU_ISSET(i + 1, set))
            i++;
        used += (size_t)snprintf(left ? text + used : NULL, left,
                                 from < i ? "%s%d-%d" : "%s%d", used ? "," : "",
                                 from, i);
    }
    return used;
}

/* FNV-1a. */
static uint64_t hash_set(const cpu_set_t *set)
{
    uint64_t hash = 14695981039346656037u;
    for (int i = 0; i < CPU_SETSIZE; i++)
        hash = (hash ^ (uint64_t)(CPU_ISSET(i, set) != 0)) * 1099511628211u;
    return hash;
}

void measure__place_name(char *out, const char *boot, const cpu_set_t *set)
{
    char digits[BOOT_DIGITS + 1] = "", text[MEASURE_PLACE_BYTES - 20];
    size_t count = 0;
    out[0] = 0;
    for (; *boot && count < BOOT_DIGITS; boot++)
        if (isxdigit((unsigned char)*boot))
            digits[count++] = *boot;
    if (count < BOOT_DIGITS || !CPU_COUNT(set))
        return;
    if (tell_set(text, sizeof(text), set) >= sizeof(text))
        snprintf(text, sizeof(text), "h%016" PRIx64, hash_set(set));
    snprintf(out, MEASURE_PLACE_BYTES, MEASURE_PLACE_BEGINS "%s-%s", digits,
             text);
}

static void read_processors(measure_load *out, int processor)
{
    char boot[64];
    cpu_set_t set;
    CPU_ZERO(&set);
    out->processors = 1;
    if (processor >= 0 && processor < CPU_SETSIZE)
        CPU_SET(processor, &set);
    else if (processor < 0 && sched_getaffinity(0, sizeof(set), &set) == 0)
        out->processors = (uint32_t)CPU_COUNT(&set);
    measure__slurp(AT_FDCWD, "/proc/sys/kernel/random/boot_id", boot,
                   sizeof(boot));
    measure__place_name(out->place, boot, &set);
}

/* --- all of it --- */

static void sleep_for(double seconds)
{
    struct timespec t = {(time_t)seconds,
                         (long)((seconds - floor(seconds)) * 1e9)};
    nanosleep(&t, NULL);
}

static int look_for(measure_load *out, int processor, double seconds_s)
{
    uint32_t random = (uint32_t)getpid(), looks = 0;
    double end = measure__seconds() + seconds_s, start;
    do {
        measure__competitors now;
        double pause;
        int err;
        start = measure__seconds();
        err = measure__competitors_now(&now, processor);
        if (err)
            return err;
        out->running += now.threads;
        out->load += now.load;
        looks++;
        random = random * 1664525u + 1013904223u;
        pause = fmax(LOOK_S, (measure__seconds() - start) / LOOK_SHARE);
        sleep_for(pause * (0.5 + (double)(random >> 8) / 16777216.0));
    } while (measure__seconds() < end);
    out->running /= looks;
    out->load /= looks;
    return 0;
}

int measure_load_now(measure_load *out, int processor, double seconds_s)
{
    measure__ticks before, after;
    double all;
    int err;
    *out = (measure_load){0};
    read_processors(out, processor);
    if (!(seconds_s > 0 && seconds_s <= 86400))
        return pastset_fail(PASTSET_EINVAL, "the duration must be above 0");
    err = measure__ticks_now(&before, processor);
    if (!err)
        err = look_for(out, processor, seconds_s);
    if (!err)
        err = measure__ticks_now(&after, processor);
    if (err)
        return err;
    all = (double)(after.all - before.all);
    out->busy = all > 0 ? 1 - (double)(after.idle - before.idle) / all : 0;
    out->average = read_average();
    return 0;
}
