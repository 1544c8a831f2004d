/* archive_bytes.c - the bytes of an archive that is open for reading: its file
 * and the writer's lock, heads of blocks and their contents. */
#include "scopes/archive/archive_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "pastset/status.h"

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
int scopes__archive_size(const scopes_archive *a, uint64_t *size)
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
bool scopes__archive_is_written(const scopes_archive *a)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    return fcntl(a->fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

int scopes__archive_look(scopes_archive *a, uint64_t offset, archive_block *out)
{
    unsigned char head[ARCHIVE_BLOCK_BYTES];
    ssize_t got = scopes__archive_pread(a, head, sizeof(head), offset);

    if (got < 0)
        return (int)got;
    return got == (ssize_t)sizeof(head) &&
           scopes__archive_block_get(out, head, offset);
}

static int unpacker_make(scopes_archive *a)
{
    if (!a->unpacker)
        a->unpacker = ZSTD_createDCtx();
    if (!a->packed)
        a->packed = malloc(ARCHIVE_PACKED_MAX);
    if (!a->raw)
        a->raw = malloc(ARCHIVE_RAW_MAX);
    if (!a->unpacker || !a->packed || !a->raw)
        return pastset_fail(PASTSET_ENOMEM, "%s: no memory for a block",
                            a->file);
    return 0;
}

int scopes__archive_unpack(scopes_archive *a, uint64_t offset,
                           const archive_content *c)
{
    ssize_t got;
    size_t raw;
    int err = unpacker_make(a);

    if (err)
        return err;
    got = scopes__archive_pread(a, a->packed, c->packed,
                                offset + ARCHIVE_BLOCK_BYTES);
    if (got < 0)
        return (int)got;
    if (got < (ssize_t)c->packed ||
        crc32(0, a->packed, (uInt)c->packed) != c->sum)
        return PASTSET_EFORMAT;
    raw =
        ZSTD_decompressDCtx(a->unpacker, a->raw, c->raw, a->packed, c->packed);
    return ZSTD_isError(raw) || raw != c->raw ? PASTSET_EFORMAT : 0;
}
