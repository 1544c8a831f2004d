/* mapping.c - the application mapping: the border rows and the collected rows
 * of apps/common/strips.h, which says why none of these can stand still, and
 * the largest residual of all, to which each thread comes between the same
 * exchanges of borders. */
#include "apps/sor/sor.h"

#include <inttypes.h>
#include <stdlib.h>

#include "apps/common/division.h"
#include "apps/common/kept.h"
#include "apps/common/rebalance.h"
#include "apps/common/strips.h"
#include "pastset/status.h"

/* Rows move together with what would be kept of them. */
static int keeping_check(const sor_own *own)
{
    return own->commit && own->rebalances
               ? pastset_fail(PASTSET_EINVAL,
                              "--commit and --rebalance: choose one of them")
               : 0;
}

static int keeping_print(const sor *s, const program_options *options,
                         FILE *out)
{
    char *cut;
    int err = division_cut(&cut, options->shares, s->n, options->threads);

    for (uint32_t i = 0; i < options->threads && !err; i++) {
        uint32_t first, rows;
        err = division_share(cut, s->n, options->threads, i, &first, &rows);
        if (!err)
            kept_mapping(out, i, (size_t)rows * (s->n + 2) * sizeof(double));
    }
    free(cut);
    return err;
}

int sor_mapping(const program_options *options, FILE *out)
{
    const sor_own *own = options->own;
    sor s;
    int err = sor_make(&s, options);

    if (!err)
        err = keeping_check(own);
    if (err)
        return err;
    program_mapping_begin(out, "sor");
    if (own->commit)
        kept_mapping_begin(out);
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
    if (own->commit)
        err = keeping_print(&s, options, out);
    program_mapping_end(out);
    return err;
}
