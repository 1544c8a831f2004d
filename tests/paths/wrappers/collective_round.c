/* collective_round.c - see collective_round.h. */
#include "tests/paths/wrappers/collective_round.h"

#include <stdio.h>
#include <string.h>

const char *const round_uses[] = {"sum",    "barrier", "broadcast",
                                  "gather", "scatter", "alltoall"};

static bool is(const round_part *p, const char *use)
{
    return strcmp(p->use, use) == 0;
}

/* What `from` has for `to`. */
static int64_t value(uint64_t round, unsigned from, unsigned to, unsigned k)
{
    return (int64_t)(((round * 16 + from) * 16 + to) * 64 + k);
}

const char *round_type(char out[32], const char *use, unsigned count,
                       unsigned width)
{
    unsigned blocks = 1;

    if (strcmp(use, "gather") == 0 || strcmp(use, "scatter") == 0)
        blocks = count;
    else if (strcmp(use, "alltoall") == 0)
        blocks = count * count;
    if (strcmp(use, "barrier") == 0)
        snprintf(out, 32, "bytes[1]");
    else
        snprintf(out, 32, "i64[%u]", blocks * width);
    return out;
}

static bool is_source(const round_part *p)
{
    return p->place == p->round % p->count;
}

/* Blocks from `from` for all, or for one. */
static void fill(round_part *p, unsigned from, unsigned blocks)
{
    for (unsigned to = 0; to < blocks; to++) {
        for (unsigned k = 0; k < p->width; k++)
            p->tuple[to * p->width + k] = value(p->round, from, to, k);
    }
}

void round_make(round_part *p, uint64_t round)
{
    size_t block = p->width * sizeof(int64_t);
    bool from_one = is(p, "broadcast") || is(p, "scatter");
    size_t brings = is(p, "scatter") || is(p, "alltoall") ? p->count : 1;
    size_t gets = is(p, "gather") || is(p, "alltoall") ? p->count : 1;

    p->round = round;
    memset(p->result, 0xee, sizeof(p->result));
    fill(p, p->place, (unsigned)brings);
    p->arguments = (paths_arguments){.verb = PASTSET_EXCHANGE,
                                     .tuple = p->tuple,
                                     .bytes = brings * block,
                                     .result = p->result,
                                     .capacity = gets * block,
                                     .timeout_ms = PASTSET_FOREVER};
    if (is(p, "barrier")) {
        p->arguments.verb = PASTSET_WRITE;
        p->arguments.bytes = 0;
    } else if (from_one && !is_source(p)) {
        p->arguments.verb = PASTSET_READ_NEXT;
        p->arguments.tuple = p->result;
        p->arguments.bytes = block;
    }
}

/* The k-th number of the block at `i` of what comes back. */
static int64_t wanted(const round_part *p, unsigned i, unsigned k)
{
    unsigned source = (unsigned)(p->round % p->count);
    int64_t sum = 0;

    if (is(p, "broadcast"))
        return value(p->round, source, 0, k);
    if (is(p, "scatter"))
        return value(p->round, source, p->place, k);
    if (is(p, "gather"))
        return value(p->round, i, 0, k);
    if (is(p, "alltoall"))
        return value(p->round, i, p->place, k);
    for (unsigned from = 0; from < p->count; from++)
        sum += value(p->round, from, 0, k);
    return sum;
}

bool round_is_right(const round_part *p)
{
    unsigned blocks = is(p, "gather") || is(p, "alltoall") ? p->count : 1;
    size_t bytes = p->arguments.verb == PASTSET_READ_NEXT
                       ? p->arguments.bytes
                       : p->arguments.capacity;

    if (is(p, "barrier"))
        return true;
    if (bytes != blocks * p->width * sizeof(int64_t))
        return false;
    for (unsigned i = 0; i < blocks; i++) {
        for (unsigned k = 0; k < p->width; k++) {
            if (p->result[i * p->width + k] != wanted(p, i, k))
                return false;
        }
    }
    return true;
}
