/* tuples.c - the view "tuples": the trace tuples themselves, with names.
 *
 * A row is a tuple, by collector and then by start. Times are given as raw
 * ticks of the collector's host, and aligned. With `of`, those of the collector
 * of this name, or of collectors from which the next hop leads through or to
 * that wrapper or element. */
#include "pastset/request.h"
#include "pastset/status.h"
#include "scopes/view_internal.h"

#include <string.h>

static const scopes_column columns[] = {
    {"id", "id", SCOPES_NUMBER},
    {"collector", "collector", SCOPES_TEXT},
    {"host", "host", SCOPES_TEXT},
    {"thread", "thread", SCOPES_TEXT},
    {"sequence", "sequence", SCOPES_NUMBER},
    {"verb", "verb", SCOPES_TEXT},
    {"bytes", "bytes", SCOPES_COUNT},
    {"status", "status", SCOPES_TEXT},
    {"start_ticks", "start ticks", SCOPES_NUMBER},
    {"end_ticks", "end ticks", SCOPES_NUMBER},
    {"start_ns", "start ms", SCOPES_TIME_NS},
    {"end_ns", "end ms", SCOPES_TIME_NS},
};

/* Follows the way from a collector down to the next one, or to its end. */
static bool is_asked(const scopes_subject *subject, uint32_t node)
{
    const paths_map *map = subject->map;

    if (scopes__is_of(subject, node))
        return true;
    for (uint32_t i = 0; i < PATHS_PATH_NODES; i++) {
        if (map->nodes[node].out_count == 0)
            return false;
        node = map->edges[map->nodes[node].out[0]].to;
        if (strcmp(map->nodes[node].type, "collector") == 0)
            return false;
        if (scopes__is_of(subject, node))
            return true;
    }
    return false;
}

static void add_series(scopes_table *out, const scopes_subject *subject,
                       uint32_t id, const scopes_series *series)
{
    const scopes_ways *ways = subject->ways;
    const char *name = scopes_ways_collector_name(ways, id);
    const char *host = scopes_ways_host_name(ways, series->host);

    for (size_t i = 0; i < series->count; i++) {
        const eventspace_trace *event = &series->events[i];
        if (subject->thread != PATHS_NONE && subject->thread != event->thread)
            continue;
        scopes_table_integer(out, id);
        scopes_table_text(out, name);
        scopes_table_text(out, host);
        scopes_table_text(out, scopes_ways_thread_name(ways, event->thread));
        scopes_table_integer(out, event->sequence);
        scopes_table_text(out, pastset_verb_name(event->operation));
        scopes_table_integer(out, event->bytes);
        scopes_table_text(
            out, event->status ? pastset_status_name(-event->status) : "");
        scopes_table_integer(out, (int64_t)event->start);
        scopes_table_integer(out, (int64_t)event->end);
        scopes_table_integer(
            out, scopes_clocks_ns(subject->clocks, series->host, event->start));
        scopes_table_integer(
            out, scopes_clocks_ns(subject->clocks, series->host, event->end));
    }
}

static int make(scopes_table *out, const scopes_subject *subject)
{
    for (uint32_t id = 0; id < subject->store->collectors; id++) {
        const scopes_series *series = scopes_store_series(subject->store, id);
        if (series->node != PATHS_NONE && is_asked(subject, series->node))
            add_series(out, subject, id, series);
    }
    return 0;
}

const scopes_view scopes__view_tuples = {
    "tuples", "the trace tuples themselves",
    NULL,     SCOPES__COLUMNS(columns),
    NULL,     0,
    make};
