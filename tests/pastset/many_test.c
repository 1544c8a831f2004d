/* many_test.c - reading many tuples at once. */
#include "tests/pastset/support.h"

TestSuite(many, .timeout = 120);

#define CAPACITY 32

/* Reads at most `max` from the cursor on, and checks that these come. */
static void check_many(pastset_element *element, pastset_cursor *cursor,
                       size_t max, uint64_t from, uint64_t to)
{
    uint64_t values[CAPACITY];
    size_t count;

    check_status(pastset_read_many(element, cursor, values, max, &count), 0);
    cr_assert_eq(count, to - from, "%zu tuples", count);
    cr_assert_eq(cursor->next, to);
    for (size_t i = 0; i < count; i++)
        cr_assert_eq(values[i], from + i);
}

static void check_none(pastset_element *element, pastset_cursor *cursor,
                       int status)
{
    uint64_t values[CAPACITY];
    size_t count = 99;

    check_status(pastset_read_many(element, cursor, values, CAPACITY, &count),
                 status);
    cr_assert_eq(count, 0);
}

static void follow(bool single_writer)
{
    pastset_element *element = numbers(PASTSET_DISCARD, 10, single_writer);
    pastset_cursor cursor = {0};

    check_none(element, &cursor, PASTSET_EAGAIN);
    put_range(element, 0, 7);
    check_many(element, &cursor, 3, 0, 3);
    check_many(element, &cursor, CAPACITY, 3, 7);
    check_none(element, &cursor, PASTSET_EAGAIN);
    put_range(element, 7, 16); /* around the end of the slots */
    check_many(element, &cursor, CAPACITY, 7, 16);
    put_range(element, 16, 40);
    check_many(element, &cursor, 4, 30, 34);
    cr_assert_eq(cursor.lost, 14);
    cr_assert_eq(cursor.read, 20);
    cr_assert_eq(ledger_of(element).read, 20);
    check_none(element, &(pastset_cursor){.next = 40}, PASTSET_EAGAIN);
    check_none(element, &(pastset_cursor){.next = 1ull << 60}, PASTSET_EAGAIN);
    pastset_space_close(element->space);
}

Test(many, follows_an_element_of_one_writer)
{
    follow(true);
}

Test(many, follows_an_element_of_several_writers)
{
    follow(false);
}

Test(many, ends_before_a_tuple_that_was_taken)
{
    pastset_element *element = numbers(PASTSET_GROW, 10, false);
    pastset_cursor cursor = {0};

    put_range(element, 0, 6);
    cr_assert_eq(take(element, 2), 2);
    check_many(element, &cursor, CAPACITY, 0, 2);
    check_many(element, &cursor, CAPACITY, 3, 6);
    cr_assert_eq(cursor.lost, 1);
    pastset_space_close(element->space);
}

Test(many, begins_at_first)
{
    pastset_element *element = numbers(PASTSET_GROW, 100, true);
    pastset_cursor cursor = {.next = 2};

    put_range(element, 0, 20);
    check_status(pastset_element_truncate(element, 8), 0);
    check_many(element, &cursor, CAPACITY, 8, 20);
    cr_assert_eq(cursor.lost, 6);
    check_status(pastset_element_truncate(element, UINT64_MAX), 0);
    check_none(element, &(pastset_cursor){0}, PASTSET_EAGAIN);
    pastset_space_close(element->space);
}

Test(many, reads_more_than_one_block)
{
    enum { ALL = 100000 };
    pastset_element *element = numbers(PASTSET_DISCARD, ALL, true);
    uint64_t *values = malloc(ALL * sizeof(*values));
    pastset_cursor cursor = {0};
    size_t count;

    put_range(element, 0, ALL + ALL / 2);
    check_status(pastset_read_many(element, &cursor, values, ALL, &count), 0);
    cr_assert_eq(count, ALL);
    cr_assert_eq(cursor.lost, ALL / 2);
    for (size_t i = 0; i < ALL; i++)
        cr_assert_eq(values[i], ALL / 2 + i);
    free(values);
    pastset_space_close(element->space);
}

Test(many, wants_tuples_of_one_length_and_an_element_that_is_there)
{
    pastset_space *space = space_make(NULL);
    pastset_element *element =
        element_make(space, "texts", "bytes[16]", PASTSET_GROW, 10, false);

    check_none(element, &(pastset_cursor){0}, PASTSET_ENOTSUP);
    check_error("texts");
    element = element_make(space, "gone", "u64", PASTSET_GROW, 10, true);
    put_range(element, 0, 3);
    check_status(pastset_element_delete(element), 0);
    check_none(element, &(pastset_cursor){0}, PASTSET_EDELETED);
    pastset_space_close(space);
}

/* --- files --- */

Test(many, reads_a_file_while_it_grows)
{
    const char *path = space_path("many");
    pastset_space *space = space_make(path), *opened;
    pastset_element *element =
        element_make(space, "numbers", "u64", PASTSET_GROW, 1000000, true);
    pastset_cursor cursor = {0};
    uint64_t values[1000], sum = 0;
    size_t count;

    put_range(element, 0, 5);
    check_status(pastset_space_open(&opened, path), 0);
    element = pastset_space_find(opened, "numbers");
    check_many(element, &cursor, CAPACITY, 0, 5);
    put_range(pastset_space_find(space, "numbers"), 5, 300000);
    while (pastset_read_many(element, &cursor, values, 1000, &count) == 0)
        sum += count;
    cr_assert_eq(sum, 299995);
    cr_assert_eq(cursor.next, 300000);
    cr_assert_eq(cursor.lost, 0);
    pastset_space_close(opened);
    pastset_space_close(space);
    unlink(path);
}

/* The slots of tuples 1001 + 700 to 1001 + 999 are cut off; those behind them
 * are at the beginning of the slots. */
Test(many, passes_over_what_a_cut_file_lacks)
{
    const char *path = space_path("cut");
    pastset_space *space = space_make(path), *opened;
    pastset_element *element =
        element_make(space, "numbers", "u64", PASTSET_DISCARD, 1000, true);
    uint64_t cut = element->header->data_offset + 700 * 8;
    pastset_cursor cursor = {.next = 1001 + 690};
    uint64_t values[1001];
    size_t count;

    put_range(element, 0, 2500);
    pastset_space_close(space);
    cr_assert_eq(truncate(path, (off_t)cut), 0);
    check_status(pastset_space_open(&opened, path), 0);
    element = pastset_space_find(opened, "numbers");
    check_status(pastset_read_many(element, &cursor, values, 1000, &count), 0);
    cr_assert_eq(count, 10);
    cr_assert_eq(values[9], 1001 + 699);
    check_none(element, &cursor, PASTSET_EFORMAT);
    check_error("1701 to 2001");
    cr_assert_eq(cursor.lost, 301);
    check_status(pastset_read_many(element, &cursor, values, 1000, &count), 0);
    cr_assert_eq(count, 498);
    cr_assert_eq(values[0], 2002);
    check_none(element, &cursor, PASTSET_EAGAIN);
    pastset_space_close(opened);
    unlink(path);
}
