/* stream_files.h - spaces and archives with trace streams, made by hand, and
 * what their tuples are: the one with index i tells so in `sequence`. */
#ifndef TESTS_SCOPES_STREAM_FILES_H
#define TESTS_SCOPES_STREAM_FILES_H

#include <stdlib.h>

#include "eventspace/run/run.h"
#include "eventspace/run/run_writer.h"
#include "pastset/element.h"
#include "pastset/space.h"
#include "tests/support/check.h"
#include "tests/support/scratch.h"

#define STREAM_COLLECTORS 3

/* Two processes; h0 has the trace elements trace.t0 and trace.t1. */
static const char stream_map[] =
    "digraph sample {\n"
    "  subgraph cluster_h0 {\n"
    "    t0 [kind=thread, number=0];\n"
    "    t1 [kind=thread, number=1];\n"
    "    c0 [kind=collector, id=0, trace=\"trace.t0\"];\n"
    "    c1 [kind=collector, id=1, trace=\"trace.t1\"];\n"
    "    p0 [kind=proxy];\n"
    "    p1 [kind=proxy];\n"
    "  }\n"
    "  subgraph cluster_h1 {\n"
    "    c2 [kind=collector, id=2, trace=\"trace.h1\"];\n"
    "    e [kind=element, type=\"u64\"];\n"
    "  }\n"
    "  t0 -> c0 [as=e, use=write];\n"
    "  t1 -> c1 [as=e, use=write];\n"
    "  c0 -> p0;\n  c1 -> p1;\n  p0 -> c2;\n  p1 -> c2;\n  c2 -> e;\n"
    "}\n";

static inline void streams_begin(void)
{
    scratch_make();
    scratch_write("pathmap.dot", stream_map);
}

static inline pastset_space *stream_space(const char *file)
{
    pastset_space_options options = {.path = scratch_file("%s", file),
                                     .max_bytes = 1ull << 30};
    pastset_space *space;
    check_status(pastset_space_create(&space, &options), 0);
    return space;
}

static inline pastset_element *stream_make(pastset_space *space,
                                           const char *name,
                                           pastset_policy policy,
                                           uint64_t capacity)
{
    pastset_type type;
    pastset_element_options options = {.name = name,
                                       .type = &type,
                                       .policy = policy,
                                       .capacity = capacity,
                                       .single_writer = true};
    pastset_element *element;
    check_status(pastset_type_parse(&type, EVENTSPACE_TRACE_TYPE), 0);
    check_status(pastset_element_create(&element, space, &options), 0);
    return element;
}

/* The tuple with index i: they end in this order, 10 ticks apart; some have
 * begun long before, and the others 4 ticks before. */
static inline eventspace_trace stream_tuple(uint64_t i)
{
    uint64_t random = (i * 2654435761u) >> 7;
    uint64_t took = random % 50 == 0 ? random % 9000 : 4;
    uint64_t end = 10000 + 10 * i;
    return (eventspace_trace){.start = end - took,
                              .end = end,
                              .collector =
                                  (uint32_t)(random % STREAM_COLLECTORS),
                              .thread = (uint32_t)(i / 1000 % 7),
                              .sequence = (uint32_t)i,
                              .operation = 1};
}

static inline int stream_write(pastset_element *stream, uint64_t from,
                               uint64_t to)
{
    int err = 0;
    for (uint64_t i = from; i < to && !err; i++) {
        eventspace_trace event = stream_tuple(i);
        err = eventspace_run_writer_trace(stream, &event);
    }
    return err;
}

static inline eventspace_run *stream_run(void)
{
    eventspace_run *run;
    check_status(eventspace_run_open(&run, scratch_file(".")), 0);
    return run;
}

#endif
