/* top_history.c - what each thread did since the run began, in so many bins
 * that one can see them: how long it was in operations.
 *
 * When the time of the run does not fit any more, bins become twice as long and
 * each is the sum of two. So each tuple is looked at once: when it comes, or,
 * if it was there before the first window, when viewer_top_catch_up comes to
 * it, which goes through the run from its begin in portions of a time that is
 * not noticed.
 *
 * Times are those of views where processes share a counter; else they are as
 * far apart as their wall clocks say. */
#include "viewer/live/top_internal.h"

#include "pastset/status.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BIN_SHIFT 20        /* a millisecond, nearly */
#define PORTION 2000000           /* tuples, about: some 50 ms */
#define MAX_NS 100000000000000000 /* three years */

int viewer__history_init(viewer_top *top)
{
    top_history *h = &top->history;

    if (!top->options.history)
        return 0;
    h->bin_shift = FIRST_BIN_SHIFT;
    h->first = PATHS_NONE;
    h->ns = calloc((size_t)top->thread_count * TOP_HISTORY_BINS + 1,
                   sizeof(*h->ns));
    h->begin_ns = calloc(top->process_count + 1, sizeof(*h->begin_ns));
    h->older = calloc(top->process_count + 1, sizeof(*h->older));
    return h->ns && h->begin_ns && h->older ? 0 : PASTSET_ENOMEM;
}

void viewer__history_fini(viewer_top *top)
{
    free(top->history.ns);
    free(top->history.begin_ns);
    free(top->history.older);
    top->history = (top_history){0};
}

/* --- when processes began --- */

static double ticks_between(const eventspace_meta *from,
                            const eventspace_meta *to)
{
    return to->start_tick >= from->start_tick
               ? (double)(to->start_tick - from->start_tick)
               : -(double)(from->start_tick - to->start_tick);
}

static int64_t begin_of(const eventspace_meta *first,
                        const eventspace_meta *meta)
{
    if (eventspace_meta_same_counter(first, meta))
        return (int64_t)(ticks_between(first, meta) / first->tick_hz * 1e9);
    return (int64_t)(meta->start_wall_ns - first->start_wall_ns);
}

static uint32_t find_first(const viewer_top *top)
{
    uint32_t first = PATHS_NONE;
    uint64_t first_ns = UINT64_MAX;

    for (uint32_t i = 0; i < top->process_count; i++) {
        const eventspace_run_process *process =
            eventspace_run_process_at(top->run, i);
        if (!top->processes[i].known || !process->has_meta ||
            process->meta.start_wall_ns >= first_ns)
            continue;
        first = i;
        first_ns = process->meta.start_wall_ns;
    }
    return first;
}

bool viewer__history_look(viewer_top *top)
{
    top_history *h = &top->history;
    uint32_t first;

    if (!h->ns)
        return true;
    first = find_first(top);
    if (first == PATHS_NONE)
        return true;
    if (h->first != PATHS_NONE && first != h->first)
        return false;
    h->first = first;
    for (uint32_t i = 0; i < top->process_count; i++) {
        const eventspace_run_process *process =
            eventspace_run_process_at(top->run, i);
        if (process->has_meta)
            h->begin_ns[i] =
                begin_of(&eventspace_run_process_at(top->run, first)->meta,
                         &process->meta);
    }
    return true;
}

/* --- tuples --- */

static void make_room(viewer_top *top)
{
    top_history *h = &top->history;

    for (uint32_t t = 0; t < top->thread_count; t++) {
        uint64_t *bins = &h->ns[(size_t)t * TOP_HISTORY_BINS];
        for (size_t i = 0; i < TOP_HISTORY_BINS / 2; i++)
            bins[i] = bins[2 * i] + bins[2 * i + 1];
        memset(&bins[TOP_HISTORY_BINS / 2], 0,
               TOP_HISTORY_BINS / 2 * sizeof(*bins));
    }
    h->bin_shift++;
}

/* From the first start; 0 for what is before it. */
static uint64_t ns_of(const viewer_top *top, uint32_t process, uint64_t ticks)
{
    const top_process *p = &top->processes[process];
    double ns = ticks >= p->base ? (double)(ticks - p->base)
                                 : -(double)(p->base - ticks);

    ns = ns * p->tick_ns + (double)top->history.begin_ns[process];
    if (ns > MAX_NS) /* a file that is damaged */
        return MAX_NS;
    return ns > 0 ? (uint64_t)ns : 0;
}

void viewer__history_add(viewer_top *top, uint32_t process,
                         const eventspace_trace *event)
{
    top_history *h = &top->history;
    uint64_t *bins, from, to;

    if (!h->ns || event->end <= event->start)
        return;
    from = ns_of(top, process, event->start);
    to = ns_of(top, process, event->end);
    while (to > (uint64_t)TOP_HISTORY_BINS << h->bin_shift)
        make_room(top);
    bins = &h->ns[(size_t)event->thread * TOP_HISTORY_BINS];
    while (from < to) {
        uint64_t bin = from >> h->bin_shift, end = (bin + 1) << h->bin_shift;
        if (end > to)
            end = to;
        bins[bin] += end - from;
        from = end;
    }
    if (to > h->end_ns)
        h->end_ns = to;
}

