/* streams.c - counting and reading the trace tuples of a run.
 *
 * A stream is read from two places. What a drain has moved out of it stands in
 * the element of the same name in <process>.drained, under the same indexes, as
 * both count from 0 without a gap. The drain writes a batch there and then
 * removes it from the stream, so that after a kill a batch may be in both, and
 * none is in neither: a walk takes each index from the stream when it is there,
 * and else from the drained element. It is looked for there after it was
 * not found here, as it was drained before it left. The model is drain.pml.
 *
 * Tuples are read many at a time, since a call for each would cost several
 * times what copying it does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eventspace/run/run_internal.h"
#include "pastset/request.h"
#include "pastset/space.h"
#include "pastset/status.h"

const char *eventspace_trace_verb(uint16_t operation)
{
    switch (operation) {
    case EVENTSPACE_TRACE_REGION:
        return "region";
    case EVENTSPACE_TRACE_MARK:
        return "mark";
    case EVENTSPACE_TRACE_METRIC:
        return "metric";
    default:
        return pastset_verb_name(operation);
    }
}

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

/* Whether the element holds trace tuples, as its name says. */
static bool holds_traces(eventspace_run_process *process,
                         pastset_element *element)
{
    const char *type = pastset_element_type(element)->text;

    if (strcmp(type, EVENTSPACE_TRACE_TYPE) == 0)
        return true;
    eventspace__problem_note(
        process, "trace element %s: its tuples are \"%s\", not \"%s\"",
        pastset_element_name(element), type, EVENTSPACE_TRACE_TYPE);
    return false;
}

/* The element of that name among what was drained; NULL if none. */
static pastset_element *drained_find(process_files *files, const char *name)
{
    pastset_element *found =
        files->drained ? pastset_space_find(files->drained, name) : NULL;

    return found && holds_traces(&files->shown, found) ? found : NULL;
}

/* Is it a stream that can be read? */
static bool is_stream(eventspace_run *run, size_t process,
                      pastset_element *element)
{
    return element && eventspace_run_is_trace(run, element) &&
           holds_traces(&run->processes[process].shown, element);
}

static int no_process(const eventspace_run *run, size_t process)
{
    return pastset_fail(PASTSET_EINVAL, "%s: no process number %zu",
                        run->directory, process);
}

int eventspace_run_streams_each(eventspace_run *run, size_t process,
                                eventspace_stream_each *each, void *context)
{
    process_files *files;
    pastset_space *space;
    size_t count;
    int err = 0;

    if (process >= run->map->process_count)
        return no_process(run, process);
    files = &run->processes[process];
    eventspace__spaces_look(files, run->directory, 0);
    space = files->shown.space;
    count = space ? pastset_space_count(space) : 0;
    for (size_t i = 0; i < count && !err; i++) {
        eventspace_stream stream = {.run = run,
                                    .process = process,
                                    .present = pastset_space_at(space, i)};
        if (!is_stream(run, process, stream.present))
            continue;
        stream.name = pastset_element_name(stream.present);
        stream.drained = drained_find(files, stream.name);
        err = each(&stream, context);
    }
    /* Streams of which nothing but what was drained can be read any more. */
    count = files->drained ? pastset_space_count(files->drained) : 0;
    for (size_t i = 0; i < count && !err; i++) {
        eventspace_stream stream = {.run = run,
                                    .process = process,
                                    .drained =
                                        pastset_space_at(files->drained, i)};
        if (!is_stream(run, process, stream.drained))
            continue;
        stream.name = pastset_element_name(stream.drained);
        if (!space || !pastset_space_find(space, stream.name))
            err = each(&stream, context);
    }
    return err;
}

