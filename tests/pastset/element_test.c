/* element_test.c - one thread and one element: what each call gives. */
#include "support.h"
#include "pastset/element_internal.h"

static void refused(const pastset_element_options *options, int status,
                    const char *word)
{
    pastset_space *space = space_make(NULL);
    pastset_element *element;
    check_status(pastset_element_create(&element, space, options), status);
    cr_assert_null(element);
    check_error(word);
    cr_assert_eq(pastset_space_count(space), 0);
    pastset_space_close(space);
}

/* --- making --- */

Test(element, refuses_zero_capacity, .timeout = 120)
{
    pastset_type type = type_make("u8");
    pastset_element_options options = {.name = "a", .type = &type};
    refused(&options, PASTSET_EINVAL, "zero");
}

Test(element, refuses_to_have_no_name_or_too_long_a_one, .timeout = 120)
{
    pastset_type type = type_make("u8");
    pastset_element_options options = {.type = &type, .capacity = 1};
    char name[PASTSET_NAME_BYTES + 1];
    refused(&options, PASTSET_EINVAL, "name");
    options.name = "";
    refused(&options, PASTSET_EINVAL, "name");
    memset(name, 'n', sizeof(name));
    name[PASTSET_NAME_BYTES] = 0;
    options.name = name;
    refused(&options, PASTSET_EINVAL, "longer than 127");
}

Test(element, refuses_to_have_no_type, .timeout = 120)
{
    pastset_type type = {.field_count = 0};
    pastset_element_options options = {.name = "a", .capacity = 1};
    refused(&options, PASTSET_EINVAL, "\"a\" needs a type");
    options.type = &type;
    refused(&options, PASTSET_EINVAL, "needs a type");
}

Test(element, refuses_a_policy_that_is_none, .timeout = 120)
{
    pastset_type type = type_make("u8");
    pastset_element_options options = {
        .name = "a", .type = &type, .capacity = 1, .policy = (pastset_policy)3};
    refused(&options, PASTSET_EINVAL, "unknown policy 3");
}

Test(element, has_a_policy_with_a_name, .timeout = 120)
{
    pastset_policy policy = PASTSET_BLOCK;

    for (int i = PASTSET_BLOCK; i <= PASTSET_GROW; i++) {
        check_status(pastset_policy_parse(
                         &policy, pastset_policy_name((pastset_policy)i)),
                     0);
        cr_assert_eq(policy, (pastset_policy)i);
    }
    check_status(pastset_policy_parse(&policy, "lose"), PASTSET_EINVAL);
    check_error("choose grow, discard or block");
    cr_assert_eq(policy, PASTSET_GROW);
    cr_assert_str_eq(pastset_policy_name((pastset_policy)7), "?");
}

Test(element, tells_what_it_is, .timeout = 120)
{
    char name[PASTSET_NAME_BYTES];
    pastset_space *space = space_make(NULL);
    pastset_element *e;
    memset(name, 'n', sizeof(name));
    name[PASTSET_NAME_BYTES - 1] = 0;
    e = element_make(space, name, "i32  f64[2]", PASTSET_GROW, 7, false);
    cr_assert_str_eq(pastset_element_name(e), name);
    cr_assert_str_eq(pastset_element_type(e)->text, "i32 f64[2]");
    cr_assert_eq(pastset_element_policy(e), PASTSET_GROW);
    cr_assert_eq(pastset_element_capacity(e), 7);
    pastset_space_close(space);
}

Test(element, prefault_changes_nothing_but_the_time, .timeout = 120)
{
    const char *path = space_path("prefault");
    pastset_type type = type_make("u64");
    for (int policy = PASTSET_BLOCK; policy <= PASTSET_GROW; policy++) {
        pastset_space *space = space_make(policy % 2 ? path : NULL);
        pastset_element_options options = {.name = "a",
                                           .type = &type,
                                           .policy = (pastset_policy)policy,
                                           .capacity = 30000,
                                           .single_writer = policy > 0,
                                           .prefault = true};
        pastset_element *e;
        check_status(pastset_element_create(&e, space, &options), 0);
        put_range(e, 0, 30000);
        cr_assert_eq(get(e, 29999), 29999);
        pastset_space_close(space);
    }
    unlink(path);
}

