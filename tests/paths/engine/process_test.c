/* process_test.c - processes of a map as real processes: what a thread sees of
 * an element is the same wherever that is, and whatever stands on the way. */
#include "paths/engine/process.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pastset/waiter.h"
#include "tests/paths/wrappers/wrappers.h"
#include "tests/support/check.h"
#include "tests/support/map_processes.h"
#include "tests/support/command.h"
#include "pastset/element.h"

/* Declared before their tests: the counters that the wrappers share. */
static wrapper_counts *counts;

static void prepare(void)
{
    counts = shared_memory(sizeof(*counts));
    wrappers_register();
}

TestSuite(process, .init = prepare, .timeout = 300);

static void run_well(const char *map, const process_program *programs)
{
    processes h = {.map_text = map,
                   .programs = programs,
                   .contexts = wrappers_contexts(counts)};

    processes_start(&h);
    processes_end_well(&h, 60);
    processes_free(&h);
}

static int idle(paths_thread *self, void *argument)
{
    (void)self;
    (void)argument;
    return 0;
}

/* --- the same results, wherever the element is --- */

#define JOURNAL_BYTES 16384

typedef struct journal {
    size_t used;
    char text[JOURNAL_BYTES];
} journal;

typedef struct row {
    int32_t a;
    uint32_t b;
} row;

static void note_call(journal *j, const char *what, int status,
                      const paths_arguments *arguments, const void *tuple,
                      size_t shown)
{
    int more = snprintf(j->text + j->used, sizeof(j->text) - j->used, "%s: %s",
                        what, pastset_status_name(status));
    j->used += (size_t)more;
    if (status == 0) {
        j->used += (size_t)snprintf(
            j->text + j->used, sizeof(j->text) - j->used,
            " index %llu, %zu:", (unsigned long long)arguments->index,
            arguments->bytes);
        for (size_t i = 0; tuple && i < shown && i < arguments->bytes; i++)
            j->used +=
                (size_t)snprintf(j->text + j->used, sizeof(j->text) - j->used,
                                 " %02x", ((const unsigned char *)tuple)[i]);
    }
    j->used +=
        (size_t)snprintf(j->text + j->used, sizeof(j->text) - j->used, "\n");
}

/* One call on a path, written down. */
static int call(journal *j, paths_path *path, pastset_verb verb, uint64_t index,
                const pastset_pattern *pattern, size_t bytes,
                const void *written, int timeout_ms)
{
    unsigned char tuple[64] = {0};
    paths_arguments arguments = {.verb = verb,
                                 .tuple = tuple,
                                 .bytes = bytes,
                                 .index = index,
                                 .pattern = pattern,
                                 .timeout_ms = timeout_ms};
    char what[80];
    int status;

    if (written)
        memcpy(tuple, written, bytes);
    status = paths_call(path, &arguments);
    snprintf(what, sizeof(what), "%s %s(%llu) of %zu, %d ms",
             pastset_verb_name(verb), strrchr(paths_describe(path), '>') + 2,
             (unsigned long long)index, bytes, timeout_ms);
    /* Which process it is on is not of interest here. */
    if (strstr(what, " on "))
        memmove(strstr(what, " on "), strstr(what, "("),
                strlen(strstr(what, "(")) + 1);
    note_call(j, what, status, &arguments, tuple, sizeof(tuple));
    return status;
}

static int script_block(journal *j, paths_path *e)
{
    pastset_pattern b7 = {.fields = 2, .values = &(row){0, 7}, .bytes = 8};
    pastset_pattern b9 = {.fields = 2, .values = &(row){0, 9}, .bytes = 8};

    for (int i = 0; i < 4; i++)
        call(j, e, PASTSET_WRITE, 0, NULL, sizeof(row),
             &(row){i, 5u + (uint32_t)i}, PASTSET_FOREVER);
    call(j, e, PASTSET_WRITE, 0, NULL, sizeof(row), &(row){4, 4}, 0);
    call(j, e, PASTSET_WRITE, 0, NULL, sizeof(row), &(row){4, 4}, 20);
    call(j, e, PASTSET_WRITE, 0, NULL, 7, "1234567", PASTSET_FOREVER);
    call(j, e, PASTSET_WRITE, 0, NULL, 33, "123456789012345678901234567890123",
         PASTSET_FOREVER);
    call(j, e, PASTSET_READ, 0, NULL, 64, NULL, PASTSET_FOREVER);
    call(j, e, PASTSET_READ, 3, NULL, 8, NULL, PASTSET_FOREVER);
    call(j, e, PASTSET_READ, 3, NULL, 7, NULL, PASTSET_FOREVER);
    call(j, e, PASTSET_READ, 4, NULL, 8, NULL, 0);
    call(j, e, PASTSET_READ, 4, NULL, 8, NULL, 20);
    call(j, e, PASTSET_READ_FIRST, 0, NULL, 8, NULL, PASTSET_FOREVER);
    call(j, e, PASTSET_READ_LAST, 0, NULL, 8, NULL, 0);
    call(j, e, PASTSET_READ_MATCH, 0, &b7, 8, NULL, PASTSET_FOREVER);
    call(j, e, PASTSET_READ_MATCH, 0, &b9, 8, NULL, 0);
    call(j, e, PASTSET_READ_MATCH, 0, &b9, 8, NULL, 20);
    call(j, e, PASTSET_OBSERVE, 0, NULL, 8, NULL, PASTSET_FOREVER);
    call(j, e, PASTSET_READ, 0, NULL, 8, NULL, PASTSET_FOREVER);
    call(j, e, PASTSET_TAKE, 0, &b7, 8, NULL, PASTSET_FOREVER);
    call(j, e, PASTSET_TAKE, 0, &b7, 8, NULL, 0);
    call(j, e, PASTSET_OBSERVE, 0, NULL, 8, NULL, PASTSET_FOREVER);
    call(j, e, PASTSET_TAKE, 0, NULL, 8, NULL, PASTSET_FOREVER);
    call(j, e, PASTSET_TAKE, 0, NULL, 8, NULL, 0);
    call(j, e, PASTSET_OBSERVE, 0, NULL, 8, NULL, 10);
    call(j, e, PASTSET_READ_LAST, 0, NULL, 8, NULL, 10);
    return call(j, e, PASTSET_WRITE, 0, NULL, 8, &(row){9, 9}, 0);
}

