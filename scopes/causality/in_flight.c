/* in_flight.c - taking the notes of executors; see in_flight.h.
 *
 * A note of a damaged file may say anything: nodes, processes, threads and
 * times that there cannot be are taken for not known. */
#include "scopes/causality/in_flight_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/array.h"
#include "pastset/element.h"
#include "pastset/request.h"
#include "pastset/space.h"
#include "pastset/status.h"

typedef struct taking {
    pending_world world;
    const paths_map *map;
    uint32_t *ranked, *ranked_processes;
    scopes_pending_list *list;
} taking;

static int no_memory(void)
{
    return pastset_no_memory("for what is pending");
}

/* --- one note --- */

/* A run that has a larger map by now numbers its nodes by that. */
static uint32_t node_of(const taking *t, const paths_executor_note *note,
                        uint32_t rank)
{
    if (note->flags & PATHS_NOTE_COLLECTOR)
        return eventspace_run_map(t->world.run) == t->map
                   ? eventspace_run_collector(t->world.run, rank)
                   : PATHS_NONE;
    return rank < t->map->node_count ? t->ranked[rank] : PATHS_NONE;
}

static uint32_t thread_process(const taking *t, uint32_t thread)
{
    const scopes_topology *topology = t->world.topology;

    if (thread >= topology->thread_count ||
        topology->threads[thread] == PATHS_NONE)
        return PATHS_NONE;
    return t->map->nodes[topology->threads[thread]].process;
}

static uint32_t element_below(const taking *t, uint32_t node)
{
    for (uint32_t i = 0; node != PATHS_NONE && i < t->map->node_count; i++) {
        if (t->map->nodes[node].kind == PATHS_ELEMENT)
            return node;
        node = scopes__next_node(t->map, node);
    }
    return PATHS_NONE;
}

/* What the thread calls the path that begins with a node. */
static const char *path_name(const taking *t, uint32_t thread, uint32_t first)
{
    const scopes_topology *topology = t->world.topology;

    for (uint32_t i = 0; i < topology->top_count; i++) {
        const scopes_top *top = &topology->tops[i];
        if (top->thread == thread && t->map->edges[top->edge].to == first)
            return top->name;
    }
    return "";
}

/* The process with which an operation waits that its thread let go of there. */
static uint32_t peer_of(const taking *t, uint32_t stage)
{
    uint32_t next =
        stage == PATHS_NONE ? PATHS_NONE : scopes__next_node(t->map, stage);

    if (next == PATHS_NONE ||
        t->map->nodes[next].process == t->map->nodes[stage].process)
        return PATHS_NONE;
    return t->map->nodes[next].process;
}

static int64_t ns_between(const eventspace_meta *meta, uint64_t from,
                          uint64_t to)
{
    double ns = (double)(int64_t)(to - from) * 1e9 / meta->tick_hz;

    return ns > 0 && ns < 9e18 ? (int64_t)ns : 0;
}

/* How long ago the last of many may be, and how long they take at most on
 * average: who asks less often does something else meanwhile. */
#define POLLED_NS 250000000
#define POLL_NS 20000000

/* Of a thread that polls. */
static bool is_polling(const taking *t, const scopes_pending *p,
                       const paths_executor_note *note)
{
    const eventspace_meta *meta =
        &eventspace_run_process_at(t->world.run, p->process)->meta;

    return p->lasts_ns / POLL_NS <= note->bytes &&
           ns_between(meta, note->at, t->world.ends[p->process]) < POLLED_NS;
}

/* What it was about to do is over, when so many have ended. */
static void go_on(const taking *t, scopes_pending *p, uint32_t ended,
                  const paths_executor_note *note)
{
    if (!(note->flags & PATHS_NOTE_COLLECTOR) ||
        note->activity != PATHS_WAITING)
        return;
    if (ended < note->sequence &&
        (!(note->flags & PATHS_NOTE_POLLS) || is_polling(t, p, note)))
        return;
    p->activity = PATHS_COMPUTING;
    p->operates = false;
}

