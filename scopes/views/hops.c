/* hops.c - the view "hops": how the time of each round of a collective divides
 * over the hops on the way.
 *
 * The thread that came last goes on for all. From the collector at its top
 * there are hops down to the lowest collector of the tree, where the element
 * is, and from there hops up to each thread. So of a round and a thread
 *
 * - wait: from the thread's own arrival to that of the last one, not below 0
 *   where they are on one process;
 * - down, of each hop on the last one's way: from the start at the collector
 *   above it to the start at the one below;
 * - element: the time of the lowest collector. Where no collector stands below
 *   the root: from the start at the last one's input to the end at its;
 * - up, of each hop on the thread's way: from the end at the collector below it
 *   to the end at the one above
 *
 * are parts; down, element and up are together the whole, from the arrival of
 * the last one to the end of the thread's operation, exactly: each begins when
 * the one before ends, in aligned time. What can be wrong with a part is told
 * beside it: certain_ns is half of the interval in which it certainly is; 0
 * when both ends are on one process, blank when nothing is certain.
 *
 * Rows: a part of a tree. `part` numbers them along the way; behind it stand
 * the waits, which are no hop's: what the others lost by the last one. A sample
 * is one time that somebody passed: of `down` and `element` (one for
 * each round, by the last one for all), of `up` (one for each round and
 * collector), of `wait` (each thread but the last). `share` is that of the time
 * of all threads in operations of this tree: a part counts for each thread that
 * it kept.
 *
 * With `each`: a row for each part of each round and thread; rounds count from
 * 0, as in the other views.
 *
 * A round is left out when tuples of the last one's way are missing, and a
 * thread's part in it when some of its own way are. */
#include "scopes/views/hops_internal.h"

#include <math.h>
#include <stdlib.h>

#include "pastset/status.h"
#include "scopes/tables/sample_internal.h"

static const scopes_column columns[] = {
    {"element", "element", SCOPES_TEXT},
    {"part", "part", SCOPES_NUMBER},
    {"direction", "direction", SCOPES_TEXT},
    {"from", "from", SCOPES_TEXT},
    {"to", "to", SCOPES_TEXT},
    {"what", "what", SCOPES_TEXT},
    {"process", "process", SCOPES_TEXT},
    {"to_process", "to process", SCOPES_TEXT},
    SCOPES__SAMPLE_COLUMNS,
    {"operations_share", "share of operations", SCOPES_SHARE},
    {"certain_ns", "certain ms", SCOPES_TIME_NS},
};

static const scopes_column each_columns[] = {
    {"element", "element", SCOPES_TEXT},
    {"round", "round", SCOPES_NUMBER},
    {"thread", "thread", SCOPES_TEXT},
    {"direction", "direction", SCOPES_TEXT},
    {"from", "from", SCOPES_TEXT},
    {"to", "to", SCOPES_TEXT},
    {"what", "what", SCOPES_TEXT},
    {"start_ns", "start ms", SCOPES_TIME_NS},
    {"part_ns", "part ms", SCOPES_TIME_NS},
    {"certain_ns", "certain ms", SCOPES_TIME_NS},
    {"whole_ns", "whole ms", SCOPES_TIME_NS},
};

/* --- sums --- */

static bool is_last(const scopes__hops *h, uint32_t branch, uint32_t i)
{
    return scopes__tree_representative(h->tree, h->first + i) == branch;
}

/* Between two processes, the half-width of what is certain, where it is
 * widest. */
static void widen(const scopes__hops *h, scopes__part *p, uint32_t process,
                  uint32_t other)
{
    int64_t one = h->widths[process], two = h->widths[other];
    int64_t certain_ns = INT64_MAX;

    if (process == other)
        return;
    if (one != INT64_MAX && two != INT64_MAX)
        certain_ns = (one + two + 1) / 2;
    if (certain_ns > p->certain_ns)
        p->certain_ns = certain_ns;
}

static int add(scopes__part *p, int64_t ns, uint32_t kept)
{
    p->kept_ns += (double)ns * kept;
    return scopes__sample_add(&p->sample, ns);
}

static int sum_down(scopes__hops *h, uint32_t i)
{
    uint32_t branch = scopes__tree_representative(h->tree, h->first + i);
    uint32_t kept = 0;
    int err = 0;

    if (h->bottoms[i] == SCOPES_MISSING)
        return 0;
    for (uint32_t b = 0; b < h->tree->branch_count &&
                         scopes__hops_branch(h, b)->lower == SCOPES_MISSING;
         b++)
        kept += h->kept[scopes__hops_cell(h, b, i)];
    if (kept == 0)
        return 0;
    while (branch != h->bottoms[i] && !err) {
        uint32_t lower = scopes__hops_branch(h, branch)->lower;
        scopes__part *p = &h->parts[branch].down;
        err = add(p,
                  h->starts[scopes__hops_cell(h, lower, i)] -
                      h->starts[scopes__hops_cell(h, branch, i)],
                  kept);
        widen(h, p, scopes__hops_branch(h, branch)->process,
              scopes__hops_branch(h, lower)->process);
        branch = lower;
    }
    return err;
}

