/* deadlocks_release.c - can somebody release a thread that waits?
 *
 * What it waits for may have parts, as MPI_Waitall has, all of which have to
 * come, or MPI_Waitany, of which one will do. A part comes if somebody of the
 * process that brings it can go on, or is in an operation that is the other
 * side of it, or has done that already. Of a part that may have come without a
 * sign (a send whose message the library has kept) nothing follows until all
 * others have come: then one of those must be what is still waited for. */
#include <string.h>

#include "pastset/request.h"
#include "scopes/views/deadlocks_internal.h"

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

/* --- both sides of something --- */

static bool brings(const scopes_pending *p)
{
    return p->verb == PASTSET_WRITE;
}

/* A send, or a receive, of a front end that knows messages. */
static bool is_message(const scopes_pending *p)
{
    return p->flags & PATHS_NOTE_COLLECTOR && !(p->flags & PATHS_NOTE_ROUND) &&
           (p->verb == PASTSET_TAKE ||
            (brings(p) && p->peer_thread != PATHS_NONE));
}

static bool tags_agree(const scopes_pending *a, const scopes_pending *b)
{
    return a->tag == b->tag || a->tag == PATHS_NOTE_ANY_TAG ||
           b->tag == PATHS_NOTE_ANY_TAG;
}

static bool are_in_one(const scopes_pending *a, const scopes_pending *b)
{
    return a->communicator == b->communicator || !a->communicator ||
           !b->communicator;
}

/* It is with the process of the other, or with any. */
static bool is_with(const scopes_view_input *view_input,
                    const scopes_pending *a, const scopes_pending *b)
{
    return a->peer_thread == PATHS_NONE ||
           process_of(view_input, a->peer_thread) == b->process;
}

static bool are_two_sides(const scopes_view_input *view_input,
                          const scopes_pending *a, const scopes_pending *b)
{
    if (!b->operates || brings(a) == brings(b))
        return false;
    if (is_message(a) && is_message(b))
        return tags_agree(a, b) && are_in_one(a, b) &&
               is_with(view_input, a, b) && is_with(view_input, b, a);
    return a->element == b->element && a->element != PATHS_NONE;
}

/* Are receives posted of which it is not known what they receive? */
static bool has_others_posted(const scopes_pending *p)
{
    size_t posted = 0, awaited = 0;

    for (size_t i = 0; i < p->part_count; i++) {
        bool is_posted = p->parts[i].flags & PATHS_NOTE_POSTED;
        posted += is_posted;
        awaited += !is_posted && p->parts[i].verb == PASTSET_TAKE;
    }
    if (p->part_count == 0)
        awaited = p->verb == PASTSET_TAKE;
    return p->under_way > posted && p->under_way > awaited;
}

static bool meet(const scopes_view_input *view_input,
                 const scopes_pending *waiting, const scopes_pending *other)
{
    if (is_message(waiting) && brings(waiting) && has_others_posted(other))
        return true;
    for (size_t i = 0; i < other->part_count; i++)
        if (are_two_sides(view_input, waiting, &other->parts[i]))
            return true;
    return other->part_count == 0 && are_two_sides(view_input, waiting, other);
}

/* --- others --- */

/* One of its process's threads can do it, or knows how. */
static bool may_thread(const scopes__graph *g, const scopes_pending *waiting,
                       uint32_t thread)
{
    const scopes_pending *other = thread < g->count ? g->threads[thread] : NULL;

    if (!other)
        return true; /* who knows */
    if (other->activity == PATHS_ENDED)
        return false;
    return !g->stuck[thread] || meet(g->view_input, waiting, other);
}

/* A front end's threads wait for a process rather than for one thread of it.
 * One of which nothing is known may be about to come up, as long as the run
 * goes on. */
static bool may_process(const scopes__graph *g, const scopes_pending *waiting,
                        uint32_t process)
{
    bool is_known = false;

    for (uint32_t i = 0; i < g->count; i++) {
        if (!g->threads[i] || g->threads[i]->process != process)
            continue;
        is_known = true;
        if (may_thread(g, waiting, i))
            return true;
    }
    return !is_known && waiting->process_state == EVENTSPACE_RUNNING;
}

/* Some of what it waits for has come already, or nothing is left to be done for
 * it. */
static bool has_arrived(const scopes__graph *g, const scopes_pending *waiting,
                        uint32_t process)
{
    const paths_map *map = g->view_input->map;
    uint32_t node;

    if (!g->arrived)
        return false;
    if (waiting->verb == PASTSET_TAKE)
        return scopes_arrived_message(g->arrived, process, waiting->process,
                                      waiting->tag);
    if (is_message(waiting))
        return false;
    node = collective_of(map, waiting->stage);
    if (node == PATHS_NONE)
        return false;
    if (waiting->flags & PATHS_NOTE_ROUND)
        return scopes_arrived_rounds(g->arrived, process, node) >= waiting->tag;
    return scopes_arrived_rounds(g->arrived, process, node) >
           scopes_arrived_rounds(g->arrived, waiting->process, node);
}

static bool may_release(const scopes__graph *g, const scopes_pending *waiting,
                        uint32_t thread)
{
    uint32_t process = process_of(g->view_input, thread);

    if (!(waiting->flags & PATHS_NOTE_COLLECTOR) || process == PATHS_NONE)
        return may_thread(g, waiting, thread);
    return may_process(g, waiting, process) || has_arrived(g, waiting, process);
}

/* --- it --- */

static bool may_come(const scopes__graph *g, const scopes_pending *p)
{
    for (size_t i = 0; i < p->thread_count; i++)
        if (may_release(g, p, p->threads[i]) == p->for_any)
            return p->for_any;
    return !p->for_any || p->thread_count == 0;
}

/* As long as nobody has looked for what has come, all may have. */
static bool has_come(const scopes__graph *g, const scopes_pending *part)
{
    if (!g->arrived)
        return true;
    for (size_t i = 0; i < part->thread_count; i++) {
        uint32_t process = process_of(g->view_input, part->threads[i]);
        if (has_arrived(g, part, process) == part->for_any)
            return part->for_any;
    }
    return !part->for_any;
}

static bool one_comes(const scopes__graph *g, const scopes_pending *p)
{
    for (size_t i = 0; i < p->part_count; i++)
        if (!(p->parts[i].flags & PATHS_NOTE_POSTED) &&
            may_come(g, &p->parts[i]))
            return true;
    return false;
}

static bool all_come(const scopes__graph *g, const scopes_pending *p)
{
    bool others_have_come = true, has_maybe = false, maybe_comes = false;

    for (size_t i = 0; i < p->part_count; i++) {
        const scopes_pending *part = &p->parts[i];
        bool comes = may_come(g, part);
        if (part->flags & PATHS_NOTE_POSTED)
            continue;
        if (part->flags & PATHS_NOTE_MAYBE) {
            has_maybe = true;
            maybe_comes |= comes;
            continue;
        }
        if (!comes)
            return false;
        others_have_come &= has_come(g, part);
    }
    return !has_maybe || maybe_comes || !others_have_come;
}

bool scopes__can_go_on(const scopes__graph *g, const scopes_pending *p)
{
    if (p->part_count == 0)
        return may_come(g, p);
    return p->flags & PATHS_NOTE_ONE ? one_comes(g, p) : all_come(g, p);
}
