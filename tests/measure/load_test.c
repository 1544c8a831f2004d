/* load_test.c - competitors, the load that they make, and the scheduler model.
 */
#include "tests/support/check.h"

#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "measure/load/load.h"
#include "measure/load/load_changes.h"
#include "measure/load/load_internal.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"
#include "predict/cluster/cluster_internal.h"

enum { CHILDREN = 16 };

typedef struct child {
    pid_t pid, parent, session;
    char state;
    unsigned long user; /* ticks */
} child;

static bool child_read(child *c, const char *pid)
{
    char name[64], text[1024];
    size_t got;
    FILE *file;
    snprintf(name, sizeof(name), "/proc/%.20s/stat", pid);
    file = fopen(name, "r");
    if (!file)
        return false;
    got = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[got] = 0;
    c->pid = atoi(pid);
    return got && strrchr(text, ')') &&
           sscanf(strrchr(text, ')') + 2,
                  "%c %d %*d %d %*d %*d %*u %*u %*u %*u %*u %lu", &c->state,
                  &c->parent, &c->session, &c->user) == 4;
}

static size_t children_of(pid_t parent, child children[CHILDREN])
{
    DIR *proc = opendir("/proc");
    struct dirent *entry;
    size_t count = 0;
    while ((entry = readdir(proc)))
        if (isdigit((unsigned char)entry->d_name[0]) && count < CHILDREN &&
            child_read(&children[count], entry->d_name) &&
            children[count].parent == parent)
            count++;
    closedir(proc);
    return count;
}

/* A processor that we may use: the last one. */
static int some_processor(void)
{
    cpu_set_t set;
    int last = -1;
    cr_assert_eq(sched_getaffinity(0, sizeof(set), &set), 0);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &set))
            last = i;
    return last;
}

/* --- competitors --- */

static void check_competes(const child *c, int processor)
{
    char pid[32];
    cpu_set_t set;
    child later = *c;
    cr_assert_eq(sched_getaffinity(c->pid, sizeof(set), &set), 0);
    cr_assert_eq(CPU_COUNT(&set), 1);
    cr_assert(CPU_ISSET(processor, &set));
    cr_assert_eq(c->session, getsid(0));
    snprintf(pid, sizeof(pid), "%d", c->pid);
    while (later.user < 2) { /* or the test's timeout */
        struct timespec t = {0, 5000000};
        nanosleep(&t, NULL);
        cr_assert(child_read(&later, pid));
    }
    cr_assert_eq(later.state, 'R');
}

Test(background_load, are_busy_on_their_processor_in_our_session,
     .timeout = 120)
{
    child children[CHILDREN];
    measure_background_load *c;
    int processor = some_processor();
    check_status(measure_background_load_create(&c, processor, 2), 0);
    cr_assert_eq(children_of(getpid(), children), 2);
    check_competes(&children[0], processor);
    check_competes(&children[1], processor);
    measure_background_load_destroy(c);
    cr_assert_eq(children_of(getpid(), children), 0);
}

Test(background_load, are_none_when_none_are_wanted, .timeout = 120)
{
    child children[CHILDREN];
    measure_background_load *c;
    check_status(measure_background_load_create(&c, -1, 0), 0);
    cr_assert_eq(children_of(getpid(), children), 0);
    measure_background_load_destroy(c);
    measure_background_load_destroy(NULL);
}

Test(background_load, that_make_no_sense_are_refused_and_leave_nobody,
     .timeout = 120)
{
    static const double loads[] = {-1, 1e9, NAN, INFINITY};
    child children[CHILDREN];
    measure_background_load *c;
    for (int i = 0; i < 4; i++)
        check_status(measure_background_load_create(&c, -1, loads[i]),
                     PASTSET_EINVAL);
    check_status(measure_background_load_create(&c, 100000, 1), PASTSET_EINVAL);
    check_error("processor 100000");
    check_status(measure_background_load_create(&c, CPU_SETSIZE - 1, 3),
                 PASTSET_EINVAL);
    cr_assert_eq(children_of(getpid(), children), 0);
}

