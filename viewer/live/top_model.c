/* top_model.c - opening a run and following it; see top_internal.h.
 *
 * What time is it at a process? Where it runs on this machine, its wall clock
 * is ours, and its meta file has a tick and a wall clock taken together. Of a
 * run elsewhere all that is known are the tuples: its time is at least their
 * greatest end. From either, it goes on by this machine's clock, and is put
 * right when a tuple comes with a later end. Ticks are never compared across
 * processes. */
#include "viewer/live/top_internal.h"

#include "eventspace/collect/ticks.h"
#include "pastset/status.h"
#include "scopes/archive/archive.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define WINDOW_NS 5000000000
/* How long after its end a tuple is looked for: its thread may lose the
 * processor between the two. */
#define LATE_NS 300000000
/* And of an archive, which is written once a second at least. */
#define ARCHIVED_NS 1500000000

int64_t viewer__top_clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t viewer__top_processor_ns(const viewer_top *top)
{
    struct timespec own, helper = {0};
    clockid_t clock;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own);
    if (top->options.helper > 0 &&
        clock_getcpuclockid(top->options.helper, &clock) == 0)
        clock_gettime(clock, &helper);
    return (int64_t)(own.tv_sec + helper.tv_sec) * 1000000000 + own.tv_nsec +
           helper.tv_nsec;
}

/* --- what the map says --- */

static int find_threads(viewer_top *top)
{
    const scopes_topology *topology = top->topology;
    uint32_t at = 0;

    top->thread_count = topology->thread_count;
    top->threads = calloc(top->thread_count + 1, sizeof(*top->threads));
    top->tops = calloc(top->thread_count + 2, sizeof(*top->tops));
    if (!top->threads || !top->tops)
        return PASTSET_ENOMEM;
    for (uint32_t i = 0; i < top->thread_count; i++) {
        uint32_t node = topology->threads[i];
        top->threads[i].process =
            node == PATHS_NONE ? PATHS_NONE : top->map->nodes[node].process;
        top->threads[i].last = PATHS_NONE;
        while (at < topology->top_count && topology->tops[at].thread < i)
            at++;
        top->tops[i] = at;
    }
    top->tops[top->thread_count] = topology->top_count;
    return 0;
}

/* The rounds of a root are counted below it, where the tuples are those of
 * who came last; where no collector is, at one of its inputs. */
static void find_root(viewer_top *top, uint32_t site)
{
    const scopes_site *m = &top->topology->sites[site];
    uint32_t root = top->root_count++;
    uint32_t counter = m->lower;

    top->roots[root] = site;
    top->knows_last[root] = counter != PATHS_NONE;
    for (uint32_t i = 0; i < m->inputs.count && counter == PATHS_NONE; i++)
        counter = m->inputs.ids[i];
    if (counter < top->collectors)
        top->root_of[counter] = root;
}

static int find_collectors(viewer_top *top)
{
    const scopes_topology *topology = top->topology;

    top->collectors = topology->collectors;
    top->is_top = calloc(top->collectors + 1, sizeof(*top->is_top));
    top->root_of = calloc(top->collectors + 1, sizeof(*top->root_of));
    top->roots = calloc(topology->site_count + 1, sizeof(*top->roots));
    top->knows_last = calloc(topology->site_count + 1, sizeof(bool));
    if (!top->is_top || !top->root_of || !top->roots || !top->knows_last)
        return PASTSET_ENOMEM;
    for (uint32_t i = 0; i < top->collectors; i++)
        top->root_of[i] = PATHS_NONE;
    for (uint32_t i = 0; i < topology->top_count; i++)
        if (topology->tops[i].collector < top->collectors)
            top->is_top[topology->tops[i].collector] = true;
    for (uint32_t i = 0; i < topology->site_count; i++)
        if (topology->sites[i].parent == PATHS_NONE)
            find_root(top, i);
    return 0;
}

static int make_slices(viewer_top *top)
{
    size_t threads = (size_t)top->thread_count * TOP_SLICES;

    top->cells = calloc(threads + 1, sizeof(*top->cells));
    top->arrivals =
        calloc(threads * top->root_count + 1, sizeof(*top->arrivals));
    top->process_count = top->map->process_count;
    top->processes = calloc(top->process_count + 1, sizeof(*top->processes));
    return top->cells && top->arrivals && top->processes ? 0 : PASTSET_ENOMEM;
}

/* --- time --- */

static bool is_over(const viewer_top *top,
                    const eventspace_run_process *process)
{
    if (!process->has_meta || process->meta.state == EVENTSPACE_RUNNING)
        return false;
    /* A process elsewhere cannot be seen here; only what it has written itself,
     * or its launcher, is to be believed. */
    return !top->options.mirror || process->meta.state != EVENTSPACE_KILLED ||
           *process->meta.text;
}

