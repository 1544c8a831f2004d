/* trace_write.c - events into the streams of trace elements, where it is not
 * done in a few stores (collector.c): a stream is to be made or is full, or
 * there is no room on the disk. */
#include <time.h>

#include "eventspace/collect/trace_elements_internal.h"
#include "eventspace/collect/trace.h"
#include "eventspace/collect/unmade_internal.h"
#include "pastset/element.h"
#include "pastset/schedule.h"

/* After a tuple was refused, for want of disk or at a limit, so many more are
 * without being tried: a try is a system call, or at least a text. */
#define PASS_OVER 255u
#define DISK_PAUSE_NS 10000000 /* between two tries of who waits for room */

/* Counts an event that is not tried. */
static void refuse(trace_element *trace, trace_stream *stream)
{
    if (stream->element) {
        pastset_element_refuse(stream->element, 1, stream->why);
    } else {
        stream->lost++;
        atomic_store(&trace->why, stream->why);
        atomic_fetch_add(&trace->lost, 1);
        eventspace__unmade_add(1);
    }
}

/* One attempt; when it is refused that is counted. */
static int attempt(trace_element *trace, trace_stream *stream,
                   const eventspace_trace *event)
{
    int err = stream->element ? 0 : eventspace__stream_make(trace, stream);

    if (err) {
        stream->why = err;
        refuse(trace, stream);
        return err;
    }
    eventspace__trace_measure(stream, event);
    return pastset_write(stream->element, event, sizeof(*event), PASTSET_NOWAIT,
                         NULL);
}

/* Until there is room on the disk, or nobody saves what is there any more. The
 * event was refused once, and counts as that only if it is in the end. */
static int attempt_patiently(trace_element *trace, trace_stream *stream,
                             const eventspace_trace *event)
{
    struct timespec nap = {.tv_nsec = DISK_PAUSE_NS};
    int64_t refused = 1;
    int err;

    do {
        nanosleep(&nap, NULL);
        err = attempt(trace, stream, event);
        refused += err == PASTSET_ENOSPC;
    } while (err == PASTSET_ENOSPC &&
             (!stream->element ||
              pastset_element_saved(stream->element) != UINT64_MAX));
    if (stream->element)
        pastset_element_refuse(stream->element,
                               err == PASTSET_ENOSPC ? 1 - refused : -refused,
                               PASTSET_ENOSPC);
    return err;
}

/* The stream is full, is to be made, or somebody waits for its tuples. */
void eventspace__trace_write_slowly(trace_element *trace, trace_stream *stream,
                                    const eventspace_trace *event)
{
    int err;

    if (stream->pass_over > 0) {
        stream->pass_over--;
        refuse(trace, stream);
        return;
    }
    err = attempt(trace, stream, event);
    if (err == PASTSET_ENOSPC && eventspace__is_patient())
        err = attempt_patiently(trace, stream, event);
    if (err && err != PASTSET_EAGAIN) {
        stream->pass_over = PASS_OVER;
        stream->why = err;
    }
    if (err != PASTSET_EAGAIN)
        return;
    PASTSET_POINT("collector.full");
    eventspace__drain_wake();
    pastset_write(stream->element, event, sizeof(*event), PASTSET_FOREVER,
                  NULL);
}

void eventspace__trace_write(trace_element *trace,
                             const eventspace_trace *event)
{
    trace_stream *stream = &trace->streams[paths_executor()];
    pastset_appender *appender = stream->appender;
    unsigned char *slot = appender ? pastset_append_begin(appender) : NULL;

    if (!slot) {
        eventspace__trace_write_slowly(trace, stream, event);
        return;
    }
    eventspace__trace_measure(stream, event);
    pastset_append_store(slot, event, sizeof(*event));
    pastset_append_end(appender);
}

void eventspace__trace_refuse(trace_element *trace, int why)
{
    trace_stream *stream = &trace->streams[paths_executor()];

    stream->why = why;
    refuse(trace, stream);
}
