/* communication_times.c - from trace tuples to intervals, steps and totals.
 *
 * The tuples of a collector are in the order of their starts. So for each
 * thread, the series of the collectors at the tops of its paths are merged,
 * which gives its operations in their order; and one more pass over these gives
 * all the rest: the latest end seen so far tells what of an operation is new
 * communication and whether there was a gap before it, so that operations may
 * overlap. A collector may stand on edges of several threads: each of them
 * passes over the tuples of the others.
 *
 * Steps are counted during the merge, and numbered once more only if tuples
 * turn out to be missing: see communication_steps.c. */
#include "scopes/causality/communication_times.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "scopes/causality/communication_times_internal.h"
#include "scopes/memory/memory_internal.h"
#include "scopes/parallel/memo_internal.h"
#include "scopes/reading/snapshot.h"

static int no_memory(void)
{
    return scopes__no_room("for the view");
}

/* --- threads and paths --- */

static void add_threads(scopes__making *m)
{
    const paths_map *map = m->view->map;

    for (uint32_t i = 0; i < m->view->thread_count; i++) {
        scopes_thread *thread = &m->view->threads[i];
        thread->node = m->topology->threads[i];
        thread->name = map->nodes[thread->node].name;
        thread->process = map->nodes[thread->node].process;
        thread->all_collected = true;
        thread->steps_known = true;
    }
}

static bool is_known(const scopes__making *m, uint32_t thread,
                     uint32_t collector)
{
    for (size_t i = m->view->path_count; i-- > 0;) {
        if (m->view->paths[i].thread != thread)
            return false;
        if (m->collectors[i] == collector)
            return true;
    }
    return false;
}

static void add_paths(scopes__making *m)
{
    scopes_communication *view = m->view;

    for (uint32_t i = 0; i < m->topology->top_count; i++) {
        const scopes_top *top = &m->topology->tops[i];
        if (top->collector == PATHS_NONE) {
            view->threads[top->thread].all_collected = false;
            continue;
        }
        /* Two edges of a thread to one collector cannot be told apart. */
        if (is_known(m, top->thread, top->collector))
            continue;
        view->paths[view->path_count] = (scopes_path){
            .thread = top->thread,
            .edge = top->edge,
            .name = top->name,
            .element = scopes_topology_node_name(m->topology, top->element)};
        m->collectors[view->path_count++] = top->collector;
        m->users[top->collector]++;
    }
}

/* --- operations --- */

static size_t count_events(const scopes__making *m, size_t path)
{
    const scopes_series *series =
        scopes_event_series(m->event_table, m->collectors[path]);
    uint32_t thread = m->view->paths[path].thread;
    size_t count = 0;

    if (m->users[m->collectors[path]] == 1)
        return series->count; /* or fewer, if the file is damaged */
    for (size_t i = 0; i < series->count; i++)
        count += scopes_event_at(series->events, i)->thread == thread;
    return count;
}

/* The next tuple of the path's own thread: false when there is none. */
static bool next_key(scopes__making *m, uint32_t path, scopes__key *out)
{
    const scopes_series *series =
        scopes_event_series(m->event_table, m->collectors[path]);
    uint32_t thread = m->view->paths[path].thread;
    size_t at = m->next[path];

    while (at < series->count &&
           scopes_event_at(series->events, at)->thread != thread)
        at++;
    m->next[path] = at;
    if (at == series->count)
        return false;
    out->first = scopes_clocks_ns(m->clocks, series->process,
                                  scopes_event_at(series->events, at)->start);
    out->second = scopes_event_at(series->events, at)->sequence;
    out->source = path;
    return true;
}

static void add_operation(scopes__making *m, scopes_thread *thread,
                          scopes__key key)
{
    scopes_communication *view = m->view;
    scopes_operation *op = &view->operations[view->operation_count];
    const scopes_series *series =
        scopes_event_series(m->event_table, m->collectors[key.source]);
    const eventspace_trace *event =
        scopes_event_at(series->events, m->next[key.source]++);
    int64_t end_ns = scopes_clocks_ns(m->clocks, series->process, event->end);

    *op = (scopes_operation){
        .start_ns = key.first,
        .end_ns = end_ns < key.first ? key.first : end_ns,
        .thread = event->thread,
        .path = key.source,
        .step = scopes__step_next(thread->operations ? op[-1].step : 1,
                                  &m->uses[key.source]),
        .sequence = event->sequence,
        .bytes = event->bytes,
        .verb = event->operation,
        .status = event->status,
    };
    if (event->sequence > m->highest)
        m->highest = event->sequence;
    if (event->sequence < m->lowest)
        m->lowest = event->sequence;
    view->operation_count++;
    thread->operations++;
}

