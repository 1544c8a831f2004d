/* course_counted.c - what programs count themselves (eventspace/metric.h): in
 * an interval as much of each event as of its time lies there. */
#include "contracts/signature/course_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"

typedef struct counting {
    const contracts__making *m;
    uint32_t process;
    size_t quantity;
    bool is_partial;   /* events of the process may be missing */
    int64_t *until_ns; /* by thread: when its last event ends; INT64_MIN: it has
                          none */
} counting;

static double *at(const counting *k, size_t interval)
{
    return &contracts_course_at(k->m->c, k->process, interval)[k->quantity];
}

static void add(const counting *k, int64_t from_ns, int64_t to_ns, double count)
{
    const contracts_course *c = k->m->c;
    double all_ns = (double)(to_ns - from_ns);

    from_ns = from_ns < c->from_ns ? c->from_ns : from_ns;
    while (from_ns < to_ns) {
        size_t interval = contracts__interval_of(c, from_ns);
        int64_t end_ns = c->from_ns + (int64_t)(interval + 1) * c->interval_ns;
        if (interval >= c->intervals)
            return;
        end_ns = end_ns < to_ns ? end_ns : to_ns;
        *at(k, interval) += count * (double)(end_ns - from_ns) / all_ns;
        from_ns = end_ns;
    }
}

/* It is not known what was counted then. */
static void forget(const counting *k, int64_t from_ns, int64_t to_ns)
{
    const contracts_course *c = k->m->c;

    for (size_t i = contracts__interval_of(c, from_ns);
         i < c->intervals && c->from_ns + (int64_t)i * c->interval_ns < to_ns &&
         from_ns < to_ns;
         i++)
        *at(k, i) = (double)NAN;
}

/* A thread's events follow each other without a gap, unless some were lost. */
static void add_all(const counting *k, const scopes_series *series)
{
    const scopes_snapshot *snapshot = k->m->snapshot;

    for (size_t i = 0; i < series->count; i++) {
        const eventspace_trace *event = scopes_event_at(series->events, i);
        int64_t from_ns, to_ns, *until_ns;
        if (event->thread >= snapshot->topology->thread_count)
            continue;
        until_ns = &k->until_ns[event->thread];
        from_ns = scopes_clocks_ns(snapshot->clocks, k->process, event->start);
        to_ns = scopes_clocks_ns(snapshot->clocks, k->process, event->end);
        if (*until_ns != INT64_MIN)
            forget(k, *until_ns, from_ns);
        else if (k->is_partial)
            forget(k, k->m->c->from_ns, from_ns);
        add(k, from_ns, to_ns, (double)eventspace_trace_counted(event));
        if (to_ns > *until_ns)
            *until_ns = to_ns;
    }
}

/* Has the thread written all events that it will? Its last is there then. */
static bool is_over(const counting *k, uint32_t thread)
{
    const scopes_snapshot *snapshot = k->m->snapshot;
    const scopes_scheduling *known = snapshot->scheduling;
    const eventspace_run_process *process =
        eventspace_run_process_at(snapshot->run, k->process);

    return (process->has_meta && process->meta.state == EVENTSPACE_FINISHED) ||
           (known && thread < known->thread_count &&
            known->threads[thread].has_ended);
}

/* What a thread has counted since its last event is not known. */
static void forget_rest(const counting *k)
{
    bool has_lost = k->m->snapshot->event_table->ledgers[k->process].lost > 0;

    for (uint32_t i = 0; i < k->m->snapshot->topology->thread_count; i++)
        if (k->until_ns[i] != INT64_MIN && (has_lost || !is_over(k, i)))
            forget(k, k->until_ns[i], INT64_MAX);
}

static int count_series(const contracts__making *m, size_t quantity,
                        const scopes_series *series)
{
    const scopes_snapshot *snapshot = m->snapshot;
    uint32_t threads = snapshot->topology->thread_count;
    counting k = {m, series->process, quantity, false, NULL};

    if (k.process >= m->c->processes)
        return 0;
    k.is_partial = snapshot->options.from_ns != INT64_MIN ||
                   snapshot->event_table->ledgers[k.process].lost > 0;
    k.until_ns = malloc((threads + 1u) * sizeof(*k.until_ns));
    if (!k.until_ns)
        return pastset_no_memory("for what a program counts");
    for (uint32_t i = 0; i < threads; i++)
        k.until_ns[i] = INT64_MIN;
    for (size_t i = 0; i < m->c->intervals; i++)
        *at(&k, i) = 0;
    add_all(&k, series);
    forget_rest(&k);
    free(k.until_ns);
    return 0;
}

/* The number of the quantity; `count`: there is none of that name. */
static size_t find(const char *const *names, size_t count, const char *name)
{
    size_t i = 0;

    while (i < count && strcmp(names[i], name) != 0)
        i++;
    return i;
}

int contracts__counted_add(const contracts__making *m, const char *const *names,
                           size_t count)
{
    const scopes_event_table *events = m->snapshot->event_table;
    const eventspace_run *run = m->snapshot->run;
    int err = 0;

    for (uint32_t p = 0; p < m->c->processes; p++)
        for (size_t i = 0; i < m->c->intervals; i++)
            for (size_t k = CONTRACTS_QUANTITIES; k < m->c->width; k++)
                contracts_course_at(m->c, p, i)[k] = (double)NAN;
    for (uint32_t id = 0; id < events->collectors && count && !err; id++) {
        const scopes_series *series = scopes_event_series(events, id);
        const eventspace_run_definition *found =
            series->count && run ? eventspace_run_definition_of(run, id) : NULL;
        size_t k;
        if (!found || found->kind != EVENTSPACE_DEFINES_METRIC)
            continue;
        k = find(names, count, found->name);
        if (k < count)
            err = count_series(m, CONTRACTS_QUANTITIES + k, series);
    }
    return err;
}