static int script_others(journal *j, paths_thread *self)
{
    paths_path *discard, *grow, *bytes;
    uint64_t read, lost;

    expect_status(paths_open(&discard, self, "discard"), 0);
    expect_status(paths_open(&grow, self, "grow"), 0);
    expect_status(paths_open(&bytes, self, "bytes"), 0);
    for (int i = 0; i < 5; i++)
        call(j, discard, PASTSET_WRITE, 0, NULL, 4, &i, 0);
    call(j, discard, PASTSET_READ, 0, NULL, 4, NULL, PASTSET_FOREVER);
    for (int i = 0; i < 3; i++)
        call(j, discard, PASTSET_READ_NEXT, 0, NULL, 4, NULL, 0);
    call(j, discard, PASTSET_READ_NEXT, 0, NULL, 4, NULL, 0);
    paths_reader_ledger(discard, &read, &lost);
    expect(read == 3 && lost == 2);
    for (int i = 0; i < 3; i++)
        call(j, grow, PASTSET_WRITE, 0, NULL, 4, &i, PASTSET_FOREVER);
    call(j, bytes, PASTSET_WRITE, 0, NULL, 0, "", 0);
    call(j, bytes, PASTSET_WRITE, 0, NULL, 11, "eleven byte", 0);
    call(j, bytes, PASTSET_WRITE, 0, NULL, 17, "seventeen bytes !", 0);
    call(j, bytes, PASTSET_OBSERVE, 0, NULL, 0, NULL, 0);
    call(j, bytes, PASTSET_OBSERVE, 0, NULL, 10, NULL, 0);
    call(j, bytes, PASTSET_OBSERVE, 0, NULL, 16, NULL, 0);
    call(j, bytes, PASTSET_READ_NEXT, 0, NULL, 16, NULL, 0);
    return 0;
}

static int script(paths_thread *self, void *argument)
{
    journal *j = argument;
    paths_path *block, *none;

    expect_status(paths_open(&none, self, "none"), PASTSET_ENOENT);
    expect_error("none");
    expect_status(paths_open(&block, self, "block"), 0);
    expect_status(script_block(j, block), 0);
    return script_others(j, self);
}

/* The elements on `h0`, and thread t0 on a process of its own unless `here`. */
#define ELEMENTS                                                               \
    "block [kind=element, type=\"i32 u32\", capacity=4];\n"                    \
    "discard [kind=element, type=i32, capacity=3, policy=discard];\n"          \
    "grow [kind=element, type=i32, capacity=2, policy=grow];\n"                \
    "bytes [kind=element, type=\"bytes[16]\", capacity=4];\n"
#define THREAD "t0 [kind=thread, number=0];\n"

static const char *const local_map =
    "digraph g { subgraph cluster_h0 {\n" ELEMENTS THREAD "}\n"
    "t0 -> block [use=both]; t0 -> discard [use=both];\n"
    "t0 -> grow [use=both]; t0 -> bytes [use=both]; }\n";

static const char *const remote_map =
    "digraph g { subgraph cluster_h0 {\n" ELEMENTS "}\n"
    "subgraph cluster_h1 {\n" THREAD
    "p0 [kind=proxy]; p1 [kind=proxy]; p2 [kind=proxy]; p3 [kind=proxy]; }\n"
    "t0 -> p0 [use=both]; p0 -> block;\n"
    "t0 -> p1 [use=both]; p1 -> discard;\n"
    "t0 -> p2 [use=both]; p2 -> grow;\n"
    "t0 -> p3 [use=both]; p3 -> bytes; }\n";

static const char *const polling_map =
    "digraph g { subgraph cluster_h0 { polling=true;\n" ELEMENTS "}\n"
    "subgraph cluster_h1 { polling=true;\n" THREAD
    "p0 [kind=proxy]; p1 [kind=proxy]; p2 [kind=proxy]; p3 [kind=proxy]; }\n"
    "t0 -> p0 [use=both]; p0 -> block;\n"
    "t0 -> p1 [use=both]; p1 -> discard;\n"
    "t0 -> p2 [use=both]; p2 -> grow;\n"
    "t0 -> p3 [use=both]; p3 -> bytes; }\n";

