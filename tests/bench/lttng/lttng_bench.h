/* lttng_bench.h - the event of the LTTng benchmark: what a collector's tuple
 * says of an operation, but for its two times, which LTTng stamps itself (one
 * event at the beginning, one at the end). */
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

#endif

#include <lttng/tracepoint-event.h>
