/* mapping.c - the application mapping: all threads contribute to one sum.
 *
 * The sum is made once, so that one tuple is all that the element keeps. */
#include <inttypes.h>

#include "apps/ep/ep.h"
#include "pastset/status.h"

int ep_mapping(const program_options *o, FILE *out)
{
    uint64_t blocks = ep_blocks(o->size);

    if (o->threads > blocks)
        return pastset_fail(PASTSET_EINVAL,
                            "--threads=%" PRIu32 ": size %c has %" PRIu64
                            " blocks, and each thread needs at least one",
                            o->threads, o->size, blocks);
    program_mapping_begin(out, "ep");
    program_mapping_threads(out, o);
    fprintf(out, "    sums [kind=element, type=\"" EP_SUMS_TYPE
                 "\", capacity=1];\n");
    for (uint32_t i = 0; i < o->threads; i++)
        fprintf(out, "    t%" PRIu32 " -> sums [use=sum];\n", i);
    program_mapping_end(out);
    return 0;
}
