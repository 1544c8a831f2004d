/* deadlocks.c - the view "deadlocks": threads that wait for each other, and
 * that nobody else can release.
 *
 * At this moment, of a run that goes on; of one that was interrupted or killed,
 * at its end. A thread can go on if it waits for nobody, or if those it waits
 * for can: all of them, or where any of them will do (a receive from anybody,
 * an element that several write) one. Who has ended can do nothing for others.
 * What is left when that has been followed through is a deadlock: a circle, or
 * threads that wait for one or for somebody who has ended. (This is the
 * reduction of the wait-for graph with AND and OR nodes of Holt, Some deadlock
 * properties of computer systems, 1972.)
 *
 * Of a run that goes on, a thread counts as waiting when its operation has
 * lasted for half a second: what moves on while notes are taken lasts less. A
 * send and the receive of its message that wait for each other are on their
 * way, however large it is. Neither does somebody wait in vain whose message
 * was sent already, or for whom a thread has done its part of a collective
 * (causality/arrived.h); this is looked at only if somebody seems to.
 *
 *   no., thread, process
 *   for        since its operation began
 *   verb, path what it is in, where it stands in the program
 *   tag        of a message; blank: none, or any
 *   waits for  whom, and what these are in */
#include "pastset/request.h"
#include "pastset/status.h"
#include "scopes/causality/arrived.h"
#include "scopes/views/view_internal.h"

#include <stdlib.h>
#include <string.h>

#define WAITING_NS 500000000

static const scopes_column columns[] = {
    {"number", "no.", SCOPES_NUMBER},
    {"thread", "thread", SCOPES_TEXT},
    {"process", "process", SCOPES_TEXT},
    {"for_ns", "for ms", SCOPES_TIME_NS},
    {"verb", "verb", SCOPES_TEXT},
    {"path", "path", SCOPES_TEXT},
    {"tag", "tag", SCOPES_NUMBER},
    {"waits_for", "waits for", SCOPES_TEXT},
};

/* By thread number. */
typedef struct graph {
    const scopes_view_input *view_input;
    scopes_arrived *arrived;        /* NULL: not looked for yet */
    const scopes_pending **threads; /* NULL: nothing is known of it */
    bool *stuck;                    /* as far as has been followed */
    uint32_t count;
} graph;

static uint32_t process_of(const scopes_view_input *view_input, uint32_t thread)
{
    const scopes_topology *topology = view_input->topology;

    return thread < topology->thread_count &&
                   topology->threads[thread] != PATHS_NONE
               ? topology->map->nodes[topology->threads[thread]].process
               : PATHS_NONE;
}

static uint32_t next_of(const paths_map *map, uint32_t node)
{
    const paths_map_node *n = node == PATHS_NONE ? NULL : &map->nodes[node];

    return n && n->out_count ? map->edges[n->out[0]].to : PATHS_NONE;
}

/* The wrapper or the element behind the collectors of a place. */
static uint32_t collective_of(const paths_map *map, uint32_t node)
{
    for (uint32_t i = 0; i < map->node_count && node != PATHS_NONE; i++) {
        if (map->nodes[node].kind == PATHS_ELEMENT ||
            strcmp(map->nodes[node].type, "collector") != 0)
            return node;
        node = next_of(map, node);
    }
    return PATHS_NONE;
}

static bool is_waiting(const scopes_pending *p)
{
    return p && p->activity == PATHS_WAITING && p->operates &&
           p->thread_count > 0 &&
           (p->process_state != EVENTSPACE_RUNNING ||
            p->lasts_ns >= WAITING_NS);
}

static bool brings(const scopes_pending *p)
{
    return p->verb == PASTSET_WRITE;
}

static bool tags_agree(const scopes_pending *a, const scopes_pending *b)
{
    return a->tag == b->tag || a->tag == PATHS_NOTE_ANY_TAG ||
           b->tag == PATHS_NOTE_ANY_TAG;
}

/* The one sends what the other receives. */
static bool meet(const scopes_pending *a, const scopes_pending *b)
{
    return b && b->operates && brings(a) != brings(b) &&
           a->element == b->element && a->element != PATHS_NONE &&
           tags_agree(a, b);
}

/* Of a front end that cannot say more: the one names the process of the other,
 * and at least one of them may be about to bring what the other waits for. */
static bool may_meet(const scopes_view_input *view_input,
                     const scopes_pending *a, const scopes_pending *b)
{
    if (b->flags & PATHS_NOTE_ANY)
        return brings(a) &&
               process_of(view_input, a->peer_thread) == b->process &&
               tags_agree(a, b);
    if (process_of(view_input, b->also) == a->process)
        return brings(a) &&
               process_of(view_input, a->peer_thread) == b->process;
    return a->sends_to == b->process && !brings(b) &&
           process_of(view_input, b->peer_thread) == a->process;
}

/* One of its process's threads can do it, or knows how. */
static bool may_thread(const graph *g, const scopes_pending *waiting,
                       uint32_t thread)
{
    const scopes_pending *other = thread < g->count ? g->threads[thread] : NULL;

    if (!other)
        return true; /* who knows */
    if (other->activity == PATHS_ENDED)
        return false;
    return !g->stuck[thread] || meet(waiting, other) ||
           may_meet(g->view_input, waiting, other) ||
           may_meet(g->view_input, other, waiting);
}

