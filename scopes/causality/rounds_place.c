/* rounds_place.c - to which round an event certainly belongs.
 *
 * Rounds and what lies between them are numbered as places: round r is place
 * 2r + 1, and place 2r stands for any number of rounds before round r whose
 * event below is not there. For each event of an input a lowest and a highest
 * place are kept. Where they meet at a round, the event belongs to it; else it
 * is left out. They come from
 *
 *   times    Of an event and one of another input, on the same process: each
 *            event of a round holds the moment at which all of them were there,
 *            and the next ones by either way begin after that. So if one of the
 *            two lies within the other, they are of the same round. If one
 *            begins and ends before the other, it is of the same round or of an
 *            earlier one
 *   order    The next event by a way is of a later round; and if none is lost,
 *            of the next one
 *
 * Each is a pass over events and rounds. Failed operations may break the order
 * (one that was refused because it came twice is of no round of its own), so
 * no conclusion is drawn across them. */
#include "scopes/causality/rounds_internal.h"

#include <stdlib.h>

#include "pastset/status.h"
#include "scopes/memory/memory_internal.h"

typedef struct range {
    int64_t low, high;
} range;

static int64_t place_of(uint32_t round)
{
    return 2 * (int64_t)round + 1;
}

static bool is_certain(const range *r)
{
    return r->low == r->high && r->low % 2 == 1;
}

/* --- by times --- */

static bool is_before(const scopes__span *span, const eventspace_trace *event)
{
    return span->start < event->start && span->end < event->end;
}

static bool is_after(const scopes__span *span, const eventspace_trace *event)
{
    return span->start > event->start && span->end > event->end;
}

/* Both move on only: spans and events are in the order of the rounds. */
static void by_times(range *out, const scopes_series *series,
                     const scopes__known *known)
{
    const scopes__span *spans = known->spans;
    uint32_t count = known->span_count, past = 0, next = 0;

    for (size_t e = 0; e < series->count; e++) {
        const eventspace_trace *event = scopes_event_at(series->events, e);
        while (past < count && is_before(&spans[past], event))
            past++;
        while (next < count && !is_after(&spans[next], event))
            next++;
        out[e] = (range){0, 2 * (int64_t)known->count};
        if (past > 0)
            out[e].low = place_of(spans[past - 1].round);
        if (next < count)
            out[e].high = place_of(spans[next].round);
        if (next == past + 1)
            out[e].low = out[e].high = place_of(spans[past].round);
    }
}

/* --- by order --- */

/* Can an event be in a place that is no round? */
static bool is_gap(const scopes__known *known, int64_t place)
{
    if (!known->dense || place >= 2 * (int64_t)known->count)
        return true;
    return place == 0 && !known->begun;
}

/* The lowest place at or above one / the highest at or below one where an
 * event can be. */
static int64_t at_least(const scopes__known *known, int64_t place)
{
    return place % 2 == 0 && !is_gap(known, place) ? place + 1 : place;
}

static int64_t at_most(const scopes__known *known, int64_t place)
{
    return place % 2 == 0 && !is_gap(known, place) ? place - 1 : place;
}

/* Narrows one range by what its neighbour allows; one that gets empty says
 * that something is not as it should be. */
static void narrow(range *r, const range *by, const scopes__known *known)
{
    r->low = at_least(known, r->low > by->low ? r->low : by->low);
    r->high = at_most(known, r->high < by->high ? r->high : by->high);
}

/* What follows for the event after / before one. Between two events by one
 * way, a step is one round at least, and when nothing is lost one at most. */
static range after(const scopes__known *known, const range *r)
{
    int64_t top = 2 * (int64_t)known->count;
    range next = {r->low % 2 ? r->low + 1 : r->low, top};

    if (known->solid && r->high < top)
        next.high = r->high % 2 ? r->high + 2 : r->high + 1;
    return next;
}

static range before(const scopes__known *known, const range *r)
{
    range previous = {0, r->high % 2 ? r->high - 1 : r->high};

    if (known->solid && r->low > 0)
        previous.low = r->low % 2 ? r->low - 2 : r->low - 1;
    return previous;
}

static void by_order_down(range *ranges, const scopes_series *series,
                          const scopes__known *known)
{
    int64_t top = 2 * (int64_t)known->count;
    range may = {0, known->begun && known->first ? 1 : top};

    for (size_t e = 0; e < series->count; e++) {
        range *r = &ranges[e];
        if (!is_certain(r))
            narrow(r, &may, known);
        if (r->low > r->high || scopes_event_at(series->events, e)->status != 0)
            may.high = top;
        else
            may = after(known, r);
    }
}

static void by_order_up(range *ranges, const scopes_series *series,
                        const scopes__known *known)
{
    int64_t top = 2 * (int64_t)known->count;
    range may = {0, top};

    for (size_t e = series->count; e-- > 0;) {
        range *r = &ranges[e];
        if (!is_certain(r))
            narrow(r, &may, known);
        if (r->low > r->high || scopes_event_at(series->events, e)->status != 0)
            may.low = 0;
        else
            may = before(known, r);
    }
}

/* --- both --- */

int scopes__rounds_place(uint32_t *out, const scopes_series *series,
                         const scopes__known *known)
{
    range *ranges = scopes__allocate((series->count + 1) * sizeof(*ranges));

    if (!ranges)
        return scopes__no_room("for the rounds");
    by_times(ranges, series, known);
    for (size_t e = 0; e < series->count; e++) {
        if (out[e] != SCOPES_MISSING)
            ranges[e].low = ranges[e].high = place_of(out[e]);
    }
    by_order_down(ranges, series, known);
    by_order_up(ranges, series, known);
    for (size_t e = 0; e < series->count; e++) {
        if (is_certain(&ranges[e]))
            out[e] = (uint32_t)(ranges[e].low / 2);
    }
    scopes__free(ranges);
    return 0;
}
