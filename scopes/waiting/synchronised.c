/* synchronised.c - see synchronised_internal.h. */
#include "scopes/waiting/synchronised_internal.h"

#define ROUNDED 64

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The operation as far back as is looked before one: rounded, so that it is the
 * same one for many, and near. */
static uint32_t looked_back(uint32_t first, uint32_t operation)
{
    uint32_t before = operation - first;

    return before > SCOPES__LOOK_BACK
               ? first + (before - SCOPES__LOOK_BACK) / ROUNDED * ROUNDED
               : first;
}

/* Before an operation; and of the first one, what was before it. */
static int64_t began_at(const scopes__waiting *w, uint32_t thread,
                        uint32_t operation)
{
    const scopes_thread *its = &w->times->threads[thread];

    return operation > its->operation
               ? scopes__waiting_operation(w, operation)->start_ns
               : its->start_ns;
}

scopes__past scopes__past_of_other(const scopes__waiting *w,
                                   const scopes__wait *wait,
                                   uint32_t *waits_before)
{
    uint32_t thread = w->in.topology->tops[wait->other_top].thread;
    uint32_t first = (uint32_t)w->times->threads[thread].operation;
    uint32_t *waits = &waits_before[thread];

    while (*waits > w->first_waits[thread] &&
           w->waits[*waits - 1].from_ns >= wait->to_ns)
        --*waits;
    return (scopes__past){began_at(w, thread, looked_back(first, wait->other)),
                          thread, w->first_waits[thread], *waits};
}

/* Its last wait that was for the other one; INT64_MIN: since `after_ns` there
 * is none. */
static int64_t waited_at(const scopes__waiting *w, const scopes__past *p,
                         uint32_t other, int64_t after_ns)
{
    for (uint32_t i = p->waits; i-- > p->first_wait;) {
        const scopes__wait *wait = &w->waits[i];
        if (wait->to_ns <= after_ns)
            break;
        if (w->in.topology->tops[wait->other_top].thread == other)
            return wait->to_ns;
    }
    return INT64_MIN;
}

/* When both had last waited for the same operation, as those do who get
 * something from one root: it let them go on at one time. INT64_MIN: since
 * `after_ns` they have not. */
static int64_t released_at(const scopes__waiting *w, const scopes__past *own,
                           const scopes__past *its, int64_t after_ns)
{
    uint32_t i = own->waits, k = its->waits;

    while (i > own->first_wait && k > its->first_wait) {
        const scopes__wait *a = &w->waits[i - 1], *b = &w->waits[k - 1];
        if (a->to_ns <= after_ns || b->to_ns <= after_ns)
            break;
        if (a->other == b->other)
            return a->to_ns;
        if (a->to_ns > b->to_ns)
            i--;
        else
            k--;
    }
    return INT64_MIN;
}

/* When all were there who met in this operation, if the other one is among
 * them. */
static int64_t met_at(const scopes__waiting *w, uint32_t operation,
                      uint32_t other)
{
    uint32_t meeting = scopes__waiting_meeting(w, operation);

    if (meeting == SCOPES_MISSING || w->met[meeting].last == SCOPES_MISSING ||
        !scopes__waiting_joins(w, w->met[meeting].site, other))
        return INT64_MIN;
    return w->met[meeting].last_ns;
}

/* Of the one who waits: when it had last met the other one, or the time that
 * is as far back as is looked. */
static int64_t met_last(const scopes__waiting *w, uint32_t thread,
                        const scopes__wait *wait, uint32_t other)
{
    uint32_t first = (uint32_t)w->times->threads[thread].operation;
    uint32_t end = looked_back(first, wait->operation);

    for (uint32_t i = wait->operation; i-- > end;) {
        int64_t at_ns = met_at(w, i, other);
        if (at_ns != INT64_MIN && at_ns <= wait->from_ns)
            return at_ns;
    }
    return began_at(w, thread, end);
}

int64_t scopes__synchronised_at(const scopes__waiting *w, uint32_t number,
                                const scopes__past *its)
{
    const scopes__wait *wait = &w->waits[number];
    uint32_t thread = w->in.topology->tops[wait->top].thread;
    scopes__past own = {.first_wait = w->first_waits[thread], .waits = number};
    int64_t at_ns =
        later(its->since_ns, met_last(w, thread, wait, its->thread));

    at_ns = later(at_ns, waited_at(w, &own, its->thread, at_ns));
    at_ns = later(at_ns, released_at(w, &own, its, at_ns));
    return later(at_ns, waited_at(w, its, thread, at_ns));
}
