/* remote_test.c - tasks that a command has started, and a job that is served to
 * them. The tasks are scripts of the shell, which know the lines from
 * remote_job.c alone; the other side of these is tested with real agents in
 * scopes/gather/machines_test.sh. */
#include "eventspace/remote/remote.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pastset/status.h"
#include "pastset/waiter.h"
#include "tests/support/check.h"

TestSuite(remote, .timeout = 120);

#define PATIENCE_NS ((int64_t)60000000000)

static eventspace_remote *task_of(const char *script)
{
    char *argv[] = {(char *)(uintptr_t) "/bin/sh", (char *)(uintptr_t) "-c",
                    (char *)(uintptr_t)script, NULL};
    eventspace_remote *task;

    check_status(eventspace_remote_start(&task, "machine n1", argv), 0);
    return task;
}

static int64_t soon(void)
{
    return pastset_now_ns() + PATIENCE_NS;
}

static void check_line(eventspace_remote *task, const char *expected)
{
    char line[EVENTSPACE_REMOTE_LINE];

    check_status(eventspace_remote_line(task, line, soon()), 0);
    cr_expect_str_eq(line, expected);
}

static int exit_of(eventspace_remote *task)
{
    int64_t until_ns = soon();
    int code;

    while (!eventspace_remote_has_ended(task, &code)) {
        cr_assert_lt(pastset_now_ns(), until_ns, "it does not end");
        usleep(1000);
    }
    return code;
}

Test(remote, lines_and_bytes_come_as_they_were_said)
{
    eventspace_remote *task =
        task_of("echo one; echo; printf 'bytes 6\\na\\nb\\n\\n\\nlast\\n'; "
                "read it; echo \"heard $it\"; exit 7");
    char bytes[6];

    check_line(task, "one");
    check_line(task, "");
    check_line(task, "bytes 6");
    check_status(eventspace_remote_bytes(task, bytes, 6, soon()), 0);
    cr_expect_arr_eq(bytes, "a\nb\n\n\n", 6);
    check_line(task, "last");
    check_status(eventspace_remote_say(task, "%d\n", 42), 0);
    check_line(task, "heard 42");
    cr_expect_eq(exit_of(task), 7);
    eventspace_remote_end(task);
}

Test(remote, more_bytes_than_a_buffer_has_come_whole)
{
    enum { BYTES = 300000 };
    eventspace_remote *task =
        task_of("head -c 300000 /dev/zero | tr '\\0' x; echo; echo end");
    char *bytes = malloc(BYTES);

    check_status(eventspace_remote_bytes(task, bytes, BYTES, soon()), 0);
    for (size_t i = 0; i < BYTES; i++)
        cr_assert_eq(bytes[i], 'x');
    check_line(task, "");
    check_line(task, "end");
    free(bytes);
    eventspace_remote_end(task);
}

Test(remote, one_that_ends_or_says_nothing_is_named)
{
    eventspace_remote *ends = task_of("printf half");
    eventspace_remote *silent = task_of("read it");
    eventspace_remote *loud = task_of("head -c 5000 /dev/zero | tr '\\0' x");
    char line[EVENTSPACE_REMOTE_LINE];

    check_status(eventspace_remote_line(ends, line, soon()), PASTSET_EHOST);
    check_error("machine n1 has ended, or the connection to it");
    check_status(eventspace_remote_line(silent, line, pastset_now_ns()),
                 PASTSET_ETIMEDOUT);
    check_error("machine n1 does not answer");
    check_status(eventspace_remote_line(loud, line, soon()), PASTSET_EPROTO);
    eventspace_remote_hush(silent); /* the end of its input */
    cr_expect_eq(exit_of(silent), 1);
    cr_expect_eq(exit_of(ends), 0);
    check_status(eventspace_remote_say(ends, "%s", "?\n"), PASTSET_EHOST);
    eventspace_remote_end(ends);
    eventspace_remote_end(silent);
    eventspace_remote_end(loud);
    eventspace_remote_end(NULL);
}

Test(remote, one_that_goes_on_is_ended)
{
    eventspace_remote *task =
        task_of("trap '' HUP TERM; echo $$; while :; do sleep 1; done");
    char line[EVENTSPACE_REMOTE_LINE];
    pid_t pid;

    check_status(eventspace_remote_line(task, line, soon()), 0);
    pid = atoi(line);
    cr_assert_gt(pid, 1);
    eventspace_remote_end(task);
    cr_expect_neq(kill(pid, 0), 0, "it still runs");
}

Test(remote, commands_have_the_machine_where_it_belongs)
{
    eventspace_remote *task;

    check_status(eventspace_remote_start_on(
                     &task, "n1", "echo {machine} of {machine};", "echo it"),
                 0);
    check_line(task, "n1 of n1");
    check_line(task, "it");
    eventspace_remote_end(task);
    check_status(eventspace_remote_start_on(&task, "n2", "echo", "it"), 0);
    check_line(task, "n2 it");
    eventspace_remote_end(task);
    check_status(eventspace_remote_start_on(&task, "n1;reboot", "echo", "it"),
                 PASTSET_EINVAL);
    check_status(eventspace_remote_start_on(&task, "-x", "echo", "it"),
                 PASTSET_EINVAL);
    check_status(eventspace_remote_start_on(&task, "", "echo", "it"),
                 PASTSET_EINVAL);
}

/* --- a job --- */

static int serve(const char *const *scripts, uint32_t count, int64_t until_ns)
{
    eventspace_remote *tasks[4];
    int err;

    for (uint32_t i = 0; i < count; i++)
        tasks[i] = task_of(scripts[i]);
    err = eventspace_remote_serve(tasks, count, until_ns);
    for (uint32_t i = 0; i < count && !err; i++)
        cr_expect_eq(exit_of(tasks[i]), 0, "task %u", i);
    for (uint32_t i = 0; i < count; i++)
        eventspace_remote_end(tasks[i]);
    return err;
}

#define MEETS                                                                  \
    "say() { echo \"$*\"; }; hears() { read -r it; [ \"$it\" = \"$*\" ] || "   \
    "exit 9; }; "

Test(remote_job, tasks_hear_what_others_have_put_before_the_fence,
     .timeout = 120)
{
    static const char *const scripts[] = {
        MEETS "say put a 616263; say put only.one 00ff; say fence; hears go; "
              "say get 1 a; hears = 646566; say get 0 a; hears = 616263; "
              "say put a 31; say fence; hears go; say get 1 a; hears = 646566; "
              "say leave",
        MEETS "say put a 646566; say fence; hears go; say get 0 only.one; "
              "hears = 00ff; say get 1 nothing; hears = ; "
              "say fence; hears go; say get 0 a; hears = 31; say leave"};

    check_status(serve(scripts, 2, soon()), 0);
}

Test(remote_job, ends_with_the_error_that_names_a_task, .timeout = 120)
{
    static const char *const gone[] = {MEETS "say fence; read it",
                                       MEETS "say put a 61"};
    static const char *const strange[] = {MEETS "say hello; read it"};
    static const char *const nobody[] = {MEETS "say get 7 a; read it"};
    static const char *const silent[] = {"read it"};

    check_status(serve(gone, 2, soon()), PASTSET_EHOST);
    check_error("machine n1 has ended");
    check_status(serve(strange, 1, soon()), PASTSET_EPROTO);
    check_error("machine n1 says \"hello\"");
    check_status(serve(nobody, 1, soon()), PASTSET_EPROTO);
    check_status(serve(silent, 1, pastset_now_ns()), PASTSET_ETIMEDOUT);
}
