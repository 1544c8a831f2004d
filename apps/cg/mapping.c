/* mapping.c - the application mapping of `cg`: which threads use which
 * elements.
 *
 * All threads go through three collective elements:
 *
 *     direction   gather: each brings its block of p, and gets all of p; once
 *                 in each step, and once a round for z
 *     dot         sum: the products p.q and r.r; twice in each step, and once
 *                 before the first, and once at the beginning of the run for
 *                 the number of entries
 *     norms       sum: x.z, z.z and |x - B z|^2; once in each round
 *
 * Nobody reads their results later: a capacity of 1 is enough. There are no
 * other elements, so nobody waits for anything but all others to come to the
 * same place. */
#include "apps/cg/sparse.h"

#include <inttypes.h>

#include "pastset/status.h"

int cg_mapping(const program_options *options, FILE *out)
{
    cg_problem problem;
    int err = cg_problem_set(&problem, options);

    if (err)
        return err;
    if (options->threads == 0 || options->threads > problem.rows)
        return pastset_fail(PASTSET_EINVAL,
                            "--threads=%" PRIu32 ": size %c has %" PRIu32
                            " rows, and each thread needs at least one",
                            options->threads, options->size, problem.rows);
    program_mapping_begin(out, "cg");
    program_mapping_threads(out, options);
    fprintf(out,
            "    direction [kind=element, type=\"f64[%" PRIu64
            "]\", capacity=1];\n"
            "    dot [kind=element, type=\"f64\", capacity=1];\n"
            "    norms [kind=element, type=\"f64[3]\", capacity=1];\n",
            (uint64_t)options->threads * cg_block(&problem, options->threads));
    for (uint32_t i = 0; i < options->threads; i++)
        fprintf(out,
                "    t%" PRIu32 " -> direction [use=gather];\n"
                "    t%" PRIu32 " -> dot [use=sum];\n"
                "    t%" PRIu32 " -> norms [use=sum];\n",
                i, i, i);
    program_mapping_end(out);
    return 0;
}