/* Puts the operations of a thread together; its paths are [path, end). */
static int merge(scopes__making *m, scopes_thread *thread, uint32_t path,
                 uint32_t end)
{
    scopes__key key;
    int err = 0;

    thread->operation = m->view->operation_count;
    m->lowest = UINT32_MAX;
    m->highest = 0;
    for (; path < end && !err; path++) {
        if (next_key(m, path, &key))
            err = scopes__heap_add(&m->heap, key);
    }
    while (m->heap.count > 0 && !err) {
        key = m->heap.keys[0];
        add_operation(m, thread, key);
        if (next_key(m, key.source, &key))
            scopes__heap_replace(&m->heap, key);
        else
            scopes__heap_drop(&m->heap);
    }
    return err;
}

/* --- times --- */

/* The thread's row for a step, made when it is not there yet. The last thread
 * that was begun may add rows; there is room for one per operation. */
static scopes_step *step_row(scopes_communication *view, scopes_thread *thread,
                             uint32_t step)
{
    scopes_step *rows = &view->steps[thread->step];
    size_t low = 0, high = thread->steps;
    /* Nearly always it is the last one, or one after it. */
    if (high > 0 && rows[high - 1].step == step)
        return &rows[high - 1];
    if (high > 0 && rows[high - 1].step < step)
        low = high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rows[middle].step < step)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < thread->steps && rows[low].step == step)
        return &rows[low];
    memmove(&rows[low + 1], &rows[low], (thread->steps - low) * sizeof(*rows));
    rows[low] =
        (scopes_step){.step = step, .start_ns = INT64_MAX, .end_ns = INT64_MIN};
    thread->steps++;
    view->step_count++;
    return &rows[low];
}

static void count_operation(scopes_communication *view, scopes_thread *thread,
                            scopes_step *row, size_t index)
{
    const scopes_operation *op = &view->operations[index];
    scopes_path *path = &view->paths[op->path];
    const scopes_operation *longest = &view->operations[thread->longest];
    int64_t lasted_ns = op->end_ns - op->start_ns;
    row->thread = op->thread;
    row->operations++;
    if (op->start_ns < row->start_ns)
        row->start_ns = op->start_ns;
    if (op->end_ns > row->end_ns)
        row->end_ns = op->end_ns;
    path->operations++;
    path->bytes += op->bytes;
    path->total_ns = scopes__sum_ns(path->total_ns, lasted_ns);
    if (lasted_ns > path->longest_ns)
        path->longest_ns = lasted_ns;
    if (lasted_ns > longest->end_ns - longest->start_ns)
        thread->longest = index;
}

/* The thread of which a gap is counted, and how far that has come. */
typedef struct gaps {
    scopes_thread *thread;
    const scopes_thread_life *life; /* NULL: not known */
    size_t at;
    int64_t busy_until;
} gaps;

/* A gap belongs to the step before it, the first one to the first. */
static void add_gap(gaps *g, scopes_step *row, int64_t until)
{
    scopes_off_time off = {0};

    if (until <= g->busy_until)
        return;
    if (g->life)
        off = scopes_off_between(g->life, &g->at, g->busy_until, until);
    g->thread->runnable_ns += off.runnable_ns;
    g->thread->sleeping_ns += off.sleeping_ns;
    g->thread->computing_ns += until - g->busy_until;
    row->computing_ns += until - g->busy_until;
    g->busy_until = until;
}

