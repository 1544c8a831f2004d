/* top_back.c - how long has a thread been silent that did nothing in the first
 * window?
 *
 * Its last operation is looked for further and further back, eight times as
 * far each time, in the tuples of its own collectors only: mostly it is near,
 * and a long run need not be read as a whole. Where there are too many tuples
 * it is given up, and not told. */
#include "viewer/live/top_internal.h"

#include "pastset/status.h"

#include <stdlib.h>

#define FURTHER 8
#define MAX_TUPLES 20000000

static int take_last(const scopes_batch *batch, void *context)
{
    viewer_top *top = context;

    for (size_t i = 0; i < batch->count; i++) {
        const eventspace_trace *event = &batch->events[i];
        top_thread *thread;
        if (event->thread >= top->thread_count ||
            event->collector >= top->collectors ||
            !top->is_top[event->collector])
            continue;
        thread = &top->threads[event->thread];
        if (thread->process != batch->process ||
            event->end < thread->last_end ||
            event->end > top->processes[batch->process].now)
            continue;
        thread->last_end = event->end;
        thread->last = event->collector;
        if (event->sequence > thread->sequence)
            thread->sequence = event->sequence;
    }
    top->tuples += batch->count;
    return 0;
}

/* The collectors of threads of this process of which nothing is known; false
 * when there are none. */
static bool find_silent(const viewer_top *top, uint32_t process,
                        bool *collectors)
{
    bool any = false;

    for (uint32_t i = 0; i < top->collectors; i++)
        collectors[i] = false;
    for (uint32_t i = 0; i < top->topology->top_count; i++) {
        const scopes_top *t = &top->topology->tops[i];
        const top_thread *thread = &top->threads[t->thread];
        if (thread->process != process || thread->sequence ||
            t->collector >= top->collectors)
            continue;
        collectors[t->collector] = true;
        any = true;
    }
    return any;
}

static int look_back(viewer_top *top, uint32_t process, uint64_t *from,
                     bool *collectors)
{
    const top_process *h = &top->processes[process];
    scopes_filter filter = {.from_ticks = from,
                            .collectors = collectors,
                            .collector_count = top->collectors};
    double back = (double)top->options.window_ns / 1e9 * h->hz;
    uint64_t before = top->tuples;
    int err = 0;

    from[process] = UINT64_MAX;
    while (!err && from[process] > h->base &&
           top->tuples - before < MAX_TUPLES &&
           find_silent(top, process, collectors)) {
        back *= FURTHER;
        from[process] = h->base;
        if (back < (double)(h->now - h->base))
            from[process] = h->now - (uint64_t)back;
        err = scopes_source_each(top->source, process, &filter, take_last, top,
                                 NULL);
    }
    return err;
}

int viewer__top_look_back(viewer_top *top)
{
    uint64_t *from = calloc(top->process_count + 1, sizeof(*from));
    bool *collectors = calloc(top->collectors + 1, sizeof(*collectors));
    int err = from && collectors ? 0 : pastset_no_memory("to look back");

    for (uint32_t i = 0; i < top->process_count && !err; i++) {
        if (top->processes[i].known &&
            top->processes[i].now > top->processes[i].base)
            err = look_back(top, i, from, collectors);
    }
    free(from);
    free(collectors);
    return err;
}
