/* run.c - a thread of the wind tunnel: one slice, and what it exchanges with
 * the slices above and below.
 *
 * Each step is as in paper 004, section 5.1: collide, write to the thread
 * above, write to the thread below, read from above, read from below, move
 * the particles. After the last step each thread writes its slice to
 * `results`, and thread 0 reads them all and writes the files.
 *
 * Operations of a run of `steps` steps by n threads:
 *
 *     thread 0                     2 * steps + 1 + n
 *     threads 1 ... n - 2          4 * steps + 1
 *     thread n - 1                 2 * steps + 1
 *     the only one (n = 1)         2
 *
 * and, where the map has it, those of kept.h after each STEPS of --commit. */
#include "apps/windtunnel/windtunnel.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eventspace/eventspace.h"
#include "paths/paths.h"
#include "apps/common/division.h"
#include "apps/common/kept.h"
#include "pastset/status.h"

/* What all threads of this process share; nobody changes it. */
typedef struct shared {
    const windtunnel_options *options;
    const char *directory;
} shared;

typedef struct neighbour {
    paths_path *to, *from; /* NULL: this side is a wall */
    lattice_side side;
} neighbour;

typedef struct worker {
    paths_thread *self;
    const shared *shared;
    lattice_tunnel tunnel;
    lattice_slice *slice;
    neighbour above, below;
    paths_path *results;
    uint32_t commit; /* so many steps are kept together; 0: none are */
    kept keeps;
    char *state;      /* that is kept */
    uint64_t begun;   /* the step from which on this thread goes on */
    uint64_t *border; /* the row that is written or read */
    size_t border_bytes;
    double start_seconds;
    windtunnel_times times;
} worker;

/* --- paths --- */

static int neighbour_open(worker *w, neighbour *n, lattice_side side,
                          const char *to, const char *from)
{
    int err = paths_open(&n->to, w->self, to);

    n->side = side;
    if (!err)
        err = paths_open(&n->from, w->self, from);
    if (!err && (paths_type(n->to)->max_bytes != w->border_bytes ||
                 paths_type(n->from)->max_bytes != w->border_bytes))
        err = pastset_fail(PASTSET_ETYPE,
                           "%s: its tuples have %" PRIu32
                           " bytes, but the border of a tunnel %" PRIu32
                           " sites wide has %zu: make the map again with "
                           "`windtunnel mapping --width=%" PRIu32 "`",
                           paths_describe(n->to), paths_type(n->to)->max_bytes,
                           w->tunnel.width, w->border_bytes, w->tunnel.width);
    return err;
}

static int paths_open_all(worker *w)
{
    uint32_t number = paths_thread_number(w->self);
    uint32_t count = paths_thread_count(w->self);
    int err = paths_open(&w->results, w->self, "results");

    if (!err && number > 0)
        err = neighbour_open(w, &w->above, LATTICE_ABOVE, "to_above",
                             "from_above");
    if (!err && number + 1 < count)
        err = neighbour_open(w, &w->below, LATTICE_BELOW, "to_below",
                             "from_below");
    return err;
}

/* --- steps --- */

static int border_send(worker *w, const neighbour *n)
{
    uint64_t begin;
    int err;

    if (!n->to)
        return 0;
    lattice_border_get(w->slice, n->side, w->border);
    begin = windtunnel_now_ns();
    err = paths_write(n->to, w->border, w->border_bytes);
    w->times.communicating_ns += windtunnel_now_ns() - begin;
    return err;
}

/* The tuple of step s has index s, from where this thread began, unless
 * something dropped or took one. */
static int border_receive(worker *w, const neighbour *n)
{
    paths_arguments arguments = {
        .verb = PASTSET_OBSERVE,
        .tuple = w->border,
        .bytes = w->border_bytes,
        .timeout_ms = PASTSET_FOREVER,
    };
    uint64_t step = lattice_slice_steps(w->slice), begin;
    int err;

    if (!n->from)
        return 0;
    begin = windtunnel_now_ns();
    err = paths_call(n->from, &arguments);
    w->times.communicating_ns += windtunnel_now_ns() - begin;
    if (err)
        return err;
    if (w->begun + arguments.index != step)
        return pastset_fail(PASTSET_EAPP,
                            "%s: the border of step %" PRIu64 " was lost, the "
                            "next is that of step %" PRIu64 ": the element "
                            "needs policy=block and no other reader",
                            paths_describe(n->from), step,
                            w->begun + arguments.index);
    lattice_border_set(w->slice, n->side, w->border);
    return 0;
}

