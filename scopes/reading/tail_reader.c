/* tail_reader.c - following the streams of running processes.
 *
 * A stream's counter says what is new; asking costs one cache line for a
 * stream. Tuples are copied out of the shared memory by the block, and no
 * collector ever waits for that. The streams take turns: a pull goes on with
 * the stream behind the last one that it gave tuples of, so that one which is
 * written fast cannot keep it from the others.
 *
 * A pull makes no system call but to take the processor time of its thread,
 * to open files of processes that have none yet, and when a stream is
 * drained. */
#include "scopes/reading/tail_reader.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "eventspace/define/definition.h"
#include "pastset/array.h"
#include "pastset/space.h"
#include "pastset/status.h"

#define BATCH_TUPLES 4096 /* given at once: they stay in the cache */
#define DEFAULT_INTERVAL_MS 100
#define DEFAULT_BATCH 65536

/* A stream and the tail reader's place on it. */
typedef struct feed_stream {
    eventspace_stream stream;
    uint64_t from; /* it began here */
    uint64_t next;
    uint64_t read; /* of those from `from` to `next`; the others are lost */
} feed_stream;

/* Where a stream that is not there yet is to begin. */
typedef struct later {
    size_t process;
    char *stream;
    uint64_t index;
} later;

/* What a process had at the last look. */
typedef struct contents {
    size_t elements;
    uint64_t definitions; /* tuples of them */
} contents;

struct scopes_tail_reader {
    eventspace_run *run;
    size_t first_process, end_process;
    scopes_throttle throttle;
    feed_stream *streams;
    size_t count;
    size_t turn;        /* where the next pull begins */
    contents *contents; /* by process */
    later *laters;
    size_t later_count;
    eventspace_trace *buffer; /* BATCH_TUPLES */

    scopes_tail_reader_cost cost;
    int64_t created_ns;
    int64_t pull_ns;      /* when the last one began */
    int64_t processor_ns; /* what it took */
    bool more;
};

static int64_t clock_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* --- making --- */

static int throttle_take(scopes_throttle *out, const scopes_throttle *throttle)
{
    if (throttle)
        *out = *throttle;
    if (out->interval_ms == 0)
        out->interval_ms = DEFAULT_INTERVAL_MS;
    if (out->batch == 0)
        out->batch = DEFAULT_BATCH;
    if (!(out->share >= 0 && out->share <= 1)) /* nor what is no number */
        return pastset_fail(
            PASTSET_EINVAL,
            "a share of %g of a processor: it must be above 0 and at most 1",
            out->share);
    if (out->share == 0)
        out->share = 1;
    return 0;
}

int scopes_tail_reader_create(scopes_tail_reader **out, eventspace_run *run,
                              size_t process, const scopes_throttle *throttle)
{
    size_t processes = eventspace_run_process_count(run);
    scopes_throttle taken = {0};
    scopes_tail_reader *tail;
    int err = throttle_take(&taken, throttle);

    *out = NULL;
    if (err)
        return err;
    if (process != SIZE_MAX && process >= processes)
        return pastset_fail(PASTSET_EINVAL, "%s: no process number %zu",
                            eventspace_run_directory(run), process);
    tail = calloc(1, sizeof(*tail));
    if (tail) {
        tail->contents = calloc(processes + 1, sizeof(*tail->contents));
        tail->buffer = malloc(BATCH_TUPLES * sizeof(*tail->buffer));
    }
    if (!tail || !tail->contents || !tail->buffer) {
        scopes_tail_reader_destroy(tail);
        return pastset_no_memory("for reading the traces of a run");
    }
    tail->run = run;
    tail->first_process = process == SIZE_MAX ? 0 : process;
    tail->end_process = process == SIZE_MAX ? processes : process + 1;
    tail->throttle = taken;
    tail->created_ns = tail->pull_ns = clock_ns(CLOCK_MONOTONIC);
    *out = tail;
    return 0;
}

void scopes_tail_reader_destroy(scopes_tail_reader *tail)
{
    if (!tail)
        return;
    for (size_t i = 0; i < tail->later_count; i++)
        free(tail->laters[i].stream);
    free(tail->laters);
    free(tail->streams);
    free(tail->contents);
    free(tail->buffer);
    free(tail);
}

/* --- streams --- */

