/* performance.c - the view "performance": where the time of each collective
 * wrapper's rounds goes.
 *
 * Paper 004, section 4.5: EC7, EC8 and EC10 of figure 3, for partial sum 3.
 * The stamps of the collectors directly above and below the wrapper divide a
 * round into phases; each wrapper has a row for each of them:
 *
 *   arriving  from the first contribution to the last
 *   down      from the last contribution until it passes the collector below:
 *             what the wrapper takes to put it together and pass it on
 *   below     from going down past that collector to coming up past it: what
 *             all stages below take
 *   up-first  from there until the first input's collector has the result
 *   up-last   from there until the last one has it
 *
 *   wrapper, at        and the process where it stands
 *   phase              see above
 *   count ... most     of the times of the rounds of which no event is missing
 *                      that the phase needs. Without a collector below there is
 *                      no down, below and up
 *
 * With `each` a row for each round, which counts those that were found, from
 * 0; what cannot be told is left empty. A contribution's time is taken before
 * it arrives, and a thread may lose its processor in between; so the one that
 * came last by its time may, rarely, not be the one that went on. */
#include "scopes/views/collective_visit_internal.h"

#include "scopes/tables/sample_internal.h"

static const scopes_column columns[] = {
    {"wrapper", "wrapper", SCOPES_TEXT},
    {"at", "at", SCOPES_TEXT},
    {"phase", "phase", SCOPES_TEXT},
    SCOPES__SAMPLE_COLUMNS,
};

static const scopes_column each_columns[] = {
    {"round", "round", SCOPES_NUMBER},
    {"wrapper", "wrapper", SCOPES_TEXT},
    {"arrived_first_ns", "first arrived ms", SCOPES_TIME_NS},
    {"arrived_last_ns", "last arrived ms", SCOPES_TIME_NS},
    {"down_ns", "down ms", SCOPES_TIME_NS},
    {"below_ns", "below ms", SCOPES_TIME_NS},
    {"up_first_ns", "first up ms", SCOPES_TIME_NS},
    {"up_last_ns", "last up ms", SCOPES_TIME_NS},
};

enum { ARRIVING, DOWN, BELOW, UP_FIRST, UP_LAST, PHASES };

static const char *const phase_names[PHASES] = {"arriving", "down", "below",
                                                "up-first", "up-last"};

typedef struct phases {
    int64_t first, last;   /* arrivals; SCOPES_BLANK */
    int64_t times[PHASES]; /* SCOPES_BLANK where one cannot be told */
} phases;

static phases phases_of(scopes__visit *visit, uint32_t round)
{
    const eventspace_trace *below = scopes__visit_below(visit, round);
    scopes__spread starts = scopes__visit_times(visit, round, false);
    scopes__spread ends = scopes__visit_times(visit, round, true);
    phases p = {SCOPES_BLANK, SCOPES_BLANK, {0}};
    int64_t start = 0, end = 0;

    for (int i = 0; i < PHASES; i++)
        p.times[i] = SCOPES_BLANK;
    if (below) {
        start = scopes__ns(visit->view_input, visit->below, below->start);
        end = scopes__ns(visit->view_input, visit->below, below->end);
        p.times[BELOW] = end - start;
    }
    if (!starts.full)
        return p;
    p.first = starts.first;
    p.last = starts.last;
    p.times[ARRIVING] = starts.last - starts.first;
    if (below) {
        p.times[DOWN] = start - starts.last;
        p.times[UP_FIRST] = ends.first - end;
        p.times[UP_LAST] = ends.last - end;
    }
    return p;
}

static void add_each(scopes_table *out, const scopes__visit *visit,
                     uint32_t round, const phases *p)
{
    scopes__round_cell(out, visit->rounds->first, round);
    scopes_table_text(out, scopes_topology_node_name(
                               visit->view_input->topology, visit->site->node));
    scopes_table_integer(out, p->first);
    scopes_table_integer(out, p->last);
    for (int i = DOWN; i < PHASES; i++)
        scopes_table_integer(out, p->times[i]);
}

static int take_round(scopes_table *out, scopes__visit *visit, uint32_t round,
                      scopes__sample *samples)
{
    phases p = phases_of(visit, round);
    int err = 0;

    if (visit->view_input->each) {
        add_each(out, visit, round, &p);
        return 0;
    }
    for (int i = 0; i < PHASES && !err; i++) {
        if (p.times[i] != SCOPES_BLANK)
            err = scopes__sample_add(&samples[i], p.times[i]);
    }
    return err;
}

static void add_sums(scopes_table *out, const scopes__visit *visit,
                     scopes__sample *samples)
{
    const scopes_topology *topology = visit->view_input->topology;

    for (int i = 0; i < PHASES; i++) {
        scopes_table_text(
            out, scopes_topology_node_name(topology, visit->site->node));
        scopes_table_text(
            out, scopes_topology_process_name(topology, visit->site->process));
        scopes_table_text(out, phase_names[i]);
        scopes__sample_row(out, &samples[i]);
    }
}

static int visit_phases(scopes_table *out, scopes__visit *visit)
{
    scopes__sample samples[PHASES] = {0};
    int err = 0;

    for (uint32_t r = 0; r < visit->rounds->count && !err; r++)
        err = take_round(out, visit, r, samples);
    if (!err && !visit->view_input->each)
        add_sums(out, visit, samples);
    for (int i = 0; i < PHASES; i++)
        scopes__sample_fini(&samples[i]);
    return err;
}

static int make(scopes_table *out, const scopes_view_input *view_input)
{
    return scopes__visit_sites(out, view_input, visit_phases);
}

const scopes_view scopes__view_performance = {
    "performance",
    "where the time of each collective wrapper goes",
    "round of a wrapper",
    SCOPES__COLUMNS(columns),
    SCOPES__COLUMNS(each_columns),
    .make = make,
    .collective = true,
};
