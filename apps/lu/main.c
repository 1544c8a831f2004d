/* main.c - what the program `lu` is. */
#include "apps/lu/lu.h"

static const char about[] =
    "A pipelined wave front of many small messages: the pattern of LU of the "
    "NAS parallel benchmarks.\vSolves a steady convection and diffusion "
    "problem in a cube by symmetric successive over-relaxation. Threads share "
    "the rows of the grid; in each sweep a thread receives one row of each "
    "plane from the neighbour on the side where the sweep begins, and sends "
    "one to the other. Once a round it sends its faces to both.\n"
    "\n"
    "  size      S     W     A     B     C\n"
    "  cells   20^3  64^3 102^3 162^3 200^3\n"
    "  rounds   100  1000  2500  4000  6000\n"
    "  alone    0 s   2 s  20 s 2 min 7 min\n"
    "\n"
    "Results: the largest residual before the first and after the last round, "
    "the norm of the last (root of the mean square), the largest distance from "
    "the known solution, and a checksum of the grid's bits. All but the norm "
    "are the same, bit for bit, for any number of threads; the norm is a sum, "
    "and differs in its last digits.";

int main(int argc, char **argv)
{
    static const program lu = {
        .name = "lu",
        .about = about,
        .mapping = lu_mapping,
        .single = lu_single,
        .thread = lu_thread,
    };

    return program_main(&lu, argc, argv);
}
