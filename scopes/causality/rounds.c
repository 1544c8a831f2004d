/* rounds.c - from the events around a collective wrapper to its rounds.
 *
 * First the rounds are listed: one for each event below the wrapper. Where
 * there is none, the input with the most events stands for it. By which input
 * the last one came is known from the map, as each thread comes by one input
 * only. Then each input's events are put to rounds. Where input and the
 * collector below are on one process, which is the rule, one merge of the two
 * finds what lies within what. Else it goes by what is certain: the operation
 * that is the same as the one below; times of other inputs on its process; and
 * the order. See rounds_place.c. All of it is linear in the number of events.
 *
 * A round that was listed but for which some events cannot be told, or were
 * lost, keeps SCOPES_MISSING there. Events of a round that is not listed are
 * left out. */
#include "scopes/causality/rounds_internal.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "scopes/causality/numbers_internal.h"
#include "scopes/memory/memory_internal.h"
#include "scopes/parallel/memo_internal.h"

typedef struct maker {
    const scopes_topology *topology;
    const scopes_event_table *event_table;
    const scopes_site *site;
    scopes_rounds *rounds;
    const scopes_series **series; /* by input; NULL: it has no collector */
    const scopes_series *below;   /* NULL: no events there */
    uint32_t reference;  /* input whose events stand for rounds, if not below;
                            SCOPES_MISSING */
    uint32_t *by_thread; /* the input of a thread; PATHS_NONE */
    uint32_t
        *representatives; /* by round: index of the last one's event in the
                      series of input `last`; SCOPES_MISSING. Not of
                      inputs `is_near`, unless the collective site is shared */
} maker;

static int no_memory(void)
{
    return scopes__no_room("for the rounds");
}

/* --- what is lost --- */

/* Is no event of this process missing? Of event tables whose losses are only
 * known in all, any may be of any process. */
static bool is_solid(const scopes_event_table *event_table, uint32_t process)
{
    uint64_t lost = 0;

    if (event_table->ledger.lost == 0)
        return true;
    for (uint32_t i = 0; i < event_table->map->process_count; i++)
        lost += event_table->ledgers[i].lost;
    return lost == event_table->ledger.lost &&
           process < event_table->map->process_count &&
           event_table->ledgers[process].lost == 0;
}

/* And was nothing left out, as it is for a window? */
static bool is_whole(const scopes_event_table *event_table, uint32_t process)
{
    return is_solid(event_table, process) && event_table->ledger.filtered == 0;
}

/* --- the list of rounds --- */

static int threads_note(maker *m)
{
    uint32_t site = (uint32_t)(m->site - m->topology->sites);

    m->by_thread = scopes__numbers_make(m->topology->thread_count);
    if (!m->by_thread)
        return no_memory();
    for (uint32_t i = 0; i < m->topology->thread_count; i++)
        m->by_thread[i] = scopes_topology_input(m->topology, site, i);
    return 0;
}

static int list_by_below(maker *m)
{
    scopes_rounds *rounds = m->rounds;

    rounds->below = scopes__numbers_make(m->below->count);
    rounds->last = scopes__numbers_make(m->below->count);
    if (!rounds->below || !rounds->last)
        return no_memory();
    for (size_t i = 0; i < m->below->count; i++) {
        uint32_t thread = scopes_event_at(m->below->events, i)->thread;
        if (thread >= m->topology->thread_count ||
            m->by_thread[thread] == PATHS_NONE)
            continue; /* another way that joins above the collector */
        rounds->below[rounds->count] = (uint32_t)i;
        rounds->last[rounds->count++] = m->by_thread[thread];
    }
    return 0;
}

static int list_by_reference(maker *m)
{
    scopes_rounds *rounds = m->rounds;

    for (uint32_t i = 0; i < rounds->inputs; i++) {
        if (m->series[i] && m->series[i]->count > rounds->count) {
            rounds->count = (uint32_t)m->series[i]->count;
            m->reference = i;
        }
    }
    rounds->below = scopes__numbers_make(rounds->count);
    rounds->last = scopes__numbers_make(rounds->count);
    return rounds->below && rounds->last ? 0 : no_memory();
}

