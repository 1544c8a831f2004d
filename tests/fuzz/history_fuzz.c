/* history_fuzz.c - whatever is read as a history is in order, and is the same
 * when it is written and read again; made coarser, it has as many samples. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/sensors/history_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "does not hold: %s\n", what);
    abort();
}

static uint64_t check_rows(const measure_history *h)
{
    uint64_t samples = 0;

    for (size_t i = 0; i < h->count; i++) {
        const measure_history_row *row = &h->rows[i];
        must(isfinite(row->value), "values are numbers");
        must(row->count >= 1, "a row stands for something");
        must(i == 0 || row->time_ms > h->rows[i - 1].time_ms, "times ascend");
        must((row->lasts_ms == 0) == (i >= h->first_sample),
             "samples stand behind means");
        samples += row->count;
    }
    return samples;
}

static void check_again(const measure_history *h)
{
    size_t room = 1024 + h->count * MEASURE__ROW_BYTES, used;
    measure__history_options o = {h->series, h->unit, h->interval_ms};
    char *text = malloc(room);
    measure_history *again;

    used = (size_t)measure__history_head_text(text, room, &o);
    for (size_t i = 0; i < h->count; i++)
        used += (size_t)measure__history_row_text(text + used, &h->rows[i]);
    must(measure_history_parse(&again, text, used, "again") == 0,
         "what is written is read");
    must(again->count == h->count, "all of it");
    measure_history_destroy(again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    measure_history *h;

    if (measure_history_parse(&h, (const char *)data, bytes, "fuzz.history"))
        return 0;
    uint64_t samples = check_rows(h);
    if (samples < UINT32_MAX) {
        check_again(h);
        measure__history_thin(h, 1764216000000);
        must(check_rows(h) == samples, "nothing is lost");
        check_again(h);
    }
    measure_history_destroy(h);
    return 0;
}
