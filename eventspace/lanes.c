/* lanes.c - counting and reading the trace tuples of a run.
 *
 * A lane is read from two places. What a drain has moved out of it stands in
 * the element of the same name in <host>.drained, under the same indexes, as
 * both count from 0 without a gap. The drain writes a batch there and then
 * removes it from the lane, so that after a kill a batch may be in both, and
 * none is in neither: a walk takes each index from the lane when it is there,
 * and else from the drained element. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eventspace/run_internal.h"
#include "pastset/space.h"
#include "pastset/status.h"

static bool is_trace_name(const eventspace_run *run, const char *name)
{
    return bsearch(&name, run->traces, run->trace_count, sizeof(name),
                   eventspace__name_compare) != NULL;
}

bool eventspace_run_is_trace(const eventspace_run *run,
                             pastset_element *element)
{
    const char *name = pastset_element_name(element);
    const char *tilde = strrchr(name, '~');
    char stem[PASTSET_NAME_BYTES];

    if (is_trace_name(run, name))
        return true;
    if (!tilde || !tilde[1] || tilde[1 + strspn(tilde + 1, "0123456789")])
        return false;
    snprintf(stem, sizeof(stem), "%.*s", (int)(tilde - name), name);
    return is_trace_name(run, stem);
}

/* One lane: what is in it and what was drained from it; either may be NULL,
 * not both. */
typedef struct lane {
    const char *name;
    pastset_element *present, *drained;
} lane;

/* Whether the element holds trace tuples, as its name says. */
static bool holds_traces(eventspace_run_host *host, pastset_element *element)
{
    const char *type = pastset_element_type(element)->text;

    if (strcmp(type, EVENTSPACE_TRACE_TYPE) == 0)
        return true;
    eventspace__problem_note(
        host, "trace element %s: its tuples are \"%s\", not \"%s\"",
        pastset_element_name(element), type, EVENTSPACE_TRACE_TYPE);
    return false;
}

typedef int lane_each(eventspace_run_host *host, const lane *l, void *context);

/* Calls `each` for every lane of a host until one answers other than 0. */
static int lanes_each(eventspace_run *run, size_t host, lane_each *each,
                      void *context)
{
    host_files *files = &run->hosts[host];
    pastset_space *space, *drained;
    size_t count;
    int err = 0;

    eventspace__spaces_look(files, run->directory);
    space = files->shown.space;
    drained = files->drained;
    count = space ? pastset_space_count(space) : 0;
    for (size_t i = 0; i < count && !err; i++) {
        lane l = {.present = pastset_space_at(space, i)};
        if (!l.present || !eventspace_run_is_trace(run, l.present) ||
            !holds_traces(&files->shown, l.present))
            continue;
        l.name = pastset_element_name(l.present);
        if (drained)
            l.drained = pastset_space_find(drained, l.name);
        if (l.drained && !holds_traces(&files->shown, l.drained))
            l.drained = NULL;
        err = each(&files->shown, &l, context);
    }
    /* Lanes of which nothing but what was drained can be read any more. */
    count = drained ? pastset_space_count(drained) : 0;
    for (size_t i = 0; i < count && !err; i++) {
        lane l = {.drained = pastset_space_at(drained, i)};
        if (!l.drained || !eventspace_run_is_trace(run, l.drained) ||
            !holds_traces(&files->shown, l.drained))
            continue;
        l.name = pastset_element_name(l.drained);
        if (space && pastset_space_find(space, l.name))
            continue;
        err = each(&files->shown, &l, context);
    }
    return err;
}

