/* waiting_test.c - operations that wait: held requests and waiting threads.
 * Nothing here sleeps to be in time: a thread counts as waiting when the
 * element holds its request. */
#include <malloc.h>

#include "support.h"

/* --- a thread with one operation --- */

typedef struct actor {
    pthread_t thread;
    pastset_element *element;
    pastset_verb verb;
    uint64_t index, value;
    int timeout_ms, status;
} actor;

static void *act(void *argument)
{
    actor *a = argument;
    size_t bytes = sizeof(a->value);
    pastset_cursor cursor = {.next = a->index};
    pastset_element *e = a->element;
    switch (a->verb) {
    case PASTSET_WRITE:
        a->status =
            pastset_write(e, &a->value, bytes, a->timeout_ms, &a->index);
        break;
    case PASTSET_READ:
        a->status = pastset_read(e, a->index, &a->value, &bytes, a->timeout_ms);
        break;
    case PASTSET_READ_FIRST:
        a->status =
            pastset_read_first(e, &a->value, &bytes, a->timeout_ms, &a->index);
        break;
    case PASTSET_READ_LAST:
        a->status =
            pastset_read_last(e, &a->value, &bytes, a->timeout_ms, &a->index);
        break;
    case PASTSET_READ_NEXT:
        a->status =
            pastset_read_next(e, &cursor, &a->value, &bytes, a->timeout_ms);
        a->index = cursor.next - 1;
        break;
    case PASTSET_READ_MATCH:
        a->status = pastset_read_match(e, NULL, &a->value, &bytes,
                                       a->timeout_ms, &a->index);
        break;
    case PASTSET_OBSERVE:
        a->status =
            pastset_observe(e, &a->value, &bytes, a->timeout_ms, &a->index);
        break;
    default:
        a->status =
            pastset_take(e, NULL, &a->value, &bytes, a->timeout_ms, &a->index);
    }
    return NULL;
}

static void start(actor *a, pastset_element *element, pastset_verb verb,
                  uint64_t index, int timeout_ms)
{
    *a = (actor){.element = element,
                 .verb = verb,
                 .index = index,
                 .value = index,
                 .timeout_ms = timeout_ms};
    pthread_create(&a->thread, NULL, act, a);
}

static void join(actor *a, int status)
{
    pthread_join(a->thread, NULL);
    cr_assert_eq(a->status, status, "%s gave %s", pastset_verb_name(a->verb),
                 pastset_status_name(a->status));
}

/* --- the three forms --- */

Test(waiting, every_read_waits_until_a_tuple_comes, .timeout = 120)
{
    for (int one = 0; one < 2; one++) {
        for (int verb = PASTSET_READ; verb < PASTSET_VERBS; verb++) {
            pastset_element *e = numbers(PASTSET_BLOCK, 4, one);
            actor a;
            start(&a, e, (pastset_verb)verb, 0, PASTSET_FOREVER);
            until_held(e, 1);
            check_status(put(e, 1234), 0);
            join(&a, 0);
            cr_assert_eq(a.value, 1234);
            cr_assert_eq(a.index, 0);
            cr_assert_eq(e->held, 0);
            pastset_space_close(e->space);
        }
    }
}

Test(waiting, a_deadline_ends_each_operation_and_leaves_nothing, .timeout = 120)
{
    for (int one = 0; one < 2; one++) {
        for (int verb = PASTSET_WRITE; verb < PASTSET_VERBS; verb++) {
            pastset_element *e = numbers(PASTSET_BLOCK, 1, one);
            int64_t before = pastset_now_ns();
            actor a = {
                .element = e, .verb = (pastset_verb)verb, .timeout_ms = 20};
            if (verb == PASTSET_WRITE)
                put(e, 1);
            act(&a);
            check_status(a.status, PASTSET_ETIMEDOUT);
            check_error(pastset_verb_name((unsigned)verb));
            check_error("\"numbers\"");
            check_error("20 ms");
            cr_assert_geq(pastset_now_ns() - before, 20 * 1000000);
            cr_assert_eq(e->held, 0);
            /* And what comes later is not affected by it. */
            if (verb == PASTSET_WRITE)
                cr_assert_eq(observe(e), 1);
            check_status(put(e, 5), 0);
            cr_assert_eq(observe(e), 5);
            pastset_space_close(e->space);
        }
    }
}

