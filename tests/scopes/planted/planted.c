/* planted.c - a program on the PATHS API that does what a plan says, to the
 * nanosecond as far as the machine allows.
 *
 *     planted PLAN TIMES
 *
 * PLAN is a text, made by planted_plans.mjs:
 *
 *     threads steps phases
 *     a line for each phase: barrier | sum | ring | burst, and for a burst who
 *       writes, who reads, how many tuples, and for how long the reader
 *       computes after each
 *     a line for each thread: s or b, how it computes; then how long, in
 *       nanoseconds, before it communicates: of each step, of each phase
 *
 * A step has all phases, in each of which a thread computes and then
 * communicates. To compute is to sleep (s), so that many threads do it at once
 * on few processors, or to use that much time of a processor (b).
 *
 * Before the steps all meet. Each thread writes to TIMES.NUMBER by its own
 * clock: when it had met the others and when it ended, how long it should have
 * computed, and how long it did. */
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

#include "eventspace/eventspace.h"
#include "pastset/status.h"
#include "paths/paths.h"

#define MAX_PHASES 4
#define SECOND INT64_C(1000000000)

typedef enum pattern { BARRIER, SUM, RING, BURST, PATTERNS } pattern;

static const char *const names[] = {"barrier", "sum", "ring", "burst"};

typedef struct phase {
    pattern pattern;
    uint32_t writer, reader, count; /* of a burst */
    int64_t pause_ns;
} phase;

static struct {
    uint32_t threads, steps, phase_count;
    phase phases[MAX_PHASES];
    bool *is_busy;    /* by thread */
    int64_t *work_ns; /* [(thread * steps + step) * phase_count + phase] */
    const char *times;
} plan;

typedef struct actor {
    uint32_t number;
    int64_t should_ns, did_ns;
    paths_path *start, *gate, *total, *right, *left, *box;
} actor;

/* --- the plan --- */

static bool phase_read(FILE *file, phase *p)
{
    char name[16];

    if (fscanf(file, "%15s", name) != 1)
        return false;
    while (p->pattern < PATTERNS && strcmp(names[p->pattern], name) != 0)
        p->pattern++;
    return p->pattern < BURST ||
           (p->pattern == BURST &&
            fscanf(file, "%" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNd64,
                   &p->writer, &p->reader, &p->count, &p->pause_ns) == 4);
}

static bool thread_read(FILE *file, uint32_t number)
{
    size_t count = (size_t)plan.steps * plan.phase_count;
    char how;

    if (fscanf(file, " %c", &how) != 1)
        return false;
    plan.is_busy[number] = how == 'b';
    for (size_t i = 0; i < count; i++)
        if (fscanf(file, "%" SCNd64, &plan.work_ns[number * count + i]) != 1)
            return false;
    return true;
}

static bool plan_read(FILE *file)
{
    if (fscanf(file, "%" SCNu32 " %" SCNu32 " %" SCNu32, &plan.threads,
               &plan.steps, &plan.phase_count) != 3 ||
        plan.phase_count > MAX_PHASES)
        return false;
    plan.is_busy = calloc(plan.threads + 1u, sizeof(*plan.is_busy));
    plan.work_ns =
        calloc((size_t)plan.threads * plan.steps * plan.phase_count + 1,
               sizeof(*plan.work_ns));
    if (!plan.is_busy || !plan.work_ns)
        return false;
    for (uint32_t i = 0; i < plan.phase_count; i++)
        if (!phase_read(file, &plan.phases[i]))
            return false;
    for (uint32_t i = 0; i < plan.threads; i++)
        if (!thread_read(file, i))
            return false;
    return true;
}

/* --- computing --- */

static int64_t now_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return now.tv_sec * SECOND + now.tv_nsec;
}

static void compute(actor *a, int64_t ns)
{
    int64_t from_ns = now_ns(CLOCK_MONOTONIC);
    struct timespec to = {(from_ns + ns) / SECOND, (from_ns + ns) % SECOND};

    if (plan.is_busy[a->number]) {
        int64_t end_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) + ns;
        while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
            ;
    } else if (ns > 0) {
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &to, NULL))
            ;
    }
    a->should_ns += ns;
    a->did_ns += now_ns(CLOCK_MONOTONIC) - from_ns;
}

/* In front of what else the machine does, if it may; threads that are begun
 * later are, too. */
static void prefer(void)
{
    struct sched_param how = {.sched_priority = 1};

    sched_setscheduler(0, SCHED_RR, &how);
    prctl(PR_SET_TIMERSLACK, 1);
}

