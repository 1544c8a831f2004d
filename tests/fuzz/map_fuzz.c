/* map_fuzz.c - whatever is read as a path map can be checked, written, read
 * again as the same map, and instrumented. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eventspace/instrument.h"
#include "eventspace/register_collectors.h"
#include "paths/map/map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "does not hold: %s\n", what);
    abort();
}

/* The caller frees it. */
static char *text_of(const paths_map *map, size_t *bytes)
{
    char *text = NULL;
    FILE *file = open_memstream(&text, bytes);

    must(file && paths_map_write(map, file) == 0, "a map can be written");
    fclose(file);
    return text;
}

/* Writes the map and reads it again: the same map. */
static paths_map *check_again(const paths_map *map)
{
    size_t bytes;
    char *text = text_of(map, &bytes);
    paths_map *again;

    must(paths_map_parse(&again, text, bytes, "again.dot") == 0,
         "what was written can be read");
    must(paths_map_digest(again) == paths_map_digest(map),
         "the digest stays the same");
    free(text);
    return again;
}

/* What was written by us is written again in the same way. (What was not may
 * hold "x" and <x>, which cgraph takes for one string.) */
static void check_text(const paths_map *map)
{
    paths_map *again = check_again(map), *third = check_again(again);
    size_t bytes, third_bytes;
    char *text = text_of(again, &bytes);
    char *third_text = text_of(third, &third_bytes);

    must(bytes == third_bytes && memcmp(text, third_text, bytes) == 0,
         "the text stays the same");
    free(text);
    free(third_text);
    paths_map_destroy(again);
    paths_map_destroy(third);
}

static void check_instrument(const paths_map *map)
{
    eventspace_instrument_options options = {.collectors =
                                                 EVENTSPACE_ALL_COLLECTORS};
    paths_map *once, *twice;

    must(eventspace_instrument(&once, map, &options) == 0,
         "a map can be instrumented");
    must(eventspace_instrument(&twice, once, &options) == 0,
         "an instrumented map can be instrumented");
    must(paths_map_digest(once) == paths_map_digest(twice),
         "instrumenting twice gives the same as once");
    check_text(once);
    paths_map_destroy(once);
    paths_map_destroy(twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    paths_diagnostics diagnostics;
    paths_map *map;
    /* A copy of that length, so that reading behind its end is found. */
    char *text = malloc(bytes ? bytes : 1);
    int err;

    must(eventspace_register() == 0, "its wrappers and attributes are known");
    memcpy(text, data, bytes);
    err = paths_map_parse(&map, text, bytes, "fuzz.dot");
    free(text);
    if (err)
        return 0;
    (void)paths_map_check(map, &diagnostics);
    paths_diagnostics_clear(&diagnostics);
    check_text(map);
    check_instrument(map);
    paths_map_destroy(map);
    return 0;
}
