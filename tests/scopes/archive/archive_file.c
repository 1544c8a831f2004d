/* archive_file.c - see archive_file.h. */
#include "tests/scopes/archive/archive_file.h"
#include "scopes/archive/archive_internal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* --- tuples that are known by their index --- */

uint64_t mixed(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

eventspace_trace event_at(uint64_t index, uint32_t thread)
{
    uint64_t r = mixed(index + 1);
    uint64_t end = 1000000 + 1000 * index + r % 500;
    return (eventspace_trace){.start = end - r % 700,
                              .end = end,
                              .collector = (uint32_t)(index % 3),
                              .thread = thread,
                              .sequence = (uint32_t)(index / 3 + 1),
                              .bytes = 8,
                              .operation = 1};
}

eventspace_trace *events_make(uint64_t from, size_t count, uint32_t thread)
{
    eventspace_trace *events = malloc(count * sizeof(*events));
    cr_assert_not_null(events);
    for (size_t i = 0; i < count; i++)
        events[i] = event_at(from + i, thread);
    return events;
}

void append(scopes_archive_writer *w, const char *stream, uint64_t from,
            size_t count, uint32_t thread)
{
    eventspace_trace *events = events_make(from, count, thread);
    check_status(scopes_archive_append(w, stream, from, events, count), 0);
    free(events);
}

const char *file(void)
{
    return scratch_file("h0.archive");
}

scopes_archive_writer *writer_open(void)
{
    scopes_archive_writer *w;
    check_status(scopes_archive_writer_open(&w, file(), "h0"), 0);
    return w;
}

scopes_archive *archive_open(void)
{
    scopes_archive *a;
    check_status(scopes_archive_open(&a, file()), 0);
    return a;
}

void archive_write(size_t blocks)
{
    scopes_archive_writer *w = writer_open();
    for (size_t i = 0; i < blocks; i++) {
        append(w, "a", i * BLOCK, BLOCK, 1);
        append(w, "b", i * BLOCK, BLOCK, 2);
    }
    check_status(scopes_archive_writer_close(w), 0);
}

/* Reads a stream, and checks that each tuple is the one of its index. Gives how
 * many good ones there were. */
uint64_t stream_check(scopes_archive *a, const char *name, uint32_t thread)
{
    static eventspace_trace events[BLOCK];
    size_t stream = scopes_archive_find(a, name), count;
    const uint32_t *blocks = scopes_archive_stream_blocks(a, stream, &count);
    uint64_t next = 0, sum = 0;

    for (size_t i = 0; i < count; i++) {
        const scopes_archive_block *b = scopes_archive_block_at(a, blocks[i]);
        int err = scopes_archive_read(a, blocks[i], events);
        cr_assert_geq(b->index, next);
        next = b->index + b->count;
        if (err == PASTSET_EFORMAT)
            continue;
        check_status(err, 0);
        for (uint32_t j = 0; j < b->count; j++) {
            eventspace_trace want = event_at(b->index + j, thread);
            cr_assert_eq(memcmp(&events[j], &want, sizeof(want)), 0,
                         "tuple %llu", (unsigned long long)b->index + j);
        }
        sum += b->count;
    }
    cr_assert_eq(sum, scopes_archive_stream_at(a, stream)->tuples);
    return sum;
}

/* --- the bytes of the file --- */

file_content file_bytes(void)
{
    file_content b;
    b.data = (unsigned char *)file_read(file(), &b.count);
    return b;
}

void file_put(const unsigned char *data, size_t count)
{
    int fd = open(file(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, data, count), (ssize_t)count);
    close(fd);
}

uint64_t offset_of(size_t block)
{
    scopes_archive *a = archive_open();
    uint64_t offset = scopes_archive_block_at(a, block)->offset;
    scopes_archive_close(a);
    return offset;
}

void byte_flip(uint64_t offset)
{
    file_content b = file_bytes();
    b.data[offset] ^= 0x40;
    file_put(b.data, b.count);
    free(b.data);
}

void check_problem(const scopes_archive *a, const char *part)
{
    check_says(scopes_archive_problem(a), part);
}

void small_blocks_write(uint64_t blocks, int writers)
{
    uint64_t index = 0;

    for (int i = 0; i < writers; i++) {
        scopes_archive_writer *w = writer_open();
        for (uint64_t k = 0; k < blocks; k++, index += 5) {
            append(w, "a", index, 5, 1);
            append(w, "b", index, 5, 2);
            check_status(scopes_archive_flush(w), 0);
        }
        check_status(scopes_archive_writer_close(w), 0);
    }
}

void check_small_blocks(scopes_archive *a, uint64_t blocks)
{
    cr_assert_eq(scopes_archive_blocks(a), 2 * blocks);
    cr_assert_eq(stream_check(a, "a", 1), 5 * blocks);
    cr_assert_eq(stream_check(a, "b", 2), 5 * blocks);
}
