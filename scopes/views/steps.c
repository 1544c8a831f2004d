/* steps.c - the view "steps": when each thread finished a step; over many steps
 * a wavefront can be seen in it (paper 004, section 5.1, figure 5).
 *
 * A row is a step (communication_times.h says what that is): how many threads
 * have operations in it, which of them finished its last operation of the step
 * first and which last, when that was, and how far apart; and operations and
 * times, summed over the threads.
 *
 * With `each`, a row is a thread's part of a step, by step and then by thread.
 * `after_first_ns` is how long after the first of all threads it finished the
 * step. With `of`, threads that have a way through that element or wrapper.
 *
 * The rows of a thread's steps are in order, so all threads' are merged. */
#include "scopes/causality/communication_times.h"
#include "scopes/views/view_internal.h"

#include <stdlib.h>

#include "pastset/status.h"

static const scopes_column columns[] = {
    {"step", "step", SCOPES_NUMBER},
    {"threads", "threads", SCOPES_COUNT},
    {"first_thread", "first", SCOPES_TEXT},
    {"last_thread", "last", SCOPES_TEXT},
    {"first_end_ns", "first end ms", SCOPES_TIME_NS},
    {"last_end_ns", "last end ms", SCOPES_TIME_NS},
    {"spread_ns", "spread ms", SCOPES_TIME_NS},
    {"operations", "operations", SCOPES_COUNT},
    {"communicating_ns", "communicating ms", SCOPES_TIME_NS},
    {"computing_ns", "computing ms", SCOPES_TIME_NS},
};

static const scopes_column each_columns[] = {
    {"number", "no.", SCOPES_NUMBER},
    {"thread", "thread", SCOPES_TEXT},
    {"process", "process", SCOPES_TEXT},
    {"step", "step", SCOPES_NUMBER},
    {"operations", "operations", SCOPES_COUNT},
    {"start_ns", "start ms", SCOPES_TIME_NS},
    {"end_ns", "end ms", SCOPES_TIME_NS},
    {"communicating_ns", "communicating ms", SCOPES_TIME_NS},
    {"computing_ns", "computing ms", SCOPES_TIME_NS},
    {"after_first_ns", "after first ms", SCOPES_TIME_NS},
};

/* The threads' parts of one step, by thread. */
typedef struct parts {
    const scopes_step **steps;
    size_t count;
} parts;

/* The threads that have steps left. Mostly all of them are at the same step,
 * so the least of their numbers is looked for among all. */
typedef struct turns {
    const scopes_step **at, **end; /* its next step; behind its last one */
    uint32_t *numbers;             /* of the next steps */
    uint32_t count;
} turns;

static bool is_asked(const scopes_view_input *view_input,
                     const scopes_step *step)
{
    return scopes__has_thread(view_input, step->thread);
}

static void add_parts(scopes_table *out, const scopes_view_input *view_input,
                      const scopes_communication *view, const parts *p)
{
    int64_t first_ns = INT64_MAX;

    for (size_t i = 0; i < p->count; i++)
        if (p->steps[i]->end_ns < first_ns)
            first_ns = p->steps[i]->end_ns;
    for (size_t i = 0; i < p->count; i++) {
        const scopes_step *step = p->steps[i];
        const scopes_thread *thread = &view->threads[step->thread];
        if (!is_asked(view_input, step))
            continue;
        scopes_table_integer(out, step->thread);
        scopes_table_text(out, thread->name);
        scopes_table_text(out, scopes_topology_process_name(
                                   view_input->topology, thread->process));
        scopes_table_integer(out, step->step);
        scopes_table_integer(out, step->operations);
        scopes_table_integer(out, step->start_ns);
        scopes_table_integer(out, step->end_ns);
        scopes_table_integer(out, step->communicating_ns);
        scopes_table_integer(out, step->computing_ns);
        scopes_table_integer(out, step->end_ns - first_ns);
    }
}

