/* drain.c - makes room in trace elements of policy block.
 *
 * A small trace element of policy block loses nothing if somebody takes its
 * tuples away. One thread does: it copies them into an element of the same
 * name in RUN/<process>.drained, a space file that grows, and then truncates
 * the stream, which lets waiting collectors go on. A tuple is in the file
 * before it leaves the stream, so that a kill loses none; what is in both has
 * the same index in both. The model is drain.pml.
 *
 * Where an archiver runs beside the process nothing is copied here: it says in
 * the stream up to where it has saved it (pastset_element_saved), and that much
 * may be written over. The newest half of a stream stays for whoever looks at
 * it while the program runs. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "eventspace/collect/trace_elements_internal.h"
#include "eventspace/collect/trace.h"
#include "pastset/array.h"
#include "pastset/schedule.h"
#include "pastset/waiter.h"
#include "paths/engine/process.h"

#define DRAINED_CAPACITY (1ull << 28) /* tuples of one stream: 9 GiB */
#define PAUSE_NS 10000000
#define SHORT_PAUSE_NS 200000 /* while a collector waits for the archiver */

typedef struct stream_drain {
    pastset_element *from;
    pastset_element *to;
    pastset_cursor cursor;
} stream_drain;

static struct {
    pthread_t thread;
    bool started;
    _Atomic bool stop;
    bool failed;   /* drain thread only, as what follows */
    bool archived; /* by somebody else */
    bool behind;   /* a stream is full of what is not saved yet */
    pastset_waiter waiter;
    paths_process *process;
    pastset_space *space;
    stream_drain *streams;
    size_t count;
} drain;

void eventspace__drain_wake(void)
{
    pastset_waiter_wake(&drain.waiter);
}

static void fail(int status)
{
    if (drain.failed)
        return;
    drain.failed = true;
    pastset_fail_while(status, "saving trace tuples");
    paths_process_fail(drain.process, status);
}

static stream_drain *stream_find(pastset_element *from)
{
    for (size_t i = 0; i < drain.count; i++) {
        if (drain.streams[i].from == from)
            return &drain.streams[i];
    }
    return NULL;
}

static int stream_add(pastset_element *from, stream_drain **out)
{
    pastset_element_options options = {
        .name = pastset_element_name(from),
        .type = pastset_element_type(from),
        .policy = PASTSET_GROW,
        .capacity = DRAINED_CAPACITY,
        .single_writer = true,
    };
    stream_drain stream = {.from = from};
    stream_drain *streams =
        pastset_array_grow(drain.streams, drain.count, sizeof(*streams));
    int err;

    if (!streams)
        return pastset_no_memory("for a stream");
    drain.streams = streams;
    err = pastset_element_create(&stream.to, drain.space, &options);
    if (err)
        return err;
    drain.streams[drain.count] = stream;
    *out = &drain.streams[drain.count++];
    return 0;
}

/* Moves what is there. On an error the tuples are dropped, which the stream's
 * ledger counts, so that nobody hangs while the run ends. */
static void stream_empty(pastset_element *from)
{
    stream_drain *stream = stream_find(from);
    int err = 0;

    if (drain.failed) { /* the indexes would no longer be the same in both */
        pastset_element_truncate(from, UINT64_MAX);
        return;
    }
    if (!stream)
        err = stream_add(from, &stream);
    while (!err) {
        eventspace_trace event;
        size_t bytes = sizeof(event);
        err = pastset_read_next(from, &stream->cursor, &event, &bytes,
                                PASTSET_NOWAIT);
        if (!err)
            err =
                pastset_write(stream->to, &event, bytes, PASTSET_NOWAIT, NULL);
    }
    PASTSET_POINT("drain.truncates");
    if (err == PASTSET_EAGAIN) {
        pastset_element_truncate(from, stream->cursor.next);
        return;
    }
    fail(err);
    pastset_element_truncate(from, UINT64_MAX);
}

/* Removes what is saved, as far as room is needed. When nobody saves any more,
 * the oldest goes, and the stream's ledger counts it. */
static void stream_cut(pastset_element *stream)
{
    uint64_t saved = pastset_element_saved(stream);
    uint64_t keep = pastset_element_capacity(stream) / 2;
    pastset_ledger ledger;
    uint64_t wanted;

    pastset_element_ledger(stream, &ledger);
    if (saved == UINT64_MAX &&
        ledger.written - ledger.first < pastset_element_capacity(stream))
        return; /* what there is room for may still be saved */
    wanted = ledger.written > keep ? ledger.written - keep : 0;
    if (ledger.first < wanted && ledger.first < saved)
        pastset_element_truncate(stream, saved < wanted ? saved : wanted);
    drain.behind |= saved < wanted &&
                    ledger.written - saved >= pastset_element_capacity(stream);
}

static void trace_empty(trace_element *trace, void *context)
{
    pastset_space *space = paths_process_space(trace->process);
    uint32_t streams = atomic_load(&trace->streams_made);
    char name[PASTSET_NAME_BYTES];

    (void)context;
    if (trace->policy != PASTSET_BLOCK)
        return;
    for (uint32_t i = 1; i <= streams; i++) {
        pastset_element *element;
        eventspace__stream_name(name, trace, i);
        element = pastset_space_find(space, name);
        if (element && drain.archived)
            stream_cut(element);
        else if (element)
            stream_empty(element);
    }
}

static void *drain_run(void *argument)
{
    (void)argument;
    while (!atomic_load(&drain.stop)) {
        pastset_waiter_rearm(&drain.waiter);
        PASTSET_POINT("drain.rearmed");
        drain.behind = false;
        eventspace__traces_each(drain.process, trace_empty, NULL);
        pastset_waiter_wait(&drain.waiter,
                            pastset_now_ns() +
                                (drain.behind ? SHORT_PAUSE_NS : PAUSE_NS));
    }
    return NULL;
}

static void is_blocking(trace_element *trace, void *context)
{
    bool *some = context;
    *some |= trace->policy == PASTSET_BLOCK;
}

int eventspace__drain_open(paths_process *process, const char *file)
{
    pastset_space_options options = {.path = file, .max_bytes = 1ull << 43};
    bool some = false;
    int err = 0;

    eventspace__traces_each(process, is_blocking, &some);
    if (!some)
        return 0;
    memset(&drain, 0, sizeof(drain));
    drain.process = process;
    drain.archived = eventspace__is_archived();
    if (!drain.archived)
        err = pastset_space_create(&drain.space, &options);
    if (err)
        return err;
    if (eventspace__helper_start(&drain.thread, drain_run, NULL) != 0) {
        pastset_space_close(drain.space);
        return pastset_fail(PASTSET_ELIMIT, "cannot start the drain's thread");
    }
    drain.started = true;
    return 0;
}

void eventspace__drain_close(void)
{
    if (!drain.started)
        return;
    atomic_store(&drain.stop, true);
    eventspace__drain_wake();
    pthread_join(drain.thread, NULL);
    drain.started = false;
    pastset_space_close(drain.space);
    free(drain.streams);
}
