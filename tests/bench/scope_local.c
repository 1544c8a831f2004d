/* scope_local.c - how fast a tail reader gathers from a process of the same
 * machine.
 *
 * The process is started by this one, with streams in its space file. It fills
 * them when it is told to, and the tail reader takes all of it: in rings that
 * are written again and again, as of a run with a bounded trace, and in
 * elements that grow, where each page is a new one for the tail reader as well.
 * The limit is copying the same bytes out of the same mapping, into a buffer of
 * the same size. */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "eventspace/run/run.h"
#include "pastset/append.h"
#include "pastset/space.h"
#include "scopes/reading/tail_reader.h"
#include "tests/bench/bench.h"

#define STREAMS 8
#define TUPLES (128 << 10) /* that a stream gets at a time: 4.5 MiB */
#define TURNS 11
#define BATCH 4096
#define ALL ((uint64_t)STREAMS * TUPLES)

typedef struct process {
    char directory[64];
    pid_t pid;
    int tell, told; /* a byte each: fill your streams, and: they are full */
} process;

/* --- the process --- */

static void map_write(const char *directory)
{
    char name[128];
    FILE *out;

    snprintf(name, sizeof(name), "%s/pathmap.dot", directory);
    out = fopen(name, "w");
    if (!out)
        bench_check(PASTSET_EIO, name);
    fprintf(out, "digraph feed {\n  subgraph cluster_h0 {\n"
                 "    e [kind=element, type=\"u64\"];\n");
    for (int i = 0; i < STREAMS; i++)
        fprintf(out,
                "    t%d [kind=thread, number=%d];\n"
                "    c%d [kind=collector, id=%d, trace=\"trace.t%d\"];\n",
                i, i, i, i, i);
    fprintf(out, "  }\n");
    for (int i = 0; i < STREAMS; i++)
        fprintf(out, "  t%d -> c%d [use=write];\n  c%d -> e;\n", i, i, i);
    fprintf(out, "}\n");
    fclose(out);
}

static void stream_fill(pastset_element *stream, uint32_t thread)
{
    pastset_appender *appender = pastset_element_appender(stream);

    for (uint32_t i = 0; i < TUPLES; i++) {
        eventspace_trace event = {.start = i,
                                  .end = i + 1,
                                  .collector = thread,
                                  .thread = thread,
                                  .sequence = i,
                                  .operation = 1};
        unsigned char *slot = pastset_append_begin(appender);
        if (!slot) {
            bench_check(pastset_write(stream, &event, sizeof(event),
                                      PASTSET_NOWAIT, NULL),
                        "write");
            continue;
        }
        pastset_append_store(slot, &event, sizeof(event));
        pastset_append_end(appender);
    }
}

/* Never returns; ends when nobody tells it anything any more. */
static void process_be(const process *h, pastset_policy policy)
{
    char file[128], byte;
    pastset_element *streams[STREAMS];
    pastset_space *space;
    pastset_space_options options = {.path = file};
    pastset_type type;

    snprintf(file, sizeof(file), "%s/h0.space", h->directory);
    bench_check(pastset_space_create(&space, &options), "space");
    bench_check(pastset_type_parse(&type, EVENTSPACE_TRACE_TYPE), "type");
    for (int i = 0; i < STREAMS; i++) {
        char name[16];
        pastset_element_options stream = {
            .name = name,
            .type = &type,
            .policy = policy,
            .capacity = (uint64_t)TUPLES * (policy == PASTSET_GROW ? 64 : 1),
            .single_writer = true,
            .prefault = true};
        snprintf(name, sizeof(name), "trace.t%d", i);
        bench_check(pastset_element_create(&streams[i], space, &stream), name);
    }
    while (read(h->tell, &byte, 1) == 1) {
        for (uint32_t i = 0; i < STREAMS; i++)
            stream_fill(streams[i], i);
        if (write(h->told, &byte, 1) != 1)
            break;
    }
    _exit(0);
}

static void process_start(process *h, pastset_policy policy)
{
    int down[2], up[2];

    strcpy(h->directory, "/tmp/es_bench.XXXXXX");
    if (!mkdtemp(h->directory) || pipe(down) || pipe(up))
        bench_check(PASTSET_EIO, h->directory);
    map_write(h->directory);
    h->pid = fork();
    if (h->pid == 0) {
        h->tell = down[0];
        h->told = up[1];
        close(down[1]);
        close(up[0]);
        process_be(h, policy);
    }
    h->tell = down[1];
    h->told = up[0];
    close(down[0]);
    close(up[1]);
}

