/* offs.c - how long a thread had no processor, in all: what the kernel has
 * counted at its end but not at its begin. Nothing is asked in between, so that
 * calls cost no more for it. */
#include "mpi/interpose.h"

#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now;

    return clock_gettime(clock, &now) == 0
               ? now.tv_sec * (int64_t)1000000000 + now.tv_nsec
               : -1;
}

/* The second number of schedstat; -1 without it. */
static int64_t runnable_ns(void)
{
    FILE *file = fopen("/proc/thread-self/schedstat", "re");
    long long ns = -1;

    if (!file)
        return -1;
    if (fscanf(file, "%*s %lld", &ns) != 1)
        ns = -1;
    fclose(file);
    return ns;
}

static void counts_read(mpi_kernel_counts *out)
{
    struct rusage used = {0};

    getrusage(RUSAGE_THREAD, &used);
    *out =
        (mpi_kernel_counts){.preemptions = used.ru_nivcsw,
                            .sleeps = used.ru_nvcsw,
                            .runnable_ns = runnable_ns(),
                            .processor_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID),
                            .at_ns = clock_ns(CLOCK_MONOTONIC),
                            .ticks = eventspace_ticks()};
}

void mpi__off_begin(mpi_kernel_counts *out, eventspace_recorded_thread *thread)
{
    counts_read(out);
    eventspace_recorder_thread_off(
        thread,
        &(eventspace_scheduling){.start = out->ticks, .end = out->ticks});
}

void mpi__off_end(const mpi_kernel_counts *begin,
                  eventspace_recorded_thread *thread)
{
    mpi_kernel_counts end;
    int64_t all_ns, off_ns, runnable;
    double ticks;

    counts_read(&end);
    if (begin->runnable_ns < 0 || end.runnable_ns < begin->runnable_ns ||
        begin->processor_ns < 0 || end.processor_ns < begin->processor_ns ||
        end.at_ns <= begin->at_ns || end.ticks <= begin->ticks)
        return;
    all_ns = end.at_ns - begin->at_ns;
    off_ns = all_ns - (end.processor_ns - begin->processor_ns);
    off_ns = off_ns > 0 ? off_ns : 0; /* clocks are read one after the other */
    runnable = end.runnable_ns - begin->runnable_ns;
    runnable = runnable < off_ns ? runnable : off_ns;
    ticks = (double)(end.ticks - begin->ticks) / (double)all_ns;
    eventspace_recorder_thread_off(
        thread,
        &(eventspace_scheduling){
            .start = begin->ticks,
            .end = end.ticks,
            .runnable = (uint64_t)((double)runnable * ticks),
            .sleeping = (uint64_t)((double)(off_ns - runnable) * ticks),
            .preemptions = (uint32_t)(end.preemptions - begin->preemptions),
            .sleeps = (uint32_t)(end.sleeps - begin->sleeps)});
}
