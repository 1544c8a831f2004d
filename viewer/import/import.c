/* import.c - see import.h. The trace is walked twice: first for what is in it,
 * of which the map is made, then for its events, which go where they belong. So
 * memory is taken by what threads communicate by, not by how often; but clocks
 * are aligned by all messages at once. */
#include "viewer/import/import.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "eventspace/collect/message.h"
#include "eventspace/collect/scheduling.h"
#include "eventspace/collect/trace.h"
#include "eventspace/run/run_writer.h"
#include "pastset/request.h"
#include "pastset/status.h"
#include "scopes/clocks/clock.h"
#include "scopes/reading/source.h"
#include "viewer/import/import_definitions_internal.h"
#include "viewer/import/import_map_internal.h"

/* Addresses: of a space, and of a thread in it. */
#define SPACE_BYTES (UINT64_C(64) << 20)
#define THREAD_BYTES (UINT64_C(1) << 20)

/* Of a trace: of two, which may have the same map, nobody takes the clock or
 * the communicators of one for those of the other. */
#define COUNTER_FORMAT "otf2 %" PRIx64 " %.80s"

/* What is written of a thread. */
typedef struct thread_out {
    pastset_element *operations, *regions, *messages, *life;
    /* Room that is needed. */
    uint64_t operation_count, region_count, message_count;
    uint32_t operation, region; /* numbers of the last */
    uint64_t begin, end;        /* of all its calls; begin UINT64_MAX: none */
} thread_out;

typedef struct importing {
    otf2_trace *trace;
    import_uses *uses;
    paths_map *map;
    eventspace_run_writer *writer;
    thread_out *threads;
    import_definitions *definitions;
    import_report *report;
    calls_odd odd;
    const mpi_call *call; /* that is being written */
} importing;

static int no_memory(void)
{
    return pastset_no_memory("to import a trace");
}

/* --- what there is --- */

static int count_use(const import_given *given, void *context)
{
    importing *m = context;
    thread_out *t = &m->threads[given->thread];

    t->operation_count++;
    t->message_count += given->is_message;
    return 0;
}

static int look_at(uint32_t thread, const mpi_call *call, void *context)
{
    importing *m = context;
    thread_out *t = &m->threads[thread];

    t->begin = call->start < t->begin ? call->start : t->begin;
    t->end = call->end > t->end ? call->end : t->end;
    if (call->what == CALL_REGION) {
        t->region_count++;
        m->report->regions++;
        return 0;
    }
    return viewer__import_uses_of(m->uses, thread, call, count_use, m);
}

static void report_uses(importing *m)
{
    import_report *r = m->report;

    for (uint32_t i = 0; i < viewer__import_uses_count(m->uses); i++) {
        const import_use *use = viewer__import_uses_at(m->uses, i);
        const import_place *place =
            viewer__import_uses_place(m->uses, use->place);
        bool matched = viewer__import_place_is_matched(place);
        r->operations += use->count;
        switch (use->role) {
        case USE_WRITES:
            *(matched ? &r->messages : &r->sent_only) += use->count;
            break;
        case USE_TAKES:
            r->received_only += matched ? 0 : use->count;
            break;
        case USE_JOINS:
            *(matched ? &r->collectives : &r->joined_only) += use->count;
            break;
        default:
            break;
        }
    }
}

static void report_unpaired(importing *m)
{
    import_report *r = m->report;
    uint32_t first = m->odd.unpaired_first;

    r->unpaired = m->odd.unpaired;
    r->unpaired_alike = m->odd.unpaired_alike;
    if (r->unpaired && first != OTF2_NONE)
        snprintf(r->unpaired_name, sizeof(r->unpaired_name), "%s",
                 m->trace->regions[first].name);
}