static void process_fill(process *h)
{
    char byte = 0;

    if (h->pid < 0 || write(h->tell, &byte, 1) != 1 ||
        read(h->told, &byte, 1) != 1)
        bench_check(PASTSET_EIO, "the process with the streams");
}

static int forget(const char *name, const struct stat *status, int kind,
                  struct FTW *walk)
{
    (void)status;
    (void)kind;
    (void)walk;
    return remove(name);
}

static void process_stop(process *h)
{
    close(h->tell);
    close(h->told);
    waitpid(h->pid, NULL, 0);
    nftw(h->directory, forget, 8, FTW_DEPTH | FTW_PHYS);
}

/* --- gathering --- */

static int take(const scopes_batch *batch, void *context)
{
    uint64_t *sum = context;
    *sum += batch->events[batch->count - 1].sequence + batch->count;
    return 0;
}

static double pull_ns(scopes_tail_reader *tail)
{
    double begin = bench_now_ns();
    uint64_t sum = 0;
    bool more;

    do {
        bench_check(scopes_tail_reader_pull(tail, take, &sum, &more), "pull");
    } while (more);
    return bench_now_ns() - begin;
}

/* Copies as many tuples out of the streams' memory, as much at a time. */
static double copy_ns(const unsigned char *from, uint64_t turn)
{
    static eventspace_trace buffer[BATCH];
    double begin = bench_now_ns();
    uint64_t sum = 0, bytes = sizeof(buffer);

    for (uint64_t i = 0; i < ALL / BATCH; i++) {
        memcpy(buffer, from + (turn * (ALL / BATCH) + i) * bytes, bytes);
        sum += buffer[BATCH - 1].sequence;
    }
    *(volatile uint64_t *)&sum = sum;
    return bench_now_ns() - begin;
}

/* As many bytes, `turns` times, in a file that is mapped for reading. */
static unsigned char *limit_make(const process *h, uint64_t turns)
{
    static eventspace_trace buffer[BATCH];
    uint64_t bytes = turns * ALL * sizeof(*buffer);
    char name[128];
    FILE *out;
    void *mapped;

    snprintf(name, sizeof(name), "%s/limit", h->directory);
    out = fopen(name, "w+");
    for (uint64_t i = 0; out && i < turns * ALL / BATCH; i++) {
        buffer[0].sequence = (uint32_t)i;
        if (fwrite(buffer, sizeof(buffer), 1, out) != 1)
            bench_check(PASTSET_EIO, name);
    }
    if (!out || fflush(out) != 0)
        bench_check(PASTSET_EIO, name);
    mapped = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fileno(out), 0);
    if (mapped == MAP_FAILED)
        bench_check(PASTSET_ENOMEM, name);
    fclose(out);
    return mapped;
}

static void measure(const char *name, pastset_policy policy)
{
    double pulls[TURNS], copies[TURNS];
    uint64_t turns = policy == PASTSET_GROW ? TURNS + 1 : 1;
    scopes_throttle throttle = {.batch = 1 << 20};
    unsigned char *limit;
    eventspace_run *run;
    scopes_tail_reader *tail;
    scopes_ledger ledger;
    process h;

    process_start(&h, policy);
    process_fill(&h);
    limit = limit_make(&h, turns);
    bench_check(eventspace_run_open(&run, h.directory), "run");
    bench_check(scopes_tail_reader_create(&tail, run, SIZE_MAX, &throttle),
                "feed");
    pull_ns(tail);
    copy_ns(limit, 0);
    for (uint64_t i = 0; i < TURNS; i++) {
        process_fill(&h);
        pulls[i] = pull_ns(tail);
        copies[i] = copy_ns(limit, policy == PASTSET_GROW ? i + 1 : 0);
    }
    scopes_tail_reader_ledger(tail, SIZE_MAX, &ledger);
    if (ledger.read != (TURNS + 1) * ALL)
        bench_check(PASTSET_EEXPIRED, "the feed came too late");
    bench_print(name, 1000 * ALL / bench_median(pulls, TURNS), "Mtuples/s",
                1000 * ALL / bench_median(copies, TURNS));
    scopes_tail_reader_destroy(tail);
    eventspace_run_close(run);
    munmap(limit, turns * ALL * sizeof(eventspace_trace));
    process_stop(&h);
}

void bench_scope_local(void)
{
    measure("scope.local", PASTSET_DISCARD);
    measure("scope.local_new_pages", PASTSET_GROW);
}