/* Delays on the thread's process, on the way, and before the element. */
static const char *const hops_map =
    "digraph g { subgraph cluster_h0 {\n" ELEMENTS
    "d3 [kind=delay, latency=\"1ms\"]; }\n"
    "subgraph cluster_h1 {\n" THREAD "d0 [kind=delay, latency=\"1ms\"];\n"
    "p0 [kind=proxy]; p1 [kind=proxy]; p2 [kind=proxy]; p3 [kind=proxy]; }\n"
    "subgraph cluster_h2 {\n"
    "d1 [kind=delay, latency=\"1ms\", bandwidth=\"1MB\"];\n"
    "q0 [kind=proxy]; q1 [kind=proxy]; q2 [kind=proxy]; }\n"
    "t0 -> d0 [use=both]; d0 -> p0; p0 -> q0; q0 -> block;\n"
    "t0 -> p1 [use=both]; p1 -> d1; d1 -> q1; q1 -> discard;\n"
    "t0 -> p2 [use=both]; p2 -> q2; q2 -> grow;\n"
    "t0 -> p3 [use=both]; p3 -> d3; d3 -> bytes; }\n";

static journal *script_run(const char *map)
{
    journal *j = shared_memory(sizeof(*j));
    process_program programs[] = {{"t0", script, j}, {NULL, NULL, NULL}};

    run_well(map, programs);
    cr_assert_gt(j->used, 1000);
    return j;
}

static void check_same(const char *map)
{
    journal *local = script_run(local_map), *other = script_run(map);
    cr_expect_str_eq(other->text, local->text, "here:\n%s\nthere:\n%s",
                     local->text, other->text);
}

Test(process, gives_remote_operations_the_results_of_local_ones)
{
    check_same(remote_map);
}

Test(process, gives_the_same_results_while_it_polls)
{
    check_same(polling_map);
}

Test(process, gives_the_same_results_over_two_hops_and_delays)
{
    check_same(hops_map);
}

/* --- operations that are started --- */

#define MANY 200

/* e is on h0; w0 and r0 are with it, w1 and r1 on h1. */
static const char *const pipe_map =
    "digraph g { subgraph cluster_h0 {\n"
    "e [kind=element, type=i32, capacity=1000];\n"
    "f [kind=element, type=i32, capacity=1000];\n"
    "go [kind=element, type=i32];\n"
    "t0 [kind=thread, number=0]; }\n"
    "subgraph cluster_h1 {\n"
    "t1 [kind=thread, number=1];\n"
    "pe [kind=proxy]; pf [kind=proxy]; pg [kind=proxy]; }\n"
    "t0 -> e [use=both]; t0 -> f [use=both]; t0 -> go [use=both];\n"
    "t1 -> pe [use=both]; pe -> e; t1 -> pf [use=both]; pf -> f;\n"
    "t1 -> pg [use=both]; pg -> go; }\n";

typedef struct started {
    paths_arguments arguments;
    int32_t value;
    int status;
    int calls;
} started;

static void done(paths_arguments *arguments, int status, void *context)
{
    started *s = context;
    (void)arguments;
    s->status = status;
    s->calls++;
}

static int start_read_by(paths_path *path, started *s, uint64_t index,
                         int timeout_ms, paths_done *by)
{
    memset(s, 0, sizeof(*s));
    s->arguments = (paths_arguments){.verb = PASTSET_READ,
                                     .tuple = &s->value,
                                     .bytes = sizeof(s->value),
                                     .index = index,
                                     .timeout_ms = timeout_ms};
    return paths_start(path, &s->arguments, by, s);
}

static int start_read(paths_path *path, started *s, uint64_t index,
                      int timeout_ms)
{
    return start_read_by(path, s, index, timeout_ms, done);
}

/* Until `count` have been called back; polls so if `timeout_ms` says so. */
static int poll_until(paths_thread *self, int count, int timeout_ms)
{
    int seen = 0;

    while (seen < count) {
        int some = paths_poll(self, timeout_ms);
        expect(some >= 0);
        seen += some;
    }
    expect(seen == count);
    expect(paths_poll(self, PASTSET_NOWAIT) == 0);
    return 0;
}

/* Starts reads of what is not there, in any order, of both elements; says go;
 * and gets them all. `argument`: how it polls. */
