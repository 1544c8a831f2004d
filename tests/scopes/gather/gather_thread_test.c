/* gather_thread_test.c - what ends the threads of a gather tree. */
#include <stdlib.h>

#include "paths/engine/process_internal.h"
#include "scopes/gather/gather_message.h"
#include "tests/support/check.h"
#include "tests/support/map_processes.h"

TestSuite(gather_thread, .timeout = 120);

/* A root and a leaf, which has one message. */
static const char *const tree =
    "digraph g { subgraph cluster_h0 { scope [kind=thread, number=0];\n"
    "p [kind=proxy]; }\n"
    "subgraph cluster_h1 { leaf [kind=thread, number=1];\n"
    "traces [kind=element, type=\"bytes[4096]\"]; }\n"
    "scope -> p [as=\"traces.h1\", use=both]; p -> traces;\n"
    "leaf -> traces [use=both]; }\n";

static int refuse(const scopes_record *record, void *context)
{
    (void)record;
    (void)context;
    return pastset_fail(PASTSET_ENOSPC, "no room for what came");
}

static int gather(paths_thread *self, void *argument)
{
    const scopes_consumer consumer = {.record = refuse};
    scopes_gatherer g = {.map = processes_here->map, .consumer = &consumer};

    (void)argument;
    return scopes_gather_thread(self, &g);
}

static int write_one(paths_thread *self, void *argument)
{
    char tuple[4096] = {0};
    gather_writer message;
    paths_path *path;

    (void)argument;
    expect_status(paths_open(&path, self, "traces"), 0);
    scopes__gather_begin(&message, tuple, sizeof(tuple), 1);
    return paths_write(path, tuple, scopes__gather_end(&message));
}

/* A mirror that cannot be written, say: it would be taken for a whole one. */
Test(gather_thread, what_its_consumer_refuses_is_the_error_of_a_scope)
{
    const process_program programs[] = {
        {"scope", gather, NULL}, {"leaf", write_one, NULL}, {NULL, NULL, NULL}};
    processes run = {.map_text = tree, .programs = programs};

    processes_start(&run);
    processes_wait(&run, 60);
    cr_expect_eq(run.exit_codes[0], 1);
    cr_expect_eq(run.results[0].status, PASTSET_ENOSPC);
    check_says(run.results[0].text, "no room for what came");
    processes_free(&run);
}
