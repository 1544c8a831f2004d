/* ticks_kernel_test.c - the counter, and what the kernel thinks of it.
 *
 * What the kernel says is replaced, for one process, by files that are mounted
 * over its own in a mount namespace of that process. That takes rights; where
 * they are missing the tests are skipped. */
#include "eventspace/collect/ticks.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "eventspace/eventspace.h"
#include "eventspace/run/meta.h"
#include "eventspace/collect/ticks_internal.h"
#include "tests/support/check.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"

#define CLOCKS "/sys/devices/system/clocksource/clocksource0/"
/* Exit codes of the children. */
enum { RIGHT, WRONG, FORBIDDEN };

TestSuite(ticks_kernel, .timeout = 120, .init = scratch_make,
          .fini = scratch_remove);

static void check_believed(bool believed, const char *current,
                           const char *available)
{
    cr_expect_eq(eventspace__ticks_believed(current, available), believed,
                 "current \"%s\", available \"%s\"", current, available);
}

Test(ticks_kernel, believes_in_the_counter_by_which_it_goes)
{
    check_believed(true, "tsc\n", "tsc hpet acpi_pm \n");
    check_believed(true, "tsc\n", "tsc\n");
}

Test(ticks_kernel, has_rejected_a_counter_that_is_off_its_list)
{
    check_believed(false, "hpet\n", "hpet acpi_pm \n");
    check_believed(false, "kvm-clock\n", "kvm-clock acpi_pm \n");
    check_believed(false, "tsc\n", "hpet acpi_pm \n");
}

Test(ticks_kernel, does_not_believe_in_a_counter_when_it_goes_by_a_slow_clock)
{
    check_believed(false, "hpet\n", "tsc hpet acpi_pm \n");
    check_believed(false, "acpi_pm\n", "tsc hpet acpi_pm \n");
    check_believed(false, "jiffies\n", "tsc jiffies \n");
}

Test(ticks_kernel, may_go_by_the_clock_of_its_virtual_machine_instead)
{
    check_believed(true, "kvm-clock\n", "kvm-clock tsc acpi_pm \n");
    check_believed(true, "hyperv_clocksource_tsc_page\n",
                   "hyperv_clocksource_tsc_page tsc \n");
    check_believed(true, "xen\n", "xen tsc \n");
}

Test(ticks_kernel, is_not_misread_where_a_name_only_begins_alike)
{
    check_believed(false, "tsc-early\n", "tsc-early hpet \n");
    check_believed(false, "hpet\n", "tsc-early hpet \n");
    check_believed(false, "\n", "tsc\n");
}

Test(ticks_kernel, is_not_needed_where_its_files_cannot_be_read)
{
    check_believed(true, NULL, NULL);
    check_believed(true, NULL, "tsc hpet\n");
    check_believed(false, NULL, "hpet\n");
}

/* --- in a namespace where the kernel says something else --- */

/* From now on the kernel has rejected the counter, for this process. */
static bool kernel_rejects(void)
{
    const char *text = scratch_write("available", "hpet acpi_pm \n");
    const char *current = scratch_write("current", "hpet\n");

    return mount(text, CLOCKS "available_clocksource", NULL, MS_BIND, NULL) ==
               0 &&
           mount(current, CLOCKS "current_clocksource", NULL, MS_BIND, NULL) ==
               0;
}

/* Runs `child` in a process with mounts of its own. */
static void check_inside(int (*child)(void))
{
    pid_t pid;
    int code;

    if (access(CLOCKS, F_OK) != 0)
        cr_skip_test("this kernel does not show its clocks in sysfs");
    pid = fork();
    if (pid == 0) {
        if (unshare(CLONE_NEWNS) != 0 ||
            mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
            _exit(FORBIDDEN);
        _exit(child());
    }
    code = child_wait(pid, 20);
    if (code == FORBIDDEN)
        cr_skip_test("no right to mount something over files of sysfs");
    cr_expect_eq(code, RIGHT);
}

static int child_starts(void)
{
    if (!kernel_rejects())
        return FORBIDDEN;
    eventspace_ticks_init();
    return strcmp(eventspace_ticks_source(), "tsc") == 0 ? WRONG : RIGHT;
}

Test(ticks_kernel, is_asked_before_the_counter_is_trusted)
{
    check_inside(child_starts);
}

static int meta_says(eventspace_meta *meta, const char *what)
{
    if (eventspace_meta_load(meta, scratch_file("h0.meta")) != 0)
        return WRONG;
    return meta->state == EVENTSPACE_FINISHED && strstr(meta->text, what)
               ? RIGHT
               : WRONG;
}

static int nothing(paths_thread *self, void *argument)
{
    (void)self;
    (void)argument;
    return 0;
}

/* A process of a run, as the launcher would start it. */
static int child_runs(void)
{
    static const char map[] =
        "digraph d { subgraph cluster_h0 { t [kind=thread, number=0];\n"
        "e [kind=element, type=u64]; } t -> e; }\n";
    const char key[32] = "0123456789abcdef0123456789abcde";
    eventspace_meta meta;
    eventspace *es;
    char number[16];
    int fds[2];

    scratch_write("pathmap.dot", map);
    if (pipe(fds) != 0 || write(fds[1], key, sizeof(key)) != sizeof(key))
        return WRONG;
    snprintf(number, sizeof(number), "%d", fds[0]);
    setenv("EVENTSPACE_KEY_FD", number, 1);
    setenv("EVENTSPACE_RUN", scratch_file("."), 1);
    setenv("EVENTSPACE_PROCESS", "h0", 1);
    if (eventspace_start(&es) != 0 ||
        eventspace_program(es, "*", nothing, NULL) != 0)
        return WRONG;
    if (strcmp(eventspace_ticks_source(), "tsc") != 0)
        return FORBIDDEN; /* there is nothing to reject */
    if (!kernel_rejects())
        return FORBIDDEN;
    if (eventspace_finish(es, 0) != 0)
        return WRONG;
    return meta_says(&meta, "the kernel rejected the time stamp counter");
}

Test(ticks_kernel, is_asked_again_when_a_run_ends)
{
    check_inside(child_runs);
}
