/* rounds.h - which events belong to one round of a collective.
 *
 * In each round of a collective wrapper one operation comes by each way in,
 * and the one that came last goes on for all
 * (docs/internals/collectives.md). So the event below it lies within the events
 * above it that belong to the same round, in the ticks of one process, and
 * within no others: operations that come by one way do not overlap. That holds
 * also where events were lost; then some inputs of a round are missing. The
 * input whose event has the same (thread, sequence) as the one below is the one
 * that came last.
 *
 * Where no collector stands below a wrapper, or has no event, the input with
 * the most events stands for it. Such inputs, and those whose collectors are on
 * another process than the one below, are told by the operation that is the
 * same, by times of inputs on one process, and by their order if none is lost.
 * What is not certain is left out; events of different rounds are never mixed.
 *
 * Threads:   may be read by any once made.
 * Ownership: make gives, free takes back; topology and event table are
 * borrowed. */
#ifndef SCOPES_ROUNDS_H
#define SCOPES_ROUNDS_H

#include "scopes/reading/event_table.h"
#include "scopes/causality/topology.h"

#define SCOPES_MISSING UINT32_MAX

/* The rounds of one collective site. */
typedef struct scopes_rounds {
    const scopes_site *site;
    uint32_t count;
    uint64_t first; /* the number in the run of the first of them;
                       SCOPES_NO_NUMBER */
    uint32_t inputs;
    uint32_t *events; /* [round * inputs + input]: index into the series of
                         that input's collector; or SCOPES_MISSING */
    uint32_t *below;  /* by round: index into the series of `lower`; or
                         SCOPES_MISSING */
    uint32_t *last;   /* by round: the input that came last, also where its
                         event is missing; SCOPES_MISSING if there is none
                         below */
    bool kept;        /* for others: see scopes_views_make */
    bool complete;    /* every round has the events of all inputs that have a
                         collector, and the event table has lost nothing */
} scopes_rounds;

/* Errors: PASTSET_ENOMEM. */
int scopes_rounds_create(scopes_rounds **out, const scopes_topology *topology,
                         const scopes_event_table *event_table, uint32_t site);
/* NULL is allowed. */
void scopes_rounds_destroy(scopes_rounds *rounds);

/* Of an event at the collector `upper`, the one of the same operation at
 * collector `lower`, one hop below (no collective in between), for all events
 * at once: `out[i]` belongs to event i of `upper`; SCOPES_MISSING where there
 * is none. Matched by (thread, sequence), in linear time where both are in
 * nearly the same order. The caller gives `*out` back.
 * Errors: PASTSET_ENOMEM, PASTSET_ENOSPC. */
int scopes_match(uint32_t **out, const scopes_series *upper,
                 const scopes_series *lower);
void scopes_match_free(uint32_t *matches); /* NULL is allowed */

#endif
