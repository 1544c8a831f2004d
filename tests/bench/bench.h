/* bench.h - what the benchmarks share: time, medians, one line of JSON.
 *
 * Each figure stands beside its limit, taken in the same run: the two are
 * measured in turns, and the medians are told. */
#ifndef TESTS_BENCH_BENCH_H
#define TESTS_BENCH_BENCH_H

#include <stddef.h>
#include <stdint.h>

double bench_now_ns(void);

/* Sorts `values` and gives the one in the middle. */
double bench_median(double *values, size_t count);

/* {"name": ..., "value": ..., "unit": ..., "limit": ..., "ratio": ...} */
void bench_print(const char *name, double value, const char *unit,
                 double limit);

/* Ends the program with the last error's text. */
void bench_check(int status, const char *what);

/* Puts the calling thread on one processor, if there are that many. */
void bench_pin(int processor);

/* --- one bench per file --- */

void bench_collector(void);
void bench_local(void);
void bench_remote(void);

#endif
