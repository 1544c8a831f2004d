/* stopped_test.c - a process that stops in the middle of what it says, or of
 * what it hears, holds no thread beyond the deadline of its operation, and when
 * it goes on so does everything else.
 *
 * The relay goes on only after the operation has come back, so that a thread
 * that is held is held for ever. */
#include <string.h>

#include "tests/faults/relay.h"
#include "tests/support/check.h"
#include "tests/support/map_processes.h"

#define HEADER 48 /* of a frame */
#define SMALL 60  /* bytes of a tuple of "small" */
#define LARGE (8 << 20)
#define SHORT_MS 50

TestSuite(stopped, .timeout = 300);

/* small: 60 bytes of the number of the tuple. empty: nobody writes it. */
static const char *const map =
    "digraph g { subgraph cluster_h0 { t0 [kind=thread, number=0];\n"
    "p [kind=proxy]; q [kind=proxy]; r [kind=proxy]; }\n"
    "subgraph cluster_h1 { t1 [kind=thread, number=1];\n"
    "small [kind=element, type=\"u8[60]\", policy=grow, capacity=1024];\n"
    "empty [kind=element, type=\"u8[60]\"];\n"
    "large [kind=element, type=\"u8[8388608]\", policy=discard, capacity=2];\n"
    "}\n"
    "t0 -> p [as=small, use=both]; p -> small;\n"
    "t0 -> q [as=empty, use=both]; q -> empty;\n"
    "t0 -> r [as=large, use=both]; r -> large;\n"
    "t1 -> small [use=both]; }\n";

static int nothing(paths_thread *self, void *argument)
{
    (void)self;
    (void)argument;
    return 0;
}

static void run_with(paths_main *program)
{
    const process_program programs[] = {
        {"t0", program, NULL}, {"t1", nothing, NULL}, {NULL, NULL, NULL}};
    processes run = {
        .map_text = map, .programs = programs, .relay_port = relay_open()};

    processes_start(&run);
    relay_start(run.ports[1]);
    processes_end_well(&run, 60);
    relay_stop();
    processes_free(&run);
}

/* --- replies --- */

static int write_numbers(paths_path *small, int count)
{
    unsigned char tuple[SMALL];

    for (int i = 0; i < count; i++) {
        memset(tuple, i, sizeof(tuple));
        expect_status(paths_write(small, tuple, sizeof(tuple)), 0);
    }
    return 0;
}

static bool is_all(const unsigned char *bytes, size_t count, unsigned char what)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] != what)
            return false;
    }
    return true;
}

static paths_arguments read_of(unsigned char *tuple, uint64_t index,
                               int timeout_ms)
{
    return (paths_arguments){.verb = PASTSET_READ,
                             .tuple = tuple,
                             .bytes = SMALL,
                             .index = index,
                             .timeout_ms = timeout_ms};
}

/* A call whose reply stops after so many bytes comes back, its buffer is its
 * own again, and the next operation gets its own reply. */
static int call_is_cut(paths_path *small, int64_t bytes)
{
    unsigned char tuple[SMALL], next[SMALL] = {0};
    paths_arguments late = read_of(tuple, 1, SHORT_MS);

    relay_replies(bytes);
    expect_status(paths_call(small, &late), PASTSET_ETIMEDOUT);
    expect_error("the deadline passed");
    memset(tuple, 99, sizeof(tuple));
    relay_replies(RELAY_ALL);
    expect_status(paths_read(small, 2, next, sizeof(next)), 0);
    expect(is_all(next, SMALL, 2) && is_all(tuple, SMALL, 99));
    return 0;
}

static int calls_are_cut(paths_thread *self, void *argument)
{
    const int64_t cuts[] = {0, HEADER - 1, HEADER + 1, HEADER + SMALL - 1};
    paths_path *small;

    (void)argument;
    expect_status(paths_open(&small, self, "small"), 0);
    expect_status(write_numbers(small, 4), 0);
    for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++)
        expect_status(call_is_cut(small, cuts[i]), 0);
    return 0;
}

Test(stopped, in_the_middle_of_a_reply_holds_no_call_beyond_its_deadline)
{
    run_with(calls_are_cut);
}

