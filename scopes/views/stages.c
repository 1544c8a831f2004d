/* stages.c - the view "stages": what passed each stage of the paths, and how
 * long it took there.
 *
 * A stage is what stands between a collector and the next one on the way down,
 * or the end of the way: in a map that is instrumented everywhere one wrapper,
 * or the element. So each collector has a row:
 *
 *   collector, process  and where it stands
 *   thread              whose operations passed it; blank: those of several
 *   stage               what stands below it, from the top
 *   below, to_process   the next collector, and its process; blank: there is
 *                       none, and the stage ends the way
 *   operations, bytes   that passed the collector
 *   passing_ns          their time from there on: all stages below, and back
 *   count ... max_ns    of the times in the stage itself: of each operation
 *                       that is seen at both collectors, its time at the upper
 *                       less that at the lower; without a lower one, its time
 *
 * Times are lengths by the clock of their own process, so no clocks need be
 * aligned. Of a collective, only the operation that came last goes on in each
 * round and is seen below: its time in the stage is what the collective takes,
 * without the waiting of the others (which the view wait-states has).
 *
 * With `of`: stages in which that stands, or which begin at that collector. */
#include "scopes/views/view_internal.h"

#include "scopes/causality/rounds.h"
#include "scopes/tables/sample_internal.h"

static const scopes_column columns[] = {
    {"collector", "collector", SCOPES_TEXT},
    {"process", "process", SCOPES_TEXT},
    {"thread", "thread", SCOPES_TEXT},
    {"stage", "stage", SCOPES_TEXT},
    {"below", "below", SCOPES_TEXT},
    {"to_process", "to process", SCOPES_TEXT},
    {"operations", "operations", SCOPES_COUNT},
    {"bytes", "bytes", SCOPES_COUNT},
    {"passing_ns", "passing ms", SCOPES_TIME_NS},
    SCOPES__SAMPLE_COLUMNS,
};

#define SEVERAL (PATHS_NONE - 1)

typedef struct stage {
    const scopes_view_input *view_input;
    const scopes_hop *hop;
    const scopes_series *upper, *lower; /* `lower` is empty where none is */
    uint32_t thread;                    /* PATHS_NONE: none yet; SEVERAL */
    int64_t operations, bytes, passing_ns;
    scopes__sample sample;
} stage;

/* --- one stage --- */

static int add(stage *s, const eventspace_trace *event, uint32_t below)
{
    int64_t passing_ns = scopes__length_ns(s->view_input, s->upper, event);

    if (s->thread != event->thread)
        s->thread = s->thread == PATHS_NONE ? event->thread : SEVERAL;
    s->operations++;
    s->bytes += event->bytes;
    s->passing_ns = scopes__sum_ns(s->passing_ns, passing_ns);
    if (s->hop->lower == PATHS_NONE)
        return scopes__sample_add(&s->sample, passing_ns);
    if (below == SCOPES_MISSING)
        return 0;
    return scopes__sample_add(
        &s->sample, passing_ns - scopes__length_ns(
                                     s->view_input, s->lower,
                                     scopes_event_at(s->lower->events, below)));
}

static int add_events(stage *s)
{
    uint32_t *below = NULL;
    int err = s->hop->lower == PATHS_NONE
                  ? 0
                  : scopes_match(&below, s->upper, s->lower);

    for (size_t i = 0; i < s->upper->count && !err; i++) {
        const eventspace_trace *event = scopes_event_at(s->upper->events, i);
        if (scopes__has_thread(s->view_input, event->thread))
            err = add(s, event, below ? below[i] : SCOPES_MISSING);
    }
    scopes_match_free(below);
    return err;
}

static void add_row(scopes_table *out, stage *s)
{
    const scopes_topology *topology = s->view_input->topology;

    scopes_table_text(out,
                      scopes_topology_collector_name(topology, s->hop->upper));
    scopes_table_text(
        out, scopes_topology_process_name(topology, s->upper->process));
    scopes_table_text(out, s->thread == SEVERAL ? ""
                                                : scopes_topology_thread_name(
                                                      topology, s->thread));
    scopes_table_text(out, s->hop->name);
    scopes_table_text(out,
                      scopes_topology_collector_name(topology, s->hop->lower));
    scopes_table_text(
        out, s->hop->lower == PATHS_NONE
                 ? ""
                 : scopes_topology_process_name(topology, s->lower->process));
    scopes_table_integer(out, s->operations);
    scopes_table_integer(out, s->bytes);
    scopes_table_integer(out, s->passing_ns);
    scopes__sample_row(out, &s->sample);
}

/* --- all stages --- */

static int make(scopes_table *out, const scopes_view_input *view_input)
{
    const scopes_topology *topology = view_input->topology;
    int err = 0;

    for (uint32_t id = 0; id < topology->collectors && !err; id++) {
        stage s = {.view_input = view_input,
                   .hop = &topology->hops[id],
                   .upper = scopes_event_series(view_input->event_table, id),
                   .thread = PATHS_NONE};
        if (s.hop->upper == PATHS_NONE ||
            !scopes__stage_is_of(view_input, topology->nodes[id]))
            continue;
        s.lower = scopes_event_series(view_input->event_table, s.hop->lower);
        err = add_events(&s);
        if (!err && s.operations)
            add_row(out, &s);
        scopes__sample_fini(&s.sample);
    }
    return err;
}

const scopes_view scopes__view_stages = {
    "stages", "what passed each stage of the paths, and how long it took there",
    NULL, SCOPES__COLUMNS(columns), .make = make};
