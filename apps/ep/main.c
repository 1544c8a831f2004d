/* main.c - the program `ep`. */
#include "apps/ep/ep.h"

static const char about[] =
    "EP of the NAS Parallel Benchmarks: each thread makes and counts pairs of "
    "Gaussian deviates by itself, and all are added up once at the end.\vSizes "
    "are the classes of NAS: S 2^24 pairs, W 2^25, A 2^28, B 2^30, C 2^32. "
    "There can be as many threads as blocks of 2^16 pairs.\n"
    "\n"
    "Results: `sx` and `sy` are the sums of the deviates, which must equal "
    "those that NAS has published; `q0` to `q9` count the pairs by the larger "
    "size. Counts are the same for any number of threads. Sums can differ by "
    "rounding, as blocks are added in another order; `sx_rounding` and "
    "`sy_rounding` of `single` say by how much at most.";

int main(int argc, char **argv)
{
    static const program ep = {
        .name = "ep",
        .about = about,
        .no_seed = true,
        .no_rounds = true,
        .mapping = ep_mapping,
        .single = ep_single,
        .thread = ep_thread,
    };
    return program_main(&ep, argc, argv);
}