static int sum_up(scopes__hops *h, uint32_t branch, uint32_t i)
{
    uint32_t lower = scopes__hops_branch(h, branch)->lower,
             bottom = h->bottoms[i];
    size_t at = scopes__hops_cell(h, branch, i);
    scopes__part *p = &h->parts[branch].up;
    int64_t from;

    if (h->ends[at] == SCOPES__NO_TIME)
        return 0;
    from = lower == SCOPES_MISSING ? h->starts[scopes__hops_cell(h, bottom, i)]
                                   : h->ends[scopes__hops_cell(h, lower, i)];
    widen(h, p, scopes__hops_branch(h, branch)->process,
          scopes__hops_branch(h, lower == SCOPES_MISSING ? bottom : lower)
              ->process);
    return add(p, h->ends[at] - from, h->kept[at]);
}

static int sum_wait(scopes__hops *h, uint32_t branch, uint32_t i)
{
    size_t at = scopes__hops_cell(h, branch, i);
    uint32_t last = scopes__tree_representative(h->tree, h->first + i);
    scopes__part *p = &h->parts[branch].wait;
    int64_t wait_ns = 0;

    if (h->ends[at] == SCOPES__NO_TIME)
        return 0;
    /* From its start, or from that of the last one if it is earlier: a thread
     * of the same process may have been stamped before and arrive after it. */
    if (!is_last(h, branch, i))
        wait_ns = scopes__hops_wait_ns(h, branch, last, i);
    h->all_ns += (double)(wait_ns + h->ends[at] -
                          h->starts[scopes__hops_cell(h, last, i)]);
    if (is_last(h, branch, i))
        return 0;
    widen(h, p, scopes__hops_branch(h, branch)->process,
          scopes__hops_branch(h, last)->process);
    return add(p, wait_ns, 1);
}

static int sum_block(scopes__hops *h)
{
    int err = 0;

    for (uint32_t i = 0; i < h->count && !err; i++)
        err = sum_down(h, i);
    for (uint32_t b = 0; b < h->tree->branch_count && !err; b++) {
        bool is_top = scopes__hops_branch(h, b)->top != SCOPES_MISSING;
        if (!h->parts[b].asked)
            continue;
        for (uint32_t i = 0; i < h->count && !err; i++)
            err = sum_up(h, b, i);
        for (uint32_t i = 0; i < h->count && !err && is_top; i++)
            err = sum_wait(h, b, i);
    }
    return err;
}

/* --- rows --- */

static const char *process_name(const scopes__hops *h, uint32_t branch)
{
    return branch == SCOPES_MISSING
               ? ""
               : scopes_topology_process_name(
                     h->view_input->topology,
                     scopes__hops_branch(h, branch)->process);
}

static uint32_t number_of(const scopes__hops *h, uint32_t branch,
                          scopes__direction way)
{
    uint32_t depth = scopes__hops_branch(h, branch)->depth;

    switch (way) {
    case SCOPES__DOWN:
        return h->deepest - depth + 1;
    case SCOPES__AT_ELEMENT:
        return h->deepest + 1;
    case SCOPES__UP:
        return h->deepest + 1 + depth;
    default:
        return 2 * (h->deepest + 1);
    }
}

static void add_row(scopes__hops *h, uint32_t branch, scopes__direction way,
                    scopes__part *p)
{
    const scopes__branch *b = scopes__hops_branch(h, branch);
    uint32_t other = way == SCOPES__AT_ELEMENT ? branch
                     : way == SCOPES__WAIT     ? SCOPES_MISSING
                                               : b->lower;
    uint32_t from = way == SCOPES__UP ? other : branch;
    uint32_t to = way == SCOPES__UP ? branch : other;
    double share = h->all_ns > 0 ? p->kept_ns / h->all_ns : (double)NAN;

    if (p->sample.count == 0 || !scopes__hops_is_of(h, branch, way))
        return;
    scopes_table_text(h->out, scopes_topology_node_name(h->view_input->topology,
                                                        h->tree->element));
    scopes_table_integer(h->out, number_of(h, branch, way));
    scopes_table_text(h->out, scopes__direction_names[way]);
    scopes_table_text(h->out, scopes__hops_collector(h, from));
    scopes_table_text(h->out, scopes__hops_collector(h, to));
    scopes_table_text(h->out,
                      way == SCOPES__WAIT ? "" : scopes__hops_what(h, branch));
    scopes_table_text(h->out, process_name(h, from));
    scopes_table_text(h->out, process_name(h, to));
    scopes__sample_row(h->out, &p->sample);
    scopes_table_real(h->out, share);
    scopes__hops_certain_cell(h->out, p->certain_ns);
}

