/* rerun_costs.c - what operations cost, as it was recorded: see
 * rerun_internal.h. */
#include "scopes/waiting/rerun_internal.h"

#include <stdlib.h>
#include <string.h>

#include "scopes/memory/memory_internal.h"

/* Of those that began while others of their thread were under way, so many
 * before are looked at. */
#define LOOK_BACK 64

/* Times of a path, of which the median is asked for: the last so many. */
#define KEPT 64

typedef struct recent {
    int64_t ns[KEPT];
    uint32_t count;
} recent;

typedef struct recording {
    const scopes__waiting *w;
    scopes__costs *costs;
    int64_t *last_ns;   /* by round: its last arrival */
    uint8_t *is_shared; /* by operation: one of several of a call */
    recent *owns, *ups; /* by path */
} recording;

static int64_t less(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t more(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int no_memory(void)
{
    return scopes__no_room("for the costs of operations");
}

/* --- memory --- */

static int make(scopes__costs *c, uint32_t count, uint32_t threads)
{
    size_t bytes = ((size_t)count + 1) * sizeof(int64_t);

    *c = (scopes__costs){.count = count, .thread_count = threads};
    c->gap_ns = scopes__allocate(bytes);
    c->down_ns = scopes__allocate(bytes);
    c->own_ns = scopes__allocate(bytes);
    c->up_ns = scopes__allocate(bytes);
    c->is_free = scopes__allocate((size_t)count + 1);
    c->begin_ns = calloc(threads + 1u, sizeof(*c->begin_ns));
    c->tail_ns = calloc(threads + 1u, sizeof(*c->tail_ns));
    if (c->gap_ns && c->down_ns && c->own_ns && c->up_ns && c->is_free &&
        c->begin_ns && c->tail_ns)
        return 0;
    scopes__costs_free(c);
    return no_memory();
}

int scopes__costs_copy(scopes__costs *out, const scopes__costs *costs)
{
    size_t bytes = costs->count * sizeof(int64_t);
    size_t thread_bytes = costs->thread_count * sizeof(int64_t);
    int err = make(out, costs->count, costs->thread_count);

    if (err)
        return err;
    memcpy(out->gap_ns, costs->gap_ns, bytes);
    memcpy(out->down_ns, costs->down_ns, bytes);
    memcpy(out->own_ns, costs->own_ns, bytes);
    memcpy(out->up_ns, costs->up_ns, bytes);
    memcpy(out->is_free, costs->is_free, costs->count);
    memcpy(out->begin_ns, costs->begin_ns, thread_bytes);
    memcpy(out->tail_ns, costs->tail_ns, thread_bytes);
    return 0;
}

void scopes__costs_free(scopes__costs *c)
{
    scopes__free(c->gap_ns);
    scopes__free(c->down_ns);
    scopes__free(c->own_ns);
    scopes__free(c->up_ns);
    scopes__free(c->is_free);
    free(c->begin_ns);
    free(c->tail_ns);
    *c = (scopes__costs){0};
}

/* --- gaps --- */

/* Of those under way from `first` on, the last that had ended when this one
 * began; itself, if none had. */
static uint32_t ended_before(const scopes__waiting *w, uint32_t first,
                             uint32_t operation)
{
    const scopes_operation *items = w->times->operations;
    uint32_t found = operation;

    for (uint32_t i = operation; i-- > first && operation - i <= LOOK_BACK;)
        if (items[i].end_ns <= items[operation].start_ns &&
            (found == operation || items[i].end_ns > items[found].end_ns))
            found = i;
    return found;
}

static void record_thread(scopes__costs *c, const scopes__waiting *w,
                          uint32_t number, uint32_t *before)
{
    const scopes_thread *thread = &w->times->threads[number];
    const scopes_operation *items = w->times->operations;
    uint32_t from = (uint32_t)thread->operation, call = from;
    int64_t busy_until = thread->start_ns;

    c->begin_ns[number] = thread->start_ns - w->times->start_ns;
    for (uint32_t i = from; i < from + thread->operations; i++) {
        int64_t since_ns = busy_until;
        if (w->flags[i] & SCOPES__BEGINS) {
            call = i;
            before[i] = i;
        } else {
            before[i] = ended_before(w, call, i);
            since_ns =
                before[i] == i ? items[call].start_ns : items[before[i]].end_ns;
        }
        c->gap_ns[i] = items[i].start_ns - since_ns;
        if (items[i].end_ns > busy_until)
            busy_until = items[i].end_ns;
    }
    c->tail_ns[number] =
        thread->end_ns > busy_until ? thread->end_ns - busy_until : 0;
}

/* --- what comes after the arrival --- */

static int64_t arrival(const recording *r, uint32_t operation)
{
    return scopes__waiting_operation(r->w, operation)->start_ns +
           r->costs->down_ns[operation];
}

static void keep(recent *kept, int64_t ns)
{
    kept->ns[kept->count++ % KEPT] = ns;
}

static int in_order(const void *a, const void *b)
{
    const int64_t *one = a, *two = b;

    return *one < *two ? -1 : *one > *two;
}

/* INT64_MAX where there is none. */
static int64_t median(recent *kept)
{
    uint32_t count = kept->count < KEPT ? kept->count : KEPT;

    if (count == 0)
        return INT64_MAX;
    qsort(kept->ns, count, sizeof(*kept->ns), in_order);
    return kept->ns[count / 2];
}

/* When what it needs had arrived; INT64_MIN: it needs nothing. */
static int64_t needed_at(const recording *r, uint32_t operation)
{
    uint32_t meeting = scopes__waiting_meeting(r->w, operation);
    uint32_t other = scopes__waiting_other(r->w, operation);

    if (meeting != SCOPES_MISSING)
        return r->last_ns[meeting];
    return other == SCOPES_MISSING ? INT64_MIN : arrival(r, other);
}

/* What was seen; of the other way to end, the most that it can have taken. */
static void record_end(recording *r, uint32_t operation)
{
    const scopes_operation *its = scopes__waiting_operation(r->w, operation);
    int64_t own_ns = its->end_ns - arrival(r, operation);
    int64_t needed_ns = needed_at(r, operation);

    r->costs->own_ns[operation] = own_ns;
    if (needed_ns == INT64_MIN)
        return;
    r->costs->up_ns[operation] = its->end_ns - needed_ns;
    if (scopes__waiting_meeting(r->w, operation) != SCOPES_MISSING)
        r->costs->own_ns[operation] = 0;
    else if (r->costs->up_ns[operation] < own_ns)
        keep(&r->ups[its->path], r->costs->up_ns[operation]);
    else
        keep(&r->owns[its->path], own_ns);
}

/* Operations that begin and end together are one call, which ended when all of
 * them had what they need: what came after that counts for each. */
static void record_call(recording *r, uint32_t from, uint32_t to)
{
    int64_t ready_ns = INT64_MIN, rest_ns;

    if (to - from == 1) {
        record_end(r, from);
        return;
    }
    for (uint32_t i = from; i < to; i++) {
        ready_ns = more(ready_ns, arrival(r, i));
        ready_ns = more(ready_ns, needed_at(r, i));
    }
    rest_ns = scopes__waiting_operation(r->w, from)->end_ns - ready_ns;
    for (uint32_t i = from; i < to; i++) {
        r->costs->own_ns[i] = r->costs->up_ns[i] = rest_ns;
        r->is_shared[i] = 1;
    }
}

static bool is_together(const scopes__waiting *w, uint32_t one, uint32_t other)
{
    const scopes_operation *a = scopes__waiting_operation(w, one);
    const scopes_operation *b = scopes__waiting_operation(w, other);

    return a->thread == b->thread && a->start_ns == b->start_ns &&
           a->end_ns == b->end_ns;
}

static void record_calls(recording *r)
{
    uint32_t from = 0;

    for (uint32_t i = 1; i <= r->w->count; i++) {
        if (i < r->w->count && is_together(r->w, from, i))
            continue;
        record_call(r, from, i);
        from = i;
    }
}

static void settle_end(recording *r, uint32_t operation, const int64_t *own_ns,
                       const int64_t *up_ns)
{
    scopes__costs *c = r->costs;
    uint32_t path = scopes__waiting_operation(r->w, operation)->path;

    if (scopes__waiting_other(r->w, operation) == SCOPES_MISSING ||
        r->is_shared[operation])
        return;
    if (c->up_ns[operation] < c->own_ns[operation])
        c->own_ns[operation] = less(own_ns[path], c->own_ns[operation]);
    else
        c->up_ns[operation] = less(up_ns[path], c->up_ns[operation]);
}

static int settle_ends(recording *r)
{
    size_t count = r->w->times->path_count + 1;
    int64_t *own_ns = calloc(count, sizeof(*own_ns));
    int64_t *up_ns = calloc(count, sizeof(*up_ns));
    int err = own_ns && up_ns ? 0 : no_memory();

    for (size_t i = 0; i < r->w->times->path_count && !err; i++) {
        own_ns[i] = median(&r->owns[i]);
        up_ns[i] = median(&r->ups[i]);
        /* Both are the way back: where one was never seen, the other. */
        if (own_ns[i] == INT64_MAX)
            own_ns[i] = up_ns[i];
        else if (up_ns[i] == INT64_MAX)
            up_ns[i] = own_ns[i];
    }
    for (uint32_t i = 0; i < r->w->count && !err; i++)
        settle_end(r, i, own_ns, up_ns);
    free(own_ns);
    free(up_ns);
    return err;
}

static void rounds_record(recording *r)
{
    for (uint32_t i = 0; i < r->w->met_count; i++)
        r->last_ns[i] = INT64_MIN;
    for (uint32_t i = 0; i < r->w->count; i++) {
        uint32_t meeting = scopes__waiting_meeting(r->w, i);
        if (meeting != SCOPES_MISSING && arrival(r, i) > r->last_ns[meeting])
            r->last_ns[meeting] = arrival(r, i);
    }
}

static int ends_record(recording *r)
{
    size_t paths = r->w->times->path_count + 1;
    int err;

    r->last_ns =
        scopes__allocate(((size_t)r->w->met_count + 1) * sizeof(*r->last_ns));
    r->is_shared = scopes__allocate((size_t)r->w->count + 1);
    r->owns = calloc(paths, sizeof(*r->owns));
    r->ups = calloc(paths, sizeof(*r->ups));
    err = r->last_ns && r->is_shared && r->owns && r->ups ? 0 : no_memory();
    if (!err) {
        memset(r->is_shared, 0, r->w->count);
        memset(r->costs->is_free, 0, r->w->count);
        memset(r->costs->up_ns, 0, r->w->count * sizeof(*r->costs->up_ns));
        rounds_record(r);
        if (r->w->count)
            record_calls(r);
        err = settle_ends(r);
    }
    scopes__free(r->last_ns);
    scopes__free(r->is_shared);
    free(r->owns);
    free(r->ups);
    return err;
}

/* --- all of them --- */

int scopes__costs_record(scopes__costs *out, const scopes__waiting *w,
                         uint32_t *before)
{
    recording r = {.w = w, .costs = out};
    int err = make(out, w->count, w->times->thread_count);

    if (err)
        return err;
    memset(out->down_ns, 0, w->count * sizeof(*out->down_ns));
    for (uint32_t i = 0; i < w->times->thread_count; i++)
        record_thread(out, w, i, before);
    err = scopes__ways_add(w, NULL, out->down_ns, NULL);
    if (!err)
        err = ends_record(&r);
    if (err)
        scopes__costs_free(out);
    return err;
}

void scopes__cost_add(int64_t *ns, int64_t more_ns)
{
    *ns = more_ns < 0 ? more(*ns + more_ns, less(*ns, 0)) : *ns + more_ns;
}

int scopes__costs_hops(scopes__costs *costs, const scopes__waiting *w,
                       const bool *hops, double factor)
{
    size_t bytes = ((size_t)costs->count + 1) * sizeof(int64_t);
    int64_t *down_ns = scopes__allocate(bytes);
    int64_t *up_ns = scopes__allocate(bytes);
    int err = down_ns && up_ns ? 0 : no_memory();

    if (!err) {
        memset(down_ns, 0, bytes);
        memset(up_ns, 0, bytes);
        err = scopes__ways_add(w, hops, down_ns, up_ns);
    }
    for (uint32_t i = 0; i < costs->count && !err; i++) {
        int64_t change_ns = (int64_t)((factor - 1) * (double)up_ns[i]);
        scopes__cost_add(&costs->down_ns[i],
                         (int64_t)((factor - 1) * (double)down_ns[i]));
        scopes__cost_add(&costs->up_ns[i], change_ns);
        scopes__cost_add(&costs->own_ns[i], change_ns);
    }
    scopes__free(down_ns);
    scopes__free(up_ns);
    return err;
}
