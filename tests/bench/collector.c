/* collector.c - what one collector adds to an operation.
 *
 * A thread writes through two paths that differ in one collector, in turns;
 * the median of the differences is the collector's. The limit is a difference
 * too, in the same loop: that of a write through the plain path followed by two
 * stamps and 36 bytes into a ring, and one without. Both paths end in a wrapper
 * that turns the operation around: an element's lock takes so long that the
 * processor takes most of the stamps meanwhile (a collector then adds 0 to 5
 * ns), and where it is contended it hides everything.
 *
 * The shared collector is in the paths of two threads at once, each on a
 * processor. Each of them writes to a stream of its own, and so does the limit,
 * to a ring of its own; in `atomic` to one ring, with an atomic add for each,
 * as collectors that share one element would need. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <fcntl.h>
#include <unistd.h>

#include "paths/wrappers/wrapper.h"
#include "tests/bench/bench.h"
#include "tests/bench/one_process.h"

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

typedef enum what { PLAIN, BARE_STAMPS, SHARED_STAMPS } what;

typedef struct ring {
    unsigned char *tuples;
    uint32_t at;
    _Atomic uint32_t *next; /* of a shared ring; else NULL */
} ring;

/* Inlined with a constant for `what`: each loop has nothing but its own. */
static inline __attribute__((always_inline)) double
write_turn_of(paths_path *path, ring *to, what added)
{
    double begin = bench_now_ns();

    for (uint64_t i = 0; i < OPERATIONS; i++) {
        bench_check(paths_write(path, &i, sizeof(i)), "write");
        if (added == BARE_STAMPS) {
            bench_stamp_store(to->tuples + (size_t)to->at * 36, (uint32_t)i);
            if (++to->at == RING)
                to->at = 0;
        }
        if (added == SHARED_STAMPS) {
            uint32_t at =
                atomic_fetch_add_explicit(to->next, 1, memory_order_relaxed);
            bench_stamp_store(to->tuples + (size_t)(at % RING) * 36,
                              (uint32_t)i);
        }
    }
    return (bench_now_ns() - begin) / OPERATIONS;
}

static double write_turn(paths_path *path)
{
    return write_turn_of(path, NULL, PLAIN);
}

static double bare_turn(paths_path *path, ring *to)
{
    return write_turn_of(path, to, BARE_STAMPS);
}

static double shared_turn(paths_path *path, ring *to)
{
    return write_turn_of(path, to, SHARED_STAMPS);
}

typedef struct result {
    const char *file; /* of the limit's ring; NULL: memory */
    double collector, limit;
} result;

static int alone(paths_thread *self, void *argument)
{
    result *r = argument;
    double added[TURNS], limit[TURNS];
    ring bare = {.at = 0};
    paths_path *plain, *collected;

    if (paths_thread_number(self) != 0)
        return 0;
    bare.tuples = ring_make(r->file);
    bench_check(paths_open(&plain, self, "plain"), "open");
    bench_check(paths_open(&collected, self, "collected"), "open");
    write_turn(plain);
    write_turn(collected);
    bare_turn(plain, &bare);
    for (int i = 0; i < TURNS; i++) {
        double without = write_turn(plain);
        added[i] = write_turn(collected) - without;
        limit[i] = bare_turn(plain, &bare) - without;
    }
    r->collector = bench_median(added, TURNS);
    r->limit = bench_median(limit, TURNS);
    munmap(bare.tuples, (size_t)RING * 36);
    return 0;
}

/* --- shared by two threads --- */

static struct {
    pthread_barrier_t barrier;
    ring own[2], common;
    _Alignas(64) _Atomic uint32_t next;
    double added[2][TURNS], limit[2][TURNS], atomic[2][TURNS];
} shared;

static int together(paths_thread *self, void *argument)
{
    uint32_t me = paths_thread_number(self);
    paths_path *plain, *collected;
    ring own = shared.own[me], common = shared.common;

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
        shared.limit[me][i] = bare_turn(plain, &own) - without;
        pthread_barrier_wait(&shared.barrier);
        shared.atomic[me][i] = shared_turn(plain, &common) - without;
    }
    return 0;
}

static void rings_make(void)
{
    for (int i = 0; i < 2; i++)
        shared.own[i].tuples = ring_make(NULL);
    shared.common.tuples = ring_make(NULL);
    shared.common.next = &shared.next;
}

static void rings_drop(void)
{
    for (int i = 0; i < 2; i++)
        munmap(shared.own[i].tuples, (size_t)RING * 36);
    munmap(shared.common.tuples, (size_t)RING * 36);
}

static result file_run(void)
{
    result file = {.file = "bench.ring"};

    bench_check(paths_wrapper_register(&turn_type), "register");
    one_process_run(map, "bench.space", alone, &file);
    unlink("bench.space");
    unlink("bench.ring");
    return file;
}

double bench_collector_ns(void)
{
    return file_run().collector;
}

void bench_collector(void)
{
    result memory = {.file = NULL}, file;
    double added;

    bench_check(paths_wrapper_register(&turn_type), "register");
    one_process_run(map, NULL, alone, &memory);
    bench_print("collector.memory", memory.collector, "ns", memory.limit);
    file = file_run();
    bench_print("collector.file", file.collector, "ns", file.limit);

    pthread_barrier_init(&shared.barrier, NULL, 2);
    rings_make();
    one_process_run(map, NULL, together, NULL);
    added = bench_median(&shared.added[0][0], 2 * TURNS);
    bench_print("collector.shared2", added, "ns",
                bench_median(&shared.limit[0][0], 2 * TURNS));
    bench_print("collector.shared2.atomic", added, "ns",
                bench_median(&shared.atomic[0][0], 2 * TURNS));
    rings_drop();
}
