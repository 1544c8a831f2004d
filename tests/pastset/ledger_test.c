/* ledger_test.c - random sequences of operations, on an element and on a model
 * that is an array with a mark for each tuple ever written. After each of them
 * both give the same, and the ledger is exact. */
#include "support.h"

enum { MAX = 6000, STEPS = 9000, WAITERS = 6 };

typedef enum fate { PRESENT, CONSUMED, TRUNCATED, DROPPED } fate;

typedef struct model {
    pastset_policy policy;
    uint64_t capacity, delta;
    uint64_t values[MAX];
    fate fates[MAX];
    uint64_t last, read, refused;
} model;

static uint64_t random_state;

static uint64_t random_below(uint64_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % n;
}

static uint64_t count(const model *m, fate f)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < m->last; i++)
        n += m->fates[i] == f;
    return n;
}

/* The oldest present; Last when there is none. */
static uint64_t first_of_model(const model *m)
{
    uint64_t i = 0;
    while (i < m->last && m->fates[i] != PRESENT)
        i++;
    return i;
}

static int model_write(model *m, uint64_t value)
{
    uint64_t first = first_of_model(m);
    if (m->policy == PASTSET_BLOCK && m->last - first >= m->delta)
        return PASTSET_EAGAIN;
    if (m->policy == PASTSET_GROW && m->last - first >= m->capacity) {
        m->refused++;
        return PASTSET_EFULL;
    }
    m->values[m->last++] = value;
    m->fates[m->last - 1] = PRESENT;
    /* First - not the number of tuples - keeps to the capacity. */
    for (uint64_t i = 0; m->last > m->capacity && i < m->last - m->capacity;
         i++)
        if (m->fates[i] == PRESENT)
            m->fates[i] = DROPPED;
    return 0;
}

static int64_t model_read(model *m, uint64_t index)
{
    if (index >= m->last)
        return PASTSET_EAGAIN;
    if (m->fates[index] != PRESENT)
        return PASTSET_EEXPIRED;
    m->read++;
    return (int64_t)m->values[index];
}

static int64_t model_take(model *m, uint64_t wanted, bool any)
{
    for (uint64_t i = 0; i < m->last; i++) {
        if (m->fates[i] == PRESENT && (any || m->values[i] == wanted)) {
            m->fates[i] = CONSUMED;
            return (int64_t)m->values[i];
        }
    }
    return PASTSET_EAGAIN;
}

static void model_truncate(model *m, uint64_t index)
{
    for (uint64_t i = 0; i < m->last && i < index; i++)
        if (m->fates[i] == PRESENT)
            m->fates[i] = TRUNCATED;
}

static void compare(const model *m, pastset_element *e, uint64_t step)
{
    pastset_ledger l = ledger_of(e);
    cr_assert_eq(l.written, m->last, "step %lu", step);
    cr_assert_eq(l.read, m->read, "step %lu", step);
    cr_assert_eq(l.consumed, count(m, CONSUMED), "step %lu", step);
    cr_assert_eq(l.truncated, count(m, TRUNCATED), "step %lu", step);
    cr_assert_eq(l.dropped, count(m, DROPPED), "step %lu", step);
    cr_assert_eq(l.present, count(m, PRESENT), "step %lu", step);
    cr_assert_eq(l.refused, m->refused, "step %lu", step);
    /* First stands on the oldest tuple, unless a writer without lock has
     * discarded those behind it. */
    cr_assert_leq(l.first, first_of_model(m), "step %lu", step);
    if (!e->single_writer)
        cr_assert_eq(l.first, first_of_model(m), "step %lu", step);
}

static void do_read(model *m, pastset_element *e)
{
    uint64_t range = m->capacity * 2 + 2;
    uint64_t index = m->last + 2 > range ? m->last + 2 - random_below(range)
                                         : random_below(range);
    cr_assert_eq(get(e, index), model_read(m, index));
}

static void do_first_and_last(model *m, pastset_element *e)
{
    uint64_t value, index, first = first_of_model(m), newest = m->last;
    size_t bytes = 8;
    int err = pastset_read_first(e, &value, &bytes, 0, &index);
    if (first == m->last) {
        check_status(err, PASTSET_EAGAIN);
        check_status(pastset_read_last(e, &value, &bytes, 0, &index),
                     PASTSET_EAGAIN);
        return;
    }
    check_status(err, 0);
    cr_assert(index == first && value == m->values[first]);
    while (m->fates[newest - 1] != PRESENT)
        newest--;
    check_status(pastset_read_last(e, &value, &bytes, 0, &index), 0);
    cr_assert(index == newest - 1 && value == m->values[index]);
    m->read += 2;
}

static void do_next(model *m, pastset_element *e, pastset_cursor *cursor)
{
    uint64_t value, next = cursor->next;
    pastset_cursor was = *cursor;
    size_t bytes = 8;
    int err = pastset_read_next(e, cursor, &value, &bytes, 0);
    while (next < m->last && m->fates[next] != PRESENT)
        next++;
    if (next >= m->last) {
        check_status(err, PASTSET_EAGAIN);
        return;
    }
    check_status(err, 0);
    m->read++;
    cr_assert_eq(value, m->values[next]);
    cr_assert_eq(cursor->next, next + 1);
    cr_assert_eq(cursor->read, was.read + 1);
    cr_assert_eq(cursor->lost, was.lost + next - was.next);
    cr_assert_eq(cursor->read + cursor->lost, cursor->next);
}

