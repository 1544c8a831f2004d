/* communication.c - from trace tuples to intervals, steps and totals.
 *
 * Tuples are collected in one array as they come. At the end it is sorted by
 * thread and start, and one pass over each thread gives all the rest: the
 * latest end seen so far tells what of an operation is new communication and
 * whether there was a gap before it, so that operations may overlap.
 *
 * A path is found by its thread and the collector at its top, by bisection in
 * `lookup`: a collector may stand on edges of several threads. */
#include "scopes/communication.h"

#include "pastset/status.h"

#include <stdlib.h>
#include <string.h>

struct scopes__lookup {
    uint32_t thread;
    uint32_t collector;
    uint32_t path;
};

typedef struct scopes__lookup lookup;

/* --- the threads and paths of the map --- */

static int no_memory(void)
{
    return pastset_fail(PASTSET_ENOMEM, "no memory for the view");
}

static int add_thread(scopes_communication *view, uint32_t index)
{
    const paths_map_node *node = &view->map->nodes[index];
    uint64_t number;
    int err = paths_node_number(view->map, node, "number", UINT64_MAX, &number);
    if (err)
        return err;
    if (number >= view->thread_count || view->threads[number].name)
        return pastset_fail(PASTSET_EMAP,
                            "%s:%u: %s: threads must be numbered from 0 to "
                            "%u, each number once",
                            view->map->file, node->line, node->name,
                            view->thread_count - 1);
    view->threads[number].name = node->name;
    view->threads[number].node = index;
    view->threads[number].host = node->host;
    view->threads[number].all_collected = true;
    return 0;
}

static const char *element_name(const paths_map *map, uint32_t edge)
{
    enum { LONGEST = 4 * PATHS_STAGES_MAX }; /* of a way over several hosts */
    uint32_t nodes[LONGEST];
    size_t count = paths_map_walk(map, edge, nodes, LONGEST);
    return count ? map->nodes[nodes[count - 1]].name : "";
}

static int add_path(scopes_communication *view, uint32_t thread, uint32_t edge)
{
    const paths_map *map = view->map;
    const paths_map_node *top = &map->nodes[map->edges[edge].to];
    if (strcmp(top->type, "collector") != 0) {
        view->threads[thread].all_collected = false;
        return 0;
    }
    uint64_t collector;
    int err = paths_node_number(map, top, "id", UINT32_MAX, &collector);
    if (err)
        return err;
    const char *as = paths_attributes_get(&map->edges[edge].attributes, "as");
    const char *element = element_name(map, edge);
    view->paths[view->path_count] = (scopes_path){
        .thread = thread, .name = as ? as : element, .element = element};
    view->lookup[view->path_count] =
        (lookup){thread, (uint32_t)collector, (uint32_t)view->path_count};
    view->path_count++;
    return 0;
}

static int add_threads(scopes_communication *view)
{
    int err = 0;
    for (uint32_t i = 0; i < view->map->node_count && !err; i++)
        if (view->map->nodes[i].kind == PATHS_THREAD)
            err = add_thread(view, i);
    return err;
}

/* The paths of all threads, in the order of the threads' numbers. */
static int add_paths(scopes_communication *view)
{
    int err = 0;
    for (uint32_t i = 0; i < view->thread_count; i++) {
        uint32_t node = view->threads[i].node;
        const paths_map_node *thread = &view->map->nodes[node];
        for (uint32_t k = 0; k < thread->out_count && !err; k++)
            err = add_path(view, i, thread->out[k]);
    }
    return err;
}

static int by_thread_and_collector(const void *a, const void *b)
{
    const lookup *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->collector != y->collector)
        return x->collector < y->collector ? -1 : 1;
    return 0;
}

int scopes_communication_create(scopes_communication **out,
                                const paths_map *map)
{
    *out = NULL;
    scopes_communication *view = calloc(1, sizeof(*view));
    if (!view)
        return no_memory();
    view->map = map;
    view->thread_count = paths_map_threads(map);
    view->threads = calloc(view->thread_count + 1, sizeof(*view->threads));
    view->paths = calloc(map->edge_count + 1, sizeof(*view->paths));
    view->lookup = calloc(map->edge_count + 1, sizeof(*view->lookup));
    int err = 0;
    if (!view->threads || !view->paths || !view->lookup)
        err = no_memory();
    if (!err)
        err = add_threads(view);
    if (!err)
        err = add_paths(view);
    if (err) {
        scopes_communication_destroy(view);
        return err;
    }
    qsort(view->lookup, view->path_count, sizeof(*view->lookup),
          by_thread_and_collector);
    *out = view;
    return 0;
}

