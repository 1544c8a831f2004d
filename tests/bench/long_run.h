/* long_run.h - runs of as many events as are wanted, to measure views of. */
#ifndef TESTS_BENCH_LONG_RUN_H
#define TESTS_BENCH_LONG_RUN_H

#include <stdint.h>

#define BENCH_SCRATCH 128

/* A new folder in $TMPDIR, or /tmp; and it is gone with all that is in it. */
void bench_scratch_make(char scratch[static BENCH_SCRATCH]);
void bench_scratch_remove(const char *scratch);

/* To be called first by each bench that uses these: if this is a process of
 * the short run, it does what that has to, and ends. */
void bench_long_run_process(void);
/* Makes scratch/short, a real run. `bench`: the argument by which the program
 * comes to bench_long_run_process(). */
void bench_short_run(const char *scratch, char *bench);
/* Makes of it scratch/NAME with about as many events; how many these are. */
uint64_t bench_long_run(const char *scratch, const char *name, uint64_t events);
/* Reads the run's files from the first byte to the last: hardly more than the
 * bytes of its events. */
double bench_long_run_read_ms(const char *scratch, const char *name,
                              uint64_t events);
/* Copies them into a temporary file in `scratch`. */
void bench_long_run_copy(const char *scratch, const char *name);

#endif