static double used_seconds(pid_t pid)
{
    struct timespec t;
    clockid_t clock;
    cr_assert_eq(clock_getcpuclockid(pid, &clock), 0);
    cr_assert_eq(clock_gettime(clock, &t), 0);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* How much a child used of the time in which it was looked at, which goes on
 * until it used some. A machine that is busy with other things makes it less,
 * never more, hence one bound. */
Test(background_load, of_a_share_use_no_more_than_that, .timeout = 120)
{
    child children[CHILDREN];
    measure_background_load *c;
    double start, used;
    struct timespec t = {1, 0};
    check_status(measure_background_load_create(&c, some_processor(), 0.3), 0);
    cr_assert_eq(children_of(getpid(), children), 1);
    start = seconds();
    used = used_seconds(children[0].pid);
    do
        nanosleep(&t, NULL);
    while (used_seconds(children[0].pid) <= used); /* or the test's timeout */
    used = used_seconds(children[0].pid) - used;
    cr_assert(used < 0.45 * (seconds() - start), "used %g s", used);
    measure_background_load_destroy(c);

    check_status(measure_background_load_create(&c, some_processor(), 2.3), 0);
    cr_assert_eq(children_of(getpid(), children), 3);
    measure_background_load_destroy(c);
}

/* Starts two, tells their pids, and waits to be killed. */
static void be_parent(int to)
{
    child children[CHILDREN];
    measure_background_load *c;
    pid_t pids[2];
    if (measure_background_load_create(&c, -1, 2) ||
        children_of(getpid(), children) != 2)
        _exit(1);
    pids[0] = children[0].pid;
    pids[1] = children[1].pid;
    if (write(to, pids, sizeof(pids)) != sizeof(pids))
        _exit(1);
    for (;;)
        pause();
}

Test(background_load, die_with_a_parent_that_is_killed, .timeout = 120)
{
    int ends[2], status;
    pid_t parent, pids[2];
    /* So that they become ours to wait for when their parent is dead. */
    cr_assert_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    cr_assert_eq(pipe(ends), 0);
    parent = fork();
    if (parent == 0)
        be_parent(ends[1]);
    close(ends[1]);
    cr_assert_eq(read(ends[0], pids, sizeof(pids)), (ssize_t)sizeof(pids));
    cr_assert_eq(kill(parent, SIGKILL), 0);
    cr_assert_eq(waitpid(parent, &status, 0), parent);
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(waitpid(pids[i], &status, 0), pids[i]);
        cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
}

/* --- the load --- */

Test(load, sees_a_competitor, .timeout = 120)
{
    measure_background_load *c;
    measure_load load;
    int processor = some_processor();
    check_status(measure_background_load_create(&c, processor, 2), 0);
    check_status(measure_load_now(&load, processor, 1), 0);
    measure_background_load_destroy(c);
    cr_assert_geq(load.running, 1.5);
    cr_assert_geq(load.load, 1.5);
    cr_assert(load.busy > 0.5 && load.busy <= 1, "busy %g", load.busy);
    cr_assert_eq(load.processors, 1);
    cr_assert_geq(load.average, 0);
}

Test(load, of_all_processors_has_what_one_has, .timeout = 120)
{
    measure_background_load *c;
    measure_load load;
    check_status(measure_background_load_create(&c, some_processor(), 1), 0);
    check_status(measure_load_now(&load, -1, 0.5), 0);
    measure_background_load_destroy(c);
    cr_assert_geq(load.running, 0.75);
    cr_assert_geq(load.processors, 1);
}

/* --- by whom --- */

/* A file in a folder like /proc. */
static void put(const char *name, const char *format, ...)
{
    char path[256], text[512];
    va_list list;

    snprintf(path, sizeof(path), "%s", scratch_file("%s", name));
    for (char *at = path + 1; (at = strchr(at, '/')); at++) {
        *at = 0;
        mkdir(path, 0700);
        *at = '/';
    }
    va_start(list, format);
    vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    scratch_write(name, text);
}

/* A thread, whose process is that of its hundred, as in proc(5). Their numbers
 * are above all that there can be. */
static void put_thread(int tid, char state, int session, int nice,
                       int processor, int policy)
{
    char name[64];

    snprintf(name, sizeof(name), "%d/task/%d/stat", tid / 100 * 100, tid);
    put(name,
        "%d (a) R (b) %c 1 1 %d 0 -1 4 0 0 0 0 5 6 0 0 20 %d 1 0 9 0 0 0 0 0 0 "
        "0 0 0 0 0 0 0 0 0 17 %d 0 %d 0 0 0\n",
        tid, state, session, nice, processor, policy);
}

static void proc_make(void)
{
    put("self/autogroup", "/autogroup-7 nice 0\n");
    put("sys/kernel/sched_autogroup_enabled", "1\n");
    put("5000100/autogroup", "/autogroup-7 nice 0\n");
    put("5000200/autogroup", "/autogroup-9 nice 0\n");
    put("5000300/autogroup", "/autogroup-11 nice 5\n");
}

static void competes(int processor, unsigned threads, double load)
{
    measure__competitors found;

    check_status(
        measure__competitors_read(&found, scratch_file("."), processor), 0);
    cr_expect_eq(found.threads, threads, "%u", found.threads);
    cr_expect_float_eq(found.load, load, 1e-9, "%.12g and not %.12g",
                       found.load, load);
}

Test(load, is_that_of_threads_by_their_nice_values, .init = scratch_make,
     .fini = scratch_remove, .timeout = 120)
{
    proc_make();
    competes(-1, 0, 0);
    put_thread(5000100, 'R', 1, 0, 0, SCHED_OTHER);
    put_thread(5000101, 'S', 1, 0, 0, SCHED_OTHER);
    competes(0, 1, 1);
    competes(1, 0, 0);
    put_thread(5000102, 'R', 1, 10, 0, SCHED_OTHER);
    competes(0, 2, 1 + pow(1.25, -10));
    put_thread(5000103, 'R', 1, 0, 1, SCHED_IDLE);
    put_thread(5000104, 'R', 1, -5, 1, SCHED_BATCH);
    competes(1, 2, 3.0 / 1024 + pow(1.25, 5));
    competes(-1, 4, 1 + pow(1.25, -10) + 3.0 / 1024 + pow(1.25, 5));
    put_thread(5000105, 'R', 1, 0, 2, SCHED_FIFO);
    competes(2, 1, 19);
}

Test(load, of_another_session_is_one_however_many_threads_it_has,
     .init = scratch_make, .fini = scratch_remove, .timeout = 120)
{
    proc_make();
    for (int i = 0; i < 3; i++)
        put_thread(5000200 + i, 'R', 2, 0, 0, SCHED_OTHER);
    competes(0, 3, 1);
    /* Of our half we have a half, beside one of our own session. */
    put_thread(5000100, 'R', 1, 0, 0, SCHED_OTHER);
    competes(0, 4, 3);
    /* On two processors it has a part of its weight on each. */
    put_thread(5000203, 'R', 2, 0, 1, SCHED_OTHER);
    competes(1, 1, 0.25);
    competes(0, 4, 1.75 * 2 - 1);
    /* One that was made nicer as a whole. */
    put_thread(5000300, 'R', 3, -20, 2, SCHED_OTHER);
    competes(2, 1, pow(1.25, -5));
    /* Threads that go first do so in any group, and the kernel's are groups. */
    put_thread(5000204, 'R', 2, 0, 3, SCHED_RR);
    competes(3, 1, 19);
    put_thread(5000400, 'R', 0, -20, 4, SCHED_OTHER);
    put_thread(5000205, 'R', 2, 0, 4, SCHED_OTHER);
    competes(4, 2, pow(1.25, 20) + 1.0 / 5);
    remove(scratch_file("5000200/task/5000204/stat"));
    remove(scratch_file("5000200/task/5000205/stat"));
    remove(scratch_file("5000400/task/5000400/stat"));
    /* In a control group for processors there are no groups of sessions. */
    put("self/cgroup", "4:memory:/a\n3:cpuacct,cpu:/\n");
    competes(1, 1, 0.25);
    put("self/cgroup", "4:memory:/a\n3:cpuacct,cpu:/a\n");
    competes(1, 1, 1);
    remove(scratch_file("self/cgroup"));
    put("sys/kernel/sched_autogroup_enabled", "0\n");
    remove(scratch_file("5000300/task/5000300/stat"));
    competes(0, 4, 4);
}

Test(load, of_nothing_is_refused, .timeout = 120)
{
    measure_load load;
    check_status(measure_load_now(&load, 100000, 0.1), PASTSET_EINVAL);
    check_error("100000");
    check_status(measure_load_now(&load, -1, 0), PASTSET_EINVAL);
    check_status(measure_load_now(&load, -1, NAN), PASTSET_EINVAL);
}

/* --- the scheduler model --- */

/* Measured by measure_scheduler on a quiet machine with Linux 6.18. */
static const predict_scheduler_sample linux_618[] = {
    {0.002, 0.002, 1, 1.878e-3}, {0.002, 0.02, 1, 1.740e-3},
    {0.002, 0.1, 1, 2.771e-3},   {0.01, 0.002, 1, 10.467e-3},
    {0.01, 0.02, 1, 9.698e-3},   {0.01, 0.1, 1, 10.141e-3},
    {0.05, 0.002, 1, 47.667e-3}, {0.05, 0.02, 1, 50.241e-3},
    {0.05, 0.1, 1, 52.537e-3},   {0.15, 0.002, 1, 148.760e-3},
    {0.15, 0.02, 1, 152.223e-3}, {0.15, 0.1, 1, 147.776e-3},
    {0.002, 0.002, 2, 3.974e-3}, {0.002, 0.02, 2, 4.402e-3},
    {0.002, 0.1, 2, 2.784e-3},   {0.01, 0.002, 2, 20.633e-3},
    {0.01, 0.02, 2, 20.008e-3},  {0.01, 0.1, 2, 21.427e-3},
    {0.05, 0.002, 2, 97.241e-3}, {0.05, 0.02, 2, 98.792e-3},
    {0.05, 0.1, 2, 100.619e-3},  {0.15, 0.002, 2, 297.400e-3},
    {0.15, 0.02, 2, 308.435e-3}, {0.15, 0.1, 2, 301.744e-3},
};
enum { SAMPLES = sizeof(linux_618) / sizeof(*linux_618) };

Test(scheduler, of_linux_6_18_is_fair, .timeout = 120)
{
    predict_scheduler scheduler = PREDICT_SCHEDULER_CREDIT;
    double error;
    check_status(predict_scheduler_fit(&scheduler, &error, linux_618, SAMPLES),
                 0);
    cr_assert_eq(scheduler.credit_s, 0);
    cr_assert(error > 0.01 && error < 0.2, "error %g", error);
}

/* The phases of measure_scheduler tell the scheduler models apart: each is
 * found again in what it would make of them, with the scatter of the real
 * measurement. */
Test(scheduler, is_told_apart_by_these_phases, .timeout = 120)
{
    static const double credits[] = {0, 0.006, INFINITY};
    for (int k = 0; k < 3; k++) {
        predict_scheduler_sample made[SAMPLES];
        predict_scheduler scheduler;
        for (int i = 0; i < SAMPLES; i++) {
            const predict_scheduler_sample *s = &linux_618[i];
            double all = s->load * s->busy_s, scatter = s->extra_s - all;
            made[i] = *s;
            made[i].extra_s =
                fmax(0, all - fmin(s->idle_s, s->load * credits[k])) +
                0.2 * scatter;
        }
        check_status(predict_scheduler_fit(&scheduler, NULL, made, SAMPLES), 0);
        if (isfinite(credits[k]))
            cr_assert(fabs(scheduler.credit_s - credits[k]) < 0.002,
                      "%g, not %g", scheduler.credit_s, credits[k]);
        else
            cr_assert_geq(scheduler.credit_s, 0.02);
    }
}

/* Twice as long as alone, whatever it was alone. */
Test(scheduler, takes_what_is_longer_than_alone, .timeout = 120)
{
    measure__phases alone = {0.01, 0.02, 0.0305, 0.0304, 1};
    measure__phases with = {0.01, 0.02, 0.0504, 0.05, 2};
    predict_scheduler_sample s = measure__phases_sample(&alone, &with, 1);
    cr_assert_float_eq(s.extra_s, 0.02, 1e-12);
    cr_assert_float_eq(s.busy_s, 0.01, 1e-12);
    cr_assert_float_eq(s.idle_s, 0.02, 1e-12);
    cr_assert_eq(s.load, 1);
}

/* Processor time and the clock bound it from below, however busy the machine
 * is. */
Test(scheduler, phases_take_no_less_than_they_should, .timeout = 120)
{
    measure__phases p = {.busy_s = 0.005, .idle_s = 0.01};
    check_status(measure__phases_run(&p, 10), 0);
    cr_assert_geq(p.pair_s, 0.015);
    cr_assert_geq(p.middle_s, 0.015);
    cr_assert_geq(p.slow, 0.999);
}

Test(scheduler, is_not_told_on_a_processor_that_is_loaded, .timeout = 120)
{
    measure_scheduler_options options = {.processor = some_processor(),
                                         .seconds_s = 1};
    predict_scheduler_sample *samples = (void *)1;
    measure_background_load *c;
    predict_scheduler scheduler;
    size_t count;
    cpu_set_t before, after;
    sched_getaffinity(0, sizeof(before), &before);
    check_status(measure_background_load_create(&c, options.processor, 2), 0);
    check_status(
        measure_scheduler(&scheduler, NULL, &samples, &count, &options),
        PASTSET_EAGAIN);
    check_error("loaded already");
    cr_assert_null(samples);
    measure_background_load_destroy(c);
    sched_getaffinity(0, sizeof(after), &after);
    cr_assert(CPU_EQUAL(&before, &after), "the affinity is not what it was");
}

Test(scheduler, needs_a_processor_and_some_time, .timeout = 120)
{
    measure_scheduler_options options = {.processor = 100000};
    predict_scheduler scheduler;
    check_status(measure_scheduler(&scheduler, NULL, NULL, NULL, &options),
                 PASTSET_EINVAL);
    options = (measure_scheduler_options){.processor = -1, .seconds_s = -3};
    check_status(measure_scheduler(&scheduler, NULL, NULL, NULL, &options),
                 PASTSET_EINVAL);
}

/* --- into a cluster file --- */

Test(load, stands_in_the_cluster_file, .init = scratch_make,
     .fini = scratch_remove, .timeout = 120)
{
    const char *file = scratch_file("cluster.dot");
    measure_changes list = {0};
    predict_cluster *cluster;
    char names[40][8];
    measure_link link = {.latency_s = 151e-6, .bandwidth = 94.12e6 / 8};
    predict_scheduler scheduler = PREDICT_SCHEDULER_CREDIT;
    for (int i = 0; i < 40; i++) {
        measure_load load = {.load = i * 0.25, .processors = 4};
        snprintf(names[i], sizeof(names[i]), "n%d", i);
        check_status(measure_changes_machine(&list, names[i], &load,
                                             i == 7 ? &scheduler : NULL),
                     0);
    }
    check_status(measure_changes_link(&list, "n0", "n1", &link), 0);
    check_status(measure_changes_write(&list, file), 0);
    measure_changes_clear(&list);

    check_status(predict_cluster_read(&cluster, file), 0);
    cr_assert_eq(cluster->machine_count, 40);
    for (int i = 0; i < 40; i++) {
        uint32_t at = predict_cluster_find(cluster, names[i]);
        cr_assert_lt(at, 40);
        cr_assert_float_eq(cluster->machines[at].load, i * 0.25, 1e-9);
        cr_assert_eq(cluster->processors[cluster->machines[at].place], 4);
        cr_assert_eq(isinf(cluster->machines[at].scheduler.credit_s) != 0,
                     i == 7);
    }
    const predict_wire *wire =
        &cluster->wires[predict_cluster_find(cluster, "n0") * 40 +
                        predict_cluster_find(cluster, "n1")];
    cr_assert_float_eq(wire->latency_s, 151e-6, 1e-9);
    cr_assert_float_eq(wire->bandwidth, 94.12e6 / 8, 1e3);
    predict_cluster_destroy(cluster);
}

Test(load, that_was_not_measured_makes_no_file, .init = scratch_make,
     .fini = scratch_remove, .timeout = 120)
{
    const char *file = scratch_file("cluster.dot");
    measure_changes list = {0};
    check_status(measure_changes_write(&list, file), 0);
    cr_assert_neq(access(file, F_OK), 0);
}
