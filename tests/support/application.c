/* application.c - see application.h. */
#include "tests/support/application.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/check.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"

#define EVENTSPACE TEST_BINARY_DIR "/eventspace"

const char *map_generated(char *mapping, const char *processes)
{
    const char *application = scratch_write("application.dot", mapping);
    const char *map = scratch_file("map.dot");

    free(mapping);
    free(command_run(0, 30, EVENTSPACE, "map", "generate", "-a", application,
                     "--processes", processes, "-o", map, NULL));
    free(command_run(0, 30, EVENTSPACE, "map", "check", map, NULL));
    return map;
}

static int forget(const char *name, const struct stat *status, int kind,
                  struct FTW *walk)
{
    (void)status;
    (void)kind;
    (void)walk;
    return remove(name);
}

char *run_output(const char *name, const char *map, int exit_code,
                 unsigned seconds)
{
    const char *run = scratch_file("run");
    char program[512];

    nftw(run, forget, 8, FTW_DEPTH | FTW_PHYS);
    snprintf(program, sizeof(program), "%s/%s", TEST_BINARY_DIR, name);
    return command_run(exit_code, seconds, EVENTSPACE, "run", map, "--output",
                       run, "--", program, "run", NULL);
}

json_t *run_results(const char *name, const char *map, unsigned seconds)
{
    free(run_output(name, map, 0, seconds));
    return results_read(name, scratch_file("run"));
}

json_t *results_read(const char *name, const char *directory)
{
    char file[512];
    json_error_t problem;
    json_t *results;

    snprintf(file, sizeof(file), "%s/%s.json", directory, name);
    results = json_load_file(file, 0, &problem);
    cr_assert_not_null(results, "%s: %s", file, problem.text);
    return results;
}

static const json_t *result(const json_t *results, const char *name)
{
    const json_t *value =
        json_object_get(json_object_get(results, "values"), name);

    cr_assert_not_null(value, "there is no result %s", name);
    return value;
}

double result_value(const json_t *results, const char *name)
{
    const json_t *value = result(results, name);

    cr_assert(json_is_real(value), "%s is no real number", name);
    return json_real_value(value);
}

uint64_t result_count(const json_t *results, const char *name)
{
    const json_t *value = result(results, name);

    cr_assert(json_is_integer(value), "%s is no count", name);
    return (uint64_t)json_integer_value(value);
}

const char *result_text(const json_t *results, const char *name)
{
    const json_t *value = result(results, name);

    cr_assert(json_is_string(value), "%s is no text", name);
    return json_string_value(value);
}
