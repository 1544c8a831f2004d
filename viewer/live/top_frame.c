/* top_frame.c - what a window holds, as rows; see top_internal.h. */
#include "viewer/live/top_internal.h"

#include "eventspace/collect/trace.h"
#include "pastset/request.h"
#include "pastset/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static const char *const sort_names[VIEWER_TOP_SORTS] = {
    [VIEWER_TOP_SHARE] = "share",     [VIEWER_TOP_RATE] = "rate",
    [VIEWER_TOP_BYTES] = "bytes",     [VIEWER_TOP_SILENT] = "silent",
    [VIEWER_TOP_LONGEST] = "longest", [VIEWER_TOP_NUMBER] = "number"};

const char *viewer_top_sort_name(viewer_top_sort sort)
{
    return sort < VIEWER_TOP_SORTS ? sort_names[sort] : "";
}

viewer_top_sort viewer_top_sort_find(const char *name)
{
    int sort = 0;

    while (sort < VIEWER_TOP_SORTS && strcmp(sort_names[sort], name) != 0)
        sort++;
    return (viewer_top_sort)sort;
}

/* Is this slice of the window? */
static bool is_in(const top_process *process, uint32_t place, uint64_t first)
{
    return process->slices[place].number > first;
}

static const char *process_name(const viewer_top *top, uint32_t process)
{
    return process < top->process_count ? top->map->processes[process].name
                                        : "";
}

static double per_second(double amount, double seconds)
{
    return seconds > 0 ? amount / seconds : 0;
}

static int64_t to_ns(const top_process *process, uint64_t ticks)
{
    return (int64_t)((double)ticks * 1e9 / process->hz);
}

/* --- threads --- */

/* What the thread calls the path whose top is this collector. */
static const char *path_name(const viewer_top *top, uint32_t thread,
                             uint32_t collector)
{
    for (uint32_t i = top->tops[thread]; i < top->tops[thread + 1]; i++) {
        const scopes_top *t = &top->topology->tops[i];
        if (t->thread == thread && t->collector == collector)
            return t->name;
    }
    return "";
}

static top_cell sum_cells(const viewer_top *top, uint32_t thread,
                          uint64_t first)
{
    const top_process *process = &top->processes[top->threads[thread].process];
    top_cell sum = {.longest = PATHS_NONE};

    for (uint32_t k = 0; k < TOP_SLICES; k++) {
        const top_cell *c = &top->cells[(size_t)k * top->thread_count + thread];
        if (!is_in(process, k, first))
            continue;
        sum.operations += c->operations;
        sum.bytes += c->bytes;
        sum.ticks += c->ticks;
        if (c->operations && c->longest_ticks >= sum.longest_ticks) {
            sum.longest_ticks = c->longest_ticks;
            sum.longest = c->longest;
        }
    }
    return sum;
}

static void tell_silence(viewer_top_thread *out, const viewer_top *top,
                         uint32_t number)
{
    const top_thread *thread = &top->threads[number];
    const top_process *process = &top->processes[thread->process];

    out->silent_ns = SCOPES_BLANK;
    out->last = out->longest = "";
    out->longest_ns = SCOPES_BLANK;
    out->operations = thread->sequence;
    if (!thread->sequence)
        return;
    out->last = path_name(top, number, thread->last);
    out->silent_ns = process->now > thread->last_end
                         ? to_ns(process, process->now - thread->last_end)
                         : 0;
}

static void tell_thread(viewer_top_thread *out, const viewer_top *top,
                        uint32_t number)
{
    const top_thread *thread = &top->threads[number];
    const top_process *process = &top->processes[thread->process];
    double seconds;
    uint64_t first = viewer__top_window(top, thread->process, &seconds);
    top_cell sum = sum_cells(top, number, first);

    out->number = number;
    out->name = scopes_topology_thread_name(top->topology, number);
    out->process = process_name(top, thread->process);
    tell_silence(out, top, number);
    if (!process->known)
        return;
    out->operations_per_s = per_second(sum.operations, seconds);
    out->bytes_per_s = per_second((double)sum.bytes, seconds);
    out->share = per_second((double)sum.ticks / process->hz, seconds);
    if (out->share > 1) /* several of them at once: paths_start */
        out->share = 1;
    if (sum.operations) {
        out->longest_ns = to_ns(process, sum.longest_ticks);
        out->longest = path_name(top, number, sum.longest);
    }
}

/* Greater comes first. */
static double weight(const viewer_top_thread *t, viewer_top_sort sort)
{
    switch (sort) {
    case VIEWER_TOP_SHARE:
        return t->share;
    case VIEWER_TOP_RATE:
        return t->operations_per_s;
    case VIEWER_TOP_BYTES:
        return t->bytes_per_s;
    case VIEWER_TOP_SILENT:
        return (double)t->silent_ns;
    case VIEWER_TOP_LONGEST:
        return (double)t->longest_ns;
    case VIEWER_TOP_NUMBER:
    case VIEWER_TOP_SORTS:
        break;
    }
    return -(double)t->number;
}

