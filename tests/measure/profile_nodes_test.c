/* profile_nodes_test.c - from runs of threads to phases of nodes, by hand. */
#include "measure/profiler/profiler_internal.h"
#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(profile_nodes, .timeout = 120);

#define MS 1000000ll
#define BEGAN (1000 * MS) /* on the clock of the watch */

typedef struct made {
    measure_profile_options options;
    measure_profile_notes notes;
    measure_process processes[3];
    measure_thread threads[3];
    measure_processes seen;
    measure__making m;
} made;

static measure_run run_at(int64_t from_us, int64_t to_us, bool ready)
{
    return (measure_run){.from_ns = BEGAN + from_us * 1000,
                         .to_ns = BEGAN + to_us * 1000,
                         .ready = ready};
}

/* One thread for each process; labels a, a, b. */
static void make(made *x)
{
    static const char *const labels[] = {"a", "a", "b"};
    *x = (made){.seen = {.process_count = 3,
                         .thread_count = 3,
                         .start_ns = BEGAN,
                         .end_ns = BEGAN + 1000 * MS,
                         .interval_ns = 20 * MS,
                         .exact = true}};
    for (int i = 0; i < 3; i++) {
        x->processes[i].pid = x->threads[i].pid = x->threads[i].tid = 10 + i;
        strcpy(x->processes[i].label, labels[i]);
        strcpy(x->processes[i].processors, i < 2 ? "0" : "1");
        x->processes[i].processor_count = 1;
        x->processes[i].cpu_ns = 100 * MS;
        x->threads[i].cpu_ns = 10 * MS;
        x->threads[i].start_ns = BEGAN;
        x->threads[i].end_ns = BEGAN + 900 * MS;
    }
    x->seen.processes = x->processes;
    x->seen.threads = x->threads;
    x->m.options = &x->options;
    x->m.notes = &x->notes;
    x->m.seen = &x->seen;
    x->m.profile = predict_profile_create("by hand");
    x->m.profile->wall_ns = 1000 * MS;
}

static void finish(made *x)
{
    check_status(measure__make_groups(&x->m), 0);
    check_status(measure__make_nodes(&x->m), 0);
}

static void drop(made *x)
{
    predict_profile_destroy(x->m.profile);
    measure_profile_notes_clear(&x->notes);
    free(x->m.groups);
    free(x->m.group_of);
}

static void check_phase(const predict_phase *p, int64_t start_us,
                        int64_t busy_us, int64_t idle_us)
{
    cr_expect_eq(p->start_ns, start_us * 1000);
    cr_expect_eq(p->busy_ns, busy_us * 1000);
    cr_expect_eq(p->idle_ns, idle_us * 1000);
}

Test(profile_nodes, processes_of_one_label_are_one_node)
{
    made x;
    make(&x);
    finish(&x);
    cr_assert_eq(x.m.profile->node_count, 2);
    cr_assert_str_eq(x.m.profile->nodes[0].name, "a");
    cr_assert_eq(x.m.profile->nodes[0].kernel_ns, 200 * MS);
    cr_assert_eq(x.m.profile->nodes[0].threads, 2);
    cr_assert_eq(x.m.profile->nodes[1].kernel_ns, 100 * MS);
    cr_assert_eq(x.m.profile->place_count, 2);
    drop(&x);
}

Test(profile_nodes, a_node_is_busy_while_any_of_its_threads_is)
{
    measure_run first[] = {run_at(1000, 5000, false),
                           run_at(20000, 30000, false)};
    measure_run second[] = {run_at(3000, 8000, false),
                            run_at(30003, 31000, false)};
    made x;
    make(&x);
    x.threads[0].runs = first;
    x.threads[1].runs = second;
    x.threads[0].run_count = x.threads[1].run_count = 2;
    finish(&x);
    cr_assert_eq(x.m.profile->nodes[0].phase_count, 2);
    check_phase(&x.m.profile->nodes[0].phases[0], 1000, 7000, 12000);
    /* 3 us between them are a switch; idle until its last thread ends. */
    check_phase(&x.m.profile->nodes[0].phases[1], 20000, 11000, 869000);
    cr_assert_eq(x.m.profile->nodes[1].phase_count, 0);
    drop(&x);
}

Test(profile_nodes, who_lost_the_processor_goes_on_being_busy)
{
    measure_run runs[] = {run_at(1000, 2000, true), run_at(6000, 7000, true),
                          run_at(9000, 10000, false),
                          run_at(12000, 13000, false)};
    made x;
    make(&x);
    x.threads[2].runs = runs;
    x.threads[2].run_count = 4;
    finish(&x);
    const predict_node *b = &x.m.profile->nodes[1];
    cr_assert_eq(b->phase_count, 2);
    check_phase(&b->phases[0], 1000, 9000, 2000);
    check_phase(&b->phases[1], 12000, 1000, 887000);
    drop(&x);
}

