/* scheduling.h - when threads began and ended, and when they had no processor,
 * for whoever looks at a space: while the process runs, after it, after a kill.
 *
 * Trace tuples tell of operations. What lies between two of them may be
 * computing, or it may be that the kernel ran somebody else. So each process
 * with collectors has an element "~scheduling" with one tuple for each of:
 *
 *   began    a thread of the application begins its program
 *   off      of the ticks from `start` to `end` it was off the processor for
 *            `runnable` ones, while others ran, and for `sleeping` ones, since
 *            it waited for something: a lock, a file, an operation
 *   unknown  from `start` to `end` nothing is known: the kernel's ring was
 *            full, its files could not be read, or the disk was full
 *   ended    it ended
 *   sum      from `start` to `end` it was off the processor for so long in all,
 *            by so many switches; when is not known. Threads of programs that
 *            are recorded as they are have it instead of `off`: one of no time
 *            when they begin, and one when they end
 *
 * Where the kernel tells of context switches (perf_event_open; sysctl
 * kernel.perf_event_paranoid of 2 or less), a time that a thread was runnable
 * for 20 us or more, or slept for 1 ms or more, is one tuple: exact, to the
 * tick. Shorter ones are put together, those of 10 ms in one tuple. Where it
 * does not, the processor time of the thread and /proc/self/task/TID/schedstat
 * are read each 10 ms, and a tuple is what a sample says; one goes on while the
 * thread waits for a processor. The tuples of a thread are in order, and do not
 * overlap.
 *
 * EVENTSPACE_SCHEDULING in the environment chooses: `switches` (the default;
 * samples where the kernel refuses), `samples`, or `none`: no such element.
 *
 * By switches, what comes between a thread's being woken and its running counts
 * as sleeping: the kernel notes no wakes. By samples that is runnable, too.
 * What a hypervisor takes of a virtual processor while a thread runs on it is
 * no time off the processor by switches, as the kernel ran nobody else; where
 * the kernel leaves it out of the thread's processor time, it is sleeping by
 * samples.
 *
 * A time off the processor is there 10 ms after its end; when a process is
 * killed, what is not there yet never is. The element keeps the latest
 * EVENTSPACE_SCHEDULING_TUPLES. */
#ifndef EVENTSPACE_SCHEDULING_H
#define EVENTSPACE_SCHEDULING_H

#include <stdint.h>

#define EVENTSPACE_SCHEDULING_NAME "~scheduling"
#define EVENTSPACE_SCHEDULING_TYPE "u64[5] u32[4]"
#define EVENTSPACE_SCHEDULING_TUPLES 65536

typedef enum eventspace_scheduling_kind {
    EVENTSPACE_THREAD_BEGAN,
    EVENTSPACE_THREAD_OFF,
    EVENTSPACE_THREAD_UNKNOWN,
    EVENTSPACE_THREAD_ENDED,
    EVENTSPACE_THREAD_SUM,
    EVENTSPACE_THREAD_KINDS
} eventspace_scheduling_kind;

typedef struct eventspace_scheduling {
    uint64_t start, end;         /* ticks of the process, as in trace.h */
    uint64_t runnable, sleeping; /* ticks of these; of `off`
                                    and `sum` */
    uint64_t operations;         /* of `ended`: how many the thread began; of
                                    `sum`: how often it yielded in them */
    uint32_t thread;             /* its number */
    uint32_t kind;
    uint32_t preemptions, sleeps; /* how many times `off` or `sum` puts
                                     together; both 0: it is a sample */
} eventspace_scheduling;

_Static_assert(sizeof(eventspace_scheduling) == 56, "as its type says");

#endif
