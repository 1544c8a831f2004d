/* others_test.c - who else used the processors. */
#include <criterion/criterion.h>
#include <signal.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "measure/load/others.h"

TestSuite(others, .timeout = 120);

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* A process that will use so much processor time. */
typedef struct spinner {
    pid_t child;
    int go, done;
} spinner;

static void use(double seconds)
{
    double begin = cpu_s();
    while (cpu_s() - begin < seconds)
        ;
}

static spinner spinner_start(double seconds)
{
    int go[2], done[2];
    char byte;
    spinner s;

    cr_assert(pipe(go) == 0 && pipe(done) == 0);
    s = (spinner){.child = fork(), .go = go[1], .done = done[0]};
    if (s.child == 0) {
        if (read(go[0], &byte, 1) != 1)
            _exit(1);
        use(seconds);
        (void)!write(done[1], "", 1);
        for (;;)
            pause();
    }
    close(go[0]);
    close(done[1]);
    return s;
}

static void spinner_run(const spinner *s)
{
    char byte;

    cr_assert_eq(write(s->go, "", 1), 1);
    cr_assert_eq(read(s->done, &byte, 1), 1);
}

/* The time of all processors that this process may use. */
static double all_since_s(double begin)
{
    cpu_set_t set;

    sched_getaffinity(0, sizeof(set), &set);
    return (now_s() - begin) * CPU_COUNT(&set);
}

/* What was counted as theirs when there were `all_s` is ours a little later,
 * when there are `later_s`: since then others had all of it at most. Most of
 * what was used is ours: the kernel counts in hundredths of a second, by
 * samples. */
static void check_ours(double theirs, double all_s, double ours, double later_s,
                       double used_s)
{
    cr_expect_leq(ours * later_s,
                  theirs * all_s + (later_s - all_s) - 0.6 * used_s,
                  "%g of %g s, then %g of %g s", theirs, all_s, ours, later_s);
}

/* It was there before. As long as nobody has waited for it, it is somebody
 * else's for all that the kernel says; then it is ours. Of the rest of the
 * machine nothing is known here, but that it is the same in both. */
Test(others, a_process_that_is_not_ours_is_counted_and_one_that_is_is_not)
{
    const double used_s = 1;
    measure_others before, after;
    spinner s = spinner_start(used_s);
    double begin = now_s(), theirs, ours, all_s;

    measure_others_begin(&before);
    measure_others_begin(&after);
    spinner_run(&s);
    theirs = measure_others_end(&before);
    all_s = all_since_s(begin);
    kill(s.child, SIGKILL);
    cr_assert_eq(waitpid(s.child, NULL, 0), s.child);
    ours = measure_others_end(&after);
    cr_expect_geq(theirs, 0.8 * used_s / all_s, "%g of %g s", theirs, all_s);
    check_ours(theirs, all_s, ours, all_since_s(begin), used_s);
    cr_expect_leq(theirs, 1);
    cr_expect_geq(ours, 0);
}

/* Until the last that holds an end of the pipe has ended. */
static void ends_wait(int end)
{
    char byte;

    cr_assert_eq(read(end, &byte, 1), 0);
    close(end);
}

/* The program ignores the ends of its children: the kernel gives their time to
 * nobody. What others did meanwhile is told by one that began at the same time
 * and has no counter. */
Test(others, descendants_for_whom_nobody_waits_are_ours)
{
    const double used_s = 1;
    measure_others others, blind;
    double begin, ours, theirs, all_s;
    int alive[2];
    pid_t child;

    measure_others_begin(&others);
    if (others.counter < 0) {
        measure_others_end(&others);
        cr_skip_test("no right to count what descendants use");
    }
    measure_others_begin(&blind);
    close(blind.counter);
    blind.counter = -1;
    begin = now_s();
    cr_assert_eq(pipe(alive), 0);
    child = fork();
    if (child == 0) {
        signal(SIGCHLD, SIG_IGN);
        if (fork() == 0)
            use(used_s);
        _exit(0);
    }
    close(alive[1]);
    cr_assert_eq(waitpid(child, NULL, 0), child);
    ends_wait(alive[0]);
    theirs = measure_others_end(&blind);
    all_s = all_since_s(begin);
    ours = measure_others_end(&others);
    check_ours(theirs, all_s, ours, all_since_s(begin), used_s);
}

Test(others, of_no_time_nothing_is_told)
{
    measure_others others;

    measure_others_begin(&others);
    cr_expect_eq(measure_others_end(&others), 0);
}
