/* facts.c - counting what a run directory holds.
 *
 * Where there are archives, a source counts: it knows which tuples are in
 * both. It is asked for a time that no tuple has, so that it counts by the
 * heads of blocks and reads none of them. */
#include "viewer/tables/facts.h"

#include "eventspace/collect/ticks.h"
#include "pastset/append.h"
#include "pastset/space.h"
#include "pastset/status.h"
#include "scopes/reading/source.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

bool viewer_is_running(const eventspace_run *run)
{
    for (size_t i = 0; i < eventspace_run_process_count(run); i++) {
        const eventspace_run_process *process =
            eventspace_run_process_at(run, i);
        if (process->has_meta && process->meta.state == EVENTSPACE_RUNNING)
            return true;
    }
    return false;
}

static bool has_collectors(const scopes_topology *topology)
{
    bool any = false;

    for (uint32_t i = 0; i < topology->collectors && !any; i++)
        any = topology->nodes[i] != PATHS_NONE;
    return any;
}

int viewer_require_events(const scopes_snapshot *snapshot, const char *name)
{
    if (!has_collectors(snapshot->topology) &&
        snapshot->event_table->ledger.recorded == 0)
        return pastset_fail(
            PASTSET_ENOENT,
            "%s: this run has no events, as its map has no collectors: add "
            "them by `eventspace map instrument MAP --output=FILE`, and run "
            "the program again with that map",
            name);
    if (snapshot->event_table->ledger.recorded == 0 &&
        !viewer_is_running(snapshot->run) &&
        eventspace_run_damaged(snapshot->run) == 0)
        return pastset_fail(PASTSET_ENOENT,
                            "%s: this run has no events: no operation of its "
                            "threads has ended; `eventspace info %s` shows "
                            "how its processes ended",
                            name, name);
    return 0;
}

static void count_elements(viewer_process_facts *facts, eventspace_run *run)
{
    pastset_space *space = facts->process->space;
    size_t count = space ? pastset_space_count(space) : 0;
    for (size_t i = 0; i < count; i++) {
        pastset_element *element = pastset_space_at(space, i);
        if (eventspace_run_is_trace(run, element))
            facts->streams++;
        else if (!paths_element_is_internal(pastset_element_name(element)))
            facts->elements++;
    }
}

static uint32_t threads_on(const paths_map *map, uint32_t process)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < map->node_count; i++)
        count += map->nodes[i].kind == PATHS_THREAD &&
                 map->nodes[i].process == process;
    return count;
}

/* --- how long --- */

static int latest(const eventspace_trace *event, void *context)
{
    uint64_t *end = context;

    if (event->end > *end)
        *end = event->end;
    return 0;
}

/* When nobody was left to write when a process ended, its last tuple may be
 * later than the last other sign of life. */
static void take_time(viewer_process_facts *facts, eventspace_run *run,
                      size_t i)
{
    const eventspace_meta *meta = &facts->process->meta;
    uint64_t end = eventspace_run_end_ticks(run, i);

    if (!facts->process->has_meta)
        return;
    facts->scheduling_ns = meta->scheduling_ns;
    if (meta->state != EVENTSPACE_RUNNING && meta->end_tick == 0)
        eventspace_run_each(run, i, latest, &end);
    if (end > meta->start_tick && meta->tick_hz > 0)
        facts->lasted_ns =
            (int64_t)((double)(end - meta->start_tick) * 1e9 / meta->tick_hz);
}

/* --- archives --- */

static bool has_archive(eventspace_run *run, const char *process, char *file,
                        size_t capacity)
{
    return eventspace_run_file(file, capacity, eventspace_run_directory(run),
                               process, SCOPES_ARCHIVE_SUFFIX) == 0 &&
           access(file, F_OK) == 0;
}

static int count_saved(viewer_process_facts *facts, scopes_source *source,
                       size_t i)
{
    scopes_ledger ledger;
    int err = scopes_source_count(source, i, &ledger);

    if (err)
        return err;
    facts->events.recorded = ledger.recorded;
    facts->events.present = ledger.read;
    facts->events.lost = ledger.lost;
    facts->events.bytes = facts->events.present * EVENTSPACE_TRACE_BYTES;
    return 0;
}

static int take_archive(viewer_process_facts *facts, scopes_source *source,
                        size_t i, const char *file)
{
    scopes_archive *archive;

    if (scopes_archive_open(&archive, file) != 0)
        return 0; /* the source has noted what is wrong with it */
    facts->archived = true;
    facts->archive = scopes_archive_costs(archive);
    scopes_archive_close(archive);
    return count_saved(facts, source, i);
}

static int take_archives(viewer_facts *facts, eventspace_run *run)
{
    scopes_source *source = NULL;
    char file[4096];
    int err = 0;

    for (size_t i = 0; i < facts->process_count && !err; i++) {
        const char *name = facts->processes[i].process->name;
        if (!has_archive(run, name, file, sizeof(file)))
            continue;
        if (!source)
            err = scopes_source_open(&source, run);
        if (!err)
            err = take_archive(&facts->processes[i], source, i, file);
    }
    if (source)
        scopes_source_close(source);
    return err;
}

