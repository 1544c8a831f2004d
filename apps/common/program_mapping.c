/* program_mapping.c - what application mappings have in common. */
#include <inttypes.h>

#include <stdlib.h>

#include "apps/common/division.h"
#include "apps/common/program.h"
#include "pastset/status.h"

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

int program_mapping_cut(FILE *out, const program_options *o, const char *cut)
{
    program_options more = *o;
    char *attributes;

    if (!cut) {
        program_mapping_threads(out, o);
        return 0;
    }
    if (asprintf(&attributes, "%s, " DIVISION_ATTRIBUTE "=\"%s\"",
                 o->attributes, cut) < 0)
        return pastset_no_memory("for the rows");
    more.attributes = attributes;
    program_mapping_threads(out, &more);
    free(attributes);
    return 0;
}

int program_mapping_divided(FILE *out, const program_options *o, uint32_t rows)
{
    char *cut;
    int err = division_cut(&cut, o->shares, rows, o->threads);

    if (!err)
        err = program_mapping_cut(out, o, cut);
    free(cut);
    return err;
}

void program_mapping_end(FILE *out)
{
    fprintf(out, "}\n");
}
