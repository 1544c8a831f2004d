/* processes_test.c - watching a program of which it is known what it does. */
#include "measure/processes/processes.h"
#include "tests/support/check.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

TestSuite(processes, .timeout = 120);

/* busy_idle does not end before this process had time to look at it. */
static void be_watcher(void)
{
    char pid[16];
    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    cr_assert_eq(setenv("BUSY_IDLE_WATCHER", pid, 1), 0);
}

/* What execvp() wants, and does not change. */
#define ARGV(list) ((char **)(uintptr_t)(list))

#define PHASES "20"
#define BUSY "10"
#define IDLE "5"

typedef struct watched {
    measure_watch *watch;
    const measure_processes *seen;
    int exit_code;
    char *said;
} watched;

static char *read_all(int fd)
{
    off_t length = lseek(fd, 0, SEEK_END);
    char *text = calloc(1, (size_t)length + 1);
    cr_assert_eq(pread(fd, text, (size_t)length, 0), length);
    close(fd);
    return text;
}

static watched watch(const measure_watch_options *options, char **argv)
{
    watched w = {0};
    int output = memfd_create("output", MFD_CLOEXEC);
    /* Several write; the position of a memfd is not locked. */
    cr_assert_eq(fcntl(output, F_SETFL, O_APPEND), 0);
    check_status(measure_watch_open(&w.watch, argv, output, options), 0);
    while (measure_watch_step(w.watch, -1)) {
    }
    w.seen = measure_watch_result(w.watch, &w.exit_code);
    cr_assert(w.seen);
    w.said = read_all(output);
    return w;
}

static void done(watched *w)
{
    measure_watch_close(w->watch);
    free(w->said);
}

/* Processor time, by the processes' own clocks. */
static double said_ns(const watched *w)
{
    double sum = 0;
    for (const char *at = w->said; (at = strstr(at, "cpu ")); at += 4)
        sum += strtod(at + 4, NULL);
    return sum;
}

static double seen_ns(const watched *w)
{
    double sum = 0;
    for (size_t i = 0; i < w->seen->process_count; i++)
        sum += (double)w->seen->processes[i].cpu_ns;
    return sum;
}

/* Within 2 %; and what a process needs to begin before its clock is read for
 * the last time, and to end: a few ms. */
static void check_totals(const char *mode, const char *count, bool switches)
{
    const char *argv[] = {BUSY_IDLE, mode, count, PHASES, BUSY, IDLE, NULL};
    measure_watch_options options = {.no_switches = !switches};
    be_watcher();
    watched w = watch(&options, ARGV(argv));
    double said = said_ns(&w), seen = seen_ns(&w);
    cr_assert_eq(w.exit_code, 0);
    cr_assert_gt(said, 0.19e9);
    cr_assert_gt(seen, 0.98 * said, "%s: %.0f of %.0f ns", mode, seen, said);
    cr_assert_lt(seen, 1.02 * said + 3e6 * (double)w.seen->process_count,
                 "%s: %.0f of %.0f ns", mode, seen, said);
    if (!switches) {
        cr_assert_not(w.seen->exact);
        check_says(w.seen->why, "not requested");
    }
    done(&w);
}

Test(processes, totals_are_those_of_one_process)
{
    check_totals("one", "1", true);
    check_totals("one", "1", false);
}

Test(processes, totals_are_those_of_all_threads)
{
    check_totals("threads", "3", true);
    check_totals("threads", "3", false);
}

Test(processes, totals_are_those_of_all_children)
{
    check_totals("forks", "3", true);
    check_totals("forks", "3", false);
}

Test(processes, totals_have_those_who_lost_their_parent)
{
    check_totals("orphans", "2", true);
    check_totals("orphans", "2", false);
}

/* Looked at when it starts and when it has ended, and never between: what a
 * thread has done since the last look is known all the same. */
Test(processes, a_thread_has_its_whole_time_though_nobody_looked_meanwhile)
{
    const char *argv[] = {BUSY_IDLE, "one", "1", PHASES, BUSY, "0", NULL};
    measure_watch_options options = {.no_switches = true,
                                     .interval_ns = 100000000000};
    watched w = watch(&options, ARGV(argv));
    double said = said_ns(&w), seen;
    cr_assert_eq(w.seen->thread_count, 1);
    seen = (double)w.seen->threads[0].cpu_ns;
    cr_assert_gt(said, 0.19e9);
    cr_assert_gt(seen, 0.98 * said, "%.0f of %.0f ns", seen, said);
    cr_assert_lt(seen, 1.02 * said + 3e6, "%.0f of %.0f ns", seen, said);
    done(&w);
}