/* --- writing and the policies; both layouts of slots --- */

static void check_block(bool single_writer)
{
    pastset_element *e = numbers(PASTSET_BLOCK, 3, single_writer);
    uint64_t index = 99, value = 3;
    put_range(e, 0, 3);
    check_status(put(e, 3), PASTSET_EAGAIN);
    check_error("\"numbers\": write would have to wait");
    cr_assert_eq(observe(e), 0);
    check_status(pastset_write(e, &value, 8, PASTSET_NOWAIT, &index), 0);
    cr_assert_eq(index, 3);
    check_status(put(e, 4), PASTSET_EAGAIN);
    cr_assert_eq(ledger_of(e).present, 3);
    cr_assert_eq(ledger_of(e).refused, 0);
    pastset_space_close(e->space);
}

Test(element, of_policy_block_holds_its_capacity_and_no_more, .timeout = 120)
{
    check_block(false);
    check_block(true);
}

static void check_discard(bool single_writer)
{
    pastset_element *e = numbers(PASTSET_DISCARD, 3, single_writer);
    put_range(e, 0, 10);
    cr_assert_eq(get(e, 6), PASTSET_EEXPIRED);
    check_error("tuple 6 was dropped before it was read; the oldest is 7");
    for (uint64_t i = 7; i < 10; i++)
        cr_assert_eq(get(e, i), (int64_t)i);
    cr_assert_eq(ledger_of(e).dropped, 7);
    cr_assert_eq(ledger_of(e).present, 3);
    cr_assert_eq(ledger_of(e).first, 7);
    cr_assert_eq(observe(e), 7);
    put_range(e, 10, 12);
    cr_assert_eq(ledger_of(e).dropped, 8);
    cr_assert_eq(ledger_of(e).consumed, 1);
    pastset_space_close(e->space);
}

Test(element, of_policy_discard_drops_the_oldest_and_counts_it, .timeout = 120)
{
    check_discard(false);
    check_discard(true);
}

static void check_grow(bool single_writer, const char *path)
{
    pastset_space *space = space_make(path);
    pastset_element *e =
        element_make(space, "g", "u64[8]", PASTSET_GROW, 10000, single_writer);
    uint64_t tuple[8] = {0};
    size_t bytes = sizeof(tuple);
    for (tuple[7] = 0; tuple[7] < 10000; tuple[7]++)
        check_status(pastset_write(e, tuple, 64, PASTSET_FOREVER, NULL), 0);
    check_status(pastset_write(e, tuple, 64, PASTSET_FOREVER, NULL),
                 PASTSET_EFULL);
    check_error("grown to its limit of 10000");
    cr_assert_eq(ledger_of(e).refused, 1);
    /* Room that became free is used again, all around. */
    for (uint64_t i = 0; i < 25000; i++) {
        check_status(pastset_observe(e, tuple, &bytes, 0, NULL), 0);
        cr_assert_eq(tuple[7], i);
        tuple[7] = i + 10000;
        check_status(pastset_write(e, tuple, 64, 0, NULL), 0);
    }
    cr_assert_eq(ledger_of(e).present, 10000);
    pastset_space_close(space);
}

Test(element, of_policy_grow_takes_memory_up_to_its_limit, .timeout = 120)
{
    check_grow(false, NULL);
    check_grow(true, NULL);
    check_grow(false, space_path("grow"));
    check_grow(true, space_path("grow"));
    unlink(space_path("grow"));
}

