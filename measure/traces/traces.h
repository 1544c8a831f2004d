/* traces.h - messages and steps of a program, from its trace tuples.
 *
 * Exact, where packets are put together by guessing: the collectors around a
 * proxy tell each request and each reply. The run must have collectors on both
 * sides of its proxies and on the edges that leave threads (`eventspace map
 * instrument --collectors all`).
 *
 * Nodes are the processes of the map. Each thread of the application is an
 * actor. An operation over a hop is a message there (the request) and one back
 * (the reply); between them lies an actor of its own, which is what the network
 * loop of the other process does for this one request. An operation that waited
 * for another (at an element: scopes/cause; in a collective: its last
 * contribution) receives a message from that one, of the same node or over the
 * hop.
 *
 * Processes of an MPI program that is recorded have no proxies between them,
 * and need no collectors but those that they have made. A message goes from the
 * call that sent it to the one that received it, and a collective is modelled
 * by messages (traces_collectives.c).
 *
 * Threads: one thread per call. */
#ifndef MEASURE_TRACES_H
#define MEASURE_TRACES_H

#include <stdint.h>

#include "eventspace/run/run.h"
#include "predict/profile/profile.h"

/* The processor time that a thread of a process needed between two moments of
 * the process's wall clock, nanoseconds. `thread` is PATHS_NONE for the
 * process's loop. Without it all time between operations is computing. */
typedef int64_t measure_cpu_between(void *context, uint32_t process,
                                    uint32_t thread, int64_t from_ns,
                                    int64_t to_ns);

/* What is known of threads from outside. `knows`, or NULL: is it known of this
 * one? Of others all time counts as computing. */
typedef struct measure_known_times {
    measure_cpu_between *cpu;
    bool (*knows)(void *context, uint32_t process, uint32_t thread);
    measure_cpu_between *ready; /* likewise, for how long it had lost its
                                   processor to others; NULL: not known. It is
                                   asked for ranks of MPI programs */
    void *context;
} measure_known_times;

/* Adds messages, links, actors and steps to a profile whose nodes have the
 * names of the run's processes (those that are missing are added). Times are
 * brought to `start_ns`, the wall clock (REALTIME) of the profile's beginning.
 * `*lost` becomes how many events are missing in the run.
 * Errors: PASTSET_ENOENT: no collectors that tell (the text says how to
 * instrument); those of scopes/reading/snapshot.h. */
int measure_traces_add(predict_profile *profile, eventspace_run *run,
                       int64_t start_ns, const measure_known_times *times,
                       uint64_t *lost);

#endif
