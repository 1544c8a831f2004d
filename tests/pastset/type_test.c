/* type_test.c - types of tuples, and the table of statuses. */
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/array.h"
#include "pastset/type.h"
#include "tests/support/check.h"

static pastset_type parsed(const char *text)
{
    pastset_type type;
    check_status(pastset_type_parse(&type, text), 0);
    return type;
}

static void check_refused(const char *text, const char *word)
{
    pastset_type type;
    check_status(pastset_type_parse(&type, text), PASTSET_EINVAL);
    check_error(word);
}

Test(type, fields_lie_behind_each_other_without_padding, .timeout = 120)
{
    pastset_type type = parsed("i8 f64[3] u16 i32");
    cr_assert_eq(type.field_count, 4);
    cr_assert_eq(type.max_bytes, 1 + 24 + 2 + 4);
    cr_assert_not(type.variable);
    cr_assert_eq(type.fields[1].scalar, PASTSET_F64);
    cr_assert_eq(type.fields[1].count, 3);
    cr_assert_eq(type.fields[1].offset_bytes, 1);
    cr_assert_eq(type.fields[1].bytes, 24);
    cr_assert_eq(type.fields[2].offset_bytes, 25);
    cr_assert_eq(type.fields[3].offset_bytes, 27);
    cr_assert_eq(type.fields[3].count, 1);
}

Test(type, knows_every_scalar, .timeout = 120)
{
    static const char *const names[] = {"i8",  "u8",  "i16", "u16", "i32",
                                        "u32", "i64", "u64", "f32", "f64"};
    static const uint32_t bytes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
    for (unsigned i = 0; i < 10; i++) {
        pastset_type type = parsed(names[i]);
        cr_assert_eq(type.fields[0].scalar, (pastset_scalar)i);
        cr_assert_eq(type.max_bytes, bytes[i]);
        cr_assert_eq(pastset_scalar_bytes((pastset_scalar)i), bytes[i]);
        cr_assert_str_eq(pastset_scalar_name((pastset_scalar)i), names[i]);
    }
    cr_assert_eq(pastset_scalar_bytes((pastset_scalar)10), 0);
    cr_assert_str_eq(pastset_scalar_name((pastset_scalar)99), "?");
}

Test(type, bytes_differ_in_length_up_to_their_maximum, .timeout = 120)
{
    pastset_type type = parsed("bytes[4096]");
    cr_assert(type.variable);
    cr_assert_eq(type.max_bytes, 4096);
    cr_assert_eq(type.field_count, 1);
    cr_assert_eq(type.fields[0].bytes, 4096);
}

Test(type, its_text_is_normalised_and_gives_the_same_type, .timeout = 120)
{
    pastset_type type = parsed("  i32\t f64[0128]\n u8 "), again;
    cr_assert_str_eq(type.text, "i32 f64[128] u8");
    again = parsed(type.text);
    cr_assert(pastset_type_equal(&type, &again));
    cr_assert_arr_eq(type.fields, again.fields, sizeof(type.fields));
    again = parsed("i32 f64[127] u8");
    cr_assert_not(pastset_type_equal(&type, &again));
}

Test(type, names_the_word_that_is_wrong, .timeout = 120)
{
    check_refused("", "at least one field");
    check_refused("  ", "at least one field");
    check_refused("i32 i33 u8", "\"i33\" is not one of");
    check_refused("int", "\"int\" is not one of");
    check_refused("f64 double[3]", "f64 bytes[N]; did you mean f64?");
    check_refused("uint64_t", "did you mean u64?");
    check_refused("i32 f64[0]", "f64[0]");
    check_refused("f64[", "f64[");
    check_refused("f64[]", "f64[]");
    check_refused("f64[3", "f64[3");
    check_refused("f64[-3]", "f64[-3]");
    check_refused("f64[3]u8", "f64[3]u8");
    check_refused("f64 [3]", "[3]");
    check_refused("i32,u8", "i32,u8");
    check_refused("averylongname", "averylongname");
    check_refused("bytes", "needs a maximum");
    check_refused("bytes[5] u8", "stands alone");
    check_refused("u8 bytes[5]", "stands alone");
}