Test(element, of_policy_grow_takes_disk_only_as_it_grows, .timeout = 120)
{
    const char *path = space_path("sparse");
    pastset_space_options options = {.path = path, .max_elements = 512};
    pastset_space *space;
    FILE *file;
    check_status(pastset_space_create(&space, &options), 0);
    put(element_make(space, "g", "u64", PASTSET_GROW, 1u << 30, false), 1);
    file = fopen(path, "r");
    fseek(file, 0, SEEK_END);
    cr_assert_lt(ftell(file), 100000);
    fclose(file);
    pastset_space_close(space);
    unlink(path);
}

Test(element, refuses_a_tuple_of_another_length, .timeout = 120)
{
    pastset_space *space = space_make(NULL);
    pastset_element *e =
        element_make(space, "f", "i32 u8", PASTSET_BLOCK, 3, false);
    pastset_element *v =
        element_make(space, "v", "bytes[4]", PASTSET_BLOCK, 3, false);
    check_status(pastset_write(e, "123456", 4, 0, NULL), PASTSET_ETYPE);
    check_error("type \"i32 u8\": a tuple of 4 bytes does not fit");
    check_status(pastset_write(e, "123456", 6, 0, NULL), PASTSET_ETYPE);
    check_status(pastset_write(v, "123456", 5, 0, NULL), PASTSET_ETYPE);
    check_status(pastset_write(v, "123456", 4, 0, NULL), 0);
    check_status(pastset_write(v, NULL, 0, 0, NULL), 0);
    pastset_space_close(space);
}

/* --- reading --- */

Test(element, reads_by_index_first_and_last_without_consuming, .timeout = 120)
{
    for (int one = 0; one < 2; one++) {
        pastset_element *e = numbers(PASTSET_BLOCK, 9, one);
        uint64_t value, index;
        size_t bytes = 8;
        check_status(pastset_read_first(e, &value, &bytes, 0, &index),
                     PASTSET_EAGAIN);
        check_status(pastset_read_last(e, &value, &bytes, 0, &index),
                     PASTSET_EAGAIN);
        put_range(e, 0, 5);
        cr_assert_eq(get(e, 4), 4);
        cr_assert_eq(get(e, 5), PASTSET_EAGAIN);
        check_status(pastset_read_first(e, &value, &bytes, 0, &index), 0);
        cr_assert(value == 0 && index == 0);
        check_status(pastset_read_last(e, &value, &bytes, 0, &index), 0);
        cr_assert(value == 4 && index == 4);
        cr_assert_eq(observe(e), 0);
        check_status(pastset_read_first(e, &value, &bytes, 0, &index), 0);
        cr_assert(value == 1 && index == 1);
        cr_assert_eq(ledger_of(e).read, 4);
        cr_assert_eq(ledger_of(e).present, 4);
        pastset_space_close(e->space);
    }
}

Test(element, says_expired_of_what_was_consumed, .timeout = 120)
{
    pastset_element *e = numbers(PASTSET_BLOCK, 9, false);
    put_range(e, 0, 5);
    cr_assert_eq(observe(e), 0);
    cr_assert_eq(take(e, 3), 3);
    cr_assert_eq(get(e, 0), PASTSET_EEXPIRED);
    cr_assert_eq(get(e, 3), PASTSET_EEXPIRED);
    cr_assert_eq(get(e, 4), 4);
    pastset_space_close(e->space);
}

Test(element, reads_the_newest_that_was_not_taken, .timeout = 120)
{
    pastset_element *e = numbers(PASTSET_BLOCK, 9, false);
    uint64_t value, index;
    size_t bytes = 8;
    put_range(e, 0, 4);
    cr_assert_eq(take(e, 3), 3);
    cr_assert_eq(take(e, 2), 2);
    check_status(pastset_read_last(e, &value, &bytes, 0, &index), 0);
    cr_assert_eq(index, 1);
    cr_assert_eq(observe(e), 0);
    cr_assert_eq(observe(e), 1);
    check_status(pastset_read_last(e, &value, &bytes, 0, &index),
                 PASTSET_EAGAIN);
    cr_assert_eq(ledger_of(e).first, 4);
    pastset_space_close(e->space);
}