static int read_ahead(paths_thread *self, void *argument)
{
    int timeout_ms = *(int *)argument;
    started *reads = calloc(2 * MANY, sizeof(*reads));
    paths_path *e, *f, *go;
    int32_t zero = 0;

    expect_status(paths_open(&e, self, "e"), 0);
    expect_status(paths_open(&f, self, "f"), 0);
    expect_status(paths_open(&go, self, "go"), 0);
    for (uint64_t i = 0; i < MANY; i++) {
        expect_status(
            start_read(e, &reads[2 * i], i * 77 % MANY, PASTSET_FOREVER), 0);
        expect_status(start_read(f, &reads[2 * i + 1], i * 33 % MANY,
                                 i % 2 ? PASTSET_FOREVER : 100000),
                      0);
    }
    expect_status(paths_write(go, &zero, sizeof(zero)), 0);
    expect_status(poll_until(self, 2 * MANY, timeout_ms), 0);
    for (uint64_t i = 0; i < 2 * MANY; i++) {
        const started *s = &reads[i];
        expect(s->calls == 1 && s->status == 0);
        expect(s->value == (int32_t)(s->arguments.index + i % 2));
        expect(s->arguments.index == (i % 2 ? i / 2 * 33 : i / 2 * 77) % MANY);
    }
    free(reads);
    return 0;
}

static int write_behind(paths_thread *self, void *argument)
{
    paths_path *e, *f, *go;
    int32_t zero;

    (void)argument;
    expect_status(paths_open(&e, self, "e"), 0);
    expect_status(paths_open(&f, self, "f"), 0);
    expect_status(paths_open(&go, self, "go"), 0);
    expect_status(paths_observe(go, &zero, sizeof(zero)), 0);
    for (int32_t i = 0; i < MANY; i++) {
        int32_t more = i + 1;
        expect_status(paths_write(e, &i, sizeof(i)), 0);
        expect_status(paths_write(f, &more, sizeof(more)), 0);
    }
    return 0;
}

static void check_read_ahead(const char *reader, const char *writer,
                             int timeout_ms)
{
    process_program programs[] = {{reader, read_ahead, &timeout_ms},
                                  {writer, write_behind, NULL},
                                  {NULL, NULL, NULL}};
    run_well(pipe_map, programs);
}

Test(process, completes_started_operations_of_a_local_thread)
{
    check_read_ahead("t0", "t1", PASTSET_FOREVER);
}

Test(process, completes_started_operations_of_a_remote_thread)
{
    check_read_ahead("t1", "t0", PASTSET_FOREVER);
}

Test(process, completes_started_operations_for_who_polls_without_waiting)
{
    check_read_ahead("t0", "t1", PASTSET_NOWAIT);
    check_read_ahead("t1", "t0", PASTSET_NOWAIT);
}

/* The thread's own write completes its read, and something else goes on in
 * between. */
static int both_ends(paths_thread *self, void *argument)
{
    paths_path *e, *f;
    started read, late;
    int32_t value = 5;

    (void)argument;
    expect_status(paths_open(&e, self, "e"), 0);
    expect_status(paths_open(&f, self, "f"), 0);
    expect_status(start_read(e, &read, 0, PASTSET_FOREVER), 0);
    expect(paths_poll(self, PASTSET_NOWAIT) == 0);
    /* Not before: its deadline may pass between two lines. */
    expect_status(start_read(e, &late, 2, 30), 0);
    expect_status(paths_write(f, &value, sizeof(value)), 0);
    expect_status(paths_read(f, 0, &value, sizeof(value)), 0);
    expect_status(paths_write(e, &value, sizeof(value)), 0);
    expect(poll_until(self, 2, PASTSET_FOREVER) == 0);
    expect(read.status == 0 && read.value == 5);
    expect(late.status == PASTSET_ETIMEDOUT);
    return 0;
}

Test(process, completes_what_the_same_thread_has_started)
{
    process_program local[] = {
        {"t0", both_ends, NULL}, {"t1", idle, NULL}, {NULL, NULL, NULL}};
    process_program remote[] = {
        {"t1", both_ends, NULL}, {"t0", idle, NULL}, {NULL, NULL, NULL}};

    run_well(pipe_map, local);
    run_well(pipe_map, remote);
}

static const char *const beside_map =
    "digraph g { subgraph cluster_h0 { t0 [kind=thread, number=0]; "
    "e [kind=element, type=i32]; }\n"
    "subgraph cluster_h1 { t1 [kind=thread, number=1]; "
    "f [kind=element, type=i32]; e_far [kind=proxy]; }\n"
    "t0 -> e [use=write, as=e]; t1 -> e_far [use=read, as=e]; e_far -> e; "
    "t1 -> f [use=both, as=f]; }";

static int write_one(paths_thread *self, void *argument)
{
    paths_path *e;
    int32_t value = 7;

    (void)argument;
    expect_status(paths_open(&e, self, "e"), 0);
    return paths_write(e, &value, sizeof(value));
}

/* It always has a local read that is complete when it polls. */
static int read_both(paths_thread *self, void *argument)
{
    paths_path *e, *f;
    started far, late, near;
    int32_t value = 5;

    (void)argument;
    expect_status(paths_open(&e, self, "e"), 0);
    expect_status(paths_open(&f, self, "f"), 0);
    expect_status(paths_write(f, &value, sizeof(value)), 0);
    expect_status(start_read(e, &far, 0, PASTSET_FOREVER), 0);
    expect_status(start_read(e, &late, 1, 30), 0);
    while (!far.calls || !late.calls) {
        expect_status(start_read(f, &near, 0, PASTSET_FOREVER), 0);
        expect(paths_poll(self, PASTSET_FOREVER) >= 1);
        expect(near.calls == 1 && near.value == 5);
    }
    expect(far.status == 0 && far.value == 7);
    expect(late.status == PASTSET_ETIMEDOUT);
    return 0;
}

