/* report.c - the values that a computation gives. */
#include "apps/river/river.h"

#include <inttypes.h>
#include <stdlib.h>

#include "pastset/status.h"

/* FNV-1a, 64 bits, of the bytes of all depths, row by row. */
static uint64_t depths_checksum(const river *r, const river_cell *cells)
{
    size_t count = (size_t)r->rows * r->columns;
    uint64_t hash = 0xcbf29ce484222325u;

    for (size_t i = 0; i < count; i++) {
        const unsigned char *bytes = (const unsigned char *)&cells[i].depth;
        for (size_t b = 0; b < sizeof(double); b++)
            hash = (hash ^ bytes[b]) * 0x100000001b3u;
    }
    return hash;
}

/* The sum of the wet cells of all strips, and "3812 120 0 0". `at_end` is 0
 * or 1. */
static int wet_put(const river_report *report, unsigned at_end,
                   program_result *result)
{
    uint64_t sum = 0;
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    if (!out)
        return pastset_no_memory("for the report");
    for (uint32_t i = 0; i < report->threads; i++) {
        uint64_t wet = report->wet[2 * i + at_end];
        fprintf(out, "%s%" PRIu64, i ? " " : "", wet);
        sum += wet;
    }
    if (fclose(out) != 0)
        return pastset_no_memory("for the report");
    program_count(result, at_end ? "wet_end" : "wet_start", sum);
    program_text(result, at_end ? "strips_wet_end" : "strips_wet_start", text);
    free(text);
    return 0;
}

int river_report_write(const river_report *report,
                       const program_options *options, program_result *result)
{
    const river *r = report->problem;
    char checksum[17];
    int err;

    snprintf(checksum, sizeof(checksum), "%016" PRIx64,
             depths_checksum(r, report->cells));
    program_count(result, "columns", r->columns);
    program_count(result, "rows", r->rows);
    program_count(result, "steps", r->steps);
    program_value(result, "seconds_simulated", report->seconds);
    program_value(result, "water_start", report->water_start);
    program_value(result, "water_end", report->water_end);
    program_value(result, "water_lost_most", report->lost_max);
    err = wet_put(report, 0, result);
    if (!err)
        err = wet_put(report, 1, result);
    program_text(result, "checksum", checksum);
    if (!err && options->out)
        err = river_picture_write(r, report->cells, options);
    return err;
}
