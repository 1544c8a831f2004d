/* hops.c - the view "hops": how the time of each round of a collective divides
 * over the hops on the way.
 *
 * The thread that came last goes on for all. From the collector at its top
 * there are hops down to the lowest collector of the tree, where the element
 * is, and from there hops up to each thread. So of a round and a thread
 *
 *   wait      from the thread's own arrival to that of the last one
 *   down      of each hop on the last one's way: from the start at the
 * collector above it to the start at the one below element   the time of the
 * lowest collector. Where no collector stands below the root: from the start at
 * the last one's input to the end at the thread's up        of each hop on the
 * thread's way: from the end at the collector below it to the end at the one
 * above
 *
 * are parts; down, element and up are together the whole, from the arrival of
 * the last one to the end of the thread's operation, exactly: each begins when
 * the one before ends, in aligned time. What can be wrong with a part is told
 * beside it: certain_ns is half of the interval in which it certainly is; 0
 * when both ends are on one host, blank when nothing is certain.
 *
 * Rows: a part of a tree. `part` numbers them along the way, from the waits,
 * which are 0. A sample is one time that somebody passed: of `down` and
 * `element` (one for each round, by the last one for all), of `up` (one for
 * each round and collector), of `wait` (each thread but the last). `share` is
 * that of the time of all threads in operations of this tree: a part counts
 * for each thread that it kept.
 *
 * With `each`: a row for each part of each round and thread; rounds count from
 * 1.
 *
 * A round is left out when tuples of the last one's way are missing, and a
 * thread's part in it when some of its own way are. */
#include "scopes/view_internal.h"

#include <math.h>
#include <stdlib.h>

#include "pastset/status.h"
#include "scopes/tree_internal.h"

#define BLOCK_MOST 256 /* rounds that are looked at together */
#define BLOCK_TIMES 131072