static int look(importing *m)
{
    int err = 0;

    for (uint32_t i = 0; i < m->trace->thread_count && !err; i++) {
        m->threads[i].begin = UINT64_MAX;
        err = viewer__calls_walk(m->trace, i, look_at, m, &m->odd);
    }
    if (!err)
        err = viewer__import_uses_settle(m->uses, m->odd.joined_groups,
                                         m->odd.requests == m->odd.received &&
                                             m->odd.unbegun == 0 &&
                                             m->odd.silent == 0);
    if (err)
        return err;
    m->report->processes = m->trace->process_count;
    m->report->threads = m->trace->thread_count;
    m->report->others = m->odd.others;
    report_unpaired(m);
    m->report->open = m->odd.open;
    m->report->requests = m->odd.requests;
    m->report->requests_ended = m->odd.received;
    m->report->silent = m->odd.silent;
    report_uses(m);
    return 0;
}

/* --- writing --- */

static int trace_element(importing *m, pastset_element **out, const char *name,
                         uint64_t count)
{
    return eventspace_run_writer_element(out, m->writer, name,
                                         EVENTSPACE_TRACE_TYPE, count);
}

/* What of a call was sent or received, beside its trace tuple. */
static int write_message(importing *m, const import_given *given)
{
    const import_use *u = viewer__import_uses_at(m->uses, given->use);
    const otf2_event *event = m->call->event;
    thread_out *t = &m->threads[u->thread];
    eventspace_message tuple = {.tick = event->ticks,
                                .bytes = event->bytes,
                                .ordinal = given->ordinal,
                                .call = t->operation,
                                .tag = (int32_t)event->tag,
                                .kind = u->role == USE_WRITES
                                            ? EVENTSPACE_MESSAGE_SENT
                                            : EVENTSPACE_MESSAGE_RECEIVED};
    int err =
        viewer__import_define_channel(m->definitions, u->place, &tuple.channel);

    if (!err)
        err = viewer__import_define_operation(m->definitions, m->call->region,
                                              &tuple.operation);
    return err ? err
               : pastset_write(t->messages, &tuple, sizeof(tuple),
                               PASTSET_NOWAIT, NULL);
}

static int write_use(const import_given *given, void *context)
{
    static const uint16_t verbs[] = {PASTSET_WRITE, PASTSET_OBSERVE,
                                     PASTSET_EXCHANGE, PASTSET_READ};
    importing *m = context;
    const import_use *u = viewer__import_uses_at(m->uses, given->use);
    thread_out *t = &m->threads[u->thread];
    uint64_t bytes = m->call->event ? m->call->event->bytes : 0;
    eventspace_trace tuple = {.start = m->call->start,
                              .end = m->call->end,
                              .collector = given->use,
                              .thread = u->thread,
                              .sequence = ++t->operation,
                              .bytes = bytes > UINT32_MAX ? UINT32_MAX
                                                          : (uint32_t)bytes,
                              .operation = verbs[u->role]};
    int err = given->is_message ? write_message(m, given) : 0;

    return err ? err : eventspace_run_writer_trace(t->operations, &tuple);
}

static int write_region(importing *m, uint32_t thread, const mpi_call *call)
{
    thread_out *t = &m->threads[thread];
    eventspace_trace tuple = {.start = call->start,
                              .end = call->end,
                              .thread = thread,
                              .sequence = ++t->region,
                              .bytes = call->depth,
                              .operation = EVENTSPACE_TRACE_REGION};
    int err;

    if (call->region == OTF2_NONE)
        return 0;
    err = viewer__import_define_region(m->definitions, call->region,
                                       &tuple.collector);
    return err ? err : eventspace_run_writer_trace(t->regions, &tuple);
}

static int write_life(importing *m, uint32_t thread, uint64_t begin,
                      uint64_t end)
{
    eventspace_scheduling tuple = {.start = begin,
                                   .end = begin,
                                   .thread = thread,
                                   .kind = EVENTSPACE_THREAD_BEGAN};
    thread_out *t = &m->threads[thread];
    int err =
        pastset_write(t->life, &tuple, sizeof(tuple), PASTSET_NOWAIT, NULL);

    tuple.start = tuple.end = end;
    tuple.kind = EVENTSPACE_THREAD_ENDED;
    tuple.operations = t->operation_count;
    return err ? err
               : pastset_write(t->life, &tuple, sizeof(tuple), PASTSET_NOWAIT,
                               NULL);
}

