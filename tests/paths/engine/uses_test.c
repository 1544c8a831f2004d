/* uses_test.c - `use=` of the map: who may read cannot write, and the other way
 * round, here and over the wire. */
#include <string.h>

#include "paths/wrappers/wrapper.h"
#include "tests/support/check.h"
#include "tests/support/map_processes.h"
#include "tests/support/command.h"

static processes run;

static void runs_well(const char *map, const process_program *programs)
{
    run = (processes){.map_text = map, .programs = programs};
    processes_start(&run);
    processes_end_well(&run, 60);
    processes_free(&run);
}

TestSuite(uses, .timeout = 300);

/* Both threads have a path of each use: t0 here, t1 from the other process. */
static const char *const map =
    "digraph g { subgraph cluster_h0 {\n"
    "e [kind=element, type=i32, capacity=4]; done [kind=element, type=i32];\n"
    "t0 [kind=thread, number=0]; }\n"
    "subgraph cluster_h1 { t1 [kind=thread, number=1];\n"
    "p [kind=proxy]; q [kind=proxy]; r [kind=proxy]; d [kind=proxy]; }\n"
    "t0 -> e [as=reads, use=read]; t0 -> e [as=writes, use=write];\n"
    "t0 -> e [as=both, use=both]; t0 -> e [as=any]; t0 -> done;\n"
    "t1 -> p [as=reads, use=read]; p -> e;\n"
    "t1 -> q [as=writes, use=write]; q -> e;\n"
    "t1 -> r [as=both, use=both]; r -> e; t1 -> d [as=done]; d -> done; }\n";

/* Each verb that brings a tuple, without waiting for one. */
static int read_all(paths_path *path, int expected)
{
    int32_t value;

    for (pastset_verb verb = PASTSET_READ; verb <= PASTSET_TAKE; verb++) {
        int32_t zero = 0;
        pastset_pattern pattern = {
            .fields = 1, .values = &zero, .bytes = sizeof(zero)};
        paths_arguments a = {.verb = verb,
                             .tuple = &value,
                             .bytes = sizeof(value),
                             .index = 1000,
                             .pattern = &pattern,
                             .timeout_ms = PASTSET_NOWAIT};
        expect_status(paths_call(path, &a), expected);
    }
    return 0;
}

static int only_reads(paths_thread *self, const char *name)
{
    int32_t value = 7, back;
    paths_path *path;

    expect_status(paths_open(&path, self, name), 0);
    expect_status(paths_write(path, &value, sizeof(value)), PASTSET_EPERM);
    expect_error("use=read");
    expect_error(paths_thread_name(self));
    expect_error("element \"e\"");
    expect_status(
        paths_exchange(path, &value, sizeof(value), &back, sizeof(back)),
        PASTSET_EPERM);
    expect_error("for a sum of all threads, use=sum");
    expect_status(paths_barrier(path), PASTSET_EPERM);
    return read_all(path, PASTSET_EAGAIN);
}

static int only_writes(paths_thread *self, const char *name)
{
    int32_t value = 7, back = 0;
    paths_path *path;
    int err;

    expect_status(paths_open(&path, self, name), 0);
    err = read_all(path, PASTSET_EPERM);
    expect_error("use=write");
    expect_status(paths_write(path, &value, sizeof(value)), 0);
    expect_status(paths_write(path, &value, sizeof(value)), 0);
    expect_status(
        paths_exchange(path, &value, sizeof(value), &back, sizeof(back)),
        PASTSET_EPERM);
    expect_error("nothing on this path brings anything back");
    expect(back == 0);
    return err;
}

/* Takes out what only_writes has left: two, and no more. */
static int both(paths_thread *self, const char *name)
{
    int32_t value;
    paths_path *path;

    expect_status(paths_open(&path, self, name), 0);
    for (int i = 0; i < 2; i++) {
        expect_status(paths_observe(path, &value, sizeof(value)), 0);
        expect(value == 7);
    }
    return read_all(path, PASTSET_EAGAIN);
}

static int all(paths_thread *self)
{
    int err = only_reads(self, "reads");

    if (!err)
        err = only_writes(self, "writes");
    return err ? err : both(self, "both");
}

/* One after the other, since both look at what is left. */
static int first(paths_thread *self, void *argument)
{
    int32_t value = 1;
    paths_path *any, *done;
    int err = all(self);

    (void)argument;
    expect_status(paths_open(&any, self, "any"), 0);
    expect_status(
        paths_exchange(any, &value, sizeof(value), &value, sizeof(value)),
        PASTSET_EPERM);
    expect_status(paths_write(any, &value, sizeof(value)), 0);
    expect_status(paths_observe(any, &value, sizeof(value)), 0);
    expect_status(paths_open(&done, self, "done"), 0);
    expect_status(paths_write(done, &value, sizeof(value)), 0);
    return err;
}

static int second(paths_thread *self, void *argument)
{
    int32_t value;
    paths_path *done;

    (void)argument;
    expect_status(paths_open(&done, self, "done"), 0);
    expect_status(paths_observe(done, &value, sizeof(value)), 0);
    return all(self);
}

Test(uses, are_what_a_path_allows)
{
    static const process_program programs[] = {
        {"t0", first, NULL}, {"t1", second, NULL}, {NULL, NULL, NULL}};

    runs_well(map, programs);
}

/* --- exchanges --- */

