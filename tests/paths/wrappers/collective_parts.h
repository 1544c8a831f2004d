/* collective_parts.h - a thread of collective_stress, and its part in a round
 * of a collective: made, called or started, and looked at. */
#ifndef TESTS_PATHS_COLLECTIVE_PARTS_H
#define TESTS_PATHS_COLLECTIVE_PARTS_H

#include <stdatomic.h>

#include "paths/paths.h"
#include "pastset/status.h"
#include "tests/paths/wrappers/collective_kinds.h"

#define PARTS_MAX 3 /* that a thread has under way */

/* In the program of a thread. */
#define expect(holds)                                                          \
    do {                                                                       \
        if (!(holds))                                                          \
            return pastset_fail(PASTSET_EAPP, "%s:%d: %s does not hold: %s",   \
                                __FILE__, __LINE__, #holds, pastset_error());  \
    } while (0)

typedef struct worker worker;

typedef struct part {
    worker *worker;
    uint32_t kind; /* KINDS: the verdict, see collective_faults.c */
    uint64_t round;
    paths_arguments arguments;
    bool under_way;
    int status;
    char text[1000]; /* of the error in `status` */
    /* Longer than any right tuple, for the wrong ones. */
    _Alignas(8) unsigned char tuple[2 * TUPLE_BYTES];
    _Alignas(8) unsigned char result[TUPLE_BYTES];
} part;

struct worker {
    paths_thread *self;
    uint32_t number;
    paths_path *paths[KINDS + 1];
    paths_path *seen, *in, *out;
    uint64_t written[KINDS + 1]; /* tuples that each element has had */
    uint64_t rounds;             /* of all collectives */
    part parts[PARTS_MAX];
    /* For whoever watches: */
    _Atomic uint64_t step;
    const char *_Atomic doing;
};
extern worker workers[THREADS];
extern _Atomic bool somebody_failed; /* the run ends */

/* What this thread does in a round. `own` chooses among what comes out the
 * same: whether it takes the result, and where to; whether it has a deadline,
 * which is far away. */
void part_make(part *p, worker *w, uint32_t which, uint64_t round,
               uint64_t own);
/* Both leave status and text in the part. */
void part_call(part *p);
void part_start(part *p);
/* Until it is complete, if it was started. */
int part_wait(part *p, uint64_t own);
/* Calls it, or starts it and waits for it. */
int part_run(part *p, uint64_t own);
/* It went well, and what came back is right. */
int part_check(part *p);

/* How many times slower than usual: sanitizers are. */
unsigned slowness(void);

/* Keeps a processor busy for about `turns` nanoseconds. */
void keep_busy(uint64_t turns);

#endif