static void fill(const taking *t, scopes_pending *p,
                 const paths_executor_note *note)
{
    const eventspace_meta *meta =
        &eventspace_run_process_at(t->world.run, p->process)->meta;
    bool sane = note->verb < PASTSET_ALL_VERBS;

    p->process_state = meta->state;
    p->activity = (paths_activity)note->activity;
    p->operates = note->sequence > 0 && sane &&
                  node_of(t, note, note->stage) != PATHS_NONE;
    p->since_ticks = note->since;
    p->lasts_ns = ns_between(meta, note->since, t->world.ends[p->process]);
    p->verb = sane ? note->verb : 0;
    p->of_thread = note->thread;
    p->sequence = note->sequence;
    p->under_way = note->under_way;
    p->tag = note->tag;
    p->first = node_of(t, note, note->first);
    p->stage = node_of(t, note, note->stage);
    p->path = path_name(t, note->thread, p->first);
    p->element = element_below(t, p->stage);
    p->peer = peer_of(t, p->stage);
    if (note->activity == PATHS_CONNECTING &&
        note->peer < t->map->process_count)
        p->peer = t->ranked_processes[note->peer];
    p->flags = note->flags;
    p->communicator = note->communicator;
    p->peer_thread = thread_process(t, note->peer_thread) == PATHS_NONE
                         ? PATHS_NONE
                         : note->peer_thread;
}

/* --- all of them --- */

static scopes_pending *add(taking *t)
{
    scopes_pending *items =
        pastset_array_grow(t->list->items, t->list->count, sizeof(*items));

    if (!items)
        return NULL;
    t->list->items = items;
    return memset(&items[t->list->count++], 0, sizeof(*items));
}

/* Is there something to be told of it? */
static bool is_told(const taking *t, uint32_t process, uint32_t executor,
                    const paths_executor_note *note)
{
    if (executor == 0)
        return note->activity == PATHS_RUNNING;
    return thread_process(t, note->thread) == process;
}

/* Of those that tell no node, nobody can say where they are. */
static int parts_fill(const taking *t, scopes_pending *p,
                      const scopes__noted *n)
{
    if (n->count == 0)
        return 0;
    p->parts = calloc(n->count, sizeof(*p->parts));
    if (!p->parts)
        return no_memory();
    for (uint32_t i = 0; i < n->count; i++) {
        scopes_pending *part = &p->parts[p->part_count++];
        part->process = p->process;
        part->thread = p->thread;
        fill(t, part, &n->parts[i]);
        part->flags |= PATHS_NOTE_COLLECTOR;
        part->operates = part->verb < PASTSET_ALL_VERBS;
    }
    return 0;
}

static int take_one(taking *t, uint32_t process, uint32_t executor)
{
    const eventspace_run_process *h =
        eventspace_run_process_at(t->world.run, process);
    scopes__noted n;
    scopes_pending *p;
    uint32_t ended;
    int err = scopes__note_read(h->space, executor, &n, &ended);

    if (err && err != PASTSET_ENOENT)
        eventspace_run_note(t->world.run, process, "%s", pastset_error());
    if (err)
        return err == PASTSET_ENOENT ? err : 0;
    if (executor == 0 && h->meta.state == EVENTSPACE_RUNNING)
        t->world.silent_ns[process] =
            ns_between(&h->meta, n.note.at, t->world.ends[process]);
    if (!is_told(t, process, executor, &n.note))
        return 0;
    p = add(t);
    if (!p)
        return no_memory();
    p->process = process;
    p->thread = executor ? n.note.thread : PATHS_NONE;
    p->executor = executor;
    fill(t, p, &n.note);
    err = parts_fill(t, p, &n);
    go_on(t, p, ended, &n.note);
    return err;
}