Test(waiting, a_deadline_that_is_met_gives_the_tuple, .timeout = 120)
{
    pastset_element *e = numbers(PASTSET_BLOCK, 4, false);
    actor a;
    start(&a, e, PASTSET_OBSERVE, 0, 9000);
    until_held(e, 1);
    put(e, 3);
    join(&a, 0);
    cr_assert_eq(a.value, 3);
    pastset_space_close(e->space);
}

Test(waiting, without_waiting_every_operation_says_so, .timeout = 120)
{
    for (int one = 0; one < 2; one++) {
        for (int verb = PASTSET_WRITE; verb < PASTSET_VERBS; verb++) {
            pastset_element *e = numbers(PASTSET_BLOCK, 1, one);
            actor a = {.element = e, .verb = (pastset_verb)verb};
            if (verb == PASTSET_WRITE)
                put(e, 1);
            act(&a);
            check_status(a.status, PASTSET_EAGAIN);
            check_error(pastset_verb_name((unsigned)verb));
            pastset_space_close(e->space);
        }
    }
}

/* --- reads by index --- */

Test(waiting, a_read_waits_for_its_own_index, .timeout = 120)
{
    for (int one = 0; one < 2; one++) {
        pastset_element *e = numbers(PASTSET_BLOCK, 20, one);
        static const uint64_t indexes[] = {5, 2, 9, 2, 0};
        held h[5];
        for (int i = 0; i < 5; i++)
            cr_assert_eq(held_submit(e, &h[i], PASTSET_READ, indexes[i]),
                         PASTSET_HELD);
        for (uint64_t n = 0; n < 10; n++) {
            put(e, n);
            for (int i = 0; i < 5; i++)
                cr_assert_eq(h[i].order != 0, indexes[i] <= n);
        }
        for (int i = 0; i < 5; i++)
            cr_assert_eq(h[i].value, indexes[i]);
        /* Of one index, in the order they came. */
        cr_assert_lt(h[1].order, h[3].order);
        pastset_space_close(e->space);
    }
}

Test(waiting, a_cursor_ahead_of_the_writer_waits_for_its_index, .timeout = 120)
{
    pastset_element *e = numbers(PASTSET_BLOCK, 20, false);
    held h;
    cr_assert_eq(held_submit(e, &h, PASTSET_READ_NEXT, 3), PASTSET_HELD);
    put_range(e, 0, 3);
    cr_assert_not(h.order);
    put(e, 3);
    cr_assert(h.order && h.value == 3 && h.request.index == 3);
    pastset_space_close(e->space);
}

/* A write is read by all who wait for it before it is consumed. */
Test(waiting, readers_get_a_tuple_before_it_is_consumed, .timeout = 120)
{
    for (int one = 0; one < 2; one++) {
        pastset_element *e = numbers(PASTSET_BLOCK, 20, one);
        held observer, first, index;
        held_submit(e, &observer, PASTSET_OBSERVE, 0);
        held_submit(e, &first, PASTSET_READ_FIRST, 0);
        held_submit(e, &index, PASTSET_READ, 0);
        put(e, 8);
        cr_assert(observer.order && first.order && index.order);
        cr_assert_eq(ledger_of(e).present, 0);
        pastset_space_close(e->space);
    }
}

/* --- observing and taking --- */

Test(waiting, observers_are_served_in_the_order_they_came, .timeout = 120)
{
    for (int one = 0; one < 2; one++) {
        pastset_element *e = numbers(PASTSET_BLOCK, 4, one);
        static held h[50];
        for (int i = 0; i < 50; i++)
            cr_assert_eq(held_submit(e, &h[i],
                                     i % 2 ? PASTSET_OBSERVE : PASTSET_TAKE, 0),
                         PASTSET_HELD);
        for (uint64_t i = 0; i < 50; i++) {
            put(e, i);
            cr_assert(h[i].order && h[i].value == i);
            cr_assert(i == 49 || !h[i + 1].order);
        }
        pastset_space_close(e->space);
    }
}

