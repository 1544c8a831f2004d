/* sql_tables.c - the tables of a run besides `event`: those of its map, of its
 * processes and clocks, and all views.
 *
 * A view is a table of its name with '_' for '-', and, where it has rows in
 * detail, another with "_detail" behind it. `step` and `round` are short names
 * of two of these. The view process is `process_view`, as `process` is what is
 * known of the processes themselves. */
#include "viewer/sql/sql_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "scopes/views/view.h"

#define SQL_COLUMNS(columns) columns, sizeof(columns) / sizeof(*(columns))

static const paths_map *map_of(viewer__sql_run *sql)
{
    return viewer__sql_topology(sql)->map;
}

static void add_process_name(scopes_table *out, const paths_map *map,
                             uint32_t process)
{
    scopes_table_text(out, process < map->process_count
                               ? map->processes[process].name
                               : NULL);
}

static void add_node_name(scopes_table *out, const paths_map *map,
                          uint32_t node)
{
    scopes_table_text(out,
                      node < map->node_count ? map->nodes[node].name : NULL);
}

/* --- of the map --- */

static const scopes_column collector_columns[] = {
    {"id", "id", SCOPES_NUMBER},         {"name", "name", SCOPES_TEXT},
    {"process", "process", SCOPES_TEXT}, {"above", "above", SCOPES_TEXT},
    {"below", "below", SCOPES_TEXT},     {"element", "element", SCOPES_TEXT},
    {"thread", "thread", SCOPES_NUMBER}, {"path", "path", SCOPES_TEXT},
};

/* The nodes from which edges come to it; more than one joined by blanks. */
static void add_above(scopes_table *out, const paths_map *map,
                      const paths_map_node *node)
{
    char text[1024] = "";
    size_t used = 0;

    for (uint32_t i = 0; i < node->in_count && used < sizeof(text); i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
                                 i ? " " : "",
                                 map->nodes[map->edges[node->in[i]].from].name);
    if (node->in_count > 0)
        scopes_table_copy(out, text);
    else
        scopes_table_text(out, NULL);
}

/* The path at whose top the collector stands: whose thread goes through it
 * first. */
static const scopes_top *top_of(const scopes_topology *topology, uint32_t id)
{
    for (uint32_t i = 0; i < topology->top_count; i++)
        if (topology->tops[i].collector == id)
            return &topology->tops[i];
    return NULL;
}

static void add_collector(scopes_table *out, const scopes_topology *topology,
                          uint32_t id)
{
    const paths_map *map = topology->map;
    const paths_map_node *node = &map->nodes[topology->nodes[id]];
    const scopes_top *top = top_of(topology, id);

    scopes_table_integer(out, id);
    scopes_table_text(out, node->name);
    add_process_name(out, map, node->process);
    add_above(out, map, node);
    add_node_name(out, map,
                  node->out_count ? map->edges[node->out[0]].to : PATHS_NONE);
    add_node_name(out, map, topology->hops[id].element);
    scopes_table_integer(out, top ? top->thread : SCOPES_BLANK);
    scopes_table_text(out, top ? top->name : NULL);
}

static int make_collectors(scopes_table *out, viewer__sql_run *sql)
{
    const scopes_topology *topology = viewer__sql_topology(sql);

    for (uint32_t id = 0; id < topology->collectors; id++)
        if (topology->nodes[id] != PATHS_NONE)
            add_collector(out, topology, id);
    return 0;
}

static const scopes_column region_columns[] = {
    {"id", "id", SCOPES_NUMBER},   {"name", "name", SCOPES_TEXT},
    {"kind", "kind", SCOPES_TEXT}, {"process", "process", SCOPES_TEXT},
    {"file", "file", SCOPES_TEXT}, {"line", "line", SCOPES_NUMBER},
};

/* What processes have defined: the `collector` of events that are no
 * operations. */
