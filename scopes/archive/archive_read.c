/* archive_read.c - archives that are open for reading: opening, what they
 * have, and the contents of their blocks. */
#include "scopes/archive/archive_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "pastset/status.h"

#define RESUME_TRIES 64 /* damaged contents at the end, one by one */

/* --- the head of the file --- */

/* A file whose head is damaged is an archive if there are blocks in it. */
static int head_replace(scopes_archive *a, uint64_t size)
{
    char why[400];
    archive_block b;
    int found;

    snprintf(why, sizeof(why), "%s", pastset_error());
    found = scopes__archive_search(a, 0, size, &b);
    if (found < 0)
        return found;
    if (!found)
        return pastset_fail(PASTSET_EFORMAT, "%s", why);
    scopes__archive_damage(
        a, "its head is damaged, and the name of its process lost");
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
            return pastset_fail(PASTSET_EFORMAT, "%s: not an archive", a->file);
        if (!a->written && !scopes__archive_is_written(a))
            snprintf(a->tail, sizeof(a->tail),
                     "it ends within its head: nothing was saved yet");
        scopes__archive_problem_compose(a);
        return 0;
    }
    a->at = ARCHIVE_HEAD_BYTES;
    err = scopes__archive_head_get(a->process, head, a->file);
    if (err == PASTSET_EFORMAT)
        err = head_replace(a, size);
    if (!err)
        err = scopes__archive_index_use(a, size);
    a->started = !err;
    return err == PASTSET_ENOTSUP ? PASTSET_EFORMAT : err;
}

int scopes_archive_refresh(scopes_archive *a)
{
    uint64_t size = 0;
    int err;

    /* First: it may be let go of while we look. */
    a->written = scopes__archive_is_written(a);
    err = scopes__archive_size(a, &size);
    if (!err && !a->started)
        err = head_read(a, size);
    if (!err && a->started)
        err = scopes__archive_heads(a, size);
    return err;
}

/* --- opening --- */

static int archive_make(scopes_archive **out, const char *file, int fd,
                        bool borrowed, uint64_t limit)
{
    scopes_archive *a = calloc(1, sizeof(*a));
    int err;

    if (!a) {
        if (!borrowed)
            close(fd);
        return pastset_fail(PASTSET_ENOMEM, "%s: no memory", file);
    }
    a->fd = fd;
    a->borrowed = borrowed;
    a->limit = limit;
    a->file = strdup(file);
    err = a->file ? scopes_archive_refresh(a)
                  : pastset_fail(PASTSET_ENOMEM, "%s: no memory", file);
    if (err)
        scopes_archive_close(a);
    else
        *out = a;
    return err;
}

int scopes_archive_open(scopes_archive **out, const char *file)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    int error = errno;

    if (fd < 0)
        return pastset_fail(error == ENOENT ? PASTSET_ENOENT : PASTSET_EIO,
                            "%s: %s", file, strerror(error));
    return archive_make(out, file, fd, false, UINT64_MAX);
}

/* Blocks with a good head and a damaged content at the end belong to the tail:
 * a computer that went down may have kept the one and not the other. */
int scopes__archive_resume(scopes_archive **out, const char *file, int fd,
                           uint64_t *end)
{
    eventspace_trace *tuples = malloc(SCOPES_ARCHIVE_BLOCK * sizeof(*tuples));
    uint64_t limit = UINT64_MAX;
    int err = 0;

    *out = NULL;
    if (!tuples)
        return pastset_fail(PASTSET_ENOMEM, "%s: no memory", file);
    for (int i = 0; i < RESUME_TRIES; i++) {
        const scopes_archive_block *last;
        scopes_archive_close(*out);
        *out = NULL;
        err = archive_make(out, file, fd, true, limit);
        if (err || !(*out)->block_count)
            break;
        last = &(*out)->blocks[(*out)->block_count - 1];
        err = scopes_archive_read(*out, (*out)->block_count - 1, tuples);
        if (err != PASTSET_EFORMAT)
            break;
        err = 0;
        limit = last->offset;
    }
    free(tuples);
    if (!err)
        *end = (*out)->at;
    else
        scopes_archive_close(*out);
    return err;
}

