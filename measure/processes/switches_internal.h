/* switches_internal.h - the kernel's record of each switch of a command's
 * threads.
 *
 * perf_event_open(2): a counter that counts nothing writes a record at each
 * switch, and one when a thread begins, ends or takes another name. There are
 * two ways:
 *
 *   wide       One counter for each processor records all that runs there, of
 *              which we take what is the command's. It costs next to nothing at
 *              a switch, but needs CAP_PERFMON (or root, or
 *              kernel.perf_event_paranoid 0).
 *   inherited  The counter is the command's, and inherited to all that it
 *              starts; an inherited counter can write to a ring only if it is
 *              bound to one processor, so that there is one for each. Anybody
 *              may (with kernel.perf_event_paranoid up to 2), but the kernel
 *              takes counters off and puts them on at each switch: a
 *              microsecond or two.
 *
 * A thread gets a processor and loses it on the same one: each ring can be read
 * by itself, and nothing has to be sorted.
 *
 * Threads:   one thread.
 * Ownership: open gives, close takes back. */
#ifndef MEASURE_SWITCHES_INTERNAL_H
#define MEASURE_SWITCHES_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct measure_switches measure_switches;

/* What records tell; times are CLOCK_MONOTONIC. At each reading first who
 * began, was named and ended, then who ran; of one processor in order. If the
 * records are wide, also what is none of the command's. */
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
 * when that is not possible; `why` (of `capacity` bytes) then says why not and
 * what would help. */
measure_switches *measure_switches_open(pid_t pid, char *why, size_t capacity);
/* Tells all that was recorded since the last time until now. */
void measure_switches_read(measure_switches *switches,
                           const measure_switches_told *told, void *context);
/* Records that the kernel had no room for. */
uint64_t measure_switches_lost(const measure_switches *switches);
void measure_switches_close(measure_switches *switches);

#endif
