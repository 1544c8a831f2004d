/* main.c - the program `sor`. */
#include "apps/sor/sor.h"

static const char about[] =
    "Poisson's equation on a square, by red-black successive over-relaxation "
    "in strips of rows.\v"
    "The sizes have 120 (S), 600 (W), 1600 (A), 2800 (B) and 4000 (C) points a "
    "side. Iterates until all points are within 1e-6 of the known solution, or "
    "exactly --rounds times. --seed changes the first guess.\n"
    "\n"
    "Results: the relaxation factor omega, the number of iterations, the "
    "largest "
    "residual in the last of them, the largest error, which is checked, and a "
    "checksum of all points (64-bit FNV-1a), which are the same, bit for bit, "
    "for "
    "any number of threads and for `single`.";

int main(int argc, char **argv)
{
    static const program it = {
        .name = "sor",
        .about = about,
        .divides = true,
        .options = sor_options,
        .parse = sor_parse,
        .own_bytes = sizeof(sor_own),
        .mapping = sor_mapping,
        .single = sor_single,
        .thread = sor_thread,
    };

    return program_main(&it, argc, argv);
}
