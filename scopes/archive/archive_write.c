/* archive_write.c - writing archives.
 *
 * Tuples are kept by stream until they fill a block. A block is written by one
 * write at the end of the file, and cut off again when not all of it went
 * there, so that whoever reads meanwhile sees whole blocks, and at most one at
 * the end that is not. */
#include "scopes/archive/archive_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "pastset/array.h"
#include "pastset/status.h"

#define FIRST_CAPACITY 64 /* tuples for which a stream has room at first */

/* --- the file --- */

int scopes__archive_fail_errno(const scopes_archive_writer *w, const char *what)
{
    int error = errno;
    bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;

    return pastset_fail(full ? PASTSET_ENOSPC : PASTSET_EIO, "%s: %s: %s",
                        w->file, what, strerror(error));
}

int scopes__archive_bytes_append(scopes_archive_writer *w,
                                 const unsigned char *bytes, size_t count)
{
    size_t done = 0;

    while (done < count) {
        ssize_t n =
            pwrite(w->fd, bytes + done, count - done, (off_t)(w->end + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            int err = scopes__archive_fail_errno(w, "writing");
            if (done > 0 && ftruncate(w->fd, (off_t)w->end) != 0)
                err = scopes__archive_fail_errno(w, "cutting off half a block");
            return err;
        }
        done += (size_t)n;
    }
    w->end += count;
    return 0;
}

static int head_append(scopes_archive_writer *w, archive_block *b)
{
    b->offset = w->end;
    b->index = w->index;
    b->sum = (uint32_t)crc32(0, w->block + ARCHIVE_BLOCK_BYTES, b->packed);
    scopes__archive_block_put(w->block, b);
    return scopes__archive_bytes_append(w, w->block,
                                        ARCHIVE_BLOCK_BYTES + b->packed);
}

/* Compresses what becomes the content of the block. */
static int content_pack(scopes_archive_writer *w, archive_block *b,
                        const unsigned char *raw, size_t bytes)
{
    size_t packed = ZSTD_compress2(w->packer, w->block + ARCHIVE_BLOCK_BYTES,
                                   ARCHIVE_PACKED_MAX, raw, bytes);

    if (ZSTD_isError(packed))
        return pastset_fail(PASTSET_ENOMEM, "%s: compressing: %s", w->file,
                            ZSTD_getErrorName(packed));
    b->raw = (uint32_t)bytes;
    b->packed = (uint32_t)packed;
    return 0;
}

static int index_write(scopes_archive_writer *w)
{
    archive_block b = {.kind = ARCHIVE_INDEX, .count = w->head_count};
    int err;

    b.numbers[INDEX_BEFORE] = w->index;
    b.numbers[INDEX_FROM] = w->heads_from;
    err = content_pack(w, &b, w->heads,
                       (size_t)w->head_count * ARCHIVE_BLOCK_BYTES);
    if (err)
        return err;
    err = head_append(w, &b);
    if (err)
        return err;
    w->index = b.offset;
    w->head_count = 0;
    w->heads_from = w->end;
    return 0;
}

/* Packs and appends a block, with the index before it if that is due. */
static int block_append(scopes_archive_writer *w, archive_block *b,
                        const unsigned char *raw, size_t bytes)
{
    int err = w->head_count == ARCHIVE_INDEX_HEADS ? index_write(w) : 0;

    if (!err && bytes > 0)
        err = content_pack(w, b, raw, bytes);
    if (err)
        return err;
    err = head_append(w, b);
    if (err)
        return err;
    memcpy(w->heads + (size_t)w->head_count++ * ARCHIVE_BLOCK_BYTES, w->block,
           ARCHIVE_BLOCK_BYTES);
    return 0;
}

/* --- blocks of tuples --- */

static void ranges_find(archive_block *b, const eventspace_trace *events)
{
    uint64_t from = UINT64_MAX, to = 0;
    uint32_t from_thread = UINT32_MAX, to_thread = 0;
    uint32_t from_collector = UINT32_MAX, to_collector = 0;

    for (uint32_t i = 0; i < b->count; i++) {
        const eventspace_trace *e = &events[i];
        from = e->start < from ? e->start : from;
        to = e->end > to ? e->end : to;
        from_thread = e->thread < from_thread ? e->thread : from_thread;
        to_thread = e->thread > to_thread ? e->thread : to_thread;
        from_collector =
            e->collector < from_collector ? e->collector : from_collector;
        to_collector =
            e->collector > to_collector ? e->collector : to_collector;
    }
    b->numbers[TUPLES_FROM_TICKS] = from;
    b->numbers[TUPLES_TO_TICKS] = to;
    b->from_thread = from_thread;
    b->to_thread = to_thread;
    b->from_collector = from_collector;
    b->to_collector = to_collector;
}

/* Writes tuples without a gap; the first is at `index`. */
static int tuples_write(scopes_archive_writer *w, uint32_t number,
                        uint64_t index, const eventspace_trace *events,
                        uint32_t count)
{
    archive_block b = {.kind = ARCHIVE_TUPLES, .count = count};
    int err;

    strcpy(b.stream, w->names.names[number]); /* tail_get has looked at it */
    b.numbers[TUPLES_INDEX] = index;
    b.numbers[TUPLES_LOST] = w->streams[number].lost;
    ranges_find(&b, events);
    err = block_append(w, &b, w->raw,
                       scopes__archive_encode(w->raw, events, count));
    if (!err)
        w->tuples += count;
    return err;
}

static int kept_write(scopes_archive_writer *w, uint32_t number)
{
    archive_tail *l = &w->streams[number];
    int err;

    if (l->count == 0)
        return 0;
    err = tuples_write(w, number, l->next - l->count, l->events, l->count);
    if (err)
        return err;
    l->count = 0;
    return 0;
}

/* --- appending --- */

static int tail_add(scopes_archive_writer *w, const char *name)
{
    uint32_t number = w->names.count;
    archive_tail *more = pastset_array_grow(w->streams, number, sizeof(*more));
    int err;

    if (!more)
        return pastset_fail(PASTSET_ENOMEM, "%s: no memory for %u streams",
                            w->file, number + 1);
    w->streams = more;
    err = scopes__archive_name_add(&w->names, name);
    if (!err)
        more[number] = (archive_tail){.retry = UINT64_MAX, .told = true};
    return err;
}

int scopes__archive_tail_get(scopes_archive_writer *w, const char *name,
                             uint32_t *number)
{
    *number = scopes__archive_name_find(&w->names, name);
    if (*number != UINT32_MAX)
        return 0;
    if (!*name || strlen(name) >= PASTSET_NAME_BYTES)
        return pastset_fail(PASTSET_EINVAL,
                            "%s: \"%s\" cannot be the name of a stream",
                            w->file, name);
    *number = w->names.count;
    return tail_add(w, name);
}

static int stream_grow(const scopes_archive_writer *w, archive_tail *l,
                       size_t wanted)
{
    size_t capacity = l->capacity ? l->capacity : FIRST_CAPACITY;
    eventspace_trace *more;

    if (wanted > SCOPES_ARCHIVE_BLOCK)
        wanted = SCOPES_ARCHIVE_BLOCK;
    while (capacity < wanted)
        capacity *= 2;
    if (l->capacity >= capacity)
        return 0;
    more = realloc(l->events, capacity * sizeof(*more));
    if (!more)
        return pastset_fail(PASTSET_ENOMEM, "%s: no memory for a block",
                            w->file);
    l->events = more;
    l->capacity = (uint32_t)capacity;
    return 0;
}

/* Takes some of the tuples, and writes a block if it is full then: from where
 * they are, if they make a whole one. */
static int tuples_take(scopes_archive_writer *w, uint32_t number,
                       const eventspace_trace *events, size_t count,
                       size_t *taken)
{
    archive_tail *l = &w->streams[number];
    size_t fits = SCOPES_ARCHIVE_BLOCK - l->count;
    int err;

    *taken = count < fits ? count : fits;
    if (*taken == SCOPES_ARCHIVE_BLOCK) {
        err = tuples_write(w, number, l->next, events, SCOPES_ARCHIVE_BLOCK);
        if (!err)
            l->next += *taken;
        return err;
    }
    err = stream_grow(w, l, l->count + *taken);
    if (err)
        return err;
    memcpy(l->events + l->count, events, *taken * sizeof(*events));
    l->count += (uint32_t)*taken;
    l->next += *taken;
    return l->count == SCOPES_ARCHIVE_BLOCK ? kept_write(w, number) : 0;
}

/* From here on the stream goes on at `index`. */
static int gap_leave(scopes_archive_writer *w, uint32_t number, uint64_t index)
{
    archive_tail *l = &w->streams[number];
    int err = kept_write(w, number);

    if (err)
        return err;
    l->lost += index - l->next;
    l->next = index;
    return 0;
}

int scopes_archive_append(scopes_archive_writer *w, const char *name,
                          uint64_t index, const eventspace_trace *events,
                          size_t count)
{
    uint64_t first = index, after = index + count;
    uint32_t number;
    archive_tail *l;
    int err = scopes__archive_tail_get(w, name, &number);

    if (err || count == 0)
        return err;
    l = &w->streams[number];
    /* What failed comes again, or what is still there of it: the oldest tuples
     * may be gone by then. */
    if (l->retry <= index && l->next > index) {
        size_t known = l->next - index < count ? l->next - index : count;
        index += known;
        events += known;
        count -= known;
    }
    if (count > 0 && (index < l->next || index > UINT64_MAX - count))
        return pastset_fail(PASTSET_EINVAL,
                            "%s: tuple %llu of stream %s is there already",
                            w->file, (unsigned long long)index, name);
    if (l->count == SCOPES_ARCHIVE_BLOCK) /* it could not be written before */
        err = kept_write(w, number);
    if (!err && index > l->next)
        err = gap_leave(w, number, index);
    while (!err && count > 0) {
        size_t taken;
        uint64_t before = l->next;
        err = tuples_take(w, number, events, count, &taken);
        w->appended += l->next - before;
        events += taken;
        count -= taken;
    }
    l->retry = err || after < l->next ? first : UINT64_MAX;
    return err;
}

static int end_write(scopes_archive_writer *w, uint32_t number)
{
    archive_block b = {.kind = ARCHIVE_END};
    archive_tail *l = &w->streams[number];
    int err = kept_write(w, number);

    if (err || l->told)
        return err;
    strcpy(b.stream, w->names.names[number]);
    b.numbers[END_WRITTEN] = l->written;
    b.numbers[END_REFUSED] = l->refused;
    b.numbers[END_LOST] = l->lost + (l->written - l->next);
    err = block_append(w, &b, NULL, 0);
    l->told = !err;
    return err;
}

int scopes_archive_end_stream(scopes_archive_writer *w, const char *name,
                              uint64_t written, uint64_t refused)
{
    uint32_t number;
    archive_tail *l;
    int err = scopes__archive_tail_get(w, name, &number);

    if (err)
        return err;
    l = &w->streams[number];
    if (written < l->next)
        written = l->next;
    if (written > l->written || refused > l->refused) {
        l->written = written > l->written ? written : l->written;
        l->refused = refused > l->refused ? refused : l->refused;
        l->told = false;
    }
    return end_write(w, number);
}

int scopes_archive_note(scopes_archive_writer *w,
                        const scopes_archive_cost *cost)
{
    w->noted = *cost;
    w->cost_changed = true;
    return 0;
}

void scopes_archive_count(const scopes_archive_writer *w,
                          scopes_archive_ledger *out)
{
    *out = (scopes_archive_ledger){
        .saved = w->tuples, .appended = w->appended, .bytes = w->end};
    for (uint32_t i = 0; i < w->names.count; i++) {
        const archive_tail *l = &w->streams[i];
        out->recorded +=
            (l->written > l->next ? l->written : l->next) + l->refused;
    }
}

static int cost_write(scopes_archive_writer *w)
{
    archive_block b = {.kind = ARCHIVE_COST};
    int err;

    b.numbers[COST_TUPLES] = w->tuples;
    b.numbers[COST_BYTES] = w->end;
    b.numbers[COST_PROCESSOR] = w->before.processor_ns + w->noted.processor_ns;
    b.numbers[COST_PULLS] = w->before.pulls + w->noted.pulls;
    b.numbers[COST_ELAPSED] = w->before.elapsed_ns + w->noted.elapsed_ns;
    err = block_append(w, &b, NULL, 0);
    if (!err)
        w->cost_changed = false;
    return err;
}

int scopes_archive_flush(scopes_archive_writer *w)
{
    int err = 0;

    for (uint32_t i = 0; i < w->names.count && !err; i++)
        err = end_write(w, i); /* with what an earlier failure left */
    if (!err && w->cost_changed)
        err = cost_write(w);
    return err;
}

int scopes_archive_write_stream(scopes_archive_writer *w, const char *name)
{
    uint32_t number = scopes__archive_name_find(&w->names, name);

    return number == UINT32_MAX ? 0 : kept_write(w, number);
}

uint64_t scopes_archive_saved(const scopes_archive_writer *w, const char *name)
{
    uint32_t number = scopes__archive_name_find(&w->names, name);

    return number == UINT32_MAX
               ? 0
               : w->streams[number].next - w->streams[number].count;
}

uint64_t scopes_archive_next(const scopes_archive_writer *w, const char *name)
{
    uint32_t number = scopes__archive_name_find(&w->names, name);

    return number == UINT32_MAX ? 0 : w->streams[number].next;
}
