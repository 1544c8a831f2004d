/* signal_arrival.c - the view "signal-arrival": when the contributions came to
 * a collective wrapper.
 *
 * Paper 004, section 4.5: EC7 and EC8 of figure 3, for partial sum 3. Each
 * input of each collective wrapper has a row.
 *
 *   wrapper, at        and the process where it stands
 *   input              the collector by which the contribution comes
 *   from, process      the thread or the collective above, and its process
 *   last               how often it was the last one to come
 *   count ... most     how long after the first contribution of its round it
 *                      came, of the rounds of which no contribution is missing
 *
 * With `each` a row for each contribution: `round` counts the rounds of this
 * wrapper that were found, from 0; `thread` is the one whose operation it was
 * (of a collective above: that which had come last there); `after_first_ns` is
 * not told when another contribution of the round is missing, as that may have
 * been the first; `last` is 1 for the one that came last, else 0.
 *
 * A contribution comes when its operation passes the input's collector. Where
 * that is on another process, it still has to pass what stands in between,
 * which is not counted then. */
#include "scopes/views/collective_visit_internal.h"

#include <stdlib.h>

#include "scopes/tables/sample_internal.h"

static const scopes_column columns[] = {
    {"wrapper", "wrapper", SCOPES_TEXT},
    {"at", "at", SCOPES_TEXT},
    {"input", "input", SCOPES_TEXT},
    {"from", "from", SCOPES_TEXT},
    {"process", "process", SCOPES_TEXT},
    {"last", "last", SCOPES_COUNT},
    SCOPES__SAMPLE_COLUMNS,
};

static const scopes_column each_columns[] = {
    {"round", "round", SCOPES_NUMBER},
    {"wrapper", "wrapper", SCOPES_TEXT},
    {"process", "process", SCOPES_TEXT},
    {"input", "input", SCOPES_TEXT},
    {"thread", "thread", SCOPES_TEXT},
    {"arrived_ns", "arrived ms", SCOPES_TIME_NS},
    {"after_first_ns", "after the first ms", SCOPES_TIME_NS},
    {"last", "last", SCOPES_NUMBER},
};

/* One contribution. */
typedef struct arrival {
    uint32_t round, input;
    const eventspace_trace *event;
    scopes__spread starts;
    bool last;
} arrival;

static void add_each(scopes_table *out, const scopes__visit *visit,
                     const arrival *a)
{
    const scopes_topology *topology = visit->view_input->topology;

    scopes__round_cell(out, visit->rounds->first, a->round);
    scopes_table_text(out,
                      scopes_topology_node_name(topology, visit->site->node));
    scopes_table_text(out, visit->origins[a->input].process);
    scopes_table_text(out, scopes__visit_input(visit, a->input));
    scopes_table_text(out,
                      scopes_topology_thread_name(topology, a->event->thread));
    scopes_table_integer(out, visit->times[a->input]);
    scopes_table_integer(out, a->starts.full
                                  ? visit->times[a->input] - a->starts.first
                                  : SCOPES_BLANK);
    scopes_table_integer(out, a->last);
}

static int take(scopes_table *out, scopes__visit *visit, const arrival *a,
                uint64_t *last)
{
    if (!scopes__visit_is_thread(visit, a->event->thread))
        return 0;
    *last += a->last;
    if (visit->view_input->each)
        add_each(out, visit, a);
    else if (a->starts.full)
        return scopes__sample_add(&visit->samples[a->input],
                                  visit->times[a->input] - a->starts.first);
    return 0;
}

static int take_round(scopes_table *out, scopes__visit *visit, uint32_t round,
                      uint64_t *last)
{
    scopes__spread starts = scopes__visit_times(visit, round, false);
    uint32_t latest = scopes__visit_last(visit, round, &starts);
    int err = 0;

    for (uint32_t i = 0; i < visit->inputs && !err; i++) {
        arrival a = {round, i, scopes__visit_event(visit, round, i), starts,
                     i == latest};
        if (a.event && scopes__visit_tells(visit, i))
            err = take(out, visit, &a, &last[i]);
    }
    return err;
}

static void add_sums(scopes_table *out, scopes__visit *visit,
                     const uint64_t *last)
{
    const scopes_topology *topology = visit->view_input->topology;

    for (uint32_t i = 0; i < visit->inputs; i++) {
        if (!visit->series[i] || !scopes__visit_tells(visit, i))
            continue;
        scopes_table_text(
            out, scopes_topology_node_name(topology, visit->site->node));
        scopes_table_text(
            out, scopes_topology_process_name(topology, visit->site->process));
        scopes_table_text(out, scopes__visit_input(visit, i));
        scopes_table_text(out, visit->origins[i].name);
        scopes_table_text(out, visit->origins[i].process);
        scopes_table_integer(out, (int64_t)last[i]);
        scopes__sample_row(out, &visit->samples[i]);
    }
}

static int visit_arrivals(scopes_table *out, scopes__visit *visit)
{
    uint64_t *last = calloc(visit->inputs + 1u, sizeof(*last));
    int err = last ? 0 : scopes__no_memory();

    for (uint32_t r = 0; r < visit->rounds->count && !err; r++)
        err = take_round(out, visit, r, last);
    if (!err && !visit->view_input->each)
        add_sums(out, visit, last);
    free(last);
    return err;
}

static int make(scopes_table *out, const scopes_view_input *view_input)
{
    return scopes__visit_sites(out, view_input, visit_arrivals);
}

const scopes_view scopes__view_signal_arrival = {
    "signal-arrival",
    "when contributions came to each collective wrapper",
    "contribution to a round of a wrapper",
    SCOPES__COLUMNS(columns),
    SCOPES__COLUMNS(each_columns),
    .make = make,
    .collective = true,
};
