/* patterns_trace.c - what patterns.c does, of as many ranks as wanted, as a
 * trace in OTF2 that nobody has recorded.
 *
 *     patterns_trace DIRECTORY stencil|ring|all|barrier RANKS [NAME
 * COMMUNICATOR]
 *
 * A message from rank a to rank b is of 8 * (1 + (a + b) % 7) bytes. With a
 * name, all processes and the communicator have it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/viewer/otf2_make.h"

#define STEP_NS 10000

static otf2_make *trace;
static int64_t now;

static void message(uint32_t from, uint32_t to, bool is_sent)
{
    otf2_make_bytes(trace, 8 * (1 + (from + to) % 7));
    if (is_sent)
        otf2_call_send(trace, from, now, now + 1000, to, 0);
    else
        otf2_call_receive(trace, to, now + 2000, now + 4000, from, 0);
}

/* All send to the one that is `apart` ranks behind them, if `has` says so. */
static void shift(uint32_t ranks, uint32_t apart,
                  bool (*has)(uint32_t from, uint32_t to))
{
    for (int is_sent = 1; is_sent >= 0; is_sent--)
        for (uint32_t from = 0; from < ranks; from++)
            if (has(from, (from + apart) % ranks))
                message(from, (from + apart) % ranks, is_sent);
    now += STEP_NS;
}

static uint32_t side;

static bool always(uint32_t from, uint32_t to)
{
    return from != to;
}

static bool in_grid(uint32_t from, uint32_t to)
{
    uint32_t across = from % side > to % side ? from % side - to % side
                                              : to % side - from % side;
    uint32_t down = from / side > to / side ? from / side - to / side
                                            : to / side - from / side;

    return across + down == 1;
}

int main(int argc, char **argv)
{
    uint32_t ranks = argc > 3 ? (uint32_t)atoi(argv[3]) : 0;
    const char *pattern = argc > 3 ? argv[2] : "";

    if (ranks == 0)
        return 2;
    trace = otf2_make_begin(argv[1], ranks, NULL);
    if (argc > 5)
        otf2_make_name(trace, argv[4], argv[5]);
    for (side = 1; side * side < ranks;)
        side++;
    if (strcmp(pattern, "ring") == 0)
        shift(ranks, 1, always);
    for (uint32_t i = 1; i < ranks && strcmp(pattern, "all") == 0; i++)
        shift(ranks, i, always);
    for (uint32_t i = 0; i < 4 && strcmp(pattern, "stencil") == 0; i++)
        shift(ranks, (uint32_t[]){1, ranks - 1, side, ranks - side}[i],
              in_grid);
    for (uint32_t i = 0; i < ranks; i++)
        otf2_call_collective(trace, i, now, now + STEP_NS, "MPI_Barrier",
                             OTF2_COLLECTIVE_OP_BARRIER, 0);
    otf2_make_end(trace);
    return 0;
}
