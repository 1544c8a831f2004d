/* others.c - see others.h. */
#include "measure/load/others.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "measure/load/load_internal.h"

#define MIN_S 0.05

/* Of a line of /proc/stat: user, nice, system, idle, iowait, irq, softirq,
 * steal. Interrupts are in nobody's account and may be ours; what was stolen by
 * other machines on this hardware we could not have used. */
static double used_ticks(const char *at)
{
    uint64_t ticks[8] = {0};
    char *next;

    for (int i = 0; i < 8; i++) {
        ticks[i] = strtoull(at, &next, 10);
        at = next;
    }
    return (double)(ticks[0] + ticks[1] + ticks[2] + ticks[7]);
}

/* Processor time that has been used on these processors. */
static bool read_used(double *out_s, const cpu_set_t *processors)
{
    FILE *file = fopen("/proc/stat", "re");
    double ticks = 0;
    char line[512];
    bool found = false;

    while (file && fgets(line, sizeof(line), file)) {
        int number, length = 0;
        if (sscanf(line, "cpu%d %n", &number, &length) != 1 || number < 0 ||
            number >= CPU_SETSIZE || !CPU_ISSET(number, processors))
            continue;
        ticks += used_ticks(line + length);
        found = true;
    }
    if (file)
        fclose(file);
    *out_s = ticks / (double)sysconf(_SC_CLK_TCK);
    return found;
}

static double seconds_of(const struct rusage *usage)
{
    return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
           (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e6;
}

/* Processor time of this thread and of all threads and processes that it will
 * start, and these: of all of it, although those without rights may only ask
 * for what is outside of the kernel. */
static int counter_open(void)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                   .size = sizeof(attr),
                                   .config = PERF_COUNT_SW_TASK_CLOCK,
                                   .inherit = 1,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1};

    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1,
                        PERF_FLAG_FD_CLOEXEC);
}

static double counted_seconds(int counter)
{
    uint64_t ns = 0;

    if (counter < 0 || read(counter, &ns, sizeof(ns)) != sizeof(ns))
        return 0;
    return (double)ns / 1e9;
}

static double waited_seconds(void)
{
    struct rusage self, children;

    getrusage(RUSAGE_SELF, &self);
    getrusage(RUSAGE_CHILDREN, &children);
    return seconds_of(&self) + seconds_of(&children);
}

static double own_seconds(const measure_others *others)
{
    double waited_s = waited_seconds() - others->own_s;
    double counted_s = counted_seconds(others->counter);

    return counted_s > waited_s ? counted_s : waited_s;
}

void measure_others_begin(measure_others *others)
{
    CPU_ZERO(&others->processors);
    others->known = sched_getaffinity(0, sizeof(others->processors),
                                      &others->processors) == 0 &&
                    read_used(&others->used_s, &others->processors);
    others->own_s = waited_seconds();
    others->counter = counter_open();
    others->start_s = measure__seconds();
}

double measure_others_end(measure_others *others)
{
    double time_s =
        (measure__seconds() - others->start_s) * CPU_COUNT(&others->processors);
    double own_s = own_seconds(others), used_s, theirs_s;

    if (others->counter >= 0)
        close(others->counter);
    others->counter = -1;
    if (!others->known || !read_used(&used_s, &others->processors) ||
        !(time_s > 0))
        return 0;
    theirs_s = used_s - others->used_s - own_s;
    if (theirs_s < MIN_S)
        return 0;
    return theirs_s < time_s ? theirs_s / time_s : 1;
}
