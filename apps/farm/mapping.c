/* mapping.c - the application mapping: each worker has an element that the
 * master writes tasks to, and all write what they have done to one element.
 * There is one round at a time, so that nobody waits for room. */
#include <inttypes.h>

#include "apps/farm/farm.h"

int farm_mapping(const program_options *options, FILE *out)
{
    farm f;
    int err;

    farm_make(&f, options);
    err = farm_check(&f, options->threads);
    if (err)
        return err;
    program_mapping_begin(out, "farm");
    program_mapping_threads(out, options);
    fprintf(out,
            "    done [kind=element, type=\"u64[2] f64\", capacity=%" PRIu32
            ", policy=block];\n"
            "    t0 -> done [use=read];\n",
            options->threads);
    for (uint32_t i = 1; i < options->threads; i++)
        fprintf(out,
                "    tasks_%" PRIu32 " [kind=element, type=\"u64[3]\", "
                "capacity=2, policy=block];\n"
                "    t0 -> tasks_%" PRIu32 " [use=write];\n"
                "    t%" PRIu32 " -> tasks_%" PRIu32 " [as=tasks, use=read];\n"
                "    t%" PRIu32 " -> done [use=write];\n",
                i, i, i, i, i);
    program_mapping_end(out);
    return 0;
}
