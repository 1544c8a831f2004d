/* rounds_in_step_test.c - a contribution that does not reach the collective
 * below, as its proxy could not send it, is an error for those there too: else
 * the next one of that way would be counted in the round of this one, and the
 * sum be wrong without a word. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pastset/waiter.h"
#include "tests/support/check.h"
#include "tests/support/map_processes.h"

TestSuite(rounds_in_step, .timeout = 120);

#define ROUNDS 16

typedef struct board {
    _Atomic int pid;     /* of h0 */
    _Atomic int ready;   /* t0 waits in its first round, or is about to */
    _Atomic int opened;  /* t2 has its way to h0, which is stopped after that */
    _Atomic int tids[3]; /* of t0, t1 and t2, once they are about to wait */
    int64_t brings;      /* how many do */
} board;

static board *now;

#define MAP(type)                                                              \
    "digraph g { subgraph cluster_h0 {\n"                                      \
    "all [kind=element, type=\"" type "\", policy=discard, capacity=4];\n"     \
    "t0 [kind=thread, number=0]; top [kind=sum]; }\n"                          \
    "subgraph cluster_h1 { t1 [kind=thread, number=1];\n"                      \
    "e [kind=element, type=i64, policy=grow, capacity=4];\n"                   \
    "low [kind=sum]; up [kind=proxy]; }\n"                                     \
    "t0 -> top [as=sum]; t1 -> low [as=sum]; t1 -> e [as=e, use=both];\n"      \
    "low -> up; up -> top; top -> all; }\n"

#define WIDE 131072 /* i64s: 1 MiB */

static void says_who_it_is(paths_thread *self)
{
    atomic_store(&now->tids[paths_thread_number(self)], (int)gettid());
}

/* Until that thread has nothing to do but wait. */
static void until_asleep(int number)
{
    char name[64], line[512], *state = NULL;

    do {
        FILE *file;
        usleep(1000);
        snprintf(name, sizeof(name), "/proc/%d/stat",
                 atomic_load(&now->tids[number]));
        file = fopen(name, "r");
        state =
            file && fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
        if (file)
            fclose(file);
    } while (!state || state[2] != 'S');
}

/* Each brings the number of the round. */
static int sum(paths_path *path, int64_t round, int64_t *tuple, size_t width,
               int timeout_ms)
{
    paths_arguments a = {.verb = PASTSET_EXCHANGE,
                         .tuple = tuple,
                         .bytes = width * sizeof(*tuple),
                         .result = tuple,
                         .capacity = width * sizeof(*tuple),
                         .timeout_ms = timeout_ms};
    int status;

    for (size_t i = 0; i < width; i++)
        tuple[i] = round;
    status = paths_call(path, &a);
    if (getenv("ROUNDS_SHOWN"))
        fprintf(stderr, "%ld round %lld: %d %lld %s\n",
                (long)(pastset_now_ns() / 1000000), (long long)round, status,
                (long long)tuple[0], status ? pastset_error() : "");
    if (!status && tuple[0] != now->brings * round)
        return pastset_fail(PASTSET_EAPP,
                            "round %lld: a wrong sum in silence: %lld",
                            (long long)round, (long long)tuple[0]);
    return status == PASTSET_EAPP ? PASTSET_EIO : status;
}

static int rounds(paths_thread *self, size_t width, int64_t from)
{
    int64_t *tuple = calloc(width, sizeof(*tuple));
    paths_path *path;
    int err = paths_open(&path, self, "sum");

    says_who_it_is(self);
    for (int64_t i = from; i < ROUNDS && !err; i++) {
        atomic_store(&now->ready, 1);
        if (sum(path, i, tuple, width, PASTSET_FOREVER) == PASTSET_EAPP)
            err = PASTSET_EAPP;
    }
    free(tuple);
    return err;
}

static int narrow(paths_thread *self, void *argument)
{
    (void)argument;
    return rounds(self, 1, 0);
}

static int wide(paths_thread *self, void *argument)
{
    (void)argument;
    atomic_store(&now->pid, getpid());
    return rounds(self, WIDE, 0);
}

static void note(paths_arguments *arguments, int status, void *context)
{
    (void)arguments;
    *(int *)context = status;
}

static int over_the_limit(paths_thread *self, void *argument)
{
    int64_t value = 0, mine = 0, got = 0;
    paths_arguments read = {.verb = PASTSET_READ_FIRST,
                            .tuple = &value,
                            .bytes = sizeof(value),
                            .timeout_ms = PASTSET_FOREVER};
    paths_arguments a = {.verb = PASTSET_EXCHANGE,
                         .tuple = &mine,
                         .bytes = sizeof(mine),
                         .result = &got,
                         .capacity = sizeof(got),
                         .timeout_ms = PASTSET_FOREVER};
    int status = 1, other = 1;
    paths_path *e, *path;

    (void)argument;
    expect_status(paths_open(&e, self, "e"), 0);
    expect_status(paths_open(&path, self, "sum"), 0);
    expect_status(paths_start(e, &read, note, &status), 0);
    expect_status(paths_start(path, &a, note, &other), 0);
    while (other == 1)
        paths_poll(self, PASTSET_FOREVER);
    if (getenv("ROUNDS_SHOWN"))
        fprintf(stderr, "%ld over the limit: %d %s\n",
                (long)(pastset_now_ns() / 1000000), other, pastset_error());
    expect_status(paths_write(e, &value, sizeof(value)), 0);
    while (status == 1)
        paths_poll(self, PASTSET_FOREVER);
    return rounds(self, 1, 1);
}