Test(process, completes_remote_operations_beside_local_ones_without_end)
{
    process_program programs[] = {
        {"t0", write_one, NULL}, {"t1", read_both, NULL}, {NULL, NULL, NULL}};

    run_well(beside_map, programs);
}

static int return_early(paths_thread *self, void *argument)
{
    static started read;
    paths_path *e;

    (void)argument;
    expect_status(paths_open(&e, self, "e"), 0);
    return start_read(e, &read, 0, PASTSET_FOREVER);
}

Test(process, fails_when_a_thread_leaves_operations_behind)
{
    process_program programs[] = {{"*", return_early, NULL},
                                  {NULL, NULL, NULL}};
    processes h = {.map_text = pipe_map, .programs = programs};

    processes_start(&h);
    processes_wait(&h, 20);
    cr_expect_eq(h.exit_codes[0], 1);
    cr_expect_eq(h.exit_codes[1], 1);
    check_says(h.results[0].text, "1 operations under way");
    processes_free(&h);
}

Test(process, says_which_element_is_too_large_and_does_not_run)
{
    process_program programs[] = {{"*", idle, NULL}, {NULL, NULL, NULL}};
    processes h = {
        .map_text =
            "digraph g { subgraph cluster_h0 { "
            "t0 [kind=thread, number=0]; fits [kind=element, type=i32]; "
            "huge [kind=element, type=i32, capacity=1000000000000000000]; }\n"
            "t0 -> fits [use=both]; t0 -> huge [use=both]; }",
        .programs = programs};

    processes_start(&h);
    processes_wait(&h, 20);
    cr_expect_eq(h.exit_codes[0], 1);
    cr_expect_eq(h.results[0].status, PASTSET_ENOSPC, "%s",
                 pastset_status_name(h.results[0].status));
    check_says(h.results[0].text, "\"huge\"");
    check_says(h.results[0].text, "tuples are too many");
    processes_free(&h);
}

/* --- deadlines --- */

static int deadlines(paths_thread *self, void *argument)
{
    paths_path *e;
    int32_t value = 0;
    paths_arguments read = {
        .verb = PASTSET_READ, .tuple = &value, .bytes = sizeof(value)};

    (void)argument;
    expect_status(paths_open(&e, self, "e"), 0);
    for (int32_t i = 0; i < 10; i++) {
        int64_t before = pastset_now_ns();
        read.index = (uint64_t)i;
        read.bytes = sizeof(value);
        read.timeout_ms = 25;
        expect_status(paths_call(e, &read), PASTSET_ETIMEDOUT);
        expect_error("read over path \"e\"");
        expect(pastset_now_ns() - before >= 25000000);
        /* What is there may take its time to come. */
        expect_status(paths_write(e, &i, sizeof(i)), 0);
        read.timeout_ms = PASTSET_FOREVER;
        read.bytes = sizeof(value);
        expect_status(paths_call(e, &read), 0);
        expect(value == i);
    }
    return 0;
}

Test(process, ends_operations_at_their_deadline_here_and_there)
{
    process_program local[] = {
        {"t0", deadlines, NULL}, {"t1", idle, NULL}, {NULL, NULL, NULL}};
    process_program remote[] = {
        {"t1", deadlines, NULL}, {"t0", idle, NULL}, {NULL, NULL, NULL}};

    run_well(pipe_map, local);
    run_well(pipe_map, remote);
}

/* --- delays --- */

static const char *const delay_map =
    "digraph g { subgraph cluster_h0 {\n"
    "e [kind=element, type=i32]; d1 [kind=delay, latency=\"50ms\"]; }\n"
    "subgraph cluster_h1 { t0 [kind=thread, number=0];\n"
    "p [kind=proxy]; p1 [kind=proxy]; q [kind=proxy];\n"
    "d0 [kind=delay, latency=\"50ms\"]; }\n"
    "t0 -> d0 [as=near, use=both]; d0 -> p; p -> e;\n"
    "t0 -> p1 [as=far, use=both]; p1 -> d1; d1 -> e;\n"
    "t0 -> q [as=straight, use=both]; q -> e; }\n";

static int delayed(paths_thread *self, void *argument)
{
    static const char *const names[] = {"near", "far"};
    paths_path *straight;
    int32_t value;

    (void)argument;
    expect_status(paths_open(&straight, self, "straight"), 0);
    for (int32_t i = 0; i < 4; i++) {
        paths_path *path;
        int64_t before;
        expect_status(paths_open(&path, self, names[i % 2]), 0);
        before = pastset_now_ns();
        expect_status(paths_write(path, &i, sizeof(i)), 0);
        expect(pastset_now_ns() - before >= 100000000);
        before = pastset_now_ns();
        expect_status(paths_read(path, (uint64_t)i, &value, sizeof(value)), 0);
        expect(value == i && pastset_now_ns() - before >= 100000000);
        expect_status(paths_read_last(straight, &value, sizeof(value)), 0);
        expect(value == i);
    }
    return 0;
}

