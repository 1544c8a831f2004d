/* parts.c - of a long run, the parts that matter most: they are shown operation
 * by operation, the others as bins.
 *
 * The run is cut into windows with about as many operations each. Taken are, as
 * far as there is room: the first one and the last one; that of the longest
 * operation; that of the first one that failed; that in which there is most
 * waiting, and one in which there is as much as in most; then the others, those
 * with the most waiting first. */
#include "viewer/timeline/timeline_internal.h"

#include <stdlib.h>

#define WINDOWS_MAX 4096
#define WANTED 8 /* windows there should be room for */

typedef struct window {
    size_t place;
    uint64_t operations;
    int64_t waiting_ns, longest_ns;
    bool failed, taken;
} window;

typedef struct choice {
    const viewer_timeline *timeline;
    viewer__grid grid;   /* the windows */
    window *windows;     /* by time */
    window **by_waiting; /* those with operations, the most waiting first */
    size_t used;
    uint64_t room; /* operations */
    int parts;
} choice;

/* --- what is in the windows --- */

/* Windows of whole bins. */
static viewer__grid windows_of(const viewer__grid *bins, uint64_t operations,
                               uint64_t operations_max)
{
    size_t count = operations / (operations_max / WANTED + 1) + 1;
    size_t each;

    if (count > WINDOWS_MAX)
        count = WINDOWS_MAX;
    each = (bins->count - 1) / count + 1;
    return (viewer__grid){bins->start_ns, bins->bin_ns * (int64_t)each,
                          (bins->count - 1) / each + 1};
}

static uint64_t count_in(const viewer_timeline *timeline,
                         const viewer__grid *grid)
{
    int64_t end_ns = grid->start_ns + grid->bin_ns * (int64_t)grid->count;
    uint64_t sum = 0;

    for (uint32_t i = 0; i < timeline->view->thread_count; i++)
        sum += viewer__first_from(timeline, i, end_ns) -
               viewer__first_from(timeline, i, grid->start_ns);
    return sum;
}

static void look_at(choice *c, size_t place)
{
    const scopes_operation *op = &c->timeline->view->operations[place];
    int64_t behind_ns = op->start_ns - c->grid.start_ns;
    window *w;

    if (behind_ns < 0 || behind_ns / c->grid.bin_ns >= (int64_t)c->grid.count)
        return;
    w = &c->windows[behind_ns / c->grid.bin_ns];
    w->operations++;
    w->waiting_ns += c->timeline->waits.waits[place].ns;
    if (op->end_ns - op->start_ns > w->longest_ns)
        w->longest_ns = op->end_ns - op->start_ns;
    w->failed |= viewer__has_failed(op);
}

static int most_waiting(const void *left, const void *right)
{
    const window *a = *(window *const *)left, *b = *(window *const *)right;

    if (a->waiting_ns != b->waiting_ns)
        return a->waiting_ns > b->waiting_ns ? -1 : 1;
    return a->place < b->place ? -1 : 1;
}

static void look_at_all(choice *c)
{
    for (size_t i = 0; i < c->timeline->view->operation_count; i++)
        look_at(c, i);
    for (size_t i = 0; i < c->grid.count; i++) {
        c->windows[i].place = i;
        if (c->windows[i].operations > 0)
            c->by_waiting[c->used++] = &c->windows[i];
    }
    qsort(c->by_waiting, c->used, sizeof(window *), most_waiting);
}

/* --- which are taken --- */

static void take(choice *c, window *w)
{
    if (!w || w->taken || w->operations > c->room ||
        c->parts == VIEWER__PARTS_MAX)
        return;
    w->taken = true;
    c->room -= w->operations;
    c->parts++;
}

static window *first_used(const choice *c)
{
    for (size_t i = 0; i < c->grid.count; i++)
        if (c->windows[i].operations > 0)
            return &c->windows[i];
    return NULL;
}

static window *last_used(const choice *c)
{
    for (size_t i = c->grid.count; i-- > 0;)
        if (c->windows[i].operations > 0)
            return &c->windows[i];
    return NULL;
}

static window *with_longest(const choice *c)
{
    window *best = NULL;

    for (size_t i = 0; i < c->grid.count; i++)
        if (!best || c->windows[i].longest_ns > best->longest_ns)
            best = &c->windows[i];
    return best;
}

static window *with_failure(const choice *c)
{
    for (size_t i = 0; i < c->grid.count; i++)
        if (c->windows[i].failed)
            return &c->windows[i];
    return NULL;
}

static void choose(choice *c)
{
    take(c, first_used(c));
    take(c, last_used(c));
    take(c, with_longest(c));
    take(c, with_failure(c));
    if (c->used > 0) {
        take(c, c->by_waiting[0]);
        take(c, c->by_waiting[c->used / 2]);
    }
    for (size_t i = 1; i < c->used; i++)
        take(c, c->by_waiting[i]);
}

/* Windows beside each other are one part. */
static int put_parts(viewer__part *out, const choice *c)
{
    int count = 0;

    for (size_t i = 0; i < c->grid.count; i++) {
        int64_t from_ns = c->grid.start_ns + c->grid.bin_ns * (int64_t)i;
        if (!c->windows[i].taken)
            continue;
        if (count == 0 || out[count - 1].to_ns != from_ns)
            out[count++].from_ns = from_ns;
        out[count - 1].to_ns = from_ns + c->grid.bin_ns;
    }
    return count;
}

int viewer__parts_choose(viewer__part *out, const viewer_timeline *timeline,
                         const viewer__grid *grid, uint64_t operations_max)
{
    choice c = {.timeline = timeline, .room = operations_max};
    int parts = -1;

    c.grid = windows_of(grid, count_in(timeline, grid), operations_max);
    c.windows = calloc(c.grid.count, sizeof(*c.windows));
    c.by_waiting = calloc(c.grid.count, sizeof(*c.by_waiting));
    if (c.windows && c.by_waiting) {
        look_at_all(&c);
        choose(&c);
        parts = put_parts(out, &c);
    }
    free(c.windows);
    free(c.by_waiting);
    return parts;
}
