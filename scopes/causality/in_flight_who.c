/* in_flight_who.c - who is an operation waiting for?
 *
 * It is followed from where its thread let go of it down to its element. The
 * first that can hold it up says who:
 *
 *     a process on the way that is gone, or no longer gives signs of life
 *     a collective: the threads that lead to it and have not come. A thread has
 *         come that waits on a way through the collective; so of a tree those
 *         are named that all others wait for, on whatever process they are
 *     the element: the threads that may write it (for writes: that may read),
 *         as the `use` of their paths tells
 *     another process, if nothing holds up a write at its element */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/array.h"
#include "pastset/status.h"
#include "paths/map/number_list.h"
#include "paths/wrappers/wrapper.h"
#include "pastset/request.h"
#include "scopes/causality/in_flight_internal.h"

#define NAMES_MAX 6
/* Its loop gives a sign of life each half second. */
#define SILENT_NS 3000000000
/* So long it is not looked who has come to a collective that was started. */
#define COUNTED_NS 100000000

typedef struct names {
    char text[1024];
    size_t used;
    uint32_t count, more;
    scopes_pending *of; /* whose threads they are; NULL: nobody's */
    bool failed;        /* memory was out */
} names;

static void add_name(names *n, const char *name, const char *state)
{
    size_t capacity = sizeof(n->text) - n->used;
    int length = 0;

    if (n->count < NAMES_MAX)
        length = snprintf(n->text + n->used, capacity, "%s%s (%s)",
                          n->count ? ", " : "", name, state);
    if (length <= 0 || (size_t)length >= capacity) {
        n->text[n->used] = 0;
        n->more++;
        return;
    }
    n->used += (size_t)length;
    n->count++;
}

static char *names_text(const names *n)
{
    char *text = NULL;

    if (n->failed)
        return NULL;
    if (n->more == 0)
        return strdup(n->text);
    if (asprintf(&text, "%s and %u more", n->text, n->more) < 0)
        return NULL;
    return text;
}

/* --- what others are in --- */

static bool has_ended(const eventspace_run_process *process)
{
    return process->has_meta && process->meta.state != EVENTSPACE_RUNNING;
}

/* It ended before this one, which would then have gone on without it. */
static bool went_before(const pending_world *w, uint32_t process, uint32_t here)
{
    const eventspace_run_process *there =
        eventspace_run_process_at(w->run, process);
    const eventspace_run_process *own = eventspace_run_process_at(w->run, here);
    int64_t apart_ns;

    if (!has_ended(there))
        return false;
    if (!has_ended(own))
        return true;
    apart_ns = eventspace_run_time_ns(w->run, here, w->ends[here]) -
               eventspace_run_time_ns(w->run, process, w->ends[process]);
    return apart_ns > SILENT_NS;
}

/* "computing"; "at b3" of one that waits there; "killed", with its process,
 * before `here`. */
static void tell_thread(const pending_world *w, uint32_t thread, uint32_t here,
                        char *out, size_t capacity)
{
    const scopes_pending *p = w->threads[thread];
    uint32_t process =
        w->topology->map->nodes[w->topology->threads[thread]].process;
    const eventspace_run_process *h =
        eventspace_run_process_at(w->run, process);

    if (!h->has_meta)
        snprintf(out, capacity, "process %s has not started", h->name);
    else if (p && went_before(w, process, here))
        snprintf(out, capacity, "%s", eventspace_state_name(h->meta.state));
    else if (!p)
        snprintf(out, capacity, "not known");
    else if (p->activity == PATHS_WAITING && p->flags & PATHS_NOTE_COLLECTOR)
        snprintf(out, capacity, "in %s", p->path);
    else if (p->activity == PATHS_WAITING && p->stage != PATHS_NONE)
        snprintf(out, capacity, "at %s",
                 w->topology->map->nodes[p->stage].name);
    else if (p->under_way)
        snprintf(out, capacity, "%s, %u under way",
                 paths_activity_name(p->activity), p->under_way);
    else
        snprintf(out, capacity, "%s", paths_activity_name(p->activity));
}