Test(process, delays_operations_on_both_ways)
{
    process_program programs[] = {{"t0", delayed, NULL}, {NULL, NULL, NULL}};
    run_well(delay_map, programs);
}

/* 0.1 s for what is brought, and 0.2 s for what comes back of it. */
static const char *const exchange_map =
    "digraph g { subgraph cluster_h0 {\n"
    "t0 [kind=thread, number=0]; d [kind=delay, bandwidth=\"1MB\"];\n"
    "t1 [kind=thread, number=1]; g [kind=gather];\n"
    "e [kind=element, type=\"u8[200000]\", capacity=4, policy=discard]; }\n"
    "t0 -> d [as=slow, use=gather]; d -> g; t1 -> g [as=slow, use=gather];\n"
    "g -> e; }\n";

static int delayed_exchange(paths_thread *self, void *argument)
{
    static _Thread_local unsigned char part[100000], all[200000];
    bool is_slow = paths_thread_number(self) == 0;
    int64_t before;
    paths_path *path;

    (void)argument;
    expect_status(paths_open(&path, self, "slow"), 0);
    before = pastset_now_ns();
    expect_status(paths_exchange(path, part, sizeof(part), all, sizeof(all)),
                  0);
    expect(!is_slow || pastset_now_ns() - before >= 300000000);
    return 0;
}

Test(process, delays_both_ways_of_an_exchange)
{
    process_program programs[] = {{"*", delayed_exchange, NULL},
                                  {NULL, NULL, NULL}};
    run_well(exchange_map, programs);
}

/* Many at once pass a delay together, and not one after the other: then each
 * would come a delay behind the one before. On a machine that is busy with
 * something else some may, but not most of them. */
#define TOGETHER 1000
#define DELAY_NS 100000000

static int64_t came_ns[TOGETHER];
static int came;

static void come(paths_arguments *arguments, int status, void *context)
{
    if (came < TOGETHER)
        came_ns[came++] = pastset_now_ns();
    done(arguments, status, context);
}

static int delayed_together(paths_thread *self, void *argument)
{
    started *reads = calloc(TOGETHER, sizeof(*reads));
    paths_path *near, *straight;
    int apart = 0;

    (void)argument;
    expect_status(paths_open(&near, self, "near"), 0);
    expect_status(paths_open(&straight, self, "straight"), 0);
    for (int32_t i = 0; i < 100; i++)
        expect_status(paths_write(straight, &i, sizeof(i)), 0);
    for (uint64_t i = 0; i < TOGETHER; i++)
        expect_status(
            start_read_by(near, &reads[i], i % 100, PASTSET_FOREVER, come), 0);
    expect_status(poll_until(self, TOGETHER, PASTSET_FOREVER), 0);
    expect(came == TOGETHER);
    for (int i = 1; i < TOGETHER; i++)
        apart += came_ns[i] - came_ns[i - 1] >= DELAY_NS;
    expect(apart < TOGETHER / 2);
    for (int i = 0; i < TOGETHER; i++)
        expect(reads[i].status == 0 && reads[i].value == i % 100);
    free(reads);
    return 0;
}

Test(process, delays_many_operations_at_the_same_time)
{
    process_program programs[] = {{"t0", delayed_together, NULL},
                                  {NULL, NULL, NULL}};
    run_well(delay_map, programs);
}

/* --- wrappers of an application --- */

static const char *const plus_map =
    "digraph g { subgraph cluster_h0 {\n"
    "e [kind=element, type=\"i32 u32\"]; x0 [kind=plus]; x3 [kind=plus]; }\n"
    "subgraph cluster_h1 { t0 [kind=thread, number=0];\n"
    "x1 [kind=plus]; p [kind=proxy]; q [kind=proxy]; }\n"
    "subgraph cluster_h2 { x2 [kind=plus]; r [kind=proxy]; }\n"
    "t0 -> x1 [as=one, use=both]; x1 -> p; p -> x0; x0 -> e;\n"
    "t0 -> q [as=two, use=both]; q -> x2; x2 -> r; r -> x3; x3 -> e; }\n";

static int change_tuples(paths_thread *self, void *argument)
{
    static const char *const names[] = {"one", "two"};

    (void)argument;
    for (int i = 0; i < 2; i++) {
        paths_path *path;
        row tuple = {10, 77};
        expect_status(paths_open(&path, self, names[i]), 0);
        expect_status(paths_write(path, &tuple, sizeof(tuple)), 0);
        expect(tuple.a == 10); /* ours is not changed */
        expect_status(paths_observe(path, &tuple, sizeof(tuple)), 0);
        expect(tuple.a == 14 && tuple.b == 77);
    }
    return 0;
}

Test(process, runs_wrappers_that_an_application_has_added)
{
    process_program programs[] = {{"t0", change_tuples, NULL},
                                  {NULL, NULL, NULL}};

    run_well(plus_map, programs);
    cr_expect_eq(counts->down, 8);
    cr_expect_eq(counts->up, 8);
}

