/* waits_for.c - the view "waits-for": who waits for whom, and how long.
 *
 * Paper 004, section 5.3. An operation of a thread waits
 *
 *   in a collective   for the thread that came last of all in that round, from
 *                     the thread's own arrival until that of the last one, at
 *                     the collectors at the tops of their paths
 *   at an element     for the thread that released it (cause_internal.h), from
 *                     the thread's own arrival until that one's operation
 *                     arrived at the lowest collector of the element
 *
 * The times of different processes are compared by aligned clocks; when the one
 * that was waited for seems to have been there before, the wait is 0. If the
 * operation that goes on for a collective is itself held at the element, all
 * threads of the round waited for the one who released that.
 *
 * Rows, those with the most time first: a thread, another thread for which it
 * waited, and the element over which it did. `share` is that of the time that
 * the thread spent in operations, all of them, however much of that is seen
 * here.
 *
 * With `each`: an operation that waited. */
#include "scopes/views/view_internal.h"

#include <math.h>
#include <stdlib.h>

#include "pastset/status.h"
#include "scopes/causality/cause_internal.h"
#include "scopes/causality/tree_internal.h"
#include "scopes/memory/memory_internal.h"
#include "scopes/parallel/parallel_internal.h"
#include "scopes/tables/sample_internal.h"

static const scopes_column columns[] = {
    {"thread", "thread", SCOPES_TEXT},
    {"process", "process", SCOPES_TEXT},
    {"for_thread", "waits for", SCOPES_TEXT},
    {"for_process", "on process", SCOPES_TEXT},
    {"over", "over element", SCOPES_TEXT},
    SCOPES__SAMPLE_COLUMNS,
    {"waiting_share", "share of communicating", SCOPES_SHARE},
};

#define TOTAL_COLUMN 6

static const scopes_column each_columns[] = {
    {"thread", "thread", SCOPES_TEXT},
    {"sequence", "sequence", SCOPES_NUMBER},
    {"over", "over element", SCOPES_TEXT},
    {"for_thread", "waits for", SCOPES_TEXT},
    {"start_ns", "start ms", SCOPES_TIME_NS},
    {"wait_ns", "wait ms", SCOPES_TIME_NS},
};

/* Who released a round of a collective, and when. */
typedef struct release {
    uint32_t thread; /* PATHS_NONE: not known */
    int64_t at_ns;
} release;

/* A collective, with what its threads share. */
typedef struct together {
    bool asked; /* somebody wants to know of it */
    scopes__tree *tree;
    release *releases; /* by round */
} together;

typedef struct waits {
    scopes_table *out;
    const scopes_view_input *view_input;
    scopes__causes *causes;
    together *together;      /* by collective site; only roots */
    scopes__sample *samples; /* by thread that is waited for */
    double all_ns;           /* of the thread in operations */
} waits;

static int no_memory(void)
{
    return scopes__no_room("for the view waits-for");
}

static uint32_t root_of(const scopes_topology *topology, uint32_t site)
{
    while (topology->sites[site].parent != PATHS_NONE)
        site = topology->sites[site].parent;
    return site;
}

/* --- who released whom --- */

/* Of an operation that is at the element with this event. */
static release released_at(const waits *w, uint32_t collector, uint32_t event)
{
    scopes__cause cause = scopes__cause_of(w->causes, collector, event);
    const scopes_series *series;

    if (cause.collector == PATHS_NONE)
        return (release){PATHS_NONE, 0};
    series = scopes_event_series(w->view_input->event_table, cause.collector);
    return (release){
        scopes_event_at(series->events, cause.event)->thread,
        scopes_clocks_ns(w->view_input->clocks, series->process,
                         scopes_event_at(series->events, cause.event)->start)};
}

/* Of a round, or of the operation of a plain path. */
static release released_below(const waits *w, const scopes__tree *tree,
                              uint32_t round)
{
    const scopes__branch *bottom = &tree->branches[0];
    uint32_t event;

    if (tree->open)
        return (release){PATHS_NONE, 0};
    event = scopes__tree_event(bottom, round);
    if (event == SCOPES_MISSING)
        return (release){PATHS_NONE, 0};
    return released_at(w, bottom->collector, event);
}

static release released_by_last(const waits *w, const scopes__tree *tree,
                                uint32_t round)
{
    uint32_t last = scopes__tree_representative(tree, round);
    const scopes__branch *branch;

    if (last == SCOPES_MISSING)
        return (release){PATHS_NONE, 0};
    branch = &tree->branches[last];
    return (release){branch->thread,
                     scopes__start_ns(w->view_input->clocks, branch,
                                      scopes__tree_event(branch, round))};
}

