/* report.c - the values that a computation gives. */
#include "apps/river/river.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

/* The numbers of strips; where `sum` is a name, also that of all together. */
static const struct {
    const char *name, *sum;
    size_t at; /* in a river_strip */
    uint64_t unit;
} numbers[] = {
    {"strips_rows", NULL, offsetof(river_strip, rows), 1},
    {"strips_wet_start", "wet_start", offsetof(river_strip, wet_start), 1},
    {"strips_wet_end", "wet_end", offsetof(river_strip, wet_end), 1},
    {"strips_computing_ms", NULL, offsetof(river_strip, computing_ns), 1000000},
    {"strips_communicating_ms", NULL, offsetof(river_strip, communicating_ns),
     1000000},
};
#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

/* One number of all strips, "3812 120 0 0". */
static int number_put(const river_report *report, size_t which,
                      program_result *result)
{
    uint64_t sum = 0;
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    if (!out)
        return pastset_no_memory("for the report");
    for (uint32_t i = 0; i < report->threads; i++) {
        uint64_t value;
        memcpy(&value, (const char *)&report->strips[i] + numbers[which].at,
               sizeof(value));
        fprintf(out, "%s%" PRIu64, i ? " " : "", value / numbers[which].unit);
        sum += value;
    }
    if (fclose(out) != 0)
        return pastset_no_memory("for the report");
    if (numbers[which].sum)
        program_count(result, numbers[which].sum, sum);
    program_text(result, numbers[which].name, text);
    free(text);
    return 0;
}

int river_report_write(const river_report *report,
                       const program_options *options, program_result *result)
{
    const river *r = report->problem;
    char checksum[17];
    int err = 0;

    snprintf(checksum, sizeof(checksum), "%016" PRIx64,
             depths_checksum(r, report->cells));
    program_count(result, "columns", r->columns);
    program_count(result, "rows", r->rows);
    program_count(result, "steps", r->steps);
    program_value(result, "seconds_simulated", report->seconds);
    program_value(result, "water_start", report->water_start);
    program_value(result, "water_end", report->water_end);
    program_value(result, "water_lost_most", report->lost_max);
    for (size_t i = 0; i < NUMBERS && !err; i++)
        err = number_put(report, i, result);
    program_text(result, "checksum", checksum);
    if (!err && options->out)
        err = river_picture_write(report, options);
    return err;
}
