/* export_sort_test.c - sorting on disk gives what sorting in memory does. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "viewer/export/export_internal.h"

typedef struct record {
    uint64_t key, number;
} record;

static int by_key(const void *left, const void *right)
{
    const record *a = left, *b = right;

    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static uint64_t noise(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Sorts `count` records with room for `capacity`, and compares with qsort. */
static void sorts(size_t count, size_t capacity)
{
    record *all = calloc(count + 1, sizeof(*all));
    viewer__sorter *sorter;
    const record *next;
    uint64_t state = 88172645463325252u;
    int err;

    cr_assert_eq(
        viewer__sorter_create(&sorter, sizeof(record), by_key, capacity), 0);
    for (size_t i = 0; i < count; i++) {
        all[i] = (record){noise(&state) % (count / 2 + 1), i};
        cr_assert_eq(viewer__sorter_add(sorter, &all[i]), 0, "%s",
                     pastset_error());
    }
    qsort(all, count, sizeof(*all), by_key);
    for (size_t i = 0; i < count; i++) {
        next = viewer__sorter_next(sorter, &err);
        cr_assert(next, "record %zu of %zu: %d", i, count, err);
        cr_assert_eq(memcmp(next, &all[i], sizeof(*next)), 0, "record %zu", i);
    }
    cr_assert_null(viewer__sorter_next(sorter, &err));
    cr_assert_eq(err, 0);
    viewer__sorter_destroy(sorter);
    free(all);
}

Test(export_sort, sorts_what_fits_into_memory, .timeout = 20)
{
    sorts(0, 10);
    sorts(1, 10);
    sorts(10, 10);
}

Test(export_sort, sorts_what_does_not, .timeout = 60)
{
    sorts(11, 10);
    sorts(20, 10);
    sorts(100000, 1000);
    sorts(300000, 65536);
}

Test(export_sort, says_where_it_has_no_room, .timeout = 20)
{
    viewer__sorter *sorter;
    record one = {1, 1};
    int err = 0;

    setenv("TMPDIR", "/nowhere/at/all", 1);
    cr_assert_eq(viewer__sorter_create(&sorter, sizeof(record), by_key, 2), 0);
    for (int i = 0; i < 3 && !err; i++)
        err = viewer__sorter_add(sorter, &one);
    cr_assert_eq(err, PASTSET_ENOENT);
    cr_assert(strstr(pastset_error(), "/nowhere/at/all"));
    cr_assert(strstr(pastset_error(), "TMPDIR"));
    viewer__sorter_destroy(sorter);
}