static void note_thread(names *n, uint32_t thread)
{
    uint32_t *more =
        pastset_array_grow(n->of->threads, n->of->thread_count, sizeof(*more));

    n->failed |= !more;
    if (!more)
        return;
    n->of->threads = more;
    more[n->of->thread_count++] = thread;
}

static void add_thread(names *n, const pending_world *w, uint32_t thread,
                       uint32_t here)
{
    char state[200];

    note_thread(n, thread);

    tell_thread(w, thread, here, state, sizeof(state));
    add_name(n, scopes_topology_thread_name(w->topology, thread), state);
}

/* --- processes --- */

static char *process_text(const pending_world *w, uint32_t process,
                          uint32_t here)
{
    const eventspace_run_process *there =
        eventspace_run_process_at(w->run, process);
    char *text = NULL;
    int length = 0;

    if (process == here)
        return NULL;
    if (!there->has_meta)
        length = asprintf(&text, "process %s (has not started)", there->name);
    else if (went_before(w, process, here))
        length = asprintf(&text, "process %s (%s)", there->name,
                          eventspace_state_name(there->meta.state));
    else if (w->silent_ns[process] > SILENT_NS)
        length = asprintf(&text, "process %s (no sign of life)", there->name);
    return length > 0 ? text : NULL;
}

/* --- collectives --- */

static bool is_collective(const paths_map *map, uint32_t node)
{
    const paths_wrapper_type *type =
        map->nodes[node].kind == PATHS_WRAPPER
            ? paths_wrapper_find(map->nodes[node].type)
            : NULL;

    return type && type->joins;
}

static bool passes(const paths_map *map, uint32_t from, uint32_t node)
{
    for (uint32_t i = 0; from != PATHS_NONE && i < map->node_count; i++) {
        if (from == node)
            return true;
        from = scopes__next_node(map, from);
    }
    return false;
}

/* Does the thread contribute to the collective, and has not come? */
static bool is_missing(const pending_world *w, const scopes_top *top,
                       uint32_t collective)
{
    const paths_map *map = w->topology->map;
    const scopes_pending *p = w->threads[top->thread];
    uint32_t first = map->edges[top->edge].to;

    if (!passes(map, first, collective))
        return false;
    return !p || !p->operates || p->first == PATHS_NONE ||
           !passes(map, p->first, collective);
}

/* Is a thread of this one's process in an operation through the collective? */
static bool has_come(const pending_world *w, uint32_t thread,
                     uint32_t collective)
{
    const scopes_topology *topology = w->topology;
    const paths_map *map = topology->map;
    uint32_t process = map->nodes[topology->threads[thread]].process;

    for (uint32_t i = 0; i < topology->thread_count; i++) {
        const scopes_pending *p = w->threads[i];
        if (p && p->process == process && p->operates &&
            p->first != PATHS_NONE && passes(map, p->first, collective))
            return true;
    }
    return false;
}

/* Which of a collective's members are looked at. */
static bool is_meant(const pending_world *w, const scopes_pending *p,
                     uint32_t thread, uint32_t collective)
{
    uint32_t process =
        w->topology->map->nodes[w->topology->threads[thread]].process;

    if (process == p->process)
        return false;
    if (p->flags & PATHS_NOTE_ROUND) /* seldom: all events are counted */
        return p->lasts_ns < COUNTED_NS ||
               scopes_arrived_rounds(w->arrived, process, collective) < p->tag;
    return !has_come(w, thread, collective);
}

/* Of a collective whose members are known, whether or not they have ever come:
 * numbers of their processes' first threads. */
static bool add_members(names *n, const pending_world *w, uint32_t collective,
                        const scopes_pending *p, uint32_t below)
{
    const scopes_topology *topology = w->topology;
    const char *members =
        paths_node_get(&topology->map->nodes[collective], "members");
    paths_number_list list = {0};

    if (members && paths_number_list_read(&list, members) == 0)
        for (uint32_t i = 0; i < topology->thread_count && i < below; i++)
            if (paths_number_list_has(&list, i) &&
                topology->threads[i] != PATHS_NONE &&
                is_meant(w, p, i, collective))
                add_thread(n, w, i, p->process);
    paths_number_list_fini(&list);
    return n->count > 0;
}