static int make_releases(const waits *w, together *t)
{
    t->releases =
        scopes__allocate((t->tree->rounds + 1) * sizeof(*t->releases));
    if (!t->releases)
        return no_memory();
    for (uint32_t r = 0; r < t->tree->rounds; r++) {
        t->releases[r] = released_below(w, t->tree, r);
        if (t->releases[r].thread == PATHS_NONE)
            t->releases[r] = released_by_last(w, t->tree, r);
    }
    return 0;
}

/* --- the operations of a path --- */

static int add_wait(waits *w, const scopes__branch *own, uint32_t event,
                    const release *by, uint32_t element)
{
    const scopes_topology *topology = w->view_input->topology;
    int64_t start_ns, wait_ns;

    if (by->thread == own->thread || by->thread >= topology->thread_count)
        return 0;
    start_ns = scopes__start_ns(w->view_input->clocks, own, event);
    wait_ns = by->at_ns - start_ns;
    if (wait_ns <= 0) /* the other one was there before */
        return 0;
    if (!w->view_input->each)
        return scopes__sample_add(&w->samples[by->thread], wait_ns);
    scopes_table_text(w->out,
                      scopes_topology_thread_name(topology, own->thread));
    scopes_table_integer(w->out, scopes_event_at(own->events, event)->sequence);
    scopes_table_text(w->out, scopes_topology_node_name(topology, element));
    scopes_table_text(w->out,
                      scopes_topology_thread_name(topology, by->thread));
    scopes_table_integer(w->out, start_ns);
    scopes_table_integer(w->out, wait_ns);
    return 0;
}

static int add_plain(waits *w, uint32_t top)
{
    scopes__tree *tree;
    int err = scopes__tree_make_plain(&tree, w->view_input->topology,
                                      w->view_input->event_table, top);

    for (uint32_t r = 0; !err && r < tree->rounds; r++) {
        release by = released_below(w, tree, r);
        const scopes__branch *own = &tree->branches[tree->only];
        if (by.thread != PATHS_NONE)
            err = add_wait(w, own, scopes__tree_event(own, r), &by,
                           tree->element);
    }
    scopes__tree_destroy(tree);
    return err;
}

static int add_collective(waits *w, uint32_t top, uint32_t site)
{
    const together *t = &w->together[root_of(w->view_input->topology, site)];
    const scopes__branch *own = NULL;
    int err = 0;

    for (uint32_t b = 0; b < t->tree->branch_count; b++) {
        if (t->tree->branches[b].top == top)
            own = &t->tree->branches[b];
    }
    for (uint32_t r = 0; own && r < t->tree->rounds && !err; r++) {
        uint32_t event = scopes__tree_event(own, r);
        if (event != SCOPES_MISSING && t->releases[r].thread != PATHS_NONE)
            err = add_wait(w, own, event, &t->releases[r], t->tree->element);
    }
    return err;
}

/* --- rows --- */

static const char *process_of(const waits *w, uint32_t thread)
{
    const scopes_topology *topology = w->view_input->topology;
    return scopes_topology_process_name(
        topology, topology->map->nodes[topology->threads[thread]].process);
}

static void add_rows(waits *w, uint32_t thread, uint32_t element)
{
    const scopes_topology *topology = w->view_input->topology;

    for (uint32_t other = 0; other < topology->thread_count; other++) {
        scopes__sample *sample = &w->samples[other];
        double total_ns = 0;
        if (sample->count == 0)
            continue;
        for (size_t i = 0; i < sample->count; i++)
            total_ns += (double)sample->values[i];
        scopes_table_text(w->out,
                          scopes_topology_thread_name(topology, thread));
        scopes_table_text(w->out, process_of(w, thread));
        scopes_table_text(w->out, scopes_topology_thread_name(topology, other));
        scopes_table_text(w->out, process_of(w, other));
        scopes_table_text(w->out, scopes_topology_node_name(topology, element));
        scopes__sample_row(w->out, sample);
        scopes_table_real(w->out,
                          w->all_ns > 0 ? total_ns / w->all_ns : (double)NAN);
        sample->count = 0;
    }
}

/* The time of a thread's operations on one of its paths. */
static double time_on(const waits *w, uint32_t position)
{
    const scopes_top *top = &w->view_input->topology->tops[position];
    const scopes_series *series =
        scopes_event_series(w->view_input->event_table, top->collector);
    uint64_t ticks = 0;

    for (size_t i = 0; i < series->count; i++) {
        const eventspace_trace *event = scopes_event_at(series->events, i);
        if (event->thread == top->thread && event->end > event->start)
            ticks += event->end - event->start;
    }
    return series->count
               ? (double)ticks * scopes_clocks_process(w->view_input->clocks,
                                                       series->process)
                                     ->ns_per_tick
               : 0;
}

/* Is there anything to be seen at this top that is asked for? */
static bool is_wanted(const waits *w, uint32_t position)
{
    const scopes_top *top = &w->view_input->topology->tops[position];

    return top->collector != PATHS_NONE &&
           scopes__is_of(w->view_input, top->element) &&
           !scopes__tree_is_repeated(w->view_input->topology, position);
}

