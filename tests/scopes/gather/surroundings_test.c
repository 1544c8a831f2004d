/* surroundings_test.c - times that are joined, against a line of marks. */
#include "scopes/gather/surroundings.h"

#include <stdlib.h>

#include "tests/support/check.h"

TestSuite(surroundings, .timeout = 120);

enum { LINE = 400 };

/* Times apart by one are not joined: their ends are moments, so marks are of
 * halves. */
static void mark(bool *line, const scopes_surroundings *time)
{
    for (uint64_t at = 2 * time->begin_ns; at <= 2 * time->end_ns; at++)
        line[at] = true;
}

static bool is_marked(const bool *line, uint64_t begin, uint64_t end)
{
    for (uint64_t at = 2 * begin; at <= 2 * end; at++)
        if (line[at])
            return true;
    return false;
}

static bool has_gap(const bool *line, const scopes_surroundings *time)
{
    for (uint64_t at = 2 * time->begin_ns; at <= 2 * time->end_ns; at++)
        if (!line[at])
            return true;
    return false;
}

static void check_apart(const surroundings *s)
{
    for (size_t i = 1; i < s->count; i++)
        cr_assert_gt(s->items[i].begin_ns, s->items[i - 1].end_ns);
}

Test(surroundings, are_joined_as_marks_on_a_line)
{
    srand(11);
    for (int round = 0; round < 200; round++) {
        bool line[2 * LINE] = {false};
        surroundings s = {0};
        for (int i = 0; i < 40; i++) {
            uint64_t begin = (uint64_t)(rand() % (LINE - 20));
            scopes_surroundings time = {begin, begin + (uint64_t)(rand() % 15)};
            bool news, expected = has_gap(line, &time);
            check_status(scopes__surroundings_add(&s, &time, &news), 0);
            cr_assert_eq(news, expected);
            mark(line, &time);
            check_apart(&s);
        }
        for (uint64_t begin = 0; begin < LINE - 10; begin++)
            for (uint64_t end = begin; end < begin + 10; end += 3)
                cr_assert_eq(scopes__surroundings_meet(&s, begin, end),
                             is_marked(line, begin, end));
        scopes__surroundings_fini(&s);
    }
}

Test(surroundings, that_ended_are_forgotten)
{
    static const scopes_surroundings times[] = {{5, 9}, {20, 30}, {40, 41}};
    surroundings s = {0};

    for (size_t i = 0; i < 3; i++)
        check_status(scopes__surroundings_add(&s, &times[i], NULL), 0);
    scopes__surroundings_forget(&s, 30);
    cr_assert_eq(s.count, 2);
    cr_expect_eq(s.items[0].begin_ns, 20);
    scopes__surroundings_forget(&s, 31);
    cr_assert_eq(s.count, 1);
    scopes__surroundings_forget(&s, 1000);
    cr_expect_eq(s.count, 0);
    scopes__surroundings_fini(&s);
}