/* --- who came last --- */

/* Is an input's collector on the process of the one below? */
static bool is_near(const maker *m, uint32_t input)
{
    return m->below && m->series[input] &&
           m->series[input]->process == m->below->process;
}

/* Where the events of the representatives that came by one input are. Buffers
 * have room for all rounds. */
static int representatives_of(maker *m, uint32_t input, uint64_t *keys,
                              uint32_t *which, uint32_t *found)
{
    const scopes_rounds *rounds = m->rounds;
    uint64_t *there;
    uint32_t count = 0;
    int err;

    for (uint32_t r = 0; r < rounds->count; r++) {
        if (rounds->last[r] != input)
            continue;
        keys[count] =
            scopes__key(scopes_event_at(m->below->events, rounds->below[r]));
        which[count++] = r;
    }
    if (count == 0 || !m->series[input])
        return 0;
    there = scopes__keys(m->series[input]);
    if (!there)
        return no_memory();
    err =
        scopes__match_keys(found, keys, count, there, m->series[input]->count);
    scopes__free(there);
    for (uint32_t i = 0; i < count && !err; i++)
        m->representatives[which[i]] = found[i];
    return err;
}

static int representatives_find(maker *m)
{
    const scopes_rounds *rounds = m->rounds;
    uint64_t *keys = scopes__allocate((rounds->count + 1u) * sizeof(*keys));
    uint32_t *which = scopes__numbers_make(rounds->count);
    uint32_t *found = scopes__numbers_make(rounds->count);
    int err = keys && which && found ? 0 : no_memory();

    for (uint32_t i = 0; i < rounds->inputs && !err; i++) {
        if (m->site->shared || !is_near(m, i))
            err = representatives_of(m, i, keys, which, found);
    }
    scopes__free(keys);
    scopes__free(which);
    scopes__free(found);
    return err;
}

/* Where others join the way before the collector below, only those events are
 * rounds whose operation came by an input. */
static void others_drop(maker *m)
{
    scopes_rounds *rounds = m->rounds;
    uint32_t kept = 0;

    for (uint32_t r = 0; r < rounds->count; r++) {
        if (m->representatives[r] == SCOPES_MISSING)
            continue;
        rounds->below[kept] = rounds->below[r];
        rounds->last[kept] = rounds->last[r];
        m->representatives[kept++] = m->representatives[r];
    }
    rounds->count = kept;
}

/* By what rounds are listed they are counted. Of the operations below a shared
 * collective site only some are rounds. */
static uint64_t first_number(const maker *m)
{
    uint32_t by = m->site->lower;

    if (!m->below)
        by = m->reference == SCOPES_MISSING ? PATHS_NONE
                                            : m->site->inputs.ids[m->reference];
    else if (m->site->shared && m->event_table->ledger.filtered)
        return SCOPES_NO_NUMBER;
    return scopes_event_table_first(m->event_table, by);
}

static int list(maker *m)
{
    int err = threads_note(m);

    if (err)
        return err;
    if (!m->below)
        return list_by_reference(m);
    err = list_by_below(m);
    if (err)
        return err;
    m->representatives = scopes__numbers_make(m->rounds->count);
    if (!m->representatives)
        return no_memory();
    err = representatives_find(m);
    if (err)
        return err;
    if (m->site->shared)
        others_drop(m);
    return 0;
}

/* --- inputs on the process of the collector below --- */

/* The event of the one that came last is known by its name: no other can be
 * his. */
static bool is_allowed(const maker *m, uint32_t round, uint32_t input,
                       const eventspace_trace *event)
{
    const scopes_rounds *rounds = m->rounds;

    return rounds->last[round] != input ||
           scopes__key(event) == scopes__key(scopes_event_at(
                                     m->below->events, rounds->below[round]));
}

/* One merge: the events by one way follow each other, as those below do. With
 * stamps of a coarse counter two may hold the same moment; then neither is
 * certain. */