static feed_stream *stream_find(scopes_tail_reader *tail, size_t process,
                                const char *name)
{
    for (size_t i = 0; i < tail->count; i++) {
        if (tail->streams[i].stream.process == process &&
            strcmp(tail->streams[i].stream.name, name) == 0)
            return &tail->streams[i];
    }
    return NULL;
}

static later *later_find(scopes_tail_reader *tail, size_t process,
                         const char *name)
{
    for (size_t i = 0; i < tail->later_count; i++) {
        if (tail->laters[i].process == process &&
            strcmp(tail->laters[i].stream, name) == 0)
            return &tail->laters[i];
    }
    return NULL;
}

static int stream_add(scopes_tail_reader *tail, const eventspace_stream *stream)
{
    const later *begin = later_find(tail, stream->process, stream->name);
    feed_stream *streams =
        pastset_array_grow(tail->streams, tail->count, sizeof(*streams));

    if (!streams)
        return pastset_no_memory("for a stream");
    tail->streams = streams;
    tail->streams[tail->count] = (feed_stream){.stream = *stream};
    if (begin)
        tail->streams[tail->count].from = tail->streams[tail->count].next =
            begin->index;
    tail->count++;
    return 0;
}

static int stream_meet(const eventspace_stream *stream, void *context)
{
    scopes_tail_reader *tail = context;
    feed_stream *known = stream_find(tail, stream->process, stream->name);

    if (!known)
        return stream_add(tail, stream);
    known->stream = *stream; /* what was drained from it may be new */
    return 0;
}

static contents contents_of(const eventspace_run_process *process)
{
    pastset_element *definitions =
        process->side
            ? pastset_space_find(process->side, EVENTSPACE_DEFINITIONS_NAME)
            : NULL;
    pastset_ledger ledger = {0};

    if (definitions)
        pastset_element_ledger(definitions, &ledger);
    return (contents){pastset_space_count(process->space), ledger.written};
}

/* What is a stream is known by its collectors, which a process may define
 * before it makes the element or after. */
static int process_look(scopes_tail_reader *tail, size_t process)
{
    const eventspace_run_process *p =
        eventspace_run_process_at(tail->run, process);
    contents *before = &tail->contents[process], now = {0};
    int err = 0;

    if (p->space) {
        (void)pastset_space_refresh(p->space); /* streams_each notes it */
        now = contents_of(p);
        if (now.elements == before->elements &&
            now.definitions == before->definitions)
            return 0;
        err = eventspace_run_define(tail->run);
    }
    if (!err)
        err =
            eventspace_run_streams_each(tail->run, process, stream_meet, tail);
    if (!err)
        *before = now;
    return err;
}

int scopes_tail_reader_look(scopes_tail_reader *tail)
{
    int err = 0;

    for (size_t i = tail->first_process; i < tail->end_process && !err; i++)
        err = process_look(tail, i);
    return err;
}

int scopes_tail_reader_seek(scopes_tail_reader *tail, size_t process,
                            const char *stream, uint64_t index)
{
    feed_stream *known;
    later *laters;
    int err;

    if (process < tail->first_process || process >= tail->end_process)
        return pastset_fail(PASTSET_EINVAL,
                            "the tail reader has no process number %zu",
                            process);
    err = scopes_tail_reader_look(tail);
    if (err)
        return err;
    known = stream_find(tail, process, stream);
    if (known) {
        known->from = known->next = index;
        known->read = 0;
        return 0;
    }
    if (later_find(tail, process, stream)) {
        later_find(tail, process, stream)->index = index;
        return 0;
    }
    laters =
        pastset_array_grow(tail->laters, tail->later_count, sizeof(*laters));
    if (!laters)
        return pastset_no_memory("for a stream");
    tail->laters = laters;
    laters[tail->later_count] =
        (later){.process = process, .stream = strdup(stream), .index = index};
    if (!laters[tail->later_count].stream)
        return pastset_no_memory("for a stream");
    tail->later_count++;
    return 0;
}

/* --- pulling --- */

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t stream_written(const feed_stream *stream)
{
    eventspace_stream_counts counts;

    eventspace_stream_count(&stream->stream, &counts);
    return counts.written;
}