Test(waiting, a_held_take_gets_its_match_and_lets_others_pass, .timeout = 120)
{
    pastset_element *e = numbers(PASTSET_BLOCK, 20, false);
    uint64_t wanted[3] = {6, 3, 6};
    pastset_pattern patterns[3];
    held h[3], match;
    for (int i = 0; i < 3; i++) {
        patterns[i] = (pastset_pattern){.fields = 1, .values = &wanted[i]};
        memset(&h[i], 0, sizeof(h[i]));
        h[i].request = (pastset_request){.verb = PASTSET_TAKE,
                                         .tuple = &h[i].value,
                                         .bytes = 8,
                                         .pattern = &patterns[i],
                                         .done = held_done};
        cr_assert_eq(pastset_submit(e, &h[i].request), PASTSET_HELD);
    }
    match = (held){.request = {.verb = PASTSET_READ_MATCH,
                               .tuple = &match.value,
                               .bytes = 8,
                               .pattern = &patterns[0],
                               .done = held_done}};
    cr_assert_eq(pastset_submit(e, &match.request), PASTSET_HELD);
    put_range(e, 0, 6);
    cr_assert(h[1].order && h[1].value == 3 && !h[0].order && !h[2].order);
    put(e, 6);
    cr_assert(h[0].order && h[0].request.index == 6 && !h[2].order);
    cr_assert_not(match.order); /* the take came before it */
    put(e, 6);
    cr_assert(h[2].order && h[2].request.index == 7);
    cr_assert_not(match.order);
    put(e, 6);
    cr_assert(match.order && match.request.index == 8);
    cr_assert_eq(ledger_of(e).present, 6);
    pastset_space_close(e->space);
}

enum { WORKERS = 8, JOBS = 20000 };

typedef struct worker {
    pastset_element *element;
    bool takes;
    _Atomic uint8_t *given; /* how often each job was given */
    uint64_t last;
} worker;

static void *work(void *argument)
{
    worker *w = argument;
    uint64_t value, index, before = 0;
    for (;;) {
        size_t bytes = 8;
        int err = w->takes ? pastset_take(w->element, NULL, &value, &bytes,
                                          PASTSET_FOREVER, &index)
                           : pastset_observe(w->element, &value, &bytes,
                                             PASTSET_FOREVER, &index);
        if (err)
            return (void *)(intptr_t)err;
        if (value != index || (before && index <= before))
            return (void *)(intptr_t)1;
        before = index;
        w->given[value]++;
    }
}

static void check_workers(bool single_writer)
{
    pastset_element *e = numbers(PASTSET_BLOCK, 16, single_writer);
    static _Atomic uint8_t given[JOBS];
    pthread_t threads[WORKERS];
    worker workers[WORKERS];
    held last;
    memset((char *)(uintptr_t)given, 0, sizeof(given));
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = (worker){e, i % 2, given, 0};
        pthread_create(&threads[i], NULL, work, &workers[i]);
    }
    for (uint64_t i = 0; i < JOBS; i++)
        check_status(pastset_write(e, &i, 8, PASTSET_FOREVER, NULL), 0);
    /* All workers wait again: every job was given. */
    until_held(e, WORKERS);
    cr_assert_eq(held_submit(e, &last, PASTSET_READ, JOBS), PASTSET_HELD);
    check_status(pastset_element_delete(e), 0);
    for (int i = 0; i < WORKERS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        cr_assert_eq((intptr_t)result, PASTSET_EDELETED);
    }
    for (int i = 0; i < JOBS; i++)
        cr_assert_eq(given[i], 1, "job %d was given %d times", i, given[i]);
    cr_assert_eq(ledger_of(e).consumed, JOBS);
    pastset_space_close(e->space);
}

Test(waiting, each_tuple_is_given_to_exactly_one_worker, .timeout = 300)
{
    check_workers(false);
    check_workers(true);
}

/* --- blocked writers --- */

Test(waiting, writers_are_released_in_the_order_they_came, .timeout = 120)
{
    for (int one = 0; one < 2; one++) {
        pastset_element *e = numbers(PASTSET_BLOCK, 2, one);
        held w[6];
        put_range(e, 0, 2);
        for (uint64_t i = 0; i < 6; i++)
            cr_assert_eq(held_submit(e, &w[i], PASTSET_WRITE, i + 2),
                         PASTSET_HELD);
        for (uint64_t i = 0; i < 6; i++) {
            cr_assert_not(w[i].order);
            cr_assert_eq(observe(e), (int64_t)i);
            cr_assert(w[i].order && w[i].request.index == i + 2);
        }
        check_status(pastset_element_truncate(e, 99), 0);
        cr_assert_eq(ledger_of(e).written, 8);
        pastset_space_close(e->space);
    }
}

