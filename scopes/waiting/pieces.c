/* pieces.c - see pieces_internal.h. */
#include "scopes/waiting/pieces_internal.h"

#include "pastset/request.h"

/* Waiting, then for each sort of call what is before it and what is in it. */
enum { WAITING, FIRST_SORT };
enum { SENDS, RECEIVES, OTHERS, FIRST_SITE };

uint32_t scopes__piece_sorts(const scopes__waiting *w)
{
    return FIRST_SORT + 2 * (FIRST_SITE + w->in.topology->site_count);
}

static uint32_t sort_of(const scopes__waiting *w, uint32_t operation)
{
    const scopes_operation *o = scopes__waiting_operation(w, operation);
    uint32_t meeting = w->meetings[operation];
    uint32_t call = meeting != SCOPES_MISSING
                        ? FIRST_SITE + w->met[meeting].site
                    : o->verb == PASTSET_WRITE               ? SENDS
                    : w->others[operation] != SCOPES_MISSING ? RECEIVES
                                                             : OTHERS;

    return FIRST_SORT + 2 * call;
}

scopes__walk scopes__walk_begin(const scopes__waiting *w, uint32_t operation,
                                uint32_t waits, int64_t from_ns, int64_t at_ns)
{
    uint32_t thread = scopes__waiting_operation(w, operation)->thread;

    return (scopes__walk){.w = w,
                          .from_ns = from_ns,
                          .at_ns = at_ns,
                          .first =
                              (uint32_t)w->times->threads[thread].operation,
                          .operation = operation,
                          .in_gap = true,
                          .first_wait = w->first_waits[thread],
                          .waits = waits};
}

/* What it computed before its next operation. False: nothing. */
static bool gap_take(scopes__walk *k, scopes__piece *out)
{
    int64_t from_ns = scopes__waiting_operation(k->w, k->operation)->start_ns -
                      k->w->gaps_ns[k->operation];

    k->in_gap = false;
    if (from_ns < k->from_ns)
        from_ns = k->from_ns;
    if (from_ns >= k->at_ns)
        return false;
    *out = (scopes__piece){.ns = k->at_ns - from_ns,
                           .sort = sort_of(k->w, k->operation),
                           .operation = k->operation,
                           .wait = SCOPES_MISSING,
                           .kind = SCOPES__COMPUTES};
    k->at_ns = from_ns;
    return true;
}

/* A part of the operation that was before: it waited, or not. */
static bool call_take(scopes__walk *k, scopes__piece *out)
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
    *out = (scopes__piece){.operation = operation,
                           .wait = SCOPES_MISSING,
                           .kind = SCOPES__IS_IN_CALL};
    wait = k->waits > k->first_wait ? &k->w->waits[k->waits - 1] : NULL;
    if (wait && wait->to_ns >= k->at_ns) {
        out->sort = WAITING;
        out->wait = k->waits - 1;
        out->kind = SCOPES__WAITS;
        from_ns = wait->from_ns > from_ns ? wait->from_ns : from_ns;
    } else {
        out->sort = sort_of(k->w, operation) + 1;
        if (wait && wait->to_ns > from_ns)
            from_ns = wait->to_ns;
    }
    out->ns = k->at_ns - from_ns;
    k->at_ns = from_ns;
    return true;
}

bool scopes__piece_next(scopes__walk *k, scopes__piece *out)
{
    while (k->at_ns > k->from_ns) {
        if (!k->in_gap && k->operation == k->first)
            return false;
        if (k->in_gap ? gap_take(k, out) : call_take(k, out))
            return true;
    }
    return false;
}
