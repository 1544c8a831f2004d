/* append_test.c - the short way into an element that has one writer. */
#include "pastset/append.h"

#include "support.h"

/* As the header says: begin, fill in, end; or the long way. */
static int append(pastset_appender *appender, uint64_t value)
{
    unsigned char *slot = pastset_append_begin(appender);
    if (!slot)
        return put(pastset_appender_element(appender), value);
    pastset_append_store(slot, &value, sizeof(value));
    pastset_append_end(appender);
    return 0;
}

Test(append, is_only_for_one_writer_and_tuples_of_one_length, .timeout = 120)
{
    pastset_space *space = space_make(NULL);
    pastset_element *e;
    e = element_make(space, "many", "u64", PASTSET_BLOCK, 4, false);
    cr_assert_null(pastset_element_appender(e));
    e = element_make(space, "bytes", "bytes[8]", PASTSET_BLOCK, 4, true);
    cr_assert_null(pastset_element_appender(e));
    e = element_make(space, "one", "u64", PASTSET_BLOCK, 4, true);
    cr_assert_not_null(pastset_element_appender(e));
    cr_assert_eq(pastset_appender_element(pastset_element_appender(e)), e);
    pastset_space_close(space);
}

Test(append, nothing_is_visible_between_begin_and_end, .timeout = 120)
{
    pastset_element *e = numbers(PASTSET_DISCARD, 3, true);
    pastset_appender *appender = pastset_element_appender(e);
    unsigned char *slot;
    put_range(e, 0, 5);
    slot = pastset_append_begin(appender);
    cr_assert_not_null(slot);
    memset(slot, 0xEE, 8);
    cr_assert_eq(ledger_of(e).written, 5);
    cr_assert_eq(get(e, 5), PASTSET_EAGAIN);
    /* Nor has it touched any that may be read. */
    for (uint64_t i = 2; i < 5; i++)
        cr_assert_eq(get(e, i), (int64_t)i);
    pastset_append_end(appender);
    cr_assert_eq(get(e, 5), (int64_t)0xEEEEEEEEEEEEEEEEull);
    cr_assert_eq(get(e, 2), PASTSET_EEXPIRED);
    pastset_space_close(e->space);
}

Test(append, goes_the_long_way_when_full_and_back, .timeout = 120)
{
    pastset_element *e = numbers(PASTSET_BLOCK, 3, true);
    pastset_appender *appender = pastset_element_appender(e);
    for (uint64_t i = 0; i < 3; i++)
        check_status(append(appender, i), 0);
    cr_assert_null(pastset_append_begin(appender));
    check_status(append(appender, 3), PASTSET_EAGAIN);
    for (uint64_t i = 3; i < 50; i++) {
        cr_assert_eq(observe(e), (int64_t)i - 3);
        cr_assert_not_null(pastset_append_begin(appender));
        check_status(append(appender, i), 0);
    }
    pastset_space_close(e->space);
}

Test(append, grows_by_the_long_way, .timeout = 120)
{
    pastset_element *e = numbers(PASTSET_GROW, 100000, true);
    pastset_appender *appender = pastset_element_appender(e);
    uint64_t long_ways = 0;
    for (uint64_t i = 0; i < 100000; i++) {
        long_ways += pastset_append_begin(appender) == NULL;
        check_status(append(appender, i), 0);
    }
    cr_assert_lt(long_ways, 20);
    check_status(append(appender, 0), PASTSET_EFULL);
    cr_assert_eq(get(e, 99999), 99999);
    pastset_space_close(e->space);
}

Test(append, completes_requests_that_are_held, .timeout = 120)
{
    pastset_element *e = numbers(PASTSET_DISCARD, 8, true);
    pastset_appender *appender = pastset_element_appender(e);
    held by_index, observer, any;
    cr_assert_eq(held_submit(e, &by_index, PASTSET_READ, 1), PASTSET_HELD);
    cr_assert_eq(held_submit(e, &observer, PASTSET_OBSERVE, 0), PASTSET_HELD);
    cr_assert_null(pastset_append_begin(appender));
    check_status(append(appender, 40), 0);
    cr_assert(observer.order && observer.value == 40 && !by_index.order);
    check_status(append(appender, 41), 0);
    cr_assert(by_index.order && by_index.value == 41);
    /* Nobody is held: it goes the short way again. */
    cr_assert_not_null(pastset_append_begin(appender));
    cr_assert_eq(held_submit(e, &any, PASTSET_READ, 9), PASTSET_HELD);
    cr_assert_null(pastset_append_begin(appender));
    cr_assert(pastset_cancel(&any.request));
    cr_assert_not_null(pastset_append_begin(appender));
    pastset_space_close(e->space);
}

/* A reader begins to wait while the writer is between begin and end. */
Test(append, wakes_whoever_began_to_wait_between_begin_and_end, .timeout = 120)
{
    pastset_element *e = numbers(PASTSET_DISCARD, 8, true);
    pastset_appender *appender = pastset_element_appender(e);
    uint64_t value = 7;
    unsigned char *slot = pastset_append_begin(appender);
    held h, searching;
    cr_assert_eq(held_submit(e, &h, PASTSET_READ_FIRST, 0), PASTSET_HELD);
    cr_assert_eq(held_submit(e, &searching, PASTSET_TAKE, 0), PASTSET_HELD);
    pastset_append_store(slot, &value, 8);
    pastset_append_end(appender);
    cr_assert(h.order && h.value == 7);
    cr_assert(searching.order && searching.value == 7);
    pastset_space_close(e->space);
}

/* The writer has published, and has not looked yet whether anybody waits. */
Test(append, what_it_published_belongs_to_those_who_came_before, .timeout = 120)
{
    pastset_element *e = numbers(PASTSET_DISCARD, 8, true);
    pastset_appender *appender = pastset_element_appender(e);
    uint64_t value = 7;
    unsigned char *slot = pastset_append_begin(appender);
    held before, after;
    pastset_append_store(slot, &value, 8);
    cr_assert_eq(held_submit(e, &before, PASTSET_OBSERVE, 0), PASTSET_HELD);
    appender->at += appender->stride_bytes;
    atomic_store(appender->last, ++appender->next);
    cr_assert_eq(held_submit(e, &after, PASTSET_OBSERVE, 0), PASTSET_HELD);
    cr_assert(before.order && before.value == 7 && !after.order);
    pastset_space_close(e->space);
}

Test(append, ends_on_a_deleted_element, .timeout = 120)
{
    pastset_element *e = numbers(PASTSET_DISCARD, 8, true);
    pastset_appender *appender = pastset_element_appender(e);
    check_status(pastset_element_delete(e), 0);
    cr_assert_null(pastset_append_begin(appender));
    check_status(append(appender, 1), PASTSET_EDELETED);
    pastset_space_close(e->space);
}