/* A thread that needs a processor does not keep it from those that carry
 * operations. Those of other sessions are to get little. */
static void share(void)
{
    struct sched_param how = {0};
    FILE *group = fopen("/proc/self/autogroup", "w");

    sched_setscheduler(0, SCHED_OTHER, &how);
    setpriority(PRIO_PROCESS, 0, -20);
    if (!group)
        return;
    fputs("-20", group); /* of the session, if the kernel goes by these */
    fclose(group);
}

/* --- communicating --- */

static int add_up(actor *a)
{
    double mine = a->number, all;

    return paths_exchange(a->total, &mine, sizeof(mine), &all, sizeof(all));
}

static int pass_on(actor *a)
{
    double out = a->number, in;
    int err = paths_write(a->right, &out, sizeof(out));

    return err ? err : paths_observe(a->left, &in, sizeof(in));
}

static int burst(actor *a, const phase *p)
{
    double tuple = a->number;
    int err = 0;

    for (uint32_t i = 0; i < p->count && !err; i++) {
        if (a->number == p->writer) {
            err = paths_write(a->box, &tuple, sizeof(tuple));
        } else if (a->number == p->reader) {
            err = paths_observe(a->box, &tuple, sizeof(tuple));
            compute(a, p->pause_ns);
        }
    }
    return err;
}

static int communicate(actor *a, const phase *p)
{
    switch (p->pattern) {
    case BARRIER:
        return paths_barrier(a->gate);
    case SUM:
        return add_up(a);
    case RING:
        return pass_on(a);
    case BURST:
        return burst(a, p);
    default:
        return pastset_fail(PASTSET_EAPP, "there is no such phase");
    }
}

static int open_paths(actor *a, paths_thread *self)
{
    int err = paths_open(&a->start, self, "start");

    for (uint32_t i = 0; i < plan.phase_count && !err; i++) {
        const phase *p = &plan.phases[i];
        if (p->pattern == BARRIER)
            err = paths_open(&a->gate, self, "gate");
        else if (p->pattern == SUM)
            err = paths_open(&a->total, self, "total");
        else if (p->pattern == RING)
            err = paths_open(&a->right, self, "right");
        else if (a->number == p->writer || a->number == p->reader)
            err = paths_open(&a->box, self, "box");
        if (!err && p->pattern == RING)
            err = paths_open(&a->left, self, "left");
    }
    return err;
}

/* --- a thread --- */

static int write_times(const actor *a, int64_t begin_ns, int64_t end_ns)
{
    char name[4096];
    FILE *file;

    snprintf(name, sizeof(name), "%s.%" PRIu32, plan.times, a->number);
    file = fopen(name, "w");
    if (!file)
        return pastset_fail(PASTSET_EAPP, "cannot write %s", name);
    fprintf(file, "%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n", begin_ns,
            end_ns, a->should_ns, a->did_ns);
    fclose(file);
    return 0;
}

static int worker(paths_thread *self, void *nothing)
{
    actor a = {.number = paths_thread_number(self)};
    int64_t begin_ns;
    int err;

    (void)nothing;
    if (paths_thread_count(self) != plan.threads)
        return pastset_fail(PASTSET_EAPP, "the plan is one for %" PRIu32,
                            plan.threads);
    if (plan.is_busy[a.number])
        share();
    err = open_paths(&a, self);
    if (!err)
        err = paths_barrier(a.start);
    begin_ns = now_ns(CLOCK_MONOTONIC);
    for (uint32_t s = 0; s < plan.steps && !err; s++) {
        for (uint32_t p = 0; p < plan.phase_count && !err; p++) {
            compute(&a, plan.work_ns[((size_t)a.number * plan.steps + s) *
                                         plan.phase_count +
                                     p]);
            err = communicate(&a, &plan.phases[p]);
        }
    }
    return err ? err : write_times(&a, begin_ns, now_ns(CLOCK_MONOTONIC));
}

int main(int argc, char **argv)
{
    FILE *file = argc == 3 ? fopen(argv[1], "r") : NULL;
    eventspace *es;
    int err;

    if (!file || !plan_read(file)) {
        fputs("usage: planted PLAN TIMES\n", stderr);
        return 2;
    }
    fclose(file);
    plan.times = argv[2];
    prefer();
    err = eventspace_start(&es);
    if (!err)
        err = eventspace_program(es, "*", worker, NULL);
    err = eventspace_finish(es, err);
    free(plan.is_busy);
    free(plan.work_ns);
    return err;
}