static int write_call(uint32_t thread, const mpi_call *call, void *context)
{
    importing *m = context;

    m->call = call;
    switch (call->what) {
    case CALL_REGION:
        return write_region(m, thread, call);
    case CALL_LIFE:
        return m->threads[thread].life
                   ? write_life(m, thread, call->start, call->end)
                   : 0;
    default:
        return viewer__import_uses_of(m->uses, thread, call, write_use, m);
    }
}

/* Streams of one name would be one trace element: the first has its name. */
static int thread_elements(importing *m, uint32_t thread, uint32_t *regions)
{
    thread_out *t = &m->threads[thread];
    char name[64];
    int err = 0;

    snprintf(name, sizeof(name), IMPORT_TRACE_FORMAT, thread);
    if (t->operation_count)
        err = trace_element(m, &t->operations, name, t->operation_count);
    if (*regions == 0)
        snprintf(name, sizeof(name), EVENTSPACE_REGIONS_NAME);
    else
        snprintf(name, sizeof(name), EVENTSPACE_REGIONS_NAME "~%u",
                 *regions + 1);
    if (!err && t->region_count) {
        ++*regions;
        err = trace_element(m, &t->regions, name, t->region_count);
    }
    snprintf(name, sizeof(name), EVENTSPACE_MESSAGES_PREFIX "%u", thread);
    if (!err && t->message_count)
        err = eventspace_run_writer_element(&t->messages, m->writer, name,
                                            EVENTSPACE_MESSAGE_TYPE,
                                            t->message_count);
    return err;
}

static int process_elements(importing *m, uint32_t from, uint32_t to)
{
    uint32_t regions = 0;
    pastset_element *life = NULL;
    int err = 0;

    for (uint32_t i = from; i < to && !err; i++)
        err = thread_elements(m, i, &regions);
    if (!err)
        err = eventspace_run_writer_element(
            &life, m->writer, EVENTSPACE_SCHEDULING_NAME,
            EVENTSPACE_SCHEDULING_TYPE, 2 * (uint64_t)(to - from));
    for (uint32_t i = from; i < to; i++)
        m->threads[i].life = life;
    return err;
}

/* More than what is written takes: elements grow in steps, and each has a
 * beginning. */
static uint64_t room(const importing *m, uint32_t from, uint32_t to)
{
    uint64_t bytes =
        SPACE_BYTES + viewer__import_definitions_room(m->definitions);

    for (uint32_t i = from; i < to; i++)
        bytes +=
            THREAD_BYTES +
            4 * sizeof(eventspace_trace) *
                (m->threads[i].operation_count + m->threads[i].region_count) +
            4 * sizeof(eventspace_message) * m->threads[i].message_count;
    return bytes;
}

/* Its threads, `from` to the one before `to`. */
static int process_write(importing *m, uint32_t process, uint32_t from,
                         uint32_t to)
{
    int err =
        eventspace_run_writer_begin(m->writer, process, room(m, from, to));

    viewer__import_definitions_begin(m->definitions, m->writer, process);
    if (!err)
        err = process_elements(m, from, to);
    for (uint32_t i = from; i < to && !err; i++)
        err = viewer__calls_walk(m->trace, i, write_call, m, NULL);
    return err ? err : eventspace_run_writer_end(m->writer);
}

static int write_events(importing *m)
{
    uint32_t from = 0, to;
    int err = 0;

    for (uint32_t i = 0; i < m->trace->process_count && !err; i++, from = to) {
        for (to = from;
             to < m->trace->thread_count && m->trace->threads[to].process == i;)
            to++;
        err = process_write(m, i, from, to);
    }
    return err;
}

