/* trace.h - the trace tuple: one operation's way through one collector.
 *
 * Paper 004, section 4.3: 36 bytes, native byte order, stamped on the way
 * down and on the way up, written once on the way up. */
#ifndef EVENTSPACE_TRACE_H
#define EVENTSPACE_TRACE_H

#include <stdint.h>

#define EVENTSPACE_TRACE_BYTES 36
#define EVENTSPACE_TRACE_TYPE "u64[2] u32[4] u16[2]"

/* Packed to four bytes, since the two u64 would round its size up to 40. */
#pragma pack(push, 4)
typedef struct eventspace_trace {
    uint64_t start;     /* raw ticks of the process when it went down */
    uint64_t end;       /* raw ticks of the same process when it came up */
    uint32_t collector; /* its id in the path map */
    uint32_t thread;    /* number of the thread whose operation it is */
    uint32_t sequence;  /* of that thread's operations, from 1; with `thread`
                           it names the operation on every process */
    uint32_t bytes; /* of the tuple that was written or read; of an exchange, of
                       what it brought */
    uint16_t operation; /* a pastset_verb, or one of those below */
    uint16_t status;    /* 0, or minus a code of pastset/status.h */
} eventspace_trace;
#pragma pack(pop)

/* What is no operation but a part of the program (eventspace/regions.h): then
 * `collector` is the id of a definition (eventspace/define/definition.h),
 * `sequence` counts those of the thread, and `bytes` is how deep it lies in
 * other regions, from 0. They are in streams of the trace element
 * EVENTSPACE_REGIONS_NAME, which no collector names. So is what a program has
 * counted (eventspace/metric.h): `sequence` * 2^32 + `bytes`, from `start` to
 * `end`. */
#define EVENTSPACE_TRACE_REGION 64
#define EVENTSPACE_TRACE_MARK 65
#define EVENTSPACE_TRACE_METRIC 66
#define EVENTSPACE_REGIONS_NAME "~regions"

/* What a program has counted, by an event of that kind. */
static inline uint64_t eventspace_trace_counted(const eventspace_trace *event)
{
    return (uint64_t)event->sequence << 32 | event->bytes;
}

/* "write", "region" and so on; "?" when it is none. */
const char *eventspace_trace_verb(uint16_t operation);

_Static_assert(sizeof(eventspace_trace) == EVENTSPACE_TRACE_BYTES,
               "a trace tuple has 36 bytes");

#endif