/* In the order of the ways: down from the tops, element, up again; then who
 * waited for the last one. */
static void add_rows(scopes__hops *h)
{
    uint32_t count = h->tree->branch_count;

    for (uint32_t depth = h->deepest; depth > 0; depth--) {
        for (uint32_t b = 0; b < count; b++) {
            if (scopes__hops_branch(h, b)->depth == depth)
                add_row(h, b, SCOPES__DOWN, &h->parts[b].down);
        }
    }
    for (uint32_t depth = 0; depth <= h->deepest; depth++) {
        for (uint32_t b = 0; b < count; b++) {
            if (scopes__hops_branch(h, b)->depth == depth)
                add_row(h, b, depth ? SCOPES__UP : SCOPES__AT_ELEMENT,
                        &h->parts[b].up);
        }
    }
    for (uint32_t b = 0; b < count; b++)
        add_row(h, b, SCOPES__WAIT, &h->parts[b].wait);
}

/* The ways of the threads that were asked for, or all. */
static void choose_ways(scopes__hops *h)
{
    for (uint32_t b = 0; b < h->tree->branch_count; b++) {
        const scopes__branch *branch = scopes__hops_branch(h, b);
        if (branch->depth > h->deepest)
            h->deepest = branch->depth;
        if (!h->view_input->threads) {
            h->parts[b].asked = true;
            continue;
        }
        if (!scopes__has_thread(h->view_input, branch->thread))
            continue;
        for (uint32_t at = b; at != SCOPES_MISSING;
             at = scopes__hops_branch(h, at)->lower)
            h->parts[at].asked = true;
    }
}

/* The interval between two hulls is widest at the first or the last of some
 * moments, so others need not be looked at. */
static void measure_widths(scopes__hops *h)
{
    for (uint32_t b = 0; b < h->tree->branch_count; b++) {
        const scopes__branch *branch = scopes__hops_branch(h, b);
        int64_t *width = &h->widths[branch->process];
        size_t count =
            scopes_event_series(h->view_input->event_table, branch->collector)
                ->count;
        for (size_t at = 0; at<count; at += count> 1 ? count - 1 : 1) {
            int64_t own = scopes__width_ns(
                h->view_input->clocks, branch->process,
                at ? scopes_event_at(branch->events, at)->end
                   : scopes_event_at(branch->events, at)->start);
            *width = own > *width ? own : *width;
        }
    }
}

static int make_sums(scopes__hops *h)
{
    uint32_t count = h->tree->branch_count;
    int err = scopes__hops_init(h);

    if (err)
        return err;
    h->parts = calloc(count + 1, sizeof(*h->parts));
    h->widths =
        calloc(h->view_input->map->process_count + 1, sizeof(*h->widths));
    if (!h->parts || !h->widths) {
        err = pastset_no_memory("for the view hops");
    } else {
        choose_ways(h);
        measure_widths(h);
    }
    for (uint32_t r = 0; r < h->tree->rounds && !err; r += h->block) {
        scopes__hops_look(h, r);
        err = sum_block(h);
    }
    if (!err)
        add_rows(h);
    for (uint32_t b = 0; b < count && h->parts; b++) {
        scopes__sample_fini(&h->parts[b].wait.sample);
        scopes__sample_fini(&h->parts[b].down.sample);
        scopes__sample_fini(&h->parts[b].up.sample);
    }
    free(h->parts);
    free(h->widths);
    scopes__hops_fini(h);
    return err;
}

/* --- all trees --- */

static int make(scopes_table *out, const scopes_view_input *view_input)
{
    const scopes_topology *topology = view_input->topology;
    int err = 0;

    for (uint32_t i = 0; i < topology->site_count && !err; i++) {
        scopes__tree *tree;
        scopes__hops h = {.out = out, .view_input = view_input};
        if (topology->sites[i].parent != PATHS_NONE)
            continue;
        err = scopes__tree_create(&tree, topology, view_input->event_table,
                                  view_input->clocks, i);
        if (err)
            return err;
        h.tree = tree;
        err = view_input->each ? scopes__hops_each(&h) : make_sums(&h);
        scopes__tree_destroy(tree);
    }
    return err;
}

const scopes_view scopes__view_hops = {
    "hops",
    "how the time of a collective's rounds is divided among the hops",
    "a hop of a thread's operation in a round",
    SCOPES__COLUMNS(columns),
    SCOPES__COLUMNS(each_columns),
    .make = make,
    .collective = true,
};
