/* orphaned_test.c - what threads are told when a process has died, and those
 * that might have done in its place have ended. */
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/check.h"
#include "tests/support/map_processes.h"

/* Two threads write to an element, on processes of their own; one reads it. */
static const char collect_map[] =
    "digraph collect {"
    "  subgraph cluster_h0 { t0 [kind=thread, number=0];"
    "    e [kind=element, type=u64]; }"
    "  subgraph cluster_h1 { t1 [kind=thread, number=1]; p1 [kind=proxy]; }"
    "  subgraph cluster_h2 { t2 [kind=thread, number=2]; p2 [kind=proxy]; }"
    "  t0 -> e [use=read];"
    "  t1 -> p1 [as=e, use=write]; p1 -> e;"
    "  t2 -> p2 [as=e, use=write]; p2 -> e;"
    "}";

/* Shared by the processes and the test. */
typedef struct moments {
    _Atomic bool there; /* t2 */
    _Atomic bool read;  /* what t1 has written */
    _Atomic bool ended; /* t1 is about to */
    _Atomic bool died;  /* h2 */
    bool ends_after;    /* t1 ends after h2 has died */
} moments;

static moments *at;

static void wait_for(const _Atomic bool *moment)
{
    while (!atomic_load(moment))
        usleep(1000);
}

static int collect(paths_thread *self, void *argument)
{
    paths_path *e;
    uint64_t value;

    (void)argument;
    expect_status(paths_open(&e, self, "e"), 0);
    expect_status(paths_observe(e, &value, sizeof(value)), 0);
    atomic_store(&at->read, true);
    return paths_observe(e, &value, sizeof(value)); /* of t2 */
}

static int contribute(paths_thread *self, void *argument)
{
    paths_path *e;
    uint64_t value = paths_thread_number(self);

    (void)argument;
    expect_status(paths_open(&e, self, "e"), 0);
    if (value == 2) {
        atomic_store(&at->there, true);
        wait_for(&at->died); /* it is killed instead */
        return 0;
    }
    expect_status(paths_write(e, &value, sizeof(value)), 0);
    if (at->ends_after)
        wait_for(&at->died);
    atomic_store(&at->ended, true);
    return 0;
}

static void check_collect(bool ends_after)
{
    process_program programs[] = {
        {"t0", collect, NULL}, {"t[12]", contribute, NULL}, {NULL, NULL, NULL}};
    processes h = {.map_text = collect_map, .programs = programs};
    siginfo_t ended;

    at = shared_memory(sizeof(*at));
    at->ends_after = ends_after;
    processes_start(&h);
    wait_for(&at->there);
    wait_for(&at->read);
    if (!ends_after)
        wait_for(&at->ended);
    kill(h.pids[2], SIGKILL);
    waitid(P_PID, (id_t)h.pids[2], &ended, WEXITED | WNOWAIT);
    atomic_store(&at->died, true);
    processes_wait(&h, 30);
    cr_expect_eq(h.exit_codes[0], 1);
    check_says(h.results[0].text, "process h2 died");
    processes_free(&h);
}

Test(orphaned, is_who_waits_for_threads_that_ended_before_the_death,
     .timeout = 600)
{
    check_collect(false);
}

Test(orphaned, is_who_waits_for_threads_that_end_after_the_death,
     .timeout = 600)
{
    check_collect(true);
}