static void add_step(scopes_table *out, const scopes_view_input *view_input,
                     const scopes_communication *view, const parts *p)
{
    const scopes_step *first = NULL, *last = NULL;
    int64_t threads = 0, operations = 0, communicating_ns = 0, computing_ns = 0;

    for (size_t i = 0; i < p->count; i++) {
        const scopes_step *step = p->steps[i];
        if (!is_asked(view_input, step))
            continue;
        first = !first || step->end_ns < first->end_ns ? step : first;
        last = !last || step->end_ns > last->end_ns ? step : last;
        threads++;
        operations += step->operations;
        communicating_ns =
            scopes__sum_ns(communicating_ns, step->communicating_ns);
        computing_ns = scopes__sum_ns(computing_ns, step->computing_ns);
    }
    if (!first)
        return;
    scopes_table_integer(out, first->step);
    scopes_table_integer(out, threads);
    scopes_table_text(out, view->threads[first->thread].name);
    scopes_table_text(out, view->threads[last->thread].name);
    scopes_table_integer(out, first->end_ns);
    scopes_table_integer(out, last->end_ns);
    scopes_table_integer(out, last->end_ns - first->end_ns);
    scopes_table_integer(out, operations);
    scopes_table_integer(out, communicating_ns);
    scopes_table_integer(out, computing_ns);
}

/* Begins with all threads that have steps and a way of those asked for. */
static void begin(turns *t, const scopes_view_input *view_input,
                  const scopes_communication *view)
{
    scopes_view_input all = *view_input;

    all.threads = NULL;
    for (uint32_t i = 0; i < view->thread_count; i++) {
        const scopes_thread *thread = &view->threads[i];
        if (thread->steps == 0 || !scopes__thread_is_of(&all, i))
            continue;
        t->at[t->count] = &view->steps[thread->step];
        t->end[t->count] = t->at[t->count] + thread->steps;
        t->numbers[t->count] = t->at[t->count]->step;
        t->count++;
    }
}

/* Takes the parts of the least step. */
static void take_step(turns *t, parts *p)
{
    uint32_t min = UINT32_MAX, left = 0;

    for (uint32_t i = 0; i < t->count; i++)
        min = t->numbers[i] < min ? t->numbers[i] : min;
    p->count = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        const scopes_step *at = t->at[i];
        if (t->numbers[i] == min)
            p->steps[p->count++] = at++;
        if (at == t->end[i])
            continue;
        t->at[left] = at;
        t->end[left] = t->end[i];
        t->numbers[left++] = at->step;
    }
    t->count = left;
}

static int turns_make(turns *t, parts *p, const scopes_communication *view)
{
    size_t count = (size_t)view->thread_count + 1;

    t->at = calloc(count, sizeof(*t->at));
    t->end = calloc(count, sizeof(*t->end));
    t->numbers = calloc(count, sizeof(*t->numbers));
    p->steps = calloc(count, sizeof(*p->steps));
    if (t->at && t->end && t->numbers && p->steps)
        return 0;
    return pastset_no_memory("for the view");
}

static int add_steps(scopes_table *out, const scopes_view_input *view_input,
                     const scopes_communication *view)
{
    turns t = {0};
    parts p = {0};
    int err = turns_make(&t, &p, view);

    if (!err)
        begin(&t, view_input, view);
    while (!err && t.count > 0) {
        take_step(&t, &p);
        if (view_input->each)
            add_parts(out, view_input, view, &p);
        else
            add_step(out, view_input, view, &p);
    }
    free(t.at);
    free(t.end);
    free(t.numbers);
    free(p.steps);
    return err;
}

static int make(scopes_table *out, const scopes_view_input *view_input)
{
    scopes_communication *view;
    int err = scopes_communication_create(
        &view, view_input->topology, view_input->event_table,
        view_input->clocks, view_input->scheduling, SCOPES_STEPS);

    if (!err)
        err = add_steps(out, view_input, view);
    scopes_communication_destroy(view);
    return err;
}

const scopes_view scopes__view_steps = {"steps",
                                        "when the threads finished each step",
                                        "a thread's part of a step",
                                        SCOPES__COLUMNS(columns),
                                        SCOPES__COLUMNS(each_columns),
                                        .turn = 1,
                                        .make = make};
