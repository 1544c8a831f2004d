/* cause.c - see cause_internal.h. For each element its operations are merged
 * by their starts (runs that are sorted already, so n log k for k collectors);
 * from there on two positions move through them. */
#include "scopes/causality/cause_internal.h"

#include "scopes/causality/cause.h"
#include "scopes/causality/message_partners_internal.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/request.h"
#include "pastset/status.h"
#include "scopes/memory/memory_internal.h"
#include "scopes/parallel/memo_internal.h"
#include "scopes/parallel/parallel_internal.h"

/* An operation at an element. */
typedef struct visit {
    int64_t start_ns;
    int64_t end_ns;
    int64_t done_ns; /* from when on it could release others, which is when it
                        was released itself; its start, if it was not held */
    uint32_t collector;
    uint32_t event;
    uint32_t thread;
    uint32_t sequence;
} visit;

typedef struct visits {
    visit *items; /* by their starts */
    size_t count;
} visits;

typedef enum role {
    WRITES,
    TAKES, /* take a tuple out */
    LOOKS, /* leave it there */
    ROLES,
    NOTHING = ROLES,
} role;

/* One element. */
typedef struct place {
    const scopes_topology *topology;
    const scopes_event_table *event_table;
    const scopes_clocks *clocks;
    const paths_map_node *element;
    const scopes_ids *lowest;
    visits by[ROLES];
    bool holds_writes;
    bool discards;
    bool has_rounds; /* of each round one operation of each thread */
    const scopes__partners *partners; /* NULL: there are none */
    bool all; /* also of those that were not held, if it goes in turn */
    uint64_t capacity;
} place;

static int no_memory(void)
{
    return scopes__no_room("for what waited at elements");
}

static role role_of(const eventspace_trace *event)
{
    if (event->status != 0)
        return NOTHING;
    switch (event->operation) {
    case PASTSET_WRITE:
    case PASTSET_EXCHANGE:
        return WRITES;
    case PASTSET_OBSERVE:
    case PASTSET_TAKE:
        return TAKES;
    case PASTSET_READ:
    case PASTSET_READ_FIRST:
    case PASTSET_READ_LAST:
    case PASTSET_READ_NEXT:
    case PASTSET_READ_MATCH:
        return LOOKS;
    default:
        return NOTHING;
    }
}

/* --- the operations of an element, in order --- */

static const scopes_series *series_of(const place *p, uint32_t i)
{
    return scopes_event_series(p->event_table, p->lowest->ids[i]);
}

static int make_room(place *p)
{
    size_t counts[ROLES + 1] = {0};

    for (uint32_t i = 0; i < p->lowest->count; i++) {
        const scopes_series *series = series_of(p, i);
        for (size_t e = 0; e < series->count; e++)
            counts[role_of(scopes_event_at(series->events, e))]++;
    }
    for (int k = 0; k < ROLES; k++) {
        if (counts[k]) {
            p->by[k].items = scopes__allocate(counts[k] * sizeof(visit));
            if (!p->by[k].items)
                return no_memory();
        }
    }
    return 0;
}

static void add_series(place *p, uint32_t i)
{
    const scopes_series *series = series_of(p, i);

    for (size_t e = 0; e < series->count; e++) {
        const eventspace_trace *event = scopes_event_at(series->events, e);
        role r = role_of(event);
        if (r == NOTHING)
            continue;
        p->by[r].items[p->by[r].count++] = (visit){
            .start_ns =
                scopes_clocks_ns(p->clocks, series->process, event->start),
            .end_ns = scopes_clocks_ns(p->clocks, series->process, event->end),
            .done_ns =
                scopes_clocks_ns(p->clocks, series->process, event->start),
            .collector = p->lowest->ids[i],
            .event = (uint32_t)e,
            .thread = event->thread,
            .sequence = event->sequence,
        };
    }
}