Test(type, has_limits, .timeout = 120)
{
    char text[4096] = "";
    check_refused("u8[67108865]", "u8[67108865]");
    check_refused("f64[8388609]", "larger than");
    check_refused("u8[67108864] u8", "larger than");
    check_refused("u8[99999999999999999999999]", "u8[9999999");
    cr_assert_eq(parsed("u8[67108864]").max_bytes, PASTSET_TUPLE_BYTES);
    for (int i = 0; i < PASTSET_TYPE_FIELDS; i++)
        strcat(text, "u8 ");
    /* 64 times three characters, less one: just as long as a text may be. */
    cr_assert_eq(parsed(text).field_count, PASTSET_TYPE_FIELDS);
    strcat(text, "u8");
    check_refused(text, "more than 64 fields");
    text[0] = 0;
    for (int i = 0; i < 40; i++)
        strcat(text, "f64[1] ");
    check_refused(text, "longer than 191");
}

Test(status, every_code_has_its_name_and_text, .timeout = 120)
{
    cr_assert_str_eq(pastset_status_name(0), "PASTSET_OK");
    cr_assert_str_eq(pastset_status_name(PASTSET_EINVAL), "PASTSET_EINVAL");
    cr_assert_str_eq(pastset_status_name(-999), "PASTSET_UNKNOWN");
    cr_assert_str_eq(pastset_status_name(1), "PASTSET_UNKNOWN");
    for (int status = -22; status <= 0; status++) {
        cr_assert_str_neq(pastset_status_name(status), "PASTSET_UNKNOWN");
        cr_assert_str_neq(pastset_status_text(status), "an unknown error");
    }
}

Test(status, a_text_is_cut_and_never_overflows, .timeout = 120)
{
    static char lots[5000];
    memset(lots, 'x', sizeof(lots) - 1);
    check_status(pastset_fail(PASTSET_EIO, "%s", lots), PASTSET_EIO);
    cr_assert_leq(strlen(pastset_error()), 1000);
    for (int i = 0; i < 10; i++)
        check_status(pastset_fail_while(PASTSET_EIO, "%s", "front"),
                     PASTSET_EIO);
    cr_assert_leq(strlen(pastset_error()), 1000);
    cr_assert_eq(strncmp(pastset_error(), "front: front: ", 14), 0);
}

Test(status, a_cause_keeps_its_text_when_a_sentence_comes_in_front,
     .timeout = 120)
{
    pastset_fail(PASTSET_EIO, "the disk is gone");
    check_status(pastset_fail_while(PASTSET_EHOST, "writing %d", 5),
                 PASTSET_EHOST);
    cr_assert_str_eq(pastset_error(), "writing 5: the disk is gone");
    /* The text may be its own argument. */
    pastset_fail(PASTSET_EIO, "again: %s", pastset_error());
    cr_assert_str_eq(pastset_error(), "again: writing 5: the disk is gone");
}

Test(status, want_of_memory_says_what_for, .timeout = 120)
{
    check_status(pastset_no_memory("for %u processes", 3), PASTSET_ENOMEM);
    cr_assert_str_eq(pastset_error(), "no memory for 3 processes");
}

Test(array, has_room_for_the_next_power_of_two, .timeout = 120)
{
    uint64_t *items = NULL;

    for (size_t count = 0; count < 1000; count++) {
        uint64_t *grown = pastset_array_grow(items, count, sizeof(*items));
        cr_assert_not_null(grown);
        items = grown;
        items[count] = count;
    }
    for (size_t i = 0; i < 1000; i++)
        cr_assert_eq(items[i], i);
    /* It was emptied, and is filled again. */
    items = pastset_array_grow(items, 0, sizeof(*items));
    cr_assert_not_null(items);
    free(items);
    cr_assert_eq(pastset_array_room(0), 1);
    cr_assert_eq(pastset_array_room(5), 8);
    cr_assert_eq(pastset_array_room(8), 8);
}

Test(array, too_large_for_the_machine_is_no_memory, .timeout = 120)
{
    cr_assert_null(pastset_array_grow(NULL, SIZE_MAX / 2 + 1, 2));
}
