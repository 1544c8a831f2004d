/* top_slices.c - tuples into slices of time; see top_internal.h.
 *
 * A stream is in the order of its ends, and the source is asked again for some
 * of what was there before: a tuple may become visible a little after its end,
 * and from an archive up to a second later. What was taken in already is known
 * by its end: how many of the last end there were is kept with each stream. */
#include "viewer/live/top_internal.h"

#include "pastset/status.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

typedef struct stream {
    size_t process;
    const char *name;
    uint64_t last_end;
    uint32_t ties;  /* tuples taken with this end */
    uint32_t again; /* of these, to come again in this pull */
    uint64_t pull;
    char text[];
} stream;

static int compare_streams(const void *left, const void *right)
{
    const stream *a = left, *b = right;

    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return strcmp(a->name, b->name);
}

static stream *stream_of(viewer_top *top, const scopes_batch *batch)
{
    stream filter = {.process = batch->process, .name = batch->stream};
    stream **found = tfind(&filter, &top->streams, compare_streams);
    size_t bytes = strlen(batch->stream) + 1;
    stream *made;

    if (found)
        return *found;
    made = calloc(1, sizeof(*made) + bytes);
    if (!made)
        return NULL;
    made->process = batch->process;
    memcpy(made->text, batch->stream, bytes);
    made->name = made->text;
    if (tsearch(made, &top->streams, compare_streams))
        return made;
    free(made);
    return NULL;
}

void viewer__top_streams_fini(viewer_top *top)
{
    tdestroy(top->streams, free);
    top->streams = NULL;
}

typedef struct behind {
    size_t process;
    uint64_t after, min;
} behind;

static void find_behind(const void *node, VISIT visit, void *context)
{
    const stream *l = *(stream *const *)node;
    behind *b = context;

    if ((visit == postorder || visit == leaf) && l->process == b->process &&
        l->last_end > b->after && l->last_end < b->min)
        b->min = l->last_end;
}

uint64_t viewer__top_behind(const viewer_top *top, uint32_t process,
                            uint64_t after)
{
    behind b = {.process = process, .after = after, .min = UINT64_MAX};

    twalk_r(top->streams, find_behind, &b);
    return b.min;
}

/* Was it taken in before? */
static bool is_old(stream *l, uint64_t end)
{
    if (end > l->last_end)
        return false;
    if (end < l->last_end)
        return true;
    if (l->again == 0)
        return false;
    l->again--;
    return true;
}

/* --- slices --- */

static void empty_slice(viewer_top *top, uint32_t process, uint32_t place)
{
    top_cell *cells = &top->cells[(size_t)place * top->thread_count];
    uint32_t *arrivals =
        &top->arrivals[(size_t)place * top->root_count * top->thread_count];

    for (uint32_t i = 0; i < top->thread_count; i++)
        if (top->threads[i].process == process)
            cells[i] = (top_cell){0};
    for (uint32_t i = 0; i < top->root_count; i++)
        if (top->topology->sites[top->roots[i]].process == process)
            memset(&arrivals[(size_t)i * top->thread_count], 0,
                   top->thread_count * sizeof(*arrivals));
    memset(&top->processes[process].slices[place], 0,
           sizeof(top->processes[process].slices[place]));
}

uint32_t viewer__top_slice(viewer_top *top, uint32_t process, uint64_t ticks)
{
    top_process *h = &top->processes[process];
    uint64_t number, from;
    uint32_t place;

    if (ticks >= h->slice_from && ticks < h->slice_to)
        return h->slice_place;
    from = ticks > h->base ? ticks - h->base : 0;
    number = from / h->slice_ticks;
    place = (uint32_t)(number % TOP_SLICES);
    if (h->slices[place].number > number + 1)
        return PATHS_NONE;
    if (h->slices[place].number != number + 1) {
        empty_slice(top, process, place);
        h->slices[place].number = number + 1;
    }
    h->slice_from = h->base + number * h->slice_ticks;
    h->slice_to = h->slice_from + h->slice_ticks;
    h->slice_place = place;
    return place;
}

uint64_t viewer__top_window(const viewer_top *top, uint32_t process,
                            double *seconds)
{
    const top_process *h = &top->processes[process];
    uint64_t lasted, window, number;

    *seconds = 0;
    if (!h->known || h->now <= h->base)
        return 0;
    lasted = h->now - h->base;
    window = (uint64_t)((double)top->options.window_ns / 1e9 * h->hz);
    number = lasted > window ? (lasted - window) / h->slice_ticks : 0;
    *seconds = (double)(lasted - number * h->slice_ticks) / h->hz;
    return number;
}

/* --- tuples --- */

