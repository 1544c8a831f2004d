/* division_test.c - grids that are divided by what machines give: which rows
 * each thread has, and that programs come to the same results. */
#include "apps/common/division.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/application.h"
#include "tests/support/check.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"

TestSuite(division, .init = scratch_make, .fini = scratch_remove,
          .timeout = 300);

static void check_cut(const char *shares, uint32_t rows, uint32_t threads,
                      const char *wanted)
{
    char *cut;

    check_status(division_cut(&cut, shares, rows, threads), 0);
    cr_expect_str_eq(cut, wanted, "%s: %s, not %s", shares, cut, wanted);
    free(cut);
}

Test(division, rows_are_as_near_to_the_shares_as_they_can_be)
{
    check_cut("1,1", 10, 2, "5,5");
    check_cut("1,3", 100, 2, "25,75");
    check_cut("0.5,1,0.5", 100, 3, "25,50,25");
    check_cut("2", 7, 1, "7");
    check_cut("1,1,1", 100, 3, "33,34,33");
    check_cut("0.000000001,1,0.000000001", 5, 3, "1,3,1");
    check_cut("1,0.000000001,0.000000001", 3, 3, "1,1,1");
    check_cut("1000000,3000000", 4, 2, "1,3");
}

Test(division, no_shares_are_no_cut)
{
    char anything, *cut = &anything;

    check_status(division_cut(&cut, NULL, 10, 2), 0);
    cr_assert_null(cut);
}

/* Whatever the shares are, all rows are had, by one thread each. */
Test(division, all_rows_are_had)
{
    for (uint32_t seed = 0; seed < 2000; seed++) {
        uint32_t threads = 1 + seed % 17, rows = threads + seed * 7 % 400;
        uint32_t next = 0;
        char shares[512], *cut;
        size_t used = 0;
        for (uint32_t i = 0; i < threads; i++)
            used += (size_t)snprintf(shares + used, sizeof(shares) - used,
                                     "%s%.3g", i ? "," : "",
                                     0.01 + (seed * 31 + i * 17) % 101);
        check_status(division_cut(&cut, shares, rows, threads), 0);
        for (uint32_t i = 0; i < threads; i++) {
            uint32_t first, count;
            check_status(division_share(cut, rows, threads, i, &first, &count),
                         0);
            cr_assert_eq(first, next);
            cr_assert_geq(count, 1);
            next += count;
        }
        cr_assert_eq(next, rows);
        free(cut);
    }
}

Test(division, refuses_what_are_no_shares)
{
    static const char *const wrong[] = {
        "",    "1",    "1,1,1",  "1,0",   "1,-1",   "1,x",   "1,1,",
        ",1",  "1;1",  "1, 1",   "1,1 ",  "nan,1",  "inf,1", "1,1e999",
        "0,0", "1,,1", "1,0x10", "1,1%%", "1,1.5.5"};
    char *cut;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        check_status(division_cut(&cut, wrong[i], 100, 2), PASTSET_EINVAL);
        check_error("--shares=");
        cr_assert_null(cut);
    }
    check_status(division_cut(&cut, "1,1", 1, 2), PASTSET_EINVAL);
    check_error("2 threads: there must be 1 to 1");
}

/* --- programs --- */

static char *program_of(const char *name)
{
    static char path[4096];

    snprintf(path, sizeof(path), TEST_BINARY_DIR "/%s", name);
    return path;
}

static void check_program(const char *name, const char *rounds,
                          const char *rows, const char *checksum)
{
    char *program = program_of(name);
    char *mapping = command_run(0, 60, program, "mapping", "--threads=3",
                                "--shares=0.4,1,0.2", rounds, NULL);
    json_t *run, *want;

    cr_expect_not_null(strstr(mapping, rows), "%s: no %s in\n%s", name, rows,
                       mapping);
    run = run_results(name, map_generated(mapping, "2"), 120);
    free(command_run(0, 60, program, "single", rounds, "--output",
                     scratch_file("single"), NULL));
    want = results_read(name, scratch_file("single"));
    cr_expect_str_eq(result_text(run, checksum), result_text(want, checksum),
                     "%s", name);
    json_decref(run);
    json_decref(want);
}

Test(division, sor_is_the_same)
{
    check_program("sor", "--rounds=50", "rows=\"30,75,15\"", "checksum");
}

Test(division, adi_is_the_same)
{
    check_program("adi", "--rounds=5", "rows=\"6,15,3\"", "checksum");
}

Test(division, river_is_the_same)
{
    check_program("river", "--rounds=100", "rows=\"24,60,12\"", "checksum");
}

/* Less work is not as many rows less where rows are not equally much work. */
Test(division, river_balances_by_shares)
{
    char *equal = command_run(0, 60, program_of("river"), "mapping",
                              "--threads=2", "--balanced", NULL);
    char *most = command_run(0, 60, program_of("river"), "mapping",
                             "--threads=2", "--balanced", "--shares=3,1", NULL);
    unsigned first, second, own_first, own_second;

    cr_assert_eq(
        sscanf(strstr(equal, "rows="), "rows=\"%u,%u\"", &first, &second), 2);
    cr_assert_eq(sscanf(strstr(most, "rows="), "rows=\"%u,%u\"", &own_first,
                        &own_second),
                 2);
    cr_assert_eq(first + second, own_first + own_second);
    cr_assert_gt(own_first, first);
    free(equal);
    free(most);
    free(command_run(2, 60, program_of("river"), "mapping", "--threads=2",
                     "--rows=48,48", "--shares=1,1", NULL));
}

Test(division, the_wind_tunnel_is_the_same)
{
    char *program = program_of("windtunnel");
    char *mapping =
        command_run(0, 60, program, "mapping", "--threads=3", "--width=128",
                    "--height=60", "--shares=0.4,1,0.2", NULL);

    cr_expect_not_null(strstr(mapping, "rows=\"15,38,7\""), "%s", mapping);
    free(run_output("windtunnel", map_generated(mapping, "2"), 0, 120));
    free(command_run(0, 60, program, "single", "--width=128", "--height=60",
                     "--output", scratch_file("single"), NULL));
    free(command_run(0, 60, "cmp", scratch_file("run/lattice.bin"),
                     scratch_file("single/lattice.bin"), NULL));
}

Test(division, a_run_takes_no_shares)
{
    free(command_run(2, 60, program_of("sor"), "single", "--shares=1", NULL));
    free(command_run(2, 60, program_of("sor"), "mapping", "--threads=2",
                     "--shares=1", NULL));
}