void scopes_communication_destroy(scopes_communication *view)
{
    if (!view)
        return;
    free(view->threads);
    free(view->paths);
    free(view->lookup);
    free(view->operations);
    free(view->steps);
    free(view);
}

/* --- the operations --- */

static int grow(scopes_communication *view)
{
    size_t room = view->room ? view->room * 2 : 4096;
    void *more = realloc(view->operations, room * sizeof(*view->operations));
    if (!more)
        return no_memory();
    view->operations = more;
    view->room = room;
    return 0;
}

int scopes_communication_add(scopes_communication *view,
                             const eventspace_trace *event, int64_t start_ns,
                             int64_t end_ns)
{
    lookup wanted = {event->thread, event->collector, 0};
    const lookup *found = bsearch(&wanted, view->lookup, view->path_count,
                                  sizeof(*found), by_thread_and_collector);
    if (!found)
        return 0;
    if (view->operation_count == view->room && grow(view))
        return PASTSET_ENOMEM;
    view->operations[view->operation_count++] = (scopes_operation){
        .start_ns = start_ns,
        .end_ns = end_ns < start_ns ? start_ns : end_ns,
        .thread = event->thread,
        .path = found->path,
        .sequence = event->sequence,
        .bytes = event->bytes,
        .verb = event->operation,
        .status = event->status,
    };
    return 0;
}

static int by_thread_and_start(const void *a, const void *b)
{
    const scopes_operation *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->sequence != y->sequence)
        return x->sequence < y->sequence ? -1 : 1;
    return 0;
}

/* Gives each thread its part of the sorted operations. */
static void part_threads(scopes_communication *view)
{
    for (size_t i = view->operation_count; i-- > 0;) {
        scopes_thread *thread = &view->threads[view->operations[i].thread];
        thread->operation = i;
        thread->operations++;
    }
}

/* --- steps --- */

/* Sequence numbers that no tuple carries. They tell nothing when some path of
 * the thread has no collector. */
static uint64_t count_missing(const scopes_communication *view,
                              const scopes_thread *thread)
{
    uint32_t highest = 0;
    for (size_t i = 0; i < thread->operations; i++) {
        uint32_t number = view->operations[thread->operation + i].sequence;
        if (number > highest)
            highest = number;
    }
    if (!thread->all_collected || highest < thread->operations)
        return 0;
    return highest - thread->operations;
}

static void count_steps(scopes_operation *operations, size_t count,
                        uint32_t *uses)
{
    for (size_t i = 0; i < count; i++)
        operations[i].step = ++uses[operations[i].path];
}

/* How many paths the thread uses before it uses one again. */
static uint32_t find_turn(const scopes_operation *operations, size_t count,
                          uint32_t *uses)
{
    uint32_t turn = 0;
    while (turn < count && uses[operations[turn].path]++ == 0)
        turn++;
    for (size_t i = 0; i < count; i++)
        uses[operations[i].path] = 0;
    return turn;
}

/* Numbers the steps as if operation s had gone over path (s - 1) mod `turn`
 * from the start, and goes on counting where that ends: many programs do
 * something else in the end. Gives the number of operations in turn. */
static size_t turn_steps(scopes_operation *operations, size_t count,
                         uint32_t turn, uint32_t *slots, uint32_t *uses)
{
    size_t in_turn = 0;
    for (uint32_t i = 0; i < turn; i++)
        slots[i] = PATHS_NONE;
    for (; in_turn < count && operations[in_turn].sequence > 0; in_turn++) {
        scopes_operation *op = &operations[in_turn];
        uint32_t *slot = &slots[(op->sequence - 1) % turn];
        if (*slot != PATHS_NONE && *slot != op->path)
            break;
        *slot = op->path;
        op->step = (op->sequence - 1) / turn + 1;
        uses[op->path] = op->step;
    }
    count_steps(operations + in_turn, count - in_turn, uses);
    return in_turn;
}

/* `slots` and `uses` have one place for each path; `uses` is zero, and each
 * path belongs to one thread. */
