#include "tests/measure/planted_ranks.h"

#include <stdio.h>
#include <stdlib.h>

#include "eventspace/collect/ticks.h"
#include "eventspace/record/environment.h"
#include "eventspace/record/recorder.h"
#include "eventspace/run/meta.h"
#include "eventspace/run/run_writer.h"
#include "pastset/verb.h"
#include "tests/support/check.h"

#define RANKS_MAX 16
#define ELEMENT "bytes[67108864]"

static struct {
    uint32_t ranks;
    uint64_t begin; /* ticks */
    eventspace_recorder *recorders[RANKS_MAX];
    eventspace_recorded_thread *threads[RANKS_MAX];
    uint32_t calls;
    const char *directory, *library; /* NULL: they are on one machine */
} run;

static void name_of(char out[32], uint32_t rank)
{
    eventspace_rank_name(out, rank, run.ranks);
}

static void directory_make(const char *directory)
{
    eventspace_run_writer *writer;
    paths_map *map;
    char name[32];

    check_status(paths_map_create(&map, "mpi"), 0);
    for (uint32_t i = 0; i < run.ranks; i++) {
        name_of(name, i);
        cr_assert_eq(paths_map_add_process(map, name), i);
    }
    check_status(eventspace_run_writer_open(&writer, directory, map, true), 0);
    eventspace_run_writer_close(writer, true);
    paths_map_destroy(map);
}

void planted_begin(const char *directory, uint32_t ranks)
{
    char name[32];

    eventspace_ticks_init();
    run.ranks = ranks;
    run.calls = 0;
    run.directory = directory;
    run.library = NULL;
    directory_make(directory);
    for (uint32_t i = 0; i < ranks; i++) {
        eventspace_recorder_options options = {.directory = directory,
                                               .process = name,
                                               .rank = i,
                                               .processes = ranks,
                                               .max_events = 1000};
        name_of(name, i);
        check_status(eventspace_recorder_open(&run.recorders[i], &options), 0);
    }
    run.begin = eventspace_ticks();
    for (uint32_t i = 0; i < ranks; i++) {
        name_of(name, i);
        check_status(eventspace_recorder_thread(
                         &run.threads[i], run.recorders[i], name, run.begin),
                     0);
    }
}

void planted_far(const char *library)
{
    run.library = library;
}

static void machine_set(uint32_t rank)
{
    eventspace_meta meta;
    char name[32], file[4096];

    name_of(name, rank);
    snprintf(file, sizeof(file), "%s/%s.meta", run.directory, name);
    check_status(eventspace_meta_load(&meta, file), 0);
    snprintf(meta.machine, sizeof(meta.machine), "node%u", rank);
    snprintf(meta.library, sizeof(meta.library), "%s", run.library);
    check_status(eventspace_meta_save(&meta, file), 0);
}

void planted_end(void)
{
    for (uint32_t i = 0; i < run.ranks; i++) {
        check_status(eventspace_recorder_close(run.recorders[i], NULL), 0);
        if (run.library)
            machine_set(i);
    }
}

void planted_pretend(uint32_t rank, uint32_t to_be)
{
    run.threads[rank]->number = run.threads[to_be]->number;
}

static uint64_t ticks_at(int64_t us)
{
    return run.begin + (uint64_t)((double)us * eventspace_ticks_hz() / 1e6);
}

void planted_yields(uint32_t rank, uint64_t yields)
{
    run.threads[rank]->yields = yields;
    eventspace_recorder_thread_end(run.threads[rank], eventspace_ticks());
}

/* --- what calls lead to --- */

/* The same one for all who name it; `home` has it. */
static uint32_t element(uint32_t rank, const char *name, uint32_t home,
                        bool has_rounds, const char *members)
{
    char process[32];
    uint32_t id;

    name_of(process, home);
    check_status(eventspace_recorder_define(
                     &id, run.recorders[rank], EVENTSPACE_DEFINES_ELEMENT,
                     EVENTSPACE_NO_PARENT, name, "key", name, "process",
                     process, "type", ELEMENT, "policy", "grow", "rounds",
                     has_rounds ? "true" : NULL, "members", members, NULL),
                 0);
    return id;
}

static eventspace_recorded_collector collector(uint32_t rank, const char *name)
{
    eventspace_recorded_collector made;

    check_status(eventspace_recorder_collector(&made, run.recorders[rank], name,
                                               run.threads[rank]->trace),
                 0);
    return made;
}

