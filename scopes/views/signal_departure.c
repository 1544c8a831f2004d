/* signal_departure.c - the view "signal-departure": when the result of a
 * collective wrapper had left to each of those who take part.
 *
 * Paper 004, section 4.5: EC7 and EC9 of figure 3, for partial sum 3. For each
 * input that is the furthest collector on the way up which the result passes
 * before the next collective, or the thread: so it is EC9, above the proxy,
 * rather than EC8, and the times of different processes are compared, which
 * needs their clocks. Events of the two are matched by thread and sequence.
 *
 *   wrapper, at        and the process where it stands
 *   input              the furthest collector of its way
 *   to, process        the thread or the collective above, and its process
 *   first              how often it was the first one to have its result
 *   count ... most     how long after the first departure of its round it was,
 *                      of the rounds of which no departure is missing
 *
 * With `each` a row for each departure: `round` counts the rounds of this
 * wrapper that were found, from 0; `thread` is the one whose operation it was;
 * `after_first_ns` is not told when another departure is missing, as that may
 * have been the first. */
#include "scopes/views/collective_visit_internal.h"

#include <stdlib.h>

#include "scopes/tables/sample_internal.h"

static const scopes_column columns[] = {
    {"wrapper", "wrapper", SCOPES_TEXT},
    {"at", "at", SCOPES_TEXT},
    {"input", "input", SCOPES_TEXT},
    {"to", "to", SCOPES_TEXT},
    {"process", "process", SCOPES_TEXT},
    {"first", "first", SCOPES_COUNT},
    SCOPES__SAMPLE_COLUMNS,
};

static const scopes_column each_columns[] = {
    {"round", "round", SCOPES_NUMBER},
    {"wrapper", "wrapper", SCOPES_TEXT},
    {"process", "process", SCOPES_TEXT},
    {"input", "input", SCOPES_TEXT},
    {"thread", "thread", SCOPES_TEXT},
    {"departed_ns", "departed ms", SCOPES_TIME_NS},
    {"after_first_ns", "after the first ms", SCOPES_TIME_NS},
};

/* The last collector on the way up from an input. */
typedef struct exit_point {
    uint32_t collector; /* PATHS_NONE: the input has none */
    const scopes_series *series;
    uint32_t *matched; /* by event of the input: the one here; NULL: it is the
                          input's collector itself */
    uint64_t first;
} exit_point;

/* Up to the next collective, thread or join. */
static uint32_t furthest(const scopes_topology *topology, uint32_t collector)
{
    uint32_t at = collector;

    while (at != PATHS_NONE && topology->above[at].count == 1) {
        uint32_t upper = topology->above[at].ids[0];
        if (topology->hops[upper].collective != PATHS_NONE)
            break;
        at = upper;
    }
    return at;
}

static void exits_free(exit_point *exits, uint32_t count)
{
    for (uint32_t i = 0; exits && i < count; i++)
        scopes_match_free(exits[i].matched);
    free(exits);
}

static int exits_find(exit_point **out, const scopes__visit *visit)
{
    const scopes_ids *inputs = &visit->site->inputs;
    exit_point *exits = calloc(visit->inputs + 1u, sizeof(*exits));
    int err = exits ? 0 : scopes__no_memory();

    for (uint32_t i = 0; i < visit->inputs && !err; i++) {
        exits[i].collector =
            furthest(visit->view_input->topology, inputs->ids[i]);
        if (exits[i].collector == PATHS_NONE)
            continue;
        exits[i].series = scopes_event_series(visit->view_input->event_table,
                                              exits[i].collector);
        if (exits[i].collector != inputs->ids[i])
            err = scopes_match(&exits[i].matched, visit->series[i],
                               exits[i].series);
    }
    *out = exits;
    return err;
}

/* The event of a round at the furthest collector; NULL when it is missing. */
static const eventspace_trace *event_at(const scopes__visit *visit,
                                        const exit_point *exit, uint32_t round,
                                        uint32_t input)
{
    uint32_t at = visit->rounds->events[(size_t)round * visit->inputs + input];

    if (at != SCOPES_MISSING && exit->matched)
        at = exit->matched[at];
    return at == SCOPES_MISSING ? NULL
                                : scopes_event_at(exit->series->events, at);
}

