/* local.c - a write and a read of 64 bytes through a collected path. Limit:
 * that of one collector (two stamps, 36 bytes), and for the read the same. */
#include <string.h>

#include "tests/bench/bench.h"
#include "tests/bench/one_process.h"

#define OPERATIONS 200000
#define TURNS 41

static const char map[] =
    "digraph b { graph [trace_capacity=65536, trace_policy=discard, "
    "trace_prefault=true];\n"
    "subgraph cluster_h0 {\n"
    " t0 [kind=thread, number=0];\n"
    " e [kind=element, type=\"u64[8]\", policy=discard, capacity=1024];\n"
    " c [kind=collector, id=0, trace=c];\n"
    "}\n"
    "t0 -> c [as=e]; c -> e; }\n";

static double limit_turn(unsigned char *ring)
{
    double begin = bench_now_ns();

    for (uint32_t i = 0; i < OPERATIONS; i++)
        bench_stamp_store(ring + (i & 65535) * 36, i);
    return (bench_now_ns() - begin) / OPERATIONS;
}

static int run(paths_thread *self, void *argument)
{
    static unsigned char ring[65536 * 36];
    double writes[TURNS], reads[TURNS], limits[TURNS];
    uint64_t tuple[8] = {0};
    paths_path *path;

    (void)argument;
    memset(ring, 1, sizeof(ring));
    bench_check(paths_open(&path, self, "e"), "open");
    for (int turn = -1; turn < TURNS; turn++) {
        int at = turn < 0 ? 0 : turn; /* the first is to warm up */
        double begin = bench_now_ns();
        for (uint64_t i = 0; i < OPERATIONS; i++) {
            tuple[0] = i;
            bench_check(paths_write(path, tuple, sizeof(tuple)), "write");
        }
        writes[at] = (bench_now_ns() - begin) / OPERATIONS;
        begin = bench_now_ns();
        for (uint64_t i = 0; i < OPERATIONS; i++)
            bench_check(paths_read_last(path, tuple, sizeof(tuple)), "read");
        reads[at] = (bench_now_ns() - begin) / OPERATIONS;
        limits[at] = limit_turn(ring);
    }
    bench_print("local.write64", bench_median(writes, TURNS), "ns",
                bench_median(limits, TURNS));
    bench_print("local.read64", bench_median(reads, TURNS), "ns",
                bench_median(limits, TURNS));
    return 0;
}

void bench_local(void)
{
    one_process_run(map, NULL, run, NULL);
}
