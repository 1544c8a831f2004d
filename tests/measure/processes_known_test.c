/* processes_known_test.c - what a watch knows by looking and by the kernel's
 * records, in whichever order they come. */
#include "measure/processes/processes_internal.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(processes_known, .timeout = 60);

#define SHELL 100
#define CHILD 101

/* Of a shell that was found at 1000. */
static void begin(measure_watch *w)
{
    *w = (measure_watch){.command = SHELL, .self = 1, .command_fd = -1};
    cr_assert_neq(measure__add_process(w, SHELL, 1, 1000), MEASURE__NONE);
}

static void end(measure_watch *w)
{
    for (size_t i = 0; i < w->result.thread_count; i++)
        free(w->result.threads[i].runs);
    free(w->result.processes);
    free(w->result.threads);
    free(w->processes);
    free(w->threads);
    measure__index_fini(w);
}

/* What the records tell of a child. */
static void tell(measure_watch *w)
{
    measure__told.began(w, CHILD, CHILD, SHELL, 2000);
    measure__told.named(w, CHILD, CHILD, "true", true, 2100);
    measure__told.ended(w, CHILD, CHILD, 2900);
    measure__told.ran(w, CHILD, CHILD, 2050, 2900, false);
}

static void check_child(const measure_watch *w)
{
    const measure_processes *seen = &w->result;
    cr_assert_eq(seen->process_count, 2, "%zu processes", seen->process_count);
    cr_assert_eq(seen->thread_count, 2, "%zu threads", seen->thread_count);
    cr_expect_str_eq(seen->processes[1].name, "true");
    cr_expect_eq(seen->processes[1].parent, SHELL);
    cr_expect_eq(seen->threads[1].start_ns, 2000);
    cr_expect_eq(seen->threads[1].end_ns, 2900);
    cr_expect_eq(seen->threads[1].run_count, 1);
}

Test(processes_known, one_that_only_records_tell_of)
{
    measure_watch w;
    begin(&w);
    tell(&w);
    check_child(&w);
    end(&w);
}

/* Its number stood among the shell's children, and when it was looked at it had
 * ended. */
Test(processes_known, one_that_ends_when_found_is_the_one_that_records_tell_of)
{
    measure_watch w;
    begin(&w);
    measure__end_process(&w, measure__add_process(&w, CHILD, SHELL, 2500));
    tell(&w);
    check_child(&w);
    end(&w);
}

Test(processes_known, one_that_ends_after_a_look_is_the_same_too)
{
    measure_watch w;
    begin(&w);
    size_t child = measure__add_process(&w, CHILD, SHELL, 2500);
    measure__add_thread(&w, CHILD, CHILD, 2500);
    tell(&w);
    measure__end_process(&w, child);
    check_child(&w);
    end(&w);
}

/* The records are read, the shell starts one and ends, and is looked at. */
Test(processes_known, one_whose_parent_has_ended_when_records_tell_of_it)
{
    measure_watch w;
    begin(&w);
    measure__end_process(&w, measure__find_process(&w, SHELL));
    tell(&w);
    check_child(&w);
    end(&w);
}

Test(processes_known, one_that_is_begun_after_the_end_is_a_stranger)
{
    measure_watch w;
    begin(&w);
    measure__told.ended(&w, SHELL, SHELL, 1500);
    measure__end_process(&w, measure__find_process(&w, SHELL));
    tell(&w);
    cr_assert_eq(w.result.process_count, 1);
    cr_assert_eq(w.result.thread_count, 1);
    end(&w);
}

Test(processes_known, who_gets_the_number_afterwards_is_another)
{
    measure_watch w;
    begin(&w);
    tell(&w);
    measure__end_process(&w, measure__find_process(&w, CHILD));
    measure__told.began(&w, CHILD, CHILD, SHELL, 4000);
    cr_assert_eq(w.result.process_count, 3);
    cr_assert_eq(w.result.thread_count, 3);
    cr_expect_eq(w.result.threads[2].start_ns, 4000);
    end(&w);
}
