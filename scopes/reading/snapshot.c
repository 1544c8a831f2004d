/* snapshot.c - clocks first, then the window, then the tuples.
 *
 * When the last part of a run is asked for, its end has to be found: it is
 * looked for from where the process should be by now, backwards in steps that
 * double, so that little is read of a long run. */
#include "scopes/reading/snapshot.h"

#include <stdlib.h>

#include "pastset/status.h"
#include "scopes/reading/reading_internal.h"

#define TOO_MANY 16000000u
#define GROWS 3 /* looks by a map that grows meanwhile */
#define SECOND_NS INT64_C(1000000000)
#define WIDEST_NS (5000 * SECOND_NS) /* no wall clock is so wrong */

/* What is asked of the source, by process. */
typedef struct window {
    uint64_t *from_ticks, *to_ticks;
    bool *collectors;
} window;

static int no_memory(void)
{
    return pastset_no_memory("to look at a run");
}

static bool is_limited(const scopes_snapshot *snapshot)
{
    return snapshot->from_ns != INT64_MIN || snapshot->to_ns != INT64_MAX;
}

/* All times and no collector. */
static int open_window(window *w, const scopes_snapshot *snapshot)
{
    uint32_t processes = snapshot->topology->map->process_count;

    w->from_ticks = calloc(processes + 1, sizeof(*w->from_ticks));
    w->to_ticks = calloc(processes + 1, sizeof(*w->to_ticks));
    w->collectors =
        calloc(snapshot->topology->collectors + 1, sizeof(*w->collectors));
    if (!w->from_ticks || !w->to_ticks || !w->collectors)
        return no_memory();
    for (uint32_t i = 0; i < processes; i++)
        w->to_ticks[i] = UINT64_MAX;
    return 0;
}

static void close_window(window *w)
{
    free(w->from_ticks);
    free(w->to_ticks);
    free(w->collectors);
}

/* Times of the look's window, `more_ns` wider on both sides. */
static void set_times(window *w, const scopes_snapshot *snapshot,
                      const scopes_clocks *clocks, int64_t more_ns)
{
    for (uint32_t i = 0; i < snapshot->topology->map->process_count; i++) {
        if (snapshot->from_ns != INT64_MIN)
            w->from_ticks[i] =
                scopes_clocks_ticks(clocks, i, snapshot->from_ns - more_ns);
        if (snapshot->to_ns < INT64_MAX - more_ns)
            w->to_ticks[i] =
                scopes_clocks_ticks(clocks, i, snapshot->to_ns + more_ns);
    }
}

/* --- clocks --- */

/* Clocks that no tuple is needed for. */
static int make_first_clocks(scopes_clocks **out,
                             const scopes_snapshot *snapshot)
{
    scopes_event_table *empty;
    int err = scopes_event_table_create(&empty, snapshot->topology->map, NULL,
                                        0, NULL);

    if (err)
        return err;
    err = scopes_clocks_create(out, snapshot->run, empty, snapshot->topology,
                               snapshot->options.method,
                               snapshot->options.reference);
    scopes_event_table_destroy(empty);
    return err;
}

static bool are_exact(const scopes_snapshot *snapshot,
                      const scopes_clocks *clocks)
{
    for (uint32_t i = 0; i < snapshot->topology->map->process_count; i++) {
        scopes_clock_how how = scopes_clocks_process(clocks, i)->how;
        if (how == SCOPES_CLOCK_WALL || how == SCOPES_CLOCK_PROBE_PAIRS)
            return false;
    }
    return true;
}

static bool is_small(const scopes_snapshot *snapshot)
{
    uint64_t too_many = snapshot->options.too_many;
    eventspace_events events;

    return eventspace_run_events(snapshot->run, SIZE_MAX, &events) == 0 &&
           events.recorded < (too_many ? too_many : TOO_MANY);
}

/* Sites with no collector below, as those of MPI: in a window, which events are
 * of one round is known from their numbers in the run only. */
static bool has_open_sites(const scopes_topology *topology)
{
    for (uint32_t i = 0; i < topology->site_count; i++)
        if (topology->sites[i].lower == PATHS_NONE)
            return true;
    return false;
}

/* Clocks from tuples of hops between processes: from all of them, or from the
 * window by the clocks `first` and `more_ns` around it. `*all`: it was from
 * all, as it was to be, or had to. */