static void place_near(maker *m, uint32_t input)
{
    scopes_rounds *rounds = m->rounds;
    scopes_events events = m->series[input]->events;
    size_t count = m->series[input]->count, e = 0;
    uint32_t *before = NULL; /* where event e was put already */

    for (uint32_t r = 0; r < rounds->count; r++) {
        const eventspace_trace *below =
            scopes_event_at(m->below->events, rounds->below[r]);
        uint32_t *out = &rounds->events[(size_t)r * rounds->inputs + input];
        while (e < count && scopes_event_at(events, e)->end < below->end) {
            before = NULL;
            e++;
        }
        if (e == count)
            break;
        if (scopes_event_at(events, e)->start > below->start ||
            (e + 1 < count &&
             scopes_event_at(events, e + 1)->start <= below->start))
            continue;
        if (before) {
            *before = SCOPES_MISSING;
        } else if (is_allowed(m, r, input, scopes_event_at(events, e))) {
            *out = (uint32_t)e;
            before = out;
        }
    }
}

/* --- inputs on other processes, or with nothing below --- */

/* When the rounds were, as far as events of inputs on a process tell. */
static uint32_t spans_find(const maker *m, scopes__span *out, uint32_t process)
{
    const scopes_rounds *rounds = m->rounds;
    uint32_t count = 0;

    for (uint32_t r = 0; r < rounds->count; r++) {
        uint32_t input = m->below ? rounds->last[r] : m->reference;
        uint32_t at = m->below ? m->representatives[r] : r;
        const scopes_series *series = m->series[input];
        if (at == SCOPES_MISSING || series->process != process)
            continue;
        out[count++] =
            (scopes__span){scopes_event_at(series->events, at)->start,
                           scopes_event_at(series->events, at)->end, r};
    }
    return count;
}

static scopes__known known_of(const maker *m, uint32_t input)
{
    uint32_t process = m->series[input]->process;
    const scopes_series *spine = m->below ? m->below : m->series[m->reference];
    scopes__known known = {
        .count = m->rounds->count,
        .dense = is_solid(m->event_table, spine->process),
        .solid = is_solid(m->event_table, process),
    };

    known.begun = is_whole(m->event_table, spine->process);
    known.first = is_whole(m->event_table, process);
    return known;
}

/* With nothing below and in a window, the round of an event is known by its
 * number in the run: each round has one of each input. */
static void rounds_by_number(const maker *m, uint32_t input, uint32_t *out)
{
    const scopes_series *own = m->series[input];
    const scopes_series *spine = m->series[m->reference];
    const uint32_t *ids = m->site->inputs.ids;
    uint64_t first, first_listed, e, r;

    if (!is_solid(m->event_table, own->process) ||
        !is_solid(m->event_table, spine->process) ||
        !scopes_event_table_first_round(&first, m->event_table, ids[input]) ||
        !scopes_event_table_first_round(&first_listed, m->event_table,
                                        ids[m->reference]))
        return;
    e = first < first_listed ? first_listed - first : 0;
    r = first > first_listed ? first - first_listed : 0;
    for (; e < own->count && r < m->rounds->count; e++, r++)
        out[e] = (uint32_t)r;
}

/* The round of each event of an input, if it is known at once. */
static void rounds_given(const maker *m, uint32_t input, uint32_t *out)
{
    const scopes_rounds *rounds = m->rounds;

    if (!m->below && input != m->reference && m->event_table->ledger.filtered)
        rounds_by_number(m, input, out);
    if (!m->below) {
        for (uint32_t r = 0; input == m->reference && r < rounds->count; r++)
            out[r] = r;
        return;
    }
    for (uint32_t r = 0; r < rounds->count; r++) {
        if (rounds->last[r] == input && m->representatives[r] != SCOPES_MISSING)
            out[m->representatives[r]] = r;
    }
}