static bool add_missing(names *n, const pending_world *w, uint32_t collective,
                        const scopes_pending *p)
{
    if (paths_node_get(&w->topology->map->nodes[collective], "members"))
        return add_members(n, w, collective, p, UINT32_MAX);
    for (uint32_t i = 0; i < w->topology->top_count; i++) {
        const scopes_top *top = &w->topology->tops[i];
        if (is_missing(w, top, collective))
            add_thread(n, w, top->thread, p->process);
    }
    return n->count > 0;
}

/* --- elements --- */

static bool brings(uint16_t verb)
{
    return verb == PASTSET_WRITE || verb == PASTSET_EXCHANGE;
}

static bool may(const paths_map_edge *edge, bool write)
{
    const char *use = paths_attributes_get(&edge->attributes, "use");

    if (!use || !*use || strcmp(use, "both") == 0)
        return true;
    return write != (strcmp(use, "read") == 0); /* collectives write */
}

/* Those who could let it go on; each once. */
static void add_users(names *n, const pending_world *w, const scopes_pending *p)
{
    const scopes_topology *topology = w->topology;
    uint32_t before = p->of_thread;

    for (uint32_t i = 0; i < topology->top_count; i++) {
        const scopes_top *top = &topology->tops[i];
        if (top->element != p->element || top->thread == p->of_thread ||
            top->thread == before ||
            !may(&topology->map->edges[top->edge], !brings(p->verb)))
            continue;
        before = top->thread;
        add_thread(n, w, top->thread, p->process);
    }
}

/* A write waits only at an element that blocks. */
static bool can_wait(const paths_map *map, const scopes_pending *p)
{
    return !brings(p->verb) ||
           paths_node_policy(&map->nodes[p->element]) == PASTSET_BLOCK;
}

static char *element_who(const pending_world *w, scopes_pending *p)
{
    names n = {.of = p};

    add_users(&n, w, p);
    p->for_any = true;
    if (n.count)
        return names_text(&n);
    return strdup(brings(p->verb) ? "no thread may read it"
                                  : "no thread may write it");
}

/* --- all --- */

/* Any other thread that communicates. */
static char *anybody_who(const pending_world *w, scopes_pending *p)
{
    names n = {.of = p};

    p->for_any = true;
    for (uint32_t i = 0; i < w->topology->thread_count; i++)
        if (w->threads[i] && i != p->thread)
            add_thread(&n, w, i, p->process);
    return names_text(&n);
}

static uint32_t first_thread(const pending_world *w, uint32_t process)
{
    const scopes_topology *topology = w->topology;

    for (uint32_t i = 0; i < topology->thread_count; i++)
        if (topology->threads[i] != PATHS_NONE &&
            topology->map->nodes[topology->threads[i]].process == process)
            return i;
    return 0;
}

/* Has one of the process's threads come to it as well, or ended since? The
 * process ends a little later than its first thread. */
static bool is_with_all(const pending_world *w, uint32_t process)
{
    const scopes_topology *topology = w->topology;
    const scopes_pending *first = w->threads[first_thread(w, process)];

    if (first && first->activity == PATHS_ENDED)
        return true;

    for (uint32_t i = 0; i < topology->thread_count; i++)
        if (w->threads[i] && w->threads[i]->process == process &&
            w->threads[i]->flags & PATHS_NOTE_ALL)
            return true;
    return has_ended(eventspace_run_process_at(w->run, process));
}

static char *all_who(const pending_world *w, scopes_pending *p)
{
    names n = {.of = p};

    for (uint32_t i = 0; i < w->topology->thread_count; i++)
        if (w->threads[i] && !is_with_all(w, w->threads[i]->process))
            add_thread(&n, w, i, p->process);
    return names_text(&n);
}

/* At an element that members of a communicator come to: all others, those
 * before it, or any. The first of all is before all others, and nobody is
 * before it. */
static char *members_who(const pending_world *w, scopes_pending *p)
{
    names n = {.of = p};
    bool is_lower = p->flags & PATHS_NOTE_LOWER;

    if (is_lower &&
        add_members(&n, w, p->element, p, first_thread(w, p->process)))
        return names_text(&n);
    p->for_any = p->flags & (PATHS_NOTE_ONE | PATHS_NOTE_LOWER);
    add_members(&n, w, p->element, p, UINT32_MAX);
    return names_text(&n);
}