/* The text of an error is a payload too. */
static int errors_are_cut(paths_thread *self, void *argument)
{
    unsigned char tuple[SMALL], tuples[2 * SMALL] = {0};
    paths_path *small;

    (void)argument;
    expect_status(paths_open(&small, self, "small"), 0);
    expect_status(write_numbers(small, 4), 0);
    for (int64_t cut = HEADER; cut < HEADER + 3; cut++) {
        paths_arguments wrong = {.verb = PASTSET_WRITE,
                                 .tuple = tuples,
                                 .bytes = sizeof(tuples),
                                 .timeout_ms = SHORT_MS};
        relay_replies(cut);
        expect_status(paths_call(small, &wrong), PASTSET_ETIMEDOUT);
        relay_replies(RELAY_ALL);
        wrong.timeout_ms = PASTSET_FOREVER;
        expect_status(paths_call(small, &wrong), PASTSET_ETYPE);
        expect_error("process h1: ");
        expect_status(paths_read(small, 3, tuple, sizeof(tuple)), 0);
        expect(is_all(tuple, SMALL, 3));
    }
    return 0;
}

Test(stopped, in_the_middle_of_an_error_text_holds_no_call_beyond_its_deadline)
{
    run_with(errors_are_cut);
}

/* --- operations that go on --- */

static void note_status(paths_arguments *arguments, int status, void *context)
{
    int *noted = context;

    (void)arguments;
    *noted = status;
}

#define NOT_YET 1

static int poll_until(paths_thread *self, const int *status)
{
    while (*status == NOT_YET)
        expect(paths_poll(self, PASTSET_FOREVER) > 0);
    return 0;
}

/* One that was started ends at its deadline, and nobody else with it: neither
 * the one before it on the link, whose reply is cut, nor the one after it. */
static int start_is_cut(paths_thread *self, paths_path *small, int64_t bytes)
{
    unsigned char tuples[3][SMALL];
    int status[3] = {NOT_YET, NOT_YET, NOT_YET};
    paths_arguments all[3] = {read_of(tuples[0], 0, PASTSET_FOREVER),
                              read_of(tuples[1], 1, SHORT_MS),
                              read_of(tuples[2], 2, PASTSET_FOREVER)};

    relay_replies(bytes);
    for (int i = 0; i < 3; i++)
        expect_status(paths_start(small, &all[i], note_status, &status[i]), 0);
    expect_status(poll_until(self, &status[1]), 0);
    expect(status[1] == PASTSET_ETIMEDOUT);
    memset(tuples[1], 99, SMALL);
    relay_replies(RELAY_ALL);
    expect_status(poll_until(self, &status[0]), 0);
    expect_status(poll_until(self, &status[2]), 0);
    expect(status[0] == 0 && is_all(tuples[0], SMALL, 0));
    expect(status[2] == 0 && is_all(tuples[2], SMALL, 2));
    expect(is_all(tuples[1], SMALL, 99));
    return 0;
}

static int starts_are_cut(paths_thread *self, void *argument)
{
    const int64_t frame = HEADER + SMALL;
    const int64_t cuts[] = {HEADER - 1, HEADER + 1, frame + HEADER + 1};
    paths_path *small;

    (void)argument;
    expect_status(paths_open(&small, self, "small"), 0);
    expect_status(write_numbers(small, 4), 0);
    for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++)
        expect_status(start_is_cut(self, small, cuts[i]), 0);
    return 0;
}

Test(stopped, in_the_middle_of_a_reply_ends_what_was_started_at_its_deadline)
{
    run_with(starts_are_cut);
}

/* A call comes back while another operation has the link's reply. */
static int calls_behind_others(paths_thread *self, void *argument)
{
    unsigned char tuple[SMALL], other[SMALL];
    int status = NOT_YET;
    paths_arguments first = read_of(other, 3, PASTSET_FOREVER);
    paths_arguments late = read_of(tuple, 1, SHORT_MS);
    paths_path *small;

    (void)argument;
    expect_status(paths_open(&small, self, "small"), 0);
    expect_status(write_numbers(small, 4), 0);
    relay_replies(HEADER + 7);
    expect_status(paths_start(small, &first, note_status, &status), 0);
    expect_status(paths_call(small, &late), PASTSET_ETIMEDOUT);
    expect(status == NOT_YET);
    relay_replies(RELAY_ALL);
    expect_status(poll_until(self, &status), 0);
    expect(status == 0 && is_all(other, SMALL, 3));
    return 0;
}

