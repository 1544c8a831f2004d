/* load_stress.c - event tables of archives and spaces, loaded by all
 * processors, with and without a limit on memory.
 *
 *     load_stress [ROUNDS]
 *
 * Each process has the same tuples, in its archive, its space or both; a table
 * must have all of them in their order, or those of a window. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "eventspace/run/run_writer.h"
#include "pastset/space.h"
#include "pastset/status.h"
#include "scopes/archive/archive.h"
#include "scopes/memory/memory_internal.h"
#include "scopes/reading/event_table.h"

#define PROCESSES 4
#define TUPLES 30000
#define BEGIN 1000
#define TOOK 5
#define STEP 10

static char directory[] = "/tmp/load_stress.XXXXXX";

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "load_stress: %s: %s\n", what, pastset_error());
    exit(1);
}

static const char *file_of(unsigned process, const char *suffix)
{
    static char file[100];

    snprintf(file, sizeof(file), "%s/h%u%s", directory, process, suffix);
    return file;
}

static eventspace_trace tuple_of(unsigned process, uint32_t i)
{
    uint64_t end = BEGIN + (uint64_t)STEP * i;

    return (eventspace_trace){.start = end - TOOK,
                              .end = end,
                              .collector = process,
                              .thread = process,
                              .sequence = i + 1,
                              .operation = 1};
}

/* --- the run --- */

static void map_write(void)
{
    char file[100];
    FILE *out;

    snprintf(file, sizeof(file), "%s/pathmap.dot", directory);
    out = fopen(file, "we");
    must(out, file);
    fprintf(out, "digraph stress {\n");
    for (unsigned i = 0; i < PROCESSES; i++)
        fprintf(out,
                "subgraph cluster_h%u {\n"
                "t%u [kind=thread, number=%u];\n"
                "c%u [kind=collector, id=%u, trace=\"trace.t%u\"];\n"
                "e%u [kind=element, type=\"u64\"];\n"
                "}\n"
                "t%u -> c%u [as=e, use=write];\nc%u -> e%u;\n",
                i, i, i, i, i, i, i, i, i, i, i);
    fprintf(out, "}\n");
    fclose(out);
}

static void archive_write(unsigned process, uint32_t to)
{
    scopes_archive_writer *writer;
    char name[20], stream[20];

    snprintf(name, sizeof(name), "h%u", process);
    snprintf(stream, sizeof(stream), "trace.t%u", process);
    must(!scopes_archive_writer_open(&writer, file_of(process, ".archive"),
                                     name),
         "an archive");
    for (uint32_t i = 0; i < to; i++) {
        eventspace_trace tuple = tuple_of(process, i);
        must(!scopes_archive_append(writer, stream, i, &tuple, 1), "a tuple");
    }
    must(!scopes_archive_writer_close(writer), "an archive");
}

static void space_write(unsigned process)
{
    pastset_space_options in = {.path = file_of(process, ".space")};
    pastset_type type;
    char stream[20];
    pastset_element_options options = {.name = stream,
                                       .type = &type,
                                       .policy = PASTSET_GROW,
                                       .capacity = TUPLES,
                                       .single_writer = true};
    pastset_element *element;
    pastset_space *space;

    snprintf(stream, sizeof(stream), "trace.t%u", process);
    must(!pastset_type_parse(&type, EVENTSPACE_TRACE_TYPE), "the type");
    must(!pastset_space_create(&space, &in), "a space");
    must(!pastset_element_create(&element, space, &options), "a stream");
    for (uint32_t i = 0; i < TUPLES; i++) {
        eventspace_trace tuple = tuple_of(process, i);
        must(!eventspace_run_writer_trace(element, &tuple), "a tuple");
    }
    pastset_space_close(space);
}

/* --- looking --- */

static void check(uint32_t from, uint32_t to)
{
    uint64_t from_ticks[PROCESSES], to_ticks[PROCESSES];
    scopes_filter filter = {.from_ticks = from_ticks, .to_ticks = to_ticks};
    scopes_event_table *table;
    scopes_source *source;
    eventspace_run *run;

    for (unsigned p = 0; p < PROCESSES; p++) {
        from_ticks[p] = BEGIN + (uint64_t)STEP * from;
        to_ticks[p] = BEGIN + (uint64_t)STEP * (to - 1);
    }
    must(!eventspace_run_open(&run, directory), "the run");
    must(!scopes_source_open(&source, run), "the source");
    must(!scopes_event_table_load(&table, source, &filter), "the table");
    for (unsigned p = 0; p < PROCESSES; p++) {
        const scopes_series *series = scopes_event_series(table, p);
        must(series->count == to - from, "how many tuples there are");
        for (uint32_t i = from; i < to; i++) {
            eventspace_trace want = tuple_of(p, i);
            must(memcmp(scopes_event_at(series->events, i - from), &want,
                        sizeof(want)) == 0,
                 "a tuple");
        }
    }
    must(table->ledger.lost == 0 &&
             table->ledger.read == (uint64_t)PROCESSES * (to - from) &&
             table->ledger.recorded == (uint64_t)PROCESSES * TUPLES,
         "the ledger");
    scopes_event_table_destroy(table);
    scopes_source_close(source);
    eventspace_run_close(run);
}

static void forget(void)
{
    static const char *const suffixes[] = {".archive", ".space"};

    for (unsigned p = 0; p < PROCESSES; p++) {
        for (size_t i = 0; i < 2; i++)
            unlink(file_of(p, suffixes[i]));
    }
}

int main(int argc, char **argv)
{
    /* None; in memory, from which pages of spaces are taken; in a file. */
    static const uint64_t limits[] = {0, 20000000, 1};
    int rounds = argc > 1 ? atoi(argv[1]) : 20;
    char map[100];

    must(mkdtemp(directory), "a folder");
    map_write();
    archive_write(0, TUPLES);
    archive_write(1, TUPLES);
    archive_write(2, TUPLES / 3);
    space_write(2);
    space_write(3);
    for (int i = 0; i < rounds; i++) {
        must(!scopes__memory_limit(limits[i % 3], 1 << 16), "the limit");
        check(0, TUPLES);
        check(TUPLES / 2 + (uint32_t)i, TUPLES / 2 + 1000);
        check(0, 100);
        check(TUPLES - 1, TUPLES);
    }
    must(!scopes__memory_limit(0, 0), "the limit");
    forget();
    snprintf(map, sizeof(map), "%s/pathmap.dot", directory);
    unlink(map);
    rmdir(directory);
    return 0;
}