static void merge(const visit *a, size_t a_count, const visit *b,
                  size_t b_count, visit *out)
{
    while (a_count && b_count) {
        if (b->start_ns < a->start_ns) {
            *out++ = *b++;
            b_count--;
        } else {
            *out++ = *a++;
            a_count--;
        }
    }
    memcpy(out, a, a_count * sizeof(*a));
    memcpy(out + a_count, b, b_count * sizeof(*b));
}

/* The length of the run that begins at `from`. */
static size_t run_at(const visits *v, size_t from)
{
    size_t to = from + 1;

    while (to < v->count && v->items[to - 1].start_ns <= v->items[to].start_ns)
        to++;
    return to - from;
}

/* Merges neighbouring runs, once over all of them. True: there was one. */
static bool merge_once(const visits *from, visit *to)
{
    size_t runs = 0;

    for (size_t at = 0; at < from->count; runs++) {
        size_t a = run_at(from, at), b = 0;
        if (at + a < from->count)
            b = run_at(from, at + a);
        merge(&from->items[at], a, &from->items[at + a], b, &to[at]);
        at += a + b;
    }
    return runs <= 1;
}

static int sort(visits *v)
{
    visit *other;
    bool sorted = v->count == 0 || run_at(v, 0) == v->count;

    if (sorted)
        return 0;
    other = scopes__allocate(v->count * sizeof(*other));
    if (!other)
        return no_memory();
    while (!sorted) {
        visit *kept = v->items;
        sorted = merge_once(v, other);
        v->items = other;
        other = kept;
    }
    scopes__free(other);
    return 0;
}

static int gather(place *p)
{
    int err = make_room(p);

    for (uint32_t i = 0; i < p->lowest->count && !err; i++)
        add_series(p, i);
    for (int k = 0; k < ROLES && !err; k++)
        err = sort(&p->by[k]);
    return err;
}

/* --- who released whom --- */

static void note(scopes__causes *causes, const visit *held,
                 const visit *releaser)
{
    causes->of[held->collector][held->event] =
        (scopes__cause){releaser->collector, releaser->event};
}

/* Did the releaser come while the other one was there already? */
static bool came_later(const visit *releaser, const visit *held)
{
    return releaser->start_ns > held->start_ns &&
           releaser->thread != held->thread;
}

/* Of `others`, the last that began within it, and that was done before it
 * ended. `next`, the first that began too late, is kept from one to the next.
 */
static void find_releaser(scopes__causes *causes, visit *own,
                          const visits *others, size_t *next)
{
    const visit *items = others->items;

    while (*next < others->count && items[*next].start_ns <= own->end_ns)
        ++*next;
    while (*next > 0 && items[*next - 1].start_ns > own->end_ns)
        --*next;
    for (size_t at = *next; at > 0; at--) {
        const visit *other = &items[at - 1];
        if (other->start_ns <= own->start_ns)
            break;
        if (came_later(other, own) && other->done_ns <= own->end_ns) {
            own->done_ns = other->done_ns;
            note(causes, own, other);
            break;
        }
    }
}

/* The last ones first: who releases began later, and it is known then whether
 * he was held himself. Without that, two could have waited for each other. */
static void by_time(scopes__causes *causes, const place *p)
{
    const visits *writes = &p->by[WRITES], *takes = &p->by[TAKES];
    size_t w = writes->count, t = takes->count;
    size_t next_write = w, next_take = t;

    while (w + t > 0) {
        if (t == 0 || (w > 0 && writes->items[w - 1].start_ns >=
                                    takes->items[t - 1].start_ns)) {
            w--;
            if (p->holds_writes)
                find_releaser(causes, &writes->items[w], takes, &next_take);
        } else {
            t--;
            find_releaser(causes, &takes->items[t], writes, &next_write);
        }
    }
}

static void looks_by_time(scopes__causes *causes, const place *p)
{
    const visits *looks = &p->by[LOOKS];
    size_t next = 0;

    for (size_t i = 0; i < looks->count; i++)
        find_releaser(causes, &looks->items[i], &p->by[WRITES], &next);
}

