/* fake_run.h - run directories made by hand: no process has ever run. Ticks are
 * nanoseconds, and every process started at tick FAKE_START. */
#ifndef TESTS_SCOPES_FAKE_RUN_H
#define TESTS_SCOPES_FAKE_RUN_H

#include "eventspace/define/definition.h"
#include "eventspace/run/meta.h"
#include "eventspace/collect/message.h"
#include "eventspace/collect/scheduling.h"
#include "eventspace/collect/trace.h"
#include "paths/engine/executor.h"
#include "paths/map/map.h"

#define FAKE_START 1000000000u

typedef struct fake_run fake_run;

/* Makes the directory's files for each process of an instrumented map. NULL:
 * see pastset_error(). The map is borrowed until the end. */
fake_run *fake_run_begin(const char *directory, const paths_map *map);

/* Writes a trace tuple into the trace element of its collector. */
int fake_run_event(fake_run *run, const eventspace_trace *event);

/* Writes one into the trace element `trace` of a process, whatever its
 * collector is: it is EVENTSPACE_REGIONS_NAME, or there is an event in it. */
int fake_run_event_in(fake_run *run, uint32_t process, const char *trace,
                      const eventspace_trace *event);

/* Makes a note of the process's executor with this number: they are given notes
 * in the order of their numbers. */
int fake_run_note(fake_run *run, uint32_t process, uint32_t executor,
                  const paths_executor_note *note);
/* Writes a tuple of a process's threads' scheduling. */
int fake_run_scheduling(fake_run *run, uint32_t process,
                        const eventspace_scheduling *tuple);
/* Writes an end of a message of a thread. */
int fake_run_message(fake_run *run, uint32_t process, uint32_t thread,
                     const eventspace_message *tuple);
/* Writes bytes that a process defines something with. */
int fake_run_define(fake_run *run, uint32_t process, const void *bytes,
                    size_t count);
/* The note that a thread waits for its operation `sequence` on the path that it
 * calls `as`, at the node `stage`, since `since` ns after the start. */
paths_executor_note fake_waiting(const paths_map *map, const char *thread,
                                 const char *as, const char *stage,
                                 uint16_t verb, uint32_t sequence,
                                 uint64_t since);
/* That it is in something else than an operation. */
paths_executor_note fake_activity(const paths_map *map, const char *thread,
                                  paths_activity activity, uint64_t since);

/* Says how a process ended; without it, it finished. */
void fake_run_ended(fake_run *run, uint32_t process, eventspace_state state,
                    const char *text);

/* Writes the rest and closes the files. */
int fake_run_end(fake_run *run);

/* The id of the collector on the path that thread `thread` calls `as`. */
uint32_t fake_collector(const paths_map *map, const char *thread,
                        const char *as);

#endif
