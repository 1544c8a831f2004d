/* mapping.c - the application mapping: contributors share one sum, spectators
 * read its element.
 *
 * The element keeps the last sums. Spectators wait for that of the last round,
 * which nothing comes behind, so that it is there whenever they come. */
#include <inttypes.h>

#include "apps/gsum/gsum.h"

static void element_print(const gsum_options *own, FILE *out)
{
    fprintf(out, "    total [kind=element, type=\"f64[%" PRIu64 "]\"",
            own->doubles);
    if (own->shape)
        fprintf(out, ", shape=%s", own->shape);
    if (own->fanout)
        fprintf(out, ", fanout=%s", own->fanout);
    fprintf(out, ", capacity=2];\n");
}

int gsum_mapping(const program_options *o, FILE *out)
{
    uint32_t contributors;
    int err = gsum_contributors(&contributors, o);

    if (err)
        return err;
    program_mapping_begin(out, "gsum");
    program_mapping_threads(out, o);
    element_print(o->own, out);
    for (uint32_t i = 0; i < o->threads; i++)
        fprintf(out, "    t%" PRIu32 " -> total [use=%s];\n", i,
                i < contributors ? "sum" : "read");
    program_mapping_end(out);
    return 0;
}
