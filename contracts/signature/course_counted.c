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

static void add_all(const counting *k, const scopes_series *series)
{
    const scopes_snapshot *snapshot = k->m->snapshot;

    for (size_t i = 0; i < series->count; i++) {
        const eventspace_trace *event = scopes_event_at(series->events, i);
        int64_t from_ns, to_ns;
        if (event->thread >= snapshot->topology->thread_count)
            continue;
        from_ns = scopes_clocks_ns(snapshot->clocks, k->process, event->start);
        to_ns = scopes_clocks_ns(snapshot->clocks, k->process, event->end);
        add(k, from_ns, to_ns, (double)eventspace_trace_counted(event));
        if (to_ns > k->until_ns[event->thread])
            k->until_ns[event->thread] = to_ns;
    }
}

/* What a thread has counted since its last event is not known. */
static void forget_unknown(const counting *k)
{
    const contracts_course *c = k->m->c;
    int64_t known_ns = INT64_MAX;

    for (uint32_t i = 0; i < k->m->snapshot->topology->thread_count; i++)
        if (k->until_ns[i] != INT64_MIN && k->until_ns[i] < known_ns)
            known_ns = k->until_ns[i];
    for (size_t i = contracts__interval_of(c, known_ns); i < c->intervals; i++)
        *at(k, i) = (double)NAN;
}

static int count_series(const contracts__making *m, size_t quantity,
                        const scopes_series *series)
{
    uint32_t threads = m->snapshot->topology->thread_count;
    counting k = {m, series->process, quantity, NULL};

    if (k.process >= m->c->processes)
        return 0;
    k.until_ns = malloc((threads + 1u) * sizeof(*k.until_ns));
    if (!k.until_ns)
        return pastset_no_memory("for what a program counts");
    for (uint32_t i = 0; i < threads; i++)
        k.until_ns[i] = INT64_MIN;
    for (size_t i = 0; i < m->c->intervals; i++)
        *at(&k, i) = 0;
    add_all(&k, series);
    forget_unknown(&k);
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