/* Gives the last step. */
static scopes_step *sum_operations(scopes_communication *view, gaps *g)
{
    scopes_thread *thread = g->thread;
    const scopes_operation *first = &view->operations[thread->operation];
    scopes_step *row = step_row(view, thread, first->step);

    for (size_t i = 0; i < thread->operations; i++) {
        const scopes_operation *op = &first[i];
        add_gap(g, row, op->start_ns);
        row = step_row(view, thread, op->step);
        if (op->step > view->last_step)
            view->last_step = op->step;
        count_operation(view, thread, row, thread->operation + i);
        if (op->end_ns > g->busy_until) {
            row->communicating_ns += op->end_ns - g->busy_until;
            thread->communicating_ns += op->end_ns - g->busy_until;
            g->busy_until = op->end_ns;
        }
    }
    return row;
}

/* Its begin and end count where no operation is missing next to them. */
static void sum_thread(scopes__making *m, uint32_t number)
{
    scopes_thread *thread = &m->view->threads[number];
    gaps g = {.thread = thread,
              .busy_until = m->view->operations[thread->operation].start_ns};
    scopes_step *last;

    if (m->scheduling && m->scheduling->threads[number].is_known)
        g.life = &m->scheduling->threads[number];
    if (g.life && g.life->has_begun && m->lowest == 1 &&
        g.life->begin_ns < g.busy_until)
        g.busy_until = g.life->begin_ns;
    thread->longest = thread->operation;
    thread->scheduling_known = g.life != NULL;
    thread->start_ns = g.busy_until;
    last = sum_operations(m->view, &g);
    if (g.life && g.life->has_ended && m->highest == g.life->operations)
        add_gap(&g, last, g.life->end_ns);
    thread->end_ns = g.busy_until;
}

static int make_thread(scopes__making *m, uint32_t number, uint32_t path,
                       uint32_t end)
{
    scopes_communication *view = m->view;
    scopes_thread *thread = &view->threads[number];
    int err;

    /* Details that nobody wants make room for those of the next thread. */
    if (m->detail < SCOPES_OPERATIONS)
        view->operation_count = 0;
    if (m->detail < SCOPES_STEPS)
        view->step_count = 0;
    err = merge(m, thread, path, end);
    thread->step = view->step_count;
    if (err || thread->operations == 0)
        return err;
    scopes__number_steps(m, thread);
    sum_thread(m, number);
    thread->longest_operation = view->operations[thread->longest];
    m->any = true;
    if (thread->start_ns < view->start_ns)
        view->start_ns = thread->start_ns;
    if (thread->end_ns > view->end_ns)
        view->end_ns = thread->end_ns;
    return 0;
}

static int make_threads(scopes__making *m)
{
    scopes_communication *view = m->view;
    uint32_t path = 0;
    int err = 0;

    view->start_ns = INT64_MAX;
    view->end_ns = INT64_MIN;
    for (uint32_t i = 0; i < view->thread_count && !err; i++) {
        uint32_t end = path;
        while (end < view->path_count && view->paths[end].thread == i)
            end++;
        err = make_thread(m, i, path, end);
        path = end;
    }
    if (!m->any)
        view->start_ns = view->end_ns = 0;
    if (m->detail < SCOPES_OPERATIONS)
        view->operation_count = 0;
    if (m->detail < SCOPES_STEPS)
        view->step_count = 0;
    return err;
}

static int take_memory(scopes__making *m)
{
    scopes_communication *view = m->view;
    uint32_t tops = m->topology->top_count + 1;

    view->threads = calloc(view->thread_count + 1, sizeof(*view->threads));
    view->paths = calloc(tops, sizeof(*view->paths));
    m->collectors = calloc(tops, sizeof(*m->collectors));
    m->slots = calloc(tops, sizeof(*m->slots));
    m->uses = calloc(tops, sizeof(*m->uses));
    m->next = calloc(tops, sizeof(*m->next));
    m->users = calloc(m->topology->collectors + 1, sizeof(*m->users));
    return view->threads && view->paths && m->collectors && m->slots &&
                   m->uses && m->next && m->users
               ? 0
               : no_memory();
}

/* Room for the details of all threads, or (if they are not wanted) of the one
 * that has the most. */
