/* primes.c - counts the primes below two million. Each thread has its part of
 * the numbers; after each of 20 pieces all threads add up what they have.
 *
 * The parts are equally long, but the last one is the most work: see the
 * tutorial (docs/tutorial.md), which finds that out and mends it. */
#include <inttypes.h>
#include <stdio.h>

#include "eventspace/eventspace.h"

#define LIMIT 2000000u
#define ROUNDS 20u

static int is_prime(uint32_t n)
{
    for (uint32_t d = 2; d * d <= n; d++)
        if (n % d == 0)
            return 0;
    return n > 1;
}

static int worker(paths_thread *self, void *argument)
{
    uint32_t me = paths_thread_number(self);
    uint32_t part = LIMIT / paths_thread_count(self), piece = part / ROUNDS;
    uint64_t mine = 0, all = 0;
    paths_path *total;
    int err = paths_open(&total, self, "total");

    (void)argument;
    for (uint32_t round = 0; round < ROUNDS && !err; round++) {
        uint32_t from = me * part + round * piece;
        for (uint32_t n = from; n < from + piece; n++)
            mine += is_prime(n);
        err = paths_exchange(total, &mine, sizeof(mine), &all, sizeof(all));
    }
    if (me == 0 && !err)
        printf("%" PRIu64 " primes below %u\n", all, LIMIT);
    return err; /* an error ends the run in every process */
}

int main(void)
{
    eventspace *es;
    int err = eventspace_start(&es);

    if (!err)
        err = eventspace_program(es, "*", worker, NULL);
    return eventspace_finish(es, err);
}
