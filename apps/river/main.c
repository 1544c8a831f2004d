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
    "All strips have equally many rows, so the first one, which has the "
    "water, has most of the work. With --balanced all have equally much, as "
    "far "
    "as strips that stay where they are can: a river of the same valley in "
    "coarse cells shows beforehand how long how much water will be in each "
    "row. --rows cuts by hand. The strips are part of the map.\n"
    "\n"
    "Results: steps, the simulated time, the water in m3 before and after, the "
    "number of wet cells, in all and in each strip, before and after; how many "
    "rows each strip has, and how long its thread was in operations of the "
    "steps and between them, in ms by its own clock; and a picture, river.png, "
    "that shows all of this.";

enum keys {
    BALANCE = PROGRAM_KEY,
    ROWS,
};

static const struct argp_option options[] = {
    {"balanced", BALANCE, NULL, 0,
     "Cut the valley into strips with equally much work, not with equally many "
     "rows, for mapping",
     PROGRAM_OF_MAPPING},
    {"rows", ROWS, "N,N...", 0,
     "Give the strips these numbers of rows, from the top, for mapping",
     PROGRAM_OF_MAPPING},
    {0},
};

static int parse(program_options *o, int key, const char *text)
{
    river_options *own = o->own;

    switch (key) {
    case BALANCE:
        own->balance = true;
        return 0;
    case ROWS:
        own->rows = text;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int main(int argc, char **argv)
{
    static const program it = {
        .name = "river",
        .about = about,
        .divides = true,
        .options = options,
        .parse = parse,
        .own_bytes = sizeof(river_options),
        .mapping = river_mapping,
        .single = river_single,
        .thread = river_thread,
    };

    return program_main(&it, argc, argv);
}
