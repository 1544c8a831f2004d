/* loss_ways.c - the time of operations that is not waiting, and what of it is
 * due to delayed links and to a lack of processors: see losses_internal.h. */
#include "scopes/losses/losses_internal.h"

#include <stdlib.h>
#include <string.h>

#include "scopes/memory/memory_internal.h"

/* What delayed links add to operations. */
typedef struct delays {
    int64_t *down_ns, *up_ns; /* by operation; of one link */
    int64_t *all_down_ns, *all_up_ns;
    int64_t *met_ns;     /* by round: the most that was added on a way down */
    uint32_t *met_links; /* and by which link */
} delays;

static int no_memory(void)
{
    return scopes__no_room("for the time that operations take");
}

static int64_t more(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t less(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* --- time that is not waiting --- */

/* What of a time its thread waited, in waits from `*at` on. */
static int64_t waited(const scopes__waiting *w, uint32_t thread, uint32_t *at,
                      int64_t from_ns, int64_t to_ns)
{
    uint32_t end = w->first_waits[thread + 1];
    int64_t sum_ns = 0;

    while (*at < end && w->waits[*at].to_ns <= from_ns)
        ++*at;
    for (uint32_t i = *at; i < end && w->waits[i].from_ns < to_ns; i++)
        sum_ns += more(0, less(to_ns, w->waits[i].to_ns) -
                              more(from_ns, w->waits[i].from_ns));
    return sum_ns;
}

static int64_t runnable_since(const scopes__waiting *w,
                              const scopes_operation *o, int64_t from_ns)
{
    const scopes_scheduling *known = w->in.scheduling;

    if (!known || o->thread >= known->thread_count ||
        !known->threads[o->thread].is_known || from_ns >= o->end_ns)
        return 0;
    return scopes_off_within(&known->threads[o->thread], from_ns, o->end_ns)
        .runnable_ns;
}

static int64_t released_at(const scopes__waiting *w, uint32_t operation)
{
    uint32_t meeting = scopes__waiting_meeting(w, operation);
    uint32_t other = scopes__waiting_other(w, operation);
    int64_t start_ns = scopes__waiting_operation(w, operation)->start_ns;

    if (meeting != SCOPES_MISSING && w->met[meeting].last != SCOPES_MISSING)
        return more(start_ns, w->met[meeting].last_ns);
    if (other != SCOPES_MISSING)
        return more(start_ns, scopes__waiting_operation(w, other)->start_ns);
    return start_ns;
}

static void thread_look(scopes__losses *l, uint32_t number)
{
    const scopes__waiting *w = l->w;
    const scopes_thread *thread = &w->times->threads[number];
    int64_t busy_until = INT64_MIN;
    uint32_t at = w->first_waits[number];

    for (uint32_t i = (uint32_t)thread->operation;
         i < thread->operation + thread->operations; i++) {
        const scopes_operation *o = scopes__waiting_operation(w, i);
        int64_t from_ns = more(o->start_ns, busy_until), rest_ns = 0;
        if (o->end_ns > from_ns)
            rest_ns = o->end_ns - from_ns -
                      waited(w, number, &at, from_ns, o->end_ns);
        busy_until = more(busy_until, o->end_ns);
        l->ways.rest_ns[i] = rest_ns;
        l->ways.runnable_ns[i] = less(
            rest_ns, runnable_since(w, o, more(from_ns, released_at(w, i))));
    }
}

/* --- delayed links --- */

static void keep_most(scopes__losses *l, delays *d, uint32_t link, uint32_t i)
{
    uint32_t meeting = scopes__waiting_meeting(l->w, i);

    if (d->down_ns[i] + d->up_ns[i] > d->all_down_ns[i] + d->all_up_ns[i])
        l->ways.links[i] = link;
    d->all_down_ns[i] += d->down_ns[i];
    d->all_up_ns[i] += d->up_ns[i];
    if (meeting != SCOPES_MISSING && d->down_ns[i] > d->met_ns[meeting]) {
        d->met_ns[meeting] = d->down_ns[i];
        d->met_links[meeting] = link;
    }
}

static int add_link(scopes__losses *l, delays *d, uint32_t number)
{
    const scopes__link *link = &l->links.items[number];
    size_t bytes = ((size_t)l->w->count + 1) * sizeof(int64_t);
    bool *hops = calloc(l->links.collectors + 1u, sizeof(*hops));
    double part = 1 - link->peer_ns / link->ns;
    int err;

    if (!hops)
        return no_memory();
    for (uint32_t i = 0; i < l->links.collectors; i++)
        hops[i] = l->links.of[i] == number;
    memset(d->down_ns, 0, bytes);
    memset(d->up_ns, 0, bytes);
    err = scopes__ways_add(l->w, hops, d->down_ns, d->up_ns);
    free(hops);
    for (uint32_t i = 0; i < l->w->count && !err; i++) {
        d->down_ns[i] = (int64_t)((double)d->down_ns[i] * part);
        d->up_ns[i] = (int64_t)((double)d->up_ns[i] * part);
        keep_most(l, d, number, i);
    }
    return err;
}

/* Of one who waited for others, what they were delayed by counts, too. */
static void give(scopes__losses *l, const delays *d, uint32_t i)
{
    uint32_t meeting = scopes__waiting_meeting(l->w, i);
    uint32_t other = scopes__waiting_other(l->w, i);
    int64_t down_ns = d->all_down_ns[i], up_ns = d->all_up_ns[i];

    if (meeting != SCOPES_MISSING && d->met_ns[meeting] > down_ns) {
        down_ns = d->met_ns[meeting];
        if (down_ns > up_ns)
            l->ways.links[i] = d->met_links[meeting];
    } else if (other != SCOPES_MISSING && d->all_down_ns[other] > down_ns) {
        down_ns = d->all_down_ns[other];
        if (down_ns > up_ns)
            l->ways.links[i] = l->ways.links[other];
    }
    l->ways.delayed_ns[i] = more(0, less(l->ways.rest_ns[i], down_ns + up_ns));
    if (l->ways.links[i] == SCOPES_MISSING)
        l->ways.delayed_ns[i] = 0;
    l->ways.runnable_ns[i] = less(l->ways.runnable_ns[i],
                                  l->ways.rest_ns[i] - l->ways.delayed_ns[i]);
}

static int delays_make(delays *d, const scopes__waiting *w)
{
    size_t bytes = ((size_t)w->count + 1) * sizeof(int64_t);
    size_t rounds = (size_t)w->met_count + 1;

    d->down_ns = scopes__allocate(bytes);
    d->up_ns = scopes__allocate(bytes);
    d->all_down_ns = scopes__allocate(bytes);
    d->all_up_ns = scopes__allocate(bytes);
    d->met_ns = scopes__allocate(rounds * sizeof(*d->met_ns));
    d->met_links = scopes__allocate(rounds * sizeof(*d->met_links));
    if (!d->down_ns || !d->up_ns || !d->all_down_ns || !d->all_up_ns ||
        !d->met_ns || !d->met_links)
        return no_memory();
    memset(d->all_down_ns, 0, bytes);
    memset(d->all_up_ns, 0, bytes);
    memset(d->met_ns, 0, rounds * sizeof(*d->met_ns));
    return 0;
}

static int add_links(scopes__losses *l)
{
    delays d = {0};
    int err = delays_make(&d, l->w);

    for (uint32_t i = 0; i < l->links.count && !err; i++)
        if (l->links.items[i].is_delayed)
            err = add_link(l, &d, i);
    for (uint32_t i = 0; i < l->w->count && !err; i++)
        give(l, &d, i);
    scopes__free(d.down_ns);
    scopes__free(d.up_ns);
    scopes__free(d.all_down_ns);
    scopes__free(d.all_up_ns);
    scopes__free(d.met_ns);
    scopes__free(d.met_links);
    return err;
}

static bool any_delayed(const scopes__links *links)
{
    for (uint32_t i = 0; i < links->count; i++)
        if (links->items[i].is_delayed)
            return true;
    return false;
}

int scopes__losses_ways(scopes__losses *l)
{
    scopes__way_parts *p = &l->ways;
    size_t count = (size_t)l->w->count + 1;

    p->rest_ns = scopes__allocate(count * sizeof(*p->rest_ns));
    p->delayed_ns = scopes__allocate(count * sizeof(*p->delayed_ns));
    p->runnable_ns = scopes__allocate(count * sizeof(*p->runnable_ns));
    p->links = scopes__allocate(count * sizeof(*p->links));
    if (!p->rest_ns || !p->delayed_ns || !p->runnable_ns || !p->links)
        return no_memory();
    memset(p->delayed_ns, 0, count * sizeof(*p->delayed_ns));
    for (uint32_t i = 0; i < l->w->count; i++)
        p->links[i] = SCOPES_MISSING;
    for (uint32_t i = 0; i < l->w->times->thread_count; i++)
        thread_look(l, i);
    return any_delayed(&l->links) ? add_links(l) : 0;
}