void eventspace_run_note(eventspace_run *run, size_t process,
                         const char *format, ...)
{
    char text[sizeof(run->processes[process].shown.problem)];
    va_list arguments;

    if (process >= run->map->process_count)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    eventspace__problem_note(&run->processes[process].shown, "%s", text);
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

void eventspace_stream_count(const eventspace_stream *stream,
                             eventspace_stream_counts *out)
{
    pastset_ledger in = {0}, away = {0};
    uint64_t beyond; /* the first index that was not drained */

    /* The stream first: what is drained in between is then counted in both, and
     * once below; the other way around it would be counted in neither. */
    if (stream->present)
        pastset_element_ledger(stream->present, &in);
    if (stream->drained)
        pastset_element_ledger(stream->drained, &away);
    if (!stream->present)
        in.written = in.first = away.written;
    out->written = in.written;
    out->refused = in.refused;
    out->blocked_ns = in.blocked_ns;
    out->starved = in.starved;
    out->drained = smaller(away.written, in.written);
    out->first = smaller(in.first, in.written);
    beyond = smaller(larger(in.first, out->drained), in.written);
    out->present = out->drained + smaller(in.written - beyond, in.present);
}

static int add_counts(const eventspace_stream *stream, void *context)
{
    eventspace_events *events = context;
    eventspace_stream_counts counts;

    eventspace_stream_count(stream, &counts);
    events->recorded += counts.written + counts.refused;
    events->present += counts.present;
    events->spilled += counts.drained;
    events->starved += counts.starved;
    events->blocked_ns += counts.blocked_ns;
    /* Not the ledger's own count: a drain that failed truncates what it could
     * not save, and that is lost too. */
    events->lost += counts.written - counts.present + counts.refused;
    return 0;
}

/* No stream counts these. */
static uint64_t unmade_of(const eventspace_run_process *process)
{
    pastset_element *definitions =
        process->space
            ? pastset_space_find(process->space, EVENTSPACE_DEFINITIONS_NAME)
            : NULL;

    return definitions && strcmp(pastset_element_type(definitions)->text,
                                 EVENTSPACE_DEFINITIONS_TYPE) == 0
               ? pastset_element_remark(definitions)
               : 0;
}

static void add_unmade(eventspace_events *events,
                       const eventspace_run_process *process)
{
    uint64_t unmade = unmade_of(process);

    events->unmade += unmade;
    events->recorded += unmade;
    events->lost += unmade;
}

int eventspace_run_events(eventspace_run *run, size_t process,
                          eventspace_events *out)
{
    size_t from = process == SIZE_MAX ? 0 : process;
    size_t to = process == SIZE_MAX ? run->map->process_count : process + 1;

    memset(out, 0, sizeof(*out));
    if (to > run->map->process_count)
        return no_process(run, process);
    for (size_t i = from; i < to; i++) {
        eventspace_run_streams_each(run, i, add_counts, out);
        add_unmade(out, &run->processes[i].shown);
    }
    out->bytes = out->present * EVENTSPACE_TRACE_BYTES;
    return 0;
}

/* --- reading --- */

/* Reads tuples of an element at or after `*index`, and stores the index of
 * the first. Errors: PASTSET_EAGAIN when there is none, and those of
 * reading. */
static int read_some(pastset_element *element, uint64_t *index,
                     eventspace_trace *out, size_t max, size_t *count)
{
    pastset_cursor cursor = {.next = *index};
    int err;

    *count = 0;
    if (!element)
        return PASTSET_EAGAIN;
    err = pastset_read_many(element, &cursor, out, max, count);
    if (err != PASTSET_EAGAIN)
        *index = cursor.next - *count;
    return err;
}

/* The lowest index that is in the stream itself. */
static uint64_t stream_first(const eventspace_stream *stream)
{
    pastset_ledger ledger;

    if (!stream->present)
        return UINT64_MAX;
    pastset_element_ledger(stream->present, &ledger);
    return ledger.first;
}

/* A stream may be drained for the first time while it is being read. */
static void drained_look(eventspace_stream *stream)
{
    process_files *files = &stream->run->processes[stream->process];

    if (stream->drained || !stream->present ||
        pastset_element_policy(stream->present) != PASTSET_BLOCK)
        return;
    eventspace__spaces_look(files, stream->run->directory, 0);
    stream->drained = drained_find(files, stream->name);
}

/* Reads from the stream itself. True: that is the answer, in `*status`. False:
 * what is wanted is not there, and `*first` is the lowest index that is. */
static bool present_read(eventspace_stream *stream, uint64_t *index,
                         eventspace_trace *out, size_t max, size_t *count,
                         uint64_t *first, int *status)
{
    uint64_t at = *index;

    *first = stream_first(stream);
    if (*index < *first && stream->drained)
        return false;
    *status = read_some(stream->present, &at, out, max, count);
    if (*status == PASTSET_EAGAIN) {
        *first = UINT64_MAX;
        return false;
    }
    *first = at;
    if (!*status && at != *index)
        return false;
    *index = at;
    return true;
}

int eventspace_stream_read(eventspace_stream *stream, uint64_t *index,
                           eventspace_trace *out, size_t max, size_t *count)
{
    for (;;) {
        uint64_t first, moved = *index;
        int err;
        if (present_read(stream, index, out, max, count, &first, &err))
            return err;
        /* It is not in the stream any more. When it was drained, that was
         * before it left the stream, so that it is seen here. */
        drained_look(stream);
        if (!stream->drained) { /* what follows the gap was read already */
            if (first == UINT64_MAX)
                return PASTSET_EAGAIN;
            *index = first;
            return 0;
        }
        err = read_some(stream->drained, &moved, out, max, count);
        if (err && err != PASTSET_EAGAIN) {
            *index = moved;
            return err;
        }
        if (!err && moved < first) {
            *index = moved;
            *count = smaller(*count, first - moved);
            return 0;
        }
        *count = 0;
        if (first == UINT64_MAX)
            return PASTSET_EAGAIN;
        *index = first; /* lost in between: go on with what is in the stream */
    }
}

uint64_t eventspace_stream_longest(const eventspace_stream *stream)
{
    uint64_t remark =
        stream->present ? pastset_element_remark(stream->present) : 0;

    return remark ? remark - 1 : UINT64_MAX;
}

/* Will nobody overwrite what is in the stream? A process that has ended has
 * said so; of one that seems to be gone, it may run on another machine. */
static bool is_settled(const eventspace_stream *stream)
{
    const eventspace_run_process *process =
        &stream->run->processes[stream->process].shown;

    return pastset_element_policy(stream->present) == PASTSET_GROW ||
           (process->has_meta && (process->meta.state == EVENTSPACE_FINISHED ||
                                  process->meta.state == EVENTSPACE_FAILED));
}

const eventspace_trace *
eventspace_stream_borrow(const eventspace_stream *stream, uint64_t index,
                         uint64_t max, uint64_t *count)
{
    *count = 0;
    if (!stream->present || !is_settled(stream))
        return NULL;
    return pastset_borrow_many(stream->present, index, max, count);
}

bool eventspace_stream_is_there(const eventspace_stream *stream, uint64_t index)
{
    return pastset_is_there(stream->present, index);
}

/* --- walking --- */

#define WALK_TUPLES 2048

typedef struct walk {
    eventspace_each *each;
    void *context;
    eventspace_trace *events; /* WALK_TUPLES of them */
} walk;

static int stream_walk(const eventspace_stream *given, void *context)
{
    walk *w = context;
    eventspace_stream stream = *given;
    eventspace_stream_counts counts;
    uint64_t index = 0;

    /* A walk ends with what has been written by now. */
    eventspace_stream_count(&stream, &counts);
    while (index < counts.written) {
        size_t count;
        int err = eventspace_stream_read(&stream, &index, w->events,
                                         WALK_TUPLES, &count);
        if (err == PASTSET_EAGAIN)
            return 0;
        if (err) {
            eventspace_run_note(stream.run, stream.process,
                                "trace element %s: %s", stream.name,
                                pastset_error());
            if (err != PASTSET_EFORMAT)
                return 0;
        }
        for (size_t i = 0; i < count && index < counts.written; i++, index++) {
            int answer = w->each(&w->events[i], w->context);
            if (answer)
                return answer;
        }
    }
    return 0;
}

int eventspace_run_each(eventspace_run *run, size_t process,
                        eventspace_each *each, void *context)
{
    walk w = {.each = each, .context = context};
    int err;

    w.events = malloc(WALK_TUPLES * sizeof(*w.events));
    if (!w.events)
        return pastset_no_memory("for %d events", WALK_TUPLES);
    err = eventspace_run_streams_each(run, process, stream_walk, &w);
    free(w.events);
    return err;
}