Test(stopped, in_a_reply_to_another_holds_no_call_beyond_its_deadline)
{
    run_with(calls_behind_others);
}

/* --- requests --- */

static unsigned char large[LARGE], got[LARGE];

static paths_arguments write_of(int what, int timeout_ms)
{
    memset(large, what, sizeof(large));
    return (paths_arguments){.verb = PASTSET_WRITE,
                             .tuple = large,
                             .bytes = sizeof(large),
                             .timeout_ms = timeout_ms};
}

/* What comes after it: the link is in order, and no tuple is of two. */
static int goes_on(paths_path *path)
{
    paths_arguments last = write_of(100, PASTSET_FOREVER);

    relay_requests(true);
    expect_status(paths_call(path, &last), 0);
    expect_status(paths_read_last(path, got, sizeof(got)), 0);
    expect(is_all(got, sizeof(got), 100));
    expect_status(paths_read_first(path, got, sizeof(got)), 0);
    expect(is_all(got, sizeof(got), got[0]));
    return 0;
}

static int calls_are_not_taken(paths_thread *self, void *argument)
{
    paths_path *path;

    (void)argument;
    expect_status(paths_open(&path, self, "large"), 0);
    for (int round = 0; round < 3; round++) {
        paths_arguments late = write_of(round, SHORT_MS);
        relay_requests(false);
        expect_status(paths_call(path, &late), PASTSET_ETIMEDOUT);
        expect_error("process h1 did not take the request in time");
        memset(large, 99, sizeof(large)); /* it is the caller's again */
        /* Behind the rest of it, with nothing of its own sent. */
        late = write_of(50 + round, SHORT_MS);
        expect_status(paths_call(path, &late), PASTSET_ETIMEDOUT);
        expect_status(goes_on(path), 0);
    }
    return 0;
}

Test(stopped, in_the_middle_of_a_request_holds_no_call_beyond_its_deadline)
{
    run_with(calls_are_not_taken);
}

static int starts_are_not_taken(paths_thread *self, void *argument)
{
    unsigned char tuple[SMALL];
    int other = NOT_YET, status = NOT_YET;
    paths_arguments before = read_of(tuple, 0, PASTSET_FOREVER);
    paths_arguments late = write_of(7, SHORT_MS);
    paths_path *path, *small;

    (void)argument;
    expect_status(paths_open(&path, self, "large"), 0);
    expect_status(paths_open(&small, self, "small"), 0);
    expect_status(paths_start(small, &before, note_status, &other), 0);
    relay_requests(false);
    expect_status(paths_start(path, &late, note_status, &status), 0);
    expect_status(poll_until(self, &status), 0);
    expect(status == PASTSET_ETIMEDOUT && other == NOT_YET);
    expect_status(goes_on(path), 0);
    expect_status(write_numbers(small, 1), 0);
    expect_status(poll_until(self, &other), 0);
    expect(other == 0 && is_all(tuple, SMALL, 0));
    return 0;
}

Test(stopped, in_the_middle_of_a_request_ends_what_was_started_at_its_deadline)
{
    run_with(starts_are_not_taken);
}

/* Given up in the middle for good: who ends meanwhile does not wait for it. */
static int leaves(paths_thread *self, void *argument)
{
    paths_arguments late = write_of(1, SHORT_MS);
    paths_path *path;

    (void)argument;
    expect_status(paths_open(&path, self, "large"), 0);
    relay_requests(false);
    expect_status(paths_call(path, &late), PASTSET_ETIMEDOUT);
    relay_requests(true);
    return 0;
}

Test(stopped, in_the_middle_of_a_request_a_thread_can_end)
{
    run_with(leaves);
}
