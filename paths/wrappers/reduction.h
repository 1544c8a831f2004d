/* reduction.h - what a wrapper of kind `reduce` computes: a program's function.
 *
 *     total.reduce [kind=reduce, function=longest];
 *
 * Each round it folds all contributions into one tuple, in the order in which
 * the edges that lead to the wrapper stand in the map: with contributions a,
 * b, c it computes (a . b) . c. A tree of several wrappers brackets them
 * otherwise, so the function should be associative, at least as far as the
 * program cares. */
#ifndef PATHS_REDUCTION_H
#define PATHS_REDUCTION_H

#include "pastset/type.h"

#ifdef __cplusplus
extern "C" {
#endif

/* into = into . from, both tuples of the type; they do not overlap, and need
 * not be aligned. Must not block. */
typedef void paths_reduction(const pastset_type *type, void *into,
                             const void *from);

/* Makes a function known to this process; call it before eventspace_start,
 * from one thread. The name must stay.
 * Errors: PASTSET_EINVAL, PASTSET_EEXIST, PASTSET_ELIMIT (64 functions). */
int paths_reduction_register(const char *name, paths_reduction *function);
/* NULL when there is none. */
paths_reduction *paths_reduction_find(const char *name);

#ifdef __cplusplus
}
#endif

#endif
