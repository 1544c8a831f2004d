/* regions.c - the view "regions": how long the threads were in the parts of the
 * program that it names itself (eventspace/regions.h).
 *
 * A row is a region and a thread: how often and how long the thread was in it,
 * and how much of that it communicated, or had no processor; as far as that is
 * certain (off_processor.h). Regions within others count in both. A mark has a
 * count only.
 *
 * With `each`, a row is one time in a region, or a mark, by thread and start;
 * `depth` is in how many other regions it lies. With `of`, the regions of that
 * name. */
#include "scopes/views/view_internal.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/array.h"
#include "pastset/status.h"
#include "scopes/causality/communication_times.h"
#include "scopes/tables/sample_internal.h"

static const scopes_column columns[] = {
    {"region", "region", SCOPES_TEXT},
    {"kind", "kind", SCOPES_TEXT},
    {"number", "no.", SCOPES_NUMBER},
    {"thread", "thread", SCOPES_TEXT},
    {"process", "process", SCOPES_TEXT},
    SCOPES__SAMPLE_COLUMNS,
    {"communicating_ns", "communicating ms", SCOPES_TIME_NS},
    {"runnable_ns", "runnable ms", SCOPES_TIME_NS},
    {"sleeping_ns", "sleeping ms", SCOPES_TIME_NS},
};

static const scopes_column each_columns[] = {
    {"region", "region", SCOPES_TEXT},
    {"kind", "kind", SCOPES_TEXT},
    {"number", "no.", SCOPES_NUMBER},
    {"thread", "thread", SCOPES_TEXT},
    {"depth", "depth", SCOPES_COUNT},
    {"start_ns", "start ms", SCOPES_TIME_NS},
    {"end_ns", "end ms", SCOPES_TIME_NS},
    {"time_ns", "time ms", SCOPES_TIME_NS},
};

/* One time of a thread in a region. */
typedef struct visit {
    const eventspace_run_definition *what;
    uint32_t thread, depth;
    int64_t start_ns, end_ns;
} visit;

typedef struct visits {
    const scopes_view_input *view_input;
    visit *all;
    size_t count;
} visits;

static int no_memory(void)
{
    return pastset_no_memory("for the view regions");
}

/* --- taking --- */

static int take(const scopes__named_event *named, void *context)
{
    visits *v = context;
    visit *more = pastset_array_grow(v->all, v->count, sizeof(*more));

    if (!more)
        return no_memory();
    v->all = more;
    v->all[v->count++] =
        (visit){named->what, named->event->thread, named->event->bytes,
                named->start_ns, named->end_ns};
    return 0;
}

/* By region and thread, and then by time. */
static int compare(const void *left, const void *right)
{
    const visit *a = left, *b = right;
    int names = strcmp(a->what->name, b->what->name);

    if (names)
        return names;
    if (a->what->kind != b->what->kind)
        return a->what->kind < b->what->kind ? -1 : 1;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

static int compare_times(const void *left, const void *right)
{
    const visit *a = left, *b = right;

    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return a->depth < b->depth ? -1 : a->depth > b->depth;
}

/* --- communicating --- */

/* Of a thread: how long it has communicated up to a time. */
static int64_t communicated(const scopes_communication *view, uint32_t thread,
                            const int64_t *before_ns, int64_t until_ns)
{
    const scopes_thread *t = &view->threads[thread];
    const scopes_operation *ops = &view->operations[t->operation];
    size_t low = 0, high = t->operations;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ops[middle].start_ns < until_ns)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return 0;
    /* Operations that overlap are cut off at the one behind them. */
    return before_ns[t->operation + low - 1] +
           (until_ns < ops[low - 1].end_ns ? until_ns : ops[low - 1].end_ns) -
           ops[low - 1].start_ns;
}

/* For each operation how long its thread had communicated when it began. */
static int64_t *add_up(const scopes_communication *view)
{
    int64_t *before_ns = calloc(view->operation_count + 1, sizeof(*before_ns));

    for (uint32_t i = 0; i < view->thread_count && before_ns; i++) {
        const scopes_thread *t = &view->threads[i];
        for (size_t k = t->operation + 1; k < t->operation + t->operations;
             k++) {
            const scopes_operation *op = &view->operations[k - 1];
            int64_t end_ns =
                op->end_ns < op[1].start_ns ? op->end_ns : op[1].start_ns;
            before_ns[k] = before_ns[k - 1] + end_ns - op->start_ns;
        }
    }
    return before_ns;
}

