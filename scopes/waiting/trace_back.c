/* trace_back.c - see trace_back_internal.h. */
#include "scopes/waiting/trace_back_internal.h"

#include <stdlib.h>

#include "pastset/request.h"
#include "scopes/memory/memory_internal.h"

/* Sorts of what a thread does: waiting, then for each sort of call what is
 * before it and what is in it. */
enum { WAITING, FIRST_SORT };
/* Of sorts. */
enum { COMPUTES, IS_IN_CALL, WAITS, GROUPS };
enum { SENDS, RECEIVES, OTHERS, FIRST_SITE };

/* Goes back over what a thread did, piece by piece, until `from_ns`. */
typedef struct walk {
    const scopes__waiting *w;
    uint32_t other; /* the thread that it is compared with */
    int64_t from_ns, at_ns;
    uint32_t first;     /* operation of the thread */
    uint32_t operation; /* the next one, before which the thread computed */
    bool in_gap;        /* ... until at_ns; else it is in the one before */
    uint32_t first_wait, waits; /* of the thread: those that were before */
} walk;

typedef struct piece {
    uint32_t sort;
    uint32_t operation;
    bool in_call;
    uint32_t wait; /* SCOPES_MISSING: it did not wait */
    int64_t ns;
} piece;

typedef struct tracing {
    const scopes__waiting *w;
    scopes__delay_each *each;
    void *context;
    uint32_t *order;   /* waits, the last to end first */
    double *direct_ns; /* by wait */
    double *propagated_ns;
    uint8_t *done;
    int64_t *late_ns, *early_ns; /* by sort, of a wait; else 0 */
    double parts[GROUPS];        /* of the excess of its sorts that counts */
    uint32_t sorts;
} tracing;

static const scopes_thread *thread_of(const scopes__waiting *w,
                                      uint32_t operation)
{
    return &w->times->threads[scopes__waiting_operation(w, operation)->thread];
}

/* --- what a thread did --- */

static uint32_t sort_of(const scopes__waiting *w, uint32_t operation,
                        uint32_t other)
{
    const scopes_operation *o = scopes__waiting_operation(w, operation);
    uint32_t line = w->lines[w->tops[o->path]];
    uint32_t meeting = w->meetings[operation];
    uint32_t call =
        line != SCOPES_MISSING && scopes__waiting_calls_in(w, line, other)
            ? FIRST_SITE + w->in.topology->site_count + line
        : meeting != SCOPES_MISSING ? FIRST_SITE + w->met[meeting].site
        : o->verb == PASTSET_WRITE  ? SENDS
        : w->others[operation] != SCOPES_MISSING ? RECEIVES
                                                 : OTHERS;

    return FIRST_SORT + 2 * call;
}