Test(waiting, a_write_does_not_overtake_those_that_wait, .timeout = 120)
{
    pastset_element *e = numbers(PASTSET_BLOCK, 4, false);
    held w[2];
    put_range(e, 0, 4);
    check_status(pastset_element_set_delta(e, 2), 0);
    held_submit(e, &w[0], PASTSET_WRITE, 4);
    check_status(put(e, 5), PASTSET_EAGAIN);
    cr_assert_eq(held_submit(e, &w[1], PASTSET_WRITE, 5), PASTSET_HELD);
    check_status(pastset_element_truncate(e, 4), 0);
    cr_assert(w[0].order && w[1].order == w[0].order + 1);
    cr_assert_eq(get(e, 4), 4);
    cr_assert_eq(get(e, 5), 5);
    pastset_space_close(e->space);
}

Test(waiting, delta_raised_and_lowered_while_writers_wait, .timeout = 120)
{
    for (int one = 0; one < 2; one++) {
        pastset_element *e = numbers(PASTSET_BLOCK, 6, one);
        held w[6];
        check_status(pastset_element_set_delta(e, 1), 0);
        put(e, 0);
        for (uint64_t i = 0; i < 6; i++)
            cr_assert_eq(held_submit(e, &w[i], PASTSET_WRITE, i + 1),
                         PASTSET_HELD);
        check_status(pastset_element_set_delta(e, 4), 0);
        cr_assert(w[0].order && w[1].order && w[2].order && !w[3].order);
        cr_assert(w[0].order < w[1].order && w[1].order < w[2].order);
        check_status(pastset_element_set_delta(e, 2), 0);
        cr_assert_eq(observe(e), 0);
        cr_assert_eq(observe(e), 1);
        cr_assert_not(w[3].order);
        cr_assert_eq(observe(e), 2);
        cr_assert(w[3].order && !w[4].order);
        check_status(pastset_element_set_delta(e, 6), 0);
        cr_assert(w[4].order && w[5].order);
        cr_assert_eq(ledger_of(e).present, 4);
        pastset_space_close(e->space);
    }
}

Test(waiting, a_thread_that_writes_waits_for_room, .timeout = 120)
{
    for (int one = 0; one < 2; one++) {
        pastset_element *e = numbers(PASTSET_BLOCK, 1, one);
        actor a;
        put(e, 0);
        start(&a, e, PASTSET_WRITE, 77, PASTSET_FOREVER);
        until_held(e, 1);
        cr_assert_eq(observe(e), 0);
        join(&a, 0);
        cr_assert_eq(a.index, 1);
        cr_assert_eq(get(e, 1), 77);
        pastset_space_close(e->space);
    }
}

/* --- cancelling --- */

Test(waiting, what_is_cancelled_is_not_completed, .timeout = 120)
{
    for (int verb = PASTSET_WRITE; verb < PASTSET_VERBS; verb++) {
        pastset_element *e = numbers(PASTSET_BLOCK, 1, false);
        held before, h, after;
        if (verb == PASTSET_WRITE)
            put(e, 1);
        held_submit(e, &before, (pastset_verb)verb, 0);
        cr_assert_eq(held_submit(e, &h, (pastset_verb)verb, 0), PASTSET_HELD);
        held_submit(e, &after, (pastset_verb)verb, 0);
        cr_assert(pastset_cancel(&h.request));
        cr_assert_not(pastset_cancel(&h.request));
        for (int i = 0; i < 3; i++) {
            if (verb != PASTSET_WRITE)
                put(e, 1);
            (void)observe(e);
        }
        cr_assert(before.order && after.order && !h.order, "verb %d", verb);
        cr_assert_lt(before.order, after.order);
        cr_assert_not(pastset_cancel(&before.request));
        pastset_space_close(e->space);
    }
}

Test(waiting, a_writer_that_gives_up_lets_the_next_one_go_in_turn,
     .timeout = 120)
{
    pastset_element *e = numbers(PASTSET_BLOCK, 1, true);
    held a, b;
    put(e, 0);
    held_submit(e, &a, PASTSET_WRITE, 1);
    held_submit(e, &b, PASTSET_WRITE, 2);
    cr_assert(pastset_cancel(&a.request));
    cr_assert_eq(observe(e), 0);
    cr_assert(b.order && !a.order);
    cr_assert_eq(get(e, 1), 2);
    pastset_space_close(e->space);
}

/* --- deleting --- */

