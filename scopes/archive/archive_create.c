/* archive_create.c - opening archives to write them: new ones, and those that
 * are there, which are gone on with.
 *
 * The file is locked for as long as it is written: two writers would spoil it,
 * and readers know by it whether what they see at the end is still to come or
 * was cut off. The kernel lets go of the lock when the writer is killed. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "pastset/status.h"
#include "scopes/archive/archive_internal.h"

#define LEVEL 1 /* of zstd */

static int file_lock(scopes_archive_writer *w)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    if (fcntl(w->fd, F_OFD_SETLK, &lock) == 0)
        return 0;
    if (errno == EAGAIN || errno == EACCES)
        return pastset_fail(PASTSET_EEXIST,
                            "%s: another archiver is writing to it", w->file);
    return scopes__archive_fail_errno(w, "locking");
}

/* Makes the file under another name, and gives it its own when it is locked
 * and has its head: nobody sees one that has none, and takes it for one that
 * was cut off. */
static int file_make(scopes_archive_writer *w, const char *draft)
{
    unsigned char head[ARCHIVE_HEAD_BYTES];
    int err;

    /* For its owner only, as the space from which it comes. */
    w->fd = open(draft, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (w->fd < 0)
        return scopes__archive_fail_errno(w, "creating");
    err = file_lock(w);
    if (err)
        return err;
    scopes__archive_head_put(head, w->process);
    if (ftruncate(w->fd, 0) != 0)
        err = scopes__archive_fail_errno(w, "creating");
    if (!err)
        err = scopes__archive_bytes_append(w, head, sizeof(head));
    if (!err && link(draft, w->file) != 0)
        err = scopes__archive_fail_errno(w, "creating");
    unlink(draft);
    return err;
}

static int file_open(scopes_archive_writer *w)
{
    char *draft;
    int err;

    w->fd = open(w->file, O_RDWR | O_CLOEXEC);
    if (w->fd >= 0)
        return file_lock(w);
    if (errno != ENOENT)
        return scopes__archive_fail_errno(w, "opening");
    if (asprintf(&draft, "%s.tmp", w->file) < 0)
        return pastset_fail(PASTSET_ENOMEM, "%s: no memory", w->file);
    err = file_make(w, draft);
    free(draft);
    return err;
}

/* Takes the streams over from what is there. */
static int streams_resume(scopes_archive_writer *w, const scopes_archive *there)
{
    int err = 0;

    w->before = scopes_archive_costs(there);
    w->index = there->index;
    for (size_t i = 0; i < scopes_archive_streams(there) && !err; i++) {
        const scopes_archive_stream *from = scopes_archive_stream_at(there, i);
        uint32_t number;
        err = scopes__archive_tail_get(w, from->name, &number);
        if (err)
            break;
        w->streams[number].next = from->next;
        w->streams[number].lost = scopes__archive_lost(there, i);
        w->streams[number].written = from->written;
        w->streams[number].refused = from->refused;
        w->tuples += from->tuples;
    }
    return err;
}

static int file_start(scopes_archive_writer *w, scopes_archive *there)
{
    unsigned char head[ARCHIVE_HEAD_BYTES];
    const char *process = there ? scopes_archive_process(there) : "";

    if (*process && strcmp(process, w->process) != 0)
        return pastset_fail(PASTSET_EFORMAT,
                            "%s: is the archive of process %s, not of %s",
                            w->file, process, w->process);
    if (ftruncate(w->fd, (off_t)w->end) != 0)
        return scopes__archive_fail_errno(w, "cutting off its tail");
    if (*process)
        return 0;
    /* A new one, or one whose head is damaged. */
    scopes__archive_head_put(head, w->process);
    if (w->end <= ARCHIVE_HEAD_BYTES) {
        w->end = 0;
        return scopes__archive_bytes_append(w, head, sizeof(head));
    }
    if (pwrite(w->fd, head, sizeof(head), 0) != (ssize_t)sizeof(head))
        return scopes__archive_fail_errno(w, "writing its head");
    return 0;
}

static int file_resume(scopes_archive_writer *w)
{
    scopes_archive *there = NULL;
    int err = scopes__archive_resume(&there, w->file, w->fd, &w->end);

    if (err)
        return err;
    err = streams_resume(w, there);
    if (!err)
        err = file_start(w, there);
    w->heads_from = w->end;
    scopes_archive_close(there);
    return err;
}

static int packer_make(scopes_archive_writer *w)
{
    w->packer = ZSTD_createCCtx();
    w->raw = malloc(ARCHIVE_RAW_MAX);
    w->block = malloc(ARCHIVE_BLOCK_BYTES + ARCHIVE_PACKED_MAX);
    w->heads = malloc(ARCHIVE_INDEX_BYTES);
    if (!w->packer || !w->raw || !w->block || !w->heads || !w->file ||
        !w->process)
        return pastset_fail(PASTSET_ENOMEM, "%s: no memory for an archive",
                            w->file ? w->file : "?");
    ZSTD_CCtx_setParameter(w->packer, ZSTD_c_compressionLevel, LEVEL);
    return 0;
}

static void writer_free(scopes_archive_writer *w)
{
    for (uint32_t i = 0; i < w->names.count; i++)
        free(w->streams[i].events);
    free(w->streams);
    scopes__archive_names_fini(&w->names);
    ZSTD_freeCCtx(w->packer);
    free(w->raw);
    free(w->block);
    free(w->heads);
    if (w->fd >= 0)
        close(w->fd);
    free(w->file);
    free(w->process);
    free(w);
}

int scopes_archive_writer_open(scopes_archive_writer **out, const char *file,
                               const char *process)
{
    scopes_archive_writer *w;
    int err;

    if (strlen(process) >= ARCHIVE_PROCESS_BYTES)
        return pastset_fail(PASTSET_EINVAL,
                            "%s: the process's name is too long", file);
    w = calloc(1, sizeof(*w));
    if (!w)
        return pastset_fail(PASTSET_ENOMEM, "%s: no memory", file);
    w->fd = -1;
    w->file = strdup(file);
    w->process = strdup(process);
    err = packer_make(w);
    if (err)
        goto failed;
    err = file_open(w);
    if (err)
        goto failed;
    err = file_resume(w);
    if (err)
        goto failed;
    *out = w;
    return 0;
failed:
    writer_free(w);
    return err;
}

int scopes_archive_writer_close(scopes_archive_writer *w)
{
    int err;

    if (!w)
        return 0;
    /* A small block at the end, where readers look for the last index. */
    w->cost_changed |= w->appended > 0;
    err = scopes_archive_flush(w);
    writer_free(w);
    return err;
}
