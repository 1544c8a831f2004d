/* main.c - what the program `adi` is, and its own options. */
#include "apps/adi/adi.h"

static const char about[] =
    "Large faces exchanged in sweeps: the pattern of BT and SP of the NAS "
    "parallel benchmarks.\vHeat spreads in a cube, step by step in alternating "
    "directions. Threads share the planes of the grid along z. In each step "
    "they exchange whole faces with both neighbours, solve along x and y by "
    "themselves, and along z together: the elimination goes up from thread to "
    "thread, face by face, and the solution comes down.\n"
    "\n"
    "  size      S     W     A     B     C\n"
    "  cells   24^3  64^3 102^3 162^3 200^3\n"
    "  rounds    20   400   600   600  1000\n"
    "  alone    0 s   2 s  15 s 1 min 4 min\n"
    "\n"
    "Results: the highest and the lowest cell, the total heat, how much of the "
    "first wave is left and how much should be left according to this method "
    "and to the differential equation (in uniform material), and a checksum of "
    "the grid's bits. All but heat and decay are the same, bit for bit, for "
    "any number of threads; these two are sums, and differ in their last "
    "digits.";

enum keys {
    MATERIAL = PROGRAM_KEY,
    STRIPS,
};

static const struct argp_option options[] = {
    {"material", MATERIAL, "WHAT", 0,
     "The material: uniform (default) or mixed, which conducts differently in "
     "each block",
     2},
    {"strips", STRIPS, "N", 0,
     "Send each face along z in N tuples (default 4). With more of them, "
     "threads wait less for each other; with fewer, tuples are larger",
     2},
    {0},
};

static int parse(program_options *o, int key, const char *text)
{
    static const char *const materials[] = {"uniform", "mixed", NULL};
    adi_options *own = o->own;
    uint64_t strips = 0;
    int err;

    switch (key) {
    case MATERIAL:
        return program_parse_name(&own->material, "material", text, materials);
    case STRIPS:
        err = program_parse_number(&strips, "strips", text, 1, UINT32_MAX);
        own->strips = (uint32_t)strips;
        return err;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int main(int argc, char **argv)
{
    static const adi_options defaults = {.material = ADI_UNIFORM, .strips = 4};
    static const program adi = {
        .name = "adi",
        .about = about,
        .divides = true,
        .options = options,
        .parse = parse,
        .own_bytes = sizeof(defaults),
        .own_defaults = &defaults,
        .mapping = adi_mapping,
        .single = adi_single,
        .thread = adi_thread,
    };

    return program_main(&adi, argc, argv);
}
