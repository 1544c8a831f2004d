/* critical_path.c - the view "critical-path": what the whole run waited for.
 *
 * The chain of chain_internal.h, from the end of the run back to its begin.
 * Everything on it has made the run longer; whatever is beside it has not. Its
 * links are
 *
 *   computing  a thread, between two of its operations
 *   runnable   a thread that had no processor, since others ran: between two
 *              operations, or in one (then `what` says where)
 *   sleeping   a thread between two operations that waited for something else
 *   hop        what stands between two collectors, on the way down or up, with
 *              the thread whose operation was on it
 *   element    what stands below the lowest collector of a way, with the thread
 *              that everybody else waited for
 *
 * Rows: a thread that computes, or a hop or element on its way; those with the
 * longest time first. A sample is a link of the chain, or that part of it.
 * Times add up to that from the begin to the end, and shares to 1.
 *
 * Where the oldest events of a thread are lost, the chain begins where it has
 * lost none: it would seem to have computed before.
 *
 * With `each`: the same, second by second: of each second (counted by the
 * clock from 0) what it was spent on. Of the first and the last one, that is
 * less than a second. */
#include "scopes/views/view_internal.h"

#include <stdlib.h>

#include "pastset/array.h"
#include "pastset/status.h"
#include "scopes/causality/chain_internal.h"
#include "scopes/tables/sample_internal.h"
#include "scopes/views/critical_path_internal.h"

#define SECOND INT64_C(1000000000)
/* More seconds than runs have, but fewer than damaged tuples may tell of: what
 * goes on beyond them is counted in one. */
#define SECONDS_MAX 2000000

static const scopes_column columns[] = {
    {"kind", "kind", SCOPES_TEXT},
    {"thread", "thread", SCOPES_TEXT},
    {"process", "process", SCOPES_TEXT},
    {"what", "what", SCOPES_TEXT},
    SCOPES__SAMPLE_COLUMNS,
    {"run_share", "share of the run", SCOPES_SHARE},
};

static const scopes_column each_columns[] = {
    {"second", "second", SCOPES_NUMBER},    {"kind", "kind", SCOPES_TEXT},
    {"thread", "thread", SCOPES_TEXT},      {"what", "what", SCOPES_TEXT},
    {"time_ns", "time ms", SCOPES_TIME_NS},
};

static const char *const kind_names[] = {"computing", "hop", "element",
                                         "runnable", "sleeping"};

/* What a thread can be in at a place; it sleeps where it computes only. A slot
 * is a place and such a part of it. */
enum { ON, RUNNABLE, SLEEPING, PARTS };

/* The time of a slot: in all, or in one second. */
typedef struct sum {
    int64_t second;
    uint32_t slot;
    int64_t time_ns;
} sum;

typedef struct critical {
    scopes_table *out;
    const scopes_view_input *view_input;
    scopes__chain *chain;
    uint32_t slots;
    scopes__sample *samples; /* by slot */
    int64_t *times;          /* by slot: in all, or in this second */
    int64_t all_ns;
    int64_t second;   /* `each`: the one that is being summed up */
    uint64_t seconds; /* begun */
    bool begun;
    sum *sums; /* of the seconds that are done, the latest first */
    size_t sum_count;
} critical;

static int no_memory(void)
{
    return pastset_no_memory("for the view critical-path");
}

/* --- what a place is --- */

const char *scopes__link_what(const scopes_topology *topology,
                              const scopes__link_place *place)
{
    switch (place->kind) {
    case SCOPES__HOP:
        return topology->hops[place->collector].name;
    case SCOPES__ELEMENT:
        return scopes_topology_node_name(topology, place->element);
    default:
        return "";
    }
}

/* Where it begins. */
static const char *process_of(const critical *c,
                              const scopes__link_place *place)
{
    const scopes_topology *topology = c->view_input->topology;
    uint32_t node =
        place->kind == SCOPES__COMPUTING ? topology->threads[place->thread]
        : place->kind == SCOPES__ELEMENT ? place->element
                                         : topology->nodes[place->collector];

    return node == PATHS_NONE
               ? ""
               : scopes_topology_process_name(
                     topology, topology->map->nodes[node].process);
}

static const char *thread_process(const critical *c,
                                  const scopes__link_place *place)
{
    const scopes_topology *topology = c->view_input->topology;

    return scopes_topology_process_name(
        topology,
        topology->map->nodes[topology->threads[place->thread]].process);
}

bool scopes__link_is_wanted(const scopes_view_input *view_input,
                            const scopes__link_place *place)
{
    const scopes_hop *hop;

    if (!scopes__has_thread(view_input, place->thread))
        return false;
    if (!view_input->of)
        return true;
    if (place->kind == SCOPES__COMPUTING)
        return false;
    hop = &view_input->topology->hops[place->collector];
    return scopes__is_of(view_input, place->element) ||
           scopes__is_of(view_input, hop->collective) ||
           scopes__is_of(view_input, hop->proxy);
}

/* --- in all --- */

static int add_part(critical *c, uint32_t slot, int64_t time_ns)
{
    if (time_ns <= 0)
        return 0;
    c->times[slot] += time_ns;
    return c->view_input->each ? 0
                               : scopes__sample_add(&c->samples[slot], time_ns);
}