static int place_far(maker *m, uint32_t input, scopes__span *spans)
{
    const scopes_series *series = m->series[input];
    scopes_rounds *rounds = m->rounds;
    scopes__known known = known_of(m, input);
    uint32_t *found = scopes__numbers_make(series->count);
    int err;

    if (!found)
        return no_memory();
    known.spans = spans;
    known.span_count = spans_find(m, spans, series->process);
    rounds_given(m, input, found);
    err = scopes__rounds_place(found, series, &known);
    for (uint32_t e = 0; e < series->count && !err; e++) {
        if (found[e] != SCOPES_MISSING &&
            is_allowed(m, found[e], input, scopes_event_at(series->events, e)))
            rounds->events[(size_t)found[e] * rounds->inputs + input] = e;
    }
    scopes__free(found);
    return err;
}

static int place(maker *m)
{
    scopes_rounds *rounds = m->rounds;
    scopes__span *spans =
        scopes__allocate((rounds->count + 1u) * sizeof(*spans));
    int err = 0;

    rounds->events =
        scopes__numbers_make((size_t)rounds->count * rounds->inputs);
    if (!spans || !rounds->events)
        err = no_memory();
    for (uint32_t i = 0; i < rounds->inputs && !err && rounds->count; i++) {
        if (is_near(m, i))
            place_near(m, i);
        else if (m->series[i])
            err = place_far(m, i, spans);
    }
    scopes__free(spans);
    return err;
}

/* --- all of it --- */

static bool is_complete(const maker *m)
{
    const scopes_rounds *rounds = m->rounds;

    for (uint32_t i = 0; i < rounds->inputs; i++) {
        if (!m->series[i])
            continue;
        for (uint32_t r = 0; r < rounds->count; r++) {
            if (rounds->events[(size_t)r * rounds->inputs + i] ==
                SCOPES_MISSING)
                return false;
        }
    }
    return m->event_table->ledger.lost == 0;
}

static int series_find(maker *m)
{
    const scopes_ids *inputs = &m->site->inputs;
    uint32_t lower = m->site->lower;

    m->series = calloc(inputs->count + 1u, sizeof(m->series[0]));
    if (!m->series)
        return no_memory();
    for (uint32_t i = 0; i < inputs->count; i++) {
        if (inputs->ids[i] != PATHS_NONE)
            m->series[i] = scopes_event_series(m->event_table, inputs->ids[i]);
    }
    if (lower != PATHS_NONE)
        m->below = scopes_event_series(m->event_table, lower);
    if (m->below && m->below->count == 0)
        m->below = NULL;
    return 0;
}

static void rounds_free(void *made)
{
    scopes_rounds *rounds = made;

    scopes__free(rounds->events);
    scopes__free(rounds->below);
    scopes__free(rounds->last);
    free(rounds);
}

static int rounds_make(void **out, const void *context, bool kept)
{
    maker m = *(const maker *)context;
    int err;

    m.rounds = calloc(1, sizeof(*m.rounds));
    if (!m.rounds)
        return no_memory();
    m.rounds->site = m.site;
    m.rounds->inputs = m.site->inputs.count;
    m.rounds->kept = kept;
    err = series_find(&m);
    if (err)
        goto done;
    err = list(&m);
    if (err)
        goto done;
    err = place(&m);
    if (err)
        goto done;
    m.rounds->first = first_number(&m);
    m.rounds->complete = is_complete(&m);
done:
    free(m.series);
    scopes__free(m.by_thread);
    scopes__free(m.representatives);
    if (err)
        rounds_free(m.rounds);
    else
        *out = m.rounds;
    return err;
}

int scopes_rounds_create(scopes_rounds **out, const scopes_topology *topology,
                         const scopes_event_table *event_table, uint32_t site)
{
    static const scopes__made how = {rounds_make, rounds_free};
    maker m = {.topology = topology,
               .event_table = event_table,
               .site = &topology->sites[site],
               .reference = SCOPES_MISSING};
    void *made;
    int err = scopes__memo_get(event_table->memo, SCOPES__MEMO_ROUNDS, site,
                               &how, &m, &made);

    *out = made;
    return err;
}

void scopes_rounds_destroy(scopes_rounds *rounds)
{
    if (rounds && !rounds->kept)
        rounds_free(rounds);
}
