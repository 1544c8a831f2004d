/* recorder.h - a process of a run that is not built of paths: what it is made
 * of, its events and its messages, as an interposer sees them.
 *
 * Such a run has a map that names processes only, which one of them, or whoever
 * started them, has written (run/run_map.h). Each process adds to it what it
 * finds itself to be made of (define/map_additions.h), in its own space, and
 * needs no word from the others for that. What it has recorded is in its file
 * as soon as it is written: a process that is killed loses nothing.
 *
 *     eventspace_recorder_open(&recorder, &options);
 *     eventspace_recorder_thread(&thread, recorder, "main",
 * eventspace_ticks()); eventspace_recorder_define(&element, recorder,
 * EVENTSPACE_DEFINES_ELEMENT, EVENTSPACE_NO_PARENT, "rank_0 to rank_1", "key",
 * "0-1", "type", "bytes[8]", NULL); eventspace_recorder_collector(&collector,
 * recorder, "MPI_Send to rank_1", thread->trace);
 *     eventspace_recorder_edge(recorder, thread->definition,
 *                              collector.definition, "use", "write", NULL);
 *     eventspace_recorder_edge(recorder, collector.definition, element, NULL);
 *     event.collector = collector.id; ...
 *     eventspace_record(thread, &event);
 *
 * Nothing of it needs a library beyond those of this layer that write files, so
 * that it can be part of what is loaded into programs of others.
 *
 * Threads:   an eventspace_recorded_thread is for one thread; the rest by any.
 * Ownership: open gives, close takes back, with all threads. */
#ifndef EVENTSPACE_RECORDER_H
#define EVENTSPACE_RECORDER_H

#include <stdbool.h>

#include "eventspace/collect/message.h"
#include "eventspace/collect/trace.h"
#include "eventspace/define/definition.h"
#include "pastset/append.h"
#include "paths/engine/executor.h"

typedef struct eventspace_recorder eventspace_recorder;

typedef struct eventspace_recorder_options {
    const char *directory;    /* of the run */
    const char *process;      /* one of its map */
    const char *library;      /* by which it communicates; NULL: not known */
    uint32_t rank, processes; /* as paths_map_rank_processes has it */
    uint64_t max_events;      /* of a thread, and as many messages: addresses,
                                 not memory; 0: 268,435,456. Where there are
                                 hundreds of threads, later ones have fewer.
                                 What comes after these is counted as lost */
} eventspace_recorder_options;

/* Makes the space and the meta file of the process. Errors: PASTSET_EIO,
 * PASTSET_ENOSPC, PASTSET_ENOMEM, PASTSET_EINVAL. */
int eventspace_recorder_open(eventspace_recorder **out,
                             const eventspace_recorder_options *options);
/* Says in the meta file how it ended. No thread may record any more. `failure`
 * NULL: it has finished. Errors: PASTSET_EIO, PASTSET_ENOSPC. */
int eventspace_recorder_close(eventspace_recorder *recorder,
                              const char *failure);
/* The same, but gives nothing back: where threads may still be about to record,
 * or the process ends anyway. */
int eventspace_recorder_finish(eventspace_recorder *recorder,
                               const char *failure);

/* --- what it is made of --- */

/* Defines something; then come the keys and texts of its attributes, ended by
 * NULL. `*out` becomes its id.
 * Errors: PASTSET_ELIMIT (EVENTSPACE_DEFINITIONS_MAX), PASTSET_ENOSPC. */
int eventspace_recorder_define(uint32_t *out, eventspace_recorder *recorder,
                               uint32_t kind, uint32_t parent, const char *name,
                               ...) __attribute__((sentinel));

/* The way from one thing down to another. The pairs are as above. */
int eventspace_recorder_edge(eventspace_recorder *recorder, uint32_t from,
                             uint32_t to, ...) __attribute__((sentinel));

typedef struct eventspace_recorded_collector {
    uint32_t id;         /* that its trace tuples have */
    uint32_t definition; /* what it is as an end of edges */
} eventspace_recorded_collector;

/* A collector, without an edge. */
int eventspace_recorder_collector(eventspace_recorded_collector *out,
                                  eventspace_recorder *recorder,
                                  const char *name, const char *trace);