static void edge(uint32_t rank, uint32_t from, uint32_t to)
{
    check_status(eventspace_recorder_edge(run.recorders[rank], from, to, NULL),
                 0);
}

/* A place of its own for each call. */
static uint32_t place(const planted_call *call, const char *use, uint32_t to)
{
    eventspace_recorded_thread *thread = run.threads[call->rank];
    char name[128], own[32];
    eventspace_recorded_collector made;

    name_of(own, call->rank);
    snprintf(name, sizeof(name), "%s: %s at planted.c:%u", own, call->name,
             run.calls++);
    made = collector(call->rank, name);
    check_status(eventspace_recorder_edge(run.recorders[call->rank],
                                          thread->definition, made.definition,
                                          "as", name, "use", use, NULL),
                 0);
    edge(call->rank, made.definition, to);
    return made.id;
}

static void record(const planted_call *call, uint32_t at, uint16_t verb)
{
    eventspace_recorded_thread *thread = run.threads[call->rank];
    eventspace_trace event = {.start = ticks_at(call->start_us),
                              .end = ticks_at(call->end_us),
                              .collector = at,
                              .sequence = thread->sequence,
                              .bytes = call->bytes,
                              .operation = verb};

    eventspace_record(thread, &event);
}

static void leave(const planted_call *call, uint16_t verb, uint32_t to)
{
    bool reads = verb != PASTSET_WRITE && verb != PASTSET_EXCHANGE;
    uint32_t at = place(call, reads ? "read" : "write", to);

    run.threads[call->rank]->sequence++;
    record(call, at, verb);
}

/* --- calls --- */

void planted_alone(planted_call call)
{
    char name[128], own[32];

    name_of(own, call.rank);
    snprintf(name, sizeof(name), "%s of %s", call.name, own);
    leave(&call, PASTSET_WRITE,
          element(call.rank, name, call.rank, false, NULL));
}

static uint32_t channel(uint32_t rank, uint32_t from, uint32_t to)
{
    char name[64];

    snprintf(name, sizeof(name), "%u to %u", from, to);
    return element(rank, name, to, false, NULL);
}

void planted_send(planted_call call, uint32_t to)
{
    leave(&call, PASTSET_WRITE, channel(call.rank, call.rank, to));
}

void planted_receive(planted_call call, uint32_t from)
{
    leave(&call, PASTSET_TAKE, channel(call.rank, from, call.rank));
}

void planted_join(planted_call call, const char *type)
{
    eventspace_recorder *recorder = run.recorders[call.rank];
    char name[128], own[32], first[32];
    eventspace_recorded_collector joining;
    uint32_t wrapper, at;

    name_of(own, call.rank);
    name_of(first, 0);
    snprintf(name, sizeof(name), "%s of all", call.name);
    check_status(eventspace_recorder_define(
                     &wrapper, recorder, EVENTSPACE_DEFINES_WRAPPER,
                     EVENTSPACE_NO_PARENT, name, "key", name, "process", first,
                     "kind", type, NULL),
                 0);
    edge(call.rank, wrapper, element(call.rank, call.name, 0, false, NULL));
    snprintf(name, sizeof(name), "%s: at %s", own, call.name);
    joining = collector(call.rank, name);
    edge(call.rank, joining.definition, wrapper);
    at = place(&call, "write", joining.definition);
    run.threads[call.rank]->sequence++;
    record(&call, joining.id, PASTSET_EXCHANGE);
    record(&call, at, PASTSET_EXCHANGE);
}

void planted_start(planted_call call)
{
    char name[128], members[16];

    snprintf(name, sizeof(name), "%s of each", call.name);
    snprintf(members, sizeof(members), "0-%u", run.ranks - 1);
    leave(&call, PASTSET_WRITE, element(call.rank, name, 0, false, members));
}

static uint32_t rooted(const planted_call *call, uint32_t root)
{
    char name[128], members[16];

    snprintf(name, sizeof(name), "%s of root %u", call->name, root);
    snprintf(members, sizeof(members), "0-%u", run.ranks - 1);
    return element(call->rank, name, root, true, members);
}

void planted_from_root(planted_call call, uint32_t root)
{
    leave(&call, call.rank == root ? PASTSET_WRITE : PASTSET_READ_NEXT,
          rooted(&call, root));
}

void planted_to_root(planted_call call, uint32_t root)
{
    leave(&call, call.rank == root ? PASTSET_READ_LAST : PASTSET_WRITE,
          rooted(&call, root));
}
