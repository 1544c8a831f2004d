/* collector.c - what one collector adds to an operation.
 *
 * A thread writes through two paths that differ in one collector, in turns;
 * the median of the differences is the collector's. Both paths end in a
 * wrapper that turns the operation around: an element's lock takes so long
 * that the processor takes most of the stamps meanwhile (a collector then adds
 * 0 to 5 ns), and where it is contended it hides everything. Limit: two stamps
 * and 36 bytes into a ring of the same size, and for the shared collector the
 * same with one atomic add, by two threads at once. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <fcntl.h>
#include <unistd.h>

#include "paths/wrapper.h"
#include "tests/bench/bench.h"
#include "tests/bench/one_host.h"

#define OPERATIONS 200000
#define TURNS 41
#define RING 65536u /* tuples */

static int turn_around(paths_stage *stage, paths_operation *op, uint64_t *note)
{
    (void)stage;
    (void)op;
    (void)note;
    return 0;
}

static const paths_wrapper_type turn_type = {.name = "turn",
                                             .down = turn_around};

/* Thread t1 is there for the shared collector; alone, it just ends. */
static const char map[] =
    "digraph b { graph [trace_capacity=65536, trace_policy=discard, "
    "trace_prefault=true];\n"
    "subgraph cluster_h0 {\n"
    " t0 [kind=thread, number=0]; t1 [kind=thread, number=1];\n"
    " a [kind=turn]; b [kind=turn];\n"
    " c [kind=collector, id=0, trace=c];\n"
    " e [kind=element, type=u64]; f [kind=element, type=u64];\n"
    "}\n"
    "t0 -> a [as=plain]; t1 -> a [as=plain]; a -> e;\n"
    "t0 -> c [as=collected]; t1 -> c [as=collected]; c -> b; b -> f; }\n";

static unsigned char *ring_make(const char *file)
{
    size_t bytes = (size_t)RING * 36;
    unsigned char *ring;
    int fd = -1;

    if (file) {
        fd = open(file, O_RDWR | O_CREAT | O_TRUNC, 0600);
        if (fd < 0 || posix_fallocate(fd, 0, (off_t)bytes) != 0) {
            perror(file);
            exit(1);
        }
    }
    ring = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                MAP_SHARED | (file ? 0 : MAP_ANONYMOUS), fd, 0);
    if (ring == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    memset(ring, 1, bytes);
    if (fd >= 0)
        close(fd);
    return ring;
}

static double limit_turn(unsigned char *ring)
{
    double begin = bench_now_ns();
    uint32_t at = 0;

    for (uint32_t i = 0; i < OPERATIONS; i++) {
        bench_stamp_store(ring + (size_t)at * 36, i);
        if (++at == RING)
            at = 0;
    }
    return (bench_now_ns() - begin) / OPERATIONS;
}

static double write_turn(paths_path *path)
{
    double begin = bench_now_ns();

    for (uint64_t i = 0; i < OPERATIONS; i++)
        bench_check(paths_write(path, &i, sizeof(i)), "write");
    return (bench_now_ns() - begin) / OPERATIONS;
}

typedef struct result {
    const char *file; /* of the limit's ring; NULL: memory */
    double collector, limit;
} result;

static int alone(paths_thread *self, void *argument)
{
    result *r = argument;
    double added[TURNS], limit[TURNS];
    unsigned char *ring;
    paths_path *plain, *collected;

    if (paths_thread_number(self) != 0)
        return 0;
    ring = ring_make(r->file);
    bench_check(paths_open(&plain, self, "plain"), "open");
    bench_check(paths_open(&collected, self, "collected"), "open");
    write_turn(plain);
    write_turn(collected);
    limit_turn(ring);
    for (int i = 0; i < TURNS; i++) {
        double without = write_turn(plain);
        added[i] = write_turn(collected) - without;
        limit[i] = limit_turn(ring);
    }
    r->collector = bench_median(added, TURNS);
    r->limit = bench_median(limit, TURNS);
    munmap(ring, (size_t)RING * 36);
    return 0;
}

/* --- shared by two threads --- */

static struct {
    pthread_barrier_t barrier;
    unsigned char *ring;
    _Alignas(64) _Atomic uint32_t next;
    double added[2][TURNS], limit[2][TURNS];
} shared;

static double limit_shared_turn(void)
{
    double begin = bench_now_ns();

    for (uint32_t i = 0; i < OPERATIONS; i++) {
        uint32_t at =
            atomic_fetch_add_explicit(&shared.next, 1, memory_order_relaxed);
        bench_stamp_store(shared.ring + (size_t)(at % RING) * 36, i);
    }
    return (bench_now_ns() - begin) / OPERATIONS;
}

static int together(paths_thread *self, void *argument)
{
    uint32_t me = paths_thread_number(self);
    paths_path *plain, *collected;

    (void)argument;
    bench_pin((int)me);
    bench_check(paths_open(&plain, self, "plain"), "open");
    bench_check(paths_open(&collected, self, "collected"), "open");
    write_turn(plain);
    write_turn(collected);
    for (int i = 0; i < TURNS; i++) {
        double without;
        pthread_barrier_wait(&shared.barrier);
        without = write_turn(plain);
        pthread_barrier_wait(&shared.barrier);
        shared.added[me][i] = write_turn(collected) - without;
        pthread_barrier_wait(&shared.barrier);
        shared.limit[me][i] = limit_shared_turn();
    }
    return 0;
}

void bench_collector(void)
{
    result memory = {.file = NULL};
    result file = {.file = "bench.ring"};

    bench_check(paths_wrapper_register(&turn_type), "register");
    one_host_run(map, NULL, alone, &memory);
    bench_print("collector.memory", memory.collector, "ns", memory.limit);
    one_host_run(map, "bench.space", alone, &file);
    bench_print("collector.file", file.collector, "ns", file.limit);
    unlink("bench.space");
    unlink("bench.ring");

    pthread_barrier_init(&shared.barrier, NULL, 2);
    shared.ring = ring_make(NULL);
    one_host_run(map, NULL, together, NULL);
    bench_print("collector.shared2",
                bench_median(&shared.added[0][0], 2 * TURNS), "ns",
                bench_median(&shared.limit[0][0], 2 * TURNS));
    munmap(shared.ring, (size_t)RING * 36);
}