/* Gives what a stream has up to `end`, `*room` tuples at most. */
static int stream_pull(scopes_tail_reader *tail, feed_stream *stream,
                       uint64_t end, uint64_t *capacity, scopes_each *each,
                       void *context)
{
    while (stream->next<end && * capacity> 0) {
        scopes_batch batch = {.process = stream->stream.process,
                              .stream = stream->stream.name,
                              .index = stream->next,
                              .events = tail->buffer};
        uint64_t max =
            smaller(smaller(*capacity, BATCH_TUPLES), end - stream->next);
        int err = eventspace_stream_read(&stream->stream, &batch.index,
                                         tail->buffer, max, &batch.count);
        if (err == PASTSET_EAGAIN) { /* all of it is gone */
            stream->next = end;
            return 0;
        }
        if (err) {
            eventspace_run_note(tail->run, batch.process,
                                "trace element %s: %s", batch.stream,
                                pastset_error());
            if (err != PASTSET_EFORMAT)
                return 0;
        }
        err = batch.count ? each(&batch, context) : 0;
        if (err)
            return err;
        stream->next = batch.index + batch.count;
        stream->read += batch.count;
        *capacity -= batch.count;
        tail->cost.tuples += batch.count;
    }
    return 0;
}

/* Gives tuples until `*room` is used up. */
static int streams_pull(scopes_tail_reader *tail, uint64_t *capacity,
                        scopes_each *each, void *context)
{
    size_t begin = tail->turn;

    for (size_t i = 0; i < tail->count; i++) {
        size_t at = (begin + i) % tail->count;
        feed_stream *stream = &tail->streams[at];
        uint64_t end = stream_written(stream);
        int err;
        if (stream->next >= end)
            continue;
        if (*capacity == 0) {
            tail->more = true;
            return 0;
        }
        if (tail->throttle.lag && end - stream->next > tail->throttle.lag)
            stream->next = end - tail->throttle.lag;
        err = stream_pull(tail, stream, end, capacity, each, context);
        /* One that cannot be given does not keep others from their turn. */
        tail->turn = (at + 1) % tail->count;
        if (err)
            return err;
        tail->more |= stream->next < end;
    }
    return 0;
}

int scopes_tail_reader_pull(scopes_tail_reader *tail, scopes_each *each,
                            void *context, bool *more)
{
    int64_t processor_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    uint64_t capacity = tail->throttle.batch;
    int err;

    tail->pull_ns = clock_ns(CLOCK_MONOTONIC);
    tail->more = false;
    err = scopes_tail_reader_look(tail);
    if (!err)
        err = streams_pull(tail, &capacity, each, context);
    tail->processor_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - processor_ns;
    tail->cost.pulls++;
    tail->cost.processor_ns += (uint64_t)tail->processor_ns;
    if (more)
        *more = tail->more;
    return err;
}

int64_t scopes_tail_reader_pause_ns(const scopes_tail_reader *tail, bool urgent)
{
    int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    int64_t due_ns = tail->pull_ns;
    int64_t shared_ns = tail->pull_ns + (int64_t)((double)tail->processor_ns /
                                                  tail->throttle.share);

    if (!tail->more && !urgent)
        due_ns += (int64_t)tail->throttle.interval_ms * 1000000;
    if (due_ns < shared_ns)
        due_ns = shared_ns;
    return due_ns > now_ns ? due_ns - now_ns : 0;
}

/* --- telling --- */

void scopes_tail_reader_ledger(const scopes_tail_reader *tail, size_t process,
                               scopes_ledger *out)
{
    *out = (scopes_ledger){0};
    for (size_t i = 0; i < tail->count; i++) {
        const feed_stream *stream = &tail->streams[i];
        eventspace_stream_counts counts;
        uint64_t left;
        if (process != SIZE_MAX && stream->stream.process != process)
            continue;
        eventspace_stream_count(&stream->stream, &counts);
        left =
            counts.written > stream->next ? counts.written - stream->next : 0;
        out->read += stream->read;
        out->lost +=
            stream->next - stream->from - stream->read + counts.refused;
        out->unread += left;
        out->recorded += stream->next - stream->from + left + counts.refused;
    }
}

int scopes_tail_reader_streams_each(scopes_tail_reader *tail,
                                    eventspace_stream_each *each, void *context)
{
    int err = 0;

    for (size_t i = 0; i < tail->count && !err; i++)
        err = each(&tail->streams[i].stream, context);
    return err;
}

void scopes_tail_reader_cost_take(const scopes_tail_reader *tail,
                                  scopes_tail_reader_cost *out)
{
    *out = tail->cost;
    out->bytes = out->tuples * EVENTSPACE_TRACE_BYTES;
    out->elapsed_ns = (uint64_t)(clock_ns(CLOCK_MONOTONIC) - tail->created_ns);
}
