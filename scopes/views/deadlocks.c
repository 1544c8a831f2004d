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
 * (causality/arrived.h); this is looked at only if somebody seems to. Notes are
 * taken one after the other, and what has arrived after them: whoever has moved
 * meanwhile hangs nowhere, and those that have not, have stood together.
 *
 *   no., thread, process
 *   for        since its operation began
 *   verb, path what it is in, where it stands in the program
 *   tag        of a message; blank: none, or any
 *   waits for  whom, and what these are in */
#include "pastset/request.h"
#include "pastset/status.h"
#include "scopes/views/deadlocks_internal.h"

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

static bool is_waiting(const scopes_pending *p)
{
    return p && p->activity == PATHS_WAITING && p->operates &&
           p->thread_count > 0 &&
           (p->process_state != EVENTSPACE_RUNNING ||
            p->lasts_ns >= WAITING_NS);
}

/* Until nothing changes: in each turn one can go on at least. */
static void follow(scopes__graph *g)
{
    bool changed = true;

    while (changed) {
        changed = false;
        for (uint32_t i = 0; i < g->count; i++) {
            if (!g->stuck[i] || !scopes__can_go_on(g, g->threads[i]))
                continue;
            g->stuck[i] = false;
            changed = true;
        }
    }
}

/* What has moved since its note was taken hangs nowhere. */
static void look_again(scopes__graph *g)
{
    for (uint32_t i = 0; i < g->count; i++)
        g->stuck[i] = g->stuck[i] &&
                      scopes_pending_lasts(g->threads[i], g->view_input->run);
    follow(g);
}

static bool has_stuck(const scopes__graph *g)
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
    scopes__graph g = {.view_input = view_input,
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
        int err = scopes_arrived_create(&g.arrived, view_input->run,
                                        view_input->topology);
        if (!err) {
            follow(&g);
            look_again(&g);
        }
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
