/* last_arriver.c - the view "last-arriver": for whom the others waited.
 *
 * Paper 004, section 5.2. Who came last in a round is known exactly: below a
 * collective wrapper, the event of a round has the number of the thread whose
 * operation went on for all. Where no collector stands below, it is taken to
 * be the one that started last, of the rounds of which all are there.
 *
 *   element            at the end of the tree
 *   wrapper, at        and the process where it stands; "(tree)": see below
 *   input              the collector by which it comes; empty if there is none
 *   from, process      the thread or the collective above, and its process
 *   last, rounds       how often it came last, of so many rounds of which it is
 *                      known who did
 *   share              of all rounds
 *   count ... most     how long after the second last one it came, of the
 *                      rounds in which it was the last and no event is missing.
 *                      Rarely less than 0, as a thread may lose its processor
 *                      between the stamp and its arrival
 *
 * The rows of "(tree)" are for whole trees of wrappers: `from` is the thread
 * that was the last of all in so many rounds. Its times are those at the root.
 * Where the tree is one wrapper, its own rows would say the same, and are left
 * out.
 *
 * With `each` a row for each round of each wrapper: who came last, by which
 * input, and from which process; `round` counts those that were found, from the
 * beginning of the run and 0, also where a window is looked at. */
#include "scopes/views/collective_visit_internal.h"

#include <stdlib.h>

#include "scopes/tables/sample_internal.h"

static const scopes_column columns[] = {
    {"element", "element", SCOPES_TEXT},
    {"wrapper", "wrapper", SCOPES_TEXT},
    {"at", "at", SCOPES_TEXT},
    {"input", "input", SCOPES_TEXT},
    {"from", "from", SCOPES_TEXT},
    {"process", "process", SCOPES_TEXT},
    {"last", "last", SCOPES_COUNT},
    {"rounds", "rounds", SCOPES_COUNT},
    {"last_share", "share of rounds", SCOPES_SHARE},
    SCOPES__SAMPLE_COLUMNS,
};

static const scopes_column each_columns[] = {
    {"round", "round", SCOPES_NUMBER},
    {"wrapper", "wrapper", SCOPES_TEXT},
    {"process", "process", SCOPES_TEXT},
    {"input", "input", SCOPES_TEXT},
    {"from", "from", SCOPES_TEXT},
    {"thread", "thread", SCOPES_TEXT},
    {"behind_ns", "behind ms", SCOPES_TIME_NS},
};

/* The last one of a round. */
typedef struct arriver {
    uint32_t input;    /* SCOPES_MISSING: not known */
    uint32_t thread;   /* PATHS_NONE: not known */
    int64_t behind_ns; /* SCOPES_BLANK: not known */
} arriver;

/* How often each input / each thread was the last. */
typedef struct counts {
    uint64_t *inputs, *threads;
    scopes__sample *behind; /* by thread; NULL unless it is the root */
    uint64_t rounds;
} counts;

/* --- a round --- */

static int64_t behind_of(const scopes__visit *visit, uint32_t last)
{
    int64_t second = SCOPES_BLANK;

    for (uint32_t i = 0; i < visit->inputs; i++) {
        if (i != last && visit->times[i] > second)
            second = visit->times[i];
    }
    return second == SCOPES_BLANK ? SCOPES_BLANK : visit->times[last] - second;
}

static arriver arriver_of(scopes__visit *visit, uint32_t round)
{
    scopes__spread starts = scopes__visit_times(visit, round, false);
    const eventspace_trace *event = scopes__visit_below(visit, round);
    arriver found = {scopes__visit_last(visit, round, &starts), PATHS_NONE,
                     SCOPES_BLANK};

    if (found.input == SCOPES_MISSING)
        return found;
    if (!event)
        event = scopes__visit_event(visit, round, found.input);
    if (event)
        found.thread = event->thread;
    if (starts.full && visit->times[found.input] != SCOPES_BLANK)
        found.behind_ns = behind_of(visit, found.input);
    return found;
}

static void add_each(scopes_table *out, const scopes__visit *visit,
                     uint32_t round, const arriver *last)
{
    const scopes_topology *topology = visit->view_input->topology;

    scopes__round_cell(out, visit->rounds->first, round);
    scopes_table_text(out,
                      scopes_topology_node_name(topology, visit->site->node));
    scopes_table_text(out, visit->origins[last->input].process);
    scopes_table_text(out, scopes__visit_input(visit, last->input));
    scopes_table_text(out, visit->origins[last->input].name);
    scopes_table_text(out, scopes_topology_thread_name(topology, last->thread));
    scopes_table_integer(out, last->behind_ns);
}

static int count_thread(counts *c, uint32_t threads, const arriver *last)
{
    if (last->thread >= threads)
        return 0;
    c->threads[last->thread]++;
    return last->behind_ns == SCOPES_BLANK
               ? 0
               : scopes__sample_add(&c->behind[last->thread], last->behind_ns);
}

