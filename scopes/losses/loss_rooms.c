/* loss_rooms.c - elements in which writers wait for room, and whether more room
 * would have helped: see losses_internal.h. A reader that is slower all the
 * time fills any room. */
#include "scopes/losses/losses_internal.h"

#include <stdlib.h>

#include "scopes/memory/memory_internal.h"

#define MOST_REPLAYS 8
#define HELPS 0.25 /* of the time that a thread waited for room */

typedef struct rooms {
    double *top_ns;  /* by top: what it waited for room */
    double *most_ns; /* by node: of its writers the one that waited most */
    uint32_t *count; /* by node */
} rooms;

static int no_memory(void)
{
    return scopes__no_room("for what writers waited for");
}

/* In an element of the program's own: those of recorded calls have no room. */
static bool is_for_room(const scopes__waiting *w, const scopes__wait *wait)
{
    return wait->kind == SCOPES__LATE_RECEIVER &&
           w->lines[wait->top] == SCOPES_MISSING;
}

static void sum_up(rooms *r, const scopes__waiting *w)
{
    const scopes_top *tops = w->in.topology->tops;

    for (uint32_t i = 0; i < w->wait_count; i++) {
        const scopes__wait *wait = &w->waits[i];
        uint32_t node = tops[wait->top].element;
        if (!is_for_room(w, wait))
            continue;
        r->top_ns[wait->top] += (double)(wait->to_ns - wait->from_ns);
        r->count[node]++;
        if (r->top_ns[wait->top] > r->most_ns[node])
            r->most_ns[node] = r->top_ns[wait->top];
    }
}

/* SCOPES_MISSING: there is no other. */
static uint32_t worst(const rooms *r, uint32_t nodes)
{
    uint32_t found = SCOPES_MISSING;

    for (uint32_t i = 0; i < nodes; i++)
        if (r->most_ns[i] > 0 &&
            (found == SCOPES_MISSING || r->most_ns[i] > r->most_ns[found]))
            found = i;
    return found;
}

static int add_element(scopes__losses *l, rooms *r, uint32_t node)
{
    scopes__loss loss = {.kind = SCOPES__SMALL_ELEMENT, .element = node};
    uint32_t number;
    int err = scopes__loss_replay(l, &loss);

    if (err || (double)loss.gain_ns < HELPS * r->most_ns[node])
        return err;
    number = scopes__loss_add(l, SCOPES__SMALL_ELEMENT);
    if (number == SCOPES_MISSING)
        return no_memory();
    l->items[number].element = node;
    l->items[number].count = r->count[node];
    l->of_node[node] = number;
    return 0;
}

static void mark_ends(scopes__losses *l)
{
    for (uint32_t i = 0; i < l->w->wait_count; i++) {
        const scopes__wait *wait = &l->w->waits[i];
        uint32_t node = l->w->in.topology->tops[wait->top].element;
        l->ends[i] =
            is_for_room(l->w, wait) && l->of_node[node] != SCOPES_MISSING;
        if (l->ends[i])
            l->items[l->of_node[node]].each_ns += wait->to_ns - wait->from_ns;
    }
}

int scopes__losses_rooms(scopes__losses *l)
{
    uint32_t nodes = l->w->in.topology->map->node_count, node;
    rooms r = {.top_ns =
                   calloc(l->w->in.topology->top_count + 1u, sizeof(*r.top_ns)),
               .most_ns = calloc(nodes + 1u, sizeof(*r.most_ns)),
               .count = calloc(nodes + 1u, sizeof(*r.count))};
    int err = 0;

    l->ends = scopes__allocate(l->w->wait_count + 1u);
    if (!r.top_ns || !r.most_ns || !r.count || !l->ends)
        err = no_memory();
    else
        sum_up(&r, l->w);
    for (int i = 0; i < MOST_REPLAYS && !err; i++) {
        node = worst(&r, nodes);
        if (node == SCOPES_MISSING)
            break;
        err = add_element(l, &r, node);
        r.most_ns[node] = 0;
    }
    if (!err)
        mark_ends(l);
    for (uint32_t i = 0; i < l->count && !err; i++)
        if (l->items[i].kind == SCOPES__SMALL_ELEMENT)
            l->items[i].each_ns /= (int64_t)l->items[i].count;
    free(r.top_ns);
    free(r.most_ns);
    free(r.count);
    return err;
}
