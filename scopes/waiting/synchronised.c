/* synchronised.c - see synchronised_internal.h. */
#include "scopes/waiting/synchronised_internal.h"

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Before an operation, with the waits that are before this one. */
static scopes__past past_of(const scopes__waiting *w, uint32_t thread,
                            uint32_t operation, uint32_t waits)
{
    return (scopes__past){thread, (uint32_t)w->times->threads[thread].operation,
                          operation, w->first_waits[thread], waits};
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

scopes__past scopes__past_of_other(const scopes__waiting *w,
                                   const scopes__wait *wait)
{
    uint32_t thread = w->in.topology->tops[wait->other_top].thread;

    return past_of(w, thread, wait->other,
                   waits_before(w, thread, wait->to_ns));
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

/* When all were there who met in this operation, if the other one is among
 * them. */
static int64_t met_at(const scopes__waiting *w, uint32_t operation,
                      uint32_t other)
{
    uint32_t meeting = w->meetings[operation];

    if (meeting == SCOPES_MISSING || w->met[meeting].last == SCOPES_MISSING ||
        !scopes__waiting_joins(w, w->met[meeting].site, other))
        return INT64_MIN;
    return w->met[meeting].last_ns;
}

/* Before `operation`, and of it what was before there was anything. */
static int64_t began_at(const scopes__waiting *w, const scopes__past *p,
                        uint32_t operation)
{
    return operation > p->first
               ? scopes__waiting_operation(w, operation)->start_ns
               : w->times->threads[p->thread].start_ns;
}

/* As far back as is looked. */
static uint32_t looked_back(const scopes__past *p)
{
    return p->operation - p->first > SCOPES__LOOK_BACK
               ? p->operation - SCOPES__LOOK_BACK
               : p->first;
}

/* Of the one who waits: when it had last met the other one, or the time that
 * is as far back as is looked. */
static int64_t met_last(const scopes__waiting *w, const scopes__past *p,
                        uint32_t other, int64_t before_ns)
{
    uint32_t end = looked_back(p);

    for (uint32_t i = p->operation; i-- > end;) {
        int64_t at_ns = met_at(w, i, other);
        if (at_ns != INT64_MIN && at_ns <= before_ns)
            return at_ns;
    }
    return began_at(w, p, end);
}

int64_t scopes__synchronised_at(const scopes__waiting *w, uint32_t number,
                                const scopes__past *its)
{
    const scopes__wait *wait = &w->waits[number];
    uint32_t thread = scopes__waiting_operation(w, wait->operation)->thread;
    scopes__past own = past_of(w, thread, wait->operation, number);
    int64_t at_ns = began_at(w, its, looked_back(its));

    at_ns = later(at_ns, met_last(w, &own, its->thread, wait->from_ns));
    at_ns = later(at_ns, waited_at(w, &own, its->thread, at_ns));
    return later(at_ns, waited_at(w, its, thread, at_ns));
}