/* The waits of a thread that had begun before. */
static uint32_t waits_before(const scopes__waiting *w, uint32_t thread,
                             int64_t at_ns)
{
    uint32_t low = w->first_waits[thread], high = w->first_waits[thread + 1];

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (w->waits[middle].from_ns < at_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* From `at_ns` back, which is before the thread's next operation begins, or
 * in it. */
static walk walk_begin(const scopes__waiting *w, uint32_t operation,
                       uint32_t other, int64_t from_ns, int64_t at_ns)
{
    uint32_t thread = scopes__waiting_operation(w, operation)->thread;

    return (walk){.w = w,
                  .other = scopes__waiting_operation(w, other)->thread,
                  .from_ns = from_ns,
                  .at_ns = at_ns,
                  .first = (uint32_t)thread_of(w, operation)->operation,
                  .operation = operation,
                  .in_gap = true,
                  .first_wait = w->first_waits[thread],
                  .waits = waits_before(w, thread, at_ns)};
}

/* What it computed before its next operation. False: nothing. */
static bool gap_take(walk *k, piece *out)
{
    int64_t from_ns = scopes__waiting_operation(k->w, k->operation)->start_ns -
                      k->w->gaps_ns[k->operation];

    k->in_gap = false;
    if (from_ns < k->from_ns)
        from_ns = k->from_ns;
    if (from_ns >= k->at_ns)
        return false;
    *out = (piece){sort_of(k->w, k->operation, k->other), k->operation, false,
                   SCOPES_MISSING, k->at_ns - from_ns};
    k->at_ns = from_ns;
    return true;
}

/* A part of the operation that was before: it waited, or not. */
static bool call_take(walk *k, piece *out)
{
    uint32_t operation = k->operation - 1;
    int64_t from_ns = scopes__waiting_operation(k->w, operation)->start_ns;
    const scopes__wait *wait;

    if (from_ns < k->from_ns)
        from_ns = k->from_ns;
    if (from_ns >= k->at_ns) {
        k->operation--;
        k->in_gap = true;
        return false;
    }
    while (k->waits > k->first_wait &&
           k->w->waits[k->waits - 1].from_ns >= k->at_ns)
        k->waits--;
    *out = (piece){sort_of(k->w, operation, k->other) + 1, operation, true,
                   SCOPES_MISSING, 0};
    wait = k->waits > k->first_wait ? &k->w->waits[k->waits - 1] : NULL;
    if (wait && wait->to_ns >= k->at_ns) {
        out->sort = WAITING;
        out->wait = k->waits - 1;
        from_ns = wait->from_ns > from_ns ? wait->from_ns : from_ns;
    } else if (wait && wait->to_ns > from_ns) {
        from_ns = wait->to_ns;
    }
    out->ns = k->at_ns - from_ns;
    k->at_ns = from_ns;
    return true;
}

/* The next piece; false: there are no more. */
static bool piece_next(walk *k, piece *out)
{
    while (k->at_ns > k->from_ns) {
        if (!k->in_gap && k->operation == k->first)
            return false;
        if (k->in_gap ? gap_take(k, out) : call_take(k, out))
            return true;
    }
    return false;
}

/* --- when two threads were last synchronised --- */

/* Going back over a thread's operations and waits. */
typedef struct past {
    uint32_t thread;
    uint32_t first, operation; /* those before it are to be looked at */
    uint32_t first_wait, waits;
    uint32_t steps;
} past;

static past past_of(const scopes__waiting *w, uint32_t operation, int64_t at_ns)
{
    uint32_t thread = scopes__waiting_operation(w, operation)->thread;

    return (past){thread,
                  (uint32_t)thread_of(w, operation)->operation,
                  operation,
                  w->first_waits[thread],
                  waits_before(w, thread, at_ns),
                  0};
}

/* Its last wait that was for the other one; INT64_MIN: since `after_ns` there
 * is none. */
static int64_t waited_at(const scopes__waiting *w, past *p, uint32_t other,
                         int64_t after_ns)
{
    while (p->waits > p->first_wait &&
           w->waits[p->waits - 1].to_ns > after_ns) {
        const scopes__wait *wait = &w->waits[--p->waits];
        if (scopes__waiting_operation(w, wait->other)->thread == other)
            return wait->to_ns;
    }
    return INT64_MIN;
}

/* When all were there who met in this operation, if the other one is among
 * them. */
static int64_t met_at(const scopes__waiting *w, uint32_t operation,
                      uint32_t other)
{
    uint32_t meeting = w->meetings[operation];

    if (meeting == SCOPES_MISSING || w->met[meeting].last == SCOPES_MISSING ||
        !scopes__waiting_joins(w, w->met[meeting].site, other))
        return INT64_MIN;
    return scopes__waiting_operation(w, w->met[meeting].last)->start_ns;
}

/* Of the one who waits: when it had last met the other one, or the time that
 * is as far back as is looked. */
static int64_t met_last(const scopes__waiting *w, past *p, uint32_t other,
                        int64_t before_ns)
{
    int64_t at_ns;

    while (p->operation > p->first && p->steps++ < SCOPES__LOOK_BACK) {
        at_ns = met_at(w, --p->operation, other);
        if (at_ns != INT64_MIN && at_ns <= before_ns)
            return at_ns;
    }
    return p->operation > p->first
               ? scopes__waiting_operation(w, p->operation)->start_ns
               : w->times->threads[p->thread].start_ns;
}

/* As far back as is looked at what the other one did. */
static int64_t looked_back(const scopes__waiting *w, const past *p)
{
    uint32_t at = p->operation - p->first > SCOPES__LOOK_BACK
                      ? p->operation - SCOPES__LOOK_BACK
                      : p->first;

    return at > p->first ? scopes__waiting_operation(w, at)->start_ns
                         : w->times->threads[p->thread].start_ns;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t synchronised_at(const scopes__waiting *w,
                               const scopes__wait *wait)
{
    past own = past_of(w, wait->operation, wait->from_ns);
    past its = past_of(w, wait->other, wait->to_ns);
    int64_t at_ns = looked_back(w, &its);
    uint32_t thread = own.thread;

    at_ns = later(at_ns, met_last(w, &own, its.thread, wait->from_ns));
    at_ns = later(at_ns, waited_at(w, &own, its.thread, at_ns));
    return later(at_ns, waited_at(w, &its, thread, at_ns));
}

/* --- dividing a cost --- */

static void pieces_add(const walk *from, int64_t *by_sort)
{
    walk k = *from;
    piece p;

    while (piece_next(&k, &p))
        by_sort[p.sort] += p.ns;
}

static void pieces_clear(const walk *from, int64_t *by_sort)
{
    walk k = *from;
    piece p;

    while (piece_next(&k, &p))
        by_sort[p.sort] = 0;
}

/* What of a piece of the late one exceeds what the other had of that sort. */
static double excess_in(const tracing *t, const piece *p)
{
    double late_ns = (double)t->late_ns[p->sort];
    double excess_ns = late_ns - (double)t->early_ns[p->sort];

    return excess_ns > 0 ? excess_ns / late_ns * (double)p->ns : 0;
}

static int group_of(const piece *p)
{
    return p->sort == WAITING ? WAITS : p->in_call ? IS_IN_CALL : COMPUTES;
}

static void groups_add(const walk *from, double sign, double *by_group)
{
    walk k = *from;
    piece p;

    while (piece_next(&k, &p))
        by_group[group_of(&p)] += sign * (double)p.ns;
}

/* Of each group no more counts than the late one has spent longer on all of
 * it: what it computed before calls of one sort, others may have computed
 * before calls of another. Gives all that counts. */
static double excess_of(tracing *t, const walk *late, const walk *early)
{
    double net_ns[GROUPS] = {0}, excess_ns[GROUPS] = {0}, all_ns = 0;
    walk k = *late;
    piece p;

    groups_add(late, 1, net_ns);
    groups_add(early, -1, net_ns);
    while (piece_next(&k, &p))
        excess_ns[group_of(&p)] += excess_in(t, &p);
    for (int g = 0; g < GROUPS; g++) {
        t->parts[g] = net_ns[g] > 0 ? net_ns[g] / excess_ns[g] : 0;
        all_ns += net_ns[g] > 0 ? net_ns[g] : 0;
    }
    return all_ns;
}

/* Gives a part of the cost of a wait to a piece. */
static int give(tracing *t, uint32_t wait, const piece *p, double part)
{
    scopes__delay delay = {p->operation, p->in_call, wait,
                           t->direct_ns[wait] * part,
                           t->propagated_ns[wait] * part};

    if (p->wait != SCOPES_MISSING && !t->done[p->wait]) {
        t->propagated_ns[p->wait] += delay.direct_ns + delay.propagated_ns;
        return 0;
    }
    return t->each(&delay, t->context);
}

static int divide(tracing *t, uint32_t wait, const walk *late, double all_ns)
{
    walk k = *late;
    piece p;
    int err = 0;

    while (!err && piece_next(&k, &p)) {
        double part = excess_in(t, &p) * t->parts[group_of(&p)] / all_ns;
        if (part > 0)
            err = give(t, wait, &p, part);
    }
    return err;
}

static int trace(tracing *t, uint32_t number)
{
    const scopes__wait *wait = &t->w->waits[number];
    int64_t from_ns = synchronised_at(t->w, wait);
    walk late =
        walk_begin(t->w, wait->other, wait->operation, from_ns, wait->to_ns);
    walk early =
        walk_begin(t->w, wait->operation, wait->other, from_ns, wait->from_ns);
    double all_ns;
    int err;

    pieces_add(&late, t->late_ns);
    pieces_add(&early, t->early_ns);
    all_ns = excess_of(t, &late, &early);
    if (all_ns > 0)
        err = divide(t, number, &late, all_ns);
    else /* it is not seen what the late one did */
        err =
            give(t, number,
                 &(piece){.operation = wait->other, .wait = SCOPES_MISSING}, 1);
    pieces_clear(&late, t->late_ns);
    pieces_clear(&early, t->early_ns);
    return err;
}

/* --- all waits --- */

static int by_end(const void *left, const void *right, void *context)
{
    const scopes__wait *waits = context;
    const scopes__wait *a = &waits[*(const uint32_t *)left];
    const scopes__wait *b = &waits[*(const uint32_t *)right];

    if (a->to_ns != b->to_ns)
        return a->to_ns > b->to_ns ? -1 : 1;
    return a < b ? -1 : a > b;
}

static int arrays_make(tracing *t, scopes__wait_counts *counts)
{
    const scopes__waiting *w = t->w;
    size_t count = (size_t)w->wait_count + 1;

    t->sorts = FIRST_SORT +
               2 * (FIRST_SITE + w->in.topology->site_count + w->line_count);
    t->order = scopes__allocate(count * sizeof(*t->order));
    t->direct_ns = scopes__allocate(count * sizeof(*t->direct_ns));
    t->propagated_ns = scopes__allocate(count * sizeof(*t->propagated_ns));
    t->done = scopes__allocate(count);
    t->late_ns = calloc(t->sorts, sizeof(*t->late_ns));
    t->early_ns = calloc(t->sorts, sizeof(*t->early_ns));
    if (!t->order || !t->direct_ns || !t->propagated_ns || !t->done ||
        !t->late_ns || !t->early_ns)
        return scopes__no_room("for what waits were caused by");
    for (uint32_t i = 0; i < w->wait_count; i++) {
        t->order[i] = i;
        t->done[i] = 0;
        t->propagated_ns[i] = 0;
        t->direct_ns[i] =
            counts(i, t->context)
                ? (double)(w->waits[i].to_ns - w->waits[i].from_ns)
                : 0;
    }
    if (w->wait_count)
        qsort_r(t->order, w->wait_count, sizeof(*t->order), by_end, w->waits);
    return 0;
}

int scopes__trace_back(const scopes__waiting *waiting,
                       scopes__wait_counts *counts, scopes__delay_each *each,
                       void *context)
{
    tracing t = {.w = waiting, .each = each, .context = context};
    int err = arrays_make(&t, counts);

    for (uint32_t i = 0; i < waiting->wait_count && !err; i++) {
        uint32_t number = t.order[i];
        t.done[number] = 1;
        if (t.direct_ns[number] + t.propagated_ns[number] > 0)
            err = trace(&t, number);
    }
    scopes__free(t.order);
    scopes__free(t.direct_ns);
    scopes__free(t.propagated_ns);
    scopes__free(t.done);
    free(t.late_ns);
    free(t.early_ns);
    return err;
}
