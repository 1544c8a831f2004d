/* pieces.c - see pieces_internal.h. */
#include "scopes/waiting/pieces_internal.h"

#include <stdlib.h>

#include "pastset/request.h"
#include "scopes/memory/memory_internal.h"

/* Waiting, then for each sort of call what is before it and what is in it. */
enum { WAITING, FIRST_SORT };
enum { SENDS, RECEIVES, OTHERS, FIRST_SITE };

uint32_t scopes__piece_sorts(const scopes__waiting *w)
{
    return FIRST_SORT +
           2 * (FIRST_SITE + w->in.topology->site_count + w->line_count);
}

static uint32_t sort_of(const scopes__waiting *w, uint32_t operation,
                        uint32_t other)
{
    const scopes_operation *o = scopes__waiting_operation(w, operation);
    uint32_t line = w->lines[w->tops[o->path]];
    uint32_t meeting = scopes__waiting_meeting(w, operation);
    uint32_t call =
        line != SCOPES_MISSING && scopes__waiting_calls_in(w, line, other)
            ? FIRST_SITE + w->in.topology->site_count + line
        : meeting != SCOPES_MISSING ? FIRST_SITE + w->met[meeting].site
        : o->verb == PASTSET_WRITE  ? SENDS
        : w->needs[operation] != SCOPES_MISSING ? RECEIVES
                                                : OTHERS;

    return FIRST_SORT + 2 * call;
}

static int add(scopes__pieces *p, scopes__piece piece)
{
    if (p->count == p->capacity) {
        size_t capacity = p->capacity ? 2 * p->capacity : 64;
        scopes__piece *more = realloc(p->items, capacity * sizeof(*more));
        if (!more)
            return scopes__no_room("for what waits were caused by");
        p->items = more;
        p->capacity = capacity;
    }
    p->items[p->count++] = piece;
    return 0;
}

/* What is in an operation: it waited, or not. `*waits` goes back with it. */
static int add_call(scopes__pieces *p, const scopes__waiting *w,
                    uint32_t operation, uint32_t other, uint32_t *waits,
                    uint32_t first_wait, int64_t from_ns, int64_t at_ns)
{
    uint32_t sort = sort_of(w, operation, other) + 1;
    int err = 0;

    while (at_ns > from_ns && !err) {
        const scopes__wait *wait;
        scopes__piece piece = {.sort = sort,
                               .operation = operation,
                               .wait = SCOPES_MISSING,
                               .kind = SCOPES__IS_IN_CALL};
        int64_t since_ns = from_ns;
        while (*waits > first_wait && w->waits[*waits - 1].from_ns >= at_ns)
            --*waits;
        wait = *waits > first_wait ? &w->waits[*waits - 1] : NULL;
        if (wait && wait->to_ns >= at_ns) {
            piece.sort = WAITING;
            piece.wait = *waits - 1;
            piece.kind = SCOPES__WAITS;
            since_ns = wait->from_ns > from_ns ? wait->from_ns : from_ns;
        } else if (wait && wait->to_ns > from_ns) {
            since_ns = wait->to_ns;
        }
        piece.ns = at_ns - since_ns;
        at_ns = since_ns;
        err = add(p, piece);
    }
    return err;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

int scopes__pieces_find(scopes__pieces *p, const scopes__waiting *w,
                        uint32_t operation, uint32_t other, uint32_t waits,
                        int64_t from_ns, int64_t at_ns)
{
    const scopes_operation *items = w->times->operations;
    uint32_t thread = items[operation].thread;
    const scopes_thread *its = &w->times->threads[thread];
    uint32_t first = (uint32_t)its->operation;
    uint32_t first_wait = w->first_waits[thread];
    int err = 0;

    p->count = 0;
    for (;; operation--) {
        int64_t since_ns =
            later(from_ns, items[operation].start_ns -
                               scopes__waiting_gap_ns(w, its, operation));
        if (since_ns < at_ns) {
            err = add(p, (scopes__piece){.ns = at_ns - since_ns,
                                         .sort = sort_of(w, operation, other),
                                         .operation = operation,
                                         .wait = SCOPES_MISSING,
                                         .kind = SCOPES__COMPUTES});
            at_ns = since_ns;
        }
        if (err || at_ns <= from_ns || operation == first)
            return err;
        since_ns = later(from_ns, items[operation - 1].start_ns);
        if (since_ns >= at_ns)
            continue;
        err = add_call(p, w, operation - 1, other, &waits, first_wait, since_ns,
                       at_ns);
        at_ns = since_ns;
        if (err)
            return err;
    }
}

void scopes__pieces_free(scopes__pieces *p)
{
    free(p->items);
}
