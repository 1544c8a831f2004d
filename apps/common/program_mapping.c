/* program_mapping.c - what application mappings have in common. */
#include <inttypes.h>

#include "apps/common/program.h"

void program_mapping_begin(FILE *out, const char *name)
{
    fprintf(out, "digraph %s {\n", name);
}

void program_mapping_threads(FILE *out, const program_options *o)
{
    for (uint32_t i = 0; i < o->threads; i++)
        fprintf(out,
                "    t%" PRIu32 " [kind=thread, number=%" PRIu32 ", %s];\n", i,
                i, o->attributes);
}

void program_mapping_end(FILE *out)
{
    fprintf(out, "}\n");
}