static int take_process(taking *t, uint32_t process)
{
    const eventspace_run_process *h =
        eventspace_run_process_at(t->world.run, process);
    int err = 0;

    if (!h->has_meta || !h->has_space || !(h->meta.tick_hz > 0))
        return 0;
    t->world.ends[process] = eventspace_run_end_ticks(t->world.run, process);
    (void)take_one(t, process, 0); /* front ends have no loop */
    for (uint32_t i = 1; !err; i++)
        err = take_one(t, process, i);
    return err == PASTSET_ENOENT ? 0 : err;
}

static int compare(const void *left, const void *right)
{
    const scopes_pending *a = left, *b = right;

    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return a->process < b->process ? -1 : a->process > b->process;
}

static int who_all(taking *t)
{
    scopes_pending_list *list = t->list;

    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].thread < t->world.topology->thread_count)
            t->world.threads[list->items[i].thread] = &list->items[i];
    for (size_t i = 0; i < list->count; i++) {
        scopes_pending *p = &list->items[i];
        if (scopes__pending_who(&t->world, p))
            return no_memory();
    }
    return 0;
}

static int begin(taking *t)
{
    size_t processes = t->map->process_count + 1u,
           nodes = t->map->node_count + 1u;

    t->list = calloc(1, sizeof(*t->list));
    t->ranked = calloc(nodes, sizeof(*t->ranked));
    t->ranked_processes = calloc(processes, sizeof(*t->ranked_processes));
    t->world.ends = calloc(processes, sizeof(*t->world.ends));
    t->world.silent_ns = calloc(processes, sizeof(*t->world.silent_ns));
    t->world.threads =
        calloc(t->world.topology->thread_count + 1u, sizeof(*t->world.threads));
    if (!t->list || !t->ranked || !t->ranked_processes || !t->world.ends ||
        !t->world.silent_ns || !t->world.threads)
        return no_memory();
    paths_map_rank(t->map, t->ranked);
    paths_map_rank_processes(t->map, t->ranked_processes);
    return 0;
}

int scopes_pending_take(scopes_pending_list **out, eventspace_run *run,
                        const scopes_topology *topology)
{
    taking t = {.world = {.run = run, .topology = topology},
                .map = topology->map};
    int err = begin(&t);

    for (uint32_t i = 0; i < t.map->process_count && !err; i++)
        err = take_process(&t, i);
    if (!err)
        err = scopes_arrived_create(&t.world.arrived, run, topology);
    if (!err) {
        if (t.list->count)
            qsort(t.list->items, t.list->count, sizeof(*t.list->items),
                  compare);
        err = who_all(&t);
    }
    free(t.ranked);
    free(t.ranked_processes);
    free(t.world.ends);
    free(t.world.silent_ns);
    free(t.world.threads);
    scopes_arrived_destroy(t.world.arrived);
    if (err) {
        scopes_pending_destroy(t.list);
        t.list = NULL;
    }
    *out = t.list;
    return err;
}

bool scopes_pending_lasts(const scopes_pending *p, const eventspace_run *run)
{
    pastset_space *space = eventspace_run_process_at(run, p->process)->space;
    const paths_executor_note *note;
    scopes__noted n;
    uint32_t ended;

    if (!space || scopes__note_read(space, p->executor, &n, &ended))
        return true;
    note = &n.note;
    if (note->activity != p->activity || note->since != p->since_ticks)
        return false;
    return (note->sequence == p->sequence || note->flags & PATHS_NOTE_POLLS) &&
           (ended < note->sequence || !(note->flags & PATHS_NOTE_COLLECTOR));
}

static void forget(scopes_pending *p)
{
    for (size_t i = 0; i < p->part_count; i++) {
        free(p->parts[i].waits_for);
        free(p->parts[i].threads);
    }
    free(p->parts);
    free(p->waits_for);
    free(p->threads);
}

void scopes_pending_destroy(scopes_pending_list *list)
{
    if (!list)
        return;
    for (size_t i = 0; i < list->count; i++)
        forget(&list->items[i]);
    free(list->items);
    free(list);
}
