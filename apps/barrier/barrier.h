/* barrier.h - the statement of the problem, and the parts of the program
 * `barrier`.
 *
 * The barrier benchmark of paper 004, section 5.2: before each barrier every
 * thread waits for a random time. One thread, the late one (Q in the paper),
 * waits up to four times as long as the others, and so is the last to arrive
 * in most rounds, but not in all.
 *
 * How long a thread waits in a round depends on seed, thread and round and on
 * nothing else, so that anybody can tell who should be last. Who was, by the
 * clocks of the threads, a run leaves in arrivals.csv: the truth to which
 * what is found in traces can be compared.
 *
 *     problem.c    waits, rounds, options
 *     mapping.c    the application mapping
 *     parallel.c   a thread of a run
 *     arrivals.c   thread 0: what the threads have noted, and who was last
 *     order.c      thread 0: that nobody left a barrier too early
 *     single.c     the plan, without waiting */
#ifndef BARRIER_BARRIER_H
#define BARRIER_BARRIER_H

#include "apps/common/program.h"

/* Of the options, `own`. */
typedef struct barrier_options {
    uint64_t late;         /* number of the late thread */
    uint64_t wait_ns;      /* longest of the others; 0: as the size says */
    uint64_t late_wait_ns; /* longest of the late one; 0: as the size says */
    bool unchecked;        /* without the element `order`; see order.c */
} barrier_options;

extern const struct argp_option barrier_described[];
int barrier_parse(program_options *o, int key, const char *text);

/* Errors: PASTSET_EINVAL (there is no such thread as the late one). */
int barrier_check(const program_options *o);

uint32_t barrier_rounds(const program_options *o);

/* How long `thread` waits before it comes to the barrier of `round`. */
uint64_t barrier_wait_ns(const program_options *o, uint32_t thread,
                         uint32_t round);

/* What the plan says; `single` and a run tell the same. */
typedef struct barrier_plan {
    uint32_t rounds;
    uint64_t late_rounds; /* in which the late thread waits longest */
    uint64_t longest_ns;  /* of each round the longest wait, summed up */
} barrier_plan;

void barrier_plan_report(const barrier_plan *plan, program_result *r);

int barrier_mapping(const program_options *o, FILE *out);
int barrier_single(const program_options *o, program_result *r);
paths_main barrier_thread;

/* --- what the threads of a run write --- */

/* To `arrivals`: notes of some rounds of one thread. */
#define BARRIER_NOTES 64

typedef struct barrier_note {
    uint64_t wait_ns;    /* how long it was to wait */
    uint64_t arrived_ns; /* CLOCK_REALTIME, before the barrier */
    uint64_t left_ns;    /* and after it */
} barrier_note;

typedef struct barrier_notes {
    uint32_t thread, first, count; /* of rounds first ... first + count - 1 */
    char process[108];             /* its name, of 100 bytes at most */
    barrier_note note[BARRIER_NOTES];
} barrier_notes;
#define BARRIER_NOTES_TYPE "u32[3] u8[108] u64[192]"
_Static_assert(sizeof(barrier_notes) == 12 + 108 + 8 * 192, "no padding");

/* To `order`: that it comes to a barrier, or has left it. */
typedef struct barrier_event {
    uint32_t thread, round, has_left;
} barrier_event;
#define BARRIER_EVENT_TYPE "u32[3]"

/* --- arrivals.c and order.c, for thread 0 --- */

typedef struct arrivals arrivals;

int arrivals_create(arrivals **out, const program_options *o);
void arrivals_destroy(arrivals *a);

/* Takes in some notes. Errors: PASTSET_EAPP (they cannot be). */
int arrivals_add(arrivals *a, const barrier_notes *notes);
/* Reads those of all other threads. */
int arrivals_read(arrivals *a, paths_path *path);

/* With the notes of all: writes arrivals.csv, and fills in the results.
 * Errors: PASTSET_EAPP (the rounds took less than their waits, `took_ns`). */
int arrivals_report(const arrivals *a, uint64_t took_ns, program_result *r);

/* Reads the events of all rounds, when all threads have written theirs.
 * Errors: PASTSET_EAPP (somebody left a barrier before all had come). */
int order_check(paths_path *path, const program_options *o);

#endif
