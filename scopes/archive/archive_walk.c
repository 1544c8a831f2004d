/* archive_walk.c - finding the blocks of an archive.
 *
 * It goes from head to head and keeps some 90 bytes for each block; contents
 * are left alone. Where no good head stands, the file is searched for the next
 * one. What comes after the last good block is the tail: one that is being
 * written, as the writer's lock tells, or one that was cut off. It is looked
 * at again each time. */
#include "scopes/archive/archive_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pastset/status.h"

#define SEEK_BYTES (256u << 10) /* read at once when searching */

/* --- what is wrong --- */

static void problem_compose(scopes_archive *a)
{
    snprintf(a->problem, sizeof(a->problem), "%s%s%s", a->damage,
             *a->damage && *a->tail ? "; " : "", a->tail);
}

void scopes__archive_damage(scopes_archive *a, const char *format, ...)
{
    static const char more[] = "; and more";
    size_t used = strlen(a->damage),
           capacity = sizeof(a->damage) - sizeof(more);
    va_list arguments;
    int length;

    if (used >= capacity) /* `more` was said */
        return;
    used += (size_t)snprintf(a->damage + used, sizeof(a->damage) - used, "%s",
                             used ? "; " : "");
    va_start(arguments, format);
    length = vsnprintf(a->damage + used, sizeof(a->damage) - used, format,
                       arguments);
    va_end(arguments);
    if (length < 0 || used + (size_t)length >= capacity)
        memcpy(a->damage + capacity, more, sizeof(more));
    problem_compose(a);
}

/* --- the file --- */

static int fail_io(const scopes_archive *a, const char *what)
{
    return pastset_fail(PASTSET_EIO, "%s: %s: %s", a->file, what,
                        strerror(errno));
}

