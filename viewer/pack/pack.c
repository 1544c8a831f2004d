/* pack.c - a run into one file, see pack.h.
 *
 * A tar file in a zstd frame with a checksum, which libarchive would not
 * write. */
#include "viewer/pack/pack_internal.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "pastset/space.h"
#include "pastset/status.h"

typedef struct packing {
    const char *file, *directory;
    const char *base; /* the directory's last name: the first in the file */
    struct archive *from, *to;
    int fd;
    ZSTD_CCtx *zstd;
    void (*skipped)(const char *name);
    viewer_pack_counts counts;
    char block[1 << 17]; /* compressed */
} packing;

/* To the file. A signal ends it, also where nobody reads what is written. */
static int block_write(packing *p, size_t bytes)
{
    const char *next = p->block;

    while (bytes > 0) {
        ssize_t done = viewer_pack_stop ? -1 : write(p->fd, next, bytes);
        if (done < 0 && errno == EINTR && !viewer_pack_stop)
            continue;
        if (done < 0) {
            archive_set_error(p->to, errno, "%s", strerror(errno));
            return -1;
        }
        next += done;
        bytes -= (size_t)done;
    }
    return 0;
}

/* Compresses what is given, and with ZSTD_e_end the frame is whole. */
static int compress(packing *p, const void *from, size_t bytes,
                    ZSTD_EndDirective how)
{
    ZSTD_inBuffer in = {from, bytes, 0};
    size_t left;

    do {
        ZSTD_outBuffer out = {p->block, sizeof(p->block), 0};
        left = ZSTD_compressStream2(p->zstd, &out, &in, how);
        if (ZSTD_isError(left)) {
            archive_set_error(p->to, ENOMEM, "%s", ZSTD_getErrorName(left));
            return -1;
        }
        if (block_write(p, out.pos) != 0)
            return -1;
    } while (in.pos < bytes || (how == ZSTD_e_end && left > 0));
    return 0;
}

static la_ssize_t on_bytes(struct archive *to, void *context, const void *from,
                           size_t bytes)
{
    (void)to;
    return compress(context, from, bytes, ZSTD_e_continue) == 0
               ? (la_ssize_t)bytes
               : -1;
}

static int frame_end(packing *p)
{
    return compress(p, NULL, 0, ZSTD_e_end) == 0
               ? 0
               : viewer__pack_fail(p->to, p->file);
}

static int zeros_write(packing *p, int64_t bytes)
{
    static const char zeros[65536];

    while (bytes > 0 && !viewer_pack_stop) {
        size_t some =
            bytes < (int64_t)sizeof(zeros) ? (size_t)bytes : sizeof(zeros);
        if (archive_write_data(p->to, zeros, some) < 0)
            return viewer__pack_fail(p->to, p->file);
        bytes -= (int64_t)some;
    }
    return viewer__pack_stopped();
}

/* Holes are written as zeros, of which the format keeps only the number. */
static int data_copy(packing *p, int64_t size)
{
    const void *block;
    size_t bytes;
    int64_t at, done = 0;
    int got, err = 0;

    while (!err && (got = archive_read_data_block(p->from, &block, &bytes,
                                                  &at)) != ARCHIVE_EOF) {
        if (got < ARCHIVE_WARN)
            return viewer__pack_fail(p->from, p->directory);
        err = zeros_write(p, at - done);
        if (!err && archive_write_data(p->to, block, bytes) < 0)
            err = viewer__pack_fail(p->to, p->file);
        done = at + (int64_t)bytes;
    }
    return err ? err : zeros_write(p, size - done);
}

/* Its name in the file: that of the directory and what follows. */
static int entry_rename(const packing *p, struct archive_entry *entry)
{
    const char *path = archive_entry_pathname(entry);
    char *name;

    if (asprintf(&name, "%s%s", p->base, path + strlen(p->directory)) < 0)
        return pastset_fail(PASTSET_ENOMEM, "%s: no memory to pack it",
                            p->directory);
    archive_entry_copy_pathname(entry, name);
    free(name);
    return 0;
}

/* Of one who was killed at it. */
static bool is_draft(struct archive_entry *entry)
{
    const char *name = archive_entry_pathname(entry);
    size_t length = strlen(name), end = strlen(PASTSET_SETTLING);

    return length > end && strcmp(name + length - end, PASTSET_SETTLING) == 0;
}

static int entry_pack(packing *p, struct archive_entry *entry)
{
    mode_t type = archive_entry_filetype(entry);
    int err;

    if (is_draft(entry))
        return 0;
    if (type != AE_IFREG && type != AE_IFDIR) {
        if (p->skipped)
            p->skipped(archive_entry_pathname(entry));
        return 0;
    }
    archive_entry_set_hardlink(entry, NULL);
    err = entry_rename(p, entry);
    if (!err && archive_write_header(p->to, entry) < ARCHIVE_WARN)
        err = viewer__pack_fail(p->to, p->file);
    if (err || type == AE_IFDIR)
        return err;
    p->counts.files++;
    p->counts.bytes += (uint64_t)archive_entry_size(entry);
    return data_copy(p, archive_entry_size(entry));
}

static int entries_pack(packing *p)
{
    struct archive_entry *entry = archive_entry_new();
    int got, err = 0;

    if (!entry)
        return pastset_fail(PASTSET_ENOMEM, "%s: no memory to pack it",
                            p->directory);
    while (!err &&
           (got = archive_read_next_header2(p->from, entry)) != ARCHIVE_EOF) {
        if (got < ARCHIVE_WARN) {
            err = viewer__pack_fail(p->from, p->directory);
            break;
        }
        archive_read_disk_descend(p->from);
        err = viewer__pack_stopped();
        if (!err)
            err = entry_pack(p, entry);
    }
    archive_entry_free(entry);
    return err;
}

