/* replay_processors.c - who computes at a place, how fast, who is done next.
 *
 * All who share a place fairly go on at one rate. So it is enough to count
 * what each of them has got (`fair_served`): an actor that begins when this
 * stands at s and needs n is done when it stands at s + n, whatever rates there
 * are meanwhile, and who comes or goes changes no entry of the heap, only how
 * fast the counter moves. Those who are served first have a counter of their
 * own; with m of them on P processors each goes on at min(1, P/m), and what
 * they leave is for the others and the load.
 *
 * Of those who are served first the key is where their credit or their need
 * ends, whichever comes first; `rest` tells what is left of the other: of the
 * credit, or, below 0, of the need. */
#include <stdlib.h>

#include "pastset/status.h"
#include "predict/replay/replay_eevdf_internal.h"
#include "predict/replay/replay_internal.h"

int predict__replay_processors_init(replay_processors *all, uint32_t places)
{
    uint32_t leaves = 1;

    while (leaves < places)
        leaves *= 2;
    all->leaves = leaves;
    all->places = calloc(leaves, sizeof(*all->places));
    all->winners = calloc(2 * (size_t)leaves, sizeof(*all->winners));
    if (!all->places || !all->winners)
        return pastset_no_memory("for %u places of the replay", places);
    for (uint32_t i = 0; i < leaves; i++) {
        all->places[i].next = INFINITY;
        all->winners[leaves + i] = i;
    }
    for (uint32_t i = leaves - 1; i > 0; i--)
        all->winners[i] = all->winners[2 * i];
    return 0;
}

void predict__replay_processors_fini(replay_processors *all)
{
    for (uint32_t i = 0; all->places && i < all->leaves; i++) {
        predict__replay_heap_fini(&all->places[i].fair);
        predict__replay_heap_fini(&all->places[i].first);
        predict__replay_eevdf_destroy(all->places[i].eevdf);
    }
    free(all->places);
    free(all->winners);
}

static void advance(replay_place *place, double now)
{
    double passed = now - place->now;

    place->fair_served += passed * place->fair_rate;
    place->first_served += passed * place->first_rate;
    place->now = now;
}

static int begin_fair(replay_place *place, uint32_t actor, double need)
{
    /* From 0 again whenever it may be, so that it stays exact. */
    if (place->fair.count == 0)
        place->fair_served = 0;
    return predict__replay_heap_push(&place->fair, place->fair_served + need, 0,
                                     actor);
}

int predict__replay_place_begin(replay_place *place, double now, uint32_t actor,
                                double need, double credit)
{
    advance(place, now);
    if (credit <= 0)
        return begin_fair(place, actor, need);
    if (place->first.count == 0)
        place->first_served = 0;
    return predict__replay_heap_push(&place->first,
                                     place->first_served + fmin(need, credit),
                                     credit - need, actor);
}

void predict__replay_place_spin(replay_place *place, double now, int more)
{
    advance(place, now);
    place->spinning += more;
}

/* When the first entry of a heap is due. */
static double due(const replay_heap *heap, double served, double rate,
                  double now)
{
    double missing;

    if (heap->count == 0 || rate <= 0)
        return INFINITY;
    missing = heap->entries[0].key - served;
    return missing > 0 ? now + missing / rate : now;
}

uint32_t predict__replay_place_end(replay_place *place, double *credit,
                                   int *err)
{
    replay_entry entry;

    if (place->eevdf) {
        *credit = 0;
        return predict__replay_eevdf_end(place->eevdf);
    }
    advance(place, place->next);
    if (!place->first_is_next) {
        entry = predict__replay_heap_pop(&place->fair);
        /* Exactly, where rounding left it a little off. */
        place->fair_served = entry.key;
        *credit = 0;
        return entry.actor;
    }
    entry = predict__replay_heap_pop(&place->first);
    place->first_served = entry.key;
    if (entry.rest < 0) {
        *err = begin_fair(place, entry.actor, -entry.rest);
        return PREDICT_NONE;
    }
    *credit = entry.rest;
    return entry.actor;
}

static void rates(replay_place *place)
{
    double first = (double)place->first.count;
    double all = (double)place->fair.count + place->spinning + place->load;
    double left = place->processors - first;

    place->first_rate = left >= 0 ? 1 : place->processors / first;
    if (left <= 0)
        place->fair_rate = 0;
    else
        place->fair_rate = all <= left ? 1 : left / all;
}

/* When something is due at a place, and what. */
static void foresee(replay_place *place)
{
    double first, fair;

    if (place->eevdf) {
        place->next = predict__replay_eevdf_next(place->eevdf);
        return;
    }
    rates(place);
    first =
        due(&place->first, place->first_served, place->first_rate, place->now);
    fair = due(&place->fair, place->fair_served, place->fair_rate, place->now);
    place->first_is_next = first <= fair;
    place->next = place->first_is_next ? first : fair;
}

void predict__replay_processors_settle(replay_processors *all, uint32_t index)
{
    foresee(&all->places[index]);
    for (uint32_t i = (all->leaves + index) / 2; i > 0; i /= 2) {
        uint32_t left = all->winners[2 * i], right = all->winners[2 * i + 1];
        all->winners[i] =
            all->places[left].next <= all->places[right].next ? left : right;
    }
}
