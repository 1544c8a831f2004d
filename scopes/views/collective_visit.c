/* collective_visit.c - a visit to each collective wrapper, with its rounds.
 *
 * Views of collectives go round by round, and look at each input's event. Here
 * is what finds the collective sites that are asked for, their rounds and
 * names. */
#include "scopes/views/collective_visit_internal.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "scopes/parallel/parallel_internal.h"
#include "scopes/tables/sample_internal.h"

int scopes__no_memory(void)
{
    return pastset_no_memory("for the view");
}

/* Does `of` name the element, the wrapper, or one of those that are seen as
 * one with it, since no collector stands between? */
static bool is_about(const scopes_view_input *view_input,
                     const scopes_site *site)
{
    const paths_map *map = view_input->map;
    uint32_t at;

    if (scopes__is_of(view_input, site->node) ||
        scopes__is_of(view_input, site->element))
        return true;
    at = paths_map_find_node(map, view_input->of);
    while (at != PATHS_NONE && map->nodes[at].kind == PATHS_WRAPPER &&
           strcmp(map->nodes[at].type, "collector") != 0) {
        if (at == site->node)
            return true;
        at = map->nodes[at].out_count ? map->edges[map->nodes[at].out[0]].to
                                      : PATHS_NONE;
    }
    return false;
}

static void origins_find(scopes__visit *visit)
{
    const scopes_topology *topology = visit->view_input->topology;

    for (uint32_t i = 0; i < visit->inputs; i++)
        visit->origins[i] = (scopes__origin){"", ""};
    for (uint32_t i = 0; i < topology->top_count; i++) {
        const scopes_top *top = &topology->tops[i];
        uint32_t node = topology->threads[top->thread];
        if (top->site != visit->number || top->input >= visit->inputs)
            continue;
        visit->origins[top->input] =
            (scopes__origin){scopes_topology_node_name(topology, node),
                             scopes_topology_process_name(
                                 topology, topology->map->nodes[node].process)};
    }
    for (uint32_t i = 0; i < topology->site_count; i++) {
        const scopes_site *above = &topology->sites[i];
        if (above->parent != visit->number ||
            above->parent_input >= visit->inputs)
            continue;
        visit->origins[above->parent_input] = (scopes__origin){
            scopes_topology_node_name(topology, above->node),
            scopes_topology_process_name(topology, above->process)};
    }
}

/* All inputs, or those by which the threads come that were asked for. */
static void told_find(scopes__visit *visit)
{
    const scopes_topology *topology = visit->view_input->topology;
    const paths_number_list *threads = visit->view_input->threads;

    for (uint32_t i = 0; !threads && i < visit->inputs; i++)
        visit->told[i] = true;
    for (uint32_t i = 0; threads && i < topology->thread_count; i++) {
        uint32_t input = paths_number_list_has(threads, i)
                             ? scopes_topology_input(topology, visit->number, i)
                             : PATHS_NONE;
        if (input != PATHS_NONE)
            visit->told[input] = true;
    }
}

/* Does any of the threads that were asked for take part in it? */
static bool has_told(const scopes__visit *visit)
{
    bool any = !visit->view_input->threads;

    for (uint32_t i = 0; i < visit->inputs; i++)
        any |= visit->told[i];
    return any;
}

static int visit_init(scopes__visit *visit, const scopes_view_input *view_input,
                      uint32_t number)
{
    const scopes_site *site = &view_input->topology->sites[number];
    uint32_t inputs = site->inputs.count;

    visit->view_input = view_input;
    visit->site = site;
    visit->number = number;
    visit->inputs = inputs;
    visit->series = calloc(inputs + 1u, sizeof(visit->series[0]));
    visit->origins = calloc(inputs + 1u, sizeof(*visit->origins));
    visit->told = calloc(inputs + 1u, sizeof(*visit->told));
    visit->times = calloc(inputs + 1u, sizeof(*visit->times));
    visit->samples = calloc(inputs + 1u, sizeof(*visit->samples));
    if (!visit->series || !visit->origins || !visit->told || !visit->times ||
        !visit->samples)
        return scopes__no_memory();
    for (uint32_t i = 0; i < inputs; i++) {
        if (site->inputs.ids[i] != PATHS_NONE)
            visit->series[i] = scopes_event_series(view_input->event_table,
                                                   site->inputs.ids[i]);
    }
    if (site->lower != PATHS_NONE)
        visit->below =
            scopes_event_series(view_input->event_table, site->lower);
    origins_find(visit);
    told_find(visit);
    return 0;
}

