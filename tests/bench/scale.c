/* scale.c - how the time and the memory of each view grow with the run: 1, 10
 * and 100 million events (EVENTSPACE_BENCH_EVENTS: one size instead), of which
 * the longest takes 3.6 GB in $TMPDIR, or in /tmp, and each view of it as much
 * again and more.
 *
 * Each view is made by a process of its own, from the run's files in the page
 * cache to the table. Told are the processor time of all its threads per event,
 * which others on the machine change little, so that a view that is linear has
 * the same at each size; of this, what the program itself takes (`.user`; the
 * rest is the kernel's); what passes (`.elapsed`); and the most that was ever
 * resident, pages of the run's files included (`.memory`).
 *
 * The limits: one sequential read of as many bytes; where a view may not hold
 * the events, one that also writes them to a temporary file, as whoever needs
 * them twice must. A machine whose memory is lent to it takes the longer for
 * that the more of it was not used for a while (4 GB took 1 to 6.4 s on one),
 * so that figures of different sizes compare by `.user`, or by the ratio. Of
 * all, and of the limits, the least of $EVENTSPACE_BENCH_TRIES (1). */
#include <math.h>
#include <stdbool.h>
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
    double processor_ms, user_ms, elapsed_ms, memory_mib;
} cost;

static double ms_of(struct timeval time)
{
    return (double)time.tv_sec * 1e3 + (double)time.tv_usec / 1e3;
}

/* Of a process that makes a view, or what is its limit. */
typedef struct job {
    const scopes_view *view;
    bool is_limit;
    uint64_t events;
} job;

static void job_do(const job *j)
{
    char directory[200];

    snprintf(directory, sizeof(directory), "%s/long", scratch);
    if (!j->is_limit)
        view_make(directory, j->view);
    else if (j->events * EVENTSPACE_TRACE_BYTES >
             ((uint64_t)MEMORY_MIB << 20) / 2)
        bench_long_run_copy(scratch, "long");
    else
        bench_long_run_read_ms(scratch, "long", j->events);
}

static cost cost_of(const job *j)
{
    struct rusage usage;
    int status = 0;
    double begin = bench_now_ns();
    pid_t child = fork();

    if (child == 0) {
        job_do(j);
        _exit(0);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0)
        bench_check(PASTSET_EAPP, j->view ? j->view->name : "load");
    return (cost){ms_of(usage.ru_utime) + ms_of(usage.ru_stime),
                  ms_of(usage.ru_utime), (bench_now_ns() - begin) / 1e6,
                  (double)usage.ru_maxrss / 1024};
}

static void least(cost *of, const job *j)
{
    cost c = cost_of(j);

    of->processor_ms = fmin(of->processor_ms, c.processor_ms);
    of->user_ms = fmin(of->user_ms, c.user_ms);
    of->elapsed_ms = fmin(of->elapsed_ms, c.elapsed_ms);
    of->memory_mib = fmax(of->memory_mib, c.memory_mib);
}

static unsigned long tries(void)
{
    const char *wanted = getenv("EVENTSPACE_BENCH_TRIES");
    unsigned long count = wanted ? strtoul(wanted, NULL, 10) : 1;

    return count ? count : 1;
}

static void measure(const scopes_view *view, uint64_t events, uint64_t millions)
{
    cost limit = {INFINITY, INFINITY, INFINITY, 0}, took = limit;
    double per_event = 1e6 / (double)events;
    char name[100];
    int length =
        snprintf(name, sizeof(name), "scale.%llu.%s",
                 (unsigned long long)millions, view ? view->name : "load");
    char *end = name + length;
    size_t room = sizeof(name) - (size_t)length;

    if (!bench_wants(name))
        return;
    for (unsigned long i = tries(); i > 0; i--) {
        least(&limit, &(job){NULL, true, events});
        least(&took, &(job){view, false, events});
    }
    bench_print(name, took.processor_ms * per_event, "ns/event",
                limit.processor_ms * per_event);
    snprintf(end, room, ".user");
    bench_print(name, took.user_ms * per_event, "ns/event",
                limit.processor_ms * per_event);
    snprintf(end, room, ".elapsed");
    bench_print(name, took.elapsed_ms, "ms", limit.elapsed_ms);
    snprintf(end, room, ".memory");
    bench_print(name, took.memory_mib, "MiB", MEMORY_MIB);
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
