/* clock_meeting.c - what collectives tell of clocks.
 *
 * Nobody leaves a barrier before everybody has come. Of what else all wait for
 * all in, that is so of who brings something that all get: with no bytes
 * MPI may let everybody pass. A root that gives something begins before anybody
 * has got it, and one that gets something ends after those who bring it have
 * begun. Where it is not said who gets what from whom (MPI_Alltoallv,
 * MPI_Reduce_scatter), nothing is certain.
 *
 * The j-th times that processes come to a collective are one round. That holds
 * only where nothing is missing: if any tuple was lost or left out, or the
 * counts differ, nothing is said; but of a process that was killed, or goes on,
 * the last ones are not there yet. After an operation that has failed nothing
 * is said, either.
 *
 * Each process is compared with one of them: that is enough for a tree of
 * clocks. */
#include "scopes/clocks/clock_internal.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/request.h"
#include "pastset/status.h"
#include "scopes/memory/memory_internal.h"

typedef scopes__message_walk walk;

/* A process that comes to a collective, and its events there. */
typedef struct party {
    uint32_t process;
    size_t from, count; /* in `events` of the meeting */
} party;

typedef struct meeting {
    const walk *walk;
    const eventspace_trace **events; /* by party, in the order of starts */
    size_t event_count;
    party *parties;
    uint32_t party_count;
    size_t rounds; /* of which all is known */
} meeting;

typedef enum collective {
    NOTHING,
    ALL_WAIT,  /* whatever they bring */
    ALL_BRING, /* for who brings something */
    HAS_ROOT,  /* which is the process of the element */
} collective;

/* --- which collectives --- */

/* Up to a space: behind it is where. */
static bool is_called(const char *name, const char *call)
{
    size_t length = strcspn(name, " ");

    return length == strlen(call) && strncmp(name, call, length) == 0;
}

/* What was imported may lack how many bytes there were. */
static collective kind_of_site(const walk *w, const scopes_site *site)
{
    static const char *const calls[] = {"MPI_Allgather", "MPI_Allgatherv",
                                        "MPI_Allreduce", "MPI_Alltoall",
                                        "MPI_Reduce_scatter_block"};
    const char *type = w->topology->map->nodes[site->node].type;
    const char *name = scopes_topology_node_name(w->topology, site->element);

    if (strcmp(type, "barrier") == 0 || !scopes__is_added(w, site->node))
        return ALL_WAIT;
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
        if (is_called(name, calls[i]))
            return ALL_BRING;
    return NOTHING;
}

/* Its inputs come straight from several processes. */
static bool is_joined_directly(const scopes_topology *topology,
                               const scopes_site *site)
{
    bool apart = false;

    for (uint32_t i = 0; i < site->inputs.count; i++) {
        uint32_t id = site->inputs.ids[i];
        if (id == PATHS_NONE || topology->hops[id].proxy != PATHS_NONE ||
            topology->hops[id].lower != PATHS_NONE)
            return false;
        apart |= scopes__process_of(topology, id) !=
                 scopes__process_of(topology, site->inputs.ids[0]);
    }
    return apart && site->parent == PATHS_NONE;
}

static bool has_rounds(const scopes_topology *topology, uint32_t node)
{
    const paths_map_node *element = &topology->map->nodes[node];
    const char *rounds =
        element->kind == PATHS_ELEMENT
            ? paths_attributes_get(&element->attributes, "rounds")
            : NULL;

    return rounds && strcmp(rounds, "true") == 0;
}

/* --- who comes to one, and how often --- */