/* --- counting --- */

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static int lane_count(eventspace_run_host *host, const lane *l, void *context)
{
    eventspace_events *events = context;
    pastset_ledger in = {0}, out = {0};
    uint64_t beyond; /* the first index that was not drained */
    uint64_t present;

    (void)host;
    /* The lane first: what is drained in between is then counted in both, and
     * once below; the other way around it would be counted in neither. */
    if (l->present)
        pastset_element_ledger(l->present, &in);
    if (l->drained)
        pastset_element_ledger(l->drained, &out);
    if (!l->present)
        in.written = in.first = out.written;
    out.written = smaller(out.written, in.written);
    beyond = smaller(larger(in.first, out.written), in.written);
    present = out.written + smaller(in.written - beyond, in.present);
    events->made += in.written + in.refused;
    events->present += present;
    events->drained += out.written;
    /* Not the ledger's own count: a drain that failed truncates what it could
     * not save, and that is lost too. */
    events->dropped += in.written - present + in.refused;
    return 0;
}

int eventspace_run_events(eventspace_run *run, size_t host,
                          eventspace_events *out)
{
    size_t from = host == SIZE_MAX ? 0 : host;
    size_t to = host == SIZE_MAX ? run->map->host_count : host + 1;

    memset(out, 0, sizeof(*out));
    if (to > run->map->host_count)
        return pastset_fail(PASTSET_EINVAL, "%s: no host number %zu",
                            run->directory, host);
    for (size_t i = from; i < to; i++)
        lanes_each(run, i, lane_count, out);
    out->bytes = out->present * EVENTSPACE_TRACE_BYTES;
    return 0;
}

/* --- walking --- */

typedef struct walk {
    eventspace_each *each;
    void *context;
    int answer; /* of `each` */
} walk;

/* Reads the first tuple of an element at or after `*index`, and stores its
 * index. Errors: PASTSET_EAGAIN when there is none, and those of reading. */
static int next_read(pastset_element *element, uint64_t *index,
                     eventspace_trace *event)
{
    pastset_cursor cursor = {.next = *index};
    size_t bytes = sizeof(*event);
    int err;

    if (!element)
        return PASTSET_EAGAIN;
    err = pastset_read_next(element, &cursor, event, &bytes, PASTSET_NOWAIT);
    if (!err)
        *index = cursor.next - 1;
    return err;
}

/* Reads the tuple of a lane at or after `*index`. */
static int lane_next(const lane *l, uint64_t *index, eventspace_trace *event)
{
    uint64_t wanted = *index, drained = *index;
    eventspace_trace moved;
    int err = next_read(l->present, index, event);
    int moved_err;

    if (!err && *index == wanted)
        return 0;
    if (err && err != PASTSET_EAGAIN)
        return err;
    /* It is not in the lane any more. When it was drained, that was before
     * it left the lane, so that it is seen here. */
    moved_err = next_read(l->drained, &drained, &moved);
    if (moved_err == PASTSET_EAGAIN || (!moved_err && !err && drained > *index))
        return err;
    if (!moved_err) {
        *index = drained;
        *event = moved;
    }
    return moved_err;
}

/* How many tuples the lane has had: a walk ends there. */
static uint64_t lane_written(const lane *l)
{
    pastset_ledger ledger;
    pastset_element_ledger(l->present ? l->present : l->drained, &ledger);
    return ledger.written;
}

static int lane_walk(eventspace_run_host *host, const lane *l, void *context)
{
    walk *w = context;
    uint64_t end = lane_written(l);
    uint64_t index = 0;

    for (;; index++) {
        eventspace_trace event;
        int err = index < end ? lane_next(l, &index, &event) : PASTSET_EAGAIN;
        if (err == PASTSET_EAGAIN || (!err && index >= end))
            return 0;
        if (err) {
            eventspace__problem_note(host, "trace element %s: %s", l->name,
                                     pastset_error());
            return 0;
        }
        w->answer = w->each(&event, w->context);
        if (w->answer)
            return w->answer;
    }
}

int eventspace_run_each(eventspace_run *run, size_t host, eventspace_each *each,
                        void *context)
{
    walk w = {.each = each, .context = context};

    if (host >= run->map->host_count)
        return pastset_fail(PASTSET_EINVAL, "%s: no host number %zu",
                            run->directory, host);
    return lanes_each(run, host, lane_walk, &w);
}
