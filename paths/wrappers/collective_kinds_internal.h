/* collective_kinds_internal.h - the kinds of collectives: what becomes of the
 * tuples of a round. */
#ifndef PATHS_COLLECTIVE_KINDS_INTERNAL_H
#define PATHS_COLLECTIVE_KINDS_INTERNAL_H

#include "paths/wrappers/reduction.h"

typedef enum collective_family {
    FAMILY_REDUCE,    /* all bring a tuple of the element's type */
    FAMILY_BARRIER,   /* nobody needs to bring anything */
    FAMILY_BROADCAST, /* one brings a tuple, all get it */
    FAMILY_SCATTER,   /* one brings a tuple, all get their blocks of it */
    FAMILY_GATHER,    /* all bring a block, all get all of them */
    FAMILY_ALLTOALL,  /* all bring a row of blocks, all get a column */
} collective_family;

/* The collective_family of wrappers of a kind; -1: it is no collective, or one
 * of the program's own. */
int paths__collective_family(const char *kind);
/* What it computes; NULL: nothing, or a function of the program. */
paths_reduction *paths__collective_reduction(const char *kind);
/* What the type of its element has to be; NULL when it is. */
const char *paths__collective_type_problem(const char *kind,
                                           const pastset_type *type,
                                           uint32_t participants);

#endif