static int align_by(scopes_clocks **out, const scopes_snapshot *snapshot,
                    const scopes_clocks *first, bool *all, int64_t more_ns)
{
    window w = {0};
    scopes_filter filter = {0};
    scopes_event_table *event_table = NULL;
    int err = open_window(&w, snapshot);

    if (err)
        goto done;
    *all |= scopes_clocks_choose(snapshot->topology, w.collectors);
    filter.collectors = w.collectors;
    filter.collector_count = snapshot->topology->collectors;
    if (!*all) {
        set_times(&w, snapshot, first, more_ns);
        filter.from_ticks = w.from_ticks;
        filter.to_ticks = w.to_ticks;
    }
    err = scopes__event_table_load_by(&event_table, snapshot->source, &filter,
                                      snapshot->topology->map);
    if (!err)
        err = scopes_clocks_create(out, snapshot->run, event_table,
                                   snapshot->topology, snapshot->options.method,
                                   snapshot->options.reference);
done:
    scopes_event_table_destroy(event_table);
    close_window(&w);
    return err;
}

static bool are_aligned(const scopes_snapshot *snapshot,
                        const scopes_clocks *clocks)
{
    for (uint32_t i = 0; i < snapshot->topology->map->process_count; i++)
        if (scopes_clocks_process(clocks, i)->how == SCOPES_CLOCK_WALL)
            return false;
    return true;
}

static int align(scopes_clocks **out, const scopes_snapshot *snapshot,
                 const scopes_clocks *first)
{
    int64_t more_ns = SECOND_NS;
    bool all = !is_limited(snapshot) || is_small(snapshot);
    int err;

    for (;; more_ns *= 8) {
        err = align_by(out, snapshot, first, &all, more_ns);
        if (err || all || more_ns > WIDEST_NS || are_aligned(snapshot, *out))
            return err;
        scopes_clocks_destroy(*out);
        *out = NULL;
    }
}

/* --- the end of what is there --- */

static int take_end(const scopes_batch *batch, void *context)
{
    uint64_t *latest = context;
    uint64_t end = batch->events[batch->count - 1].end;

    *latest = end > *latest ? end : *latest;
    return 0;
}

/* The latest end of a process's tuples; 0 when it has none. */
static int find_latest(uint64_t *latest, const scopes_snapshot *snapshot,
                       size_t process, window *w)
{
    const eventspace_run_process *facts =
        eventspace_run_process_at(snapshot->run, process);
    scopes_filter filter = {.from_ticks = w->from_ticks,
                            .to_ticks = w->to_ticks};
    uint64_t end = eventspace_run_end_ticks(snapshot->run, process);
    uint64_t back = facts->has_meta ? (uint64_t)facts->meta.tick_hz / 4 + 1 : 1;
    int err = 0;

    for (*latest = 0; *latest == 0 && !err; back *= 2) {
        /* Twice the largest number is 0. */
        w->from_ticks[process] = back > 0 && end > back ? end - back : 0;
        err = scopes_source_each(snapshot->source, process, &filter, take_end,
                                 latest, NULL);
        if (w->from_ticks[process] == 0)
            break;
    }
    return err;
}

static int set_last(scopes_snapshot *snapshot, const scopes_clocks *clocks)
{
    window w = {0};
    uint64_t latest;
    int64_t end_ns = 0;
    int err = open_window(&w, snapshot);

    for (uint32_t i = 0; i < snapshot->topology->map->process_count && !err;
         i++) {
        err = find_latest(&latest, snapshot, i, &w);
        if (!err && latest > 0) {
            int64_t ns = scopes_clocks_ns(clocks, i, latest);
            end_ns = ns > end_ns ? ns : end_ns;
        }
    }
    close_window(&w);
    snapshot->from_ns = end_ns - snapshot->options.last_ns;
    return err;
}

/* --- the tuples --- */

static int load(scopes_snapshot *snapshot, const scopes_clocks *clocks)
{
    window w = {0};
    scopes_filter filter = {0};
    int err = open_window(&w, snapshot);

    if (err)
        goto done;
    if (snapshot->options.tops_only) {
        for (uint32_t i = 0; i < snapshot->topology->top_count; i++)
            if (snapshot->topology->tops[i].collector != PATHS_NONE)
                w.collectors[snapshot->topology->tops[i].collector] = true;
        filter.collectors = w.collectors;
        filter.collector_count = snapshot->topology->collectors;
    }
    if (is_limited(snapshot)) {
        set_times(&w, snapshot, clocks, 0);
        filter.from_ticks = w.from_ticks;
        filter.to_ticks = w.to_ticks;
        filter.threads = snapshot->options.threads;
    }
    err = scopes__event_table_load_by(&snapshot->event_table, snapshot->source,
                                      &filter, snapshot->topology->map);
    /* Of some threads' tuples none is known to be the first. */
    if (!err && filter.from_ticks && !filter.threads &&
        (snapshot->options.numbered ||
         (has_open_sites(snapshot->topology) && is_small(snapshot))))
        err = scopes_event_table_number(snapshot->event_table, snapshot->source,
                                        filter.from_ticks);
done:
    close_window(&w);
    return err;
}

