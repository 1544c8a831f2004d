/* remote_overhead.c - the view "remote-overhead": what it costs to go to
 * another process.
 *
 * Paper 004, section 4.5 (EC9 less EC8 of figure 3). For each hop to another
 * process that has a collector on both sides: of each operation, its time at
 * the collector above less its time at the one below. What is left went into
 * the proxy, the network, and the other process's network loop, on both ways
 * together; and into a `delay`, if one stands in between. Both are lengths of
 * time, so that no clocks need be aligned; ticks become nanoseconds by the
 * rate of their own process.
 *
 * Rows: a hop. With `each`: an operation over it, in the order in which they
 * went down. */
#include "scopes/views/view_internal.h"

#include <stdlib.h>

#include "scopes/tables/sample_internal.h"

static const scopes_column columns[] = {
    {"proxy", "proxy", SCOPES_TEXT},
    {"process", "from process", SCOPES_TEXT},
    {"to_process", "to process", SCOPES_TEXT},
    {"above", "above", SCOPES_TEXT},
    {"below", "below", SCOPES_TEXT},
    SCOPES__SAMPLE_COLUMNS,
};

static const scopes_column each_columns[] = {
    {"proxy", "proxy", SCOPES_TEXT},
    {"thread", "thread", SCOPES_TEXT},
    {"sequence", "sequence", SCOPES_NUMBER},
    {"start_ns", "start ms", SCOPES_TIME_NS},
    {"above_ns", "above ms", SCOPES_TIME_NS},
    {"below_ns", "below ms", SCOPES_TIME_NS},
    {"overhead_ns", "overhead ms", SCOPES_TIME_NS},
};

/* A hop, and the sum over its operations. */
typedef struct crossing {
    scopes_table *out;
    const scopes_view_input *view_input;
    const scopes_hop *hop;
    const scopes_series *upper, *lower;
    scopes__sample sample;
} crossing;

static int add(crossing *c, const eventspace_trace *upper,
               const eventspace_trace *lower)
{
    const scopes_view_input *view_input = c->view_input;
    int64_t above_ns = scopes__length_ns(view_input, c->upper, upper);
    int64_t below_ns = scopes__length_ns(view_input, c->lower, lower);

    if (!scopes__has_thread(view_input, upper->thread))
        return 0;
    if (!view_input->each)
        return scopes__sample_add(&c->sample, above_ns - below_ns);
    scopes_table_text(
        c->out, scopes_topology_node_name(view_input->topology, c->hop->proxy));
    scopes_table_text(c->out, scopes_topology_thread_name(view_input->topology,
                                                          upper->thread));
    scopes_table_integer(c->out, upper->sequence);
    scopes_table_integer(
        c->out,
        scopes_clocks_ns(view_input->clocks, c->upper->process, upper->start));
    scopes_table_integer(c->out, above_ns);
    scopes_table_integer(c->out, below_ns);
    scopes_table_integer(c->out, above_ns - below_ns);
    return 0;
}

static int add_all(crossing *c)
{
    uint32_t *lower;
    int err = scopes_match(&lower, c->upper, c->lower);

    if (err)
        return err;
    for (size_t i = 0; i < c->upper->count && !err; i++) {
        if (lower[i] != SCOPES_MISSING)
            err = add(c, scopes_event_at(c->upper->events, i),
                      scopes_event_at(c->lower->events, lower[i]));
    }
    scopes_match_free(lower);
    return err;
}

static void add_row(crossing *c)
{
    const scopes_topology *topology = c->view_input->topology;

    scopes_table_text(c->out,
                      scopes_topology_node_name(topology, c->hop->proxy));
    scopes_table_text(
        c->out, scopes_topology_process_name(topology, c->upper->process));
    scopes_table_text(
        c->out, scopes_topology_process_name(topology, c->lower->process));
    scopes_table_text(c->out,
                      scopes_topology_collector_name(topology, c->hop->upper));
    scopes_table_text(c->out,
                      scopes_topology_collector_name(topology, c->hop->lower));
    scopes__sample_row(c->out, &c->sample);
}

/* Between processes, with a collector on both sides, and nobody to wait for in
 * between. */
static bool is_crossing(const scopes_view_input *view_input,
                        const scopes_hop *hop)
{
    return hop->upper != PATHS_NONE && hop->lower != PATHS_NONE &&
           hop->remote && hop->collective == PATHS_NONE &&
           (scopes__is_of(view_input, hop->proxy) ||
            scopes__is_of(view_input, hop->element));
}

static int make(scopes_table *out, const scopes_view_input *view_input)
{
    for (uint32_t id = 0; id < view_input->topology->collectors; id++) {
        const scopes_hop *hop = &view_input->topology->hops[id];
        crossing c = {.out = out, .view_input = view_input, .hop = hop};
        int err;
        if (!is_crossing(view_input, hop))
            continue;
        c.upper = scopes_event_series(view_input->event_table, hop->upper);
        c.lower = scopes_event_series(view_input->event_table, hop->lower);
        err = add_all(&c);
        if (!err && c.sample.count)
            add_row(&c);
        scopes__sample_fini(&c.sample);
        if (err)
            return err;
    }
    return 0;
}

const scopes_view scopes__view_remote_overhead = {
    "remote-overhead",
    "what operations that go to another process and back cost",
    "an operation that went to another process",
    SCOPES__COLUMNS(columns),
    SCOPES__COLUMNS(each_columns),
    .make = make};