/* Runs without a sleep between them are one phase. */
static unsigned phases_of(const measure_thread *t, int64_t min_ns)
{
    unsigned phases = 0;
    for (size_t i = 0; i < t->run_count; i++) {
        int64_t busy = t->runs[i].to_ns - t->runs[i].from_ns;
        while (i + 1 < t->run_count && t->runs[i].ready) {
            i++;
            busy += t->runs[i].to_ns - t->runs[i].from_ns;
        }
        phases += busy >= min_ns;
    }
    return phases;
}

#define TRIES 5

/* With records of all switches. On a machine that switches so often that they
 * do not fit between two looks, some are lost, and that is told: once more. */
static watched watch_all_switches(char **argv)
{
    watched w = watch(NULL, argv);
    for (int i = 1; i < TRIES && w.seen->exact && w.seen->lost; i++) {
        done(&w);
        w = watch(NULL, argv);
    }
    if (!w.seen->exact || w.seen->lost) {
        char why[200];
        snprintf(why, sizeof(why), "no records of switches: %s",
                 w.seen->exact ? "the kernel lost some, each time"
                               : w.seen->why);
        done(&w);
        cr_skip_test("%s", why);
    }
    return w;
}

static watched watch_exact(const char *mode, const char *count)
{
    const char *argv[] = {BUSY_IDLE, mode, count, PHASES, BUSY, IDLE, NULL};
    return watch_all_switches(ARGV(argv));
}

Test(processes, each_phase_of_each_thread_is_found)
{
    watched w = watch_exact("threads", "3");
    unsigned doers = 0;
    for (size_t i = 0; i < w.seen->thread_count; i++) {
        const measure_thread *t = &w.seen->threads[i];
        if (t->pid == t->tid)
            continue;
        doers++;
        cr_expect_eq(phases_of(t, 5000000), 20, "%u phases",
                     phases_of(t, 5000000));
        cr_expect_geq(t->switches, 20);
    }
    cr_assert_eq(doers, 3);
    done(&w);
}

Test(processes, all_that_were_started_are_known)
{
    watched w = watch_exact("orphans", "2");
    cr_assert_eq(w.seen->process_count, 5);
    cr_assert_eq(w.seen->thread_count, 5);
    for (size_t i = 0; i < w.seen->thread_count; i++)
        cr_expect_leq(w.seen->threads[i].end_ns, w.seen->end_ns);
    done(&w);
}

Test(processes, those_that_live_shortly_are_known_too)
{
    const char *argv[] = {"sh", "-c",
                          "for i in 1 2 3 4 5 6 7 8 9 10; do "
                          "/bin/true; done; exit 0",
                          NULL};
    watched w = watch_all_switches(ARGV(argv));
    unsigned named = 0;
    for (size_t i = 0; i < w.seen->process_count; i++)
        named += strcmp(w.seen->processes[i].name, "true") == 0;
    cr_assert_eq(w.seen->process_count, 11);
    cr_assert_eq(named, 10);
    done(&w);
}

Test(processes, time_between_two_moments_adds_up)
{
    watched w = watch_exact("one", "1");
    const measure_thread *t = &w.seen->threads[0];
    int64_t from = w.seen->start_ns, to = w.seen->end_ns, parts = 0, sum = 0;
    for (size_t i = 0; i < t->run_count; i++)
        sum += t->runs[i].to_ns - t->runs[i].from_ns;
    for (int i = 0; i < 1000; i++)
        parts += measure_thread_cpu(t, from + (to - from) * i / 1000,
                                    from + (to - from) * (i + 1) / 1000);
    cr_assert_eq(measure_thread_cpu(t, from, to + 1000000000), sum);
    cr_assert_eq(parts, measure_thread_cpu(t, from, to));
    cr_assert_eq(measure_thread_cpu(t, to, from), 0);
    done(&w);
}