/* Whether the three are there, and open. */
static int begin(packing *p)
{
    if (!p->from || !p->to || !p->zstd)
        return pastset_fail(PASTSET_ENOMEM, "%s: no memory to pack it",
                            p->directory);
    archive_read_disk_set_symlink_physical(p->from);
    ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_checksumFlag, 1);
    if (archive_write_set_format_pax_restricted(p->to) < ARCHIVE_WARN ||
        /* Nothing is held back, nor filled up with zeros as for tapes. */
        archive_write_set_bytes_per_block(p->to, 0) < ARCHIVE_WARN ||
        archive_write_open(p->to, p, NULL, on_bytes, NULL) < ARCHIVE_WARN)
        return viewer__pack_fail(p->to, p->file);
    if (archive_read_disk_open(p->from, p->directory) < ARCHIVE_WARN)
        return viewer__pack_fail(p->from, p->directory);
    return 0;
}

static int all_pack(packing *p)
{
    int err = begin(p);

    if (!err)
        err = entries_pack(p);
    if (err)
        return err;
    if (archive_write_close(p->to) < ARCHIVE_WARN)
        return viewer__pack_fail(p->to, p->file);
    return frame_end(p);
}

static int fd_pack(packing *p, int fd)
{
    int err;

    p->fd = fd;
    p->from = archive_read_disk_new();
    p->to = archive_write_new();
    p->zstd = ZSTD_createCCtx();
    err = all_pack(p);
    archive_read_free(p->from);
    if (err && p->to)
        archive_write_fail(p->to); /* without ending it */
    archive_write_free(p->to);
    ZSTD_freeCCtx(p->zstd);
    return err;
}

/* Beside the file, and then in its place; for its owner only, as what is in it
 * was. The run may be removed after this, so it is on the disk then. */
static int draft_pack(packing *p, char *draft)
{
    struct stat status;
    int err, fd = mkostemps(draft, (int)strlen(".part"), O_CLOEXEC);

    if (fd < 0)
        return pastset_fail_errno(p->file);
    err = fd_pack(p, fd);
    if (!err && fstat(fd, &status) == 0)
        p->counts.packed_bytes = (uint64_t)status.st_size;
    if (!err && fsync(fd) != 0)
        err = pastset_fail_errno(p->file);
    if (close(fd) != 0 && !err)
        err = pastset_fail_errno(p->file);
    if (!err && rename(draft, p->file) != 0)
        err = pastset_fail_errno(p->file);
    if (err)
        unlink(draft);
    return err;
}

/* To a device or a pipe. */
static int in_place_pack(packing *p)
{
    int fd = strcmp(p->file, "-") == 0 ? dup(STDOUT_FILENO)
                                       : open(p->file, O_WRONLY | O_CLOEXEC);
    int err = fd >= 0            ? fd_pack(p, fd)
              : viewer_pack_stop ? viewer__pack_stopped()
                                 : pastset_fail_errno(p->file);

    if (fd >= 0 && close(fd) != 0 && !err)
        err = pastset_fail_errno(p->file);
    return err;
}

/* It would be packed into itself. */
static int is_inside(const packing *p)
{
    char *copy = strdup(p->file), *slash, *folder;
    size_t length = strlen(p->directory);
    int inside;

    if (!copy)
        return 0;
    slash = strrchr(copy, '/');
    if (slash)
        slash[1] = 0;
    folder = realpath(slash ? copy : ".", NULL);
    inside = folder && strncmp(folder, p->directory, length) == 0 &&
             (folder[length] == '/' || !folder[length]);
    free(folder);
    free(copy);
    return inside;
}

static int regular_pack(packing *p)
{
    char *real = realpath(p->file, NULL), *draft = NULL;
    int err;

    if (real)
        p->file = real; /* links stay, and lead to what is new */
    if (is_inside(p))
        err = pastset_fail(PASTSET_EINVAL,
                           "%s: is in the run directory itself; choose another "
                           "place with --output",
                           p->file);
    else if (asprintf(&draft, "%s.XXXXXX.part", p->file) < 0)
        err = pastset_fail(PASTSET_ENOMEM, "%s: no memory to pack it",
                           p->directory);
    else
        err = draft_pack(p, draft);
    free(draft);
    free(real);
    return err;
}

int viewer_pack(const char *file, const char *directory,
                void (*skipped)(const char *name), viewer_pack_counts *counts)
{
    packing *p = calloc(1, sizeof(*p));
    char *real = NULL;
    struct stat status;
    bool special = strcmp(file, "-") == 0 ||
                   (stat(file, &status) == 0 && !S_ISREG(status.st_mode) &&
                    !S_ISDIR(status.st_mode));
    int err;

    if (!p)
        return pastset_fail(PASTSET_ENOMEM, "%s: no memory to pack it",
                            directory);
    real = realpath(directory, NULL);
    if (!real) {
        err = pastset_fail_errno(directory);
        goto done;
    }
    p->file = file;
    p->skipped = skipped;
    p->directory = real;
    p->base = strrchr(real, '/') + 1;
    err = special ? in_place_pack(p) : regular_pack(p);
    *counts = p->counts;
done:
    free(real);
    free(p);
    return err;
}
