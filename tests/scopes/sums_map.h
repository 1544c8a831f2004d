/* sums_map.h - a map of a program whose threads add up numbers, for tests. */
#ifndef TESTS_SCOPES_SUMS_MAP_H
#define TESTS_SCOPES_SUMS_MAP_H

#include <stdbool.h>

/* Makes the scratch file map.dot: three threads in two processes, t0 and t2 in
 * h0, which take part in the sum "total"; with collectors everywhere, or
 * none. */
void sums_map_make(bool collectors);

#endif