/* --- threads --- */

/* A stream of tuples with one writer. */
typedef struct eventspace_recorded_stream {
    pastset_appender *appender;
    pastset_element *element;
    uint32_t pass_over; /* so many are refused without being tried, */
    int why;            /* for this */
} eventspace_recorded_stream;

typedef struct eventspace_recorded_thread {
    eventspace_recorded_stream events, messages;
    uint64_t longest;    /* ticks of the longest event, + 1; 0: none */
    uint32_t number;     /* of the thread, in the whole run */
    uint32_t sequence;   /* of its last event, from 1 */
    uint32_t definition; /* where its paths begin */
    uint64_t yields;     /* times that it let others have the processor; counted
                            by whoever records */
    pastset_appender *notes;
    char trace[24]; /* what its collectors have as `trace` */
    eventspace_recorder *recorder;
    struct eventspace_recorded_thread *next;
    struct eventspace__kernel_counts *begin; /* when it began; NULL */
} eventspace_recorded_thread;

/* A thread that calls begins to be one of the run, at `begin` ticks. Errors:
 * those of define, PASTSET_ENOMEM. */
int eventspace_recorder_thread(eventspace_recorded_thread **out,
                               eventspace_recorder *recorder, const char *name,
                               uint64_t begin);
/* It ends, at `end` ticks, and records nothing any more; by itself. For how
 * long it had no processor, by the kernel, is recorded then: nothing is asked
 * in between, so that events cost no more for it. */
void eventspace_recorder_thread_end(eventspace_recorded_thread *thread,
                                    uint64_t end);

/* --- events --- */

/* As it cannot be written the short way. */
void eventspace__record_slowly(eventspace_recorded_stream *stream,
                               const void *tuple, size_t bytes)
    __attribute__((cold));
void eventspace__record_longest(eventspace_recorded_thread *thread,
                                uint64_t ticks) __attribute__((cold));

#define EVENTSPACE__STORE(slot, type, field, value)                            \
    pastset_append_store((slot) + offsetof(type, field), &(value),             \
                         sizeof(value))

/* The slot of the next tuple; NULL: it takes the long way. */
static inline unsigned char *eventspace__slot(pastset_appender *appender)
{
    return appender ? pastset_append_begin(appender) : NULL;
}

/* Writes an event of the thread that calls: 36 bytes and a store. `thread` of
 * it is filled in here. What there is no room for is counted.
 *
 * Field by field, here as below: where what was filled in a moment ago is
 * copied by wider loads than it was stored by, the processor waits for the
 * stores. From registers into the slot takes a third of the time. */
static inline void eventspace_record(eventspace_recorded_thread *thread,
                                     eventspace_trace *event)
{
    unsigned char *slot = eventspace__slot(thread->events.appender);
    uint64_t ticks = event->end - event->start;

    event->thread = thread->number;
    if (__builtin_expect(ticks >= thread->longest, 0))
        eventspace__record_longest(thread, ticks);
    if (__builtin_expect(!slot, 0)) {
        eventspace_trace copy = *event; /* this one stays in registers */
        eventspace__record_slowly(&thread->events, &copy, sizeof(copy));
        return;
    }
    EVENTSPACE__STORE(slot, eventspace_trace, start, event->start);
    EVENTSPACE__STORE(slot, eventspace_trace, end, event->end);
    EVENTSPACE__STORE(slot, eventspace_trace, collector, event->collector);
    EVENTSPACE__STORE(slot, eventspace_trace, thread, event->thread);
    EVENTSPACE__STORE(slot, eventspace_trace, sequence, event->sequence);
    EVENTSPACE__STORE(slot, eventspace_trace, bytes, event->bytes);
    EVENTSPACE__STORE(slot, eventspace_trace, operation, event->operation);
    EVENTSPACE__STORE(slot, eventspace_trace, status, event->status);
    pastset_append_end(thread->events.appender);
}

/* A message of the same fields, that one by one are in registers, if they are
 * in a message that nobody has the address of. */
static inline eventspace_message
eventspace__message_fields(const eventspace_message *m)
{
    return (eventspace_message){.tick = m->tick,
                                .bytes = m->bytes,
                                .channel = m->channel,
                                .ordinal = m->ordinal,
                                .call = m->call,
                                .operation = m->operation,
                                .tag = m->tag,
                                .kind = m->kind,
                                .status = m->status};
}

