/* snapshot.c - clocks first, then the window, then the tuples.
 *
 * When the last part of a run is asked for, its end has to be found: it is
 * looked for from where the host should be by now, backwards in steps that
 * double, so that little is read of a long run. */
#include "scopes/reading/snapshot.h"

#include <stdlib.h>

#include "pastset/status.h"

#define TOO_MANY 16000000u
#define SECOND_NS INT64_C(1000000000)
#define WIDEST_NS (5000 * SECOND_NS) /* no wall clock is so wrong */

/* What is asked of the source, by host. */
typedef struct window {
    uint64_t *from_ticks, *to_ticks;
    bool *collectors;
} window;

static int no_memory(void)
{
    return pastset_fail(PASTSET_ENOMEM, "no memory to look at a run");
}

static bool is_limited(const scopes_look *look)
{
    return look->from_ns != INT64_MIN || look->to_ns != INT64_MAX;
}

/* All times and no collector. */
static int open_window(window *w, const scopes_look *look)
{
    uint32_t hosts = look->ways->map->host_count;

    w->from_ticks = calloc(hosts + 1, sizeof(*w->from_ticks));
    w->to_ticks = calloc(hosts + 1, sizeof(*w->to_ticks));
    w->collectors = calloc(look->ways->collectors + 1, sizeof(*w->collectors));
    if (!w->from_ticks || !w->to_ticks || !w->collectors)
        return no_memory();
    for (uint32_t i = 0; i < hosts; i++)
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
static void set_times(window *w, const scopes_look *look,
                      const scopes_clocks *clocks, int64_t more_ns)
{
    for (uint32_t i = 0; i < look->ways->map->host_count; i++) {
        if (look->from_ns != INT64_MIN)
            w->from_ticks[i] =
                scopes_clocks_ticks(clocks, i, look->from_ns - more_ns);
        if (look->to_ns < INT64_MAX - more_ns)
            w->to_ticks[i] =
                scopes_clocks_ticks(clocks, i, look->to_ns + more_ns);
    }
}

/* --- clocks --- */

/* Clocks that no tuple is needed for. */
static int make_first_clocks(scopes_clocks **out, const scopes_look *look)
{
    scopes_store *empty;
    int err = scopes_store_make(&empty, look->ways->map, NULL, 0, NULL);

    if (!err)
        err = scopes_clocks_make(out, look->run, empty, look->ways,
                                 look->options.method, look->options.reference);
    scopes_store_free(empty);
    return err;
}

static bool are_exact(const scopes_look *look, const scopes_clocks *clocks)
{
    for (uint32_t i = 0; i < look->ways->map->host_count; i++) {
        scopes_clock_how how = scopes_clocks_host(clocks, i)->how;
        if (how == SCOPES_CLOCK_WALL || how == SCOPES_CLOCK_EXCHANGES)
            return false;
    }
    return true;
}

static bool is_small(const scopes_look *look)
{
    uint64_t too_many = look->options.too_many;
    eventspace_events events;

    return eventspace_run_events(look->run, SIZE_MAX, &events) == 0 &&
           events.made < (too_many ? too_many : TOO_MANY);
}

/* Only collectors on both sides of a hop between hosts. */
static void choose_hops(window *w, const scopes_look *look)
{
    for (uint32_t i = 0; i < look->ways->collectors; i++) {
        const scopes_hop *hop = &look->ways->hops[i];
        if (hop->upper == PATHS_NONE || !hop->remote ||
            hop->lower == PATHS_NONE)
            continue;
        w->collectors[hop->upper] = true;
        w->collectors[hop->lower] = true;
    }
}

/* Clocks from tuples of hops between hosts: from all of them, or from the
 * window by the clocks `first` and `more_ns` around it. */
static int align_by(scopes_clocks **out, const scopes_look *look,
                    const scopes_clocks *first, bool all, int64_t more_ns)
{
    window w = {0};
    scopes_wanted wanted = {0};
    scopes_store *store = NULL;
    int err = open_window(&w, look);

    if (err)
        goto done;
    choose_hops(&w, look);
    if (!all)
        set_times(&w, look, first, more_ns);
    wanted.collectors = w.collectors;
    wanted.from_ticks = w.from_ticks;
    wanted.to_ticks = w.to_ticks;
    err = scopes_store_load(&store, look->source, &wanted);
    if (!err)
        err = scopes_clocks_make(out, look->run, store, look->ways,
                                 look->options.method, look->options.reference);
done:
    scopes_store_free(store);
    close_window(&w);
    return err;
}

static bool are_aligned(const scopes_look *look, const scopes_clocks *clocks)
{
    for (uint32_t i = 0; i < look->ways->map->host_count; i++)
        if (scopes_clocks_host(clocks, i)->how == SCOPES_CLOCK_WALL)
            return false;
    return true;
}

static int align(scopes_clocks **out, const scopes_look *look,
                 const scopes_clocks *first)
{
    int64_t more_ns = SECOND_NS;
    int err;

    if (!is_limited(look) || is_small(look))
        return align_by(out, look, first, true, 0);
    for (;; more_ns *= 8) {
        err = align_by(out, look, first, false, more_ns);
        if (err || more_ns > WIDEST_NS || are_aligned(look, *out))
            return err;
        scopes_clocks_free(*out);
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

/* The latest end of a host's tuples; 0 when it has none. */
static int find_latest(uint64_t *latest, const scopes_look *look, size_t host,
                       window *w)
{
    const eventspace_run_host *facts = eventspace_run_host_at(look->run, host);
    scopes_wanted wanted = {.from_ticks = w->from_ticks,
                            .to_ticks = w->to_ticks};
    uint64_t end = eventspace_run_end_ticks(look->run, host);
    uint64_t back = facts->has_meta ? (uint64_t)facts->meta.tick_hz / 4 + 1 : 1;
    int err = 0;

    for (*latest = 0; *latest == 0 && !err; back *= 2) {
        /* Twice the largest number is 0. */
        w->from_ticks[host] = back > 0 && end > back ? end - back : 0;
        err = scopes_source_each(look->source, host, &wanted, take_end, latest,
                                 NULL);
        if (w->from_ticks[host] == 0)
            break;
    }
    return err;
}

static int set_last(scopes_look *look, const scopes_clocks *clocks)
{
    window w = {0};
    uint64_t latest;
    int64_t end_ns = 0;
    int err = open_window(&w, look);

    for (uint32_t i = 0; i < look->ways->map->host_count && !err; i++) {
        err = find_latest(&latest, look, i, &w);
        if (!err && latest > 0) {
            int64_t ns = scopes_clocks_ns(clocks, i, latest);
            end_ns = ns > end_ns ? ns : end_ns;
        }
    }
    close_window(&w);
    look->from_ns = end_ns - look->options.last_ns;
    return err;
}

/* --- the tuples --- */

static int load(scopes_look *look, const scopes_clocks *clocks)
{
    window w = {0};
    scopes_wanted wanted = {0};
    int err = open_window(&w, look);

    if (err)
        goto done;
    if (look->options.tops_only) {
        for (uint32_t i = 0; i < look->ways->top_count; i++)
            if (look->ways->tops[i].collector != PATHS_NONE)
                w.collectors[look->ways->tops[i].collector] = true;
        wanted.collectors = w.collectors;
    }
    if (is_limited(look)) {
        set_times(&w, look, clocks, 0);
        wanted.from_ticks = w.from_ticks;
        wanted.to_ticks = w.to_ticks;
        wanted.one_thread = look->options.thread != PATHS_NONE;
        wanted.thread = look->options.thread;
    }
    err = scopes_store_load(&look->store, look->source, &wanted);
    /* Of a single thread's tuples none is known to be the first. */
    if (!err && look->options.numbered && wanted.from_ticks &&
        !wanted.one_thread)
        err = scopes_store_number(look->store, look->source, wanted.from_ticks);
done:
    close_window(&w);
    return err;
}

/* Of all tuples there are: those of hops between hosts are among them. */
static int look_at_all(scopes_look *look, scopes_clocks **first)
{
    int err = load(look, *first);

    if (err)
        return err;
    if (!are_exact(look, *first))
        return scopes_clocks_make(&look->clocks, look->run, look->store,
                                  look->ways, look->options.method,
                                  look->options.reference);
    look->clocks = *first;
    *first = NULL;
    return 0;
}

/* In a large run whose counters differ, the end is first told by wall clocks,
 * then once more by the clocks that come of that. */
static int look_at_part(scopes_look *look, scopes_clocks **first)
{
    bool exact = are_exact(look, *first);
    bool from_end = look->options.last_ns > 0;
    int err = 0;

    if (!exact && from_end && !is_small(look))
        err = set_last(look, *first);
    if (!exact && !err)
        err = align(&look->clocks, look, *first);
    if (err)
        return err;
    if (exact) {
        look->clocks = *first;
        *first = NULL;
    }
    if (from_end)
        err = set_last(look, look->clocks);
    return err ? err : load(look, look->clocks);
}

static int look_now(scopes_look *look)
{
    const scopes_look_options *options = &look->options;
    bool from_end = options->last_ns > 0;
    scopes_clocks *first = NULL;
    int err = make_first_clocks(&first, look);

    if (err)
        return err;
    look->from_ns = from_end ? INT64_MIN : options->from_ns;
    look->to_ns = from_end ? INT64_MAX : options->to_ns;
    if (from_end || is_limited(look) || options->tops_only)
        err = look_at_part(look, &first);
    else
        err = look_at_all(look, &first);
    scopes_clocks_free(first);
    return err ? err
               : scopes_pending_take(&look->pending, look->run, look->ways);
}

static void forget(scopes_look *look)
{
    scopes_store_free(look->store);
    scopes_clocks_free(look->clocks);
    scopes_pending_free(look->pending);
    look->pending = NULL;
    look->store = NULL;
    look->clocks = NULL;
}

int scopes_look_take(scopes_look **out, eventspace_run *run,
                     const scopes_look_options *options)
{
    scopes_look *look = calloc(1, sizeof(*look));
    int err;

    *out = NULL;
    if (!look)
        return no_memory();
    look->run = run;
    look->options = *options;
    err = scopes_ways_make(&look->ways, eventspace_run_map(run));
    if (!err)
        err = scopes_source_open(&look->source, run);
    if (!err)
        err = look_now(look);
    if (err)
        scopes_look_free(look);
    else
        *out = look;
    return err;
}

int scopes_look_again(scopes_look *look)
{
    int err = eventspace_run_refresh(look->run);

    forget(look);
    if (!err)
        err = scopes_source_refresh(look->source);
    return err ? err : look_now(look);
}

void scopes_look_free(scopes_look *look)
{
    if (!look)
        return;
    forget(look);
    if (look->source)
        scopes_source_close(look->source);
    scopes_ways_free(look->ways);
    free(look);
}