static int make_regions(scopes_table *out, viewer__sql_run *sql)
{
    const eventspace_run *run = viewer__sql_run_opened(sql);
    /* Names of processes outlive this table there. */
    const paths_map *map = eventspace_run_base(run);

    for (uint32_t id = 0; id < eventspace_run_ids(run); id++) {
        const eventspace_run_definition *defined =
            eventspace_run_definition_of(run, id);
        if (!defined)
            continue;
        scopes_table_integer(out, id);
        scopes_table_copy(out, defined->name);
        scopes_table_text(out, eventspace_definition_named(defined->kind));
        scopes_table_text(out, map->processes[defined->process].name);
        if (defined->file)
            scopes_table_copy(out, defined->file);
        else
            scopes_table_text(out, NULL);
        scopes_table_integer(out, defined->line ? (int64_t)defined->line
                                                : SCOPES_BLANK);
    }
    return 0;
}

static const scopes_column wrapper_columns[] = {
    {"name", "name", SCOPES_TEXT},
    {"type", "type", SCOPES_TEXT},
    {"process", "process", SCOPES_TEXT},
};

static int make_wrappers(scopes_table *out, viewer__sql_run *sql)
{
    const paths_map *map = map_of(sql);

    for (uint32_t i = 0; i < map->node_count; i++) {
        const paths_map_node *node = &map->nodes[i];
        if (node->kind != PATHS_WRAPPER)
            continue;
        scopes_table_text(out, node->name);
        scopes_table_text(out, node->type);
        add_process_name(out, map, node->process);
    }
    return 0;
}

static const scopes_column element_columns[] = {
    {"name", "name", SCOPES_TEXT},       {"type", "type", SCOPES_TEXT},
    {"policy", "policy", SCOPES_TEXT},   {"capacity", "capacity", SCOPES_COUNT},
    {"process", "process", SCOPES_TEXT},
};

#define CAPACITY_DEFAULT 1024 /* paths/map/map.h */

static int make_elements(scopes_table *out, viewer__sql_run *sql)
{
    const paths_map *map = map_of(sql);

    for (uint32_t i = 0; i < map->node_count; i++) {
        const paths_map_node *node = &map->nodes[i];
        const char *text = paths_node_get(node, "capacity");
        uint64_t capacity = CAPACITY_DEFAULT;
        if (node->kind != PATHS_ELEMENT)
            continue;
        if (text && paths_parse_number(text, &capacity))
            capacity = CAPACITY_DEFAULT;
        scopes_table_text(out, node->name);
        scopes_table_text(out, paths_node_get(node, "type"));
        scopes_table_text(out, pastset_policy_name(paths_node_policy(node)));
        scopes_table_integer(out, (int64_t)capacity);
        add_process_name(out, map, node->process);
    }
    return 0;
}

static const scopes_column path_columns[] = {
    {"thread", "thread", SCOPES_TEXT},
    {"number", "no.", SCOPES_NUMBER},
    {"name", "name", SCOPES_TEXT},
    {"element", "element", SCOPES_TEXT},
    {"collector", "collector", SCOPES_NUMBER},
};

static int make_paths(scopes_table *out, viewer__sql_run *sql)
{
    const scopes_topology *topology = viewer__sql_topology(sql);

    for (uint32_t i = 0; i < topology->top_count; i++) {
        const scopes_top *top = &topology->tops[i];
        scopes_table_text(out,
                          scopes_topology_thread_name(topology, top->thread));
        scopes_table_integer(out, top->thread);
        scopes_table_text(out, top->name);
        add_node_name(out, topology->map, top->element);
        scopes_table_integer(
            out, top->collector == PATHS_NONE ? SCOPES_BLANK : top->collector);
    }
    return 0;
}

static const scopes_column edge_columns[] = {
    {"from", "from", SCOPES_TEXT},
    {"to", "to", SCOPES_TEXT},
    {"name", "name", SCOPES_TEXT},
    {"use", "use", SCOPES_TEXT},
};

