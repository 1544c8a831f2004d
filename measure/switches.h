/* switches.h - the kernel's record of each switch of a command's threads.
 *
 * perf_event_open(2): a counter that counts nothing, which the command inherits
 * to all that it starts, writes a record at each switch, and one when a thread
 * begins, ends or takes another name. An inherited counter can write to a ring
 * only if it is bound to one processor, so that there is a counter and a ring
 * for each. A thread gets a processor and loses it on the same one: each ring
 * can be read by itself, and nothing has to be sorted.
 *
 * Threads:   one thread.
 * Ownership: open gives, close takes back. */
#ifndef MEASURE_SWITCHES_H
#define MEASURE_SWITCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct measure_switches measure_switches;

/* What records tell; times are CLOCK_MONOTONIC. Those of one processor come in
 * order; between processors a thread may have run before it began. */
typedef struct measure_switches_told {
    void (*ran)(void *context, pid_t pid, pid_t tid, int64_t from_ns,
                int64_t to_ns, bool ready);
    void (*began)(void *context, pid_t pid, pid_t tid, pid_t parent,
                  int64_t at_ns);
    void (*named)(void *context, pid_t pid, pid_t tid, const char *name,
                  bool exec, int64_t at_ns);
    void (*ended)(void *context, pid_t pid, pid_t tid, int64_t at_ns);
} measure_switches_told;

/* For a child that waits before its exec: from that on, it is recorded. NULL
 * when that is not possible; `why` (of `room` bytes) then says why not and
 * what would help. */
measure_switches *measure_switches_open(pid_t pid, char *why, size_t room);
/* Tells all that was recorded since the last time. */
void measure_switches_read(measure_switches *switches,
                           const measure_switches_told *told, void *context);
/* Records that the kernel had no room for. */
uint64_t measure_switches_lost(const measure_switches *switches);
void measure_switches_close(measure_switches *switches);

#endif