/* A link, or what of it lies within a second. */
static int add_piece(critical *c, uint32_t place, int64_t from_ns,
                     int64_t to_ns)
{
    const scopes__link_place *what = scopes__chain_place(c->chain, place);
    const scopes_scheduling *scheduling = c->view_input->scheduling;
    scopes_off_time off = {0};
    int err;

    if (scheduling)
        off = scopes_off_within(&scheduling->threads[what->thread], from_ns,
                                to_ns);
    if (what->kind != SCOPES__COMPUTING)
        off.sleeping_ns = 0; /* it waits for what the link is */
    err = add_part(c, place * PARTS + RUNNABLE, off.runnable_ns);
    if (!err)
        err = add_part(c, place * PARTS + SLEEPING, off.sleeping_ns);
    return err ? err
               : add_part(c, place * PARTS + ON,
                          to_ns - from_ns - off.runnable_ns - off.sleeping_ns);
}

static int add_link(uint32_t place, int64_t from_ns, int64_t to_ns,
                    void *context)
{
    critical *c = context;

    c->all_ns += to_ns - from_ns;
    return add_piece(c, place, from_ns, to_ns);
}

/* The earliest second first, then the longest time. */
static int compare(const void *a, const void *b)
{
    const sum *one = a, *other = b;

    if (one->second != other->second)
        return one->second < other->second ? -1 : 1;
    if (one->time_ns != other->time_ns)
        return one->time_ns > other->time_ns ? -1 : 1;
    return one->slot < other->slot ? -1 : one->slot > other->slot;
}

static int add_sum(critical *c, uint32_t slot)
{
    sum *more = pastset_array_grow(c->sums, c->sum_count, sizeof(*more));

    if (!more)
        return no_memory();
    c->sums = more;
    c->sums[c->sum_count++] = (sum){c->second, slot, c->times[slot]};
    return 0;
}

/* The slots that have taken time, as sums; the times begin anew. */
static int collect(critical *c)
{
    int err = 0;

    for (uint32_t i = 0; i < c->slots && !err; i++) {
        if (c->times[i])
            err = add_sum(c, i);
        c->times[i] = 0;
    }
    return err;
}

static void add_row(critical *c, const sum *s)
{
    const scopes__link_place *place =
        scopes__chain_place(c->chain, s->slot / PARTS);
    uint32_t part = s->slot % PARTS;

    if (!scopes__link_is_wanted(c->view_input, place))
        return;
    if (c->view_input->each)
        scopes_table_integer(c->out, s->second);
    scopes_table_text(c->out, kind_names[part == ON ? (uint32_t)place->kind
                                                    : SCOPES__ELEMENT + part]);
    scopes_table_text(c->out, scopes_topology_thread_name(
                                  c->view_input->topology, place->thread));
    if (!c->view_input->each)
        scopes_table_text(c->out, part == ON ? process_of(c, place)
                                             : thread_process(c, place));
    scopes_table_text(c->out,
                      scopes__link_what(c->view_input->topology, place));
    if (c->view_input->each) {
        scopes_table_integer(c->out, s->time_ns);
        return;
    }
    scopes__sample_row(c->out, &c->samples[s->slot]);
    scopes_table_real(c->out, (double)s->time_ns / (double)c->all_ns);
}

/* --- second by second --- */

static int64_t second_of(int64_t ns)
{
    return ns >= 0 ? ns / SECOND : -((-ns + SECOND - 1) / SECOND);
}

/* A link is cut at full seconds. The chain goes backwards. */
static int add_to_seconds(uint32_t place, int64_t from_ns, int64_t to_ns,
                          void *context)
{
    critical *c = context;
    int err = 0;

    while (to_ns > from_ns && !err) {
        int64_t second = second_of(to_ns - 1);
        int64_t cut_ns = second * SECOND > from_ns ? second * SECOND : from_ns;
        if (!c->begun || second != c->second)
            c->seconds++;
        if (c->seconds > SECONDS_MAX)
            cut_ns = from_ns;
        if (c->begun && second != c->second)
            err = collect(c);
        c->begun = true;
        c->second = second;
        if (!err)
            err = add_piece(c, place, cut_ns, to_ns);
        to_ns = cut_ns;
    }
    return err;
}

/* --- the view --- */

static int fill(critical *c)
{
    int err;

    c->slots = scopes__chain_places(c->chain) * PARTS;
    c->samples = calloc((size_t)c->slots + 1, sizeof(*c->samples));
    c->times = calloc((size_t)c->slots + 1, sizeof(*c->times));
    if (!c->samples || !c->times)
        return no_memory();
    err = scopes__chain_walk(
        c->chain, c->view_input->each ? add_to_seconds : add_link, c);
    if (err)
        return err;
    err = collect(c);
    if (err)
        return err;
    if (c->sum_count)
        qsort(c->sums, c->sum_count, sizeof(*c->sums), compare);
    for (size_t i = 0; i < c->sum_count; i++)
        add_row(c, &c->sums[i]);
    return 0;
}

static int make(scopes_table *out, const scopes_view_input *view_input)
{
    critical c = {.out = out, .view_input = view_input};
    int err = scopes__chain_create(&c.chain, view_input->topology,
                                   view_input->event_table, view_input->clocks,
                                   view_input->scheduling);

    if (!err)
        err = fill(&c);
    for (uint32_t i = 0; i < c.slots && c.samples; i++)
        scopes__sample_fini(&c.samples[i]);
    free(c.samples);
    free(c.times);
    free(c.sums);
    scopes__chain_destroy(c.chain);
    return err;
}

const scopes_view scopes__view_critical_path = {
    "critical-path",
    "what the whole run waited for: threads, hops, elements",
    "a stretch of time and what it was spent on",
    SCOPES__COLUMNS(columns),
    SCOPES__COLUMNS(each_columns),
    .make = make};
