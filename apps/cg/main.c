/* main.c - the program `cg`. */
#include "apps/cg/sparse.h"

static const char about[] =
    "Conjugate gradients: the smallest eigenvalue of a sparse matrix.\vSizes "
    "set the rows, the entries in each of them and the rounds: S 2^11, 17 and "
    "12; W 2^16, 33 and 20; A 2^17, 65 and 40; B 2^18, 97 and 60; C 2^19, 129 "
    "and 60. There can be as many threads as rows.\n"
    "\n"
    "Each round solves a system of equations in 25 steps. Each step multiplies "
    "the matrix, of which each thread has some rows, by a vector that is "
    "gathered from all threads. Each round checks that the residual of the "
    "equations is below 1e-9, and that zeta does not rise and stays above 1.\n"
    "\n"
    "Results: `entries` of the matrix; `zeta_first` and `zeta`, the estimates "
    "of the eigenvalue after the first and the last round, which are the same "
    "for any number of threads up to rounding; `residual`, the largest "
    "residual of a round.";

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