static void know_clock(viewer_top *top, top_process *h, double hz,
                       uint64_t base)
{
    double window = (double)top->options.window_ns / 1e9 * hz;

    h->known = true;
    h->hz = hz;
    h->tick_ns = 1e9 / hz;
    h->base = base;
    h->slice_ticks = (uint64_t)(window / (TOP_SLICES - 2));
    if (h->slice_ticks == 0) /* a clock that hardly ticks */
        h->slice_ticks = 1;
    h->ahead = (double)base - (double)viewer__top_clock_ns() / 1e9 * hz;
}

static void meet_process(viewer_top *top, top_process *h,
                         const eventspace_run_process *process)
{
    if (h->known || !process->has_meta || !(process->meta.tick_hz > 0))
        return;
    know_clock(top, h, process->meta.tick_hz, process->meta.start_tick);
    if (!top->options.mirror)
        h->ahead += (double)(eventspace_meta_now(&process->meta) - h->base);
}

static void set_now(viewer_top *top, uint32_t process, int64_t local_ns)
{
    top_process *h = &top->processes[process];
    double local = (double)local_ns / 1e9 * h->hz;
    uint64_t end;

    if (!h->known)
        return;
    if (top->over) {
        end = eventspace_run_end_ticks(top->run, process);
        h->now = end > h->last_end ? end : h->last_end;
        return;
    }
    if (h->last_end && (double)h->last_end - local > h->ahead)
        h->ahead = (double)h->last_end - local;
    h->now = local + h->ahead > 0 ? (uint64_t)(local + h->ahead) : 0;
}

static void look_at_processes(viewer_top *top)
{
    size_t met = 0, over = 0;

    for (uint32_t i = 0; i < top->process_count; i++) {
        const eventspace_run_process *process =
            eventspace_run_process_at(top->run, i);
        meet_process(top, &top->processes[i], process);
        met += process->has_meta;
        over += is_over(top, process);
    }
    top->over = met > 0 && over == met;
}

/* --- tuples --- */

static bool is_archived(const viewer_top *top, uint32_t process)
{
    const char *name = eventspace_run_process_at(top->run, process)->name;
    struct stat there;
    char file[4096];

    return eventspace_run_file(file, sizeof(file),
                               eventspace_run_directory(top->run), name,
                               SCOPES_ARCHIVE_SUFFIX) == 0 &&
           stat(file, &there) == 0;
}

static uint64_t before(const top_process *h, uint64_t ticks, double ns)
{
    uint64_t back = (uint64_t)(ns / 1e9 * h->hz);

    return ticks > back ? ticks - back : 0;
}

/* From when on to look. An archive has a stream's tuples when a block of them
 * is full, so that some streams may be behind the others: as far as the one
 * that is furthest behind, of those that had any in the window. */
static uint64_t since(const viewer_top *top, uint32_t process, bool first)
{
    const top_process *h = &top->processes[process];
    double slice_ns = (double)top->options.window_ns / (TOP_SLICES - 2);
    uint64_t window =
        before(h, h->now, (double)top->options.window_ns + slice_ns);
    uint64_t from, behind;

    if (first || top->over || !h->pulled)
        return window;
    if (!is_archived(top, process))
        return before(h, h->pulled, LATE_NS);
    from = before(h, h->pulled, ARCHIVED_NS);
    behind = viewer__top_behind(top, process, window);
    if (behind < from)
        from = behind;
    return from > window ? from : window;
}

static int take(const scopes_batch *batch, void *context)
{
    viewer_top *top = context;
    top_process *h = &top->processes[batch->process];

    if (!h->known && batch->count) /* its meta file is missing or damaged */
        know_clock(top, h, eventspace_ticks_hz(), batch->events[0].start);
    return viewer__top_take(top, batch);
}

static void count(viewer_top *top, uint32_t process,
                  const scopes_ledger *ledger)
{
    top_process *h = &top->processes[process];
    uint32_t place;

    if (h->counted && h->known && ledger->lost > h->lost) {
        place = viewer__top_slice(top, process, h->now);
        if (place != PATHS_NONE)
            h->slices[place].lost += ledger->lost - h->lost;
    }
    h->counted = true;
    h->recorded = ledger->recorded;
    h->lost = ledger->lost;
}

/* When nobody was left to write when a process ended, its last tuple may be
 * later than the last other sign of life. So that everything of the last window
 * is found, all of it is looked at. */
static bool end_is_unknown(const viewer_top *top, uint32_t process)
{
    const eventspace_run_process *shown =
        eventspace_run_process_at(top->run, process);

    return !top->processes[process].known || top->processes[process].now == 0 ||
           (top->over && shown->meta.end_tick == 0) || top->options.mirror;
}

