/* division.c - see division.h. */
#include "apps/common/division.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paths/map/units.h"
#include "pastset/status.h"

static int threads_check(uint32_t rows, uint32_t threads)
{
    if (threads >= 1 && threads <= rows)
        return 0;
    return pastset_fail(PASTSET_EINVAL,
                        "%" PRIu32 " threads: there must be 1 to %" PRIu32
                        ": each needs at least one of the grid's rows",
                        threads, rows);
}

/* --- cuts --- */

static int cut_refuse(const char *cut, uint32_t rows, uint32_t threads)
{
    return pastset_fail(PASTSET_EINVAL,
                        "rows=%s: expected %" PRIu32
                        " numbers with commas between them, the rows of each "
                        "thread's part from the top, which are at least 1 "
                        "and together %" PRIu32,
                        cut, threads, rows);
}

/* All of the cut is looked at, so that it is the same for all threads. */
static int cut_share(const char *cut, uint32_t rows, uint32_t threads,
                     uint32_t number, uint32_t *first, uint32_t *count)
{
    const char *at = cut;
    uint64_t sum = 0;

    for (uint32_t i = 0; i < threads; i++) {
        char *end;
        unsigned long has = strtoul(at, &end, 10);
        bool goes_on = i + 1 < threads;
        if (*at < '0' || *at > '9' || *end != (goes_on ? ',' : 0) || has < 1 ||
            has > rows - sum)
            return cut_refuse(cut, rows, threads);
        if (i == number) {
            *first = (uint32_t)sum;
            *count = (uint32_t)has;
        }
        sum += has;
        at = end + goes_on;
    }
    return sum == rows ? 0 : cut_refuse(cut, rows, threads);
}

int division_share(const char *cut, uint32_t rows, uint32_t threads,
                   uint32_t number, uint32_t *first, uint32_t *count)
{
    uint32_t each, more;
    int err = threads_check(rows, threads);

    if (err)
        return err;
    if (cut)
        return cut_share(cut, rows, threads, number, first, count);
    each = rows / threads;
    more = rows % threads;
    *first = number * each + (number < more ? number : more);
    *count = each + (number < more);
    return 0;
}

/* --- shares --- */

/* One number up to a comma or the end; `*at` goes behind it. */
static bool share_read(double *share, const char **at)
{
    char text[64];
    size_t bytes = strcspn(*at, ",");

    if (bytes == 0 || bytes >= sizeof(text))
        return false;
    memcpy(text, *at, bytes);
    text[bytes] = '\0';
    *at += bytes;
    return paths_parse_real(text, share) == 0 && *share > 0 && isfinite(*share);
}

static bool shares_read(double *out, const char *shares, uint32_t threads)
{
    const char *at = shares;
    double sum = 0;

    for (uint32_t i = 0; i < threads; i++) {
        if (i > 0 && *at++ != ',')
            return false;
        if (!share_read(&out[i], &at))
            return false;
        sum += out[i];
    }
    for (uint32_t i = 0; i < threads; i++)
        out[i] /= sum;
    return !*at && isfinite(sum);
}

int division_shares(double **out, const char *shares, uint32_t threads)
{
    *out = calloc(threads + (size_t)1, sizeof(**out));
    if (!*out)
        return pastset_no_memory("for the shares");
    if (shares_read(*out, shares, threads))
        return 0;
    free(*out);
    *out = NULL;
    return pastset_fail(PASTSET_EINVAL,
                        "--shares=%s: expected %" PRIu32
                        " numbers above 0 with commas between them, how much "
                        "of the work each thread has",
                        shares, threads);
}

/* Ends are rounded, and no thread is left without a row. */
void division_starts(uint32_t *starts, const double *shares, uint32_t rows,
                     uint32_t threads)
{
    double above = 0, sum = 0;

    for (uint32_t i = 0; i < threads; i++)
        sum += shares[i];
    starts[0] = 0;
    for (uint32_t i = 0; i < threads; i++) {
        uint32_t last = rows - (threads - i - 1), end;
        above += shares[i];
        end = (uint32_t)(above / sum * rows + 0.5);
        end = end < starts[i] + 1 ? starts[i] + 1 : end;
        starts[i + 1] = end > last || i + 1 == threads ? last : end;
    }
}

int division_print(char **cut, const uint32_t *starts, uint32_t threads)
{
    size_t bytes;
    FILE *out = open_memstream(cut, &bytes);

    if (!out)
        return pastset_no_memory("for the rows");
    for (uint32_t i = 0; i < threads; i++)
        fprintf(out, "%s%" PRIu32, i ? "," : "", starts[i + 1] - starts[i]);
    return fclose(out) == 0 ? 0 : pastset_no_memory("for the rows");
}

static int cut_make(char **cut, const double *shares, uint32_t rows,
                    uint32_t threads)
{
    uint32_t *starts = calloc(threads + (size_t)1, sizeof(*starts));
    int err;

    if (!starts)
        return pastset_no_memory("for the rows");
    division_starts(starts, shares, rows, threads);
    err = division_print(cut, starts, threads);
    free(starts);
    return err;
}

int division_cut(char **cut, const char *shares, uint32_t rows,
                 uint32_t threads)
{
    double *parts = NULL;
    int err = threads_check(rows, threads);

    *cut = NULL;
    if (err || !shares)
        return err;
    err = division_shares(&parts, shares, threads);
    if (err)
        return err;
    err = cut_make(cut, parts, rows, threads);
    free(parts);
    return err;
}
