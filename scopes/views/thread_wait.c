/* thread_wait.c - the view "thread-wait": how long each thread waited for each
 * collective operation to complete.
 *
 * Paper 004, section 4.5: EC1 to EC4 of figure 3. Each path of a thread that
 * leads to a collective has a row, if a collector stands at its top: what that
 * collector saw is the whole of an operation, as its thread saw it.
 *
 *   no., thread, process  of the thread
 *   path, element         the name by which the program opens the path, and
 *                         where it leads
 *   count ... most        of the times from start to end of its operations
 *
 * With `each` a row for each operation, in the order of threads, paths, and
 * starts: `round` counts the operations of the path that are there, from 0. So
 * it numbers the rounds of the collective if none are lost before. */
#include "scopes/views/view_internal.h"

#include <string.h>

#include "scopes/tables/sample_internal.h"

static const scopes_column columns[] = {
    {"number", "no.", SCOPES_NUMBER},    {"thread", "thread", SCOPES_TEXT},
    {"process", "process", SCOPES_TEXT}, {"path", "path", SCOPES_TEXT},
    {"element", "element", SCOPES_TEXT}, SCOPES__SAMPLE_COLUMNS,
};

static const scopes_column each_columns[] = {
    {"round", "round", SCOPES_NUMBER},
    {"number", "no.", SCOPES_NUMBER},
    {"thread", "thread", SCOPES_TEXT},
    {"path", "path", SCOPES_TEXT},
    {"element", "element", SCOPES_TEXT},
    {"start_ns", "start ms", SCOPES_TIME_NS},
    {"end_ns", "end ms", SCOPES_TIME_NS},
    {"wait_ns", "wait ms", SCOPES_TIME_NS},
};

static void add_each(scopes_table *out, const scopes_view_input *view_input,
                     const scopes_top *top, uint64_t round, int64_t start_ns,
                     int64_t end_ns)
{
    scopes__round_cell(
        out, scopes_event_table_first(view_input->event_table, top->collector),
        round);
    scopes_table_integer(out, top->thread);
    scopes_table_text(
        out, scopes_topology_thread_name(view_input->topology, top->thread));
    scopes_table_text(out, top->name);
    scopes_table_text(
        out, scopes_topology_node_name(view_input->topology, top->element));
    scopes_table_integer(out, start_ns);
    scopes_table_integer(out, end_ns);
    scopes_table_integer(out, end_ns - start_ns);
}

static void add_sums(scopes_table *out, const scopes_view_input *view_input,
                     const scopes_top *top, scopes__sample *sample)
{
    const scopes_topology *topology = view_input->topology;
    uint32_t process =
        view_input->map->nodes[topology->threads[top->thread]].process;

    scopes_table_integer(out, top->thread);
    scopes_table_text(out, scopes_topology_thread_name(topology, top->thread));
    scopes_table_text(out, scopes_topology_process_name(topology, process));
    scopes_table_text(out, top->name);
    scopes_table_text(out, scopes_topology_node_name(topology, top->element));
    scopes__sample_row(out, sample);
}

static int add_top(scopes_table *out, const scopes_view_input *view_input,
                   const scopes_top *top)
{
    const scopes_series *series =
        scopes_event_series(view_input->event_table, top->collector);
    scopes__sample sample = {0};
    uint64_t round = 0;
    int err = 0;

    for (size_t i = 0; i < series->count && !err; i++) {
        const eventspace_trace *event = scopes_event_at(series->events, i);
        int64_t start_ns, end_ns;
        if (event->thread != top->thread)
            continue;
        start_ns =
            scopes_clocks_ns(view_input->clocks, series->process, event->start);
        end_ns =
            scopes_clocks_ns(view_input->clocks, series->process, event->end);
        if (view_input->each)
            add_each(out, view_input, top, round++, start_ns, end_ns);
        else
            err = scopes__sample_add(&sample, end_ns - start_ns);
    }
    if (!err && !view_input->each)
        add_sums(out, view_input, top, &sample);
    scopes__sample_fini(&sample);
    return err;
}

/* Is it what is asked for: the element, or a wrapper on the way to it? */
static bool is_about(const scopes_view_input *view_input, const scopes_top *top)
{
    const paths_map *map = view_input->map;
    uint32_t at = map->edges[top->edge].to;

    if (top->site == PATHS_NONE || top->collector == PATHS_NONE ||
        !scopes__has_thread(view_input, top->thread))
        return false;
    while (!scopes__is_of(view_input, at)) {
        if (map->nodes[at].out_count == 0)
            return false;
        at = map->edges[map->nodes[at].out[0]].to;
    }
    return true;
}

static int make(scopes_table *out, const scopes_view_input *view_input)
{
    int err = 0;

    for (uint32_t i = 0; i < view_input->topology->top_count && !err; i++) {
        if (is_about(view_input, &view_input->topology->tops[i]))
            err = add_top(out, view_input, &view_input->topology->tops[i]);
    }
    return err;
}

const scopes_view scopes__view_thread_wait = {
    "thread-wait",
    "how long each thread waited for collective operations",
    "collective operation of a thread",
    SCOPES__COLUMNS(columns),
    SCOPES__COLUMNS(each_columns),
    .make = make,
    .collective = true,
};
