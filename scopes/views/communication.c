/* communication.c - the view "communication": when each thread communicated,
 * and when it computed (paper 004, sections 4.5 and 5.1; communication_times.h
 * says what these mean).
 *
 * A row is a thread: its operations and steps, when it began and ended (where
 * that is not known, the start of its first operation and the end of its last);
 * how long it communicated and computed in between; for how much of computing
 * it had no processor, at least: runnable while others ran, or sleeping; the
 * share of communicating; how many operations are missing, as their numbers
 * tell; and its longest operation. `steps_known` is "no" where
 * steps are counted from the first operation that is there, since earlier ones
 * are not.
 *
 * With `each`, a row is an operation, by thread and then by start. With `of`,
 * threads that have a way through that element or wrapper; their operations
 * over such ways. */
#include "pastset/request.h"
#include "pastset/status.h"
#include "scopes/causality/communication_times_internal.h"
#include "scopes/views/view_internal.h"

#include <stdlib.h>

static const scopes_column columns[] = {
    {"number", "no.", SCOPES_NUMBER},
    {"thread", "thread", SCOPES_TEXT},
    {"process", "process", SCOPES_TEXT},
    {"operations", "operations", SCOPES_COUNT},
    {"steps", "steps", SCOPES_COUNT},
    {"start_ns", "start ms", SCOPES_TIME_NS},
    {"end_ns", "end ms", SCOPES_TIME_NS},
    {"communicating_ns", "communicating ms", SCOPES_TIME_NS},
    {"computing_ns", "computing ms", SCOPES_TIME_NS},
    {"runnable_ns", "runnable ms", SCOPES_TIME_NS},
    {"sleeping_ns", "sleeping ms", SCOPES_TIME_NS},
    {"communicating_share", "communicating %", SCOPES_SHARE},
    {"lost", "lost", SCOPES_COUNT},
    {"longest_ns", "longest ms", SCOPES_TIME_NS},
    {"longest_verb", "longest is", SCOPES_TEXT},
    {"longest_path", "over path", SCOPES_TEXT},
    {"longest_step", "in step", SCOPES_COUNT},
    {"steps_known", "steps known", SCOPES_TEXT},
};

static const scopes_column each_columns[] = {
    {"number", "no.", SCOPES_NUMBER},
    {"thread", "thread", SCOPES_TEXT},
    {"path", "path", SCOPES_TEXT},
    {"element", "element", SCOPES_TEXT},
    {"step", "step", SCOPES_NUMBER},
    {"sequence", "sequence", SCOPES_NUMBER},
    {"verb", "verb", SCOPES_TEXT},
    {"bytes", "bytes", SCOPES_COUNT},
    {"status", "status", SCOPES_TEXT},
    {"start_ns", "start ms", SCOPES_TIME_NS},
    {"end_ns", "end ms", SCOPES_TIME_NS},
    {"time_ns", "time ms", SCOPES_TIME_NS},
};

static void add_longest(scopes_table *out, const scopes_communication *view,
                        const scopes_thread *thread)
{
    const scopes_operation *op = &thread->longest_operation;

    if (thread->operations == 0) {
        scopes_table_integer(out, SCOPES_BLANK);
        scopes_table_text(out, "");
        scopes_table_text(out, "");
        scopes_table_integer(out, SCOPES_BLANK);
        return;
    }
    scopes_table_integer(out, op->end_ns - op->start_ns);
    scopes_table_text(out, pastset_verb_name(op->verb));
    scopes_table_text(out, view->paths[op->path].name);
    scopes_table_integer(out, op->step);
}

static void add_thread(scopes_table *out, const scopes_view_input *view_input,
                       const scopes_communication *view, uint32_t number)
{
    const scopes_thread *thread = &view->threads[number];
    bool any = thread->operations > 0;

    scopes_table_integer(out, number);
    scopes_table_text(out, thread->name);
    scopes_table_text(out, scopes_topology_process_name(view_input->topology,
                                                        thread->process));
    scopes_table_integer(out, (int64_t)thread->operations);
    scopes_table_integer(out, (int64_t)thread->steps);
    scopes_table_integer(out, any ? thread->start_ns : SCOPES_BLANK);
    scopes_table_integer(out, any ? thread->end_ns : SCOPES_BLANK);
    scopes_table_integer(out, thread->communicating_ns);
    scopes_table_integer(out, thread->computing_ns);
    scopes_table_integer(out, thread->scheduling_known ? thread->runnable_ns
                                                       : SCOPES_BLANK);
    scopes_table_integer(out, thread->scheduling_known ? thread->sleeping_ns
                                                       : SCOPES_BLANK);
    scopes_table_real(
        out, scopes__share(thread->communicating_ns, thread->computing_ns));
    scopes_table_integer(out, (int64_t)thread->lost);
    add_longest(out, view, thread);
    scopes_table_text(out, thread->steps_known ? "yes" : "no");
}

static void add_operation(scopes_table *out, const scopes_communication *view,
                          const scopes_operation *op)
{
    scopes_table_integer(out, op->thread);
    scopes_table_text(out, view->threads[op->thread].name);
    scopes_table_text(out, view->paths[op->path].name);
    scopes_table_text(out, view->paths[op->path].element);
    scopes_table_integer(out, op->step);
    scopes_table_integer(out, op->sequence);
    scopes_table_text(out, pastset_verb_name(op->verb));
    scopes_table_integer(out, op->bytes);
    scopes_table_text(out, op->status ? pastset_status_name(-op->status) : "");
    scopes_table_integer(out, op->start_ns);
    scopes_table_integer(out, op->end_ns);
    scopes_table_integer(out, op->end_ns - op->start_ns);
}

static int add_operations(scopes_table *out,
                          const scopes_view_input *view_input,
                          const scopes_communication *view)
{
    bool *asked = calloc(view->path_count + 1, sizeof(*asked));

    if (!asked)
        return pastset_no_memory("for the view");
    for (size_t i = 0; i < view->path_count; i++)
        asked[i] = scopes__has_thread(view_input, view->paths[i].thread) &&
                   scopes__way_is_of(view_input, view->paths[i].edge);
    for (size_t i = 0; i < view->operation_count; i++) {
        if (asked[view->operations[i].path])
            add_operation(out, view, &view->operations[i]);
    }
    free(asked);
    return 0;
}

static int make(scopes_table *out, const scopes_view_input *view_input)
{
    scopes_communication *view;
    int err = scopes_communication_create(
        &view, view_input->topology, view_input->event_table,
        view_input->clocks, view_input->scheduling,
        view_input->each ? SCOPES_OPERATIONS : SCOPES_THREADS);

    if (err)
        return err;
    if (view_input->each) {
        err = add_operations(out, view_input, view);
    } else {
        for (uint32_t i = 0; i < view->thread_count; i++)
            if (scopes__thread_is_of(view_input, i))
                add_thread(out, view_input, view, i);
    }
    scopes_communication_destroy(view);
    return err;
}

const scopes_view scopes__view_communication = {
    "communication",
    "when each thread communicated, and when it computed",
    "an operation of a thread",
    SCOPES__COLUMNS(columns),
    SCOPES__COLUMNS(each_columns),
    .turn = 1,
    .make = make};
