/* bins.c - how long a thread was in each state, bin by bin.
 *
 * Its operations are gone through by start. Operations that were started
 * together overlap: no moment counts twice. A thread is in an operation from
 * the first start to the latest end, of which what it waits, and what fails, is
 * told apart. A moment in which one operation waits while another one fails
 * counts as failed. */
#include "viewer/timeline/timeline_internal.h"

__extension__ typedef __int128 wide;

typedef struct filling {
    viewer__bin *bins;
    const viewer__grid *grid;
    int64_t end_ns; /* of the grid */
} filling;

viewer__grid viewer__grid_of(int64_t from_ns, int64_t to_ns, size_t columns)
{
    int64_t span_ns = to_ns > from_ns ? to_ns - from_ns : 1;
    int64_t bin_ns = (span_ns - 1) / (int64_t)columns + 1;

    return (viewer__grid){from_ns, bin_ns,
                          (size_t)((span_ns - 1) / bin_ns + 1)};
}

static size_t bin_at(const filling *f, int64_t ns)
{
    return (size_t)((ns - f->grid->start_ns) / f->grid->bin_ns);
}

/* Of `all_ns`, spread evenly over a stretch that is `long_ns`, what comes
 * before `ns` in it. The parts of it add up to all of it. */
static int64_t part_of(int64_t all_ns, int64_t long_ns, int64_t ns)
{
    return (int64_t)((wide)all_ns * ns / long_ns);
}

/* Adds of a stretch of time what falls into each bin: `all_ns` are spread over
 * it. */
static void spread(const filling *f, viewer__state state, int64_t from_ns,
                   int64_t to_ns, int64_t all_ns)
{
    int64_t at_ns = from_ns > f->grid->start_ns ? from_ns : f->grid->start_ns;
    int64_t end_ns = to_ns < f->end_ns ? to_ns : f->end_ns;
    int64_t long_ns = to_ns - from_ns;

    if (at_ns >= end_ns || all_ns == 0)
        return;
    for (size_t i = bin_at(f, at_ns); at_ns < end_ns; i++) {
        int64_t next_ns =
            f->grid->start_ns + ((int64_t)i + 1) * f->grid->bin_ns;
        if (next_ns > end_ns)
            next_ns = end_ns;
        f->bins[i].ns[state] += part_of(all_ns, long_ns, next_ns - from_ns) -
                                part_of(all_ns, long_ns, at_ns - from_ns);
        at_ns = next_ns;
    }
}

/* The time from then to then, less what has been counted up to `until_ns`. */
static void cover(const filling *f, viewer__state state, int64_t from_ns,
                  int64_t to_ns, int64_t *until_ns)
{
    if (from_ns < *until_ns)
        from_ns = *until_ns;
    if (to_ns <= from_ns)
        return;
    spread(f, state, from_ns, to_ns, to_ns - from_ns);
    *until_ns = to_ns;
}

/* Between operations: all of it, what was off the processor, and what of that
 * was runnable. What is within another one is taken off that when all is
 * there. */
static void add_gap(const filling *f, int64_t from_ns, int64_t to_ns,
                    scopes_off_time off)
{
    if (to_ns <= from_ns)
        return;
    spread(f, VIEWER__COMPUTING, from_ns, to_ns, to_ns - from_ns);
    spread(f, VIEWER__RUNNABLE, from_ns, to_ns, off.runnable_ns);
    spread(f, VIEWER__SLEEPING, from_ns, to_ns,
           off.runnable_ns + off.sleeping_ns);
}

/* Tells of the operations that begin in a bin. */
static void note(const filling *f, const viewer_timeline *t, size_t place)
{
    const scopes_operation *op = &t->view->operations[place];
    const viewer__wait *wait = &t->waits.waits[place];
    viewer__bin *bin;

    if (op->start_ns < f->grid->start_ns || op->start_ns >= f->end_ns)
        return;
    bin = &f->bins[bin_at(f, op->start_ns)];
    if (bin->operations++ == 0 || op->end_ns - op->start_ns > bin->longest_ns) {
        bin->longest = place;
        bin->longest_ns = op->end_ns - op->start_ns;
    }
    if (wait->ns > bin->longest_wait_ns) {
        bin->longest_wait_ns = wait->ns;
        bin->waits_for = wait->for_thread;
    }
}