static int compare_threads(const void *left, const void *right, void *context)
{
    const viewer_top_thread *a = left, *b = right;
    viewer_top_sort sort = *(const viewer_top_sort *)context;
    double x = weight(a, sort), y = weight(b, sort);

    if (x > y || x < y)
        return x > y ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static void tell_threads(viewer_top_frame *out, const viewer_top *top,
                         viewer_top_sort sort)
{
    for (uint32_t i = 0; i < top->thread_count; i++)
        if (top->threads[i].process < top->process_count)
            tell_thread(&out->threads[out->thread_count++], top, i);
    qsort_r(out->threads, out->thread_count, sizeof(*out->threads),
            compare_threads, &sort);
}

/* --- collectives --- */

static uint64_t arrivals_of(const viewer_top *top, uint32_t root,
                            uint32_t thread, uint32_t process, uint64_t first)
{
    uint64_t sum = 0;

    for (uint32_t k = 0; k < TOP_SLICES; k++)
        if (is_in(&top->processes[process], k, first))
            sum += top->arrivals[((size_t)k * top->root_count + root) *
                                     top->thread_count +
                                 thread];
    return sum;
}

static void tell_collective(viewer_top_collective *out, const viewer_top *top,
                            uint32_t root)
{
    const scopes_site *m = &top->topology->sites[top->roots[root]];
    uint32_t last = PATHS_NONE;
    uint64_t max = 0;
    double seconds;
    uint64_t first = viewer__top_window(top, m->process, &seconds);

    for (uint32_t t = 0; t < top->thread_count; t++) {
        uint64_t sum = arrivals_of(top, root, t, m->process, first);
        out->rounds += sum;
        if (sum > max) {
            max = sum;
            last = t;
        }
    }
    out->name = scopes_topology_node_name(top->topology, m->node);
    out->element = scopes_topology_node_name(top->topology, m->element);
    out->process = process_name(top, m->process);
    out->rounds_per_s = per_second((double)out->rounds, seconds);
    out->last = out->last_process = "";
    out->last_share = NAN;
    if (last == PATHS_NONE || !top->knows_last[root])
        return;
    out->last = scopes_topology_thread_name(top->topology, last);
    out->last_process = process_name(top, top->threads[last].process);
    out->last_share = (double)max / (double)out->rounds;
}

/* --- processes --- */

static void tell_state(viewer_top_process *out, const viewer_top *top,
                       const eventspace_run_process *process)
{
    out->state = "missing";
    out->problem = process->problem;
    if (!process->has_meta)
        return;
    out->state = eventspace_state_name(process->meta.state);
    if (*process->meta.text)
        out->problem = process->meta.text;
    if (!top->options.mirror)
        return;
    if (process->meta.state == EVENTSPACE_KILLED && !*process->meta.text)
        out->state = eventspace_state_name(EVENTSPACE_RUNNING);
    out->problem = process->meta.text; /* a mirror has no spaces */
}

/* The mirror touches a process's meta file whenever it hears of it. */
static int64_t behind_of(const viewer_top *top, uint32_t number,
                         const char *state)
{
    const eventspace_run_process *process =
        eventspace_run_process_at(top->run, number);
    char file[4096];
    struct timespec now;
    struct stat status;

    if (!top->options.mirror ||
        strcmp(state, eventspace_state_name(EVENTSPACE_RUNNING)) != 0 ||
        eventspace_run_file(file, sizeof(file),
                            eventspace_run_directory(top->run), process->name,
                            ".meta") != 0 ||
        stat(file, &status) != 0)
        return SCOPES_BLANK;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)(now.tv_sec - status.st_mtim.tv_sec) * 1000000000 +
           now.tv_nsec - status.st_mtim.tv_nsec;
}

static void tell_process(viewer_top_process *out, const viewer_top *top,
                         uint32_t number)
{
    const top_process *process = &top->processes[number];
    uint64_t events = 0, lost = 0, first;
    double seconds, cost_ns = top->options.event_cost_ns;

    first = viewer__top_window(top, number, &seconds);
    for (uint32_t k = 0; k < TOP_SLICES; k++) {
        if (!is_in(process, k, first))
            continue;
        events += process->slices[k].events;
        lost += process->slices[k].lost;
    }
    out->name = process_name(top, number);
    tell_state(out, top, eventspace_run_process_at(top->run, number));
    out->events_per_s = per_second((double)(events + lost), seconds);
    out->lost_per_s = per_second((double)lost, seconds);
    out->recorded = process->recorded;
    out->lost = process->lost;
    out->behind_ns = behind_of(top, number, out->state);
    out->collectors = cost_ns > 0 ? out->events_per_s * cost_ns / 1e9 : NAN;
}

/* --- what is pending --- */

/* Shorter ones come and go. */
#define PENDING_NS 1000000000

static const char *node_name(const viewer_top *top, uint32_t node)
{
    return scopes_topology_node_name(top->topology, node);
}