static void do_match(model *m, pastset_element *e, uint64_t wanted)
{
    pastset_pattern p = {.fields = 1, .values = &wanted, .bytes = 8};
    uint64_t value, index, i = 0;
    size_t bytes = 8;
    int err = pastset_read_match(e, &p, &value, &bytes, 0, &index);
    while (i < m->last && (m->fates[i] != PRESENT || m->values[i] != wanted))
        i++;
    check_status(err, i < m->last ? 0 : PASTSET_EAGAIN);
    if (!err)
        cr_assert_eq(index, i);
    m->read += !err;
}

static void do_consume(model *m, pastset_element *e, uint64_t wanted)
{
    if (e->single_writer || random_below(3) == 0)
        cr_assert_eq(observe(e), model_take(m, 0, true));
    else
        cr_assert_eq(take(e, wanted), model_take(m, wanted, false));
}

static void do_delta(model *m, pastset_element *e)
{
    uint64_t delta = random_below(m->capacity) + 1;
    if (m->policy != PASTSET_BLOCK)
        return;
    check_status(pastset_element_set_delta(e, delta), 0);
    m->delta = delta;
}

static void run(pastset_policy policy, uint64_t capacity, bool single_writer,
                const char *type, uint64_t seed)
{
    static model m;
    pastset_space *space = space_make(NULL);
    pastset_element *e =
        element_make(space, "e", type, policy, capacity, single_writer);
    pastset_cursor cursors[3] = {{0}};
    memset(&m, 0, sizeof(m));
    m.policy = policy;
    m.capacity = m.delta = capacity;
    random_state = seed * 0x9E3779B97F4A7C15ull + 1;
    for (uint64_t step = 0; step < STEPS && m.last < MAX; step++) {
        /* In phases, so that it is full at times and empty at times. */
        uint64_t dice = random_below(step / 50 % 2 ? 10 : 16);
        uint64_t value = random_below(6);
        if (dice > 8)
            check_status(put(e, value), model_write(&m, value));
        else if (dice == 0)
            do_read(&m, e);
        else if (dice == 1)
            do_first_and_last(&m, e);
        else if (dice == 2)
            do_next(&m, e, &cursors[random_below(3)]);
        else if (dice == 3)
            do_match(&m, e, value);
        else if (dice < 8 || random_below(8) > 1)
            do_consume(&m, e, value);
        else if (random_below(2) == 0)
            do_delta(&m, e);
        else {
            uint64_t to = first_of_model(&m) + random_below(4);
            check_status(pastset_element_truncate(e, to), 0);
            model_truncate(&m, to);
        }
        if (step % 7 == 0 || step < 300)
            compare(&m, e, step);
    }
    compare(&m, e, STEPS);
    pastset_space_close(space);
}

static void run_all(pastset_policy policy, bool single_writer, const char *type)
{
    static const uint64_t capacities[] = {1, 2, 3, 7, 64};
    for (uint64_t seed = 1; seed <= 6; seed++)
        for (int i = 0; i < 5; i++)
            run(policy, capacities[i], single_writer, type, seed * 31 + i);
}

Test(ledger, is_that_of_the_model_under_block, .timeout = 120)
{
    run_all(PASTSET_BLOCK, false, "u64");
    run_all(PASTSET_BLOCK, true, "u64");
    run_all(PASTSET_BLOCK, true, "bytes[20]");
}

Test(ledger, is_that_of_the_model_under_discard, .timeout = 120)
{
    run_all(PASTSET_DISCARD, false, "u64");
    run_all(PASTSET_DISCARD, true, "u64");
    run_all(PASTSET_DISCARD, true, "bytes[20]");
}

Test(ledger, is_that_of_the_model_under_grow, .timeout = 120)
{
    run_all(PASTSET_GROW, false, "u64");
    run_all(PASTSET_GROW, true, "u64");
    run_all(PASTSET_GROW, false, "bytes[8]");
}

/* Held requests too: writers and observers meet in the order they came. */
Test(ledger, counts_what_held_requests_did, .timeout = 120)
{
    for (int one = 0; one < 2; one++) {
        pastset_element *e = numbers(PASTSET_BLOCK, 3, one);
        static held h[4000];
        uint64_t writes = 0, observed = 0, observes = 0;
        random_state = 77;
        for (int i = 0; i < 4000; i++) {
            bool write = random_below(2);
            int status =
                held_submit(e, &h[i], write ? PASTSET_WRITE : PASTSET_OBSERVE,
                            write ? ++writes : 0);
            cr_assert(status == 0 || status == PASTSET_HELD);
            observes += !write;
        }
        for (int i = 0; i < 4000; i++)
            if (h[i].request.verb == PASTSET_OBSERVE && h[i].value)
                cr_assert_eq(h[i].value, ++observed);
        cr_assert_eq(observed, observes < writes ? observes : writes);
        cr_assert_eq(ledger_of(e).consumed, observed);
        cr_assert_leq(ledger_of(e).present, 3);
        pastset_space_close(e->space);
    }
}
