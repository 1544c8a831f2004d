/* golden.h - texts that are kept in files, and the maps they are made from.
 *
 * TEST_SOURCE_DIR is the folder tests. With UPDATE_GOLDEN=1 in the
 * environment the files are written anew: look at the difference then. */
#ifndef TESTS_SUPPORT_GOLDEN_H
#define TESTS_SUPPORT_GOLDEN_H

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paths/map/map.h"
#include "tests/support/check.h"

/* Borrowed until the next call. */
static inline const char *golden_file(const char *name)
{
    static char file[1024];
    snprintf(file, sizeof(file), "%s/%s", TEST_SOURCE_DIR, name);
    return file;
}

/* The caller frees it. */
static inline char *golden_text(const char *name)
{
    FILE *file = fopen(golden_file(name), "r");
    char *text = calloc(1, 1 << 20);
    cr_assert_not_null(file, "no %s", golden_file(name));
    cr_assert_lt(fread(text, 1, (1 << 20) - 1, file), (1 << 20) - 1);
    fclose(file);
    return text;
}

/* Takes the text, which is freed. */
static inline void golden_compare(char *text, const char *name)
{
    char *want;
    if (getenv("UPDATE_GOLDEN")) {
        FILE *file = fopen(golden_file(name), "w");
        cr_assert_not_null(file);
        fputs(text, file);
        fclose(file);
    }
    want = golden_text(name);
    cr_assert_str_eq(text, want, "differs from tests/%s:\n%s", name, text);
    free(want);
    free(text);
}

/* The DOT text of a map. The caller frees it. */
static inline char *map_text(const paths_map *map)
{
    char *text = NULL;
    size_t bytes;
    FILE *file = open_memstream(&text, &bytes);
    check_status(paths_map_write(map, file), 0);
    fclose(file);
    return text;
}

/* Reads a file of the folder tests; diagnostics name it without the folder. */
static inline paths_map *map_read(const char *name)
{
    char *text = golden_text(name);
    paths_map *map;
    check_status(paths_map_parse(&map, text, strlen(text), name), 0);
    free(text);
    return map;
}

static inline paths_map *map_parse(const char *text)
{
    paths_map *map;
    check_status(paths_map_parse(&map, text, strlen(text), "test.dot"), 0);
    return map;
}

#endif