/* --- rows --- */

static void add_name(scopes_table *out, const scopes_view_input *view_input,
                     const visit *first)
{
    scopes_table_text(out, first->what->name);
    scopes_table_text(out, eventspace_definition_named(first->what->kind));
    scopes_table_integer(out, first->thread);
    scopes_table_text(
        out, scopes_topology_thread_name(view_input->topology, first->thread));
}

static void add_each(scopes_table *out, const scopes_view_input *view_input,
                     const visit *v)
{
    add_name(out, view_input, v);
    scopes_table_integer(out, v->depth);
    scopes_table_integer(out, v->start_ns);
    scopes_table_integer(out, v->end_ns);
    scopes_table_integer(out, v->end_ns - v->start_ns);
}

/* All times of a thread in a region. */
static int add_sums(scopes_table *out, const scopes_view_input *view_input,
                    const scopes_communication *view, const int64_t *before_ns,
                    const visit *first, size_t count)
{
    const scopes_topology *topology = view_input->topology;
    uint32_t thread = first->thread;
    const scopes_thread_life *life =
        view_input->scheduling ? &view_input->scheduling->threads[thread]
                               : NULL;
    int64_t communicating_ns = 0;
    scopes_off_time off = {0};
    scopes__sample sample = {0};
    int err = 0;

    for (size_t i = 0; i < count && !err; i++) {
        const visit *v = &first[i];
        communicating_ns += communicated(view, thread, before_ns, v->end_ns) -
                            communicated(view, thread, before_ns, v->start_ns);
        if (life && life->is_known) {
            scopes_off_time one =
                scopes_off_within(life, v->start_ns, v->end_ns);
            off.runnable_ns += one.runnable_ns;
            off.sleeping_ns += one.sleeping_ns;
        }
        err = scopes__sample_add(&sample, v->end_ns - v->start_ns);
    }
    add_name(out, view_input, first);
    scopes_table_text(
        out,
        scopes_topology_process_name(
            topology, topology->map->nodes[topology->threads[thread]].process));
    scopes__sample_row(out, &sample);
    scopes__sample_fini(&sample);
    scopes_table_integer(out, communicating_ns);
    scopes_table_integer(out, life && life->is_known ? off.runnable_ns
                                                     : SCOPES_BLANK);
    scopes_table_integer(out, life && life->is_known ? off.sleeping_ns
                                                     : SCOPES_BLANK);
    return err;
}

static bool are_alike(const visit *a, const visit *b)
{
    return a->thread == b->thread && a->what->kind == b->what->kind &&
           strcmp(a->what->name, b->what->name) == 0;
}

static int add_regions(scopes_table *out, const visits *v)
{
    const scopes_view_input *in = v->view_input;
    scopes_communication *view;
    int64_t *before_ns = NULL;
    int err = scopes_communication_create(&view, in->topology, in->event_table,
                                          in->clocks, in->scheduling,
                                          SCOPES_OPERATIONS);

    if (err)
        return err;
    before_ns = add_up(view);
    if (!before_ns)
        err = no_memory();
    for (size_t i = 0, next; i < v->count && !err; i = next) {
        for (next = i + 1;
             next < v->count && are_alike(&v->all[i], &v->all[next]);)
            next++;
        err = add_sums(out, in, view, before_ns, &v->all[i], next - i);
    }
    free(before_ns);
    scopes_communication_destroy(view);
    return err;
}

static int make(scopes_table *out, const scopes_view_input *view_input)
{
    visits v = {.view_input = view_input};
    int err = scopes__named_events(view_input, false, take, &v);

    if (!err && v.count)
        qsort(v.all, v.count, sizeof(*v.all),
              view_input->each ? compare_times : compare);
    for (size_t i = 0; i < v.count && view_input->each && !err; i++)
        add_each(out, view_input, &v.all[i]);
    if (!err && !view_input->each && v.count)
        err = add_regions(out, &v);
    free(v.all);
    return err;
}

const scopes_view scopes__view_regions = {
    "regions",
    "how long threads were in the parts that the program names",
    "a time in a region, or a mark",
    SCOPES__COLUMNS(columns),
    SCOPES__COLUMNS(each_columns),
    .turn = 1,
    .make = make,
    .when_empty =
        "there are no regions: a program names parts of itself by "
        "eventspace_region_begin and eventspace_mark (eventspace/regions.h)"};
