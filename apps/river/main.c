/* main.c - the program `river`. */
#include "apps/river/river.h"

static const char about[] =
    "A reservoir empties into a dry valley: shallow water in strips of rows, "
    "with most of the work in the first strip.\vThe sizes have 72x96 cells "
    "(S), 192x256 (W), 384x512 (A), 768x1024 (B) and 1536x2048 (C), and all "
    "show the same valley of 3 by 4 km. --seed changes its hills; --rounds is "
    "the number of steps.\n"
    "\n"
    "Every 32 steps the program compares the total water with that at the "
    "beginning; rounding may change it by 1e-12. The checksum is that of all "
    "depths (64-bit FNV-1a), which are the same, bit for bit, for any number "
    "of threads and for `single`.\n"
    "\n"
    "Results: steps, the simulated time, the water in m3 before and after, the "
    "number of wet cells, in all and in each strip, before and after; and a "
    "picture, river.png.";

int main(int argc, char **argv)
{
    static const program it = {
        .name = "river",
        .about = about,
        .mapping = river_mapping,
        .single = river_single,
        .thread = river_thread,
    };

    return program_main(&it, argc, argv);
}
