/* parallel.c - a thread of a run.
 *
 * It has one path, `sums`, on which it contributes once: what it has made of
 * its blocks. Thread 0 brings the sum of all back; the others need not know
 * it, so they write. */
#include <math.h>

#include "apps/ep/ep.h"
#include "apps/ep/numbers.h"

static void block_add(ep_sums *sums, uint64_t block)
{
    ep_numbers numbers = ep_numbers_at(2 * block * EP_BLOCK_PAIRS);
    double sum_x = 0, sum_y = 0;

    for (uint32_t i = 0; i < EP_BLOCK_PAIRS; i++) {
        double x = 2 * ep_numbers_next(&numbers) - 1;
        double y = 2 * ep_numbers_next(&numbers) - 1;
        double t = x * x + y * y, f;
        if (t > 1)
            continue;
        f = sqrt(-2 * log(t) / t);
        x *= f;
        y *= f;
        sums->q[(unsigned)fmax(fabs(x), fabs(y))]++;
        sum_x += x;
        sum_y += y;
    }
    sums->x += sum_x;
    sums->y += sum_y;
}

int ep_thread(paths_thread *self, void *argument)
{
    const program_run *run = argument;
    uint64_t first, count;
    ep_sums sums = {0};
    paths_path *path;
    int err = paths_open(&path, self, "sums");

    if (err)
        return err;
    program_share(ep_blocks(run->options->size), paths_thread_count(self),
                  paths_thread_number(self), &first, &count);
    for (uint64_t i = 0; i < count; i++)
        block_add(&sums, first + i);
    if (!run->result)
        return paths_write(path, &sums, sizeof(sums));
    err = paths_exchange(path, &sums, sizeof(sums), &sums, sizeof(sums));
    return err ? err : ep_report(&sums, run->options, run->result);
}