Test(element, gives_the_length_of_each_tuple_and_asks_for_room, .timeout = 120)
{
    pastset_space *space = space_make(NULL);
    pastset_element *e =
        element_make(space, "v", "bytes[100]", PASTSET_BLOCK, 9, true);
    char text[100];
    size_t bytes = sizeof(text);
    cr_assert_null(pastset_element_appender(e));
    for (size_t i = 0; i < 5; i++)
        check_status(pastset_write(e, "0123456789", i, 0, NULL), 0);
    check_status(pastset_read(e, 3, text, &bytes, 0), 0);
    cr_assert_eq(bytes, 3);
    cr_assert_arr_eq(text, "012", 3);
    bytes = 3;
    check_status(pastset_read(e, 4, text, &bytes, 0), PASTSET_EROOM);
    check_error("a tuple of 4 bytes, but room for 3");
    bytes = 0;
    check_status(pastset_read(e, 0, NULL, &bytes, 0), 0);
    /* What there was no room for is not consumed. */
    bytes = sizeof(text);
    check_status(pastset_element_truncate(e, 4), 0);
    bytes = 2;
    check_status(pastset_observe(e, text, &bytes, 0, NULL), PASTSET_EROOM);
    bytes = 4;
    check_status(pastset_observe(e, text, &bytes, 0, NULL), 0);
    cr_assert_eq(bytes, 4);
    pastset_space_close(space);
}

static void *no_room(pastset_request *request, size_t bytes)
{
    (void)request;
    return bytes > 3 ? NULL : request->tuple;
}

Test(element, asks_the_request_for_room_when_the_length_is_known,
     .timeout = 120)
{
    pastset_space *space = space_make(NULL);
    pastset_element *e =
        element_make(space, "v", "bytes[100]", PASTSET_BLOCK, 9, false);
    char text[4] = "";
    pastset_request request = {.verb = PASTSET_READ,
                               .nowait = true,
                               .tuple = text,
                               .capacity = no_room};
    check_status(pastset_write(e, "abc", 3, 0, NULL), 0);
    check_status(pastset_write(e, "abcd", 4, 0, NULL), 0);
    check_status(pastset_submit(e, &request), 0);
    cr_assert_str_eq(text, "abc");
    request.index = 1;
    check_status(pastset_submit(e, &request), PASTSET_EROOM);
    pastset_space_close(space);
}

/* --- cursors --- */

static void check_cursor(bool single_writer)
{
    pastset_element *e = numbers(PASTSET_DISCARD, 4, single_writer);
    pastset_cursor a = {0}, b = {0};
    uint64_t value;
    size_t bytes = 8;
    put_range(e, 0, 3);
    for (uint64_t i = 0; i < 3; i++) {
        check_status(pastset_read_next(e, &a, &value, &bytes, 0), 0);
        cr_assert_eq(value, i);
    }
    check_status(pastset_read_next(e, &a, &value, &bytes, 0), PASTSET_EAGAIN);
    put_range(e, 3, 12);
    check_status(pastset_read_next(e, &a, &value, &bytes, 0), 0);
    cr_assert_eq(value, 8);
    cr_assert(a.read == 4 && a.lost == 5 && a.next == 9);
    check_status(pastset_read_next(e, &b, &value, &bytes, 0), 0);
    cr_assert(value == 8 && b.read == 1 && b.lost == 8 && b.next == 9);
    cr_assert_eq(observe(e), 8);
    cr_assert_eq(observe(e), 9);
    check_status(pastset_read_next(e, &b, &value, &bytes, 0), 0);
    cr_assert(value == 10 && b.read == 2 && b.lost == 9);
    bytes = 7; /* too little room moves nothing */
    check_status(pastset_read_next(e, &b, &value, &bytes, 0), PASTSET_EROOM);
    cr_assert(b.next == 11 && b.read == 2 && b.lost == 9);
    pastset_space_close(e->space);
}

