/* hand_run.c - see hand_run.h. */
#include "tests/bench/hand_run.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "eventspace/collect/trace.h"
#include "eventspace/run/meta.h"
#include "pastset/element.h"
#include "pastset/space.h"
#include "pastset/status.h"
#include "scopes/archive/archive.h"
#include "tests/bench/bench.h"

#define PROCESSES 4
#define THREADS 32
#define BATCH 4096
#define PERIOD_NS 10000
#define READ_BYTES (1 << 20)

static char scratch[64];

static const char *file_of(const char *folder, int process, const char *suffix)
{
    static char name[160];

    snprintf(name, sizeof(name), "%s/%s/h%d%s", scratch, folder, process,
             suffix);
    return name;
}

const char *hand_run_path(const char *folder)
{
    static char name[160];

    snprintf(name, sizeof(name), "%s/%s", scratch, folder);
    return name;
}

/* --- the run --- */

static void map_write(const char *folder)
{
    char name[160];
    FILE *out;

    snprintf(name, sizeof(name), "%s/%s", scratch, folder);
    if (mkdir(name, 0700) != 0)
        bench_check(pastset_status_from_errno(errno), name);
    snprintf(name, sizeof(name), "%s/%s/pathmap.dot", scratch, folder);
    out = fopen(name, "we");
    if (!out)
        bench_check(pastset_status_from_errno(errno), name);
    fprintf(out, "digraph bench {\n");
    for (int i = 0; i < THREADS; i++)
        fprintf(out,
                "subgraph cluster_h%d { t%d [kind=thread, number=%d]; c%d "
                "[kind=collector, id=%d, trace=\"trace.t%d\"]; e%d "
                "[kind=element, type=\"u64\"]; }\n"
                "t%d -> c%d [as=e, use=write];\nc%d -> e%d;\n",
                i % PROCESSES, i, i, i, i, i, i, i, i, i, i);
    fprintf(out, "}\n");
    fclose(out);
}

static void meta_write(const char *folder, int process, uint64_t end_tick)
{
    eventspace_meta meta = {.tick_hz = 1e9,
                            .pid = 1,
                            .start_wall_ns = 1000000000,
                            .end_tick = end_tick,
                            .threads = THREADS / PROCESSES,
                            .state = EVENTSPACE_FINISHED};

    snprintf(meta.process, sizeof(meta.process), "h%d", process);
    strcpy(meta.tick_source, "tsc");
    strcpy(meta.counter, "one");
    strcpy(meta.eventspace, "bench");
    bench_check(eventspace_meta_save(&meta, file_of(folder, process, ".meta")),
                "meta");
}

static eventspace_trace event_of(uint32_t thread, uint64_t i)
{
    uint64_t start = i * PERIOD_NS + (thread * 7919 + i * 104729) % 3000;

    return (eventspace_trace){.start = start,
                              .end = start + 500 + (i * 31) % 5000,
                              .collector = thread,
                              .thread = thread,
                              .sequence = (uint32_t)i + 1,
                              .bytes = 8,
                              .operation = 1};
}

static void space_write(const char *folder, int process, uint64_t each)
{
    pastset_space_options options = {
        .path = file_of(folder, process, HAND_RUN_SPACE)};
    pastset_space *space;
    pastset_type type;

    bench_check(pastset_type_parse(&type, EVENTSPACE_TRACE_TYPE), "type");
    bench_check(pastset_space_create(&space, &options), "space");
    for (uint32_t t = (uint32_t)process; t < THREADS; t += PROCESSES) {
        char name[32];
        pastset_element_options element = {.name = name,
                                           .type = &type,
                                           .policy = PASTSET_GROW,
                                           .capacity = each,
                                           .single_writer = true};
        pastset_element *stream;
        snprintf(name, sizeof(name), "trace.t%u", t);
        bench_check(pastset_element_create(&stream, space, &element), name);
        for (uint64_t i = 0; i < each; i++) {
            eventspace_trace event = event_of(t, i);
            bench_check(pastset_write(stream, &event, sizeof(event),
                                      PASTSET_NOWAIT, NULL),
                        name);
        }
    }
    pastset_space_close(space);
}

static void archive_write(const char *folder, int process, uint64_t each)
{
    static eventspace_trace events[BATCH];
    scopes_archive_writer *writer;
    char host[16];

    snprintf(host, sizeof(host), "h%d", process);
    bench_check(scopes_archive_writer_open(
                    &writer, file_of(folder, process, HAND_RUN_ARCHIVE), host),
                "archive");
    for (uint32_t t = (uint32_t)process; t < THREADS; t += PROCESSES) {
        char name[32];
        snprintf(name, sizeof(name), "trace.t%u", t);
        for (uint64_t i = 0; i < each; i += BATCH) {
            uint64_t count = each - i < BATCH ? each - i : BATCH;
            for (uint64_t k = 0; k < count; k++)
                events[k] = event_of(t, i + k);
            bench_check(scopes_archive_append(writer, name, i, events, count),
                        name);
        }
    }
    bench_check(scopes_archive_writer_close(writer), "archive");
}

/* --- the limit --- */

static const char *wanted_suffix;

static int read_file(const char *name, const struct stat *status, int kind,
                     struct FTW *walk)
{
    static char buffer[READ_BYTES];
    size_t length = strlen(name), end = strlen(wanted_suffix);
    int fd;

    (void)status;
    (void)walk;
    if (kind != FTW_F || length < end ||
        strcmp(name + length - end, wanted_suffix) != 0)
        return 0;
    fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        bench_check(pastset_status_from_errno(errno), name);
    while (read(fd, buffer, sizeof(buffer)) > 0)
        ;
    close(fd);
    return 0;
}

double hand_run_limit_ms(const char *folder, const char *suffix)
{
    const char *path = hand_run_path(folder);
    double begin = bench_now_ns();

    wanted_suffix = suffix;
    if (nftw(path, read_file, 8, FTW_PHYS) != 0)
        bench_check(pastset_status_from_errno(errno), path);
    return (bench_now_ns() - begin) / 1e6;
}

static int forget(const char *name, const struct stat *status, int kind,
                  struct FTW *walk)
{
    (void)status;
    (void)kind;
    (void)walk;
    return remove(name);
}

/* --- all of it --- */

void hand_run_begin(void)
{
    strcpy(scratch, "/tmp/es_bench.XXXXXX");
    if (!mkdtemp(scratch))
        bench_check(pastset_status_from_errno(errno), scratch);
    atexit(hand_run_end);
}

const char *hand_run_make(const char *folder, const char *suffix,
                          uint64_t events)
{
    static char names[4][160];
    static unsigned next;
    char *name = names[next++ % 4];

    map_write(folder);
    for (int i = 0; i < PROCESSES; i++) {
        meta_write(folder, i, events / THREADS * PERIOD_NS + 10000);
        if (strcmp(suffix, HAND_RUN_SPACE) == 0)
            space_write(folder, i, events / THREADS);
        else
            archive_write(folder, i, events / THREADS);
    }
    snprintf(name, sizeof(names[0]), "%s/%s", scratch, folder);
    return name;
}

void hand_run_end(void)
{
    nftw(scratch, forget, 8, FTW_DEPTH | FTW_PHYS);
}