static void add_each(scopes_table *out, const scopes__visit *visit,
                     const exit_point *exit, uint32_t round, uint32_t input,
                     const scopes__spread *ends)
{
    const scopes_topology *topology = visit->view_input->topology;
    const eventspace_trace *event = event_at(visit, exit, round, input);

    scopes__round_cell(out, visit->rounds->first, round);
    scopes_table_text(out,
                      scopes_topology_node_name(topology, visit->site->node));
    scopes_table_text(out, visit->origins[input].process);
    scopes_table_text(
        out, scopes_topology_collector_name(topology, exit->collector));
    scopes_table_text(out,
                      scopes_topology_thread_name(topology, event->thread));
    scopes_table_integer(out, visit->times[input]);
    scopes_table_integer(out, ends->full ? visit->times[input] - ends->first
                                         : SCOPES_BLANK);
}

static int take(scopes_table *out, scopes__visit *visit, exit_point *exit,
                uint32_t round, uint32_t input, const scopes__spread *ends)
{
    const eventspace_trace *event = event_at(visit, exit, round, input);

    if (!event || !scopes__visit_tells(visit, input) ||
        !scopes__visit_is_thread(visit, event->thread))
        return 0;
    if (visit->view_input->each) {
        add_each(out, visit, exit, round, input, ends);
        return 0;
    }
    if (!ends->full)
        return 0;
    exit->first += visit->times[input] == ends->first;
    return scopes__sample_add(&visit->samples[input],
                              visit->times[input] - ends->first);
}

static int take_round(scopes_table *out, scopes__visit *visit,
                      exit_point *exits, uint32_t round)
{
    scopes__spread ends;
    int err = 0;

    for (uint32_t i = 0; i < visit->inputs; i++) {
        const eventspace_trace *event = event_at(visit, &exits[i], round, i);
        visit->times[i] =
            event ? scopes__ns(visit->view_input, exits[i].series, event->end)
                  : SCOPES_BLANK;
    }
    ends = scopes__spread_of(visit);
    for (uint32_t i = 0; i < visit->inputs && !err; i++)
        err = take(out, visit, &exits[i], round, i, &ends);
    return err;
}

static void add_sums(scopes_table *out, scopes__visit *visit,
                     const exit_point *exits)
{
    const scopes_topology *topology = visit->view_input->topology;

    for (uint32_t i = 0; i < visit->inputs; i++) {
        if (!exits[i].series || !scopes__visit_tells(visit, i))
            continue;
        scopes_table_text(
            out, scopes_topology_node_name(topology, visit->site->node));
        scopes_table_text(
            out, scopes_topology_process_name(topology, visit->site->process));
        scopes_table_text(
            out, scopes_topology_collector_name(topology, exits[i].collector));
        scopes_table_text(out, visit->origins[i].name);
        scopes_table_text(out, visit->origins[i].process);
        scopes_table_integer(out, (int64_t)exits[i].first);
        scopes__sample_row(out, &visit->samples[i]);
    }
}

static int visit_departures(scopes_table *out, scopes__visit *visit)
{
    exit_point *exits = NULL;
    int err = exits_find(&exits, visit);

    for (uint32_t r = 0; r < visit->rounds->count && !err; r++)
        err = take_round(out, visit, exits, r);
    if (!err && !visit->view_input->each)
        add_sums(out, visit, exits);
    exits_free(exits, visit->inputs);
    return err;
}

static int make(scopes_table *out, const scopes_view_input *view_input)
{
    return scopes__visit_sites(out, view_input, visit_departures);
}

const scopes_view scopes__view_signal_departure = {
    "signal-departure",
    "when results had left each collective wrapper",
    "departure of a round's result",
    SCOPES__COLUMNS(columns),
    SCOPES__COLUMNS(each_columns),
    .make = make,
    .collective = true,
};
