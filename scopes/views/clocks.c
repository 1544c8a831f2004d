/* clocks.c - the view "clocks": how the clock of each process was aligned, and
 * how good that is (scopes/clocks/clock.h).
 *
 *   process          its name
 *   how              by what: reference, shared, exchanges, wall clock or none
 *   parent, depth    with which process, and how many hops that is from the
 *                    reference
 *   exchanges        with that one, that were used
 *   offset, rate     how far its clock was ahead of the reference's by its wall
 *                    clock at its start, and how much faster it runs
 *   certain          half of the interval in which its times certainly are, at
 *                    the moment at which that is least
 *   certain_end      the same at its last event
 *
 * Blank is what is not known, and what is not bounded. */
#include "scopes/views/view_internal.h"

#include <math.h>

static const scopes_column columns[] = {
    {"process", "process", SCOPES_TEXT},
    {"how", "aligned by", SCOPES_TEXT},
    {"parent", "with", SCOPES_TEXT},
    {"depth", "hops", SCOPES_COUNT},
    {"exchanges", "exchanges", SCOPES_COUNT},
    {"offset_ns", "offset ms", SCOPES_TIME_NS},
    {"rate_ppm", "rate ppm", SCOPES_REAL},
    {"certain_ns", "certain +- ms", SCOPES_TIME_NS},
    {"certain_end_ns", "at the end +- ms", SCOPES_TIME_NS},
};

static const char *const how_names[] = {"reference", "shared", "exchanges",
                                        "wall clock", "none"};

static int64_t rounded(double ns)
{
    return isfinite(ns) ? llround(ns) : SCOPES_BLANK;
}

/* The last moment of which a process has told: by events, or when it ended, as
 * those of messages only are not read. */
static uint64_t last_ticks(const scopes_view_input *view_input,
                           uint32_t process)
{
    const scopes_event_table *table = view_input->event_table;
    uint64_t last = 0;

    for (uint32_t i = 0; i < table->collectors; i++) {
        const scopes_series *series = &table->series[i];
        if (series->process == process && series->count &&
            scopes_event_at(series->events, series->count - 1)->end > last)
            last = scopes_event_at(series->events, series->count - 1)->end;
    }
    if (!last && view_input->run &&
        process < eventspace_run_process_count(view_input->run) &&
        eventspace_run_process_at(view_input->run, process)->has_meta)
        last =
            eventspace_run_process_at(view_input->run, process)->meta.end_tick;
    return last;
}

static int64_t certain_end(const scopes_view_input *view_input,
                           uint32_t process)
{
    uint64_t last = last_ticks(view_input, process);
    int64_t from, to;

    if (!last)
        return SCOPES_BLANK;
    scopes_clocks_certain(view_input->clocks, process, last, &from, &to);
    return from == INT64_MIN || to == INT64_MAX ? SCOPES_BLANK
                                                : (to - from + 1) / 2;
}

static void add_process(scopes_table *out, const scopes_view_input *view_input,
                        uint32_t process)
{
    const paths_map *map = view_input->map;
    const scopes_clock *c = scopes_clocks_process(view_input->clocks, process);
    bool known = c->how != SCOPES_CLOCK_NONE;

    scopes_table_text(out, map->processes[process].name);
    scopes_table_text(out, how_names[c->how]);
    scopes_table_text(out, c->parent < map->process_count
                               ? map->processes[c->parent].name
                               : "");
    scopes_table_integer(out, known ? c->depth : SCOPES_BLANK);
    scopes_table_integer(out, (int64_t)c->pairs);
    scopes_table_integer(out, known ? rounded(c->offset_ns) : SCOPES_BLANK);
    scopes_table_real(out, known ? c->rate_ppm : NAN);
    scopes_table_integer(out, rounded(c->certain_ns));
    scopes_table_integer(out, certain_end(view_input, process));
}

static int make(scopes_table *out, const scopes_view_input *view_input)
{
    const scopes_clock_list *list =
        (const scopes_clock_list *)(const void *)view_input->clocks;

    for (uint32_t i = 0; i < view_input->map->process_count && i < list->count;
         i++)
        add_process(out, view_input, i);
    return 0;
}

const scopes_view scopes__view_clocks = {
    "clocks",
    "how the clock of each process was aligned, and how good that is",
    NULL,
    SCOPES__COLUMNS(columns),
    NULL,
    0,
    .make = make,
    .eventless = true,
};
