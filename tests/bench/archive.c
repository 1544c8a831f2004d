/* archive.c - writing an archive, and finding one second of one thread in a
 * large one.
 *
 * archive.write: tuples of several streams, appended as an archiver does. Its
 * limit is writing the same tuples as they are with write(2).
 *
 * archive.seek: who looks for a second of one thread is to take a hundredth of
 * the time that reading everything takes, and 100 MB of memory. Both happen in
 * processes of their own, with an archive of a run of 32 threads that has
 * ES_BENCH_ARCHIVE_MB (200) megabytes. */
#include "tests/bench/bench.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scopes/archive/archive.h"
#include "scopes/archive/archive_internal.h"

#define THREADS 32
#define TRIES 5
#define WRITTEN (4u << 20) /* tuples, in each try of archive.write */
#define PIECE 4096 /* tuples that come together, as from a tail reader */
#define OPERATION_NS                                                           \
    300000            /* from one to the next, of a thread: 10,000             \
                         tuples a second, 320,000 in all */
#define MEMORY_MB 100 /* may be taken */

static const char file[] = "bench.archive";

/* --- a run --- */

/* What collectors of one thread write: operations of three collectors, one
 * within the other, of lengths that are nothing regular. */
typedef struct tracer {
    uint64_t now, random;
    uint32_t thread, sequence, inner;
    uint64_t starts[3];
} tracer;

static uint64_t next_random(tracer *t)
{
    t->random = t->random * 6364136223846793005u + 1442695040888963407u;
    return t->random >> 33;
}

static void trace(tracer *t, eventspace_trace *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (t->inner == 0) {
            t->sequence++;
            t->now += next_random(t) % (2 * OPERATION_NS);
            for (int k = 2; k >= 0; k--)
                t->starts[k] = t->now += 20 + next_random(t) % 32;
        }
        t->now += 40 + next_random(t) % 2048;
        out[i] = (eventspace_trace){.start = t->starts[t->inner],
                                    .end = t->now,
                                    .collector = 3 * t->thread + t->inner,
                                    .thread = t->thread,
                                    .sequence = t->sequence,
                                    .bytes = 8,
                                    .operation = 1};
        t->inner = (t->inner + 1) % 3;
    }
}

static void tracers_begin(tracer *tracers)
{
    for (uint32_t i = 0; i < THREADS; i++)
        tracers[i] = (tracer){.now = 1000000000, .random = i + 1, .thread = i};
}

/* --- writing --- */

static eventspace_trace *tuples_make(void)
{
    eventspace_trace *all = malloc((size_t)WRITTEN * sizeof(*all));
    tracer tracers[THREADS];

    bench_check(all ? 0 : -2, "memory for tuples");
    tracers_begin(tracers);
    for (size_t i = 0; i < WRITTEN; i += PIECE)
        trace(&tracers[i / PIECE % THREADS], all + i, PIECE);
    return all;
}

static double archive_ns(const eventspace_trace *all)
{
    scopes_archive_writer *writer;
    uint64_t next[THREADS] = {0};
    double begin;

    unlink(file);
    begin = bench_now_ns();
    bench_check(scopes_archive_writer_open(&writer, file, "h0"), "an archive");
    for (size_t i = 0; i < WRITTEN; i += PIECE) {
        size_t thread = i / PIECE % THREADS;
        char stream[32];
        snprintf(stream, sizeof(stream), "trace.t%zu", thread);
        bench_check(
            scopes_archive_append(writer, stream, next[thread], all + i, PIECE),
            "appending");
        next[thread] += PIECE;
    }
    bench_check(scopes_archive_writer_close(writer), "closing");
    return bench_now_ns() - begin;
}

static double raw_ns(const eventspace_trace *all)
{
    double begin;
    int fd;

    unlink(file);
    begin = bench_now_ns();
    fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    for (size_t i = 0; i < WRITTEN; i += PIECE) {
        size_t bytes = PIECE * sizeof(*all);
        bench_check(write(fd, all + i, bytes) == (ssize_t)bytes ? 0 : -4,
                    "writing");
    }
    close(fd);
    return bench_now_ns() - begin;
}

static void bench_write(void)
{
    eventspace_trace *all = tuples_make();
    double packed[TRIES], raw[TRIES];

    for (int i = 0; i < TRIES; i++) {
        raw[i] = raw_ns(all);
        packed[i] = archive_ns(all);
    }
    bench_print("archive.write", WRITTEN * 1e3 / bench_median(packed, TRIES),
                "million tuples/s", WRITTEN * 1e3 / bench_median(raw, TRIES));
    unlink(file);
    free(all);
}

