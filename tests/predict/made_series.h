/* made_series.h - series as loads and links have them, each time the same. */
#ifndef TESTS_PREDICT_MADE_SERIES_H
#define TESTS_PREDICT_MADE_SERIES_H

#include <stddef.h>
#include <stdint.h>

/* xorshift64*: the same numbers everywhere. */
typedef struct made_random {
    uint64_t state; /* not 0 */
} made_random;

double made_uniform(made_random *r); /* above 0 and below 1 */
double made_normal(made_random *r);  /* mean 0, deviation 1 */

/* "white", "walk", "related", "hardly related", "spiky", "levels", "modes",
 * "daily", "load average", "saw", "heavy tails"; NULL beyond the last. */
const char *made_series_name(size_t kind);
void made_series(double *out, size_t count, size_t kind, uint64_t seed);

#endif
