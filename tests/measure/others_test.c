/* others_test.c - who else used the processors. */
#include <criterion/criterion.h>
#include <signal.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "measure/others.h"

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

/* A process that uses so much processor time, says so and stays. */
static pid_t spin(double seconds)
{
    int done[2];
    char byte;
    pid_t child;

    cr_assert_eq(pipe(done), 0);
    child = fork();
    if (child == 0) {
        while (cpu_s() < seconds)
            ;
        (void)!write(done[1], "", 1);
        for (;;)
            pause();
    }
    close(done[1]);
    cr_assert_eq(read(done[0], &byte, 1), 1);
    close(done[0]);
    return child;
}

/* As long as nobody has waited for it, it is somebody else's for all that the
 * kernel says; then it is ours. Of the rest of the machine nothing is known
 * here, but that it is the same in both. */
Test(others, a_process_that_is_not_ours_is_counted_and_one_that_is_is_not)
{
    const double used_s = 1;
    measure_others others;
    double begin = now_s(), theirs, ours, all_s;
    cpu_set_t set;
    pid_t child;

    measure_others_begin(&others);
    child = spin(used_s);
    theirs = measure_others_end(&others);
    all_s = now_s() - begin;
    kill(child, SIGKILL);
    cr_assert_eq(waitpid(child, NULL, 0), child);
    ours = measure_others_end(&others);
    sched_getaffinity(0, sizeof(set), &set);
    all_s *= CPU_COUNT(&set);
    /* The kernel counts in hundredths of a second, by samples. */
    cr_expect_geq(theirs, 0.8 * used_s / all_s, "%g of %g s", theirs, all_s);
    cr_expect_leq(ours, theirs - 0.6 * used_s / all_s, "%g, then %g", theirs,
                  ours);
    cr_expect_leq(theirs, 1);
    cr_expect_geq(ours, 0);
}

Test(others, of_no_time_nothing_is_told)
{
    measure_others others;

    measure_others_begin(&others);
    cr_expect_eq(measure_others_end(&others), 0);
}
