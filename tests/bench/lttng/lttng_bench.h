/* lttng_bench.h - the events of the LTTng benchmarks. `begin` and `end` say
 * what a collector's tuple says of an operation, but for its two times, which
 * LTTng stamps itself. `tuple` has all of the tuple, for those who read traces.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER eventspace_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./lttng_bench.h"

#if !defined(LTTNG_BENCH_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define LTTNG_BENCH_H

#include <lttng/tracepoint.h>
#include <stdint.h>

LTTNG_UST_TRACEPOINT_EVENT_CLASS(
    eventspace_bench, operation,
    LTTNG_UST_TP_ARGS(uint32_t, collector, uint32_t, thread, uint64_t, index),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint32_t, collector, collector)
                            lttng_ust_field_integer(uint32_t, thread, thread)
                                lttng_ust_field_integer(uint64_t, index,
                                                        index)))

LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(
    eventspace_bench, operation, eventspace_bench, begin,
    LTTNG_UST_TP_ARGS(uint32_t, collector, uint32_t, thread, uint64_t, index))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(
    eventspace_bench, operation, eventspace_bench, end,
    LTTNG_UST_TP_ARGS(uint32_t, collector, uint32_t, thread, uint64_t, index))

LTTNG_UST_TRACEPOINT_EVENT(
    eventspace_bench, tuple,
    LTTNG_UST_TP_ARGS(uint64_t, start, uint64_t, end, uint32_t, collector,
                      uint32_t, thread, uint32_t, sequence, uint32_t, bytes,
                      uint16_t, operation, uint16_t, status),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer(uint64_t, start, start) lttng_ust_field_integer(
            uint64_t, end, end) lttng_ust_field_integer(uint32_t, collector,
                                                        collector)
            lttng_ust_field_integer(uint32_t, thread, thread)
                lttng_ust_field_integer(uint32_t, sequence, sequence)
                    lttng_ust_field_integer(uint32_t, bytes, bytes)
                        lttng_ust_field_integer(uint16_t, operation, operation)
                            lttng_ust_field_integer(uint16_t, status, status)))

#endif

#include <lttng/tracepoint-event.h>