static const scopes_column columns[] = {
    {"element", "element", SCOPES_TEXT},
    {"part", "part", SCOPES_NUMBER},
    {"direction", "direction", SCOPES_TEXT},
    {"from", "from", SCOPES_TEXT},
    {"to", "to", SCOPES_TEXT},
    {"what", "what", SCOPES_TEXT},
    {"host", "host", SCOPES_TEXT},
    {"to_host", "to host", SCOPES_TEXT},
    SCOPES__SAMPLE_COLUMNS,
    {"share", "share", SCOPES_SHARE},
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

typedef enum direction {
    WAIT,
    DOWN,
    ELEMENT,
    UP,
} direction;

static const char *const direction_names[] = {"wait", "down", "element", "up"};

/* A part that is summed up. */
typedef struct part {
    scopes__sample sample;
    double kept_ns; /* times the number of threads that it kept */
    int64_t certain_ns;
} part;

/* Of a branch: the hop below it, or the element when there is none. */
typedef struct parts {
    part wait, down, up;
    bool wanted; /* on a way that was asked for */
} parts;

typedef struct hops {
    scopes_table *out;
    const scopes_subject *subject;
    const scopes__tree *tree;
    parts *parts; /* by branch */
    uint32_t deepest;
    double all_ns; /* of all threads in operations */
    /* Of a block of rounds: [branch * block + i] */
    uint32_t block, first, count;
    int64_t *starts, *ends;
    uint32_t *kept;               /* threads that came up through it */
    uint32_t bottoms[BLOCK_MOST]; /* the lowest branch of the last one's way;
                                     SCOPES_MISSING: the round is left out */
} hops;

static const scopes__branch *branch_at(const hops *h, uint32_t branch)
{
    return &h->tree->branches[branch];
}

static size_t cell(const hops *h, uint32_t branch, uint32_t i)
{
    return (size_t)branch * h->count + i;
}

static bool is_last(const hops *h, uint32_t branch, uint32_t i)
{
    return scopes__tree_carrier(h->tree, h->first + i) == branch;
}

/* --- a block of rounds --- */

/* Where the way of the last one ends, if all of it is there. */
static uint32_t bottom_of(const hops *h, uint32_t i)
{
    uint32_t branch = scopes__tree_carrier(h->tree, h->first + i);

    while (branch != SCOPES_MISSING) {
        uint32_t lower = branch_at(h, branch)->lower;
        if (h->starts[cell(h, branch, i)] == SCOPES__NO_TIME)
            return SCOPES_MISSING;
        if (lower == SCOPES_MISSING)
            return branch;
        branch = lower;
    }
    return SCOPES_MISSING;
}

/* Is it on the way of the thread that was asked for, or were all? */
static bool is_asked_for(const hops *h, uint32_t branch)
{
    return !h->parts || h->parts[branch].wanted;
}

/* Ends that cannot be reached from below are taken out; and from the tops down
 * it is counted how many threads each branch kept. */
static void mark_ways(hops *h)
{
    for (uint32_t b = 0; b < h->tree->branch_count; b++) {
        uint32_t lower = branch_at(h, b)->lower;
        bool is_top = branch_at(h, b)->top != SCOPES_MISSING;
        for (uint32_t i = 0; i < h->count; i++) {
            int64_t *end = &h->ends[cell(h, b, i)];
            if (h->bottoms[i] == SCOPES_MISSING ||
                (lower != SCOPES_MISSING &&
                 h->ends[cell(h, lower, i)] == SCOPES__NO_TIME))
                *end = SCOPES__NO_TIME;
            h->kept[cell(h, b, i)] =
                is_top && *end != SCOPES__NO_TIME && is_asked_for(h, b);
        }
    }
    for (uint32_t b = h->tree->branch_count; b-- > 0;) {
        uint32_t lower = branch_at(h, b)->lower;
        for (uint32_t i = 0; i < h->count && lower != SCOPES_MISSING; i++)
            h->kept[cell(h, lower, i)] += h->kept[cell(h, b, i)];
    }
}

static void look_at_block(hops *h, uint32_t first)
{
    uint32_t left = h->tree->rounds - first;

    h->first = first;
    h->count = left < h->block ? left : h->block;
    scopes__tree_times(h->tree, h->subject->clocks, first, h->count, h->starts,
                       h->ends);
    for (uint32_t i = 0; i < h->count; i++)
        h->bottoms[i] = bottom_of(h, i);
    mark_ways(h);
}

static void free_block(hops *h)
{
    free(h->starts);
    free(h->ends);
    free(h->kept);
}

static int make_block(hops *h)
{
    uint32_t branches = h->tree->branch_count;
    size_t cells;

    h->block = branches ? BLOCK_TIMES / branches : 1;
    h->block = h->block < 8 ? 8 : h->block > BLOCK_MOST ? BLOCK_MOST : h->block;
    cells = (size_t)branches * h->block + 1;
    h->starts = malloc(cells * sizeof(*h->starts));
    h->ends = malloc(cells * sizeof(*h->ends));
    h->kept = malloc(cells * sizeof(*h->kept));
    if (h->starts && h->ends && h->kept)
        return 0;
    free_block(h);
    return pastset_fail(PASTSET_ENOMEM, "no memory for the view hops");
}

/* --- what can be wrong with a part --- */

/* Of the hop below a branch in a round: of its starts or its ends. */
static int64_t certain_of(const hops *h, uint32_t branch, uint32_t round,
                          direction way)
{
    const scopes__branch *above = branch_at(h, branch), *below;
    const eventspace_trace *upper, *lower;

    if (above->lower == SCOPES_MISSING)
        return 0;
    below = branch_at(h, above->lower);
    if (above->host == below->host)
        return 0;
    upper = &above->events[scopes__tree_event(above, round)];
    lower = &below->events[scopes__tree_event(below, round)];
    return way == DOWN
               ? scopes__certain_ns(h->subject->clocks, above->host,
                                    upper->start, below->host, lower->start)
               : scopes__certain_ns(h->subject->clocks, above->host, upper->end,
                                    below->host, lower->end);
}

/* From the start at the top of the last one to that of another. */
static int64_t certain_wait(const hops *h, uint32_t branch, uint32_t round)
{
    const scopes__branch *own = branch_at(h, branch);
    const scopes__branch *last =
        branch_at(h, scopes__tree_carrier(h->tree, round));

    return scopes__certain_ns(
        h->subject->clocks, own->host,
        own->events[scopes__tree_event(own, round)].start, last->host,
        last->events[scopes__tree_event(last, round)].start);
}

/* From the start at the input of the last one to the end at another. */
static int64_t certain_between(const hops *h, uint32_t bottom, uint32_t branch,
                               uint32_t round)
{
    const scopes__branch *from = branch_at(h, bottom),
                         *to = branch_at(h, branch);

    return scopes__certain_ns(
        h->subject->clocks, from->host,
        from->events[scopes__tree_event(from, round)].start, to->host,
        to->events[scopes__tree_event(to, round)].end);
}

/* --- sums --- */

/* The interval of a line between hulls is widest at the first or the last of
 * some moments, so others need not be looked at. */
static bool is_outer(const hops *h, uint32_t i)
{
    return h->first + i == 0 || h->first + i == h->tree->rounds - 1;
}

static void widen(part *p, int64_t certain_ns)
{
    if (certain_ns > p->certain_ns)
        p->certain_ns = certain_ns;
}

static int add(part *p, int64_t ns, uint32_t kept)
{
    p->kept_ns += (double)ns * kept;
    return scopes__sample_add(&p->sample, ns);
}

static int sum_down(hops *h, uint32_t i)
{
    uint32_t round = h->first + i;
    uint32_t branch = scopes__tree_carrier(h->tree, round);
    uint32_t kept = 0;
    int err = 0;

    if (h->bottoms[i] == SCOPES_MISSING)
        return 0;
    for (uint32_t b = 0;
         b < h->tree->branch_count && branch_at(h, b)->lower == SCOPES_MISSING;
         b++)
        kept += h->kept[cell(h, b, i)];
    if (kept == 0)
        return 0;
    while (branch != h->bottoms[i] && !err) {
        uint32_t lower = branch_at(h, branch)->lower;
        part *p = &h->parts[branch].down;
        err =
            add(p, h->starts[cell(h, lower, i)] - h->starts[cell(h, branch, i)],
                kept);
        if (p->sample.count == 1 || is_outer(h, i))
            widen(p, certain_of(h, branch, round, DOWN));
        branch = lower;
    }
    return err;
}

static int sum_up(hops *h, uint32_t branch, uint32_t i)
{
    uint32_t lower = branch_at(h, branch)->lower, bottom = h->bottoms[i];
    size_t at = cell(h, branch, i);
    part *p = &h->parts[branch].up;
    int64_t from;

    if (h->ends[at] == SCOPES__NO_TIME)
        return 0;
    from = lower == SCOPES_MISSING ? h->starts[cell(h, bottom, i)]
                                   : h->ends[cell(h, lower, i)];
    if (p->sample.count == 0 || is_outer(h, i))
        widen(p, lower == SCOPES_MISSING
                     ? certain_between(h, bottom, branch, h->first + i)
                     : certain_of(h, branch, h->first + i, UP));
    return add(p, h->ends[at] - from, h->kept[at]);
}

static int sum_wait(hops *h, uint32_t branch, uint32_t i)
{
    size_t at = cell(h, branch, i);
    uint32_t last = scopes__tree_carrier(h->tree, h->first + i);
    part *p = &h->parts[branch].wait;

    if (h->ends[at] == SCOPES__NO_TIME)
        return 0;
    h->all_ns += (double)(h->ends[at] - h->starts[at]);
    if (is_last(h, branch, i))
        return 0;
    if (p->sample.count == 0 || is_outer(h, i))
        widen(p, certain_wait(h, branch, h->first + i));
    return add(p, h->starts[cell(h, last, i)] - h->starts[at], 1);
}

static int sum_block(hops *h)
{
    int err = 0;

    for (uint32_t i = 0; i < h->count && !err; i++)
        err = sum_down(h, i);
    for (uint32_t b = 0; b < h->tree->branch_count && !err; b++) {
        bool is_top = branch_at(h, b)->top != SCOPES_MISSING;
        if (!h->parts[b].wanted)
            continue;
        for (uint32_t i = 0; i < h->count && !err; i++)
            err = sum_up(h, b, i);
        for (uint32_t i = 0; i < h->count && !err && is_top; i++)
            err = sum_wait(h, b, i);
    }
    return err;
}

/* --- rows --- */

static const char *collector_name(const hops *h, uint32_t branch)
{
    return branch == SCOPES_MISSING
               ? ""
               : scopes_ways_collector_name(h->subject->ways,
                                            branch_at(h, branch)->collector);
}

static const char *host_name(const hops *h, uint32_t branch)
{
    return branch == SCOPES_MISSING
               ? ""
               : scopes_ways_host_name(h->subject->ways,
                                       branch_at(h, branch)->host);
}

static const char *what_of(const hops *h, uint32_t branch)
{
    return h->subject->ways->hops[branch_at(h, branch)->collector].name;
}

/* Is the whole tree, or the hop below a branch, what was asked for? */
static bool is_of(const hops *h, uint32_t branch, direction way)
{
    const scopes_ways *ways = h->subject->ways;
    const scopes_hop *hop = &ways->hops[branch_at(h, branch)->collector];

    if (scopes__is_of(h->subject, h->tree->element) ||
        scopes__is_of(h->subject, ways->meetings[h->tree->meeting].node))
        return true;
    return way != WAIT && (scopes__is_of(h->subject, hop->collective) ||
                           scopes__is_of(h->subject, hop->proxy));
}

static void certain_cell(scopes_table *out, int64_t certain_ns)
{
    scopes_table_integer(out,
                         certain_ns == INT64_MAX ? SCOPES_BLANK : certain_ns);
}

static uint32_t number_of(const hops *h, uint32_t branch, direction way)
{
    uint32_t depth = branch_at(h, branch)->depth;

    switch (way) {
    case DOWN:
        return h->deepest - depth + 1;
    case ELEMENT:
        return h->deepest + 1;
    case UP:
        return h->deepest + 1 + depth;
    default:
        return 0;
    }
}

static void add_row(hops *h, uint32_t branch, direction way, part *p)
{
    const scopes__branch *b = branch_at(h, branch);
    uint32_t other = way == ELEMENT ? branch
                     : way == WAIT  ? SCOPES_MISSING
                                    : b->lower;
    uint32_t from = way == UP ? other : branch;
    uint32_t to = way == UP ? branch : other;
    double share = h->all_ns > 0 ? p->kept_ns / h->all_ns : (double)NAN;

    if (p->sample.count == 0 || !is_of(h, branch, way))
        return;
    scopes_table_text(
        h->out, scopes_ways_node_name(h->subject->ways, h->tree->element));
    scopes_table_integer(h->out, number_of(h, branch, way));
    scopes_table_text(h->out, direction_names[way]);
    scopes_table_text(h->out, collector_name(h, from));
    scopes_table_text(h->out, collector_name(h, to));
    scopes_table_text(h->out, way == WAIT ? "" : what_of(h, branch));
    scopes_table_text(h->out, host_name(h, from));
    scopes_table_text(h->out, host_name(h, to));
    scopes__sample_row(h->out, &p->sample);
    scopes_table_real(h->out, share);
    certain_cell(h->out, p->certain_ns);
}

/* In the order of the ways: waits, down from the tops, element, up again. */
static void add_rows(hops *h)
{
    uint32_t count = h->tree->branch_count;

    for (uint32_t b = 0; b < count; b++)
        add_row(h, b, WAIT, &h->parts[b].wait);
    for (uint32_t depth = h->deepest; depth > 0; depth--) {
        for (uint32_t b = 0; b < count; b++) {
            if (branch_at(h, b)->depth == depth)
                add_row(h, b, DOWN, &h->parts[b].down);
        }
    }
    for (uint32_t depth = 0; depth <= h->deepest; depth++) {
        for (uint32_t b = 0; b < count; b++) {
            if (branch_at(h, b)->depth == depth)
                add_row(h, b, depth ? UP : ELEMENT, &h->parts[b].up);
        }
    }
}

/* The ways of one thread, or all. */
static void choose_ways(hops *h)
{
    uint32_t thread = h->subject->thread;

    for (uint32_t b = 0; b < h->tree->branch_count; b++) {
        const scopes__branch *branch = branch_at(h, b);
        if (branch->depth > h->deepest)
            h->deepest = branch->depth;
        if (thread == PATHS_NONE) {
            h->parts[b].wanted = true;
            continue;
        }
        if (branch->thread != thread)
            continue;
        for (uint32_t at = b; at != SCOPES_MISSING;
             at = branch_at(h, at)->lower)
            h->parts[at].wanted = true;
    }
}

static int make_sums(hops *h)
{
    uint32_t count = h->tree->branch_count;
    int err = make_block(h);

    if (err)
        return err;
    h->parts = calloc(count + 1, sizeof(*h->parts));
    if (!h->parts)
        err = pastset_fail(PASTSET_ENOMEM, "no memory for the view hops");
    else
        choose_ways(h);
    for (uint32_t r = 0; r < h->tree->rounds && !err; r += h->block) {
        look_at_block(h, r);
        err = sum_block(h);
    }
    if (!err)
        add_rows(h);
    for (uint32_t b = 0; b < count && h->parts; b++) {
        scopes__sample_free(&h->parts[b].wait.sample);
        scopes__sample_free(&h->parts[b].down.sample);
        scopes__sample_free(&h->parts[b].up.sample);
    }
    free(h->parts);
    free_block(h);
    return err;
}

/* --- each --- */

/* One part of a round and thread. */
typedef struct passage {
    direction way;
    uint32_t branch; /* whose hop it is */
    uint32_t from, to;
    int64_t start_ns, end_ns;
    int64_t certain_ns;
} passage;

static void each_row(hops *h, uint32_t top, uint32_t i, const passage *p)
{
    uint32_t last = scopes__tree_carrier(h->tree, h->first + i);

    if (!is_of(h, p->branch, p->way))
        return;
    scopes_table_text(
        h->out, scopes_ways_node_name(h->subject->ways, h->tree->element));
    scopes_table_integer(h->out, (int64_t)h->first + i + 1);
    scopes_table_text(h->out, scopes_ways_thread_name(
                                  h->subject->ways, branch_at(h, top)->thread));
    scopes_table_text(h->out, direction_names[p->way]);
    scopes_table_text(h->out, collector_name(h, p->from));
    scopes_table_text(h->out, collector_name(h, p->to));
    scopes_table_text(h->out, p->way == WAIT ? "" : what_of(h, p->branch));
    scopes_table_integer(h->out, p->start_ns);
    scopes_table_integer(h->out, p->end_ns - p->start_ns);
    certain_cell(h->out, p->certain_ns);
    scopes_table_integer(h->out, h->ends[cell(h, top, i)] -
                                     h->starts[cell(h, last, i)]);
}

static void each_wait(hops *h, uint32_t top, uint32_t i)
{
    uint32_t last = scopes__tree_carrier(h->tree, h->first + i);

    if (top != last)
        each_row(h, top, i,
                 &(passage){WAIT, top, top, SCOPES_MISSING,
                            h->starts[cell(h, top, i)],
                            h->starts[cell(h, last, i)],
                            certain_wait(h, top, h->first + i)});
}

static void each_down(hops *h, uint32_t top, uint32_t i)
{
    uint32_t branch = scopes__tree_carrier(h->tree, h->first + i);

    while (branch != h->bottoms[i]) {
        uint32_t lower = branch_at(h, branch)->lower;
        each_row(h, top, i,
                 &(passage){DOWN, branch, branch, lower,
                            h->starts[cell(h, branch, i)],
                            h->starts[cell(h, lower, i)],
                            certain_of(h, branch, h->first + i, DOWN)});
        branch = lower;
    }
}

static void each_up(hops *h, uint32_t top, uint32_t i)
{
    uint32_t way[PATHS_PATH_NODES], count = 0, branch = top;
    uint32_t bottom = h->bottoms[i];

    while (branch != SCOPES_MISSING && count < PATHS_PATH_NODES) {
        way[count++] = branch;
        branch = branch_at(h, branch)->lower;
    }
    branch = way[count - 1];
    each_row(h, top, i,
             &(passage){ELEMENT, branch, bottom, branch,
                        h->starts[cell(h, bottom, i)],
                        h->ends[cell(h, branch, i)],
                        certain_between(h, bottom, branch, h->first + i)});
    while (--count > 0)
        each_row(h, top, i,
                 &(passage){UP, way[count - 1], way[count], way[count - 1],
                            h->ends[cell(h, way[count], i)],
                            h->ends[cell(h, way[count - 1], i)],
                            certain_of(h, way[count - 1], h->first + i, UP)});
}

static void each_round(hops *h, uint32_t i)
{
    for (uint32_t b = 0; b < h->tree->branch_count; b++) {
        if (branch_at(h, b)->top == SCOPES_MISSING ||
            h->ends[cell(h, b, i)] == SCOPES__NO_TIME ||
            (h->subject->thread != PATHS_NONE &&
             branch_at(h, b)->thread != h->subject->thread))
            continue;
        each_wait(h, b, i);
        each_down(h, b, i);
        each_up(h, b, i);
    }
}

static int make_each(hops *h)
{
    int err = make_block(h);

    if (err)
        return err;
    for (uint32_t r = 0; r < h->tree->rounds; r += h->block) {
        look_at_block(h, r);
        for (uint32_t i = 0; i < h->count; i++)
            each_round(h, i);
    }
    free_block(h);
    return 0;
}

/* --- all trees --- */

static int make(scopes_table *out, const scopes_subject *subject)
{
    const scopes_ways *ways = subject->ways;
    int err = 0;

    for (uint32_t i = 0; i < ways->meeting_count && !err; i++) {
        scopes__tree *tree;
        hops h = {.out = out, .subject = subject};
        if (ways->meetings[i].parent != PATHS_NONE)
            continue;
        err =
            scopes__tree_make(&tree, ways, subject->store, subject->clocks, i);
        if (err)
            return err;
        h.tree = tree;
        err = subject->each ? make_each(&h) : make_sums(&h);
        scopes__tree_free(tree);
    }
    return err;
}

const scopes_view scopes__view_hops = {
    "hops",
    "how the time of a collective's rounds divides over the hops on the way",
    "a part of the way of a thread in a round",
    SCOPES__COLUMNS(columns),
    SCOPES__COLUMNS(each_columns),
    make};
