/* traces_loops.c - what a process's network loop computed, divided among the
 * requests that it served.
 *
 * The kernel tells when a loop had a processor, the collectors when it passed a
 * request on (its start) and when that was done (its end). What it computed
 * before a start, since the moment before that or since the request was sent,
 * was for receiving that request; what it computed after an end, until the next
 * request was sent, for its reply. Where the next request was there already
 * both get half. So a long message costs what it cost, not the mean. */
#include "measure/traces/traces_internal.h"

#include <stdlib.h>

typedef struct moment {
    int64_t at_ns;
    int64_t other_ns; /* of a start: the request was sent; of an end: its reply
                         had come */
    size_t message;   /* the request; the reply */
    uint32_t process;
    bool start;
} moment;

static int by_process_and_time(const void *a, const void *b)
{
    const moment *x = a, *y = b;

    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    return (x->message > y->message) - (x->message < y->message);
}

/* Those of all requests; without `out` only counts them. */
static size_t note_moments(const traces *t, moment *out)
{
    size_t count = 0;

    for (uint32_t id = 0; id < t->topology->collectors; id++) {
        const traces_stream *l = &t->streams[id];
        for (uint32_t e = 0; l->kind == TRACES_REMOTE && e < l->count; e++) {
            uint32_t below = l->below[e], far = t->streams[l->lower].process;
            size_t request = l->messages + 2 * (size_t)e;
            if (below == TRACES_NONE)
                continue;
            if (out) {
                out[count] = (moment){measure__traces_start(t, l->lower, below),
                                      measure__traces_start(t, id, e), request,
                                      far, true};
                out[count + 1] = (moment){
                    measure__traces_end(t, l->lower, below),
                    measure__traces_end(t, id, e), request + 1, far, false};
            }
            count += 2;
        }
    }
    return count;
}

static void give(traces *t, size_t message, int64_t ns)
{
    t->messages[message].loop_ns += ns;
}

static int64_t loop_cpu(const traces *t, const moment *m, int64_t from_ns,
                        int64_t to_ns)
{
    return measure__traces_cpu(t, m->process, PATHS_NONE, from_ns, to_ns);
}

/* From a moment to the next one. */
static void divide(traces *t, const moment *from, const moment *to)
{
    int64_t sent_ns = to->other_ns, ns;

    if (from->start || !to->start) {
        ns = loop_cpu(t, from, from->at_ns, to->at_ns);
        give(t, to->start ? to->message : from->message, ns);
    } else if (sent_ns > from->at_ns && sent_ns < to->at_ns) {
        give(t, from->message, loop_cpu(t, from, from->at_ns, sent_ns));
        give(t, to->message, loop_cpu(t, from, sent_ns, to->at_ns));
    } else {
        ns = loop_cpu(t, from, from->at_ns, to->at_ns);
        give(t, from->message, ns / 2);
        give(t, to->message, ns - ns / 2);
    }
}

int measure__traces_loops(traces *t)
{
    size_t count = t->times.cpu ? note_moments(t, NULL) : 0;
    moment *moments = malloc((count + 1) * sizeof(*moments));

    if (!moments)
        return measure__traces_no_memory();
    if (count)
        note_moments(t, moments);
    qsort(moments, count, sizeof(*moments), by_process_and_time);
    for (size_t i = 0; i < count; i++) {
        const moment *m = &moments[i];
        if (i == 0 || m[-1].process != m->process)
            give(t, m->message, loop_cpu(t, m, m->other_ns, m->at_ns));
        if (i + 1 < count && m[1].process == m->process)
            divide(t, m, m + 1);
        else
            give(t, m->message, loop_cpu(t, m, m->at_ns, m->other_ns));
    }
    free(moments);
    return 0;
}
