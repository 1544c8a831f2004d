/* scale.c - how the time and the memory of each view grow with the run: 1, 10
 * and 100 million events (EVENTSPACE_BENCH_EVENTS: one size instead), of which
 * the longest takes 3.6 GB in $TMPDIR, or in /tmp, and each view of it as much
 * again and more.
 *
 * Each view is made by a process of its own, from the run's files in the page
 * cache to the table. Its time is told twice: that of all its processors
 * together, per event, which others on the machine change little, so that a
 * view that is linear has the same at each size; and what passes. Its memory is
 * the most that was ever resident, pages of the run's files included. The
 * limits: the processor time of one sequential read of as many bytes, and how
 * long that takes; and what the views may hold, of which they are told. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pastset/status.h"
#include "scopes/memory/memory.h"
#include "scopes/reading/snapshot.h"
#include "scopes/views/view.h"
#include "tests/bench/bench.h"
#include "tests/bench/long_run.h"

#define MEMORY_MIB 1024u

static char scratch[BENCH_SCRATCH];

/* --- in a process of its own --- */

static void table_make(const scopes_snapshot *snapshot, const scopes_view *view)
{
    scopes_view_input view_input = {.map = snapshot->topology->map,
                                    .topology = snapshot->topology,
                                    .event_table = snapshot->event_table,
                                    .clocks = snapshot->clocks,
                                    .pending = snapshot->pending,
                                    .run = snapshot->run,
                                    .scheduling = snapshot->scheduling};
    scopes_table *table;

    bench_check(scopes_view_make(&table, view, &view_input), view->name);
    scopes_table_destroy(table);
}

/* `view` NULL: the events only. */
static void view_make(const char *directory, const scopes_view *view)
{
    scopes_snapshot_options options = SCOPES_SNAPSHOT_ALL;
    scopes_snapshot *snapshot;
    eventspace_run *run;

    bench_check(scopes_memory_limit((uint64_t)MEMORY_MIB << 20), "limit");
    bench_check(eventspace_run_open(&run, directory), directory);
    bench_check(scopes_snapshot_take(&snapshot, run, &options), directory);
    if (view)
        table_make(snapshot, view);
    scopes_snapshot_destroy(snapshot);
    eventspace_run_close(run);
}

/* --- what it took --- */

typedef struct cost {
    double processor_ms, elapsed_ms, memory_mib;
} cost;

static double ms_of(struct timeval time)
{
    return (double)time.tv_sec * 1e3 + (double)time.tv_usec / 1e3;
}

static cost cost_of(const char *directory, const scopes_view *view,
                    uint64_t events)
{
    struct rusage usage;
    int status = 0;
    double begin = bench_now_ns();
    pid_t child = fork();

    if (child == 0) {
        if (directory)
            view_make(directory, view);
        else
            bench_long_run_read_ms(scratch, "long", events);
        _exit(0);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0)
        bench_check(PASTSET_EAPP, view ? view->name : "load");
    return (cost){ms_of(usage.ru_utime) + ms_of(usage.ru_stime),
                  (bench_now_ns() - begin) / 1e6,
                  (double)usage.ru_maxrss / 1024};
}

static void measure(const scopes_view *view, uint64_t events, uint64_t millions)
{
    const char *name = view ? view->name : "load";
    char directory[200], whole[100];
    cost read, took;

    snprintf(directory, sizeof(directory), "%s/long", scratch);
    snprintf(whole, sizeof(whole), "scale.%llu.%s",
             (unsigned long long)millions, name);
    if (!bench_wants(whole))
        return;
    read = cost_of(NULL, NULL, events);
    took = cost_of(directory, view, events);
    bench_print(whole, took.processor_ms * 1e6 / (double)events, "ns/event",
                read.processor_ms * 1e6 / (double)events);
    snprintf(whole, sizeof(whole), "scale.%llu.%s.elapsed",
             (unsigned long long)millions, name);
    bench_print(whole, took.elapsed_ms, "ms", read.elapsed_ms);
    snprintf(whole, sizeof(whole), "scale.%llu.%s.memory",
             (unsigned long long)millions, name);
    bench_print(whole, took.memory_mib, "MiB", MEMORY_MIB);
}

static void measure_size(uint64_t events)
{
    char whole[200];
    uint64_t millions = events / 1000000;

    events = bench_long_run(scratch, "long", events);
    measure(NULL, events, millions);
    for (size_t i = 0; scopes_view_at(i); i++)
        measure(scopes_view_at(i), events, millions);
    snprintf(whole, sizeof(whole), "%s/long", scratch);
    bench_scratch_remove(whole);
}

void bench_scale(void)
{
    static const uint64_t sizes[] = {1000000, 10000000, 100000000};
    static char name[] = "scale";
    const char *wanted = getenv("EVENTSPACE_BENCH_EVENTS");

    bench_long_run_process();
    bench_scratch_make(scratch);
    bench_short_run(scratch, name);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes) && !wanted; i++)
        measure_size(sizes[i]);
    if (wanted)
        measure_size(strtoull(wanted, NULL, 10));
    bench_scratch_remove(scratch);
}