static void tell_pending(viewer_top_frame *out, const viewer_top *top,
                         const scopes_pending *p)
{
    bool is_loop = p->thread == PATHS_NONE;

    if (p->lasts_ns < PENDING_NS || p->activity == PATHS_ENDED ||
        (!p->operates && p->activity == PATHS_COMPUTING))
        return;
    out->pending[out->pending_count++] = (viewer_top_pending){
        .thread = is_loop
                      ? "loop"
                      : scopes_topology_thread_name(top->topology, p->thread),
        .process = process_name(top, p->process),
        .process_state = eventspace_state_name(p->process_state),
        .state = paths_activity_name(p->activity),
        .for_ns = p->lasts_ns,
        .verb = p->operates ? pastset_verb_name(p->verb) : "",
        .path = p->operates ? p->path : "",
        .stage = p->operates ? node_name(top, p->stage) : "",
        .peer = process_name(top, p->peer),
        .waits_for = p->waits_for,
    };
}

static int compare_pending(const void *left, const void *right)
{
    const viewer_top_pending *a = left, *b = right;

    if (a->for_ns != b->for_ns)
        return a->for_ns > b->for_ns ? -1 : 1;
    return strcmp(a->thread, b->thread);
}

static int tell_all_pending(viewer_top_frame *out, viewer_top *top)
{
    const scopes_pending_list *list;
    int err;

    scopes_pending_destroy(top->pending);
    err = scopes_pending_take(&top->pending, top->run, top->topology);
    if (err)
        return err;
    list = top->pending;
    out->pending = calloc(list->count + 1, sizeof(*out->pending));
    if (!out->pending)
        return pastset_no_memory("for a frame");
    for (size_t i = 0; i < list->count; i++)
        tell_pending(out, top, &list->items[i]);
    qsort(out->pending, out->pending_count, sizeof(*out->pending),
          compare_pending);
    return 0;
}

/* --- all --- */

static void tell_watching(viewer_top_frame *out, viewer_top *top)
{
    int64_t now = viewer__top_clock_ns();
    int64_t processor = viewer__top_processor_ns(top);
    double seconds = (double)(now - top->before.time_ns) / 1e9;
    uint64_t tuples = top->tuples - top->before.tuples;
    int64_t used = processor - top->before.processor_ns;

    if (used < 0) /* the helper has ended */
        used = 0;
    out->watching.processor = per_second((double)used / 1e9, seconds);
    out->watching.bytes_per_s =
        per_second((double)tuples * EVENTSPACE_TRACE_BYTES, seconds);
    out->watching.tuples = top->tuples;
    out->watching.bytes = top->tuples * EVENTSPACE_TRACE_BYTES;
    out->watching.event_cost_ns = top->options.event_cost_ns;
    top->before.time_ns = now;
    top->before.processor_ns = processor;
    top->before.tuples = top->tuples;
}

/* The longest time and window of a process, which are those of all but for
 * processes that came late. */
static void tell_times(viewer_top_frame *out, const viewer_top *top)
{
    for (uint32_t i = 0; i < top->process_count; i++) {
        const top_process *process = &top->processes[i];
        double seconds;
        int64_t lasted;
        viewer__top_window(top, i, &seconds);
        if (seconds * 1e9 > (double)out->window_ns)
            out->window_ns = (int64_t)(seconds * 1e9);
        lasted = process->known && process->now > process->base
                     ? to_ns(process, process->now - process->base)
                     : 0;
        if (lasted > out->run_ns)
            out->run_ns = lasted;
    }
}

int viewer_top_frame_init(viewer_top_frame *out, viewer_top *top,
                          viewer_top_sort sort)
{
    int err;

    if (!top->map) { /* it could not be made; the next pull tries again */
        *out = (viewer_top_frame){0};
        return pastset_no_memory("for what is new");
    }
    *out = (viewer_top_frame){
        .run = top->options.name ? top->options.name
                                 : eventspace_run_directory(top->run),
        .map = top->map->name ? top->map->name : "",
        .state = top->over ? "over" : "running",
        .collective_count = top->root_count,
        .process_count = top->process_count,
        .strange = top->strange,
        .threads = calloc(top->thread_count + 1, sizeof(*out->threads)),
        .collectives = calloc(top->root_count + 1, sizeof(*out->collectives)),
        .processes = calloc(top->process_count + 1, sizeof(*out->processes)),
    };
    err = out->threads && out->collectives && out->processes
              ? tell_all_pending(out, top)
              : pastset_no_memory("for a frame");
    if (err) {
        viewer_top_frame_fini(out);
        return err;
    }
    tell_threads(out, top, sort);
    for (uint32_t i = 0; i < top->root_count; i++)
        tell_collective(&out->collectives[i], top, i);
    out->behind_ns = SCOPES_BLANK;
    for (uint32_t i = 0; i < top->process_count; i++) {
        tell_process(&out->processes[i], top, i);
        if (out->processes[i].behind_ns > out->behind_ns)
            out->behind_ns = out->processes[i].behind_ns;
    }
    tell_times(out, top);
    tell_watching(out, top);
    return 0;
}

void viewer_top_frame_fini(viewer_top_frame *frame)
{
    free(frame->threads);
    free(frame->collectives);
    free(frame->processes);
    free(frame->pending);
    *frame = (viewer_top_frame){0};
}