Test(profile_nodes, those_that_only_start_others_are_left_out)
{
    made x;
    make(&x);
    x.processes[2].cpu_ns = 1 * MS;
    finish(&x);
    cr_assert_eq(x.m.profile->node_count, 1);
    drop(&x);
    make(&x);
    x.processes[2].cpu_ns = 1 * MS;
    check_status(measure__make_groups(&x.m), 0);
    x.m.groups[1].messages = 1;
    check_status(measure__make_nodes(&x.m), 0);
    cr_assert_eq(x.m.profile->node_count, 2);
    drop(&x);
}

/* Two processes of one name that is also their label, and b. */
static void make_named(made *x, const char *name)
{
    make(x);
    for (int i = 0; i < 2; i++) {
        strcpy(x->processes[i].name, name);
        snprintf(x->processes[i].label, sizeof(x->processes[i].label), "%s%s",
                 name, i ? "-2" : "");
    }
    strcpy(x->processes[2].name, "b");
}

Test(profile_nodes, launchers_are_left_out_by_name)
{
    static const char *const names[] = {"mpirun", "hydra_pmi_proxy", "prted",
                                        "srun", "slurmstepd"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        made x;
        make_named(&x, names[i]);
        check_status(measure__make_groups(&x.m), 0);
        for (size_t g = 0; g < x.m.group_count; g++)
            x.m.groups[g].messages = 1;
        check_status(measure__make_nodes(&x.m), 0);
        cr_expect_eq(x.m.profile->node_count, 1, "%s", names[i]);
        cr_expect_str_eq(x.m.profile->nodes[0].name, "b");
        drop(&x);
    }
}

Test(profile_nodes, a_shell_is_left_out_if_it_has_started_something)
{
    made x;
    make_named(&x, "sh");
    x.processes[2].parent = x.processes[0].pid;
    finish(&x);
    cr_assert_eq(x.m.profile->node_count, 2);
    cr_expect_str_eq(x.m.profile->nodes[0].name, "b");
    cr_expect_str_eq(x.m.profile->nodes[1].name, "sh-2");
    drop(&x);
}

Test(profile_nodes, a_rank_is_none_that_only_starts_others)
{
    made x;
    make_named(&x, "sh");
    strcpy(x.processes[0].label, "rank0");
    x.processes[2].parent = x.processes[0].pid;
    finish(&x);
    cr_assert_eq(x.m.profile->node_count, 3);
    drop(&x);
}

/* --- which run --- */

static const char *run_of(const char *line)
{
    static char copy[200], *words[20];
    size_t count = 0;

    snprintf(copy, sizeof(copy), "%s", line);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
        words[count++] = word;
    words[count] = NULL;
    return measure__find_run(words);
}

Test(profile_nodes, the_run_is_that_of_the_command)
{
    cr_expect_str_eq(run_of("eventspace run map.dot --output=R -- app"), "R");
    cr_expect_str_eq(run_of("bin/eventspace run --mpi 4 -oR -- app"), "R");
    cr_expect_str_eq(run_of("mpirun -n 4 eventspace mpi --output R -- app"),
                     "R");
    cr_expect_str_eq(run_of("srun -n 4 /x/eventspace mpi -o R ./app -o S"),
                     "R");
    cr_expect_null(run_of("mpirun -n 4 app --output R"));
    cr_expect_null(run_of("mpirun -n 4 eventspace mpi -- app --output R"));
    cr_expect_null(run_of("eventspace"));
}

Test(profile_nodes, methods_that_differ_are_told_with_both_numbers)
{
    made x;
    make(&x);
    x.threads[2].samples = 1000;
    x.threads[2].running = 500; /* 10 s */
    x.threads[2].cpu_ns = 7000 * MS;
    x.threads[2].waited_ns = 1000 * MS;
    finish(&x);
    measure__compare(&x.m);
    cr_assert_eq(x.notes.text_count, 1);
    check_says(x.notes.texts[0], "b: busy or ready for 10.000 s");
    check_says(x.notes.texts[0], "8.000 s");
    drop(&x);
}

Test(profile_nodes, methods_that_agree_are_not_mentioned)
{
    made x;
    make(&x);
    x.threads[2].samples = 1000;
    x.threads[2].running = 500;
    x.threads[2].cpu_ns = 9700 * MS; /* 3 % */
    finish(&x);
    measure__compare(&x.m);
    cr_assert_eq(x.notes.text_count, 0);
    drop(&x);
}

Test(profile_nodes, chance_alone_is_not_a_difference)
{
    made x;
    make(&x);
    x.threads[2].samples = 25;
    x.threads[2].running = 10; /* 0.2 s; of 25 samples 5 more or less */
    x.threads[2].cpu_ns = 130 * MS;
    finish(&x);
    measure__compare(&x.m);
    cr_assert_eq(x.notes.text_count, 0);
    drop(&x);
}