static int make_edges(scopes_table *out, viewer__sql_run *sql)
{
    const paths_map *map = map_of(sql);

    for (uint32_t i = 0; i < map->edge_count; i++) {
        const paths_map_edge *edge = &map->edges[i];
        add_node_name(out, map, edge->from);
        add_node_name(out, map, edge->to);
        scopes_table_text(out, paths_attributes_get(&edge->attributes, "as"));
        scopes_table_text(out, paths_attributes_get(&edge->attributes, "use"));
    }
    return 0;
}

/* --- of the processes --- */

static const scopes_column process_columns[] = {
    {"number", "no.", SCOPES_NUMBER},
    {"process", "process", SCOPES_TEXT},
    {"state", "state", SCOPES_TEXT},
    {"pid", "pid", SCOPES_NUMBER},
    {"threads", "threads", SCOPES_COUNT},
    {"tick_source", "ticks", SCOPES_TEXT},
    {"tick_hz", "ticks/s", SCOPES_REAL},
    {"start_ticks", "start ticks", SCOPES_NUMBER},
    {"end_ticks", "end ticks", SCOPES_NUMBER},
    {"events_recorded", "recorded", SCOPES_COUNT},
    {"events_read", "can be read", SCOPES_COUNT},
    {"events_lost", "lost", SCOPES_COUNT},
    {"machine", "machine", SCOPES_TEXT},
    {"library", "library", SCOPES_TEXT},
    {"text", "text", SCOPES_TEXT},
    {"problem", "problem", SCOPES_TEXT},
};

static void add_meta(scopes_table *out, const eventspace_run_process *process)
{
    const eventspace_meta *meta = &process->meta;

    if (!process->has_meta) {
        scopes_table_text(out, "missing");
        for (int i = 0; i < 2; i++)
            scopes_table_integer(out, SCOPES_BLANK);
        scopes_table_text(out, NULL);
        scopes_table_real(out, NAN);
        for (int i = 0; i < 2; i++)
            scopes_table_integer(out, SCOPES_BLANK);
        return;
    }
    scopes_table_text(out, eventspace_state_name(meta->state));
    scopes_table_integer(out, meta->pid);
    scopes_table_integer(out, meta->threads);
    scopes_table_text(out, meta->tick_source);
    scopes_table_real(out, meta->tick_hz);
    scopes_table_integer(out, (int64_t)meta->start_tick);
    scopes_table_integer(out, meta->end_tick ? (int64_t)meta->end_tick
                                             : SCOPES_BLANK);
}

static int make_processes(scopes_table *out, viewer__sql_run *sql)
{
    eventspace_run *run = viewer__sql_run_opened(sql);
    scopes_ledger ledger;
    int err = 0;

    for (size_t i = 0; i < eventspace_run_process_count(run) && !err; i++) {
        const eventspace_run_process *process =
            eventspace_run_process_at(run, i);
        scopes_table_integer(out, (int64_t)i);
        scopes_table_text(out, process->name);
        add_meta(out, process);
        err = scopes_source_count(viewer__sql_source(sql), i, &ledger);
        scopes_table_integer(out, (int64_t)ledger.recorded);
        scopes_table_integer(out, (int64_t)ledger.read);
        scopes_table_integer(out, (int64_t)ledger.lost);
        scopes_table_text(out,
                          process->has_meta ? process->meta.machine : NULL);
        scopes_table_text(out,
                          process->has_meta ? process->meta.library : NULL);
        scopes_table_text(out, process->has_meta ? process->meta.text : NULL);
        scopes_table_text(out, process->problem);
    }
    return err;
}

static const scopes_column clock_columns[] = {
    {"process", "process", SCOPES_TEXT},
    {"how", "aligned by", SCOPES_TEXT},
    {"parent", "with", SCOPES_TEXT},
    {"depth", "hops", SCOPES_COUNT},
    {"exchanges", "exchanges", SCOPES_COUNT},
    {"offset_ns", "offset ms", SCOPES_TIME_NS},
    {"rate_ppm", "rate ppm", SCOPES_REAL},
    {"certain_ns", "certain +- ms", SCOPES_TIME_NS},
};

static int64_t rounded(double ns)
{
    return isfinite(ns) ? llround(ns) : SCOPES_BLANK;
}

