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

/* A place whose load is of another session than the program. */
typedef struct session {
    bool is_used;     /* a node is there */
    bool is_apart;    /* the load is of another one than its node */
    uint32_t number;  /* of the node's */
    uint32_t places;  /* that this session uses */
    uint32_t threads; /* of the program, there */
} session;

/* How weights are divided further, among threads that take turns, is not known
 * here: where there are several, all count as of one session. */
static void sessions_find(session *sessions, const predict_scenario *s)
{
    const predict_profile *p = s->profile;

    for (size_t i = 0; i < p->node_count; i++) {
        session *its = &sessions[s->places[i]];
        its->is_used = true;
        its->number = p->nodes[i].session;
        its->is_apart |= s->loads[i] > 0 && s->of_other_sessions[i];
    }
    for (size_t i = 0; i < p->actor_count; i++)
        sessions[s->places[p->actors[i].node]].threads++;
    for (size_t i = 0; i < p->node_count; i++) {
        if (sessions[i].threads != 1)
            sessions[i].is_apart = false;
        for (size_t n = 0; n < p->node_count && sessions[i].is_apart; n++)
            sessions[i].places +=
                sessions[n].is_used && sessions[n].number == sessions[i].number;
    }
}

/* Linux gives each session the same (autogroup), and of one that uses several
 * processors, a part on each. To yield is to yield to those of one's own. */
static replay_manner manner_of(const predict_scenario *s, uint32_t node,
                               const session *its)
{
    return (replay_manner){.waiting = (predict_waiting)s->waiting[node],
                           .is_apart = its->is_apart,
                           .weight = its->is_apart ? 1.0 / its->places : 1,
                           .seed = (s->places[node] + 1) *
                                   UINT64_C(0x9e3779b97f4a7c15)};
}

static int set_threads(const replay_processors *all, const uint32_t *threads,
                       const predict_scenario *s)
{
    const predict_profile *p = s->profile;
    session *sessions = calloc(p->node_count + 1, sizeof(*sessions));

    if (!sessions)
        return pastset_no_memory("for the sessions of %zu places",
                                 p->node_count);
    sessions_find(sessions, s);
    for (size_t i = 0; i < p->actor_count; i++) {
        uint32_t node = p->actors[i].node, place = s->places[node];
        replay_manner how = manner_of(s, node, &sessions[place]);
        if (all->places[place].eevdf &&
            !predict__replay_serves(p, &p->actors[i]))
            predict__replay_eevdf_set(all->places[place].eevdf, threads[i],
                                      &how);
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