static int pull_process(viewer_top *top, uint32_t process, uint64_t *from)
{
    scopes_filter filter = {0};
    scopes_ledger ledger = {0};
    bool first = !top->processes[process].counted;
    int err;

    if (!first || !end_is_unknown(top, process)) {
        from[process] = since(top, process, first);
        filter.from_ticks = from;
    }
    if (first)
        viewer__history_skip(top, process, from[process]);
    err = scopes_source_each(top->source, process, &filter, take, top, &ledger);
    if (err)
        return err; /* then all of it once more */
    count(top, process, &ledger);
    top->processes[process].pulled = top->processes[process].now;
    return 0;
}

static int pull_all(viewer_top *top)
{
    uint64_t *from = calloc(top->process_count + 1, sizeof(*from));
    int64_t now_ns;
    int err = 0;

    if (!from)
        return pastset_no_memory("to look");
    look_at_processes(top);
    viewer__history_look(top);
    now_ns = viewer__top_clock_ns();
    for (uint32_t i = 0; i < top->process_count && !err; i++) {
        set_now(top, i, now_ns);
        err = pull_process(top, i, from);
        set_now(top, i, now_ns);
    }
    free(from);
    return err;
}

/* --- what is made of the map --- */

static int memory_make(viewer_top *top)
{
    int err = find_threads(top);

    if (!err)
        err = find_collectors(top);
    if (!err)
        err = make_slices(top);
    if (!err)
        err = viewer__history_init(top);
    return err ? pastset_fail(err, "no memory for the map's %u nodes",
                              top->map->node_count)
               : 0;
}

static void model_drop(viewer_top *top)
{
    viewer__top_streams_fini(top);
    viewer__history_fini(top);
    scopes_pending_destroy(top->pending);
    scopes_topology_destroy(top->topology);
    free(top->threads);
    free(top->tops);
    free(top->is_top);
    free(top->root_of);
    free(top->roots);
    free(top->knows_last);
    free(top->cells);
    free(top->arrivals);
    free(top->processes);
    top->pending = NULL;
    top->topology = NULL;
    top->threads = NULL;
    top->tops = NULL;
    top->is_top = NULL;
    top->root_of = NULL;
    top->roots = NULL;
    top->knows_last = NULL;
    top->cells = NULL;
    top->arrivals = NULL;
    top->processes = NULL;
    top->root_count = 0;
    top->strange = 0;
}

/* Of what the map is now; and reads what the window needs. After an error it
 * is made the next time. */
static int model_make(viewer_top *top)
{
    int err;

    model_drop(top);
    top->map = eventspace_run_map(top->run);
    err = scopes_topology_create(&top->topology, top->map);
    if (!err)
        err = memory_make(top);
    if (!err)
        err = pull_all(top);
    if (!err)
        err = viewer__top_look_back(top);
    if (err) {
        model_drop(top);
        top->map = NULL;
    }
    return err;
}

/* As far as the history goes by that. */
static bool began_alike(viewer_top *top)
{
    look_at_processes(top);
    return viewer__history_look(top);
}

int viewer_top_pull(viewer_top *top)
{
    int err;

    top->pulls++;
    err = eventspace_run_refresh(top->run);
    if (!err)
        err = scopes_source_refresh(top->source);
    if (err)
        return err;
    return eventspace_run_map(top->run) == top->map && began_alike(top)
               ? pull_all(top)
               : model_make(top);
}

/* --- opening --- */

int viewer_top_open(viewer_top **out, const char *directory,
                    const viewer_top_options *options)
{
    viewer_top *top = calloc(1, sizeof(*top));
    int err;

    *out = NULL;
    if (!top)
        return pastset_no_memory("for a top");
    if (options)
        top->options = *options;
    if (top->options.window_ns <= 0)
        top->options.window_ns = WINDOW_NS;
    eventspace_ticks_init();
    top->before.time_ns = viewer__top_clock_ns();
    top->before.processor_ns = viewer__top_processor_ns(top);
    err = eventspace_run_open(&top->run, directory);
    if (err)
        goto failed;
    err = scopes_source_open(&top->source, top->run);
    if (err)
        goto failed;
    err = viewer_top_pull(top);
    if (err)
        goto failed;
    *out = top;
    return 0;
failed:
    viewer_top_close(top);
    return err;
}

void viewer_top_close(viewer_top *top)
{
    if (!top)
        return;
    model_drop(top);
    if (top->source)
        scopes_source_close(top->source);
    if (top->run)
        eventspace_run_close(top->run);
    free(top);
}

bool viewer_top_over(const viewer_top *top)
{
    return top->over;
}