static size_t less(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Writes that needed the room that a take made, of which there is an event. */
static size_t writes_for_room(const place *p)
{
    return p->holds_writes
               ? less(p->by[WRITES].count, p->by[TAKES].count + p->capacity)
               : 0;
}

/* False: it had ended before the one that it needs was done. */
static bool follows(visit *own, const visit *needed)
{
    if (own->done_ns < needed->done_ns)
        own->done_ns = needed->done_ns;
    return own->done_ns <= own->end_ns;
}

static void forget(const visits *v)
{
    for (size_t i = 0; i < v->count; i++)
        v->items[i].done_ns = v->items[i].start_ns;
}

/* Could tuples have come out in the order in which they went in? A read ends
 * after its write was done, and a write that needs the room that a read makes
 * ends after that read was done. Where processes were killed the last operation
 * of each thread may have left no event. */
static bool goes_in_turn(const place *p)
{
    const visits *writes = &p->by[WRITES], *takes = &p->by[TAKES];
    size_t cut = p->lowest->count;

    if (p->discards || takes->count > writes->count + cut ||
        (p->holds_writes && writes->count > takes->count + p->capacity + cut))
        return false;
    for (size_t j = 0; j < writes->count; j++) {
        visit *write = &writes->items[j];
        if (j >= p->capacity && j < writes_for_room(p) &&
            !follows(write, &takes->items[j - p->capacity]))
            return false;
        if (j < takes->count && !follows(&takes->items[j], write))
            return false;
    }
    return true;
}

static void in_turn(scopes__causes *causes, const place *p)
{
    const visits *writes = &p->by[WRITES], *takes = &p->by[TAKES];

    for (size_t j = 0; j < less(takes->count, writes->count); j++) {
        if (p->all || came_later(&writes->items[j], &takes->items[j]))
            note(causes, &takes->items[j], &writes->items[j]);
    }
    for (size_t j = p->capacity; j < writes_for_room(p); j++) {
        const visit *take = &takes->items[j - p->capacity];
        if (p->all || came_later(take, &writes->items[j]))
            note(causes, &writes->items[j], take);
    }
}

/* --- by what processes say of their messages --- */

static uint64_t key_of(const visit *v)
{
    return (uint64_t)v->thread << 32 | v->sequence;
}

static int by_operation(const void *left, const void *right)
{
    uint64_t a = key_of(*(const visit *const *)left);
    uint64_t b = key_of(*(const visit *const *)right);

    return a < b ? -1 : a > b;
}

static const visit *visit_find(const visit *const *sorted, size_t count,
                               uint64_t operation)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (key_of(sorted[middle]) < operation)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && key_of(sorted[low]) == operation ? sorted[low] : NULL;
}

/* `*found`: whether any of the takes is one of a message whose send is known;
 * else it goes by other means. */
static int by_messages(scopes__causes *causes, const place *p, bool *found)
{
    const visits *writes = &p->by[WRITES], *takes = &p->by[TAKES];
    const visit **sorted = NULL;
    int err = 0;

    *found = false;
    for (size_t i = 0; i < takes->count && !err; i++) {
        const visit *take = &takes->items[i], *write;
        uint64_t sent = scopes__partner_of(p->partners, key_of(take));
        if (sent == SCOPES__NO_PARTNER)
            continue;
        if (!sorted) {
            sorted = scopes__allocate(writes->count * sizeof(*sorted));
            if (!sorted)
                return no_memory();
            for (size_t w = 0; w < writes->count; w++)
                sorted[w] = &writes->items[w];
            qsort(sorted, writes->count, sizeof(*sorted), by_operation);
        }
        *found = true;
        write = visit_find(sorted, writes->count, sent);
        if (write && (p->all || came_later(write, take)))
            note(causes, take, write);
    }
    scopes__free(sorted);
    return err;
}

/* --- in rounds --- */

/* The last write of each round: each thread that writes does so once in each.
 * `counts` is by thread. */
