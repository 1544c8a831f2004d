/* collective_round.h - a thread's part in a round of a collective: what it
 * brings, and what must come back. Both follow from the round, from who it is
 * and from how many take part, by sums done here. */
#ifndef TESTS_PATHS_COLLECTIVE_ROUND_H
#define TESTS_PATHS_COLLECTIVE_ROUND_H

#include <stdbool.h>
#include <stdint.h>

#include "paths/paths.h"

#define ROUND_PLACES 9 /* participants at most */
#define ROUND_WIDTH 40 /* i64s in a block at most */
#define ROUND_ITEMS (ROUND_PLACES * ROUND_PLACES * ROUND_WIDTH)

/* One of each kind. */
extern const char *const round_uses[];
#define ROUND_USES 6

typedef struct round_part {
    const char *use;
    unsigned place, count; /* which of how many participants */
    unsigned width;        /* i64s in a block */
    uint64_t round;
    paths_arguments arguments; /* waits for ever */
    int64_t tuple[ROUND_ITEMS];
    int64_t result[ROUND_ITEMS];
} round_part;

/* The type of the element, in `out`. */
const char *round_type(char out[32], const char *use, unsigned count,
                       unsigned width);
/* Fills in the rest of it. The source of a broadcast or a scatter is the
 * participant whose place is the round modulo count. */
void round_make(round_part *p, uint64_t round);
bool round_is_right(const round_part *p);

#endif
