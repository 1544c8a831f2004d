/* succession_test.c - the first process of a run is killed, and the others go
 * on with another in its place.
 *
 * Five processes: the threads of h2 and h3 write to each other, those of the
 * others have to do with nobody. They count what they do in a file that all
 * have mapped (support/counting_app.c), and end at a limit that the test gives
 * them there. So it is known of each that it went on after a death, and has
 * done all that it had to. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pastset/waiter.h"
#include "tests/support/check.h"
#include "tests/support/command.h"
#include "tests/support/counting_app.h"
#include "tests/support/scratch.h"

#define PROCESSES 5
#define SECONDS 100
#define SOME 200 /* operations */
#define EVENTSPACE TEST_BINARY_DIR "/eventspace"

/* So that all do about as much. */
#define LATENCY "latency=\"0.2ms\""

static const char map_text[] =
    "digraph lonely { succession=%s;\n"
    "subgraph cluster_h0 { t0 [kind=thread, number=0]; d0 [kind=delay, " LATENCY
    "];\n"
    " e0 [kind=element, type=u64, capacity=4]; }\n"
    "subgraph cluster_h1 { t1 [kind=thread, number=1]; d1 [kind=delay, " LATENCY
    "];\n"
    " e1 [kind=element, type=u64, capacity=4]; }\n"
    "subgraph cluster_h2 { t2 [kind=thread, number=2]; d2 [kind=delay, " LATENCY
    "]; p2 [kind=proxy];\n"
    " e2 [kind=element, type=u64, capacity=4]; }\n"
    "subgraph cluster_h3 { t3 [kind=thread, number=3]; d3 [kind=delay, " LATENCY
    "]; p3 [kind=proxy];\n"
    " e3 [kind=element, type=u64, capacity=4]; }\n"
    "subgraph cluster_h4 { t4 [kind=thread, number=4]; d4 [kind=delay, " LATENCY
    "];\n"
    " e4 [kind=element, type=u64, capacity=4]; }\n"
    "t4 -> d4 [as=out, use=write]; d4 -> e4; t4 -> e4 [as=in, use=read];\n"
    "t0 -> d0 [as=out, use=write]; d0 -> e0; t0 -> e0 [as=in, use=read];\n"
    "t1 -> d1 [as=out, use=write]; d1 -> e1; t1 -> e1 [as=in, use=read];\n"
    "t2 -> d2 [as=out, use=write]; d2 -> p2; p2 -> e3; t2 -> e2 [as=in, "
    "use=read];\n"
    "t3 -> d3 [as=out, use=write]; d3 -> p3; p3 -> e2; t3 -> e3 [as=in, "
    "use=read];\n"
    "}\n";

static counting *counts;
static command run;

TestSuite(succession, .init = scratch_make, .fini = scratch_remove,
          .timeout = 300);

/* --- a run --- */

static uint64_t done_by(int process)
{
    return atomic_load(&counts->threads[process].in);
}

static void reach(int process, uint64_t times)
{
    int64_t deadline = pastset_deadline_ns((int)timeout(SECONDS) * 1000);

    while (done_by(process) < times) {
        cr_assert_lt(pastset_now_ns(), deadline, "process h%d stands still",
                     process);
        poll(NULL, 0, 1);
    }
}

/* All of them have joined, as their threads run. */
static void start(const char *succession)
{
    char text[sizeof(map_text) + 10];

    counts = counting_make(scratch_file("counts"));
    cr_assert_not_null(counts);
    snprintf(text, sizeof(text), map_text, succession);
    scratch_write("map.dot", text);
    command_start(&run, EVENTSPACE, "run", scratch_file("map.dot"), "--output",
                  scratch_file("run"), "--",
                  TEST_BINARY_DIR "/../tests/counting_app",
                  scratch_file("counts"), NULL);
    for (int i = 0; i < PROCESSES; i++)
        reach(i, SOME);
}

static void signal_to(int process, int number)
{
    kill(atomic_load(&counts->threads[process].pid), number);
}

static void go_on(int from)
{
    for (int i = from; i < PROCESSES; i++)
        reach(i, done_by(i) + SOME);
}

/* Some more for each; to all the same, as two of them wait for each other. */
static uint64_t limit_set(void)
{
    uint64_t most = 0;

    for (int i = 0; i < PROCESSES; i++) {
        uint64_t out = atomic_load(&counts->threads[i].out);
        most = out > most ? out : most;
    }
    atomic_store(&counts->limit, most + SOME);
    return most + SOME;
}

