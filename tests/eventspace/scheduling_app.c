/* scheduling_app.c - threads that compute, sleep and lose their processor, and
 * say how much.
 *
 *     scheduling_app MILLISECONDS
 *
 * Each thread writes to the element `all`, uses a processor for that time,
 * sleeps for as long, and writes again; then it computes once more. It prints
 *
 *     THREAD PROCESSOR_NS ASLEEP_NS WAITED_NS WAITED_ASLEEP_NS WALL_NS
 *
 * by its own clocks, from before its first statement to after its last but
 * one: the clock of its processor time knows nothing of EventSpace. WAITED_NS
 * is what it waited for a processor as the kernel has it, and WAITED_ASLEEP_NS
 * is what of that may be part of ASLEEP_NS, too. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "eventspace/eventspace.h"

static int64_t now_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The second number of schedstat. */
static int64_t waited_so_far_ns(void)
{
    FILE *file = fopen("/proc/thread-self/schedstat", "r");
    long long ran, waited = 0;

    if (!file || fscanf(file, "%lld %lld", &ran, &waited) != 2)
        fprintf(stderr, "there is no schedstat\n");
    if (file)
        fclose(file);
    return waited;
}

static void compute(int64_t ns)
{
    int64_t until = now_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

    while (now_ns(CLOCK_THREAD_CPUTIME_ID) < until)
        ;
}

static int worker(paths_thread *self, void *argument)
{
    int64_t ns = *(int64_t *)argument, slept_ns;
    int64_t processor_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
    int64_t wall_ns = now_ns(CLOCK_MONOTONIC_RAW);
    int64_t waited_ns = waited_so_far_ns(), waited_asleep_ns;
    struct timespec nap = {ns / 1000000000, ns % 1000000000};
    uint64_t tuple = 1;
    paths_path *all;
    int err = paths_open(&all, self, "all");

    compute(ns);
    if (!err)
        err = paths_write(all, &tuple, sizeof(tuple));
    waited_asleep_ns = waited_so_far_ns();
    slept_ns = now_ns(CLOCK_MONOTONIC_RAW);
    nanosleep(&nap, NULL);
    slept_ns = now_ns(CLOCK_MONOTONIC_RAW) - slept_ns;
    waited_asleep_ns = waited_so_far_ns() - waited_asleep_ns;
    if (!err)
        err = paths_write(all, &tuple, sizeof(tuple));
    compute(ns);
    waited_ns = waited_so_far_ns() - waited_ns;
    processor_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - processor_ns;
    wall_ns = now_ns(CLOCK_MONOTONIC_RAW) - wall_ns;
    printf("%u %lld %lld %lld %lld %lld\n", paths_thread_number(self),
           (long long)processor_ns, (long long)slept_ns, (long long)waited_ns,
           (long long)waited_asleep_ns, (long long)wall_ns);
    fflush(stdout);
    return err;
}

int main(int argc, char **argv)
{
    int64_t ns = argc > 1 ? strtoll(argv[1], NULL, 10) * 1000000 : 0;
    eventspace *es;
    int err = eventspace_start(&es);

    if (!err)
        err = eventspace_program(es, "*", worker, &ns);
    return eventspace_finish(es, err);
}