typedef struct until {
    int64_t busy_ns, waited_ns, failed_ns;
} until;

static int64_t later(int64_t a_ns, int64_t b_ns)
{
    return a_ns > b_ns ? a_ns : b_ns;
}

/* What was taken to wait there, until `waited_ns` without a gap, has failed. */
static void add_failed(const filling *f, const scopes_operation *op, until *u)
{
    int64_t from_ns = later(op->start_ns, u->failed_ns);
    int64_t to_ns = op->end_ns < u->waited_ns ? op->end_ns : u->waited_ns;

    if (to_ns > from_ns)
        spread(f, VIEWER__WAITING, from_ns, to_ns, from_ns - to_ns);
    cover(f, VIEWER__FAILED, op->start_ns, op->end_ns, &u->failed_ns);
}

static void add_operation(const filling *f, const viewer_timeline *t,
                          size_t place, until *u)
{
    const scopes_operation *op = &t->view->operations[place];
    int64_t start_ns = op->start_ns;

    add_gap(f, u->busy_ns, start_ns, t->off[place]);
    cover(f, VIEWER__TRANSFERRING, start_ns, op->end_ns, &u->busy_ns);
    if (viewer__has_failed(op))
        add_failed(f, op, u);
    else
        cover(f, VIEWER__WAITING, later(start_ns, u->failed_ns),
              start_ns + t->waits.waits[place].ns, &u->waited_ns);
    note(f, t, place);
}

/* Makes the states exclude each other. */
static void settle(viewer__bin *bin)
{
    int64_t *ns = bin->ns;

    ns[VIEWER__TRANSFERRING] -= ns[VIEWER__FAILED] + ns[VIEWER__WAITING];
    ns[VIEWER__COMPUTING] -= ns[VIEWER__SLEEPING];
    ns[VIEWER__SLEEPING] -= ns[VIEWER__RUNNABLE];
}

static void add_links(const filling *f, const viewer_timeline *t,
                      uint32_t thread)
{
    size_t i = t->first_link[thread], end = t->first_link[thread + 1];

    for (; i < end && t->by_thread[i].start_ns < f->end_ns; i++) {
        const viewer__link *link = &t->by_thread[i];
        spread(f, VIEWER__CRITICAL, link->start_ns, link->end_ns,
               link->end_ns - link->start_ns);
    }
}

void viewer__bins_fill(viewer__bin *bins, const viewer__grid *grid,
                       const viewer_timeline *timeline, uint32_t thread)
{
    const scopes_thread *about = &timeline->view->threads[thread];
    filling f = {bins, grid,
                 grid->start_ns + (int64_t)grid->count * grid->bin_ns};
    size_t begin = about->operation, end = begin + about->operations;
    size_t i = viewer__first_beyond(timeline, thread, grid->start_ns);
    until u = {about->start_ns, INT64_MIN, INT64_MIN};

    for (size_t k = 0; k < grid->count; k++)
        bins[k] = (viewer__bin){.waits_for = PATHS_NONE};
    if (i > begin)
        u.busy_ns = timeline->reach_ns[i - 1];
    for (; i < end && timeline->view->operations[i].start_ns < f.end_ns; i++)
        add_operation(&f, timeline, i, &u);
    add_gap(&f, u.busy_ns,
            i < end ? timeline->view->operations[i].start_ns : about->end_ns,
            i < end ? timeline->off[i] : timeline->off_after[thread]);
    add_links(&f, timeline, thread);
    for (size_t k = 0; k < grid->count; k++)
        settle(&bins[k]);
}
