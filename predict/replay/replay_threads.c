/* replay_threads.c - which places are shared by the rules of eevdf, and which
 * threads compute there.
 *
 * A thread that serves the requests of others is many actors, one per request:
 * for a scheduler they are one. All others are threads of their own. */
#include <stdlib.h>

#include "pastset/status.h"
#include "predict/replay/replay_eevdf_internal.h"
#include "predict/replay/replay_internal.h"

/* A place with more load is shared as a fluid: each process of the load is
 * looked at, and there is next to nothing left to share. */
#define MAX_LOAD 64

/* From 0 at each place: first the one of each node that serves, then those
 * that are actors of their own. `count`: by place. */
static void number_threads(uint32_t *threads, uint32_t *serving,
                           uint32_t *count, const predict_scenario *s)
{
    const predict_profile *p = s->profile;

    for (size_t i = 0; i < p->node_count; i++)
        serving[i] = count[s->places[i]]++;
    for (size_t i = 0; i < p->actor_count; i++) {
        uint32_t node = p->actors[i].node;
        threads[i] = predict__replay_serves(p, &p->actors[i])
                         ? serving[node]
                         : count[s->places[node]]++;
    }
}

/* The first slice of a place's nodes, in ns; 0 if one has another law. */
static double slice_of(const predict_scenario *s, uint32_t place)
{
    double slice = 0;

    for (size_t i = 0; i < s->profile->node_count; i++) {
        if (s->places[i] != place)
            continue;
        if (s->schedulers[i].slice_s <= 0)
            return 0;
        if (slice <= 0)
            slice = s->schedulers[i].slice_s * 1e9;
    }
    return slice;
}

/* What a place's threads have in common, where its load is of another session.
 */
typedef struct session {
    bool is_used;
    bool is_apart;    /* its load is of another one */
    uint32_t threads; /* that are actors of their own */
} session;

static uint32_t sessions_find(session *sessions, const predict_scenario *s)
{
    const predict_profile *p = s->profile;
    uint32_t places = 0;

    for (size_t i = 0; i < p->node_count; i++) {
        session *its = &sessions[s->places[i]];
        places += !its->is_used;
        its->is_used = true;
        its->is_apart |= s->loads[i] > 0 && s->of_other_sessions[i];
    }
    for (size_t i = 0; i < p->actor_count; i++)
        if (!predict__replay_serves(p, &p->actors[i]))
            sessions[s->places[p->actors[i].node]].threads++;
    return places;
}

/* Linux gives each session the same (autogroup), and of one that uses several
 * processors, a part on each. To yield is to yield to those of one's own. */
static void set_thread(replay_eevdf *q, uint32_t thread, const session *its,
                       uint32_t places, predict_waiting waiting)
{
    double weight = its->is_apart ? 1.0 / places / its->threads : 1;

    if (its->is_apart && its->threads == 1 && waiting == PREDICT_YIELDS)
        waiting = PREDICT_SPINS;
    predict__replay_eevdf_set(q, thread, waiting, weight);
}

static int set_threads(const replay_processors *all, const uint32_t *threads,
                       const predict_scenario *s)
{
    const predict_profile *p = s->profile;
    session *sessions = calloc(p->node_count + 1, sizeof(*sessions));
    uint32_t places;

    if (!sessions)
        return pastset_no_memory("for the sessions of %zu places",
                                 p->node_count);
    places = sessions_find(sessions, s);
    for (size_t i = 0; i < p->actor_count; i++) {
        uint32_t node = p->actors[i].node, place = s->places[node];
        if (all->places[place].eevdf &&
            !predict__replay_serves(p, &p->actors[i]))
            set_thread(all->places[place].eevdf, threads[i], &sessions[place],
                       places, (predict_waiting)s->waiting[node]);
    }
    free(sessions);
    return 0;
}

static int add_places(replay_processors *all, const predict_scenario *s,
                      const uint32_t *count)
{
    int err = 0;

    for (uint32_t i = 0; i < s->profile->node_count && !err; i++) {
        replay_place *place = &all->places[i];
        double slice = slice_of(s, i);
        if (slice > 0 && place->processors == 1 && place->load <= MAX_LOAD)
            err = predict__replay_eevdf_create(&place->eevdf, slice,
                                               place->load, count[i]);
    }
    return err;
}

int predict__replay_threads_assign(uint32_t **threads, replay_processors *all,
                                   const predict_scenario *s)
{
    const predict_profile *p = s->profile;
    uint32_t *serving = calloc(p->node_count + 1, sizeof(*serving));
    uint32_t *count = calloc(p->node_count + 1, sizeof(*count));
    int err;

    *threads = calloc(p->actor_count + 1, sizeof(**threads));
    if (serving && count && *threads) {
        number_threads(*threads, serving, count, s);
        err = add_places(all, s, count);
        if (!err)
            err = set_threads(all, *threads, s);
    } else {
        err =
            pastset_no_memory("for the threads of %zu actors", p->actor_count);
    }
    free(serving);
    free(count);
    return err;
}