Test(element, has_cursors_that_count_what_they_read_and_lost, .timeout = 120)
{
    check_cursor(false);
    check_cursor(true);
}

Test(element, a_cursor_goes_past_what_was_taken, .timeout = 120)
{
    pastset_element *e = numbers(PASTSET_BLOCK, 9, false);
    pastset_cursor c = {.next = 2};
    uint64_t value;
    size_t bytes = 8;
    put_range(e, 0, 6);
    take(e, 3);
    take(e, 4);
    check_status(pastset_read_next(e, &c, &value, &bytes, 0), 0);
    check_status(pastset_read_next(e, &c, &value, &bytes, 0), 0);
    cr_assert(value == 5 && c.lost == 2 && c.read == 2 && c.next == 6);
    pastset_space_close(e->space);
}

/* --- matching --- */

typedef struct __attribute__((packed)) row {
    int32_t kind;
    double place[2];
    uint8_t colour;
} row;

static pastset_element *rows(pastset_space *space, bool single_writer)
{
    pastset_element *e = element_make(space, "rows", "i32 f64[2] u8",
                                      PASTSET_BLOCK, 99, single_writer);
    for (int i = 0; i < 12; i++) {
        row r = {i % 3, {i % 4, 0.5}, (uint8_t)(i % 2)};
        check_status(pastset_write(e, &r, sizeof(r), 0, NULL), 0);
    }
    return e;
}

Test(element, matches_on_those_fields_that_are_asked_for, .timeout = 120)
{
    for (int one = 0; one < 2; one++) {
        pastset_space *space = space_make(NULL);
        pastset_element *e = rows(space, one);
        row wanted = {2, {1, 0.5}, 1}, got;
        pastset_pattern p = {.values = &wanted};
        static const uint64_t fields[] = {0, 1, 2, 4, 5, 7, ~7ull};
        static const uint64_t first[] = {0, 2, 1, 1, 5, 5, 0};
        for (int i = 0; i < 7; i++) {
            size_t bytes = sizeof(got);
            uint64_t index;
            p.fields = fields[i];
            check_status(pastset_read_match(e, &p, &got, &bytes, 0, &index), 0);
            cr_assert_eq(index, first[i], "fields %lx gave %lu", fields[i],
                         index);
        }
        wanted.colour = 7;
        p.fields = 4;
        {
            size_t bytes = sizeof(got);
            check_status(pastset_read_match(e, &p, &got, &bytes, 0, NULL),
                         PASTSET_EAGAIN);
        }
        pastset_space_close(space);
    }
}

Test(element, matches_whole_tuples_of_bytes, .timeout = 120)
{
    pastset_space *space = space_make(NULL);
    pastset_element *e =
        element_make(space, "v", "bytes[10]", PASTSET_BLOCK, 9, false);
    pastset_pattern p = {.fields = 1, .values = "bab", .bytes = 2};
    char got[10];
    size_t bytes = sizeof(got);
    uint64_t index;
    check_status(pastset_write(e, "b", 1, 0, NULL), 0);
    check_status(pastset_write(e, "bab", 3, 0, NULL), 0);
    check_status(pastset_write(e, "ba", 2, 0, NULL), 0);
    check_status(pastset_take(e, &p, got, &bytes, 0, &index), 0);
    cr_assert(index == 2 && bytes == 2);
    bytes = sizeof(got);
    p.bytes = 0;
    check_status(pastset_take(e, &p, got, &bytes, 0, &index), PASTSET_EAGAIN);
    pastset_space_close(space);
}