static size_t last_writes(const visits *writes, uint32_t *counts,
                          const visit **last)
{
    size_t rounds = 0;

    for (size_t i = 0; i < writes->count; i++) {
        const visit *write = &writes->items[i];
        uint32_t round = counts[write->thread]++;
        last[round] = write; /* they come by their starts */
        if (round >= rounds)
            rounds = round + 1u;
    }
    return rounds;
}

/* Who looks in a round has waited for the last who writes in it. */
static int in_rounds(scopes__causes *causes, const place *p)
{
    const visits *writes = &p->by[WRITES], *looks = &p->by[LOOKS];
    uint32_t threads = p->topology->thread_count;
    uint32_t *counts = calloc(2 * (size_t)threads + 1, sizeof(*counts));
    const visit **last = scopes__allocate(writes->count * sizeof(*last));
    size_t rounds;

    if (!counts || !last) {
        free(counts);
        scopes__free(last);
        return no_memory();
    }
    rounds = last_writes(writes, counts, last);
    for (size_t i = 0; i < looks->count; i++) {
        const visit *look = &looks->items[i];
        uint32_t round = counts[threads + look->thread]++;
        if (round < rounds && (p->all || came_later(last[round], look)))
            note(causes, look, last[round]);
    }
    free(counts);
    scopes__free(last);
    return 0;
}

/* Rounds are counted from the first of all. */
static bool can_be_in_rounds(const place *p)
{
    const scopes_event_table *table = p->event_table;

    if (!p->has_rounds || !table->all_times || table->ledger.lost > 0)
        return false;
    for (int k = 0; k < ROLES; k++)
        for (size_t i = 0; i < p->by[k].count; i++)
            if (p->by[k].items[i].thread >= p->topology->thread_count)
                return false;
    return p->by[TAKES].count == 0;
}

/* --- all of an element --- */

static int find(scopes__causes *causes, const place *p)
{
    bool found = false;
    int err = 0;

    if (can_be_in_rounds(p))
        return in_rounds(causes, p);
    if (p->partners && p->by[TAKES].count)
        err = by_messages(causes, p, &found);
    if (err || found)
        return err;
    if (goes_in_turn(p)) {
        in_turn(causes, p);
    } else {
        forget(&p->by[WRITES]);
        forget(&p->by[TAKES]);
        by_time(causes, p);
    }
    looks_by_time(causes, p);
    return 0;
}

/* --- all elements --- */

/* What the map says of it. What it does not understand it takes for what is
 * usual: a map that ran has been checked. */
static void ask_element(place *p)
{
    pastset_policy policy = paths_node_policy(p->element);
    const char *rounds = paths_node_get(p->element, "rounds");

    p->holds_writes = policy == PASTSET_BLOCK;
    p->discards = policy == PASTSET_DISCARD;
    p->has_rounds = rounds && strcmp(rounds, "true") == 0;
    if (paths_node_number(p->topology->map, p->element, "capacity", 1024,
                          &p->capacity))
        p->capacity = 1024;
}

static int make_arrays(scopes__causes *causes, const place *p)
{
    for (uint32_t i = 0; i < p->lowest->count; i++) {
        size_t count = series_of(p, i)->count;
        scopes__cause **of = &causes->of[p->lowest->ids[i]];
        if (count == 0 || *of)
            continue;
        *of = scopes__allocate(count * sizeof(**of));
        if (!*of)
            return no_memory();
        for (size_t e = 0; e < count; e++)
            (*of)[e] = (scopes__cause){PATHS_NONE, SCOPES_MISSING};
    }
    return 0;
}

static int add_element(scopes__causes *causes, place *p)
{
    int err = gather(p);

    ask_element(p);
    if (!err && p->by[WRITES].count && p->by[TAKES].count + p->by[LOOKS].count)
        err = make_arrays(causes, p);
    else
        goto done; /* nobody there to wait for */
    if (!err)
        err = find(causes, p);
done:
    for (int k = 0; k < ROLES; k++)
        scopes__free(p->by[k].items);
    return err;
}