/* --- all --- */

static int take_process(viewer_process_facts *facts, eventspace_run *run,
                        size_t i)
{
    facts->process = eventspace_run_process_at(run, i);
    facts->state = "missing";
    facts->text = facts->process->problem;
    if (facts->process->has_meta) {
        facts->state = eventspace_state_name(facts->process->meta.state);
        facts->text = facts->process->meta.text;
    }
    facts->threads = threads_on(eventspace_run_map(run), (uint32_t)i);
    count_elements(facts, run);
    take_time(facts, run, i);
    return eventspace_run_events(run, i, &facts->events);
}

static void add(viewer_process_facts *total,
                const viewer_process_facts *process)
{
    if (strcmp(process->state, "finished") != 0)
        total->state = process->state;
    total->threads += process->threads;
    total->elements += process->elements;
    total->streams += process->streams;
    total->events.recorded += process->events.recorded;
    total->events.present += process->events.present;
    total->events.lost += process->events.lost;
    total->events.spilled += process->events.spilled;
    total->events.starved += process->events.starved;
    total->events.blocked_ns += process->events.blocked_ns;
    total->events.bytes += process->events.bytes;
    total->scheduling_ns += process->scheduling_ns;
    if (process->lasted_ns > total->lasted_ns)
        total->lasted_ns = process->lasted_ns;
    total->archived |= process->archived;
    total->archive.tuples += process->archive.tuples;
    total->archive.bytes += process->archive.bytes;
    total->archive.processor_ns += process->archive.processor_ns;
    total->archive.pulls += process->archive.pulls;
    if (process->archive.elapsed_ns > total->archive.elapsed_ns)
        total->archive.elapsed_ns = process->archive.elapsed_ns;
}

int viewer_facts_take(viewer_facts *out, eventspace_run *run)
{
    memset(out, 0, sizeof(*out));
    out->total.state = "finished";
    out->total.text = "";
    out->process_count = eventspace_run_process_count(run);
    out->processes = calloc(out->process_count + 1, sizeof(*out->processes));
    int err = 0;
    if (!out->processes) {
        viewer_facts_fini(out);
        return pastset_no_memory("for the processes");
    }
    for (size_t i = 0; i < out->process_count && !err; i++)
        err = take_process(&out->processes[i], run, i);
    if (!err)
        err = take_archives(out, run);
    for (size_t i = 0; i < out->process_count && !err; i++)
        add(&out->total, &out->processes[i]);
    if (err)
        viewer_facts_fini(out);
    return err;
}

void viewer_facts_fini(viewer_facts *facts)
{
    free(facts->processes);
    memset(facts, 0, sizeof(*facts));
}

/* --- what making a tuple takes --- */

#define COST_TURNS 9
#define COST_EVENTS 20000
#define COST_CAPACITY 32768

/* Of this thread: what others do in between does not count. */
static double processor_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* What a collector does of its own, without the operation that it is on. */
static double cost_turn(pastset_appender *appender)
{
    double begin = processor_seconds();

    for (uint32_t i = 0; i < COST_EVENTS; i++) {
        eventspace_trace event = {.start = eventspace_ticks(), .sequence = i};
        unsigned char *slot;
        event.end = eventspace_ticks();
        slot = pastset_append_begin(appender);
        if (!slot) { /* the first tuples, until there is room to overwrite */
            pastset_write(pastset_appender_element(appender), &event,
                          sizeof(event), PASTSET_NOWAIT, NULL);
            continue;
        }
        pastset_append_store(slot, &event, sizeof(event));
        pastset_append_end(appender);
    }
    return (processor_seconds() - begin) * 1e9 / COST_EVENTS;
}

static int compare_reals(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

double viewer_event_cost_ns(void)
{
    pastset_space_options small = {.max_bytes = 1 << 26, .max_elements = 16};
    pastset_element_options options = {.name = "cost",
                                       .policy = PASTSET_DISCARD,
                                       .capacity = COST_CAPACITY,
                                       .single_writer = true,
                                       .prefault = true};
    pastset_space *space = NULL;
    pastset_element *element;
    pastset_type type;
    double turns[COST_TURNS];

    options.type = &type;
    eventspace_ticks_init();
    if (pastset_space_create(&space, &small) != 0)
        return 0;
    if (pastset_type_parse(&type, EVENTSPACE_TRACE_TYPE) != 0 ||
        pastset_element_create(&element, space, &options) != 0 ||
        !pastset_element_appender(element)) {
        pastset_space_close(space);
        return 0;
    }
    cost_turn(pastset_element_appender(element)); /* warms up */
    for (int i = 0; i < COST_TURNS; i++)
        turns[i] = cost_turn(pastset_element_appender(element));
    pastset_space_close(space);
    qsort(turns, COST_TURNS, sizeof(*turns), compare_reals);
    return turns[COST_TURNS / 2];
}