Test(element, takes_the_oldest_that_matches_and_leaves_the_others,
     .timeout = 120)
{
    pastset_space *space = space_make(NULL);
    pastset_element *e = rows(space, false);
    row wanted = {.kind = 1}, got;
    pastset_pattern p = {.fields = 1, .values = &wanted};
    for (uint64_t i = 1; i < 12; i += 3) {
        size_t bytes = sizeof(got);
        uint64_t index;
        check_status(pastset_take(e, &p, &got, &bytes, 0, &index), 0);
        cr_assert_eq(index, i);
    }
    cr_assert_eq(ledger_of(e).present, 8);
    cr_assert_eq(ledger_of(e).first, 0);
    for (uint64_t i = 0; i < 12; i++) {
        size_t bytes = sizeof(got);
        uint64_t index;
        if (i % 3 == 1)
            continue;
        check_status(pastset_take(e, NULL, &got, &bytes, 0, &index), 0);
        cr_assert_eq(index, i);
    }
    cr_assert_eq(ledger_of(e).present, 0);
    cr_assert_eq(ledger_of(e).first, 12);
    pastset_space_close(space);
}

Test(element, with_one_writer_takes_only_without_a_pattern, .timeout = 120)
{
    pastset_element *e = numbers(PASTSET_BLOCK, 9, true);
    uint64_t value;
    size_t bytes = 8;
    put_range(e, 5, 7);
    cr_assert_eq(take(e, 5), PASTSET_ENOTSUP);
    check_status(pastset_take(e, NULL, &value, &bytes, 0, NULL), 0);
    cr_assert_eq(value, 5);
    pastset_space_close(e->space);
}

Test(element, an_observe_looks_at_no_pattern, .timeout = 120)
{
    for (int one = 0; one < 2; one++) {
        pastset_element *e = numbers(PASTSET_BLOCK, 9, one);
        uint64_t wanted = 2, value;
        pastset_pattern p = {.fields = 1, .values = &wanted};
        pastset_request request = {.verb = PASTSET_OBSERVE,
                                   .nowait = true,
                                   .tuple = &value,
                                   .bytes = 8,
                                   .pattern = &p};
        put_range(e, 0, 4);
        check_status(pastset_submit(e, &request), 0);
        cr_assert_eq(value, 0);
        cr_assert_eq(ledger_of(e).consumed, 1);
        pastset_space_close(e->space);
    }
}

/* --- truncating --- */

Test(element, truncates_up_to_an_index, .timeout = 120)
{
    for (int one = 0; one < 2; one++) {
        pastset_element *e = numbers(PASTSET_BLOCK, 9, one);
        put_range(e, 0, 8);
        check_status(pastset_element_truncate(e, 3), 0);
        cr_assert_eq(get(e, 2), PASTSET_EEXPIRED);
        cr_assert_eq(get(e, 3), 3);
        check_status(pastset_element_truncate(e, 1), 0);
        cr_assert_eq(ledger_of(e).truncated, 3);
        cr_assert_eq(observe(e), 3);
        check_status(pastset_element_truncate(e, 999), 0);
        cr_assert_eq(ledger_of(e).truncated, 7);
        cr_assert_eq(ledger_of(e).first, 8);
        cr_assert_eq(ledger_of(e).present, 0);
        put_range(e, 8, 17);
        check_status(put(e, 17), PASTSET_EAGAIN);
        cr_assert_eq(get(e, 8), 8);
        pastset_space_close(e->space);
    }
}

Test(element, truncation_does_not_count_what_was_taken, .timeout = 120)
{
    pastset_element *e = numbers(PASTSET_BLOCK, 9, false);
    put_range(e, 0, 8);
    take(e, 1);
    take(e, 4);
    check_status(pastset_element_truncate(e, 4), 0);
    cr_assert_eq(ledger_of(e).truncated, 3);
    cr_assert_eq(ledger_of(e).consumed, 2);
    cr_assert_eq(ledger_of(e).first, 5);
    cr_assert_eq(ledger_of(e).present, 3);
    pastset_space_close(e->space);
}

/* --- delta --- */