/* --- what was there before --- */

void viewer__history_skip(viewer_top *top, uint32_t process, uint64_t until)
{
    top_older *older;

    if (!top->history.ns)
        return;
    older = &top->history.older[process];
    older->at = 0;
    older->until = until;
}

static int take_older(const scopes_batch *batch, void *context)
{
    viewer_top *top = context;
    uint32_t process = (uint32_t)batch->process;
    uint64_t at = top->history.older[process].at;
    uint64_t to = top->history.older[process].to;

    for (size_t i = 0; i < batch->count; i++) {
        const eventspace_trace *event = &batch->events[i];
        if (event->end >= at && event->end < to &&
            viewer__top_is_operation(top, process, event))
            viewer__history_add(top, process, event);
    }
    top->tuples += batch->count;
    return 0;
}

/* As many portions as all have in common, so that the picture fills by time. */
static uint64_t portions_of(const viewer_top *top)
{
    uint64_t tuples = 0;

    for (uint32_t i = 0; i < top->process_count; i++)
        tuples += top->processes[i].recorded;
    return tuples / (top->options.portion ? top->options.portion : PORTION) + 1;
}

static void choose_portion(const viewer_top *top, uint32_t process,
                           uint64_t portions)
{
    top_older *older = &top->history.older[process];
    uint64_t base = top->processes[process].base, step = 0;
    uint64_t from = older->at > base ? older->at : base;

    if (older->until > base)
        step = (older->until - base) / portions + 1;
    older->to = from + step < older->until ? from + step : older->until;
}

static int catch_up(viewer_top *top, uint64_t *from, uint64_t *to)
{
    scopes_filter filter = {.from_ticks = from, .to_ticks = to};
    uint64_t portions = portions_of(top);
    int err = 0;

    for (uint32_t i = 0; i < top->process_count && !err; i++) {
        top_older *older = &top->history.older[i];
        if (older->at >= older->until)
            continue;
        choose_portion(top, i, portions);
        from[i] = older->at;
        to[i] = older->to - 1;
        err =
            scopes_source_each(top->source, i, &filter, take_older, top, NULL);
        older->at = older->to;
    }
    return err;
}

bool viewer_top_is_behind(const viewer_top *top)
{
    for (uint32_t i = 0; i < top->process_count && top->history.older; i++)
        if (top->history.older[i].at < top->history.older[i].until)
            return true;
    return false;
}

int viewer_top_catch_up(viewer_top *top)
{
    uint64_t *ticks;
    int err;

    if (!viewer_top_is_behind(top))
        return 0;
    ticks = calloc(2u * top->process_count + 1, sizeof(*ticks));
    if (!ticks)
        return pastset_no_memory("to look back");
    err = catch_up(top, ticks, ticks + top->process_count);
    free(ticks);
    return err;
}

/* --- telling it --- */

static void print_thread(const viewer_top *top, uint32_t thread, size_t count,
                         FILE *file)
{
    const uint64_t *bins = &top->history.ns[(size_t)thread * TOP_HISTORY_BINS];

    fprintf(file, "{\"number\":%" PRIu32 ",\"communicating_ns\":[", thread);
    for (size_t i = 0; i < count; i++)
        fprintf(file, i ? ",%" PRIu64 : "%" PRIu64, bins[i]);
    fputs("]}", file);
}

/* Until when all tuples are taken in; null: for good. */
static void print_read(const viewer_top *top, FILE *file)
{
    uint64_t read_ns = UINT64_MAX, ns;

    for (uint32_t i = 0; i < top->process_count && top->history.older; i++) {
        const top_older *older = &top->history.older[i];
        if (older->at >= older->until)
            continue;
        ns = ns_of(top, i, older->at);
        if (ns < read_ns)
            read_ns = ns;
    }
    if (read_ns == UINT64_MAX)
        fputs("null", file);
    else
        fprintf(file, "%" PRIu64, read_ns);
}

int viewer_top_print_history(const viewer_top *top, FILE *file)
{
    const top_history *h = &top->history;
    uint64_t bin_ns = (uint64_t)1 << h->bin_shift;
    size_t count = h->ns ? (size_t)((h->end_ns + bin_ns - 1) / bin_ns) : 0;
    bool begun = false;

    fprintf(file, "{\"bin_ns\":%" PRIu64 ",\"read_ns\":", bin_ns);
    print_read(top, file);
    fputs(",\"threads\":[", file);
    for (uint32_t i = 0; i < top->thread_count && h->ns; i++) {
        if (top->threads[i].process == PATHS_NONE)
            continue;
        if (begun)
            putc(',', file);
        begun = true;
        print_thread(top, i, count, file);
    }
    fputs("]}", file);
    return ferror(file) ? pastset_fail(PASTSET_EIO, "it cannot be written") : 0;
}
