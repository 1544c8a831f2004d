/* problem.c - options of gsum, and the rounds of each size. */
#include <inttypes.h>

#include "apps/gsum/gsum.h"
#include "pastset/status.h"

enum key {
    DOUBLES = PROGRAM_KEY,
    SPECTATORS,
    COMPUTE,
    SHAPE,
    FANOUT,
};

const gsum_options gsum_defaults = {.doubles = 1};

const struct argp_option gsum_described[] = {
    {"doubles", DOUBLES, "N", 0,
     "Number of doubles that each thread contributes (default 1)", 0},
    {"spectators", SPECTATORS, "N", 0,
     "Let the last N threads only read the sums (default 0)", 0},
    {"compute", COMPUTE, "TIME", 0,
     "Compute this long before each contribution, such as 50us (default 0)", 0},
    {"shape", SHAPE, "flat|hierarchical|binomial", 0,
     "Build the tree in this shape, for mapping", PROGRAM_OF_MAPPING},
    {"fanout", FANOUT, "N", 0,
     "Give each wrapper at most N inputs, for mapping", PROGRAM_OF_MAPPING},
    {0},
};

/* The texts are for the map, whose generator reads them again. */
static int parse_shape(gsum_options *own, const char *text)
{
    static const char *const shapes[] = {"flat", "hierarchical", "binomial",
                                         NULL};
    unsigned which;

    own->shape = text;
    return program_parse_name(&which, "shape", text, shapes);
}

static int parse_fanout(gsum_options *own, const char *text)
{
    uint64_t fanout;

    own->fanout = text;
    return program_parse_number(&fanout, "fanout", text, 2, UINT32_MAX);
}

int gsum_parse(program_options *o, int key, const char *text)
{
    gsum_options *own = o->own;

    switch (key) {
    case DOUBLES:
        return program_parse_number(&own->doubles, "doubles", text, 1,
                                    GSUM_DOUBLES_MAX);
    case SPECTATORS:
        return program_parse_number(&own->spectators, "spectators", text, 0,
                                    UINT32_MAX);
    case COMPUTE:
        return program_parse_duration(&own->compute_ns, "compute", text);
    case SHAPE:
        return parse_shape(own, text);
    case FANOUT:
        return parse_fanout(own, text);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

uint32_t gsum_rounds(const program_options *o)
{
    if (o->rounds)
        return o->rounds;
    switch (o->size) {
    case 'S':
        return 200;
    case 'W':
        return 10000;
    case 'A':
        return 100000;
    case 'B':
        return 500000;
    default:
        return 2000000;
    }
}

int gsum_contributors(uint32_t *out, const program_options *o)
{
    const gsum_options *own = o->own;

    if (own->spectators >= o->threads)
        return pastset_fail(PASTSET_EINVAL,
                            "--spectators=%" PRIu64 ": at least one of %" PRIu32
                            " thread%s must contribute",
                            own->spectators, o->threads,
                            o->threads == 1 ? "" : "s");
    *out = o->threads - (uint32_t)own->spectators;
    return 0;
}

int gsum_report(const program_options *o, uint64_t checksum, program_result *r)
{
    const gsum_options *own = o->own;
    char text[17];

    snprintf(text, sizeof(text), "%016" PRIx64, checksum);
    program_count(r, "contributors", o->threads - own->spectators);
    program_count(r, "doubles", own->doubles);
    program_count(r, "rounds", gsum_rounds(o));
    return program_text(r, "checksum", text);
}