/* A front end's threads wait for a process rather than for one thread of it. */
static bool may_process(const graph *g, const scopes_pending *waiting,
                        uint32_t process)
{
    for (uint32_t i = 0; i < g->count; i++)
        if (g->threads[i] && g->threads[i]->process == process &&
            may_thread(g, waiting, i))
            return true;
    return false;
}

/* Some of what it waits for has come already, or nothing is left to be done for
 * it. */
static bool has_arrived(const graph *g, const scopes_pending *waiting,
                        uint32_t thread, uint32_t process)
{
    const scopes_pending *other = g->threads[thread];
    const paths_map *map = g->view_input->map;
    uint32_t node;

    if (!g->arrived)
        return false;
    if (waiting->verb == PASTSET_TAKE || waiting->flags & PATHS_NOTE_ANY)
        return scopes_arrived_message(
            g->arrived, process, waiting->process,
            thread == waiting->also ? PATHS_NOTE_ANY_TAG : waiting->tag);
    if (waiting->peer_thread != PATHS_NONE && brings(waiting))
        return other && other->under_way > 0;
    node = collective_of(map, waiting->stage);
    return node != PATHS_NONE &&
           scopes_arrived_rounds(g->arrived, process, node) >
               scopes_arrived_rounds(g->arrived, waiting->process, node);
}

static bool may_release(const graph *g, const scopes_pending *waiting,
                        uint32_t thread)
{
    uint32_t process = process_of(g->view_input, thread);

    if (!(waiting->flags & PATHS_NOTE_COLLECTOR) || process == PATHS_NONE)
        return may_thread(g, waiting, thread);
    return may_process(g, waiting, process) ||
           has_arrived(g, waiting, thread, process);
}

static bool can_go_on(const graph *g, const scopes_pending *p)
{
    for (size_t i = 0; i < p->thread_count; i++)
        if (may_release(g, p, p->threads[i]) == p->for_any)
            return p->for_any;
    return !p->for_any;
}

/* Until nothing changes: in each turn one can go on at least. */
static void follow(graph *g)
{
    bool changed = true;

    while (changed) {
        changed = false;
        for (uint32_t i = 0; i < g->count; i++) {
            if (!g->stuck[i] || !can_go_on(g, g->threads[i]))
                continue;
            g->stuck[i] = false;
            changed = true;
        }
    }
}

static bool has_stuck(const graph *g)
{
    for (uint32_t i = 0; i < g->count; i++)
        if (g->stuck[i])
            return true;
    return false;
}

static void add_row(scopes_table *out, const scopes_view_input *view_input,
                    const scopes_pending *p)
{
    const scopes_topology *topology = view_input->topology;
    bool has_tag = p->flags & PATHS_NOTE_COLLECTOR &&
                   p->tag != PATHS_NOTE_ANY_TAG && p->verb != PASTSET_EXCHANGE;

    scopes_table_integer(out, p->thread);
    scopes_table_text(out, scopes_topology_thread_name(topology, p->thread));
    scopes_table_text(out, scopes_topology_process_name(topology, p->process));
    scopes_table_integer(out, p->lasts_ns);
    scopes_table_text(out, pastset_verb_name(p->verb));
    scopes_table_text(out, p->path);
    scopes_table_integer(out, has_tag ? (int64_t)p->tag : SCOPES_BLANK);
    scopes_table_text(out, p->waits_for);
}

static int make(scopes_table *out, const scopes_view_input *view_input)
{
    const scopes_pending_list *list = view_input->pending;
    graph g = {.view_input = view_input,
               .count = view_input->topology->thread_count};

    if (!list)
        return 0;
    g.threads = calloc(g.count + 1u, sizeof(*g.threads));
    g.stuck = calloc(g.count + 1u, sizeof(*g.stuck));
    if (!g.threads || !g.stuck) {
        free(g.threads);
        free(g.stuck);
        return pastset_no_memory("for who waits for whom");
    }
    for (size_t i = 0; i < list->count; i++) {
        const scopes_pending *p = &list->items[i];
        if (p->thread >= g.count)
            continue;
        g.threads[p->thread] = p;
        g.stuck[p->thread] = is_waiting(p);
    }
    follow(&g);
    if (has_stuck(&g) && view_input->run) {
        int err = scopes_arrived_make(&g.arrived, view_input->run,
                                      view_input->topology);
        if (!err)
            follow(&g);
        scopes_arrived_destroy(g.arrived);
    }
    for (uint32_t i = 0; i < g.count; i++)
        if (g.stuck[i] && scopes__has_thread(view_input, i))
            add_row(out, view_input, g.threads[i]);
    free(g.threads);
    free(g.stuck);
    return 0;
}

const scopes_view scopes__view_deadlocks = {
    "deadlocks",
    "threads that wait for each other, and that nobody else can release",
    NULL,
    SCOPES__COLUMNS(columns),
    NULL,
    0,
    .make = make,
    .eventless = true,
};