ssize_t scopes__archive_pread(scopes_archive *a, void *out, size_t bytes,
                              uint64_t offset)
{
    size_t got = 0;

    while (got < bytes) {
        ssize_t n =
            pread(a->fd, (char *)out + got, bytes - got, (off_t)(offset + got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_io(a, "reading");
        if (n == 0)
            break;
        got += (size_t)n;
    }
    a->read_bytes += got;
    return (ssize_t)got;
}

/* How far the file may be looked at. */
static int size_get(const scopes_archive *a, uint64_t *size)
{
    struct stat info;

    if (fstat(a->fd, &info) != 0)
        return fail_io(a, "its size");
    if (S_ISDIR(info.st_mode))
        return pastset_fail(PASTSET_EFORMAT, "%s: is a directory", a->file);
    *size =
        (uint64_t)info.st_size < a->limit ? (uint64_t)info.st_size : a->limit;
    return 0;
}

/* Somebody has it open for writing. */
static bool is_written(const scopes_archive *a)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    return fcntl(a->fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/* --- taking in blocks --- */

/* There is a stream for each name: before it gets one. */
static int streams_reserve(scopes_archive *a)
{
    uint32_t capacity = a->stream_capacity ? 2 * a->stream_capacity : 32;
    archive_stream *more;

    if (a->names.count < a->stream_capacity)
        return 0;
    more = realloc(a->streams, capacity * sizeof(*more));
    if (!more)
        return pastset_fail(PASTSET_ENOMEM, "%s: no memory for its streams",
                            a->file);
    a->streams = more;
    a->stream_capacity = capacity;
    return 0;
}

static int stream_get(scopes_archive *a, const char *name, archive_stream **out)
{
    uint32_t before = a->names.count, number;
    int err = streams_reserve(a);

    if (!err)
        err = scopes__archive_name_add(&a->names, name, &number);
    if (err)
        return err;
    if (number == before)
        a->streams[number] =
            (archive_stream){.shown.name = a->names.names[number]};
    *out = &a->streams[number];
    return 0;
}

static int blocks_grow(scopes_archive *a)
{
    uint32_t capacity =
        a->block_capacity ? a->block_capacity + a->block_capacity / 2 : 256;
    scopes_archive_block *blocks;
    archive_content *contents;

    if (a->block_count < a->block_capacity)
        return 0;
    blocks = realloc(a->blocks, capacity * sizeof(*blocks));
    if (blocks)
        a->blocks = blocks;
    contents =
        blocks ? realloc(a->contents, capacity * sizeof(*contents)) : NULL;
    if (!contents)
        return pastset_fail(PASTSET_ENOMEM, "%s: no memory for %u blocks",
                            a->file, capacity);
    a->contents = contents;
    a->block_capacity = capacity;
    return 0;
}

static int stream_grow(scopes_archive *a, archive_stream *l)
{
    uint32_t capacity = l->capacity ? l->capacity + l->capacity / 2 : 16;
    uint32_t *more;

    if (l->count < l->capacity)
        return 0;
    more = realloc(l->blocks, capacity * sizeof(*more));
    if (!more)
        return pastset_fail(PASTSET_ENOMEM, "%s: no memory for %u blocks",
                            a->file, capacity);
    l->blocks = more;
    l->capacity = capacity;
    return 0;
}

/* Tuples from `next` to `to`, of which so many are missing and were not missed
 * by the writer, stood in blocks that are damaged. */
static void gap_note(scopes_archive *a, const archive_stream *l, uint64_t to,
                     uint64_t missed)
{
    uint64_t gap = to - l->shown.next;
    uint64_t known = missed > l->missed ? missed - l->missed : 0;

    if (known < gap)
        scopes__archive_damage(
            a, "lost by damage: %llu tuples of stream %s from %llu to %llu",
            (unsigned long long)(gap - known), l->shown.name,
            (unsigned long long)l->shown.next, (unsigned long long)to - 1);
}

static int tuples_take(scopes_archive *a, archive_stream *l,
                       const archive_block *b)
{
    uint64_t index = b->numbers[TUPLES_INDEX];
    int err = blocks_grow(a);

    if (!err)
        err = stream_grow(a, l);
    if (err)
        return err;
    if (index < l->shown.next) {
        scopes__archive_damage(
            a, "byte %llu: tuples of stream %s once more, left out",
            (unsigned long long)b->offset, l->shown.name);
        return 0;
    }
    gap_note(a, l, index, b->numbers[TUPLES_LOST]);
    a->blocks[a->block_count] = (scopes_archive_block){
        .stream = (size_t)(l - a->streams),
        .index = index,
        .count = b->count,
        .from_ticks = b->numbers[TUPLES_FROM_TICKS],
        .to_ticks = b->numbers[TUPLES_TO_TICKS],
        .from_thread = b->from_thread,
        .to_thread = b->to_thread,
        .from_collector = b->from_collector,
        .to_collector = b->to_collector,
        .offset = b->offset,
    };
    a->contents[a->block_count] =
        (archive_content){b->packed, b->raw, b->sum, false};
    l->blocks[l->count++] = a->block_count++;
    l->shown.tuples += b->count;
    l->shown.next = index + b->count;
    l->missed = b->numbers[TUPLES_LOST];
    if (l->shown.written < l->shown.next)
        l->shown.written = l->shown.next;
    return 0;
}

static void end_take(scopes_archive *a, archive_stream *l,
                     const archive_block *b)
{
    uint64_t written = b->numbers[END_WRITTEN];

    if (written > l->shown.next)
        gap_note(a, l, written, b->numbers[END_LOST]);
    if (written > l->shown.written)
        l->shown.written = written;
    if (b->numbers[END_REFUSED] > l->shown.refused)
        l->shown.refused = b->numbers[END_REFUSED];
}

static int block_note(scopes_archive *a, const archive_block *b)
{
    archive_stream *l = NULL;
    int err;

    if (b->kind == ARCHIVE_COST) {
        a->cost = (scopes_archive_cost){
            b->numbers[COST_TUPLES], b->numbers[COST_BYTES],
            b->numbers[COST_PROCESSOR], b->numbers[COST_PULLS],
            b->numbers[COST_ELAPSED]};
        return 0;
    }
    if (b->kind == ARCHIVE_INDEX) {
        a->index = b->offset;
        return 0;
    }
    err = stream_get(a, b->stream, &l);
    if (err)
        return err;
    if (b->kind == ARCHIVE_TUPLES)
        return tuples_take(a, l, b);
    end_take(a, l, b);
    return 0;
}

int scopes__archive_take(scopes_archive *a, const archive_block *b)
{
    int err = block_note(a, b);

    if (!err)
        a->at = b->offset + ARCHIVE_BLOCK_BYTES + b->packed;
    return err;
}

/* --- walking --- */

int scopes__archive_look(scopes_archive *a, uint64_t offset, archive_block *out)
{
    unsigned char head[ARCHIVE_BLOCK_BYTES];
    ssize_t got = scopes__archive_pread(a, head, sizeof(head), offset);

    if (got < 0)
        return (int)got;
    return got == (ssize_t)sizeof(head) &&
           scopes__archive_block_get(out, head, offset);
}

/* Searches [from, size) for a good head. 1 with it in `*out`, 0, or an
 * error. */
static int block_search(scopes_archive *a, uint64_t from, uint64_t size,
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
    found = block_search(a, a->at + 1, size, out);
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
    if (left == 0 || a->written || is_written(a))
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
    problem_compose(a);
    return 0;
}

/* --- the head of the file --- */

/* A file whose head is damaged is an archive if there are blocks in it. */
static int head_replace(scopes_archive *a, uint64_t size)
{
    char why[400];
    archive_block b;
    int found;

    snprintf(why, sizeof(why), "%s", pastset_error());
    found = block_search(a, 0, size, &b);
    if (found < 0)
        return found;
    if (!found)
        return pastset_fail(PASTSET_EFORMAT, "%s", why);
    scopes__archive_damage(
        a, "its head is damaged, and the name of its host lost");
    a->at = ARCHIVE_HEAD_BYTES;
    if (b.offset < a->at)
        a->at = b.offset;
    return 0;
}

/* A file that is cut off within its head has nothing else, and that is not for
 * others to stop at. */
static int head_read(scopes_archive *a, uint64_t size)
{
    unsigned char head[ARCHIVE_HEAD_BYTES], begin[ARCHIVE_HEAD_BYTES];
    ssize_t got = scopes__archive_pread(a, head, sizeof(head), 0);
    int err;

    a->tail[0] = 0;
    if (got < 0)
        return (int)got;
    if (got < (ssize_t)sizeof(head)) {
        scopes__archive_head_put(begin, "");
        if (memcmp(head, begin, got < 20 ? (size_t)got : 20) != 0)
            return pastset_fail(PASTSET_EFORMAT, "%s: is no archive", a->file);
        if (!a->written && !is_written(a))
            snprintf(a->tail, sizeof(a->tail),
                     "it ends within its head: nothing was saved yet");
        problem_compose(a);
        return 0;
    }
    a->at = ARCHIVE_HEAD_BYTES;
    err = scopes__archive_head_get(a->host, head, a->file);
    if (err == PASTSET_EFORMAT)
        err = head_replace(a, size);
    if (!err)
        err = scopes__archive_index_use(a, size);
    a->started = !err;
    return err == PASTSET_ENOTSUP ? PASTSET_EFORMAT : err;
}

int scopes__archive_walk(scopes_archive *a)
{
    uint64_t size = 0;
    int err;

    /* First: it may be let go of while we look. */
    a->written = is_written(a);
    err = size_get(a, &size);
    if (!err && !a->started)
        err = head_read(a, size);
    if (!err && a->started)
        err = scopes__archive_heads(a, size);
    return err;
}