/* --- what is said of each process --- */

static uint64_t wall_ns(const importing *m, uint64_t ticks)
{
    double since = (double)(int64_t)(ticks - m->trace->begin_ticks) * 1e9 /
                   m->trace->ticks_per_second;

    return m->trace->begin_wall_ns + (uint64_t)(int64_t)since;
}

static void meta_make(const importing *m, uint32_t process,
                      eventspace_meta *meta)
{
    uint64_t begin = UINT64_MAX, end = 0;

    *meta = (eventspace_meta){.tick_hz = m->trace->ticks_per_second,
                              .pid = (uint32_t)getpid(),
                              .state = EVENTSPACE_RUNNING};
    for (uint32_t i = 0; i < m->trace->thread_count; i++) {
        const thread_out *t = &m->threads[i];
        if (m->trace->threads[i].process != process)
            continue;
        meta->threads++;
        begin = t->begin < begin ? t->begin : begin;
        end = t->end > end ? t->end : end;
    }
    if (begin > end)
        begin = end = m->trace->begin_ticks;
    meta->start_tick = begin;
    meta->end_tick = end;
    meta->start_wall_ns = wall_ns(m, begin);
    snprintf(meta->eventspace, sizeof(meta->eventspace), "import");
    snprintf(meta->tick_source, sizeof(meta->tick_source), "otf2");
    snprintf(meta->counter, sizeof(meta->counter), COUNTER_FORMAT, m->trace->id,
             m->map->processes[process].name);
}

/* As long as it is being imported it is a run that goes on, and one that was
 * killed if that is interrupted. */
static int metas_write(importing *m)
{
    int err = 0;

    for (uint32_t i = 0; i < m->map->process_count && !err; i++) {
        eventspace_meta meta;
        meta_make(m, i, &meta);
        err = eventspace_run_writer_meta(m->writer, i, &meta);
    }
    return err;
}

/* --- clocks --- */

static int meta_finish(importing *m, uint32_t process, eventspace_meta *meta)
{
    meta->state = EVENTSPACE_FINISHED;
    meta->pid = 0;
    return eventspace_run_writer_meta(m->writer, process, meta);
}

/* Where no message contradicts the times of the trace, its clocks count as one:
 * a tracer that aligned them knew more than messages tell. */
static int metas_share(importing *m, const eventspace_run *run)
{
    int err = 0;

    m->report->one_clock = true;
    for (uint32_t i = 0; i < m->map->process_count && !err; i++) {
        eventspace_meta meta = eventspace_run_process_at(run, i)->meta;
        snprintf(meta.counter, sizeof(meta.counter), COUNTER_FORMAT,
                 m->trace->id, "all");
        err = meta_finish(m, i, &meta);
    }
    return err;
}

/* Else the wall clock of each process is put to what messages say, so that it
 * is right for those who read a part of the run, too. */
static int metas_align(importing *m, const eventspace_run *run,
                       const scopes_clocks *clocks)
{
    uint32_t reference = scopes_clocks_reference(clocks);
    const eventspace_meta *its =
        &eventspace_run_process_at(run, reference)->meta;
    int64_t zero_ns = scopes_clocks_ns(clocks, reference, its->start_tick);
    int err = 0;

    for (uint32_t i = 0; i < m->map->process_count && !err; i++) {
        const scopes_clock *clock = scopes_clocks_process(clocks, i);
        eventspace_meta meta = eventspace_run_process_at(run, i)->meta;
        uint64_t start_ns;
        int64_t shift_ns;
        m->report->unaligned += clock->how == SCOPES_CLOCK_WALL;
        start_ns =
            its->start_wall_ns +
            (uint64_t)(scopes_clocks_ns(clocks, i, meta.start_tick) - zero_ns);
        shift_ns = llabs((long long)(start_ns - meta.start_wall_ns));
        if (shift_ns > m->report->shift_ns)
            m->report->shift_ns = shift_ns;
        meta.start_wall_ns = start_ns;
        meta.tick_hz = fmin(fmax(1e9 / clock->ns_per_tick, 1), OTF2_TICKS_MAX);
        err = meta_finish(m, i, &meta);
    }
    return err;
}