/* What a collective gives, a wrapper of the program can as well: t0's own. The
 * delay and the proxy of t1's path bring nothing back. */
static const char *const answering =
    "digraph g { wrappers=half; subgraph cluster_h0 {\n"
    "e [kind=element, type=i32, policy=discard];\n"
    "t0 [kind=thread, number=0]; halves [kind=half]; }\n"
    "subgraph cluster_h1 { t1 [kind=thread, number=1];\n"
    "d [kind=delay, latency=\"1us\"]; p [kind=proxy]; }\n"
    "t0 -> halves [as=half]; halves -> e; t0 -> e [as=plain];\n"
    "t1 -> d [as=plain]; d -> p; p -> e; }\n";

static int half_up(paths_stage *stage, paths_operation *op, uint64_t *note)
{
    (void)stage;
    (void)note;
    if (op->verb == PASTSET_EXCHANGE && op->status == 0)
        *(int32_t *)op->result /= 2;
    return PATHS_PASS;
}

static const char *const no_attributes[] = {NULL};
static const paths_wrapper_type half_type = {
    .name = "half", .attributes = no_attributes, .up = half_up};

static int exchanges(paths_thread *self, void *argument)
{
    int32_t value = 8, back = 0;
    paths_path *path;

    (void)argument;
    expect_status(paths_open(&path, self, "plain"), 0);
    expect_status(
        paths_exchange(path, &value, sizeof(value), &back, sizeof(back)),
        PASTSET_EPERM);
    expect_error("[use=sum] in the application mapping, and generate");
    if (paths_thread_number(self) == 1)
        return 0;
    expect_status(paths_open(&path, self, "half"), 0);
    expect_status(
        paths_exchange(path, &value, sizeof(value), &back, sizeof(back)), 0);
    expect(back == 4);
    return 0;
}

Test(uses, let_an_exchange_go_where_something_can_answer_it)
{
    static const process_program programs[] = {{"*", exchanges, NULL},
                                               {NULL, NULL, NULL}};

    cr_assert_eq(paths_wrapper_register(&half_type), 0);
    runs_well(answering, programs);
}

/* --- operations that are started --- */

static void never(paths_arguments *arguments, int status, void *context)
{
    (void)arguments;
    (void)status;
    ++*(int *)context;
}

static int starts(paths_thread *self, void *argument)
{
    int32_t value = 3;
    int called = 0;
    paths_arguments write = {.verb = PASTSET_WRITE,
                             .tuple = &value,
                             .bytes = sizeof(value),
                             .timeout_ms = PASTSET_FOREVER};
    paths_path *path;

    (void)argument;
    expect_status(paths_open(&path, self, "reads"), 0);
    expect_status(paths_start(path, &write, never, &called), PASTSET_EPERM);
    expect_error("use=read");
    expect(paths_poll(self, PASTSET_NOWAIT) == 0);
    expect(called == 0);
    return 0;
}

Test(uses, are_what_may_be_started)
{
    static const process_program programs[] = {{"*", starts, NULL},
                                               {NULL, NULL, NULL}};

    runs_well(map, programs);
}

/* --- collectives --- */

/* t0 alone brings a tuple, and t1 and t2 get it; over another process. */
static const char *const spread =
    "digraph g { subgraph cluster_h0 {\n"
    "e [kind=element, type=i32, policy=discard]; b [kind=broadcast];\n"
    "t0 [kind=thread, number=0]; t1 [kind=thread, number=1]; }\n"
    "subgraph cluster_h1 { t2 [kind=thread, number=2]; p [kind=proxy];\n"
    "s [kind=sum]; t3 [kind=thread, number=3]; q [kind=proxy];\n"
    "f [kind=element, type=i32, policy=discard]; }\n"
    "subgraph cluster_h2 { t4 [kind=thread, number=4]; r [kind=proxy]; }\n"
    "t0 -> b [as=e, use=write]; t1 -> b [as=e, use=read];\n"
    "t2 -> p [as=e, use=read]; p -> b; b -> e;\n"
    "t3 -> s [as=f, use=sum]; t4 -> r [as=f, use=sum]; r -> s; s -> f;\n"
    "t3 -> q [as=e]; q -> b; }\n";

static int spreads(paths_thread *self, void *argument)
{
    int32_t value = 5;
    paths_path *path;

    (void)argument;
    if (paths_thread_number(self) >= 3) {
        expect_status(paths_open(&path, self, "f"), 0);
        for (int i = 0; i < 10; i++) {
            int32_t one = 1, sum;
            expect_status(
                paths_exchange(path, &one, sizeof(one), &sum, sizeof(sum)), 0);
            expect(sum == 2);
        }
        if (paths_thread_number(self) == 4)
            return 0;
    }
    expect_status(paths_open(&path, self, "e"), 0);
    for (int32_t i = 0; i < 10; i++) {
        if (paths_thread_number(self) == 0) {
            expect_status(paths_write(path, &i, sizeof(i)), 0);
            continue;
        }
        expect_status(paths_read_last(path, &value, sizeof(value)), 0);
        expect(value == i);
    }
    return 0;
}

Test(uses, let_a_round_go_on_for_those_who_bring_and_those_who_get)
{
    static const process_program programs[] = {{"*", spreads, NULL},
                                               {NULL, NULL, NULL}};

    runs_well(spread, programs);
}