static void add_clock(scopes_table *out, const paths_map *map,
                      const scopes_clock *clock)
{
    static const char *const hows[] = {"reference", "shared", "exchanges",
                                       "wall clock", "none"};
    bool known = clock->how != SCOPES_CLOCK_NONE;

    scopes_table_text(out, hows[clock->how]);
    add_process_name(out, map, clock->parent);
    scopes_table_integer(out, known ? clock->depth : SCOPES_BLANK);
    scopes_table_integer(out, (int64_t)clock->pairs);
    scopes_table_integer(out, known ? rounded(clock->offset_ns) : SCOPES_BLANK);
    scopes_table_real(out, known ? clock->rate_ppm : NAN);
    scopes_table_integer(out, rounded(clock->certain_ns));
}

static int make_clocks(scopes_table *out, viewer__sql_run *sql)
{
    const paths_map *map = map_of(sql);
    const scopes_clocks *clocks;
    int err = viewer__sql_clocks(sql, &clocks);

    for (uint32_t i = 0; i < map->process_count && !err; i++) {
        add_process_name(out, map, i);
        add_clock(out, map, scopes_clocks_process(clocks, i));
    }
    return err;
}

/* --- of the threads --- */

static const scopes_column thread_columns[] = {
    {"number", "no.", SCOPES_NUMBER},
    {"name", "name", SCOPES_TEXT},
    {"process", "process", SCOPES_TEXT},
    {"begin_ns", "begin ms", SCOPES_TIME_NS},
    {"end_ns", "end ms", SCOPES_TIME_NS},
};

static void add_life(scopes_table *out, const scopes_scheduling *scheduling,
                     uint32_t thread)
{
    static const scopes_thread_life unknown;
    const scopes_thread_life *life = thread < scheduling->thread_count
                                         ? &scheduling->threads[thread]
                                         : &unknown;

    scopes_table_integer(out, life->is_known && life->has_begun ? life->begin_ns
                                                                : SCOPES_BLANK);
    scopes_table_integer(out, life->is_known && life->has_ended ? life->end_ns
                                                                : SCOPES_BLANK);
}

static int make_threads(scopes_table *out, viewer__sql_run *sql)
{
    const scopes_topology *topology = viewer__sql_topology(sql);
    const scopes_clocks *clocks;
    scopes_scheduling *scheduling;
    int err = viewer__sql_clocks(sql, &clocks);

    if (!err)
        err = scopes_scheduling_read(&scheduling, viewer__sql_run_opened(sql),
                                     topology, clocks);
    if (err)
        return err;
    for (uint32_t i = 0; i < topology->thread_count; i++) {
        uint32_t node = topology->threads[i];
        if (node == PATHS_NONE)
            continue;
        scopes_table_integer(out, i);
        add_node_name(out, topology->map, node);
        add_process_name(out, topology->map,
                         topology->map->nodes[node].process);
        add_life(out, scheduling, i);
    }
    scopes_scheduling_destroy(scheduling);
    return 0;
}

/* --- all of them --- */

static const struct {
    const char *name, *summary;
    const scopes_column *columns;
    size_t column_count;
    int (*make)(scopes_table *out, viewer__sql_run *sql);
} own[] = {
    {"collector", "the event collectors", SQL_COLUMNS(collector_columns),
     make_collectors},
    {"region", "regions, marks and metrics of the program",
     SQL_COLUMNS(region_columns), make_regions},
    {"message", "messages of MPI, with both their ends",
     SQL_COLUMNS(viewer__message_columns), viewer__sql_make_messages},
    {"wrapper", "the wrappers of the path map", SQL_COLUMNS(wrapper_columns),
     make_wrappers},
    {"thread", "the threads, and when they ran", SQL_COLUMNS(thread_columns),
     make_threads},
    {"process", "the processes, and how they ended",
     SQL_COLUMNS(process_columns), make_processes},
    {"element", "the elements of the path map", SQL_COLUMNS(element_columns),
     make_elements},
    {"path", "the paths of the threads", SQL_COLUMNS(path_columns), make_paths},
    {"edge", "the edges of the path map", SQL_COLUMNS(edge_columns),
     make_edges},
    {"clock", "the clocks of the processes", SQL_COLUMNS(clock_columns),
     make_clocks},
};
#define OWN (sizeof(own) / sizeof(*own))