static void visit_fini(scopes__visit *visit)
{
    for (uint32_t i = 0; visit->samples && i < visit->inputs; i++)
        scopes__sample_fini(&visit->samples[i]);
    free(visit->series);
    free(visit->origins);
    free(visit->told);
    free(visit->times);
    free(visit->samples);
}

static int visit_one(scopes_table *out, const scopes_view_input *view_input,
                     uint32_t number, scopes__visiting *each)
{
    scopes__visit visit = {0};
    scopes_rounds *rounds = NULL;
    int err = visit_init(&visit, view_input, number);

    if (!err && !has_told(&visit))
        goto done;
    if (!err)
        err = scopes_rounds_create(&rounds, view_input->topology,
                                   view_input->event_table, number);
    visit.rounds = rounds;
    if (!err)
        err = each(out, &visit);
done:
    scopes_rounds_destroy(rounds);
    visit_fini(&visit);
    return err;
}

/* Visits to all sites, each with a table of its own. */
typedef struct visits {
    const scopes_view_input *view_input;
    scopes__visiting *each;
    scopes_table **tables;
} visits;

static int visit_part(size_t number, void *context)
{
    const visits *v = context;

    return is_about(v->view_input, &v->view_input->topology->sites[number])
               ? visit_one(v->tables[number], v->view_input, (uint32_t)number,
                           v->each)
               : 0;
}

int scopes__visit_sites(scopes_table *out, const scopes_view_input *view_input,
                        scopes__visiting *each)
{
    uint32_t count = view_input->topology->site_count;
    visits v = {view_input, each, scopes_table_parts(out, count)};
    int err = v.tables ? scopes__parallel(count, visit_part, &v)
                       : scopes__no_memory();

    scopes_table_join(out, v.tables, count);
    return err;
}

/* --- a round --- */

const eventspace_trace *scopes__visit_event(const scopes__visit *visit,
                                            uint32_t round, uint32_t input)
{
    uint32_t at =
        visit->rounds->events[(size_t)round * visit->rounds->inputs + input];

    return at == SCOPES_MISSING
               ? NULL
               : scopes_event_at(visit->series[input]->events, at);
}

const eventspace_trace *scopes__visit_below(const scopes__visit *visit,
                                            uint32_t round)
{
    uint32_t at = visit->rounds->below[round];

    return at == SCOPES_MISSING ? NULL
                                : scopes_event_at(visit->below->events, at);
}

int64_t scopes__ns(const scopes_view_input *view_input,
                   const scopes_series *series, uint64_t ticks)
{
    return scopes_clocks_ns(view_input->clocks, series->process, ticks);
}

scopes__spread scopes__spread_of(const scopes__visit *visit)
{
    scopes__spread found = {false, SCOPES_BLANK, SCOPES_BLANK, SCOPES_MISSING};
    uint32_t collected = 0, seen = 0;

    for (uint32_t i = 0; i < visit->inputs; i++) {
        int64_t time = visit->times[i];
        collected += visit->series[i] != NULL;
        if (time == SCOPES_BLANK)
            continue;
        if (seen == 0 || time < found.first)
            found.first = time;
        if (seen++ == 0 || time > found.last) {
            found.last = time;
            found.latest = i;
        }
    }
    found.full = seen > 0 && seen == collected;
    return found;
}

scopes__spread scopes__visit_times(scopes__visit *visit, uint32_t round,
                                   bool ends)
{
    for (uint32_t i = 0; i < visit->inputs; i++) {
        const eventspace_trace *event = scopes__visit_event(visit, round, i);
        visit->times[i] = event
                              ? scopes__ns(visit->view_input, visit->series[i],
                                           ends ? event->end : event->start)
                              : SCOPES_BLANK;
    }
    return scopes__spread_of(visit);
}

uint32_t scopes__visit_last(const scopes__visit *visit, uint32_t round,
                            const scopes__spread *starts)
{
    uint32_t last = visit->rounds->last[round];

    if (last == SCOPES_MISSING && starts->full)
        last = starts->latest;
    return last;
}

bool scopes__visit_tells(const scopes__visit *visit, uint32_t input)
{
    return visit->told[input];
}

bool scopes__visit_is_thread(const scopes__visit *visit, uint32_t thread)
{
    return scopes__has_thread(visit->view_input, thread);
}

const char *scopes__visit_input(const scopes__visit *visit, uint32_t input)
{
    return scopes_topology_collector_name(visit->view_input->topology,
                                          visit->site->inputs.ids[input]);
}
