/* main.c - the program `mg`. */
#include "apps/mg/grid.h"

#include <inttypes.h>
#include <stdio.h>

static const char about[] =
    "Multigrid: Poisson's equation on a cube, by cycles over all "
    "levels.\vSizes: S 32 points a side, 4 cycles; W 128, 20; A 256, 20; B "
    "512, 10; C 512, 30 (B and C take 2.5 GB). At most as many threads as "
    "points a side.\n"
    "\n"
    "Each thread has a slab of the cube, and exchanges planes with the slabs "
    "above and below on every level that is fine enough; the coarser ones are "
    "gathered, and computed by all. A run checks that each cycle at least "
    "halves the residual, until rounding hides it.\n"
    "\n"
    "Results: norm_first and norm, the norm of the residual before the first "
    "and after the last cycle (the same for any number of threads, up to "
    "rounding); peak, the largest residual, and checksum, of all bits of the "
    "potential (exactly the same).";

int mg_tell(const mg_outcome *outcome, program_result *result)
{
    char text[24];
    int err = program_value(result, "norm_first", outcome->norm_first);

    if (!err)
        err = program_value(result, "norm", outcome->norm);
    if (!err)
        err = program_value(result, "peak", outcome->peak);
    snprintf(text, sizeof(text), "%016" PRIx64, outcome->checksum);
    return err ? err : program_text(result, "checksum", text);
}

static int single(const program_options *options, program_result *result)
{
    mg_problem problem;
    mg_outcome outcome;
    int err = mg_problem_set(&problem, options);

    if (!err)
        err = mg_single(&problem, &outcome);
    return err ? err : mg_tell(&outcome, result);
}

int main(int argc, char **argv)
{
    static const program mg = {
        .name = "mg",
        .about = about,
        .mapping = mg_mapping,
        .single = single,
        .thread = mg_thread,
    };

    return program_main(&mg, argc, argv);
}