/* One end of a message of the thread that calls. */
static inline void eventspace_record_message(eventspace_recorded_thread *thread,
                                             const eventspace_message *message)
{
    unsigned char *slot = eventspace__slot(thread->messages.appender);
    eventspace_message m = eventspace__message_fields(message);

    if (__builtin_expect(!slot, 0)) {
        eventspace_message copy = eventspace__message_fields(&m);
        eventspace__record_slowly(&thread->messages, &copy, sizeof(copy));
        return;
    }
    EVENTSPACE__STORE(slot, eventspace_message, tick, m.tick);
    EVENTSPACE__STORE(slot, eventspace_message, bytes, m.bytes);
    EVENTSPACE__STORE(slot, eventspace_message, channel, m.channel);
    EVENTSPACE__STORE(slot, eventspace_message, ordinal, m.ordinal);
    EVENTSPACE__STORE(slot, eventspace_message, call, m.call);
    EVENTSPACE__STORE(slot, eventspace_message, operation, m.operation);
    EVENTSPACE__STORE(slot, eventspace_message, tag, m.tag);
    EVENTSPACE__STORE(slot, eventspace_message, kind, m.kind);
    EVENTSPACE__STORE(slot, eventspace_message, status, m.status);
    pastset_append_end(thread->messages.appender);
}

/* Says what the thread that calls is about to do, and may have to wait for: the
 * operation that leaves its next event. `thread`, `sequence`, `activity`,
 * `peer` and, if it is 0, `at` are those of the thread, and `flags` say that it
 * is of a collector. Parts come before their note. */
static inline void eventspace_record_waiting(eventspace_recorded_thread *thread,
                                             const paths_executor_note *note)
{
    unsigned char *slot = eventspace__slot(thread->notes);
    uint64_t at = note->at ? note->at : note->since;
    uint32_t sequence = thread->sequence + 1, peer = UINT32_MAX;
    uint32_t flags = note->flags | PATHS_NOTE_COLLECTOR;
    uint16_t activity = PATHS_WAITING;

    if (!slot)
        return;
    EVENTSPACE__STORE(slot, paths_executor_note, since, note->since);
    EVENTSPACE__STORE(slot, paths_executor_note, at, at);
    EVENTSPACE__STORE(slot, paths_executor_note, tag, note->tag);
    EVENTSPACE__STORE(slot, paths_executor_note, thread, thread->number);
    EVENTSPACE__STORE(slot, paths_executor_note, sequence, sequence);
    EVENTSPACE__STORE(slot, paths_executor_note, first, note->first);
    EVENTSPACE__STORE(slot, paths_executor_note, stage, note->stage);
    EVENTSPACE__STORE(slot, paths_executor_note, peer, peer);
    EVENTSPACE__STORE(slot, paths_executor_note, peer_thread,
                      note->peer_thread);
    EVENTSPACE__STORE(slot, paths_executor_note, bytes, note->bytes);
    EVENTSPACE__STORE(slot, paths_executor_note, under_way, note->under_way);
    EVENTSPACE__STORE(slot, paths_executor_note, flags, flags);
    EVENTSPACE__STORE(slot, paths_executor_note, parts, note->parts);
    EVENTSPACE__STORE(slot, paths_executor_note, communicator,
                      note->communicator);
    EVENTSPACE__STORE(slot, paths_executor_note, activity, activity);
    EVENTSPACE__STORE(slot, paths_executor_note, verb, note->verb);
    pastset_append_end(thread->notes);
}

/* Counts an end of a message of the thread that cannot be written: whoever
 * reads the run takes no message of the process for another one. */
void eventspace_recorder_lose_message(eventspace_recorded_thread *thread)
    __attribute__((cold));

/* Counts an event for which there is no collector. */
void eventspace_recorder_lose(eventspace_recorder *recorder)
    __attribute__((cold));
/* Counts one of a thread that could not be made, which may be of a message. */
void eventspace_recorder_lose_call(eventspace_recorder *recorder)
    __attribute__((cold));

#endif
