/* mapping.c - the application mapping: which threads use which elements.
 *
 * The rows of the grid are shared by threads from the north (j = 0) to the
 * south. Between threads i and i + 1 there are four elements, each with one
 * writer and one reader that takes the tuples out:
 *
 *   lower_<i>, upper_<i+1>     a row of one plane in the lower sweep (from i)
 *                              and in the upper sweep (from i + 1); `side` of
 *                              them in each sweep
 *   southern_<i>, northern_<i+1>   a whole face of the grid, once a round
 *
 * Nothing can deadlock: in the lower sweep tuples go to the south only, in the
 * upper sweep to the north only, and the last thread there waits for nobody;
 * faces are written before any is read. A capacity of 1 would be enough for
 * that. Rows have one for all of a sweep, so that the thread where the sweep
 * begins is never held up for want of room: the next sweep of that direction
 * begins when the neighbour is through with this one. Of faces there is never
 * more than one.
 *
 * All threads use `largest`, `total` and `checksum` together. */
#include "apps/lu/lu.h"

#include <inttypes.h>

#include "pastset/status.h"

static void element_print(FILE *out, const char *name, uint32_t i,
                          uint32_t cells, uint32_t capacity)
{
    fprintf(out,
            "    %s_%" PRIu32 " [kind=element, type=\"f64[%" PRIu32
            "]\", capacity=%" PRIu32 ", policy=block];\n",
            name, i, cells, capacity);
}

/* Between threads i and i + 1. */
static void border_print(FILE *out, const lu_problem *p, uint32_t i)
{
    uint32_t side = p->side;

    element_print(out, "lower", i, side, side);
    element_print(out, "upper", i + 1, side, side);
    element_print(out, "southern", i, side * side, 1);
    element_print(out, "northern", i + 1, side * side, 1);
}

static void elements_print(FILE *out, const lu_problem *p, uint32_t threads)
{
    for (uint32_t i = 0; i + 1 < threads; i++)
        border_print(out, p, i);
    fprintf(out, "    largest [kind=element, type=\"f64\"];\n"
                 "    total [kind=element, type=\"f64\"];\n"
                 "    checksum [kind=element, type=\"u64\"];\n");
}

static void edge_print(FILE *out, uint32_t thread, const char *element,
                       uint32_t i, const char *as, const char *use)
{
    fprintf(out, "    t%" PRIu32 " -> %s_%" PRIu32 " [as=%s, use=%s];\n",
            thread, element, i, as, use);
}

static void edges_print(FILE *out, uint32_t threads)
{
    for (uint32_t i = 0; i < threads; i++) {
        if (i > 0) {
            edge_print(out, i, "lower", i - 1, "lower_in", "read");
            edge_print(out, i, "upper", i, "upper_out", "write");
            edge_print(out, i, "southern", i - 1, "from_north", "read");
            edge_print(out, i, "northern", i, "to_north", "write");
        }
        if (i + 1 < threads) {
            edge_print(out, i, "lower", i, "lower_out", "write");
            edge_print(out, i, "upper", i + 1, "upper_in", "read");
            edge_print(out, i, "southern", i, "to_south", "write");
            edge_print(out, i, "northern", i + 1, "from_south", "read");
        }
        fprintf(out,
                "    t%" PRIu32 " -> largest [as=largest, use=max];\n"
                "    t%" PRIu32 " -> total [as=total, use=sum];\n"
                "    t%" PRIu32 " -> checksum [as=checksum, use=sum];\n",
                i, i, i);
    }
}

int lu_mapping(const program_options *options, FILE *out)
{
    lu_problem problem;
    int err = lu_problem_make(&problem, options);

    if (err)
        return err;
    if (options->threads > problem.side)
        return pastset_fail(
            PASTSET_EINVAL,
            "--threads=%" PRIu32 ": there must be 1 to %" PRIu32
            " threads: each needs at least one of the rows of size %c",
            options->threads, problem.side, options->size);
    program_mapping_begin(out, "lu");
    program_mapping_threads(out, options);
    elements_print(out, &problem, options->threads);
    edges_print(out, options->threads);
    program_mapping_end(out);
    return 0;
}