Test(processes, the_label_is_from_the_environment)
{
    const char *argv[] = {"sh", "-c",
                          "EVENTSPACE_PROCESS=left " BUSY_IDLE
                          " one 1 60 5 5; OMPI_COMM_WORLD_RANK=3 " BUSY_IDLE
                          " forks 1 60 5 5; " BUSY_IDLE " one 1 60 5 5; exit 0",
                          NULL};
    be_watcher();
    for (int switches = 0; switches < 2; switches++) {
        measure_watch_options options = {.no_switches = !switches};
        watched w = watch(&options, ARGV(argv));
        unsigned left = 0, rank = 0, plain = 0;
        for (size_t i = 0; i < w.seen->process_count; i++) {
            const char *label = w.seen->processes[i].label;
            left += strcmp(label, "left") == 0;
            rank += strcmp(label, "rank3") == 0;
            plain += strcmp(label, "busy_idle") == 0;
        }
        cr_expect_eq(left, 1, "%u", left);
        cr_expect_eq(rank, 2, "%u", rank);
        cr_expect_eq(plain, 1, "%u", plain);
        done(&w);
    }
}

static int bind_to(pid_t pid, int processor)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    return sched_setaffinity(pid, sizeof(set), &set);
}

/* The first processor from this one on that this process may use; -1. */
static int processor_from(int processor)
{
    cpu_set_t set;

    cr_assert_eq(sched_getaffinity(0, sizeof(set), &set), 0);
    while (processor < CPU_SETSIZE && !CPU_ISSET(processor, &set))
        processor++;
    return processor < CPU_SETSIZE ? processor : -1;
}

static void look(measure_watch *watch, int times)
{
    for (int i = 0; i < times; i++)
        cr_assert_gt(measure_watch_step(watch, -1), 0);
}

/* Libraries bind a process to each processor in turn while they begin. */
Test(processes, where_it_may_run_is_where_it_was_bound_last)
{
    static const char *const argv[] = {"sh", "-c", "echo $$; read x", NULL};
    const measure_watch_options options = {.interval_ns = 1000000};
    int output = memfd_create("output", MFD_CLOEXEC), input[2], pid = 0;
    int first = processor_from(0), second = processor_from(first + 1);
    char said[16] = "", name[16];
    measure_watch *watch;
    const measure_processes *seen;

    if (second < 0)
        cr_skip("needs two processors");
    cr_assert_eq(pipe2(input, O_CLOEXEC), 0);
    cr_assert_eq(dup2(input[0], 0), 0);
    check_status(measure_watch_open(&watch, ARGV(argv), output, &options), 0);
    while (!strchr(said, '\n')) {
        look(watch, 1);
        cr_assert_geq(pread(output, said, sizeof(said) - 1, 0), 0);
    }
    pid = atoi(said);
    cr_assert_eq(bind_to(pid, first), 0);
    look(watch, 100);
    cr_assert_eq(bind_to(pid, second), 0);
    look(watch, 8);
    cr_assert_eq(write(input[1], "\n", 1), 1);
    while (measure_watch_step(watch, -1)) {
    }
    seen = measure_watch_result(watch, &(int){0});
    snprintf(name, sizeof(name), "%d", second);
    for (size_t i = 0; i < seen->process_count; i++)
        if (seen->processes[i].pid == pid)
            cr_expect_str_eq(seen->processes[i].processors, name);
    measure_watch_close(watch);
}

Test(processes, an_exit_code_is_told)
{
    const char *fails[] = {BUSY_IDLE, "fail", "3", NULL};
    const char *dies[] = {"sh", "-c", "kill -9 $$", NULL};
    watched w = watch(NULL, ARGV(fails));
    cr_assert_eq(w.exit_code, 3);
    done(&w);
    w = watch(NULL, ARGV(dies));
    cr_assert_eq(w.exit_code, 128 + SIGKILL);
    done(&w);
}

Test(processes, a_program_that_is_not_there_is_told)
{
    const char *argv[] = {"/nowhere/program", NULL};
    measure_watch *w;
    check_status(measure_watch_open(&w, ARGV(argv), -1, NULL), PASTSET_ENOENT);
    check_error("/nowhere/program");
    cr_assert_null(w);
}

Test(processes, a_signal_reaches_the_command)
{
    const char *argv[] = {BUSY_IDLE, "wait", NULL};
    int ends[2], exit_code, more = 1;
    char word[16] = "";
    measure_watch *w;
    cr_assert_eq(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    check_status(measure_watch_open(&w, ARGV(argv), ends[1], NULL), 0);
    while (more && read(ends[0], word, 6) <= 0)
        more = measure_watch_step(w, ends[0]);
    cr_assert_str_eq(word, "ready\n");
    measure_watch_signal(w, SIGTERM);
    while (measure_watch_step(w, -1)) {
    }
    cr_assert(measure_watch_result(w, &exit_code));
    cr_assert_eq(exit_code, 7);
    measure_watch_close(w);
    close(ends[0]);
    close(ends[1]);
}
