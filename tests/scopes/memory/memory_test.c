/* memory_test.c - pieces of memory under a limit: they keep what is in them
 * wherever they lie, and what was given back is there for others. */
#include "scopes/memory/memory_internal.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/check.h"

#define MIB (1u << 20)
#define LIMIT (64u * MIB)

static void limit_set(void)
{
    check_status(scopes__memory_limit(LIMIT, MIB), 0);
}

static void limit_end(void)
{
    check_status(scopes__memory_limit(0, 0), 0);
}

TestSuite(memory, .timeout = 120, .init = limit_set, .fini = limit_end);

static void fill(unsigned char *piece, size_t from, size_t to, unsigned seed)
{
    for (size_t i = from; i < to; i += 512)
        piece[i] = (unsigned char)(i / 512 * 7 + seed);
}

static void check_filled(const unsigned char *piece, size_t bytes,
                         unsigned seed)
{
    for (size_t i = 0; i < bytes; i += 512)
        cr_assert_eq(piece[i], (unsigned char)(i / 512 * 7 + seed));
}

/* From the heap into memory of its own, and from there into the file. */
Test(memory, a_piece_keeps_what_is_in_it_while_it_grows)
{
    unsigned char *piece = NULL;
    size_t bytes = 0;

    for (size_t more = MIB / 8; more <= 4 * LIMIT; more *= 2) {
        piece = scopes__resize(piece, more);
        cr_assert(piece);
        fill(piece, bytes, more, 1);
        check_filled(piece, more, 1);
        bytes = more;
    }
    scopes__free(piece);
}

/* One of them at a time is the last in the file. */
Test(memory, pieces_that_grow_by_turns_keep_what_is_in_them)
{
    unsigned char *pieces[3] = {NULL};
    size_t bytes = 0;

    for (size_t more = LIMIT / 2; more <= 2 * LIMIT; more += LIMIT / 4) {
        for (unsigned i = 0; i < 3; i++) {
            pieces[i] = scopes__resize(pieces[i], more);
            cr_assert(pieces[i]);
            fill(pieces[i], bytes, more, i);
        }
        for (unsigned i = 0; i < 3; i++)
            check_filled(pieces[i], more, i);
        bytes = more;
    }
    for (unsigned i = 0; i < 3; i++)
        scopes__free(pieces[i]);
}

/* Across blocks of the file, and where none begins. */
static void check_puts(size_t bytes, bool filed)
{
    unsigned char *from = malloc(bytes), *piece = scopes__allocate(bytes);
    size_t cuts[] = {0, 1, 5000, bytes / 3, bytes - 7, bytes};

    for (size_t i = 0; i < bytes; i++)
        from[i] = (unsigned char)(i * 7 + i / 4096);
    cr_assert(piece);
    cr_assert_eq(scopes__is_filed(piece), filed);
    memset(piece, 0xff, bytes);
    for (size_t i = 5; i-- > 0;)
        scopes__put(piece, cuts[i], from + cuts[i], cuts[i + 1] - cuts[i]);
    cr_assert_eq(memcmp(piece, from, bytes), 0);
    scopes__put(piece, bytes / 2, from, 10);
    cr_assert_eq(memcmp(piece + bytes / 2, from, 10), 0);
    cr_assert_eq(memcmp(piece, from, bytes / 2), 0);
    cr_assert_eq(memcmp(piece + bytes / 2 + 10, from + bytes / 2 + 10,
                        bytes - bytes / 2 - 10),
                 0);
    scopes__free(piece);
    free(from);
}

Test(memory, what_is_put_is_there_wherever_the_piece_lies)
{
    unsigned char *before;

    check_puts(20000, false);
    check_puts(2 * MIB, false);
    check_puts(LIMIT, true);
    before = scopes__allocate(LIMIT); /* so not at the begin of the file */
    cr_assert(before);
    fill(before, 0, LIMIT, 7);
    check_puts(LIMIT, true);
    check_filled(before, LIMIT, 7);
    scopes__free(before);
}

Test(memory, what_was_given_back_is_used_again)
{
    unsigned char *piece = scopes__allocate(4 * MIB);
    unsigned char *again;

    scopes__free(piece);
    again = scopes__allocate(3 * MIB);
    cr_assert_eq(again, piece);
    fill(again, 0, 3 * MIB, 2);
    /* There is one of it. */
    piece = scopes__allocate(4 * MIB);
    cr_assert_neq(piece, again);
    fill(piece, 0, 4 * MIB, 3);
    check_filled(again, 3 * MIB, 2);
    check_filled(piece, 4 * MIB, 3);
    scopes__free(piece);
    scopes__free(again);
}

Test(memory, a_small_piece_does_not_take_a_large_one)
{
    unsigned char *large = scopes__allocate(6 * MIB), *small;

    scopes__free(large);
    small = scopes__allocate(2 * MIB);
    cr_assert_neq(small, large);
    large = scopes__allocate(6 * MIB);
    fill(small, 0, 2 * MIB, 4);
    fill(large, 0, 6 * MIB, 5);
    check_filled(small, 2 * MIB, 4);
    check_filled(large, 6 * MIB, 5);
    scopes__free(small);
    scopes__free(large);
}

Test(memory, spares_go_when_the_limit_does)
{
    for (int i = 0; i < 5; i++) {
        unsigned char *in_memory = scopes__allocate(4 * MIB);
        unsigned char *filed = scopes__allocate(LIMIT);
        unsigned char *small_filed = scopes__allocate(LIMIT / 8 - MIB);
        cr_assert(in_memory && filed && small_filed);
        fill(filed, 0, LIMIT, 6);
        check_filled(filed, LIMIT, 6);
        scopes__free(in_memory);
        scopes__free(filed);
        scopes__free(small_filed);
        limit_end();
        limit_set();
    }
}
