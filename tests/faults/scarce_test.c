/* scarce_test.c - waiting takes nothing that can be refused: without
 * descriptors, without memory, and when poll itself fails, deadlines hold and
 * threads end. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "paths/engine/process_internal.h"
#include "paths/wrappers/wrapper.h"
#include "scopes/gather/gather_message.h"
#include "tests/support/check.h"
#include "tests/support/map_processes.h"
#include "tests/support/memory.h"

#define SHORT_MS 50

TestSuite(scarce, .timeout = 300);

/* --- what is refused --- */

static void descriptors_limit(rlim_t max)
{
    struct rlimit limit;

    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* What is open stays so, and nothing comes to it. */
static void no_more_descriptors(void)
{
    int next = open("/dev/null", O_RDONLY | O_CLOEXEC);

    close(next);
    descriptors_limit((rlim_t)next);
}

/* Fewer than poll() is asked to look at: it fails too. */
static void no_poll(void)
{
    descriptors_limit(0);
}

static void no_memory(void)
{
    memory_refuse(true);
}

static void (*const refusals[])(void) = {no_more_descriptors, no_poll,
                                         no_memory};

/* --- operations of two processes --- */

/* Nobody writes "empty"; "go" is written when h1 has joined. */
static const char *const map =
    "digraph g { subgraph cluster_h0 { t0 [kind=thread, number=0];\n"
    "p [kind=proxy]; q [kind=proxy];\n"
    "here [kind=element, type=\"u8[8]\"]; }\n"
    "subgraph cluster_h1 { t1 [kind=thread, number=1];\n"
    "empty [kind=element, type=\"u8[8]\"];\n"
    "go [kind=element, type=\"u8[8]\"]; }\n"
    "t0 -> p [as=empty, use=both]; p -> empty;\n"
    "t0 -> q [as=go, use=both]; q -> go; t0 -> here [use=both];\n"
    "t1 -> go [use=both]; }\n";

static int join(paths_thread *self, void *argument)
{
    paths_path *go;

    (void)argument;
    expect_status(paths_open(&go, self, "go"), 0);
    return paths_write(go, "joined..", 8);
}

static processes run_with(paths_main *program, void (*const *refusal)(void))
{
    union {
        void (*const *refusal)(void);
        void *argument;
    } context = {.refusal = refusal};
    const process_program programs[] = {{"t0", program, context.argument},
                                        {"t1", join, NULL},
                                        {NULL, NULL, NULL}};
    processes run = {.map_text = map, .programs = programs};

    processes_start(&run);
    return run;
}

/* Until h1 has the connections that it needs. */
static int await_h1(paths_thread *self)
{
    char joined[8];
    paths_path *go;

    expect_status(paths_open(&go, self, "go"), 0);
    return paths_read_first(go, joined, sizeof(joined));
}

static void begin_refusing(void *argument)
{
    void (**refusal)(void) = argument;
    (*refusal)();
}

static paths_arguments read_of(void *tuple, int timeout_ms)
{
    return (paths_arguments){.verb = PASTSET_READ,
                             .tuple = tuple,
                             .bytes = 8,
                             .timeout_ms = timeout_ms};
}

/* --- calls --- */

static int call(paths_thread *self, void *argument)
{
    unsigned char tuple[8];
    paths_path *empty;

    expect_status(await_h1(self), 0);
    expect_status(paths_open(&empty, self, "empty"), 0);
    begin_refusing(argument);
    for (int i = 0; i < 3; i++) {
        paths_arguments late = read_of(tuple, SHORT_MS);
        expect_status(paths_call(empty, &late), PASTSET_ETIMEDOUT);
        expect_error("the deadline passed");
    }
    memory_refuse(false);
    return 0;
}

static void calls_end(int what)
{
    processes run = run_with(call, &refusals[what]);

    processes_end_well(&run, 60);
    processes_free(&run);
}

Test(scarce, a_call_without_descriptors_ends_at_its_deadline)
{
    calls_end(0);
}

Test(scarce, a_call_ends_at_its_deadline_when_poll_fails)
{
    calls_end(1);
}

Test(scarce, a_call_without_memory_ends_at_its_deadline)
{
    calls_end(2);
}

/* --- operations that go on --- */

#define NOT_YET 1

static void note_status(paths_arguments *arguments, int status, void *context)
{
    int *noted = context;

    (void)arguments;
    *noted = status;
}

/* One there, held on another process, and one here. */
static int start(paths_thread *self, void *argument)
{
    unsigned char tuple[8], other[8];
    int status = NOT_YET, other_status = NOT_YET;
    paths_arguments late = read_of(tuple, SHORT_MS);
    paths_arguments here = read_of(other, 2 * SHORT_MS);
    paths_path *empty, *local;

    expect_status(await_h1(self), 0);
    expect_status(paths_open(&empty, self, "empty"), 0);
    expect_status(paths_open(&local, self, "here"), 0);
    expect_status(paths_start(empty, &late, note_status, &status), 0);
    expect_status(paths_start(local, &here, note_status, &other_status), 0);
    begin_refusing(argument);
    while (status == NOT_YET || other_status == NOT_YET)
        expect(paths_poll(self, PASTSET_FOREVER) > 0);
    memory_refuse(false);
    expect(status == PASTSET_ETIMEDOUT && other_status == PASTSET_ETIMEDOUT);
    return 0;
}

static void starts_end(int what)
{
    processes run = run_with(start, &refusals[what]);

    processes_end_well(&run, 60);
    processes_free(&run);
}

Test(scarce, what_was_started_without_descriptors_ends_at_its_deadline)
{
    starts_end(0);
}

Test(scarce, what_was_started_ends_at_its_deadline_when_poll_fails)
{
    starts_end(1);
}

Test(scarce, what_was_started_without_memory_ends_at_its_deadline)
{
    starts_end(2);
}

/* --- the end of a thread --- */

static int end(paths_thread *self, void *argument)
{
    static unsigned char tuple[8]; /* until it has ended */
    static paths_arguments never;
    static int status;
    paths_path *empty;

    never = read_of(tuple, PASTSET_FOREVER);
    expect_status(await_h1(self), 0);
    expect_status(paths_open(&empty, self, "empty"), 0);
    expect_status(paths_start(empty, &never, note_status, &status), 0);
    begin_refusing(argument);
    return 0;
}

static void threads_end(int what)
{
    processes run = run_with(end, &refusals[what]);

    processes_wait(&run, 60);
    cr_assert_eq(run.exit_codes[0], 1, "%d: %s", run.exit_codes[0],
                 run.results[0].text);
    check_says(run.results[0].text, "it ended with 1 operations under way");
    processes_free(&run);
}

Test(scarce, a_thread_ends_with_operations_under_way_when_poll_fails)
{
    threads_end(1);
}

Test(scarce, a_thread_without_memory_ends_with_operations_under_way)
{
    threads_end(2);
}

/* --- held operations --- */

/* Does not let go of an operation when it is first asked. */
static int asked;

static int sticky_down(paths_stage *stage, paths_operation *op, uint64_t *note)
{
    (void)stage;
    (void)op;
    (void)note;
    no_memory();
    return PATHS_HOLD;
}

static bool sticky_drop(paths_stage *stage, paths_operation *op)
{
    (void)stage;
    (void)op;
    return asked++ > 0;
}

static const paths_wrapper_type sticky = {
    .name = "sticky",
    .down = sticky_down,
    .drop = sticky_drop,
};

static int call_sticky(paths_thread *self, void *argument)
{
    unsigned char tuple[8];
    paths_arguments late = read_of(tuple, SHORT_MS);
    paths_path *path;

    (void)argument;
    expect_status(paths_open(&path, self, "here"), 0);
    expect_status(paths_call(path, &late), PASTSET_ETIMEDOUT);
    memory_refuse(false);
    expect(asked == 2);
    return 0;
}

Test(scarce, a_deadline_is_not_lost_for_want_of_memory)
{
    const process_program programs[] = {{"t0", call_sticky, NULL},
                                        {NULL, NULL, NULL}};
    processes run = {.map_text =
                         "digraph g { wrappers=sticky; subgraph cluster_h0 {\n"
                         "t0 [kind=thread, number=0]; s [kind=sticky];\n"
                         "here [kind=element, type=\"u8[8]\"]; }\n"
                         "t0 -> s [as=here, use=both]; s -> here; }\n",
                     .programs = programs};

    check_status(paths_wrapper_register(&sticky), 0);
    processes_start(&run);
    processes_end_well(&run, 60);
    processes_free(&run);
}

/* --- gathering --- */

/* A leaf that says nothing until the scope is told to stop. */
static const char *const tree =
    "digraph g { subgraph cluster_h0 { scope [kind=thread, number=0];\n"
    "p [kind=proxy]; }\n"
    "subgraph cluster_h1 { late [kind=thread, number=1];\n"
    "traces [kind=element, type=\"bytes[4096]\"]; }\n"
    "scope -> p [as=\"traces.h1\", use=both]; p -> traces;\n"
    "late -> traces [use=both]; }\n";

/* Pipes: h1 has joined, and the scope has stopped. */
static int joined[2], stopped[2];
static atomic_bool stop;

static int take_nothing(const scopes_record *record, void *context)
{
    (void)record;
    (void)context;
    return 0;
}

static int stop_now(void *context)
{
    (void)context;
    atomic_store(&stop, true);
    return write(stopped[1], "", 1) == 1 ? 0 : PASTSET_EIO;
}

static int gather(paths_thread *self, void *argument)
{
    const scopes_consumer consumer = {.record = take_nothing, .turn = stop_now};
    scopes_gatherer g = {.map = processes_here ? processes_here->map : NULL,
                         .consumer = &consumer,
                         .stop = &stop};
    paths_path *path;
    char byte;

    (void)argument;
    expect_status(paths_open(&path, self, "traces.h1"), 0);
    expect(read(joined[0], &byte, 1) == 1);
    no_more_descriptors();
    return scopes_gather_thread(self, &g);
}

static int write_late(paths_thread *self, void *argument)
{
    char tuple[4096] = {0};
    gather_writer message;
    paths_path *path;

    (void)argument;
    expect_status(paths_open(&path, self, "traces"), 0);
    expect(write(joined[1], "", 1) == 1);
    expect(read(stopped[0], tuple, 1) == 1);
    scopes__gather_begin(&message, tuple, sizeof(tuple), PATHS_NONE);
    expect_status(paths_write(path, tuple, scopes__gather_end(&message)), 0);
    return 0;
}

/* Its reads have its buffers until they are done. */
Test(scarce, a_gatherer_without_descriptors_waits_for_its_reads)
{
    const process_program programs[] = {{"scope", gather, NULL},
                                        {"late", write_late, NULL},
                                        {NULL, NULL, NULL}};
    processes run = {.map_text = tree, .programs = programs};

    cr_assert_eq(pipe(joined), 0);
    cr_assert_eq(pipe(stopped), 0);
    processes_start(&run);
    processes_end_well(&run, 60);
    processes_free(&run);
}