Test(waiting, deleting_ends_held_operations_of_each_kind, .timeout = 120)
{
    for (int one = 0; one < 2; one++) {
        pastset_element *e = numbers(PASTSET_BLOCK, 1, one);
        pastset_element *full =
            element_make(e->space, "full", "u64", PASTSET_BLOCK, 1, one);
        held h[PASTSET_VERBS];
        put(full, 1);
        for (int verb = PASTSET_WRITE; verb < PASTSET_VERBS; verb++)
            cr_assert_eq(held_submit(verb == PASTSET_WRITE ? full : e, &h[verb],
                                     (pastset_verb)verb, 0),
                         PASTSET_HELD);
        check_status(pastset_element_delete(full), 0);
        check_status(pastset_element_delete(e), 0);
        for (int verb = PASTSET_WRITE; verb < PASTSET_VERBS; verb++) {
            cr_assert(h[verb].order, "verb %d", verb);
            check_status(h[verb].request.status, PASTSET_EDELETED);
        }
        cr_assert(e->held == 0 && full->held == 0);
        pastset_space_close(e->space);
    }
}

Test(waiting, deleting_wakes_threads_with_a_text, .timeout = 120)
{
    pastset_element *e = numbers(PASTSET_BLOCK, 1, false);
    actor a[7];
    for (int i = 0; i < 7; i++)
        start(&a[i], e, (pastset_verb)(PASTSET_READ + i), 0, PASTSET_FOREVER);
    until_held(e, 7);
    check_status(pastset_element_delete(e), 0);
    for (int i = 0; i < 7; i++)
        join(&a[i], PASTSET_EDELETED);
    pastset_space_close(e->space);
}

static void submit_again(pastset_request *request)
{
    held *h = (held *)(void *)request;
    h->order = 1;
    h->request.done = held_done;
    h->value = (uint64_t)pastset_submit(request->element, request);
}

Test(waiting, nothing_can_be_held_by_what_is_closing, .timeout = 120)
{
    pastset_element *e = numbers(PASTSET_BLOCK, 1, false);
    held h;
    held_submit(e, &h, PASTSET_READ, 0);
    h.request.done = submit_again;
    pastset_space_close(e->space);
    cr_assert_eq((int)h.value, PASTSET_EDELETED);
}

/* --- done may go on --- */

static int chain_left;

static void chain(pastset_request *request)
{
    request->index++;
    while (chain_left && pastset_submit(request->element, request) == 0) {
        chain_left--;
        request->index++;
    }
}

Test(waiting, done_may_submit_to_the_same_element, .timeout = 120)
{
    pastset_element *e = numbers(PASTSET_BLOCK, 2000, false);
    held h;
    chain_left = 100000;
    cr_assert_eq(held_submit(e, &h, PASTSET_READ, 0), PASTSET_HELD);
    h.request.done = chain;
    put_range(e, 0, 2000);
    cr_assert_eq(h.value, 1999);
    cr_assert_eq(h.request.index, 2000);
    cr_assert(pastset_cancel(&h.request));
    pastset_space_close(e->space);
}

/* --- ten thousand --- */

enum { MANY = 10000 };

static void many_on_one(pastset_element *e, held *h, bool forward)
{
    struct mallinfo2 before = mallinfo2(), after;
    for (uint64_t i = 0; i < MANY; i++)
        cr_assert_eq(
            held_submit(e, &h[i], PASTSET_READ, forward ? i : MANY - 1 - i),
            PASTSET_HELD);
    after = mallinfo2();
    cr_assert_eq(after.uordblks, before.uordblks, "held requests cost memory");
    cr_assert_eq(e->held, MANY);
    held_completed = 0;
    put_range(e, 0, MANY);
    for (uint64_t i = 0; i < MANY; i++) {
        uint64_t index = forward ? i : MANY - 1 - i;
        cr_assert_eq(h[i].value, index);
        cr_assert_eq(h[i].order, (int)index + 1);
    }
    cr_assert_eq(e->held, 0);
}

Test(waiting, ten_thousand_reads_are_held_by_one_element, .timeout = 300)
{
    held *h = calloc(MANY, sizeof(*h));
    for (int one = 0; one < 2; one++) {
        for (int forward = 0; forward < 2; forward++) {
            pastset_element *e = numbers(PASTSET_BLOCK, MANY, one);
            many_on_one(e, h, forward);
            pastset_space_close(e->space);
        }
    }
    free(h);
    cr_log_info("a held request costs %zu bytes, its own", sizeof(*h));
    cr_assert_leq(sizeof(pastset_request), 128);
}