static int by_start(const void *left, const void *right)
{
    const eventspace_trace *a = *(const eventspace_trace *const *)left;
    const eventspace_trace *b = *(const eventspace_trace *const *)right;

    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

/* A collector and its process. */
typedef struct place {
    uint32_t process, collector;
} place;

static int by_process(const void *left, const void *right)
{
    const place *a = left, *b = right;

    return a->process < b->process ? -1 : a->process > b->process;
}

/* Calls of several places of a process come one after the other. */
static void party_add(meeting *m, const place *places, uint32_t count)
{
    party *own = &m->parties[m->party_count++];

    *own = (party){.process = places[0].process, .from = m->event_count};
    for (uint32_t i = 0; i < count; i++) {
        const scopes_series *series =
            scopes_event_series(m->walk->event_table, places[i].collector);
        for (size_t k = 0; k < series->count; k++)
            m->events[m->event_count++] = scopes_event_at(series->events, k);
    }
    own->count = m->event_count - own->from;
    if (count > 1 && own->count)
        qsort(&m->events[own->from], own->count, sizeof(*m->events), by_start);
}

static int parties_make(meeting *m, const scopes_ids *ids)
{
    const walk *w = m->walk;
    place *places = calloc(ids->count + 1u, sizeof(*places));
    size_t events = 0;
    uint32_t from = 0;

    m->parties = calloc(ids->count + 1u, sizeof(*m->parties));
    for (uint32_t i = 0; i < ids->count; i++)
        events += scopes_event_series(w->event_table, ids->ids[i])->count;
    m->events = scopes__allocate((events + 1) * sizeof(*m->events));
    if (!places || !m->parties || !m->events) {
        free(places);
        return scopes__no_room("for the collectives of a run");
    }
    for (uint32_t i = 0; i < ids->count; i++)
        places[i] =
            (place){scopes__process_of(w->topology, ids->ids[i]), ids->ids[i]};
    qsort(places, ids->count, sizeof(*places), by_process);
    for (uint32_t i = 1; i <= ids->count; i++) {
        if (i < ids->count && places[i].process == places[from].process)
            continue;
        party_add(m, &places[from], i - from);
        from = i;
    }
    free(places);
    return 0;
}

/* --- rounds --- */

static const eventspace_trace *event_of(const meeting *m, const party *p,
                                        size_t round)
{
    return m->events[p->from + round];
}

/* A process that has not ended by itself may not have come to the last ones. */
static bool may_lack_some(const meeting *m, const party *p)
{
    const eventspace_run *run = m->walk->event_table->run;

    return run && eventspace_run_process_at(run, p->process)->meta.state !=
                      EVENTSPACE_FINISHED;
}

/* How many of the first rounds of a process are right. */
static size_t rounds_of(const meeting *m, const party *p, size_t most)
{
    size_t rounds = 0;

    if (m->walk->event_table->ledgers[p->process].lost > 0 ||
        (p->count < most && !may_lack_some(m, p)))
        return 0;
    while (rounds < p->count && !event_of(m, p, rounds)->status)
        rounds++;
    return rounds;
}

static void rounds_count(meeting *m)
{
    size_t most = 0;

    for (uint32_t i = 0; i < m->party_count; i++)
        most = m->parties[i].count > most ? m->parties[i].count : most;
    m->rounds = m->walk->event_table->all_times ? most : 0;
    for (uint32_t i = 0; i < m->party_count; i++) {
        size_t rounds = rounds_of(m, &m->parties[i], most);
        m->rounds = rounds < m->rounds ? rounds : m->rounds;
    }
}

/* --- what they tell --- */

/* One has begun before the other has ended. */
static int before(const meeting *m, const party *a, const party *b,
                  size_t round)
{
    return scopes__message_before(m->walk, a->process,
                                  event_of(m, a, round)->start, b->process,
                                  event_of(m, b, round)->end);
}

static int meet(const meeting *m, const party *a, const party *b,
                collective kind)
{
    int err = 0;

    for (size_t i = 0; i < m->rounds && !err; i++) {
        if (kind == ALL_WAIT || event_of(m, a, i)->bytes)
            err = before(m, a, b, i);
        if (!err && (kind == ALL_WAIT || event_of(m, b, i)->bytes))
            err = before(m, b, a, i);
    }
    return err;
}

/* It writes what others read, or reads what they write. They know how much they
 * bring, or get. */
static int root_meets(const meeting *m, const party *root, const party *other)
{
    int err = 0;

    for (size_t i = 0; i < m->rounds && !err; i++) {
        uint16_t own = event_of(m, root, i)->operation;
        const eventspace_trace *its = event_of(m, other, i);
        if (!its->bytes)
            continue;
        if (own == PASTSET_WRITE && its->operation == PASTSET_READ_NEXT)
            err = before(m, root, other, i);
        else if (own == PASTSET_READ_LAST && its->operation == PASTSET_WRITE)
            err = before(m, other, root, i);
    }
    return err;
}

static const party *root_of(const meeting *m, uint32_t node)
{
    uint32_t process = m->walk->topology->map->nodes[node].process;

    for (uint32_t i = 0; i < m->party_count; i++)
        if (m->parties[i].process == process)
            return &m->parties[i];
    return NULL;
}

static int parties_meet(const meeting *m, uint32_t node, collective kind)
{
    const party *one = kind == HAS_ROOT ? root_of(m, node) : m->parties;
    int err = 0;

    for (uint32_t i = 0; i < m->party_count && one && !err; i++) {
        const party *other = &m->parties[i];
        if (other == one)
            continue;
        err = kind == HAS_ROOT ? root_meets(m, one, other)
                               : meet(m, one, other, kind);
    }
    return err;
}

static int walk_one(const walk *w, uint32_t node, const scopes_ids *ids,
                    collective kind)
{
    meeting m = {.walk = w};
    int err = parties_make(&m, ids);

    if (!err) {
        rounds_count(&m);
        err = parties_meet(&m, node, kind);
    }
    scopes__free(m.events);
    free(m.parties);
    return err;
}

/* --- all --- */

int scopes__meetings_each(const walk *w)
{
    const scopes_topology *topology = w->topology;
    int err = 0;

    for (uint32_t i = 0; i < topology->site_count && !err; i++) {
        const scopes_site *site = &topology->sites[i];
        collective kind = kind_of_site(w, site);
        if (kind != NOTHING && is_joined_directly(topology, site))
            err = walk_one(w, site->node, &site->inputs, kind);
    }
    for (uint32_t i = 0; i < topology->map->node_count && !err; i++)
        if (has_rounds(topology, i) && topology->lowest[i].count > 1)
            err = walk_one(w, i, &topology->lowest[i], HAS_ROOT);
    return err;
}

static void choose(bool *collectors, const scopes_ids *ids)
{
    for (uint32_t i = 0; i < ids->count; i++)
        collectors[ids->ids[i]] = true;
}

bool scopes__meetings_choose(const scopes_topology *topology, bool *collectors)
{
    bool any = false;

    for (uint32_t i = 0; i < topology->site_count; i++) {
        if (!is_joined_directly(topology, &topology->sites[i]))
            continue;
        any = true;
        choose(collectors, &topology->sites[i].inputs);
    }
    for (uint32_t i = 0; i < topology->map->node_count; i++) {
        if (!has_rounds(topology, i) || topology->lowest[i].count < 2)
            continue;
        any = true;
        choose(collectors, &topology->lowest[i]);
    }
    return any;
}
