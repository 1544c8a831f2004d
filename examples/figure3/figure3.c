/* figure3.c - figure 3 of paper 004: a global sum, and who waits in it.
 *
 *     eventspace run figure3.dot --output RUN -- ./figure3 [ROUNDS
 * [MICROSECONDS]] eventspace report RUN -o report.html
 *
 * Threads 1 to 4 form a global sum in each round; thread 4 tells it to thread
 * 5, which has no part in it. At a partial sum an operation waits until the
 * others have come, and the one that comes last goes on for all. So a collector
 * below a partial sum has one event in each round, that of the operation that
 * went on. One of thread 1 that goes on to element 1 leaves six times behind,
 * on its way down and up, at EC1, EC7 and EC10.
 *
 *     process A                 process B
 *
 *     thread1   thread2         thread3   thread4      thread5
 *        |         |               |       |    |         |
 *       EC1       EC2             EC3     EC4  EC5       EC6
 *         \       /                 \     /      \       /
 *       partial sum 1            partial sum 2    element 2
 *             |                        |
 *            EC7                      EC9
 *             |                        |
 *             |     EC8 <----------- proxy
 *              \    /
 *           partial sum 3
 *                 |
 *                EC10
 *                 |
 *             element 1
 *
 * What the paper sees (section 4.5) by which collectors:
 *
 *   EC1 to EC6      communication oriented: where and when each thread uses
 *                   the communication system
 *   EC5, EC6        how threads 4 and 5 use element 2, and in which order
 *   EC9 less EC8    the overhead of a remote operation. The same four times
 *                   tell how far the clocks of A and B are apart
 *   EC1 to EC4      thread wait: how long each thread waits for the sum
 *   EC7, EC9        signal departure of partial sum 3 (with aligned clocks)
 *   EC7, EC8        signal arrival at partial sum 3, both on A: the one that
 *                   starts later has come last
 *   EC7, EC8, EC10  performance of partial sum 3: how long it waits for the
 *                   second one, and how long what is below it takes */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "eventspace/eventspace.h"

static int rounds = 100;
static long computing_us; /* between two sums; here it is only waited */

static void compute(void)
{
    struct timespec time = {.tv_nsec = computing_us * 1000};

    if (computing_us)
        nanosleep(&time, NULL);
}

/* Threads 1 to 4, whose numbers are 0 to 3. */
static int sum(paths_thread *self, void *argument)
{
    int64_t own = paths_thread_number(self) + 1;
    paths_path *total, *news = NULL;
    int err = paths_open(&total, self, "total");

    (void)argument;
    if (!err && own == 4)
        err = paths_open(&news, self, "news");
    for (int64_t round = 1; round <= rounds && !err; round++) {
        int64_t part = own * round, all;
        compute();
        err = paths_exchange(total, &part, sizeof(part), &all, sizeof(all));
        if (!err && all != (1 + 2 + 3 + 4) * round)
            err = pastset_fail(PASTSET_EAPP, "the sum of round %d is %d",
                               (int)round, (int)all);
        if (!err && news)
            err = paths_write(news, &all, sizeof(all));
    }
    return err;
}

/* Thread 5. */
static int hear(paths_thread *self, void *argument)
{
    paths_path *news;
    int err = paths_open(&news, self, "news");

    (void)argument;
    for (int64_t round = 1; round <= rounds && !err; round++) {
        int64_t all;
        err = paths_observe(news, &all, sizeof(all));
        if (!err && all != (1 + 2 + 3 + 4) * round)
            err = pastset_fail(PASTSET_EAPP, "heard %d in round %d", (int)all,
                               (int)round);
    }
    return err;
}

int main(int argc, char **argv)
{
    eventspace *es;
    int err = eventspace_start(&es);

    if (argc > 1)
        rounds = atoi(argv[1]);
    if (argc > 2)
        computing_us = atol(argv[2]) % 1000000;
    if (!err)
        err = eventspace_program(es, "*", sum, NULL);
    if (!err)
        err = eventspace_program(es, "thread5", hear, NULL);
    return eventspace_finish(es, err);
}