/* The time from start to end, to each slice its part. */
static void spread(viewer_top *top, uint32_t process,
                   const eventspace_trace *event)
{
    const top_process *h = &top->processes[process];
    uint64_t kept = (TOP_SLICES - 1) * h->slice_ticks;
    uint64_t from = event->start, to = event->end;

    if (from < h->base)
        from = h->base;
    if (to > kept && from < to - kept)
        from = to - kept;
    while (from < to) {
        uint32_t place = viewer__top_slice(top, process, from);
        uint64_t end =
            h->base + ((from - h->base) / h->slice_ticks + 1) * h->slice_ticks;
        if (end > to)
            end = to;
        if (place != PATHS_NONE)
            top->cells[(size_t)place * top->thread_count + event->thread]
                .ticks += end - from;
        from = end;
    }
}

static void take_operation(viewer_top *top, uint32_t process, uint32_t place,
                           const eventspace_trace *event)
{
    const top_process *h = &top->processes[process];
    top_cell *cell =
        &top->cells[(size_t)place * top->thread_count + event->thread];
    top_thread *thread = &top->threads[event->thread];
    uint64_t ticks = event->end > event->start ? event->end - event->start : 0;

    cell->operations++;
    cell->bytes += event->bytes;
    if (ticks > cell->longest_ticks) {
        cell->longest_ticks = ticks;
        cell->longest = event->collector;
    }
    if (event->start >= h->slice_from)
        cell->ticks += ticks;
    else
        spread(top, process, event);
    if (event->end >= thread->last_end) {
        thread->last_end = event->end;
        thread->last = event->collector;
    }
    if (event->sequence > thread->sequence)
        thread->sequence = event->sequence;
}

/* Of a thread that the model has, and of a collector, or what a process has
 * defined: a region or a mark. */
static bool is_known(const viewer_top *top, const eventspace_trace *event)
{
    return event->thread < top->thread_count &&
           top->threads[event->thread].process != PATHS_NONE &&
           (event->collector < top->collectors ||
            eventspace_run_definition_of(top->run, event->collector));
}

/* Was it added to the map since the model was made? Then the next one has it,
 * and takes all tuples again. */
static bool is_later(const viewer_top *top, const eventspace_trace *event)
{
    return eventspace_run_map(top->run) != top->map &&
           (eventspace_run_collector(top->run, event->collector) !=
                PATHS_NONE ||
            eventspace_run_definition_of(top->run, event->collector));
}

static void take_event(viewer_top *top, uint32_t process,
                       const eventspace_trace *event)
{
    top_process *h = &top->processes[process];
    uint32_t root, place;

    if (event->end > h->last_end)
        h->last_end = event->end;
    if (viewer__top_is_operation(top, process, event))
        viewer__history_add(top, process, event);
    place = viewer__top_slice(top, process, event->end);
    if (place == PATHS_NONE)
        return;
    h->slices[place].events++;
    if (event->collector >= top->collectors)
        return; /* a region or a mark */
    root = top->root_of[event->collector];
    if (root != PATHS_NONE)
        top->arrivals[((size_t)place * top->root_count + root) *
                          top->thread_count +
                      event->thread]++;
    if (viewer__top_is_operation(top, process, event))
        take_operation(top, process, place, event);
}

/* Ticks from a damaged file would move the window out of sight. */
static uint64_t latest(const viewer_top *top, const top_process *h)
{
    if (top->options.mirror || h->now == 0)
        return UINT64_MAX;
    return h->now + (uint64_t)(h->hz * 10);
}

int viewer__top_take(viewer_top *top, const scopes_batch *batch)
{
    const top_process *h = &top->processes[batch->process];
    stream *l = stream_of(top, batch);
    uint64_t max = latest(top, h);
    bool has_looked = false;
    int err;

    if (!l)
        return pastset_no_memory("for a stream");
    if (l->pull != top->pulls) {
        l->pull = top->pulls;
        l->again = l->ties;
    }
    for (size_t i = 0; i < batch->count; i++) {
        const eventspace_trace *event = &batch->events[i];
        if (!is_known(top, event) && !has_looked) {
            has_looked = true; /* it may have been defined just now */
            err = eventspace_run_define(top->run);
            if (err)
                return err;
        }
        if (is_old(l, event->end))
            continue;
        if (event->end > max) {
            top->strange++;
            continue;
        }
        l->ties = event->end == l->last_end ? l->ties + 1 : 1;
        l->last_end = event->end;
        if (is_known(top, event))
            take_event(top, (uint32_t)batch->process, event);
        else
            top->strange += !is_later(top, event);
    }
    top->tuples += batch->count;
    return 0;
}
