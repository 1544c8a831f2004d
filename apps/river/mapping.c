/* mapping.c - the application mapping: which threads use which elements.
 *
 * Beside the border rows and the rows that thread 0 collects
 * (apps/common/strips.h says why none of these can stand still), all threads
 * together have
 *
 *     step     the shortest time step that any strip needs
 *     water    the sum of all strips' water
 *     wet      how many cells of each strip are wet, at the start and the end
 *
 * Each thread comes to them in the same order between the same exchanges of
 * borders, so nobody waits there for somebody who waits for him elsewhere. */
#include "apps/river/river.h"

#include <inttypes.h>

#include "apps/common/strips.h"

int river_mapping(const program_options *options, FILE *out)
{
    uint32_t threads = options->threads;
    river r;
    int err = river_make(&r, options);

    if (err)
        return err;
    program_mapping_begin(out, "river");
    program_mapping_threads(out, options);
    err = strips_mapping(out, r.rows, r.columns * RIVER_CELL_VALUES, threads);
    if (err)
        return err;
    fprintf(out,
            "    step [kind=element, type=\"f64\"];\n"
            "    water [kind=element, type=\"f64\"];\n"
            "    wet [kind=element, type=\"u64[%" PRIu32 "]\"];\n",
            2 * threads);
    for (uint32_t i = 0; i < threads; i++)
        fprintf(out,
                "    t%" PRIu32 " -> step [use=min];\n"
                "    t%" PRIu32 " -> water [use=sum];\n"
                "    t%" PRIu32 " -> wet [use=gather];\n",
                i, i, i);
    program_mapping_end(out);
    return 0;
}
