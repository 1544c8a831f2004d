/* scratch_test.c - the directory of a test is gone when it ends, however. */
#include "tests/support/scratch.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(scratch, .timeout = 60);

/* The name of the directory that a child has made, which has then ended with
 * exit(), as a test that is skipped does. Its exit code is not looked at: leaks
 * are searched for at such an exit, and what a fork leaves passes for some. */
static const char *child_run(void (*what)(void))
{
    static char name[512];
    int ends[2];
    ssize_t got;
    pid_t child;

    cr_assert_eq(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        const char *file;
        scratch_make();
        file = scratch_write("file", "text");
        what();
        if (access(file, F_OK) != 0 || write(ends[1], file, strlen(file)) < 0)
            _exit(1);
        exit(0);
    }
    close(ends[1]);
    got = read(ends[0], name, sizeof(name) - 1);
    cr_assert_gt(got, 0);
    name[got] = 0;
    close(ends[0]);
    cr_assert_eq(waitpid(child, NULL, 0), child);
    *strrchr(name, '/') = 0;
    return name;
}

static void nothing(void)
{
}

Test(scratch, is_gone_after_a_test_that_ends_with_exit)
{
    const char *name = child_run(nothing);
    cr_expect_neq(access(name, F_OK), 0, "%s is still there", name);
}

static void another_exits(void)
{
    pid_t child = fork();
    if (child == 0)
        exit(0);
    waitpid(child, NULL, 0);
}

Test(scratch, stays_when_a_child_of_the_test_ends_with_exit)
{
    const char *name = child_run(another_exits); /* it looks itself */
    cr_expect_neq(access(name, F_OK), 0, "%s is still there", name);
}