static int step_run(worker *w)
{
    int err;

    lattice_collide(w->slice);
    err = border_send(w, &w->above);
    if (err)
        return err;
    err = border_send(w, &w->below);
    if (err)
        return err;
    err = border_receive(w, &w->above);
    if (err)
        return err;
    err = border_receive(w, &w->below);
    if (err)
        return err;
    lattice_propagate(w->slice);
    return 0;
}

static size_t state_bytes(const worker *w)
{
    return lattice_result_bytes(&w->tunnel, lattice_slice_rows(w->slice));
}

/* From the beginning, or from the last steps that all have committed. */
static int steps_begin(worker *w)
{
    const char *problem;
    int err;

    if (!w->commit)
        return 0;
    w->state = malloc(state_bytes(w));
    if (!w->state)
        return pastset_no_memory("for the slice");
    err = kept_open(&w->keeps, w->self, state_bytes(w));
    if (!err)
        err = kept_load(&w->keeps, &w->begun, w->state);
    if (err || !w->begun)
        return err;
    problem = lattice_result_unpack(w->slice, w->state, state_bytes(w));
    return problem ? pastset_fail(PASTSET_EAPP,
                                  "cannot go on from step %" PRIu64 ": %s",
                                  w->begun, problem)
                   : 0;
}

static int step_keep(worker *w)
{
    uint64_t step = lattice_slice_steps(w->slice);

    if (!w->commit || step % w->commit != 0)
        return 0;
    lattice_result_pack(w->slice, w->state);
    return kept_save(&w->keeps, step, w->state);
}

static int steps_run(worker *w)
{
    const windtunnel_options *options = w->shared->options;
    bool shows = paths_thread_number(w->self) == 0;
    uint64_t begin = windtunnel_now_ns();

    w->start_seconds = windtunnel_seconds();
    while (lattice_slice_steps(w->slice) < options->steps) {
        int err = step_run(w);
        if (err)
            return pastset_fail_while(err, "step %" PRIu64,
                                      lattice_slice_steps(w->slice));
        if (windtunnel_is_sampled(options, lattice_slice_steps(w->slice)))
            lattice_sample(w->slice);
        if (shows)
            windtunnel_progress(options, lattice_slice_steps(w->slice));
        err = step_keep(w);
        if (err)
            return err;
    }
    w->times.computing_ns =
        windtunnel_now_ns() - begin - w->times.communicating_ns;
    return 0;
}

/* --- results --- */

static int result_write(worker *w)
{
    size_t bytes = state_bytes(w);
    char *tuple = malloc(bytes + sizeof(w->times));
    int err;

    if (!tuple)
        return pastset_no_memory("for the result");
    lattice_result_pack(w->slice, tuple);
    memcpy(tuple + bytes, &w->times, sizeof(w->times));
    err = paths_write(w->results, tuple, bytes + sizeof(w->times));
    free(tuple);
    return err;
}

static int rows_of(const worker *w, uint32_t thread, uint32_t *first,
                   uint32_t *rows)
{
    return division_share(paths_thread_attribute(w->self, DIVISION_ATTRIBUTE),
                          w->tunnel.height, paths_thread_count(w->self), thread,
                          first, rows);
}

/* The times behind a slice, and which rows that has. Returns what is wrong, as
 * lattice_result_unpack does. */
static const char *times_take(const worker *w, const char *tuple, size_t bytes,
                              pixels_slice *slices)
{
    uint32_t count = paths_thread_count(w->self), first, rows;
    windtunnel_times times;

    memcpy(&times, tuple + bytes, sizeof(times));
    if (times.thread >= count)
        return "it is of a thread that there is not";
    if (rows_of(w, (uint32_t)times.thread, &first, &rows))
        return "there are no such rows";
    slices[times.thread] =
        (pixels_slice){first, rows, times.computing_ns, times.communicating_ns};
    return NULL;
}

static int result_read(const worker *w, paths_path *path, lattice_slice *whole,
                       pixels_slice *slices, char *tuple, size_t capacity)
{
    paths_arguments arguments = {
        .verb = PASTSET_OBSERVE,
        .tuple = tuple,
        .bytes = capacity,
        .timeout_ms = PASTSET_FOREVER,
    };
    const char *problem;
    int err = paths_call(path, &arguments);

    if (err)
        return err;
    if (arguments.bytes < sizeof(windtunnel_times))
        problem = "it is too short";
    else
        problem = lattice_result_unpack(
            whole, tuple, arguments.bytes - sizeof(windtunnel_times));
    if (!problem)
        problem = times_take(
            w, tuple, arguments.bytes - sizeof(windtunnel_times), slices);
    if (problem)
        return pastset_fail(
            PASTSET_EAPP, "%s: cannot use the result in tuple %" PRIu64 ": %s",
            paths_describe(path), arguments.index, problem);
    return 0;
}