static int clocks_decide(importing *m, eventspace_run *run,
                         scopes_source *source)
{
    scopes_topology *topology;
    scopes_event_table *event_table = NULL;
    scopes_clocks *clocks = NULL;
    scopes_filter filter = {0};
    bool *collectors = NULL;
    int err = scopes_topology_create(&topology, m->map);

    if (err)
        return err;
    collectors = calloc(topology->collectors + 1u, sizeof(*collectors));
    if (!collectors) {
        err = no_memory();
        goto done;
    }
    scopes_clocks_choose(topology, collectors);
    filter.collectors = collectors;
    filter.collector_count = topology->collectors;
    err = scopes_event_table_load(&event_table, source, &filter);
    if (err)
        goto done;
    if (scopes_clocks_agree(event_table, topology)) {
        err = metas_share(m, run);
        goto done;
    }
    err = scopes_clocks_create(&clocks, run, event_table, topology,
                               SCOPES_CLOCK_HULL, PATHS_NONE);
    if (!err)
        err = metas_align(m, run, clocks);
done:
    scopes_clocks_destroy(clocks);
    scopes_event_table_destroy(event_table);
    scopes_topology_destroy(topology);
    free(collectors);
    return err;
}

/* What cannot be read again cannot be finished. */
static int metas_check(const importing *m, const eventspace_run *run)
{
    for (uint32_t i = 0; i < m->map->process_count; i++) {
        const eventspace_run_process *p = eventspace_run_process_at(run, i);
        if (!p->has_meta)
            return pastset_fail(PASTSET_EIO, "process %s: %s", p->name,
                                p->problem);
    }
    return 0;
}

/* The run as readers see it. */
static int align(importing *m, const char *directory)
{
    scopes_source *source = NULL;
    eventspace_run *run;
    int err = eventspace_run_open(&run, directory);

    if (err)
        return err;
    err = metas_check(m, run);
    if (!err)
        err = scopes_source_open(&source, run);
    if (!err)
        err = clocks_decide(m, run, source);
    if (source)
        scopes_source_close(source);
    eventspace_run_close(run);
    return err;
}

/* --- all --- */

static int begin(importing *m, const import_options *options)
{
    int err = viewer__otf2_trace_open(&m->trace, options->trace);

    if (err)
        return err;
    m->uses = viewer__import_uses_make(m->trace);
    m->threads = calloc(m->trace->thread_count + 1u, sizeof(*m->threads));
    return m->uses && m->threads ? 0 : no_memory();
}

static int write_run(importing *m, const import_options *options)
{
    int err = viewer__import_map_make(&m->map, m->trace, m->uses);

    if (!err)
        err = viewer__import_definitions_make(&m->definitions, m->trace,
                                              m->uses, m->map);
    if (!err)
        err = eventspace_run_writer_open(&m->writer, options->directory, m->map,
                                         options->replace);
    if (!err)
        err = write_events(m);
    if (!err)
        err = metas_write(m);
    return err ? err : align(m, options->directory);
}

static void end(importing *m)
{
    viewer__import_definitions_destroy(m->definitions);
    free(m->threads);
    viewer__import_uses_destroy(m->uses);
    if (m->map)
        paths_map_destroy(m->map);
    viewer__otf2_trace_close(m->trace);
}

int viewer_import_run(const import_options *options, import_report *report)
{
    importing m = {.report = report};
    int err;

    *report = (import_report){0};
    err = begin(&m, options);
    if (!err)
        err = look(&m);
    if (!err)
        err = write_run(&m, options);
    eventspace_run_writer_close(m.writer, !err);
    end(&m);
    return err;
}
