/* application.h - programs of apps/common/program.h from outside: maps, runs,
 * results.
 *
 *     char *mapping = process_run(0, 20, EP, "mapping", "--threads", "3",
 * NULL); json_t *run = run_results("ep", map_generated(mapping, "2"), 60);
 *     cr_expect_eq(result_count(run, "pairs"), 1 << 24);
 *     json_decref(run);
 *
 * All files are in the scratch directory (scratch.h). */
#ifndef TESTS_SUPPORT_APPLICATION_H
#define TESTS_SUPPORT_APPLICATION_H

#include <jansson.h>
#include <stdint.h>

/* Generates a map for so many processes from an application mapping, which is
 * freed, and checks it. Gives its file. */
const char *map_generated(char *mapping, const char *processes);

/* Runs the program under a map, in the directory "run" which is made anew.
 * Gives its NAME.json, for the caller to decref. The other one gives what the
 * run says; it has this exit code. */
json_t *run_results(const char *name, const char *map, unsigned seconds);
char *run_output(const char *name, const char *map, int exit_code,
                 unsigned seconds);

/* NAME.json of a directory. */
json_t *results_read(const char *name, const char *directory);

/* One of the values; the test fails when it is missing or of another kind. */
double result_value(const json_t *results, const char *name);
uint64_t result_count(const json_t *results, const char *name);
const char *result_text(const json_t *results, const char *name);

#endif