Test(waiting, ten_thousand_writers_and_observers_go_in_order, .timeout = 300)
{
    held *h = calloc(MANY, sizeof(*h));
    for (int one = 0; one < 2; one++) {
        pastset_element *e = numbers(PASTSET_BLOCK, 1, one);
        put(e, 0);
        for (uint64_t i = 0; i < MANY; i++)
            held_submit(e, &h[i], PASTSET_WRITE, i + 1);
        held_completed = 0;
        for (int i = 0; i < MANY; i++) {
            cr_assert_eq(observe(e), i);
            cr_assert_eq(h[i].order, i + 1);
        }
        cr_assert_eq(observe(e), MANY);
        for (uint64_t i = 0; i < MANY; i++)
            held_submit(e, &h[i], PASTSET_OBSERVE, 0);
        held_completed = 0;
        for (int i = 0; i < MANY; i++) {
            put(e, (uint64_t)i);
            cr_assert_eq(h[i].order, i + 1);
            cr_assert_eq(h[i].value, (uint64_t)i);
        }
        pastset_space_close(e->space);
    }
    free(h);
}

Test(waiting, ten_thousand_elements_hold_one_each, .timeout = 300)
{
    pastset_space *space = space_make(NULL);
    pastset_element **e = calloc(MANY, sizeof(*e));
    held *h = calloc(MANY, sizeof(*h));
    for (int i = 0; i < MANY; i++) {
        char name[32];
        snprintf(name, sizeof(name), "e%d", i);
        e[i] = element_make(space, name, "u64", PASTSET_BLOCK, 1, i % 2);
        cr_assert_eq(held_submit(e[i], &h[i], PASTSET_OBSERVE, 0),
                     PASTSET_HELD);
    }
    held_completed = 0;
    for (int i = 0; i < MANY; i++)
        put(e[i], (uint64_t)i);
    for (int i = 0; i < MANY; i++) {
        cr_assert_eq(h[i].order, i + 1);
        cr_assert_eq(h[i].value, (uint64_t)i);
    }
    pastset_space_close(space);
    free(e);
    free(h);
}

/* --- one writer without a lock, and a reader that begins to wait --- */

typedef struct pong {
    pastset_element *there, *back;
    uint64_t rounds;
    bool follow; /* by index rather than by observe */
} pong;

static void *answer(void *argument)
{
    pong *p = argument;
    for (uint64_t i = 0; i < p->rounds; i++) {
        uint64_t value;
        size_t bytes = 8;
        int err = p->follow
                      ? pastset_read(p->there, i, &value, &bytes, -1)
                      : pastset_observe(p->there, &value, &bytes, -1, NULL);
        if (err || value != i ||
            pastset_write(p->back, &value, 8, -1, NULL) != 0)
            return p;
    }
    return NULL;
}

static int play(bool follow)
{
    pastset_space *space;
    pastset_space_options options = {.max_bytes = 1 << 24, .max_elements = 9};
    pastset_type type;
    pastset_element_options element = {.name = "there",
                                       .type = &type,
                                       .capacity = 64,
                                       .policy = PASTSET_DISCARD,
                                       .single_writer = true};
    pong p = {.rounds = 20000, .follow = follow};
    pthread_t thread;
    void *result;
    pastset_type_parse(&type, "u64");
    if (pastset_space_create(&space, &options) != 0 ||
        pastset_element_create(&p.there, space, &element) != 0)
        return 1;
    element.name = "back";
    if (pastset_element_create(&p.back, space, &element) != 0)
        return 1;
    pthread_create(&thread, NULL, answer, &p);
    for (uint64_t i = 0; i < p.rounds; i++) {
        uint64_t value;
        size_t bytes = 8;
        if (pastset_write(p.there, &i, 8, -1, NULL) != 0 ||
            pastset_read(p.back, i, &value, &bytes, -1) != 0 || value != i)
            return 1;
    }
    pthread_join(thread, &result);
    pastset_space_close(space);
    return result != NULL;
}

Test(waiting, no_wake_is_lost_between_one_writer_and_its_reader, .timeout = 300)
{
    cr_assert_eq(play(true), 0);
    cr_assert_eq(play(false), 0);
}

Test(waiting, nor_in_a_process_that_was_forked_after_the_first_use,
     .timeout = 300)
{
    int status;
    pid_t child;
    pastset_space_close(numbers(PASTSET_DISCARD, 4, true)->space);
    child = fork();
    if (child == 0)
        _exit(play(true) + play(false));
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