/* --- seeking --- */

static void large_write(uint64_t bytes)
{
    static eventspace_trace piece[PIECE];
    tracer tracers[THREADS];
    scopes_archive_writer *writer;
    scopes_archive_ledger so_far = {0};

    unlink(file);
    tracers_begin(tracers);
    bench_check(scopes_archive_writer_open(&writer, file, "h0"), "an archive");
    for (uint64_t at = 0; so_far.bytes < bytes; at += PIECE) {
        for (uint32_t i = 0; i < THREADS; i++) {
            char stream[32];
            snprintf(stream, sizeof(stream), "trace.t%u", i);
            trace(&tracers[i], piece, PIECE);
            bench_check(scopes_archive_append(writer, stream, at, piece, PIECE),
                        "appending");
        }
        scopes_archive_count(writer, &so_far);
    }
    bench_check(scopes_archive_writer_close(writer), "closing");
}

/* Opens the archive and reads all blocks, or those of one second of one
 * thread, from the middle on. Gives the number of tuples. */
static uint64_t snapshot(bool whole)
{
    static eventspace_trace tuples[SCOPES_ARCHIVE_BLOCK];
    uint64_t found = 0, from, to;
    scopes_archive *archive;
    size_t blocks;

    bench_check(scopes_archive_open(&archive, file), "opening");
    blocks = scopes_archive_blocks(archive);
    from = scopes_archive_block_at(archive, blocks / 2)->from_ticks;
    to = from + 1000000000;
    for (size_t i = 0; i < blocks; i++) {
        const scopes_archive_block *b = scopes_archive_block_at(archive, i);
        if (!whole && (b->from_thread > 7 || b->to_thread < 7 ||
                       b->from_ticks > to || b->to_ticks < from))
            continue;
        bench_check(scopes_archive_read(archive, i, tuples), "reading");
        for (uint32_t k = 0; k < b->count; k++)
            found += whole || (tuples[k].thread == 7 && tuples[k].start <= to &&
                               tuples[k].end >= from);
    }
    scopes_archive_close(archive);
    return found;
}

static double memory_mb(void)
{
    FILE *status = fopen("/proc/self/status", "r");
    double kb = 0;
    char line[256];

    while (status && fgets(line, sizeof(line), status))
        if (sscanf(line, "VmHWM: %lf", &kb) == 1)
            break;
    if (status)
        fclose(status);
    return kb / 1024;
}

typedef struct looked {
    double ns, mb;
    uint64_t tuples;
} looked;

/* In a process of its own, for whom the memory is counted. */
static looked look_apart(bool whole)
{
    looked l = {0};
    int ends[2];
    pid_t pid;

    bench_check(pipe(ends) ? -4 : 0, "a pipe");
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        double before = memory_mb(); /* of the parent, who has written */
        double begin = bench_now_ns();
        l.tuples = snapshot(whole);
        l.ns = bench_now_ns() - begin;
        l.mb = memory_mb() - before;
        _exit(write(ends[1], &l, sizeof(l)) == (ssize_t)sizeof(l) ? 0 : 1);
    }
    close(ends[1]);
    bench_check(read(ends[0], &l, sizeof(l)) == (ssize_t)sizeof(l) ? 0 : -4,
                "looking into the archive");
    close(ends[0]);
    waitpid(pid, NULL, 0);
    return l;
}

static void bench_seek(void)
{
    const char *wanted = getenv("ES_BENCH_ARCHIVE_MB");
    uint64_t mb = wanted ? strtoull(wanted, NULL, 10) : 200;
    double second[TRIES], whole[TRIES], max = 0;
    uint64_t found = 0, all = 0;

    large_write(mb * 1000000);
    for (int i = 0; i < TRIES; i++) {
        looked s = look_apart(false), w = look_apart(true);
        second[i] = s.ns * 1e-6;
        whole[i] = w.ns * 1e-6;
        max = s.mb > max ? s.mb : max;
        found = s.tuples;
        all = w.tuples;
    }
    unlink(file);
    fprintf(stderr, "bench: archive.seek: %llu of %llu tuples, in %llu MB\n",
            (unsigned long long)found, (unsigned long long)all,
            (unsigned long long)mb);
    bench_print("archive.seek", bench_median(second, TRIES), "ms",
                bench_median(whole, TRIES));
    bench_print("archive.seek.memory", max, "MB", MEMORY_MB);
}

void bench_archive(void)
{
    bench_write();
    bench_seek();
}
