/* mapping.c - the application mapping: which threads use which elements.
 *
 * Thread i stands between threads i - 1 above and i + 1 below. It gives its
 * first row to the one above by element up_<i>, and its last row to the one
 * below by down_<i>. These elements have one writer and one reader each.
 *
 * They are of policy `block`, and read by observing, which takes a tuple out.
 * Neighbours can be only one step apart: nobody writes step s + 1 before he
 * has read what his neighbour wrote in step s, and before that the neighbour
 * had read step s - 1. So there are never more than two tuples in an element,
 * a capacity of 2 never makes a writer wait, and nothing can be lost, while
 * with `discard` that would rest on the speed of the readers. */
#include "apps/windtunnel/windtunnel.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/common/division.h"
#include "apps/common/kept.h"
#include "pastset/status.h"
#include "pastset/type.h"

#define BORDER_CAPACITY 2

static void thread_print(const lattice_tunnel *tunnel, const char *cut,
                         uint32_t commit, uint32_t i)
{
    printf("    " WINDTUNNEL_THREAD " [kind=thread, number=%" PRIu32
           ", " WINDTUNNEL_SIZE_ATTRIBUTE "=\"%" PRIu32 "x%" PRIu32 "\"",
           i, i, tunnel->width, tunnel->height);
    if (cut)
        printf(", " DIVISION_ATTRIBUTE "=\"%s\"", cut);
    if (commit)
        printf(", " WINDTUNNEL_COMMIT_ATTRIBUTE "=%" PRIu32, commit);
    printf("];\n");
}

static void border_print(const lattice_tunnel *tunnel, const char *name,
                         uint32_t i)
{
    printf("    %s_%" PRIu32 " [kind=element, type=\"u64[%zu]\", capacity=%d, "
           "policy=block];\n",
           name, i, lattice_border_words(tunnel), BORDER_CAPACITY);
}

static void nodes_print(const lattice_tunnel *tunnel, const char *cut,
                        const windtunnel_options *options, size_t result_bytes)
{
    uint32_t threads = options->threads;

    for (uint32_t i = 0; i < threads; i++)
        thread_print(tunnel, cut, options->commit, i);
    for (uint32_t i = 0; i < threads; i++) {
        if (i > 0)
            border_print(tunnel, "up", i);
        if (i + 1 < threads)
            border_print(tunnel, "down", i);
    }
    printf("    results [kind=element, type=\"bytes[%zu]\", capacity=%" PRIu32
           ", policy=block];\n",
           result_bytes, threads);
}

static void edges_print(uint32_t threads)
{
    for (uint32_t i = 0; i < threads; i++) {
        if (i > 0)
            printf("    " WINDTUNNEL_THREAD " -> up_%" PRIu32
                   " [as=to_above, use=write];\n",
                   i, i);
        if (i + 1 < threads)
            printf("    " WINDTUNNEL_THREAD " -> down_%" PRIu32
                   " [as=to_below, use=write];\n",
                   i, i);
        if (i > 0)
            printf("    " WINDTUNNEL_THREAD " -> down_%" PRIu32
                   " [as=from_above, use=read];\n",
                   i, i - 1);
        if (i + 1 < threads)
            printf("    " WINDTUNNEL_THREAD " -> up_%" PRIu32
                   " [as=from_below, use=read];\n",
                   i, i + 1);
        printf("    " WINDTUNNEL_THREAD
               " -> results [as=results, use=write];\n",
               i);
    }
    printf("    t0 -> results [as=all_results, use=read];\n");
}

/* The rows of the largest slice. */
static int rows_max(uint32_t *out, const char *cut, uint32_t rows,
                    uint32_t threads)
{
    *out = 0;
    for (uint32_t i = 0; i < threads; i++) {
        uint32_t first, count;
        int err = division_share(cut, rows, threads, i, &first, &count);
        if (err)
            return err;
        *out = count > *out ? count : *out;
    }
    return 0;
}

/* Neighbours are a step apart at most, so all are within as many steps as there
 * are threads. */
static int commit_check(const windtunnel_options *options)
{
    return options->commit && options->commit < options->threads
               ? pastset_fail(PASTSET_EINVAL,
                              "--commit=%" PRIu32 ": expected at least %" PRIu32
                              ", the number of threads",
                              options->commit, options->threads)
               : 0;
}

/* What each thread keeps is its result. */
static int keeping_print(const lattice_tunnel *tunnel, const char *cut,
                         uint32_t threads)
{
    int err = 0;

    for (uint32_t i = 0; i < threads && !err; i++) {
        uint32_t first, rows;
        err = division_share(cut, tunnel->height, threads, i, &first, &rows);
        if (!err)
            kept_mapping(stdout, i, lattice_result_bytes(tunnel, rows));
    }
    return err;
}

static int mapping_print(const lattice_tunnel *tunnel, const char *cut,
                         const windtunnel_options *options)
{
    uint32_t threads = options->threads;
    size_t result_bytes;
    uint32_t rows;
    int err = rows_max(&rows, cut, tunnel->height, threads);

    if (!err)
        err = commit_check(options);
    if (err)
        return err;
    result_bytes =
        lattice_result_bytes(tunnel, rows) + sizeof(windtunnel_times);
    if (result_bytes > PASTSET_TUPLE_BYTES)
        return pastset_fail(PASTSET_EINVAL,
                            "the result of a thread would have %zu bytes, but "
                            "a tuple holds at most %u: use more threads",
                            result_bytes, PASTSET_TUPLE_BYTES);
    printf("digraph windtunnel {\n");
    if (options->commit)
        kept_mapping_begin(stdout);
    nodes_print(tunnel, cut, options, result_bytes);
    edges_print(threads);
    if (options->commit)
        err = keeping_print(tunnel, cut, threads);
    printf("}\n");
    if (err)
        return err;
    if (fflush(stdout) != 0 || ferror(stdout))
        return pastset_fail(PASTSET_EIO, "standard output: cannot write");
    return 0;
}

int windtunnel_mapping(const windtunnel_options *options)
{
    lattice_tunnel tunnel;
    char *cut = NULL;
    int err = windtunnel_tunnel(&tunnel, options, WINDTUNNEL_WIDTH,
                                WINDTUNNEL_HEIGHT);

    if (!err)
        err = division_cut(&cut, options->shares, tunnel.height,
                           options->threads);
    if (!err)
        err = mapping_print(&tunnel, cut, options);
    free(cut);
    return err;
}