/* The run ends, and those from `dead` to `last` have done all. */
static void check_end_of(int dead, int last, const char *says)
{
    uint64_t limit = atomic_load(&counts->limit);

    command_wait(&run, SECONDS);
    cr_expect_eq(run.exit_code, 128 + SIGKILL, "exit code %d: %s",
                 run.exit_code, run.output);
    check_says(run.output, says);
    check_says(run.output, "\neventspace: the first to fail was process h");
    cr_expect_not(strstr(run.output, "sent because"), "%s", run.output);
    for (int i = dead; i <= last; i++)
        cr_expect_eq(done_by(i), limit, "h%d: %s", i, run.output);
    command_free(&run);
    munmap(counts, sizeof(*counts));
}

static void check_end(int dead, const char *says)
{
    check_end_of(dead, PROCESSES - 1, says);
}

/* --- deaths --- */

Test(succession, those_who_do_not_need_the_first_go_on)
{
    start("true");
    signal_to(0, SIGKILL);
    go_on(1);
    limit_set();
    check_end(1, "h1| error: process h1: the other processes completed, but "
                 "process h0 died: it closed the connection\n");
}

Test(succession, the_next_may_die_as_well)
{
    start("true");
    signal_to(0, SIGKILL);
    go_on(1);
    signal_to(1, SIGKILL);
    go_on(2);
    limit_set();
    check_end(2, "h2| error: process h2: the other processes completed, but "
                 "process h1 died: ");
}

Test(succession, both_may_die_at_once)
{
    start("true");
    signal_to(1, SIGSTOP); /* whoever wants to join it does not know */
    signal_to(0, SIGKILL);
    signal_to(1, SIGKILL);
    go_on(2);
    limit_set();
    check_end(2, "h2| error: process h2: the other processes completed, but "
                 "process h");
}

Test(succession, the_next_may_be_the_last_to_know)
{
    start("true");
    signal_to(1, SIGSTOP);
    signal_to(0, SIGKILL);
    go_on(2);
    signal_to(1, SIGCONT);
    go_on(1);
    limit_set();
    check_end(1, "h1| error: process h1: the other processes completed, but "
                 "process h0 died: ");
}

/* They have told nobody else that they were. */
Test(succession, those_who_were_done_say_so_again)
{
    uint64_t limit;

    start("true");
    signal_to(0, SIGSTOP);
    limit = limit_set();
    for (int i = 1; i < PROCESSES; i++)
        reach(i, limit);
    signal_to(0, SIGKILL);
    check_end(1, "h1| error: process h1: the other processes completed, but "
                 "process h0 died: ");
}

/* The first can tell nobody any more that another has died. */
Test(succession, one_that_died_with_the_first_is_not_waited_for)
{
    start("true");
    signal_to(0, SIGSTOP);
    signal_to(4, SIGKILL);
    signal_to(0, SIGKILL);
    limit_set();
    check_end_of(1, 3,
                 "h1| error: process h1: the other processes completed, but "
                 "process h4 died: it did not come to process h1, which is the "
                 "first now\n");
}

/* The next one knows that their threads have ended, and they know it too. */
Test(succession, those_whose_threads_have_ended_come_as_well)
{
    uint64_t limit;

    start("true");
    signal_to(1, SIGKILL);
    go_on(2);
    signal_to(2, SIGSTOP); /* and h3 waits for it */
    limit = limit_set();
    reach(0, limit);
    reach(4, limit);
    poll(NULL, 0, 100); /* that h0 tells h2, most probably */
    signal_to(0, SIGKILL);
    signal_to(2, SIGCONT);
    check_end(2, "h2| error: process h2: the other processes completed, but "
                 "process h0 died: it closed the connection\n");
}

Test(succession, is_not_where_the_map_does_not_want_it)
{
    start("false");
    signal_to(0, SIGKILL);
    command_wait(&run, SECONDS);
    cr_expect_eq(run.exit_code, 128 + SIGKILL);
    for (int i = 1; i < PROCESSES; i++) {
        char line[40];
        snprintf(line, sizeof(line), "h%d| error: process h%d: ", i, i);
        check_says(run.output, line);
    }
    check_says(run.output, "process h0 died");
    command_free(&run);
}
