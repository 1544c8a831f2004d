/* counts.c - see counts.h. Runs with archives may hold more than fits into
 * memory, so events are counted batch by batch. */
#include "viewer/tables/counts.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "scopes/reading/source.h"

/* By collector: the thread whose path begins with it; several may. */
enum { NOBODY = UINT32_MAX, SEVERAL = UINT32_MAX - 1 };

typedef struct counting {
    viewer_counts *counts;
    uint32_t *tops;
} counting;

static bool begins_path(const counting *c, uint32_t collector, uint32_t thread)
{
    const scopes_topology *topology = c->counts->topology;

    if (c->tops[collector] != SEVERAL)
        return c->tops[collector] == thread;
    for (uint32_t i = 0; i < topology->top_count; i++) {
        if (topology->tops[i].collector == collector &&
            topology->tops[i].thread == thread)
            return true;
    }
    return false;
}

/* Ids that the map does not have are of no collector: a damaged file. */
static int count_batch(const scopes_batch *batch, void *context)
{
    counting *c = context;

    for (size_t i = 0; i < batch->count; i++) {
        const eventspace_trace *e = &batch->events[i];
        viewer_collector_counts *collector;
        viewer_thread_counts *thread;
        if (e->collector >= c->counts->topology->collectors)
            continue;
        collector = &c->counts->collectors[e->collector];
        collector->events++;
        collector->bytes += e->bytes;
        collector->failed += e->status != 0;
        if (e->thread >= c->counts->topology->thread_count ||
            !begins_path(c, e->collector, e->thread))
            continue;
        thread = &c->counts->threads[e->thread];
        thread->operations++;
        if (e->sequence > thread->last_sequence)
            thread->last_sequence = e->sequence;
    }
    return 0;
}

static void tops_find(counting *c)
{
    const scopes_topology *topology = c->counts->topology;

    for (uint32_t i = 0; i < topology->collectors; i++)
        c->tops[i] = NOBODY;
    for (uint32_t i = 0; i < topology->top_count; i++) {
        const scopes_top *top = &topology->tops[i];
        if (top->collector == PATHS_NONE)
            c->counts->threads[top->thread].all_collected = false;
        else if (c->tops[top->collector] == NOBODY)
            c->tops[top->collector] = top->thread;
        else if (c->tops[top->collector] != top->thread)
            c->tops[top->collector] = SEVERAL;
    }
}

static int walk(counting *c, eventspace_run *run)
{
    scopes_filter filter = {.collectors = NULL};
    scopes_source *source;
    int err = scopes_source_open(&source, run);

    if (err)
        return err;
    for (size_t i = 0; i < eventspace_run_process_count(run) && !err; i++)
        err = scopes_source_each(source, i, &filter, count_batch, c, NULL);
    scopes_source_close(source);
    return err;
}

int viewer_counts_take(viewer_counts *out, eventspace_run *run)
{
    counting c = {.counts = out};
    int err;

    memset(out, 0, sizeof(*out));
    err = scopes_topology_create(&out->topology, eventspace_run_map(run));
    if (err)
        return err;
    out->collectors =
        calloc((size_t)out->topology->collectors + 1, sizeof(*out->collectors));
    out->threads =
        calloc((size_t)out->topology->thread_count + 1, sizeof(*out->threads));
    c.tops = calloc((size_t)out->topology->collectors + 1, sizeof(*c.tops));
    if (!out->collectors || !out->threads || !c.tops) {
        err = pastset_no_memory("to count events");
        goto done;
    }
    for (uint32_t i = 0; i < out->topology->thread_count; i++)
        out->threads[i].all_collected = true;
    tops_find(&c);
    err = walk(&c, run);
    for (uint32_t i = 0; i < out->topology->thread_count; i++) {
        viewer_thread_counts *t = &out->threads[i];
        if (t->all_collected && t->last_sequence > t->operations)
            t->lost = t->last_sequence - t->operations;
    }
done:
    free(c.tops);
    return err;
}

void viewer_counts_fini(viewer_counts *counts)
{
    free(counts->collectors);
    free(counts->threads);
    scopes_topology_destroy(counts->topology);
    memset(counts, 0, sizeof(*counts));
}
