/* mapping.c - the application mapping: which threads use which elements.
 *
 * The planes of the grid along z are shared by threads, from the lowest up.
 * Between threads i and i + 1 there are four elements, each with one writer
 * and one reader that takes the tuples out:
 *
 *   face_up_<i>, face_down_<i+1>   a whole face of the grid, once a step
 *   forward_<i>, backward_<i+1>    strips of a face: ratios c' and d' of the
 *                                  elimination, which goes up from i, and the
 *                                  solution, which comes down from i + 1; as
 *                                  many in a step as there are strips
 *
 * Strips are some rows of a face and may differ by one row, hence the type
 * without a fixed length.
 *
 * Nothing can deadlock: what goes forward goes up only, what comes backward
 * goes down only, and the last thread there waits for nobody; faces are
 * written before any is read. A capacity of 1 would be enough for that.
 * Strips have one for all of a sweep, so that nobody is ever held up for want
 * of room: the next sweep of that direction begins when the neighbour is
 * through with this one. Of faces there is never more than one.
 *
 * All threads use `highest`, `lowest`, `sums` and `checksum` together. */
#include "apps/adi/adi.h"

#include <inttypes.h>

#include "pastset/status.h"

static void faces_print(FILE *out, const char *name, uint32_t i, uint32_t cells)
{
    fprintf(out,
            "    %s_%" PRIu32 " [kind=element, type=\"f64[%" PRIu32
            "]\", capacity=1, policy=block];\n",
            name, i, cells);
}

static void strips_print(FILE *out, const char *name, uint32_t i, size_t bytes,
                         uint32_t strips)
{
    fprintf(out,
            "    %s_%" PRIu32
            " [kind=element, type=\"bytes[%zu]\", capacity=%" PRIu32
            ", policy=block];\n",
            name, i, bytes, strips);
}

static void elements_print(FILE *out, const adi_problem *p, uint32_t threads)
{
    uint64_t first, rows; /* of the first strip, which is as long as any */
    size_t bytes;

    program_share(p->side, p->strips, 0, &first, &rows);
    bytes = (size_t)rows * p->side * sizeof(double);
    for (uint32_t i = 0; i + 1 < threads; i++) {
        faces_print(out, "face_up", i, p->side * p->side);
        faces_print(out, "face_down", i + 1, p->side * p->side);
        strips_print(out, "forward", i, 2 * bytes, p->strips);
        strips_print(out, "backward", i + 1, bytes, p->strips);
    }
    fprintf(out, "    highest [kind=element, type=\"f64\"];\n"
                 "    lowest [kind=element, type=\"f64\"];\n"
                 "    sums [kind=element, type=\"f64[3]\"];\n"
                 "    checksum [kind=element, type=\"u64\"];\n");
}

static void edge_print(FILE *out, uint32_t thread, const char *element,
                       uint32_t i, const char *as, const char *use)
{
    fprintf(out, "    t%" PRIu32 " -> %s_%" PRIu32 " [as=%s, use=%s];\n",
            thread, element, i, as, use);
}

/* Of thread i, with the thread below it and with the one above. */
static void below_print(FILE *out, uint32_t i)
{
    edge_print(out, i, "face_up", i - 1, "from_below", "read");
    edge_print(out, i, "face_down", i, "to_below", "write");
    edge_print(out, i, "forward", i - 1, "forward_in", "read");
    edge_print(out, i, "backward", i, "backward_out", "write");
}

static void above_print(FILE *out, uint32_t i)
{
    edge_print(out, i, "face_up", i, "to_above", "write");
    edge_print(out, i, "face_down", i + 1, "from_above", "read");
    edge_print(out, i, "forward", i, "forward_out", "write");
    edge_print(out, i, "backward", i + 1, "backward_in", "read");
}

static void edges_print(FILE *out, uint32_t threads)
{
    for (uint32_t i = 0; i < threads; i++) {
        if (i > 0)
            below_print(out, i);
        if (i + 1 < threads)
            above_print(out, i);
        fprintf(out,
                "    t%" PRIu32 " -> highest [as=highest, use=max];\n"
                "    t%" PRIu32 " -> lowest [as=lowest, use=min];\n"
                "    t%" PRIu32 " -> sums [as=sums, use=sum];\n"
                "    t%" PRIu32 " -> checksum [as=checksum, use=sum];\n",
                i, i, i, i);
    }
}

int adi_mapping(const program_options *options, FILE *out)
{
    adi_problem problem;
    int err = adi_problem_make(&problem, options);

    if (err)
        return err;
    program_mapping_begin(out, "adi");
    err = program_mapping_divided(out, options, problem.side);
    if (err)
        return err;
    elements_print(out, &problem, options->threads);
    edges_print(out, options->threads);
    program_mapping_end(out);
    return 0;
}