static const struct {
    const char *name, *summary, *view;
} aliases[] = {
    {"step", "the steps of each thread", "steps"},
    {"round", "the rounds of each collective", "performance"},
};
#define ALIASES (sizeof(aliases) / sizeof(*aliases))

static void set_view(viewer__sql_table_kind *kind, const scopes_view *view,
                     bool each)
{
    kind->view = view;
    kind->each = each;
    kind->summary = each ? view->each : view->summary;
    kind->columns = each ? view->each_columns : view->columns;
    kind->column_count = each ? view->each_column_count : view->column_count;
}

/* "last-arriver" is "last_arriver". */
static void set_view_name(viewer__sql_table_kind *kind)
{
    const char *name = kind->view->name;
    bool taken = strcmp(name, "process") == 0;

    snprintf(kind->name, sizeof(kind->name), "%s%s%s", name,
             taken ? "_view" : "", kind->each ? "_detail" : "");
    for (char *c = kind->name; *c; c++)
        if (*c == '-')
            *c = '_';
}

/* Each view, and then its rows in detail. */
static viewer__sql_table_kind view_at(size_t position)
{
    viewer__sql_table_kind kind = {.summary = NULL};
    const scopes_view *view;

    for (size_t i = 0; (view = scopes_view_at(i)); i++) {
        size_t count = view->each ? 2 : 1;
        if (position < count) {
            set_view(&kind, view, position == 1);
            set_view_name(&kind);
            break;
        }
        position -= count;
    }
    return kind;
}

viewer__sql_table_kind viewer__sql_table_at(size_t position)
{
    viewer__sql_table_kind kind = {.summary = NULL};

    if (position < OWN) {
        snprintf(kind.name, sizeof(kind.name), "%s", own[position].name);
        kind.summary = own[position].summary;
        kind.columns = own[position].columns;
        kind.column_count = own[position].column_count;
        kind.make = own[position].make;
        return kind;
    }
    position -= OWN;
    if (position >= ALIASES)
        return view_at(position - ALIASES);
    set_view(&kind, scopes_view_find(aliases[position].view), true);
    snprintf(kind.name, sizeof(kind.name), "%s", aliases[position].name);
    kind.summary = aliases[position].summary;
    return kind;
}

static int view_make(scopes_table **out, viewer__sql_window *window,
                     const viewer__sql_table_kind *kind)
{
    const scopes_snapshot *snapshot;
    scopes_view_input view_input;
    int err = viewer__sql_snapshot(window, &snapshot);

    if (err)
        return err;
    viewer__sql_note_strange(viewer__sql_window_run(window),
                             snapshot->event_table->strange);
    view_input = scopes_view_input_of(snapshot);
    view_input.each = kind->each;
    return scopes_view_make(out, kind->view, &view_input);
}

static int own_make(scopes_table **out, viewer__sql_run *sql,
                    const viewer__sql_table_kind *kind)
{
    int err;

    *out = scopes_table_create(kind->columns, kind->column_count);
    err = *out ? kind->make(*out, sql) : 0;
    if (!err)
        err = scopes_table_status(*out);
    if (err) {
        scopes_table_destroy(*out);
        *out = NULL;
    }
    return err;
}

int viewer__sql_table(viewer__sql_window *window, size_t position,
                      viewer__sql_made **out)
{
    viewer__sql_table_kind kind = viewer__sql_table_at(position);
    viewer__sql_made *place = viewer__sql_place(window, position);

    *out = place;
    if (!place)
        return pastset_no_memory("for the tables of a run");
    if (place->table)
        return 0;
    return kind.view
               ? view_make(&place->table, window, &kind)
               : own_make(&place->table, viewer__sql_window_run(window), &kind);
}
