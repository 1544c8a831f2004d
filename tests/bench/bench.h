/* bench.h - what the benchmarks share: time, medians, one line of JSON.
 *
 * Each figure stands beside its limit, taken in the same run: the two are
 * measured in turns, and the medians are told. */
#ifndef TESTS_BENCH_BENCH_H
#define TESTS_BENCH_BENCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "eventspace/collect/ticks.h"

double bench_now_ns(void);

/* Sorts `values` and gives the one in the middle. */
double bench_median(double *values, size_t count);

/* {"name": ..., "value": ..., "unit": ..., "limit": ..., "ratio": ...} */
void bench_print(const char *name, double value, const char *unit,
                 double limit);

/* The same with whose figure the limit is. NAN as the limit: there is none, and
 * `limit` and `ratio` are null. */
void bench_print_beside(const char *name, double value, const char *unit,
                        double limit, const char *whose);

/* Ends the program with the last error's text. */
void bench_check(int status, const char *what);

/* What one collector adds to an operation, its tuples in a file. */
double bench_collector_ns(void);

/* Is this figure wanted? Where the command names a part of it, not all are. */
bool bench_wants(const char *name);

/* Puts the calling thread on one processor, if there are that many. */
void bench_pin(int processor);

/* The limit of a collector: two stamps, and 36 bytes into a slot. The fences
 * are for the compiler, and cost nothing. */
static inline void bench_stamp_store(unsigned char *slot, uint32_t sequence)
{
    uint64_t start = eventspace_ticks();
    uint32_t rest[5] = {1, 2, sequence, 8, 1};
    uint64_t end;

    atomic_signal_fence(memory_order_seq_cst);
    end = eventspace_ticks();
    memcpy(slot, &start, 8);
    memcpy(slot + 8, &end, 8);
    memcpy(slot + 16, rest, 20);
    atomic_signal_fence(memory_order_seq_cst);
}

/* --- one bench per file --- */

void bench_collector(void);
void bench_lttng(void);
void bench_local(void);
void bench_metric(void);
void bench_remote(void);
void bench_collective(void);
void bench_observe(void);
void bench_scope(void); /* scope_local, then scope_remote */
void bench_scope_local(void);
void bench_scope_remote(void);
void bench_view(void);
void bench_scale(void);
void bench_sql(void);
void bench_page(void);
void bench_sensors(void);
void bench_serve(void);
/* Of bench_sql: between hand_run_begin and hand_run_end. */
void bench_babeltrace(unsigned events, int turns);
void bench_export(void);
void bench_archive(void);
void bench_watch(void);
void bench_replay(void);
void bench_record(void);

#endif
