/* diff_take.c - takes a run apart into the items of a comparison (diff.h).
 *
 * Operations and the gaps between them are those of the view communication; for
 * whom an operation waited, and how long, is what waits-for says of each
 * operation; hops and regions are those of their views. So each time that a
 * comparison shows can be looked up in a view of one of the runs. */
#include "scopes/compare/diff_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "pastset/verb.h"
#include "scopes/causality/communication_times.h"
#include "scopes/views/view.h"

/* Who an operation waited for. */
typedef struct wait {
    const char *thread; /* NULL: nobody */
    int64_t ns;
} wait;

/* Where an operation is, by what names it. */
typedef struct place {
    uint32_t thread, sequence;
    size_t operation;
} place;

typedef struct taking {
    scopes_diff *diff;
    const scopes_snapshot *snapshot;
    scopes_view_input input;
    scopes_communication *view;
    scopes__diff_whole whole;
    wait *waits; /* by operation */
    place *places;
} taking;

static int no_memory(void)
{
    return pastset_no_memory("for comparing runs");
}

/* One of which there is one in a step, or in the run. */
static int add(taking *t, scopes__diff_kind kind, const char *thread,
               const char *path, const char *what, uint64_t ordinal, int64_t ns)
{
    scopes__diff_item *item =
        scopes__diff_item_of(t->diff, kind, thread, path, what);

    return item ? scopes__diff_sample_add(t->diff, item, ordinal, 0, ns)
                : PASTSET_ENOMEM;
}

/* --- what is lost --- */

/* Has the run all events from one time to another one? */
static bool is_whole(const taking *t, int64_t from_ns, int64_t to_ns)
{
    return from_ns >= t->whole.from_ns && to_ns <= t->whole.to_ns;
}

/* Whether the steps of this thread are those that it did. */
static unsigned gone_of(const taking *t, const scopes_thread *thread)
{
    if (!thread->steps_known)
        return t->whole.gone ? t->whole.gone : SCOPES__GONE_BEFORE;
    return thread->all_collected ? 0 : t->whole.gone;
}

static bool has_lost_operations(const taking *t)
{
    for (uint32_t i = 0; i < t->view->thread_count; i++)
        if (t->view->threads[i].lost > 0)
            return true;
    return false;
}

/* --- own time --- */

/* From one time to another one, less that in which others had the thread's
 * processor. */
static int64_t own_ns(const taking *t, uint32_t thread, int64_t from_ns,
                      int64_t to_ns)
{
    const scopes_scheduling *all = t->snapshot->scheduling;
    scopes_off_time off = {0};

    if (to_ns <= from_ns)
        return 0;
    if (!t->diff->options.with_others && all && thread < all->thread_count &&
        all->threads[thread].is_known)
        off = scopes_off_within(&all->threads[thread], from_ns, to_ns);
    return off.runnable_ns < to_ns - from_ns ? to_ns - from_ns - off.runnable_ns
                                             : 0;
}

/* --- waiting --- */