/* Of all tuples there are: those of hops between processes are among them. */
static int look_at_all(scopes_snapshot *snapshot, scopes_clocks **first)
{
    int err = load(snapshot, *first);

    if (err)
        return err;
    if (!are_exact(snapshot, *first))
        return scopes_clocks_create(&snapshot->clocks, snapshot->run,
                                    snapshot->event_table, snapshot->topology,
                                    snapshot->options.method,
                                    snapshot->options.reference);
    snapshot->clocks = *first;
    *first = NULL;
    return 0;
}

/* In a large run whose counters differ, the end is first told by wall clocks,
 * then once more by the clocks that come of that. */
static int look_at_part(scopes_snapshot *snapshot, scopes_clocks **first)
{
    bool exact = are_exact(snapshot, *first);
    bool from_end = snapshot->options.last_ns > 0;
    int err = 0;

    if (!exact && from_end && !is_small(snapshot))
        err = set_last(snapshot, *first);
    if (!exact && !err)
        err = align(&snapshot->clocks, snapshot, *first);
    if (err)
        return err;
    if (exact) {
        snapshot->clocks = *first;
        *first = NULL;
    }
    if (from_end)
        err = set_last(snapshot, snapshot->clocks);
    return err ? err : load(snapshot, snapshot->clocks);
}

static int look_now(scopes_snapshot *snapshot)
{
    const scopes_snapshot_options *options = &snapshot->options;
    bool from_end = options->last_ns > 0;
    scopes_clocks *first = NULL;
    int err = make_first_clocks(&first, snapshot);

    if (err)
        return err;
    snapshot->from_ns = from_end ? INT64_MIN : options->from_ns;
    snapshot->to_ns = from_end ? INT64_MAX : options->to_ns;
    if (from_end || is_limited(snapshot) || options->tops_only)
        err = look_at_part(snapshot, &first);
    else
        err = look_at_all(snapshot, &first);
    scopes_clocks_destroy(first);
    if (!err)
        err = scopes_pending_take(&snapshot->pending, snapshot->run,
                                  snapshot->topology);
    if (!err)
        err =
            options->reader
                ? scopes_scheduling_read_on(
                      &snapshot->scheduling, options->reader, snapshot->run,
                      snapshot->topology, snapshot->clocks, snapshot->from_ns)
                : scopes_scheduling_read(&snapshot->scheduling, snapshot->run,
                                         snapshot->topology, snapshot->clocks);
    return err;
}

static void forget(scopes_snapshot *snapshot)
{
    scopes_event_table_destroy(snapshot->event_table);
    scopes_clocks_destroy(snapshot->clocks);
    scopes_pending_destroy(snapshot->pending);
    scopes_scheduling_destroy(snapshot->scheduling);
    snapshot->pending = NULL;
    snapshot->scheduling = NULL;
    snapshot->event_table = NULL;
    snapshot->clocks = NULL;
}

/* The topology is of the map that the run has now. */
static int topology_renew(scopes_snapshot *snapshot)
{
    const paths_map *map = eventspace_run_map(snapshot->run);

    if (snapshot->topology && snapshot->topology->map == map)
        return 0;
    scopes_topology_destroy(snapshot->topology);
    snapshot->topology = NULL;
    return scopes_topology_create(&snapshot->topology, map);
}

/* While a program begins, it may add to its map what the tuples that were just
 * read are of: then all is taken once more. Where a map grows faster than it
 * can be read, what is of the last of its additions is left to the next look.
 */
static int look_at_grown(scopes_snapshot *snapshot)
{
    int err;

    for (int i = 0;; i++) {
        err = topology_renew(snapshot);
        if (!err)
            err = look_now(snapshot);
        if (err || i == GROWS ||
            snapshot->topology->map == eventspace_run_map(snapshot->run))
            return err;
        forget(snapshot);
    }
}

int scopes_snapshot_take(scopes_snapshot **out, eventspace_run *run,
                         const scopes_snapshot_options *options)
{
    scopes_snapshot *snapshot = calloc(1, sizeof(*snapshot));
    int err;

    *out = NULL;
    if (!snapshot)
        return no_memory();
    snapshot->run = run;
    snapshot->options = *options;
    err = scopes_source_open(&snapshot->source, run);
    if (err)
        goto failed;
    err = look_at_grown(snapshot);
    if (err)
        goto failed;
    *out = snapshot;
    return 0;
failed:
    scopes_snapshot_destroy(snapshot);
    return err;
}

int scopes_snapshot_again(scopes_snapshot *snapshot)
{
    int err;

    forget(snapshot);
    err = scopes_source_refresh(snapshot->source);
    return err ? err : look_at_grown(snapshot);
}

void scopes_snapshot_destroy(scopes_snapshot *snapshot)
{
    if (!snapshot)
        return;
    forget(snapshot);
    if (snapshot->source)
        scopes_source_close(snapshot->source);
    scopes_topology_destroy(snapshot->topology);
    free(snapshot);
}