static void number_steps(scopes_communication *view, scopes_thread *thread,
                         uint32_t *slots, uint32_t *uses)
{
    scopes_operation *operations = &view->operations[thread->operation];
    size_t count = thread->operations;
    thread->missing = count_missing(view, thread);
    thread->steps_known = thread->missing == 0;
    if (thread->missing > 0) {
        uint32_t turn = find_turn(operations, count, uses);
        size_t in_turn = turn_steps(operations, count, turn, slots, uses);
        /* Three rounds, and a good part of what is there: no accident. */
        thread->steps_known = in_turn >= 3 * turn && in_turn > count / 4;
    }
    if (thread->missing == 0 || !thread->steps_known) {
        for (size_t i = 0; i < count; i++)
            uses[operations[i].path] = 0;
        count_steps(operations, count, uses);
    }
    for (size_t i = 0; i < count; i++)
        if (operations[i].step > view->last_step)
            view->last_step = operations[i].step;
}

/* The thread's row for a step, made when it is not there yet. The last thread
 * that was begun may add rows; there is room for one per operation. */
static scopes_step *step_row(scopes_communication *view, scopes_thread *thread,
                             uint32_t step)
{
    scopes_step *rows = &view->steps[thread->step];
    size_t low = 0, high = thread->steps;
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

/* --- times --- */

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
    path->total_ns += lasted_ns;
    if (lasted_ns > path->longest_ns)
        path->longest_ns = lasted_ns;
    if (lasted_ns > longest->end_ns - longest->start_ns)
        thread->longest = index;
}

static void sum_thread(scopes_communication *view, scopes_thread *thread)
{
    const scopes_operation *first = &view->operations[thread->operation];
    int64_t busy_until = first->start_ns;
    scopes_step *row = NULL;
    thread->longest = thread->operation;
    thread->start_ns = first->start_ns;
    for (size_t i = 0; i < thread->operations; i++) {
        const scopes_operation *op = &first[i];
        if (op->start_ns > busy_until) {
            row->computing_ns += op->start_ns - busy_until;
            thread->computing_ns += op->start_ns - busy_until;
            busy_until = op->start_ns;
        }
        row = step_row(view, thread, op->step);
        count_operation(view, thread, row, thread->operation + i);
        if (op->end_ns > busy_until) {
            row->communicating_ns += op->end_ns - busy_until;
            thread->communicating_ns += op->end_ns - busy_until;
            busy_until = op->end_ns;
        }
    }
    thread->end_ns = busy_until;
}

static void sum_threads(scopes_communication *view, uint32_t *slots,
                        uint32_t *uses)
{
    view->start_ns = INT64_MAX;
    view->end_ns = INT64_MIN;
    for (uint32_t i = 0; i < view->thread_count; i++) {
        scopes_thread *thread = &view->threads[i];
        thread->step = view->step_count;
        thread->steps_known = true;
        if (thread->operations == 0)
            continue;
        number_steps(view, thread, slots, uses);
        sum_thread(view, thread);
        if (thread->start_ns < view->start_ns)
            view->start_ns = thread->start_ns;
        if (thread->end_ns > view->end_ns)
            view->end_ns = thread->end_ns;
    }
    if (view->operation_count == 0)
        view->start_ns = view->end_ns = 0;
}

int scopes_communication_finish(scopes_communication *view)
{
    uint32_t *slots = calloc(view->path_count + 1, sizeof(*slots));
    uint32_t *uses = calloc(view->path_count + 1, sizeof(*uses));
    view->steps = calloc(view->operation_count + 1, sizeof(*view->steps));
    int err = 0;
    if (!slots || !uses || !view->steps) {
        err = no_memory();
        goto done;
    }
    if (view->operation_count)
        qsort(view->operations, view->operation_count,
              sizeof(*view->operations), by_thread_and_start);
    part_threads(view);
    sum_threads(view, slots, uses);
done:
    free(slots);
    free(uses);
    return err;
}

/* --- of a run --- */

typedef struct reading {
    scopes_communication *view;
    eventspace_run *run;
    size_t host;
} reading;

static int add_event(const eventspace_trace *event, void *context)
{
    reading *r = context;
    return scopes_communication_add(
        r->view, event, eventspace_run_time_ns(r->run, r->host, event->start),
        eventspace_run_time_ns(r->run, r->host, event->end));
}

int scopes_communication_read(scopes_communication **out, eventspace_run *run)
{
    reading r = {.run = run};
    int err = scopes_communication_create(&r.view, eventspace_run_map(run));
    size_t hosts = eventspace_run_host_count(run);
    for (; r.host < hosts && !err; r.host++)
        err = eventspace_run_each(run, r.host, add_event, &r);
    if (!err)
        err = scopes_communication_finish(r.view);
    if (err) {
        scopes_communication_destroy(r.view);
        r.view = NULL;
    }
    *out = r.view;
    return err;
}
