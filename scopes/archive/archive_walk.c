/* archive_walk.c - finding the blocks of an archive.
 *
 * It goes from head to head; contents are left alone. Where no good head
 * stands, the file is searched for the next one. What comes after the last good
 * block is the tail: one that is being written, as the writer's lock tells, or
 * one that was cut off. It is looked at again each time. */
#include "scopes/archive/archive_internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "pastset/status.h"

#define SEEK_BYTES (256u << 10) /* read at once when searching */

int scopes__archive_search(scopes_archive *a, uint64_t from, uint64_t size,
                           archive_block *out)
{
    unsigned char *bytes = malloc(SEEK_BYTES);
    int found =
        bytes ? 0 : pastset_fail(PASTSET_ENOMEM, "%s: no memory", a->file);

    while (!found && size > from && size - from >= ARCHIVE_BLOCK_BYTES) {
        uint64_t left = size - from;
        size_t want = left < SEEK_BYTES ? (size_t)left : SEEK_BYTES;
        ssize_t got = scopes__archive_pread(a, bytes, want, from);
        const unsigned char *at = bytes;
        if (got < 8) {
            found = got < 0 ? (int)got : 0;
            break;
        }
        while (!found && (at = scopes__archive_block_seek(
                              at, (size_t)(bytes + got - at))) != NULL) {
            found = scopes__archive_look(a, from + (uint64_t)(at - bytes), out);
            at++;
        }
        from += (uint64_t)got - 7; /* a head may begin in the last seven */
    }
    free(bytes);
    return found;
}

static bool is_whole(const archive_block *b, uint64_t size)
{
    return b->packed <= size &&
           b->offset + ARCHIVE_BLOCK_BYTES <= size - b->packed;
}

static bool is_zero(scopes_archive *a, uint64_t from, uint64_t to)
{
    unsigned char bytes[4096];

    while (from < to) {
        size_t want =
            to - from < sizeof(bytes) ? (size_t)(to - from) : sizeof(bytes);
        ssize_t got = scopes__archive_pread(a, bytes, want, from);
        for (ssize_t i = 0; i < got; i++)
            if (bytes[i])
                return false;
        if (got <= 0)
            return false;
        from += (uint64_t)got;
    }
    return true;
}

/* The next block, at the end of those known or behind what is damaged there. 1,
 * 0, or an error.
 *
 * What a killed writer left at the end is cut off and written over by the next
 * one, which may come between the look and the search: so whoever has found a
 * block further on looks once more, as it was written later than what stands
 * in front of it. */
static int next_find(scopes_archive *a, uint64_t size, archive_block *out)
{
    archive_block first;
    int found = scopes__archive_look(a, a->at, out), again;

    if (found != 0)
        return found;
    found = scopes__archive_search(a, a->at + 1, size, out);
    if (found <= 0)
        return found;
    again = scopes__archive_look(a, a->at, &first);
    if (again > 0)
        *out = first;
    return again < 0 ? again : found;
}

/* What is behind the last good block, with the head of the block that was cut
 * off, if that is there. */
static void tail_note(scopes_archive *a, uint64_t size,
                      const archive_block *cut)
{
    unsigned long long at = a->at, left = size - a->at;

    a->tail[0] = 0;
    if (left == 0 || a->written || scopes__archive_is_written(a))
        return;
    if (cut && cut->kind == ARCHIVE_TUPLES)
        snprintf(a->tail, sizeof(a->tail),
                 "cut off at byte %llu, in a block of %u tuples of stream %s "
                 "from %llu on, which are lost",
                 at + left, cut->count, cut->stream,
                 (unsigned long long)cut->numbers[TUPLES_INDEX]);
    else
        snprintf(a->tail, sizeof(a->tail),
                 "damaged from byte %llu to its end: %llu bytes that are %s; "
                 "what was in them is lost",
                 at, left, is_zero(a, a->at, size) ? "zero" : "no block");
}

int scopes__archive_heads(scopes_archive *a, uint64_t size)
{
    archive_block b;
    int found = 0, err = 0;

    a->tail[0] = 0;
    while (!err && a->at < size) {
        found = next_find(a, size, &b);
        if (found <= 0 || !is_whole(&b, size))
            break;
        if (b.offset != a->at)
            scopes__archive_damage(a, "bytes %llu to %llu are damaged",
                                   (unsigned long long)a->at,
                                   (unsigned long long)b.offset - 1);
        err = scopes__archive_take(a, &b);
    }
    if (err || found < 0)
        return err ? err : found;
    if (a->at < size)
        tail_note(a, size, found == 1 ? &b : NULL);
    scopes__archive_problem_compose(a);
    return 0;
}