static int take_capacity(scopes__making *m)
{
    scopes_communication *view = m->view;
    size_t all = 0, max = 0, own = 0;

    for (size_t i = 0; i < view->path_count; i++) {
        size_t count = count_events(m, i);
        if (i > 0 && view->paths[i].thread != view->paths[i - 1].thread)
            own = 0;
        own += count;
        all += count;
        max = own > max ? own : max;
    }
    view->operations =
        scopes__allocate((m->detail < SCOPES_OPERATIONS ? max : all) *
                         sizeof(*view->operations));
    view->steps = scopes__allocate((m->detail < SCOPES_STEPS ? max : all) *
                                   sizeof(*view->steps));
    return view->operations && view->steps ? 0 : no_memory();
}

static int fill(scopes__making *m)
{
    int err;

    add_threads(m);
    add_paths(m);
    err = take_capacity(m);
    return err ? err : make_threads(m);
}

static void view_free(void *made)
{
    scopes_communication *view = made;

    free(view->threads);
    free(view->paths);
    scopes__free(view->operations);
    scopes__free(view->steps);
    free(view);
}

static int make(scopes_communication **out, const scopes_topology *topology,
                const scopes_event_table *event_table,
                const scopes_clocks *clocks,
                const scopes_scheduling *scheduling, scopes_detail detail,
                bool whole)
{
    scopes__making m = {.topology = topology,
                        .event_table = event_table,
                        .clocks = clocks,
                        .scheduling = scheduling,
                        .detail = detail,
                        .whole = whole};
    int err;

    *out = NULL;
    m.view = calloc(1, sizeof(*m.view));
    if (!m.view)
        return no_memory();
    m.view->map = topology->map;
    m.view->thread_count = topology->thread_count;
    err = take_memory(&m);
    if (!err)
        err = fill(&m);
    free(m.collectors);
    free(m.users);
    free(m.slots);
    free(m.uses);
    free(m.next);
    scopes__heap_fini(&m.heap);
    if (err)
        scopes_communication_destroy(m.view);
    else
        *out = m.view;
    return err;
}

typedef struct asked {
    const scopes_topology *topology;
    const scopes_event_table *event_table;
    const scopes_clocks *clocks;
    const scopes_scheduling *scheduling;
    scopes_detail detail;
} asked;

static int times_make(void **out, const void *context, bool kept)
{
    const asked *a = context;
    scopes_communication *view;
    int err = make(&view, a->topology, a->event_table, a->clocks, a->scheduling,
                   a->detail, a->event_table->ledger.filtered == 0);

    if (err)
        return err;
    view->kept = kept;
    *out = view;
    return 0;
}

/* Views that need threads only take what is made for steps; and what is made of
 * operations has these, too. */
int scopes_communication_create(scopes_communication **out,
                                const scopes_topology *topology,
                                const scopes_event_table *event_table,
                                const scopes_clocks *clocks,
                                const scopes_scheduling *scheduling,
                                scopes_detail detail)
{
    static const scopes__made how = {times_make, view_free};
    asked a = {topology, event_table, clocks, scheduling, detail};
    void *made;
    int err;

    if (detail == SCOPES_THREADS && scopes__memo_keeps(event_table->memo))
        a.detail = SCOPES_STEPS;
    if (scopes__memo_has(event_table->memo, SCOPES__MEMO_TIMES,
                         SCOPES_OPERATIONS))
        a.detail = SCOPES_OPERATIONS;
    err = scopes__memo_get(event_table->memo, SCOPES__MEMO_TIMES, a.detail,
                           &how, &a, &made);
    *out = made;
    return err;
}

double scopes_communication_runnable_share(const scopes_communication *view)
{
    int64_t runnable_ns = 0, computing_ns = 0;

    for (uint32_t i = 0; i < view->thread_count; i++) {
        if (!view->threads[i].scheduling_known)
            continue;
        runnable_ns += view->threads[i].runnable_ns;
        computing_ns += view->threads[i].computing_ns;
    }
    return computing_ns > 0 ? (double)runnable_ns / (double)computing_ns : 0;
}

void scopes_communication_destroy(scopes_communication *view)
{
    if (view && !view->kept)
        view_free(view);
}

int scopes_communication_read(scopes_communication **out,
                              const scopes_snapshot *snapshot)
{
    return make(out, snapshot->topology, snapshot->event_table,
                snapshot->clocks, snapshot->scheduling, SCOPES_OPERATIONS,
                true);
}
