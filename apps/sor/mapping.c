/* mapping.c - the application mapping: the border rows and the collected rows
 * of apps/common/strips.h, which says why none of these can stand still, and
 * the largest residual of all, to which each thread comes between the same
 * exchanges of borders. */
#include "apps/sor/sor.h"

#include <inttypes.h>

#include "apps/common/rebalance.h"
#include "apps/common/strips.h"

int sor_mapping(const program_options *options, FILE *out)
{
    const sor_own *own = options->own;
    sor s;
    int err = sor_make(&s, options);

    if (err)
        return err;
    program_mapping_begin(out, "sor");
    err = program_mapping_divided(out, options, s.n);
    if (err)
        return err;
    err = strips_mapping(out, s.n, s.n + 2, options->threads);
    if (err)
        return err;
    fprintf(out, "    residual [kind=element, type=\"f64\"];\n");
    for (uint32_t i = 0; i < options->threads; i++)
        fprintf(out, "    t%" PRIu32 " -> residual [use=max];\n", i);
    if (own->rebalances)
        rebalance_mapping(out, options->threads);
    program_mapping_end(out);
    return 0;
}
