/* archive_fuzz.c - any bytes as an archive. It is opened, all of its blocks
 * are read, and whoever writes goes on with it. Whatever the file claims,
 * reading stays within it, takes no more memory than a block needs, and ends.
 *
 * Checksums would keep almost all inputs from being looked at. So an input
 * that begins with an S has them put right first (the byte itself is left
 * out): that of the file's head, and those of the head and the content of each
 * block that is where the one before it ends; an input that begins with a C is
 * the content of one block, columns that are not compressed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "pastset/status.h"
#include "scopes/archive/archive_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static eventspace_trace tuples[SCOPES_ARCHIVE_BLOCK + 1];

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "does not hold: %s (%s)\n", what, pastset_error());
    abort();
}

/* --- putting checksums right --- */

static uint32_t number_at(const uint8_t *bytes)
{
    uint32_t number;
    memcpy(&number, bytes, sizeof(number));
    return number;
}

static void sum_put(uint8_t *bytes, size_t count, size_t place)
{
    uint32_t sum;
    memset(bytes + place, 0, 4);
    sum = (uint32_t)crc32(0, bytes, (uInt)count);
    memcpy(bytes + place, &sum, 4);
}

static void seal(uint8_t *bytes, size_t count)
{
    size_t at = ARCHIVE_HEAD_BYTES;

    if (count < at)
        return;
    sum_put(bytes, at, 20);
    while (count - at >= ARCHIVE_BLOCK_BYTES) {
        uint32_t packed = number_at(bytes + at + 28), sum;
        uint64_t offset = at;
        memcpy(bytes + at + 16, &offset, 8);
        if (packed <= count - at - ARCHIVE_BLOCK_BYTES) {
            sum = (uint32_t)crc32(0, bytes + at + ARCHIVE_BLOCK_BYTES, packed);
            memcpy(bytes + at + 36, &sum, 4);
        }
        sum_put(bytes + at, ARCHIVE_BLOCK_BYTES, 8);
        if (packed > count - at - ARCHIVE_BLOCK_BYTES)
            return;
        at += ARCHIVE_BLOCK_BYTES + packed;
    }
}

/* --- reading --- */

static void check_stream(scopes_archive *a, size_t number)
{
    const scopes_archive_stream *stream = scopes_archive_stream_at(a, number);
    uint64_t next = 0, sum = 0;
    const uint32_t *blocks;
    size_t count;

    must(scopes_archive_find(a, stream->name) == number, "streams have names");
    blocks = scopes_archive_stream_blocks(a, number, &count);
    for (size_t i = 0; i < count; i++) {
        const scopes_archive_block *b = scopes_archive_block_at(a, blocks[i]);
        int err = scopes_archive_read(a, blocks[i], tuples);
        must(err == 0 || err == PASTSET_EFORMAT, "a block is read, or damaged");
        must(b->stream == number && b->index >= next, "indexes grow");
        must(b->count > 0 && b->count <= SCOPES_ARCHIVE_BLOCK, "blocks fit");
        next = b->index + b->count;
        sum += err ? 0 : b->count;
        must(!err || *scopes_archive_problem(a), "damage is told");
    }
    stream = scopes_archive_stream_at(a, number);
    must(stream->tuples == sum, "a stream counts what is good");
    must(stream->next == next && stream->written >= next,
         "a stream knows its end");
}

static void check_reading(const char *file)
{
    scopes_archive *a;
    int err = scopes_archive_open(&a, file);

    must(err == 0 || (err == PASTSET_EFORMAT && pastset_error()[0]),
         "a file that is none is called that");
    if (err)
        return;
    for (size_t i = 0; i < scopes_archive_streams(a); i++)
        check_stream(a, i);
    must(scopes_archive_refresh(a) == 0, "nothing has changed");
    scopes_archive_close(a);
}

static void check_writing(const char *file)
{
    eventspace_trace event = {.start = 1, .end = 2};
    scopes_archive_writer *w;
    scopes_archive *a;
    uint64_t next;
    int err = scopes_archive_writer_open(&w, file, "h0");

    must(err == 0 || (err == PASTSET_EFORMAT && pastset_error()[0]),
         "it is gone on with, or refused");
    if (err)
        return;
    next = scopes_archive_next(w, "fuzz");
    if (next < UINT64_MAX - 1)
        must(scopes_archive_append(w, "fuzz", next, &event, 1) == 0,
             "a tuple is taken");
    must(scopes_archive_writer_close(w) == 0, "it is written");
    must(scopes_archive_open(&a, file) == 0, "it can be read again");
    must(
        next >= UINT64_MAX - 1 ||
            scopes_archive_stream_at(a, scopes_archive_find(a, "fuzz"))->next ==
                next + 1,
        "the tuple is there");
    scopes_archive_close(a);
}

static void check_columns(const uint8_t *data, size_t bytes)
{
    static unsigned char again[ARCHIVE_RAW_MAX];
    static eventspace_trace back[SCOPES_ARCHIVE_BLOCK];
    size_t count, length;

    if (bytes < 2)
        return;
    count = (size_t)data[0] * 64 + data[1] + 1;
    if (count > SCOPES_ARCHIVE_BLOCK ||
        !scopes__archive_decode(tuples, count, data + 2, bytes - 2))
        return;
    length = scopes__archive_encode(again, tuples, count);
    must(scopes__archive_decode(back, count, again, length), "and back");
    must(memcmp(back, tuples, count * sizeof(*back)) == 0, "the same tuples");
}

static const char *file_make(const uint8_t *data, size_t bytes)
{
    static int fd = -1;
    static char path[64];

    if (fd < 0) {
        fd = memfd_create("archive", MFD_CLOEXEC);
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    }
    if (ftruncate(fd, 0) != 0 || pwrite(fd, data, bytes, 0) != (ssize_t)bytes)
        abort();
    return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    uint8_t *copy;
    const char *file;

    if (bytes > 0 && data[0] == 'C') {
        check_columns(data + 1, bytes - 1);
        return 0;
    }
    if (bytes > 0 && data[0] == 'S') {
        copy = malloc(bytes);
        must(copy != NULL, "memory");
        memcpy(copy, data + 1, bytes - 1);
        seal(copy, bytes - 1);
        file = file_make(copy, bytes - 1);
        free(copy);
    } else {
        file = file_make(data, bytes);
    }
    check_reading(file);
    check_writing(file);
    return 0;
}
