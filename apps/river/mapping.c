/* mapping.c - the application mapping: which threads use which elements.
 *
 * Beside the border rows and the rows that thread 0 collects
 * (apps/common/strips.h says why none of these can stand still), all threads
 * together have
 *
 *     step     the shortest time step that any strip needs
 *     water    the sum of all strips' water
 *     strips   what each thread has to tell of its strip at the end
 *
 * Each thread comes to them in the same order between the same exchanges of
 * borders, so nobody waits there for somebody who waits for him elsewhere. */
#include "apps/river/river.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/division.h"
#include "apps/common/strips.h"
#include "pastset/status.h"

/* The cut that was asked for, which the caller frees; NULL: none was. */
static int cut_make(char **out, const program_options *options, const river *r)
{
    const river_options *own = options->own;
    uint32_t first, rows;
    int err = 0;

    *out = NULL;
    if (own->rows && (own->balance || options->shares))
        return pastset_fail(PASTSET_EINVAL,
                            "--rows says all: give neither --balanced nor "
                            "--shares with it");
    if (own->balance)
        return river_balance(out, r, options->threads, options->shares);
    if (own->rows) {
        err = division_share(own->rows, r->rows, options->threads, 0, &first,
                             &rows);
        *out = err ? NULL : strdup(own->rows);
        if (!err && !*out)
            err = pastset_no_memory("for the rows");
        return err;
    }
    return division_cut(out, options->shares, r->rows, options->threads);
}

static int threads_print(FILE *out, const program_options *options,
                         const river *r)
{
    char *cut;
    int err = cut_make(&cut, options, r);

    if (!err)
        err = program_mapping_cut(out, options, cut);
    free(cut);
    return err;
}

int river_mapping(const program_options *options, FILE *out)
{
    uint32_t threads = options->threads;
    river r;
    int err = river_make(&r, options);

    if (err)
        return err;
    program_mapping_begin(out, "river");
    err = threads_print(out, options, &r);
    if (err)
        return err;
    err = strips_mapping(out, r.rows, r.columns * RIVER_CELL_VALUES, threads);
    if (err)
        return err;
    fprintf(out,
            "    step [kind=element, type=\"f64\"];\n"
            "    water [kind=element, type=\"f64\"];\n"
            "    strips [kind=element, type=\"u64[%zu]\"];\n",
            RIVER_STRIP_VALUES * threads);
    for (uint32_t i = 0; i < threads; i++)
        fprintf(out,
                "    t%" PRIu32 " -> step [use=min];\n"
                "    t%" PRIu32 " -> water [use=sum];\n"
                "    t%" PRIu32 " -> strips [use=gather];\n",
                i, i, i);
    program_mapping_end(out);
    return 0;
}