static int small(paths_thread *self, void *argument)
{
    (void)argument;
    atomic_store(&now->pid, getpid());
    return rounds(self, 1, 0);
}

/* Stops h0, comes to some rounds that it gives up, and lets it go on. */
static int stop_and_go(paths_thread *self, size_t width, int64_t times)
{
    int64_t *tuple = calloc(width, sizeof(*tuple));
    paths_path *path;
    int err = 0;

    expect_status(paths_open(&path, self, "sum"), 0);
    while (!atomic_load(&now->ready))
        usleep(1000);
    kill(atomic_load(&now->pid), SIGSTOP);
    for (int64_t i = 0; i < times; i++)
        sum(path, i, tuple, width, 20);
    kill(atomic_load(&now->pid), SIGCONT);
    free(tuple);
    err = rounds(self, width, times);
    return err;
}

static int to_the_stopped(paths_thread *self, void *argument)
{
    (void)argument;
    return stop_and_go(self, WIDE, 8);
}

static int given_up(paths_thread *self, void *argument)
{
    (void)argument;
    return stop_and_go(self, 1, 4);
}

/* The round fails at `low` while h0 is stopped. */
static int mistaken(paths_thread *self, void *argument)
{
    int64_t tuple = 0;
    paths_path *path;

    (void)argument;
    expect_status(paths_open(&path, self, "sum"), 0);
    while (!atomic_load(&now->opened))
        usleep(1000);
    until_asleep(0);
    kill(atomic_load(&now->pid), SIGSTOP);
    says_who_it_is(self);
    expect(paths_write(path, &tuple, 4) < 0);
    return rounds(self, 1, 1);
}

static void *go_on_later(void *argument)
{
    (void)argument;
    until_asleep(2);
    kill(atomic_load(&now->pid), SIGCONT);
    return NULL;
}

static int beside(paths_thread *self, void *argument)
{
    pthread_t later;
    paths_path *path;

    expect_status(paths_open(&path, self, "sum"), 0);
    atomic_store(&now->opened, 1);
    until_asleep(1);
    says_who_it_is(self);
    pthread_create(&later, NULL, go_on_later, NULL);
    pthread_detach(later);
    return over_the_limit(self, argument);
}

static void run(const char *map, const process_program *programs,
                uint32_t held_max, int64_t brings)
{
    processes h = {.map_text = map, .programs = programs, .held_max = held_max};

    now = shared_memory(sizeof(*now));
    now->brings = brings;
    processes_start(&h);
    processes_end_well(&h, 60);
    processes_free(&h);
}

Test(rounds_in_step, when_too_much_is_held_to_ask_the_process_below)
{
    process_program programs[] = {
        {"t0", narrow, NULL}, {"t1", over_the_limit, NULL}, {NULL, NULL, NULL}};
    run(MAP("i64"), programs, 1, 2);
}

Test(rounds_in_step, when_the_process_below_takes_no_requests_for_a_while)
{
    process_program programs[] = {
        {"t0", wide, NULL}, {"t1", to_the_stopped, NULL}, {NULL, NULL, NULL}};
    run(MAP("i64[131072]"), programs, 0, 2);
}

Test(rounds_in_step, when_the_process_below_answers_long_after_the_deadlines)
{
    process_program programs[] = {
        {"t0", small, NULL}, {"t1", given_up, NULL}, {NULL, NULL, NULL}};
    run(MAP("i64"), programs, 0, 2);
}

#define THREE                                                                  \
    "digraph g { subgraph cluster_h0 {\n"                                      \
    "all [kind=element, type=i64, policy=discard, capacity=4];\n"              \
    "t0 [kind=thread, number=0]; top [kind=sum]; }\n"                          \
    "subgraph cluster_h1 { t1 [kind=thread, number=1];\n"                      \
    "t2 [kind=thread, number=2];\n"                                            \
    "e [kind=element, type=i64, policy=grow, capacity=4];\n"                   \
    "low [kind=sum]; up [kind=proxy]; }\n"                                     \
    "t0 -> top [as=sum]; t1 -> low [as=sum]; t2 -> low [as=sum];\n"            \
    "t2 -> e [as=e, use=both];\n"                                              \
    "low -> up; up -> top; top -> all; }\n"

Test(rounds_in_step, when_too_much_is_held_to_wait_for_a_round_that_fails)
{
    process_program programs[] = {{"t0", small, NULL},
                                  {"t1", mistaken, NULL},
                                  {"t2", beside, NULL},
                                  {NULL, NULL, NULL}};
    run(THREE, programs, 1, 3);
}
