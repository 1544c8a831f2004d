/* farm_test.c - the program `farm` beside its sequential computation, and with
 * shares that differ. */
#include "apps/farm/farm.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/application.h"
#include "tests/support/check.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"

#define FARM TEST_BINARY_DIR "/farm"

TestSuite(farm, .init = scratch_make, .fini = scratch_remove, .timeout = 300);

static void check_run(const char *threads, const char *processes,
                      const char *handed)
{
    char *mapping = command_run(0, 20, FARM, "mapping", "--threads", threads,
                                "--seed", "3", "--rounds", "10", NULL);
    json_t *run = run_results("farm", map_generated(mapping, processes), 120);
    json_t *want;

    free(command_run(0, 60, FARM, "single", "--seed", "3", "--rounds", "10",
                     "--output", scratch_file("single"), NULL));
    want = results_read("farm", scratch_file("single"));
    cr_expect_str_eq(result_text(run, "checksum"),
                     result_text(want, "checksum"));
    cr_expect_eq(result_count(run, "tasks"), 1200);
    cr_expect_str_eq(result_text(run, "handed"), handed);
    json_decref(run);
    json_decref(want);
}

Test(farm, gives_the_same_with_one_worker)
{
    check_run("2", "1", "1200");
}

Test(farm, gives_the_same_with_some_workers)
{
    check_run("5", "2", "300,300,300,300");
}

Test(farm, gives_the_same_where_tasks_do_not_divide_evenly)
{
    check_run("8", "3", "170,170,170,180,170,170,170");
}

Test(farm, gives_the_same_with_a_worker_for_each_task)
{
    farm f;
    program_options options = {.size = 'S', .rounds = 1, .seed = 1};
    char text[16];
    char *mapping, *said;

    farm_make(&f, &options);
    snprintf(text, sizeof(text), "%u", f.tasks + 1);
    mapping = command_run(0, 20, FARM, "mapping", "--threads", text, "--rounds",
                          "1", NULL);
    said = run_output("farm", map_generated(mapping, "2"), 0, 120);
    cr_expect_not_null(strstr(said, "checksum"), "%s", said);
    free(said);
}

/* Another seed, other results: else a checksum would say nothing. */
Test(farm, depends_on_its_seed)
{
    program_options options = {.size = 'S', .rounds = 1, .seed = 1};
    farm one, two;

    farm_make(&one, &options);
    options.seed = 2;
    farm_make(&two, &options);
    cr_expect_neq(farm_tasks(&one, one.state, 0, 3),
                  farm_tasks(&two, two.state, 0, 3));
    cr_expect_eq(farm_tasks(&one, one.state, 0, 120),
                 farm_tasks(&one, one.state, 0, 50) +
                     farm_tasks(&one, one.state, 50, 70));
}

Test(farm, refuses_numbers_of_threads_that_it_cannot_use)
{
    static const char *const wrong[] = {"1", "122"};

    for (size_t i = 0; i < 2; i++) {
        char *output =
            command_run(2, 20, FARM, "mapping", "--threads", wrong[i], NULL);
        check_says(output, "threads: there must be a master and 1 to 120");
        free(output);
    }
}