/* Two threads here and one there meet before the element (or behind it). */
#define PAIRS_MAP(kind)                                                        \
    "digraph g { subgraph cluster_h0 {\n"                                      \
    "e [kind=element, type=i32, policy=grow, capacity=10000];\n"               \
    "x [kind=" kind "]; t0 [kind=thread, number=0];\n"                         \
    "t1 [kind=thread, number=1]; }\n"                                          \
    "subgraph cluster_h1 { t2 [kind=thread, number=2]; p [kind=proxy];\n"      \
    "q [kind=proxy]; y [kind=" kind "]; t3 [kind=thread, number=3]; }\n"       \
    "t0 -> x [as=e, use=both]; t1 -> x [as=e, use=both];\n"                    \
    "t2 -> p [as=e, use=both]; p -> x; x -> e;\n"                              \
    "t2 -> y [as=y, use=both]; t3 -> y [as=y, use=both]; y -> q;\n"            \
    "q -> e; t3 -> y [as=e, use=both]; }\n"

#define PAIRED 300

static int write_in_pairs(paths_thread *self, void *argument)
{
    paths_path *e;

    (void)argument;
    expect_status(paths_open(&e, self, "e"), 0);
    for (int32_t i = 0; i < PAIRED; i++)
        expect_status(paths_write(e, &i, sizeof(i)), 0);
    return 0;
}

/* Both halves of each pair are ours. */
static int start_in_pairs(paths_thread *self, void *argument)
{
    started halves[20];
    paths_path *y;

    (void)argument;
    expect_status(paths_open(&y, self, "y"), 0);
    for (int i = 0; i < 20; i++) {
        started *s = &halves[i];
        memset(s, 0, sizeof(*s));
        s->arguments = (paths_arguments){.verb = PASTSET_WRITE,
                                         .tuple = &s->value,
                                         .bytes = sizeof(s->value),
                                         .timeout_ms = PASTSET_FOREVER};
        expect_status(paths_start(y, &s->arguments, done, s), 0);
    }
    expect_status(poll_until(self, 20, PASTSET_FOREVER), 0);
    for (int i = 0; i < 20; i++)
        expect(halves[i].calls == 1 && halves[i].status == 0);
    return 0;
}

/* Two threads of one process, and two of different processes. */
static void check_pairs(const char *map)
{
    process_program near[] = {{"*", idle, NULL},
                              {"t[01]", write_in_pairs, NULL},
                              {"t3", start_in_pairs, NULL},
                              {NULL, NULL, NULL}};
    process_program far[] = {{"*", idle, NULL},
                             {"t[02]", write_in_pairs, NULL},
                             {"t3", start_in_pairs, NULL},
                             {NULL, NULL, NULL}};

    run_well(map, near);
    run_well(map, far);
    cr_expect_eq(counts->dropped, 0);
}

Test(process, lets_wrappers_hold_operations_on_their_way_down)
{
    check_pairs(PAIRS_MAP("pairs"));
}

Test(process, lets_wrappers_hold_operations_on_their_way_up)
{
    check_pairs(PAIRS_MAP("pairs_up"));
}

static int half_a_pair(paths_thread *self, void *argument)
{
    paths_path *e;
    int32_t value = 1;
    paths_arguments write = {.verb = PASTSET_WRITE,
                             .tuple = &value,
                             .bytes = sizeof(value),
                             .timeout_ms = 20};

    (void)argument;
    expect_status(paths_open(&e, self, "e"), 0);
    expect_status(paths_call(e, &write), PASTSET_ETIMEDOUT);
    return 0;
}

static void check_half(const char *map, const char *thread)
{
    process_program programs[] = {
        {"*", idle, NULL}, {thread, half_a_pair, NULL}, {NULL, NULL, NULL}};
    counts->dropped = 0;
    run_well(map, programs);
    cr_expect_eq(counts->dropped, 1);
}

Test(process, takes_operations_back_from_wrappers_at_their_deadline)
{
    check_half(PAIRS_MAP("pairs"), "t0");
    check_half(PAIRS_MAP("pairs"), "t2");
    check_half(PAIRS_MAP("pairs"), "t3");
    check_half(PAIRS_MAP("pairs_up"), "t0");
    check_half(PAIRS_MAP("pairs_up"), "t2");
    check_half(PAIRS_MAP("pairs_up"), "t3");
}

/* --- errors --- */

static int delete_when_told(paths_thread *self, void *argument)
{
    paths_path *go;
    int32_t zero;

    (void)argument;
    expect_status(paths_open(&go, self, "go"), 0);
    expect_status(paths_observe(go, &zero, sizeof(zero)), 0);
    return pastset_element_delete(
        pastset_space_find(paths_process_space(processes_here), "e"));
}

static int held_by_deleted(paths_thread *self, void *argument)
{
    started reads[3];
    paths_path *e, *go;
    int32_t value = 0;

    (void)argument;
    expect_status(paths_open(&e, self, "e"), 0);
    expect_status(paths_open(&go, self, "go"), 0);
    for (int i = 0; i < 3; i++)
        expect_status(start_read(e, &reads[i], 0, PASTSET_FOREVER), 0);
    expect_status(paths_write(go, &value, sizeof(value)), 0);
    expect_status(poll_until(self, 3, PASTSET_FOREVER), 0);
    for (int i = 0; i < 3; i++)
        expect(reads[i].status == PASTSET_EDELETED);
    expect_status(paths_write(e, &value, sizeof(value)), PASTSET_EDELETED);
    expect_error("write over path \"e\" (t1 -> proxy -> e on h0): process h0: "
                 "element \"e\"");
    return 0;
}

