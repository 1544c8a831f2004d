/* course.h - what each process of a run did in each interval: the numbers that
 * metrics are worked out from.
 *
 * Intervals are of one length, by aligned clocks, and begin at multiples of it
 * from the run's first start on. In an interval that a process was not there
 * for the whole of, or of which it has lost events (or that is not wholly in
 * what was looked at), nothing of it is known: NAN.
 *
 * Threads:   may be read by any once made.
 * Ownership: take gives, destroy takes back; the snapshot may go before. */
#ifndef CONTRACTS_COURSE_H
#define CONTRACTS_COURSE_H

#include <stddef.h>
#include <stdint.h>

#include "scopes/reading/snapshot.h"

/* Of all threads of a process together. Operations count where they end; times,
 * in seconds, where they were spent. */
typedef enum contracts_quantity {
    CONTRACTS_SECONDS,       /* how long the interval is */
    CONTRACTS_THREADS,       /* how many threads the process has */
    CONTRACTS_OPERATIONS,    /* on elements, or calls of MPI */
    CONTRACTS_MESSAGES,      /* of these, what writes or sends, but for: */
    CONTRACTS_ROUNDS,        /* of collectives */
    CONTRACTS_BYTES,         /* of messages and rounds */
    CONTRACTS_COMMUNICATING, /* in operations */
    CONTRACTS_WAITING,       /* of this, for others (view wait-states) */
    CONTRACTS_COMPUTING,     /* outside of operations */
    CONTRACTS_CPU,           /* of this, with a processor; NAN: not recorded */
    CONTRACTS_READY,         /* of this, while others had it; NAN: the same */
    CONTRACTS_QUANTITIES
} contracts_quantity;

/* Behind them come those that the program counts itself (eventspace/metric.h),
 * by name; NAN: the process has not, or what it has is not known yet. And
 * behind these, what is not known from traces, which the caller fills in. */

/* "seconds", "threads" ... */
extern const char *const contracts_quantities[CONTRACTS_QUANTITIES];

/* What a process had to do with another one in an interval, in seconds. */
typedef struct contracts_between {
    size_t interval;
    uint32_t process, other;
    double waiting;  /* for the other one */
    double transfer; /* the rest of operations on what it shares with this one
                        alone, or has from it; of collectives it is not known
                        with whom */
} contracts_between;

typedef struct contracts_course {
    int64_t from_ns, interval_ns; /* of the first interval */
    size_t intervals;
    uint32_t processes;
    size_t width;                /* how many quantities there are */
    double *quantities;          /* process by process, interval by interval */
    contracts_between *betweens; /* by interval, process and other one */
    size_t between_count;
    uint32_t *ends_next; /* as `quantities`: see below; NULL: not worked out */
    int64_t longest_ns;  /* that a thread has gone on without an operation that
                            ended, in what was looked at */
} contracts_course;

/* `programs`: what else is counted, `count` names; `further`: how many columns
 * of NAN come behind these.
 * Errors: PASTSET_EINVAL (an interval is not above 0, or they would be more
 * than four million, of all processes), PASTSET_ENOMEM, and those of views. */
int contracts_course_take(contracts_course **out,
                          const scopes_snapshot *snapshot, int64_t interval_ns,
                          const char *const *programs, size_t count,
                          size_t further);
/* NULL is allowed. */
void contracts_course_destroy(contracts_course *course);

/* One for each quantity. */
static inline double *contracts_course_at(const contracts_course *course,
                                          uint32_t process, size_t interval)
{
    return &course
                ->quantities[((size_t)process * course->intervals + interval) *
                             course->width];
}

/* What the quantities of an interval would be with one operation more, like the
 * mean of the others; where there are none, of those that end next, or have
 * ended last, as far as that is known. */
void contracts_course_one_more(double *out, const contracts_course *course,
                               uint32_t process, size_t interval);

#define CONTRACTS_NEVER SIZE_MAX

/* The interval in which operations of a process end, from this one on;
 * CONTRACTS_NEVER: none does, or it is not known of one before. */
size_t contracts_course_ends_next(const contracts_course *course,
                                  uint32_t process, size_t interval);

/* What a process had to do with others in an interval; `*count` gets how many
 * these are. */
const contracts_between *contracts_course_betweens(const contracts_course *c,
                                                   uint32_t process,
                                                   size_t interval,
                                                   size_t *count);

#endif