Test(element, delta_is_for_block_and_within_the_capacity, .timeout = 120)
{
    pastset_element *e = numbers(PASTSET_BLOCK, 4, false);
    pastset_element *d = numbers(PASTSET_DISCARD, 4, false);
    check_status(pastset_element_set_delta(e, 0), PASTSET_EINVAL);
    check_status(pastset_element_set_delta(e, 5), PASTSET_EINVAL);
    check_error("1 ... 4");
    check_status(pastset_element_set_delta(d, 1), PASTSET_EINVAL);
    pastset_space_close(e->space);
    pastset_space_close(d->space);
}

Test(element, a_lower_delta_affects_later_writes_only, .timeout = 120)
{
    for (int one = 0; one < 2; one++) {
        pastset_element *e = numbers(PASTSET_BLOCK, 4, one);
        put_range(e, 0, 4);
        check_status(pastset_element_set_delta(e, 2), 0);
        cr_assert_eq(ledger_of(e).present, 4);
        cr_assert_eq(get(e, 0), 0);
        cr_assert_eq(observe(e), 0);
        cr_assert_eq(observe(e), 1);
        check_status(put(e, 4), PASTSET_EAGAIN);
        cr_assert_eq(observe(e), 2);
        check_status(put(e, 4), 0);
        check_status(put(e, 5), PASTSET_EAGAIN);
        check_status(pastset_element_set_delta(e, 3), 0);
        check_status(put(e, 5), 0);
        pastset_space_close(e->space);
    }
}

/* --- deleting --- */

Test(element, every_call_on_a_deleted_one_says_so, .timeout = 120)
{
    for (int one = 0; one < 2; one++) {
        pastset_element *e = numbers(PASTSET_BLOCK, 4, one);
        pastset_cursor c = {0};
        uint64_t value;
        size_t bytes = 8;
        put_range(e, 0, 2);
        check_status(pastset_element_delete(e), 0);
        check_status(pastset_element_delete(e), PASTSET_EDELETED);
        check_error("\"numbers\" was deleted");
        check_status(put(e, 1), PASTSET_EDELETED);
        cr_assert_eq(get(e, 0), PASTSET_EDELETED);
        cr_assert_eq(get(e, 5), PASTSET_EDELETED);
        cr_assert_eq(observe(e), PASTSET_EDELETED);
        check_status(pastset_read_first(e, &value, &bytes, -1, NULL),
                     PASTSET_EDELETED);
        check_status(pastset_read_last(e, &value, &bytes, -1, NULL),
                     PASTSET_EDELETED);
        check_status(pastset_read_next(e, &c, &value, &bytes, -1),
                     PASTSET_EDELETED);
        check_status(pastset_read_match(e, NULL, &value, &bytes, -1, NULL),
                     PASTSET_EDELETED);
        check_status(pastset_take(e, NULL, &value, &bytes, -1, NULL),
                     PASTSET_EDELETED);
        check_status(pastset_element_truncate(e, 1), PASTSET_EDELETED);
        check_status(pastset_element_set_delta(e, 1), PASTSET_EDELETED);
        cr_assert_str_eq(pastset_element_name(e), "numbers");
        cr_assert_eq(ledger_of(e).written, 2);
        cr_assert_null(pastset_space_find(e->space, "numbers"));
        pastset_space_close(e->space);
    }
}

Test(element, refuses_a_verb_that_is_none, .timeout = 120)
{
    pastset_element *e = numbers(PASTSET_BLOCK, 4, false);
    held h;
    check_status(held_submit(e, &h, (pastset_verb)0, 0), PASTSET_EINVAL);
    check_status(held_submit(e, &h, PASTSET_VERBS, 0), PASTSET_EINVAL);
    cr_assert_str_eq(pastset_verb_name(PASTSET_WRITE), "write");
    cr_assert_str_eq(pastset_verb_name(PASTSET_TAKE), "take");
    cr_assert_str_eq(pastset_verb_name(0), "?");
    cr_assert_str_eq(pastset_verb_name(PASTSET_ALL_VERBS), "?");
    /* It was never held. */
    cr_assert_not(pastset_cancel(&h.request));
    pastset_space_close(e->space);
}