void scopes_archive_close(scopes_archive *a)
{
    if (!a)
        return;
    for (uint32_t i = 0; i < a->names.count; i++)
        free(a->streams[i].blocks);
    free(a->streams);
    scopes__archive_names_fini(&a->names);
    free(a->blocks);
    free(a->contents);
    ZSTD_freeDCtx(a->unpacker);
    free(a->packed);
    free(a->raw);
    if (!a->borrowed)
        close(a->fd);
    free(a->file);
    free(a);
}

/* --- what there is --- */

const char *scopes_archive_process(const scopes_archive *a)
{
    return a->process;
}

const char *scopes_archive_problem(const scopes_archive *a)
{
    return a->problem;
}

/* Tuples and bytes are known without being told. */
scopes_archive_cost scopes_archive_costs(const scopes_archive *a)
{
    scopes_archive_cost cost = a->cost;

    cost.tuples = 0;
    for (uint32_t i = 0; i < a->names.count; i++)
        cost.tuples += a->streams[i].shown.tuples;
    cost.bytes = a->at;
    return cost;
}

size_t scopes_archive_streams(const scopes_archive *a)
{
    return a->names.count;
}

const scopes_archive_stream *scopes_archive_stream_at(const scopes_archive *a,
                                                      size_t position)
{
    return &a->streams[position].shown;
}

size_t scopes_archive_find(const scopes_archive *a, const char *name)
{
    uint32_t number = scopes__archive_name_find(&a->names, name);

    return number == UINT32_MAX ? SIZE_MAX : number;
}

uint64_t scopes__archive_lost(const scopes_archive *a, size_t position)
{
    return a->streams[position].lost;
}

size_t scopes_archive_blocks(const scopes_archive *a)
{
    return a->block_count;
}

const scopes_archive_block *scopes_archive_block_at(const scopes_archive *a,
                                                    size_t position)
{
    return &a->blocks[position];
}

const uint32_t *scopes_archive_stream_blocks(const scopes_archive *a,
                                             size_t position, size_t *count)
{
    *count = a->streams[position].count;
    return a->streams[position].blocks;
}

uint64_t scopes_archive_read_bytes(const scopes_archive *a)
{
    return a->read_bytes;
}

/* --- contents --- */

static int content_fail(scopes_archive *a, size_t position)
{
    const scopes_archive_block *b = &a->blocks[position];
    archive_content *c = &a->contents[position];
    archive_stream *l = &a->streams[b->stream];

    if (!c->bad) {
        c->bad = true;
        l->shown.tuples -= b->count;
        scopes__archive_damage(
            a,
            "the block at byte %llu is damaged, and %u tuples of stream "
            "%s from %llu on are lost",
            (unsigned long long)b->offset, b->count, l->shown.name,
            (unsigned long long)b->index);
    }
    return pastset_fail(PASTSET_EFORMAT,
                        "%s: the block at byte %llu is damaged: %u tuples of "
                        "stream %s from %llu on are lost",
                        a->file, (unsigned long long)b->offset, b->count,
                        l->shown.name, (unsigned long long)b->index);
}

int scopes_archive_read(scopes_archive *a, size_t position,
                        eventspace_trace *out)
{
    const scopes_archive_block *b;
    const archive_content *c;
    int err;

    if (position >= a->block_count)
        return pastset_fail(PASTSET_EINVAL, "%s: no block number %zu", a->file,
                            position);
    b = &a->blocks[position];
    c = &a->contents[position];
    err = scopes__archive_unpack(a, b->offset, c);
    if (!err && !scopes__archive_decode(out, b->count, a->raw, c->raw))
        err = PASTSET_EFORMAT;
    return err == PASTSET_EFORMAT ? content_fail(a, position) : err;
}
