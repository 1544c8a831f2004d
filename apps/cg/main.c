/* main.c - the program `cg`. */
#include "apps/cg/sparse.h"

static const char about[] =
    "Conjugate gradients: the smallest eigenvalue of a sparse matrix.\v"
    "Sizes, rows and entries in each of them: S 2^11 and 17, 12 rounds; "
    "W 2^16 and 33, 20; A 2^17 and 65, 40; B 2^18 and 97, 60; C 2^19 and 129, "
    "60. At most as many threads as rows.\n"
    "\n"
    "Each round solves a system of equations by 25 steps, and each step "
    "multiplies the matrix, of which each thread has some rows, with a vector "
    "that is gathered from all threads. Checked in each round: what is left of "
    "the equations is below 1e-9, and zeta does not rise nor fall below 1.\n"
    "\n"
    "Results: entries, of the matrix; zeta_first and zeta, the estimate of "
    "the eigenvalue after the first and the last round, which do not depend on "
    "the number of threads up to rounding; residual, the largest length of "
    "what was left.";

int cg_tell(const cg_outcome *outcome, program_result *result)
{
    int err = program_count(result, "entries", outcome->entries);

    if (!err)
        err = program_value(result, "zeta_first", outcome->zeta_first);
    if (!err)
        err = program_value(result, "zeta", outcome->zeta);
    return err ? err : program_value(result, "residual", outcome->residual);
}

static int single(const program_options *options, program_result *result)
{
    cg_problem problem;
    cg_outcome outcome;
    int err = cg_problem_set(&problem, options);

    if (!err)
        err = cg_single(&problem, &outcome);
    return err ? err : cg_tell(&outcome, result);
}

int main(int argc, char **argv)
{
    static const program cg = {
        .name = "cg",
        .about = about,
        .mapping = cg_mapping,
        .single = single,
        .thread = cg_thread,
    };

    return program_main(&cg, argc, argv);
}
