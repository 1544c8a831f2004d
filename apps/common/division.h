/* division.h - who has which rows of a grid, or planes of a cube: all threads
 * equally many; or as the map says, in an attribute of each thread.
 *
 * In the map is how many rows each thread has, from the top: rows="60,68,128".
 * Who divides the work by what machines give says it in shares, of any sum:
 * "0.5,1,1" (`eventspace choose --split`).
 *
 * Functions return 0 or a negative code with its text. */
#ifndef COMMON_DIVISION_H
#define COMMON_DIVISION_H

#include <stdint.h>

#define DIVISION_ATTRIBUTE "rows"

/* The rows of part `number` of `threads`. `cut` says how many each has; NULL:
 * all as many as any other or one more, the first ones more. Errors:
 * PASTSET_EINVAL (more threads than rows; a cut that is none of this grid and
 * these threads). */
int division_share(const char *cut, uint32_t rows, uint32_t threads,
                   uint32_t number, uint32_t *first, uint32_t *count);

/* Of shares, as numbers whose sum is 1, which the caller frees. Errors:
 * PASTSET_EINVAL (they are not one above 0 for each thread), PASTSET_ENOMEM. */
int division_shares(double **out, const char *shares, uint32_t threads);

/* Where the part of each thread begins, and the end of the last one, by shares
 * above 0 of any sum: as near as whole rows come to it, one at least. `starts`
 * has room for one more than there are threads, which are `rows` at most. */
void division_starts(uint32_t *starts, const double *shares, uint32_t rows,
                     uint32_t threads);

/* As a map has it: rows of each thread. The caller frees it. Errors:
 * PASTSET_ENOMEM. */
int division_print(char **cut, const uint32_t *starts, uint32_t threads);

/* The cut by these shares: as near as whole rows come to it, one at least. The
 * caller frees it. NULL: all equally many. Errors: those of both. */
int division_cut(char **cut, const char *shares, uint32_t rows,
                 uint32_t threads);

#endif
