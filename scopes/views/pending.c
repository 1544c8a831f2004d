/* pending.c - the view "pending": what each thread is in, since when, and whom
 * it waits for.
 *
 * At this moment, of a run that goes on; of one that is over, or was
 * interrupted or killed, at its end. A row is a thread that has not ended; or
 * the network loop of a process ("loop", without a number) that carries an
 * operation which somebody else began.
 *
 *   no., thread, process
 *   process is running; or what it has become (killed, failed), and then the
 *              rest of the row is what its thread was in at that moment
 *   state      starting: its process waits for the others; connecting; waiting:
 *              for an operation; computing: between operations; running: the
 *              loop
 *   since      an operation is under way: since it is waited for (one of
 *              paths_start: since it began); else since the state lasts, as far
 *              as notes and tuples tell
 *   for        from then until now, or until the end of its process
 *   verb, path, stage, element
 *              of the operation, and where its thread let go of it: a
 *              collective (it has come, and others have not), a proxy, the
 *              element. Blank when none is under way
 *   peer       the process behind that proxy, or to which it connects
 *   waits for  threads that have not come to the collective, that may write the
 *              element (or, for a write, read it); a process; and what these
 *              are in
 *   under way  operations of paths_start; a thread that computes or polls tells
 *              of the oldest
 *   sequence   the number of the operation, as its trace tuples will have it */
#include "pastset/request.h"
#include "pastset/status.h"
#include "scopes/views/view_internal.h"

#include <string.h>

static const scopes_column columns[] = {
    {"number", "no.", SCOPES_NUMBER},
    {"thread", "thread", SCOPES_TEXT},
    {"process", "process", SCOPES_TEXT},
    {"process_state", "process is", SCOPES_TEXT},
    {"state", "state", SCOPES_TEXT},
    {"since_ns", "since ms", SCOPES_TIME_NS},
    {"for_ns", "for ms", SCOPES_TIME_NS},
    {"verb", "verb", SCOPES_TEXT},
    {"path", "path", SCOPES_TEXT},
    {"stage", "stage", SCOPES_TEXT},
    {"element", "element", SCOPES_TEXT},
    {"peer", "peer", SCOPES_TEXT},
    {"waits_for", "waits for", SCOPES_TEXT},
    {"under_way", "under way", SCOPES_COUNT},
    {"sequence", "sequence", SCOPES_NUMBER},
};

/* Is it what is asked for: at the element or wrapper, or on the way to it? */
static bool is_about(const scopes_view_input *view_input,
                     const scopes_pending *p)
{
    uint32_t at = p->first != PATHS_NONE ? p->first : p->stage;
    const paths_map *map = view_input->map;

    if (p->activity == PATHS_ENDED ||
        !scopes__has_thread(view_input, p->of_thread))
        return false;
    if (!view_input->of)
        return true;
    for (uint32_t i = 0; p->operates && i < map->node_count; i++) {
        if (scopes__is_of(view_input, at))
            return true;
        if (at == PATHS_NONE || map->nodes[at].out_count == 0)
            return false;
        at = map->edges[map->nodes[at].out[0]].to;
    }
    return false;
}

/* An operation that did not wait left no note, but it may have left a tuple. */
static int64_t last_end_ns(const scopes_view_input *view_input, uint32_t thread)
{
    const scopes_topology *topology = view_input->topology;
    int64_t last_ns = INT64_MIN;

    for (uint32_t i = 0; i < topology->top_count; i++) {
        const scopes_series *series;
        if (topology->tops[i].thread != thread ||
            topology->tops[i].collector == PATHS_NONE)
            continue;
        series = scopes_event_series(view_input->event_table,
                                     topology->tops[i].collector);
        for (size_t k = series->count; k-- > 0;) {
            const eventspace_trace *event = scopes_event_at(series->events, k);
            int64_t ns;
            if (event->thread != thread)
                continue;
            ns = scopes_clocks_ns(view_input->clocks, series->process,
                                  event->end);
            last_ns = ns > last_ns ? ns : last_ns;
            break;
        }
    }
    return last_ns;
}

static void add_operation(scopes_table *out,
                          const scopes_view_input *view_input,
                          const scopes_pending *p)
{
    const scopes_topology *topology = view_input->topology;

    scopes_table_text(out, p->operates ? pastset_verb_name(p->verb) : "");
    scopes_table_text(out, p->operates ? p->path : "");
    scopes_table_text(
        out, p->operates ? scopes_topology_node_name(topology, p->stage) : "");
    scopes_table_text(out, p->operates
                               ? scopes_topology_node_name(topology, p->element)
                               : "");
}

static void add_row(scopes_table *out, const scopes_view_input *view_input,
                    const scopes_pending *p)
{
    const scopes_topology *topology = view_input->topology;
    bool is_loop = p->thread == PATHS_NONE;
    int64_t since_ns =
        scopes_clocks_ns(view_input->clocks, p->process, p->since_ticks);
    int64_t later_ns = 0, last_ns;

    if (!is_loop && !p->operates && p->activity == PATHS_COMPUTING) {
        last_ns = last_end_ns(view_input, p->thread);
        if (last_ns > since_ns && last_ns - since_ns < p->lasts_ns)
            later_ns = last_ns - since_ns;
    }
    scopes_table_integer(out, is_loop ? SCOPES_BLANK : p->thread);
    scopes_table_text(
        out,
        is_loop ? "loop" : scopes_topology_thread_name(topology, p->thread));
    scopes_table_text(out, scopes_topology_process_name(topology, p->process));
    scopes_table_text(out, eventspace_state_name(p->process_state));
    scopes_table_text(out, paths_activity_name(p->activity));
    scopes_table_integer(out, since_ns + later_ns);
    scopes_table_integer(out, p->lasts_ns - later_ns);
    add_operation(out, view_input, p);
    scopes_table_text(out, scopes_topology_process_name(topology, p->peer));
    scopes_table_text(out, p->waits_for);
    scopes_table_integer(out, p->under_way);
    scopes_table_integer(out, p->operates ? p->sequence : SCOPES_BLANK);
}

static int make(scopes_table *out, const scopes_view_input *view_input)
{
    const scopes_pending_list *list = view_input->pending;

    for (size_t i = 0; list && i < list->count; i++)
        if (is_about(view_input, &list->items[i]))
            add_row(out, view_input, &list->items[i]);
    return 0;
}

const scopes_view scopes__view_pending = {
    "pending",
    "which operations threads are in, or were in at the end, and for whom they "
    "wait",
    NULL,
    SCOPES__COLUMNS(columns),
    NULL,
    0,
    .make = make,
    .eventless = true,
};
