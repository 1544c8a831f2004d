/* tuples.c - the view "tuples": the trace tuples themselves, with names.
 *
 * A row is a tuple, by collector and then by start. Times are given as raw
 * ticks of the collector's process, and aligned. With `of`, those of the
 * collector of this name, or of collectors from which the next hop leads
 * through or to that wrapper or element. */
#include "pastset/request.h"
#include "pastset/status.h"
#include "scopes/views/view_internal.h"

#include <string.h>

enum {
    ID,
    COLLECTOR,
    PROCESS,
    THREAD,
    SEQUENCE,
    VERB,
    BYTES,
    STATUS,
    START_TICKS,
    END_TICKS,
    START_NS,
    END_NS,
};

static const scopes_column columns[] = {
    [ID] = {"id", "id", SCOPES_NUMBER},
    [COLLECTOR] = {"collector", "collector", SCOPES_TEXT},
    [PROCESS] = {"process", "process", SCOPES_TEXT},
    [THREAD] = {"thread", "thread", SCOPES_TEXT},
    [SEQUENCE] = {"sequence", "sequence", SCOPES_NUMBER},
    [VERB] = {"verb", "verb", SCOPES_TEXT},
    [BYTES] = {"bytes", "bytes", SCOPES_COUNT},
    [STATUS] = {"status", "status", SCOPES_TEXT},
    [START_TICKS] = {"start_ticks", "start ticks", SCOPES_NUMBER},
    [END_TICKS] = {"end_ticks", "end ticks", SCOPES_NUMBER},
    [START_NS] = {"start_ns", "start ms", SCOPES_TIME_NS},
    [END_NS] = {"end_ns", "end ms", SCOPES_TIME_NS},
};

/* The collector, or what its process defines by that id. */
static const char *name_of(const scopes_view_input *view_input, uint32_t id)
{
    const eventspace_run_definition *defined =
        view_input->run ? eventspace_run_definition_of(view_input->run, id)
                        : NULL;

    return defined ? defined->name
                   : scopes_topology_collector_name(view_input->topology, id);
}

static bool is_series_asked(const scopes_view_input *view_input, uint32_t id,
                            const scopes_series *series)
{
    if (series->node != PATHS_NONE)
        return scopes__stage_is_of(view_input, series->node);
    return series->process != PATHS_NONE &&
           (!view_input->of ||
            strcmp(view_input->of, name_of(view_input, id)) == 0);
}

static void add_series(scopes_table *out, const scopes_view_input *view_input,
                       uint32_t id, const scopes_series *series)
{
    const scopes_topology *topology = view_input->topology;
    const char *name = name_of(view_input, id);
    const char *process =
        scopes_topology_process_name(topology, series->process);

    for (size_t i = 0; i < series->count; i++) {
        const eventspace_trace *event = scopes_event_at(series->events, i);
        if (!scopes__has_thread(view_input, event->thread))
            continue;
        scopes_cell *row = scopes_table_row(out);
        if (!row)
            return;
        row[ID].integer = id;
        row[COLLECTOR].text = name;
        row[PROCESS].text = process;
        row[THREAD].text = scopes_topology_thread_name(topology, event->thread);
        row[SEQUENCE].integer = event->sequence;
        row[VERB].text = eventspace_trace_verb(event->operation);
        row[BYTES].integer = event->bytes;
        row[STATUS].text =
            event->status ? pastset_status_name(-event->status) : "";
        row[START_TICKS].integer = (int64_t)event->start;
        row[END_TICKS].integer = (int64_t)event->end;
        row[START_NS].integer =
            scopes_clocks_ns(view_input->clocks, series->process, event->start);
        row[END_NS].integer =
            scopes_clocks_ns(view_input->clocks, series->process, event->end);
    }
}

static int make(scopes_table *out, const scopes_view_input *view_input)
{
    for (uint32_t id = 0; id < view_input->event_table->collectors; id++) {
        const scopes_series *series =
            scopes_event_series(view_input->event_table, id);
        if (is_series_asked(view_input, id, series))
            add_series(out, view_input, id, series);
    }
    return 0;
}

const scopes_view scopes__view_tuples = {
    "tuples",    "the trace tuples themselves",
    NULL,        SCOPES__COLUMNS(columns),
    NULL,        0,
    .make = make};