/* All paths of a thread to the element of one of them. */
static int add_element(waits *w, uint32_t first, uint32_t end, uint32_t at)
{
    const scopes_top *tops = w->view_input->topology->tops;
    int err = 0;

    for (uint32_t i = first; i < at; i++) {
        if (tops[i].element == tops[at].element)
            return 0; /* done already */
    }
    for (uint32_t i = at; i < end && !err; i++) {
        if (tops[i].element != tops[at].element || !is_wanted(w, i))
            continue;
        err = tops[i].site == PATHS_NONE ? add_plain(w, i)
                                         : add_collective(w, i, tops[i].site);
    }
    if (!err && !w->view_input->each)
        add_rows(w, tops[at].thread, tops[at].element);
    return err;
}

/* The tops from `first` up to `end` are those of one thread. */
static int add_thread(waits *w, uint32_t first, uint32_t end)
{
    int err = 0;

    if (!scopes__has_thread(w->view_input,
                            w->view_input->topology->tops[first].thread))
        return 0;
    w->all_ns = 0;
    for (uint32_t i = first; i < end; i++) {
        if (w->view_input->topology->tops[i].collector != PATHS_NONE &&
            !scopes__tree_is_repeated(w->view_input->topology, i))
            w->all_ns += time_on(w, i);
    }
    for (uint32_t i = first; i < end && !err; i++)
        err = add_element(w, first, end, i);
    return err;
}

/* --- what threads share --- */

/* The collectives of which somebody asks. */
static void together_find(waits *w)
{
    const scopes_topology *topology = w->view_input->topology;

    for (uint32_t i = 0; i < topology->top_count; i++) {
        const scopes_top *top = &topology->tops[i];
        if (top->site != PATHS_NONE && is_wanted(w, i) &&
            scopes__has_thread(w->view_input, top->thread))
            w->together[root_of(topology, top->site)].asked = true;
    }
}

static int together_part(size_t site, void *context)
{
    const waits *w = context;
    together *t = &w->together[site];
    int err;

    if (!t->asked)
        return 0;
    err = scopes__tree_create(&t->tree, w->view_input->topology,
                              w->view_input->event_table, w->view_input->clocks,
                              (uint32_t)site);
    return err ? err : make_releases(w, t);
}

static void together_free(waits *w)
{
    const scopes_topology *topology = w->view_input->topology;

    for (uint32_t i = 0; i < topology->site_count && w->together; i++) {
        scopes__tree_destroy(w->together[i].tree);
        scopes__free(w->together[i].releases);
    }
    free(w->together);
}

/* --- all threads --- */

typedef struct parts {
    const waits *all;
    scopes_table **tables;
} parts;

/* The tops of a thread, which lie behind each other. */
static int thread_part(size_t thread, void *context)
{
    const parts *p = context;
    const scopes_topology *topology = p->all->view_input->topology;
    uint32_t first = 0, end;
    waits w = *p->all;
    int err = 0;

    while (first < topology->top_count &&
           topology->tops[first].thread != thread)
        first++;
    for (end = first;
         end < topology->top_count && topology->tops[end].thread == thread;)
        end++;
    if (first == end)
        return 0;
    w.out = p->tables[thread];
    w.samples = calloc(topology->thread_count + 1, sizeof(*w.samples));
    err = w.samples ? add_thread(&w, first, end) : no_memory();
    for (uint32_t i = 0; i < topology->thread_count && w.samples; i++)
        scopes__sample_fini(&w.samples[i]);
    free(w.samples);
    return err;
}

static int add_threads(waits *w)
{
    uint32_t count = w->view_input->topology->thread_count;
    parts p = {w, scopes_table_parts(w->out, count)};
    int err = p.tables ? scopes__parallel(count, thread_part, &p) : no_memory();

    scopes_table_join(w->out, p.tables, count);
    return err;
}

static int make(scopes_table *out, const scopes_view_input *view_input)
{
    const scopes_topology *topology = view_input->topology;
    waits w = {.out = out, .view_input = view_input};
    int err = scopes__causes_create(
        &w.causes, topology, view_input->event_table, view_input->clocks);

    if (err)
        return err;
    w.together = calloc(topology->site_count + 1, sizeof(*w.together));
    if (!w.together) {
        err = no_memory();
        goto done;
    }
    together_find(&w);
    err = scopes__parallel(topology->site_count, together_part, &w);
    if (!err)
        err = add_threads(&w);
    if (!err && !view_input->each)
        scopes_table_sort(out, TOTAL_COLUMN);
done:
    together_free(&w);
    scopes__causes_destroy(w.causes);
    return err;
}

const scopes_view scopes__view_waits_for = {"waits-for",
                                            "who waits for whom, and how long",
                                            "an operation that waited",
                                            SCOPES__COLUMNS(columns),
                                            SCOPES__COLUMNS(each_columns),
                                            .make = make};