static int results_read(worker *w, lattice_slice *whole, pixels_slice *slices)
{
    paths_path *path;
    size_t capacity;
    char *tuple;
    int err = paths_open(&path, w->self, "all_results");

    if (err)
        return err;
    capacity = paths_type(path)->max_bytes;
    tuple = malloc(capacity);
    if (!tuple)
        return pastset_no_memory("for the results");
    for (uint32_t i = 0; !err && i < paths_thread_count(w->self); i++)
        err = result_read(w, path, whole, slices, tuple, capacity);
    free(tuple);
    return err;
}

/* Thread 0. A slice of the whole tunnel before its first step tells how many
 * particles there were, and then takes in the results. */
static int results_report(worker *w)
{
    windtunnel_report report = {
        .threads = paths_thread_count(w->self),
        .directory = w->shared->directory,
    };
    lattice_slice *whole =
        lattice_slice_create(&w->tunnel, 0, w->tunnel.height);
    pixels_slice *slices = calloc(report.threads, sizeof(*slices));
    int err;

    if (!whole || !slices) {
        err = pastset_no_memory("for the tunnel");
        goto done;
    }
    report.whole = whole;
    report.slices = slices;
    report.particles_before = lattice_particles(whole);
    err = results_read(w, whole, slices);
    report.seconds = windtunnel_seconds() - w->start_seconds;
    if (!err)
        err = windtunnel_report_write(&report, w->shared->options);
done:
    lattice_slice_destroy(whole);
    free(slices);
    return err;
}

/* --- a thread --- */

/* The size that the options give, else the map, else the usual one. */
static int tunnel_find(worker *w)
{
    const char *size =
        paths_thread_attribute(w->self, WINDTUNNEL_SIZE_ATTRIBUTE);
    uint32_t width = WINDTUNNEL_WIDTH, height = WINDTUNNEL_HEIGHT;
    char more;

    if (size &&
        sscanf(size, "%" SCNu32 "x%" SCNu32 "%c", &width, &height, &more) != 2)
        return pastset_fail(PASTSET_EMAP,
                            "thread %s: " WINDTUNNEL_SIZE_ATTRIBUTE
                            "=\"%s\" is not a size such as \"1024x512\"",
                            paths_thread_name(w->self), size);
    return windtunnel_tunnel(&w->tunnel, w->shared->options, width, height);
}

static int commit_find(worker *w)
{
    const char *text =
        paths_thread_attribute(w->self, WINDTUNNEL_COMMIT_ATTRIBUTE);
    char more;

    if (text && sscanf(text, "%" SCNu32 "%c", &w->commit, &more) != 1)
        return pastset_fail(PASTSET_EMAP,
                            "thread %s: " WINDTUNNEL_COMMIT_ATTRIBUTE
                            "=\"%s\" is no number of steps",
                            paths_thread_name(w->self), text);
    return 0;
}

static int slice_make(worker *w)
{
    uint32_t first, rows;
    int err = rows_of(w, paths_thread_number(w->self), &first, &rows);

    if (err)
        return err;
    w->border_bytes = lattice_border_words(&w->tunnel) * sizeof(uint64_t);
    w->border = malloc(w->border_bytes);
    w->slice = lattice_slice_create(&w->tunnel, first, rows);
    if (!w->border || !w->slice)
        return pastset_no_memory("for the slice");
    return 0;
}

static int worker_run(paths_thread *self, void *argument)
{
    worker w = {.self = self,
                .shared = argument,
                .times.thread = paths_thread_number(self)};
    int err = tunnel_find(&w);

    if (err)
        goto done;
    err = slice_make(&w);
    if (err)
        goto done;
    err = paths_open_all(&w);
    if (!err)
        err = commit_find(&w);
    if (!err)
        err = steps_begin(&w);
    if (err)
        goto done;
    err = steps_run(&w);
    if (err)
        goto done;
    err = result_write(&w);
    if (err)
        goto done;
    if (paths_thread_number(self) == 0)
        err = results_report(&w);
done:
    lattice_slice_destroy(w.slice);
    free(w.border);
    free(w.state);
    return err;
}

int windtunnel_run(const windtunnel_options *options)
{
    shared all = {.options = options};
    eventspace *es;
    int err = eventspace_start(&es);

    if (!err) {
        all.directory = eventspace_directory(es);
        err = eventspace_program(es, "*", worker_run, &all);
    }
    return eventspace_finish(es, err);
}
