/* wait_groups.c - see wait_groups_internal.h. */
#include "scopes/waiting/wait_groups_internal.h"

#include <stdlib.h>

#include "scopes/memory/memory_internal.h"

static int no_memory(void)
{
    return scopes__no_room("for what waits were caused by");
}

/* The round for whose last one it was; SCOPES_MISSING. */
static uint32_t round_of(const scopes__waiting *w, const scopes__wait *wait)
{
    uint32_t meeting = scopes__waiting_meeting(w, wait->operation);

    return meeting != SCOPES_MISSING && w->met[meeting].last_ns == wait->to_ns
               ? meeting
               : SCOPES_MISSING;
}

static int by_end(const void *left, const void *right)
{
    const scopes__wait_group *a = left, *b = right;

    if (a->to_ns != b->to_ns)
        return a->to_ns > b->to_ns ? -1 : 1;
    return a->first < b->first ? -1 : a->first > b->first;
}

/* From the last wait to the first; `heads` are the groups of rounds, by round:
 * at the end each has its first wait. */
static void put_together(scopes__wait_groups *g, const scopes__waiting *w,
                         uint32_t *heads)
{
    for (uint32_t i = w->wait_count; i-- > 0;) {
        const scopes__wait *wait = &w->waits[i];
        uint32_t round = round_of(w, wait), group = g->count;
        g->next[i] = SCOPES_MISSING;
        if (round != SCOPES_MISSING && heads[round] != SCOPES_MISSING) {
            group = heads[round];
            g->next[i] = g->items[group].first;
        } else {
            g->count++;
        }
        if (round != SCOPES_MISSING)
            heads[round] = group;
        g->items[group] = (scopes__wait_group){wait->to_ns, i};
    }
}

int scopes__wait_groups_make(scopes__wait_groups *g, const scopes__waiting *w)
{
    uint32_t *heads = scopes__allocate((w->met_count + 1) * sizeof(*heads));

    *g = (scopes__wait_groups){0};
    g->items = scopes__allocate((w->wait_count + 1) * sizeof(*g->items));
    g->next = scopes__allocate((w->wait_count + 1) * sizeof(*g->next));
    if (!heads || !g->items || !g->next) {
        scopes__free(heads);
        return no_memory();
    }
    for (uint32_t i = 0; i < w->met_count; i++)
        heads[i] = SCOPES_MISSING;
    put_together(g, w, heads);
    scopes__free(heads);
    if (g->count)
        qsort(g->items, g->count, sizeof(*g->items), by_end);
    return 0;
}

void scopes__wait_groups_free(scopes__wait_groups *g)
{
    scopes__free(g->items);
    scopes__free(g->next);
}