Test(process, names_process_and_path_in_the_errors_of_other_processes)
{
    process_program programs[] = {{"t0", delete_when_told, NULL},
                                  {"t1", held_by_deleted, NULL},
                                  {NULL, NULL, NULL}};
    run_well(pipe_map, programs);
}

static _Atomic int *ready; /* shared: threads that are about to wait */

static int wait_in_vain(paths_thread *self, void *argument)
{
    const char *name = argument;
    paths_path *path;
    int32_t value;

    expect_status(paths_open(&path, self, name), 0);
    atomic_fetch_add(ready, 1);
    return paths_read(path, 0, &value, sizeof(value));
}

static int poll_in_vain(paths_thread *self, void *argument)
{
    static started reads[2];
    paths_path *e, *f;

    (void)argument;
    expect_status(paths_open(&e, self, "e"), 0);
    expect_status(paths_open(&f, self, "f"), 0);
    expect_status(start_read(e, &reads[0], 0, PASTSET_FOREVER), 0);
    expect_status(start_read(f, &reads[1], 0, PASTSET_FOREVER), 0);
    poll_until(self, 2, PASTSET_FOREVER);
    expect(reads[0].calls == 1 && reads[1].calls == 1);
    return reads[0].status;
}

static int fail_when_told(paths_thread *self, void *argument)
{
    paths_path *go;
    int32_t zero;

    (void)argument;
    expect_status(paths_open(&go, self, "go"), 0);
    expect_status(paths_write(go, &(int32_t){1}, 4), 0);
    expect_status(paths_observe(go, &zero, sizeof(zero)), 0);
    while (atomic_load(ready) < 3) /* t0, t1 and t4 have begun */
        usleep(1000);
    return pastset_fail(PASTSET_EAPP, "the wind has gone");
}

/* Some wait here, some there, in a call or in poll, and one fails. */
static const char *const failing_map =
    "digraph g { subgraph cluster_h0 { e [kind=element, type=i32];\n"
    "f [kind=element, type=i32]; t0 [kind=thread, number=0]; }\n"
    "subgraph cluster_h1 { t1 [kind=thread, number=1]; p1 [kind=proxy];\n"
    "t2 [kind=thread, number=2]; p2 [kind=proxy]; p3 [kind=proxy]; }\n"
    "subgraph cluster_h2 { t3 [kind=thread, number=3]; go [kind=element,\n"
    "type=i32]; t4 [kind=thread, number=4]; x [kind=pairs];\n"
    "p5 [kind=proxy]; }\n"
    "t0 -> e [use=read];\n"
    "t1 -> p1 [use=read]; p1 -> e;\n"
    "t2 -> p2 [as=e, use=read]; p2 -> e; t2 -> p3 [as=f, use=read]; p3 -> f;\n"
    "t3 -> go [use=both];\n"
    "t4 -> x [as=e, use=read]; x -> p5; p5 -> e; }\n";

Test(process, ends_the_run_everywhere_when_a_thread_fails)
{
    char e[] = "e";
    process_program programs[] = {{"*", wait_in_vain, e},
                                  {"t2", poll_in_vain, NULL},
                                  {"t3", fail_when_told, NULL},
                                  {NULL, NULL, NULL}};
    processes h = {.map_text = failing_map,
                   .programs = programs,
                   .contexts = wrappers_contexts(counts)};

    ready = shared_memory(sizeof(*ready));
    processes_start(&h);
    processes_wait(&h, 20);
    for (uint32_t i = 0; i < 3; i++) {
        cr_expect_eq(h.exit_codes[i], 1, "%d", h.exit_codes[i]);
        check_says(h.results[i].text, "thread t3");
        check_says(h.results[i].text, "process h2");
        check_says(h.results[i].text, "the wind has gone");
    }
    check_says(h.results[0].text, "read over path \"e\" (t0 -> e)");
    processes_free(&h);
}

static int tell_and_wait(paths_thread *self, void *argument)
{
    paths_path *f;

    (void)argument;
    expect_status(paths_open(&f, self, "f"), 0);
    atomic_fetch_add(ready, 1);
    return paths_read(f, 0, &(int32_t){0}, 4);
}

Test(process, names_the_process_that_was_killed_and_the_path)
{
    process_program programs[] = {{"*", tell_and_wait, NULL},
                                  {NULL, NULL, NULL}};
    processes h = {.map_text = pipe_map, .programs = programs};

    ready = shared_memory(sizeof(*ready));
    processes_start(&h);
    while (atomic_load(ready) < 2)
        usleep(1000);
    kill(h.pids[0], SIGKILL);
    processes_wait(&h, 60);
    cr_expect_eq(h.exit_codes[0], -SIGKILL);
    cr_expect_eq(h.exit_codes[1], 1);
    check_says(h.results[1].text, "process h0 died");
    check_says(h.results[1].text,
               "read over path \"f\" (t1 -> proxy -> f on h0)");
    processes_free(&h);
}