static bool has_members(const pending_world *w, const scopes_pending *p)
{
    const uint32_t those =
        PATHS_NOTE_ONE | PATHS_NOTE_ALL | PATHS_NOTE_LOWER | PATHS_NOTE_ROUND;

    return p->flags & PATHS_NOTE_COLLECTOR && p->element != PATHS_NONE &&
           (p->flags & those || p->verb == PASTSET_READ_LAST) &&
           paths_node_get(&w->topology->map->nodes[p->element], "members");
}

/* What a front end says of it. */
static char *peer_who(const pending_world *w, scopes_pending *p)
{
    names n = {.of = p};

    add_thread(&n, w, p->peer_thread, p->process);
    return names_text(&n);
}

static bool is_named(const scopes_pending *p, uint32_t thread)
{
    for (size_t i = 0; i < p->thread_count; i++)
        if (p->threads[i] == thread)
            return true;
    return false;
}

static char *operation_who(const pending_world *w, scopes_pending *p);

/* All who are waited for by the parts of it, each once. */
static char *parts_who(const pending_world *w, scopes_pending *p)
{
    names n = {.of = p};

    for (size_t i = 0; i < p->part_count; i++) {
        scopes_pending *part = &p->parts[i];
        if (part->flags & PATHS_NOTE_POSTED)
            continue;
        part->waits_for = operation_who(w, part);
        n.failed |= !part->waits_for;
        for (size_t k = 0; k < part->thread_count; k++)
            if (!is_named(p, part->threads[k]))
                add_thread(&n, w, part->threads[k], p->process);
    }
    return names_text(&n);
}

static char *operation_who(const pending_world *w, scopes_pending *p)
{
    const paths_map *map = w->topology->map;
    uint32_t at = p->stage;
    char *text = NULL;

    if (p->part_count)
        return parts_who(w, p);
    if (p->flags & PATHS_NOTE_ANY)
        return anybody_who(w, p);
    if (p->flags & PATHS_NOTE_COLLECTOR && p->peer_thread != PATHS_NONE)
        return peer_who(w, p);
    if (has_members(w, p))
        return members_who(w, p);
    if (p->flags & PATHS_NOTE_ALL)
        return all_who(w, p);
    for (uint32_t i = 0; at != PATHS_NONE && i < map->node_count; i++) {
        names n = {.of = p};
        text = process_text(w, map->nodes[at].process, p->process);
        if (text)
            return text;
        if (is_collective(map, at) && add_missing(&n, w, at, p))
            return names_text(&n);
        at = scopes__next_node(map, at);
    }
    if (p->element != PATHS_NONE && can_wait(map, p))
        return element_who(w, p);
    if (p->peer == PATHS_NONE)
        return strdup("");
    if (asprintf(&text, "process %s", map->processes[p->peer].name) < 0)
        return NULL;
    return text;
}

static char *starting_who(const pending_world *w, const scopes_pending *p)
{
    names n = {.used = 0};

    for (uint32_t i = 0; i < w->topology->map->process_count; i++) {
        const eventspace_run_process *h = eventspace_run_process_at(w->run, i);
        if (i != p->process && !h->has_meta)
            add_name(&n, h->name, "has not started");
        else if (i != p->process && has_ended(h))
            add_name(&n, h->name, eventspace_state_name(h->meta.state));
    }
    return n.count ? names_text(&n) : strdup("");
}

static char *who(const pending_world *world, scopes_pending *p)
{
    char *text = NULL;

    if (p->activity == PATHS_STARTING)
        return starting_who(world, p);
    if (p->activity == PATHS_CONNECTING && p->peer != PATHS_NONE) {
        text = process_text(world, p->peer, p->process);
        if (!text &&
            asprintf(&text, "process %s",
                     world->topology->map->processes[p->peer].name) < 0)
            return NULL;
        return text;
    }
    if (p->operates && p->activity != PATHS_RUNNING)
        return operation_who(world, p);
    return strdup("");
}

int scopes__pending_who(const pending_world *world, scopes_pending *p)
{
    p->waits_for = who(world, p);
    return p->waits_for ? 0 : pastset_no_memory("for what is pending");
}
