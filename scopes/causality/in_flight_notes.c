/* in_flight_notes.c - reading the notes of executors, and whose have not
 * changed; see in_flight.h. */
#include "scopes/causality/in_flight_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/array.h"
#include "pastset/element.h"
#include "pastset/request.h"
#include "pastset/status.h"

/* How many operations a thread of a front end has ended: so many as its last
 * event says. */
static uint32_t ended_by(pastset_space *space, uint32_t executor)
{
    char name[32];
    pastset_element *element;
    pastset_ledger ledger;
    eventspace_trace last;
    size_t bytes = sizeof(last);

    snprintf(name, sizeof(name), executor > 1 ? "calls~%u" : "calls", executor);
    element = pastset_space_find(space, name);
    if (!element ||
        strcmp(pastset_element_type(element)->text, EVENTSPACE_TRACE_TYPE) != 0)
        return 0;
    pastset_element_ledger(element, &ledger);
    if (ledger.refused) /* its events tell nothing any more */
        return UINT32_MAX;
    if (pastset_read_last(element, &last, &bytes, PASTSET_NOWAIT, NULL))
        return 0;
    return last.sequence;
}

#define TRIES 100

/* The note, and how many operations had ended before it was read. A thread that
 * polls makes a note after each event: between the two it is said to go on. */
int scopes__note_read(pastset_space *space, uint32_t executor,
                      scopes__noted *out, uint32_t *ended)
{
    int err = 0;

    *ended = 0;
    for (int i = 0; i < TRIES; i++) {
        if (executor)
            *ended = ended_by(space, executor);
        err = paths_executor_read_parts(space, executor, &out->note, out->parts,
                                        &out->count);
        if (err || !(out->note.flags & PATHS_NOTE_POLLS) ||
            *ended < out->note.sequence)
            break;
    }
    return err;
}

/* --- who has not moved --- */

/* May it wait for somebody? One that polls may, whatever it does meanwhile. */
static bool may_wait(const paths_executor_note *note, uint32_t ended)
{
    if (note->activity == PATHS_COMPUTING || note->activity == PATHS_ENDED)
        return false;
    return !(note->flags & PATHS_NOTE_COLLECTOR) ||
           note->activity != PATHS_WAITING || note->flags & PATHS_NOTE_POLLS ||
           ended < note->sequence;
}

static int stand_add(scopes_stands *out, const scopes_stand *stand)
{
    scopes_stand *items =
        pastset_array_grow(out->items, out->count, sizeof(*items));

    if (!items)
        return pastset_no_memory("for what threads are in");
    out->items = items;
    items[out->count++] = *stand;
    return 0;
}

static int process_take(scopes_stands *out, const eventspace_run_process *h,
                        uint32_t process)
{
    int err = pastset_space_refresh(h->space);

    for (uint32_t executor = 1; !err; executor++) {
        scopes__noted n;
        uint32_t ended;
        scopes_stand stand = {process, executor, 0, false};
        err = scopes__note_read(h->space, executor, &n, &ended);
        if (err)
            return err == PASTSET_ENOENT ? 0 : err;
        stand.since_ticks = n.note.since;
        stand.waits = may_wait(&n.note, ended);
        err = stand_add(out, &stand);
    }
    return err;
}

int scopes_stands_take(scopes_stands *out, const eventspace_run *run)
{
    bool are_all = true;

    out->count = 0;
    for (size_t i = 0; i < eventspace_run_process_count(run); i++) {
        const eventspace_run_process *h =
            eventspace_run_process_at(run, (uint32_t)i);
        int err = h->has_meta && h->has_space
                      ? process_take(out, h, (uint32_t)i)
                      : PASTSET_ENOENT;
        if (err == PASTSET_ENOMEM)
            return err;
        are_all &= !err;
    }
    return are_all ? 0 : PASTSET_ENOENT;
}

bool scopes_stands_some(const scopes_stands *now, const scopes_stands *before)
{
    if (now->count != before->count)
        return true; /* there are others than before */
    for (size_t i = 0; i < now->count; i++)
        if (now->items[i].waits &&
            scopes_stands_has(before, now->items[i].process,
                              now->items[i].executor,
                              now->items[i].since_ticks))
            return true;
    return false;
}

bool scopes_stands_has(const scopes_stands *before, uint32_t process,
                       uint32_t executor, uint64_t since_ticks)
{
    size_t from = 0, to = before->count;

    /* In the order of processes, and of their executors. */
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        const scopes_stand *s = &before->items[middle];
        if (s->process == process && s->executor == executor)
            return s->waits && s->since_ticks == since_ticks;
        if (s->process < process ||
            (s->process == process && s->executor < executor))
            from = middle + 1;
        else
            to = middle;
    }
    return false;
}

void scopes_stands_fini(scopes_stands *stands)
{
    free(stands->items);
    *stands = (scopes_stands){0};
}
