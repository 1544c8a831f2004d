/* traces.c - see traces.h and traces_internal.h. */
#include "measure/traces/traces_ranks_internal.h"

#include <stdlib.h>

#include "pastset/status.h"

/* --- into a profile --- */

static int make_steps(traces *t, int64_t wall_ns)
{
    int err;

    if (!t->has_paths)
        return measure__ranks_all(t, wall_ns);
    err = measure__traces_serve_prepare(t);
    if (!err)
        err = measure__traces_threads_all(t, wall_ns);
    if (!err)
        measure__traces_serve_all(t);
    return err ? err : t->err;
}

int measure_traces_add(predict_profile *profile, eventspace_run *run,
                       int64_t start_ns, const measure_known_times *times,
                       uint64_t *lost)
{
    traces t = {.times = times ? *times : (measure_known_times){0}};
    int err;

    *lost = 0;
    if (profile->message_count || profile->actor_count)
        return pastset_fail(PASTSET_EINVAL,
                            "the profile has messages already, and traces "
                            "would add the same ones again");
    err = measure__traces_open(&t, run, start_ns);
    if (err)
        goto done;
    *lost = t.snapshot->event_table->ledger.lost;
    err = measure__traces_nodes(&t, profile);
    if (err)
        goto done;
    err = make_steps(&t, profile->wall_ns);
    if (err)
        goto done;
    for (uint32_t i = 0; i < t.topology->map->process_count; i++)
        if (t.processes[i].known && t.processes[i].node != PREDICT_NONE)
            profile->nodes[t.processes[i].node].waiting =
                t.processes[i].waiting;
    err = measure__traces_write(&t, profile);
done:
    measure__traces_close(&t);
    return err;
}

/* --- messages for themselves --- */

static int by_time(const void *a, const void *b)
{
    const measure_hop_message *x = a, *y = b;

    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    return x->reply - y->reply;
}

static void note(const traces *t, uint32_t id, uint32_t e,
                 measure_hop_message *out)
{
    const traces_stream *l = &t->streams[id];
    uint32_t far = t->streams[l->lower].process, below = l->below[e];

    out[0] = out[1] = (measure_hop_message){
        .thread = scopes_event_at(l->events, e)->thread,
        .sequence = scopes_event_at(l->events, e)->sequence};
    out[0].at_ns = measure__traces_start(t, id, e);
    out[0].bytes = measure__traces_request_bytes(t, id, e);
    out[0].from = out[1].to = l->process;
    out[0].to = out[1].from = far;
    out[1].at_ns = measure__traces_end(t, l->lower, below);
    out[1].bytes = measure__traces_reply_bytes(t, id, e);
    out[1].reply = 1;
}

/* Writes them to `out`; NULL: only counts. */
static size_t note_all(const traces *t, measure_hop_message *out)
{
    size_t count = 0;

    for (uint32_t id = 0; id < t->topology->collectors; id++) {
        const traces_stream *l = &t->streams[id];
        if (l->kind != TRACES_REMOTE)
            continue;
        for (uint32_t e = 0; e < l->count; e++) {
            if (l->below[e] == TRACES_NONE)
                continue;
            if (out)
                note(t, id, e, &out[count]);
            count += 2;
        }
    }
    return count;
}

int measure_traces_messages(measure_hop_message **out, size_t *count,
                            eventspace_run *run)
{
    traces t = {0};
    int err = measure__traces_open(&t, run, 0);

    *out = NULL;
    *count = 0;
    if (!err) {
        *count = note_all(&t, NULL);
        *out = malloc((*count + 1) * sizeof(**out));
        if (!*out)
            err = measure__traces_no_memory();
    }
    if (!err) {
        note_all(&t, *out);
        qsort(*out, *count, sizeof(**out), by_time);
    }
    measure__traces_close(&t);
    return err;
}