static int compare_places(const void *a, const void *b)
{
    const place *x = a, *y = b;

    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

/* The number of the thread with this name, which is mostly that of the last
 * row. */
static uint32_t number_of(const taking *t, const char *name, uint32_t last)
{
    const scopes_communication *view = t->view;

    if (last < view->thread_count &&
        strcmp(view->threads[last].name, name) == 0)
        return last;
    for (uint32_t i = 0; i < view->thread_count; i++)
        if (strcmp(view->threads[i].name, name) == 0)
            return i;
    return PATHS_NONE;
}

enum { WAIT_THREAD, WAIT_SEQUENCE, WAIT_OVER, WAIT_FOR, WAIT_START, WAIT_NS };

static void take_waits(taking *t, const scopes_table *table)
{
    uint32_t thread = 0;

    for (size_t i = 0; i < scopes_table_rows(table); i++) {
        place key, *found;
        thread =
            number_of(t, scopes_table_cell(table, i, WAIT_THREAD).text, thread);
        key = (place){
            thread,
            (uint32_t)scopes_table_cell(table, i, WAIT_SEQUENCE).integer, 0};
        found = bsearch(&key, t->places, t->view->operation_count, sizeof(key),
                        compare_places);
        if (found)
            t->waits[found->operation] =
                (wait){scopes_table_cell(table, i, WAIT_FOR).text,
                       scopes_table_cell(table, i, WAIT_NS).integer};
    }
}

/* The names in `waits` are those of the map. */
static int find_waits(taking *t)
{
    size_t count = t->view->operation_count;
    scopes_table *table;
    int err;

    t->waits = calloc(count + 1, sizeof(*t->waits));
    t->places = calloc(count + 1, sizeof(*t->places));
    if (!t->waits || !t->places)
        return no_memory();
    for (size_t i = 0; i < count; i++)
        t->places[i] = (place){t->view->operations[i].thread,
                               t->view->operations[i].sequence, i};
    if (count)
        qsort(t->places, count, sizeof(*t->places), compare_places);
    err = scopes_view_make(&table, scopes_view_find("waits-for"), &t->input);
    if (err)
        return err;
    take_waits(t, table);
    scopes_table_destroy(table);
    return 0;
}

/* --- operations and computing --- */

/* Waiting and the operation's own time, which comes behind it. */
static int take_operation(taking *t, const scopes_thread *thread, size_t index)
{
    const scopes_operation *op = &t->view->operations[index];
    const char *path = t->view->paths[op->path].name;
    const char *verb = pastset_verb_name(op->verb);
    const wait *waited = &t->waits[index];
    int64_t lasted_ns = op->end_ns - op->start_ns;
    int64_t wait_ns = waited->ns < lasted_ns ? waited->ns : lasted_ns;
    unsigned gone = gone_of(t, thread);
    scopes__diff_item *item;
    int err;

    if (!is_whole(t, op->start_ns, op->end_ns))
        return 0; /* who it waited for may be lost */
    item = scopes__diff_item_of(t->diff, SCOPES__WAITING, thread->name, path,
                                verb);
    err = item ? scopes__diff_sample_add(t->diff, item, op->step, gone, wait_ns)
               : PASTSET_ENOMEM;
    if (!err && waited->thread && wait_ns > 0)
        err = scopes__diff_for_add(t->diff, item, waited->thread, wait_ns);
    if (err)
        return err;
    item = scopes__diff_item_of(t->diff, SCOPES__OPERATION, thread->name, path,
                                verb);
    return item ? scopes__diff_sample_add(
                      t->diff, item, op->step, gone,
                      own_ns(t, op->thread, op->start_ns + wait_ns, op->end_ns))
                : PASTSET_ENOMEM;
}

static int take_gap(taking *t, const scopes_thread *thread, size_t index,
                    int64_t from_ns)
{
    const scopes_operation *op = &t->view->operations[index];
    bool first = index == thread->operation;
    scopes__diff_item *item;

    if (first && from_ns >= op->start_ns)
        return 0; /* when it began is not known */
    if (first)
        return add(t, SCOPES__COMPUTING, thread->name, "", "begin", op->step,
                   own_ns(t, op->thread, from_ns, op->start_ns));
    if (thread->all_collected ? op->sequence != op[-1].sequence + 1
                              : !is_whole(t, from_ns, op->start_ns))
        return 0; /* operations between are lost, or may be */
    item = scopes__diff_item_of(t->diff, SCOPES__COMPUTING, thread->name,
                                t->view->paths[op->path].name,
                                pastset_verb_name(op->verb));
    return item ? scopes__diff_sample_add(
                      t->diff, item, op->step, gone_of(t, thread),
                      own_ns(t, op->thread, from_ns, op->start_ns))
                : PASTSET_ENOMEM;
}

static int take_thread(taking *t, uint32_t number)
{
    const scopes_thread *thread = &t->view->threads[number];
    int64_t busy_until = thread->start_ns;
    int err = 0;

    for (size_t i = thread->operation;
         i < thread->operation + thread->operations && !err; i++) {
        const scopes_operation *op = &t->view->operations[i];
        err = take_gap(t, thread, i, busy_until);
        if (!err && op->status == 0)
            err = take_operation(t, thread, i);
        if (op->end_ns > busy_until)
            busy_until = op->end_ns;
    }
    if (!err && thread->operations && thread->end_ns > busy_until)
        err = add(t, SCOPES__COMPUTING, thread->name, "", "end", 1,
                  own_ns(t, number, busy_until, thread->end_ns));
    return err;
}

/* --- steps and the run --- */

/* The ends of steps, by the last of the threads; INT64_MIN where there is none.
 */
static void find_ends(const taking *t, int64_t *ends, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ends[i] = INT64_MIN;
    for (size_t i = 0; i < t->view->step_count; i++) {
        const scopes_step *s = &t->view->steps[i];
        if (s->step < count && s->end_ns > ends[s->step])
            ends[s->step] = s->end_ns;
    }
}

/* From the end of a step to that of the next, if all events of both are there.
 */
static int take_step(taking *t, uint64_t step, int64_t before_ns,
                     int64_t end_ns)
{
    if (!is_whole(t, before_ns, end_ns))
        return 0;
    return add(t, SCOPES__STEP, "", "", "", step,
               end_ns > before_ns ? end_ns - before_ns : 0);
}

static bool has_steps(const taking *t)
{
    for (uint32_t i = 0; i < t->view->thread_count; i++)
        if (t->view->threads[i].operations > 0 &&
            gone_of(t, &t->view->threads[i]))
            return false;
    return true;
}

/* The first step has the begin of the program in it. */
static int take_steps(taking *t)
{
    size_t count = has_steps(t) ? (size_t)t->view->last_step + 1 : 0;
    int64_t *ends = malloc((count + 1) * sizeof(*ends)), before = INT64_MIN;
    int err = ends ? 0 : no_memory();

    if (!err)
        find_ends(t, ends, count);
    for (size_t i = 1; i < count && !err; i++) {
        if (ends[i] != INT64_MIN && before != INT64_MIN)
            err = take_step(t, i, before, ends[i]);
        before = ends[i] == INT64_MIN || ends[i] > before ? ends[i] : before;
    }
    free(ends);
    return err;
}

/* Are the begin and the end of this thread there? */
static bool is_whole_thread(const taking *t, const scopes_thread *thread)
{
    const scopes_operation *first = &t->view->operations[thread->operation];
    int64_t end_ns = INT64_MIN;

    for (size_t i = 0; i < thread->operations; i++)
        if (first[i].end_ns > end_ns)
            end_ns = first[i].end_ns;
    return thread->start_ns < first->start_ns && thread->end_ns > end_ns;
}

/* Without all events, it is known how long the run took only if the begins and
 * the ends of all threads are. */
static bool is_length_known(const taking *t)
{
    for (uint32_t i = 0; i < t->view->thread_count; i++) {
        const scopes_thread *thread = &t->view->threads[i];
        if (thread->operations > 0 && !is_whole_thread(t, thread))
            return !t->diff->lost[t->diff->run_count];
    }
    return true;
}

static int take_run(taking *t)
{
    int64_t ns = t->view->end_ns - t->view->start_ns;

    t->diff->runs_ns[t->diff->run_count] = ns > 0 ? (double)ns : 0;
    if (t->view->operation_count == 0 || !is_length_known(t))
        return 0;
    return add(t, SCOPES__RUN, "", "", "", 1, ns);
}

/* --- hops --- */

enum {
    HOP_ELEMENT,
    HOP_ROUND,
    HOP_THREAD,
    HOP_DIRECTION,
    HOP_FROM,
    HOP_TO,
    HOP_WHAT,
    HOP_START,
    HOP_NS
};

/* What several threads of a round share has a row for each of them. */
static bool is_repeated(const taking *t, const scopes__diff_item *item,
                        uint64_t round)
{
    const scopes__diff_part *part;

    if (item->part_count <= t->diff->run_count)
        return false;
    part = &item->parts[t->diff->run_count];
    return part->seen > 0 && part->latest == round;
}

static int take_hop(taking *t, const scopes_table *table, size_t row)
{
    const char *direction = scopes_table_cell(table, row, HOP_DIRECTION).text;
    const char *from = scopes_table_cell(table, row, HOP_FROM).text;
    const char *to = scopes_table_cell(table, row, HOP_TO).text;
    int64_t round = scopes_table_cell(table, row, HOP_ROUND).integer;
    int64_t start_ns = scopes_table_cell(table, row, HOP_START).integer;
    int64_t ns = scopes_table_cell(table, row, HOP_NS).integer;
    scopes__diff_item *item;
    char what[1024];

    if (strcmp(direction, "wait") == 0 || round < 0 || round >= UINT32_MAX ||
        !is_whole(t, start_ns, start_ns + ns))
        return 0;
    snprintf(what, sizeof(what), "%s %s%s%s", direction, from,
             strcmp(direction, "element") == 0 ? "" : " > ",
             strcmp(direction, "element") == 0 ? "" : to);
    item = scopes__diff_item_of(t->diff, SCOPES__HOP, "",
                                scopes_table_cell(table, row, HOP_ELEMENT).text,
                                what);
    if (!item)
        return PASTSET_ENOMEM;
    /* From 1, as steps. */
    if (is_repeated(t, item, (uint64_t)round + 1))
        return 0;
    return scopes__diff_sample_add(t->diff, item, (uint64_t)round + 1,
                                   t->whole.gone, ns);
}

static int take_hops(taking *t)
{
    scopes_table *table;
    int err = scopes_view_make(&table, scopes_view_find("hops"), &t->input);

    if (err)
        return err;
    for (size_t i = 0; i < scopes_table_rows(table) && !err; i++)
        err = take_hop(t, table, i);
    scopes_table_destroy(table);
    return err;
}

/* --- regions --- */

enum {
    REGION_NAME,
    REGION_KIND,
    REGION_NUMBER,
    REGION_THREAD,
    REGION_DEPTH,
    REGION_START,
    REGION_END
};

/* The first operation of a thread that may end after a time: all before it
 * have. Operations that overlap may end in another order, so from there on each
 * is looked at. */
static size_t first_after(const taking *t, const scopes_thread *thread,
                          int64_t ns)
{
    size_t low = thread->operation, high = low + thread->operations;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->view->operations[middle].start_ns < ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low > thread->operation ? low - 1 : low;
}

/* The gaps between operations. */
static int64_t region_ns(const taking *t, uint32_t number, int64_t from_ns,
                         int64_t to_ns)
{
    const scopes_thread *thread = &t->view->threads[number];
    size_t end = thread->operation + thread->operations;
    int64_t ns = 0;

    for (size_t i = first_after(t, thread, from_ns); i < end; i++) {
        const scopes_operation *op = &t->view->operations[i];
        if (op->start_ns >= to_ns)
            break;
        ns += own_ns(t, number, from_ns, op->start_ns);
        if (op->end_ns > from_ns)
            from_ns = op->end_ns;
    }
    return ns + own_ns(t, number, from_ns, to_ns);
}

/* Rows are by thread and time, so the k-th one of a region is the k-th time. */
static int take_region(taking *t, const scopes_table *table, size_t row)
{
    int64_t number = scopes_table_cell(table, row, REGION_NUMBER).integer;
    int64_t from_ns = scopes_table_cell(table, row, REGION_START).integer;
    int64_t to_ns = scopes_table_cell(table, row, REGION_END).integer;
    scopes__diff_item *item;
    uint64_t before = 0;

    if (strcmp(scopes_table_cell(table, row, REGION_KIND).text, "region") !=
            0 ||
        number < 0 || number >= t->view->thread_count ||
        !is_whole(t, from_ns, to_ns))
        return 0;
    item = scopes__diff_item_of(
        t->diff, SCOPES__REGION,
        scopes_table_cell(table, row, REGION_THREAD).text,
        scopes_table_cell(table, row, REGION_NAME).text, "");
    if (!item)
        return PASTSET_ENOMEM;
    if (item->part_count > t->diff->run_count)
        before = item->parts[t->diff->run_count].seen;
    return scopes__diff_sample_add(
        t->diff, item, before + 1, t->whole.gone,
        region_ns(t, (uint32_t)number, from_ns, to_ns));
}

static int take_regions(taking *t)
{
    scopes_table *table;
    int err = scopes_view_make(&table, scopes_view_find("regions"), &t->input);

    if (err)
        return err;
    for (size_t i = 0; i < scopes_table_rows(table) && !err; i++)
        err = take_region(t, table, i);
    scopes_table_destroy(table);
    return err;
}

/* --- all of it --- */

static bool knows_scheduling(const scopes_snapshot *snapshot)
{
    const scopes_scheduling *all = snapshot->scheduling;

    for (uint32_t i = 0; all && i < all->thread_count; i++)
        if (all->threads[i].is_known)
            return true;
    return false;
}

int scopes__diff_take(scopes_diff *diff, const scopes_snapshot *snapshot)
{
    taking t = {.diff = diff,
                .snapshot = snapshot,
                .input = scopes_view_input_of(snapshot)};
    int err;

    t.input.each = true;
    t.input.pending = NULL;
    err = scopes_communication_create(&t.view, snapshot->topology,
                                      snapshot->event_table, snapshot->clocks,
                                      snapshot->scheduling, SCOPES_OPERATIONS);
    if (err)
        return err;
    diff->scheduling[diff->run_count] = knows_scheduling(snapshot);
    err = scopes__diff_whole_find(&t.whole, snapshot);
    diff->lost[diff->run_count] = t.whole.gone || has_lost_operations(&t);
    if (!err)
        err = find_waits(&t);
    for (uint32_t i = 0; i < t.view->thread_count && !err; i++)
        err = take_thread(&t, i);
    if (!err)
        err = take_steps(&t);
    if (!err)
        err = take_run(&t);
    if (!err)
        err = take_hops(&t);
    if (!err)
        err = take_regions(&t);
    free(t.waits);
    free(t.places);
    scopes_communication_destroy(t.view);
    return err;
}