static void causes_free(void *made)
{
    scopes__causes *causes = made;

    for (uint32_t i = 0; i < causes->collectors && causes->of; i++)
        scopes__free(causes->of[i]);
    free(causes->of);
    free(causes);
}

/* What all elements have in common. */
typedef struct making {
    scopes__causes *causes;
    const scopes_topology *topology;
    const scopes_event_table *event_table;
    const scopes_clocks *clocks;
    bool all;
    scopes__partners *partners;
} making;

/* A collector is the lowest of one element at most, as each way leads to one.
 */
static int element_part(size_t node, void *context)
{
    const making *m = context;
    place p = {.topology = m->topology,
               .event_table = m->event_table,
               .clocks = m->clocks,
               .element = &m->topology->map->nodes[node],
               .partners = m->partners,
               .all = m->all,
               .lowest = &m->topology->lowest[node]};

    return p.element->kind == PATHS_ELEMENT && p.lowest->count
               ? add_element(m->causes, &p)
               : 0;
}

static int make(scopes__causes **out, const scopes_topology *topology,
                const scopes_event_table *event_table,
                const scopes_clocks *clocks, bool all)
{
    making m = {
        calloc(1, sizeof(*m.causes)), topology, event_table, clocks, all, NULL};
    int err = 0;

    *out = NULL;
    if (!m.causes)
        return no_memory();
    m.causes->collectors = topology->collectors;
    m.causes->of = calloc(topology->collectors + 1, sizeof(*m.causes->of));
    if (!m.causes->of)
        err = no_memory();
    else if (event_table->run)
        err = scopes__partners_make(&m.partners, event_table->run, topology);
    if (!err)
        err = scopes__parallel(topology->map->node_count, element_part, &m);
    scopes__partners_destroy(m.partners);
    if (err)
        causes_free(m.causes);
    else
        *out = m.causes;
    return err;
}

typedef struct asked {
    const scopes_topology *topology;
    const scopes_event_table *event_table;
    const scopes_clocks *clocks;
} asked;

static int causes_make(void **out, const void *context, bool kept)
{
    const asked *a = context;
    scopes__causes *causes;
    int err = make(&causes, a->topology, a->event_table, a->clocks, false);

    if (err)
        return err;
    causes->kept = kept;
    *out = causes;
    return 0;
}

int scopes__causes_create(scopes__causes **out, const scopes_topology *topology,
                          const scopes_event_table *event_table,
                          const scopes_clocks *clocks)
{
    static const scopes__made how = {causes_make, causes_free};
    asked a = {topology, event_table, clocks};
    void *made;
    int err = scopes__memo_get(event_table->memo, SCOPES__MEMO_CAUSES, 0, &how,
                               &a, &made);

    *out = made;
    return err;
}

void scopes__causes_destroy(scopes__causes *causes)
{
    if (causes && !causes->kept)
        causes_free(causes);
}

/* --- for others --- */

struct scopes_causes {
    scopes__causes *causes;
};

int scopes_causes_create(scopes_causes **out, const scopes_topology *topology,
                         const scopes_event_table *event_table,
                         const scopes_clocks *clocks)
{
    scopes_causes *made = calloc(1, sizeof(*made));
    int err = made ? make(&made->causes, topology, event_table, clocks, true)
                   : no_memory();

    *out = NULL;
    if (err) {
        free(made);
        return err;
    }
    *out = made;
    return 0;
}

void scopes_causes_destroy(scopes_causes *causes)
{
    if (!causes)
        return;
    scopes__causes_destroy(causes->causes);
    free(causes);
}

scopes_cause scopes_causes_of(const scopes_causes *causes, uint32_t collector,
                              uint32_t event)
{
    scopes__cause found = scopes__cause_of(causes->causes, collector, event);

    return (scopes_cause){found.collector, found.event};
}