static int take_round(scopes_table *out, scopes__visit *visit, uint32_t round,
                      counts *c)
{
    arriver last = arriver_of(visit, round);
    int err = 0;

    if (last.input == SCOPES_MISSING)
        return 0;
    c->rounds++;
    if (!scopes__visit_is_thread(visit, last.thread))
        return 0;
    if (visit->view_input->each) {
        add_each(out, visit, round, &last);
        return 0;
    }
    c->inputs[last.input]++;
    if (last.behind_ns != SCOPES_BLANK)
        err = scopes__sample_add(&visit->samples[last.input], last.behind_ns);
    if (!err && c->behind)
        err = count_thread(c, visit->view_input->topology->thread_count, &last);
    return err;
}

/* --- sums --- */

static void add_counts(scopes_table *out, uint64_t last, uint64_t rounds,
                       scopes__sample *behind)
{
    scopes_table_integer(out, (int64_t)last);
    scopes_table_integer(out, (int64_t)rounds);
    scopes_table_real(out, rounds ? (double)last / (double)rounds : 0);
    scopes__sample_row(out, behind);
}

static void add_inputs(scopes_table *out, scopes__visit *visit, const counts *c)
{
    const scopes_topology *topology = visit->view_input->topology;
    const scopes_site *site = visit->site;

    for (uint32_t i = 0; i < visit->inputs; i++) {
        if (!scopes__visit_tells(visit, i))
            continue;
        scopes_table_text(out,
                          scopes_topology_node_name(topology, site->element));
        scopes_table_text(out, scopes_topology_node_name(topology, site->node));
        scopes_table_text(
            out, scopes_topology_process_name(topology, site->process));
        scopes_table_text(out, scopes__visit_input(visit, i));
        scopes_table_text(out, visit->origins[i].name);
        scopes_table_text(out, visit->origins[i].process);
        add_counts(out, c->inputs[i], c->rounds, &visit->samples[i]);
    }
}

static void add_tree(scopes_table *out, scopes__visit *visit, counts *c)
{
    const scopes_topology *topology = visit->view_input->topology;

    for (uint32_t i = 0; i < topology->thread_count; i++) {
        if (!scopes__visit_is_thread(visit, i) ||
            scopes_topology_input(topology, visit->number, i) == PATHS_NONE)
            continue;
        scopes_table_text(
            out, scopes_topology_node_name(topology, visit->site->element));
        scopes_table_text(out, "(tree)");
        scopes_table_text(out, "");
        scopes_table_text(out, "");
        scopes_table_text(out, scopes_topology_thread_name(topology, i));
        scopes_table_text(
            out,
            scopes_topology_process_name(
                topology, topology->map->nodes[topology->threads[i]].process));
        add_counts(out, c->threads[i], c->rounds, &c->behind[i]);
    }
}

/* --- all of it --- */

static int counts_init(counts *c, const scopes__visit *visit)
{
    uint32_t threads = visit->view_input->topology->thread_count;

    c->inputs = calloc(visit->inputs + 1u, sizeof(*c->inputs));
    c->threads = calloc(threads + 1u, sizeof(*c->threads));
    if (visit->site->parent == PATHS_NONE && !visit->view_input->each)
        c->behind = calloc(threads + 1u, sizeof(*c->behind));
    if (!c->inputs || !c->threads ||
        (visit->site->parent == PATHS_NONE && !visit->view_input->each &&
         !c->behind))
        return scopes__no_memory();
    return 0;
}

static void counts_fini(counts *c, const scopes__visit *visit)
{
    uint32_t threads = visit->view_input->topology->thread_count;

    for (uint32_t i = 0; c->behind && i < threads; i++)
        scopes__sample_fini(&c->behind[i]);
    free(c->inputs);
    free(c->threads);
    free(c->behind);
}

/* Is it the only wrapper of its tree? */
static bool is_alone(const scopes__visit *visit)
{
    const scopes_topology *topology = visit->view_input->topology;

    if (visit->site->parent != PATHS_NONE)
        return false;
    for (uint32_t i = 0; i < topology->site_count; i++)
        if (topology->sites[i].parent == visit->number)
            return false;
    return true;
}

static int visit_last(scopes_table *out, scopes__visit *visit)
{
    counts c = {0};
    int err = counts_init(&c, visit);

    for (uint32_t r = 0; r < visit->rounds->count && !err; r++)
        err = take_round(out, visit, r, &c);
    if (!err && c.behind)
        add_tree(out, visit, &c);
    if (!err && !visit->view_input->each && !is_alone(visit))
        add_inputs(out, visit, &c);
    counts_fini(&c, visit);
    return err;
}

static int make(scopes_table *out, const scopes_view_input *view_input)
{
    return scopes__visit_sites(out, view_input, visit_last);
}

const scopes_view scopes__view_last_arriver = {
    "last-arriver",
    "who came last to each collective wrapper, and how often",
    "round of a wrapper",
    SCOPES__COLUMNS(columns),
    SCOPES__COLUMNS(each_columns),
    .make = make,
    .collective = true,
};
