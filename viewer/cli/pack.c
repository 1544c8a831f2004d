/* pack.c - see pack.h.
 *
 * A tar file in a zstd frame with a checksum, which libarchive would not write.
 * Nor does it look behind what ends a tar file, which damage can put anywhere:
 * so a packed run is decompressed twice, once for the files and once for the
 * checksum, up to its end. */
#include "viewer/cli/pack.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "eventspace/run/disk.h"
#include "pastset/space.h"
#include "pastset/status.h"

#define MAP_NAME "pathmap.dot"

volatile sig_atomic_t viewer_pack_stop;

static int stopped(void)
{
    return viewer_pack_stop ? pastset_fail(PASTSET_ECANCELED, "interrupted")
                            : 0;
}

static bool is_full(int error)
{
    return error == ENOSPC || error == EDQUOT;
}

/* Of a file that is there or is to be made. */
static void disk_name(char *out, size_t capacity, const char *file)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(file, '/');

    snprintf(folder, sizeof(folder), "%.*s",
             slash ? (int)(slash - file) + 1 : 1, slash ? file : ".");
    eventspace_disk_name(out, capacity,
                         access(file, F_OK) == 0 ? file : folder);
}

/* What libarchive says of itself, as one of our statuses. */
static int fail(struct archive *from, const char *file)
{
    int error = archive_errno(from);
    const char *text = archive_error_string(from);
    char where[2048] = "";
    int status = PASTSET_EIO;

    if (viewer_pack_stop)
        return stopped();
    if (is_full(error)) {
        disk_name(where, sizeof(where), file);
        status = PASTSET_ENOSPC;
        text = strerror(error);
    } else if (error == ENOMEM) {
        status = PASTSET_ENOMEM;
    }
    return pastset_fail(status, "%s: %s%s%s", file,
                        text ? text : strerror(error),
                        *where ? ", on the file system " : "", where);
}

/* --- packing --- */

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
    return compress(p, NULL, 0, ZSTD_e_end) == 0 ? 0 : fail(p->to, p->file);
}

static int zeros_write(packing *p, int64_t bytes)
{
    static const char zeros[65536];

    while (bytes > 0 && !viewer_pack_stop) {
        size_t some =
            bytes < (int64_t)sizeof(zeros) ? (size_t)bytes : sizeof(zeros);
        if (archive_write_data(p->to, zeros, some) < 0)
            return fail(p->to, p->file);
        bytes -= (int64_t)some;
    }
    return stopped();
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
            return fail(p->from, p->directory);
        err = zeros_write(p, at - done);
        if (!err && archive_write_data(p->to, block, bytes) < 0)
            err = fail(p->to, p->file);
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
        err = fail(p->to, p->file);
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
            err = fail(p->from, p->directory);
            break;
        }
        archive_read_disk_descend(p->from);
        err = stopped();
        if (!err)
            err = entry_pack(p, entry);
    }
    archive_entry_free(entry);
    return err;
}

static int fd_pack(packing *p, int fd)
{
    int err = 0;

    p->fd = fd;
    p->from = archive_read_disk_new();
    p->to = archive_write_new();
    p->zstd = ZSTD_createCCtx();
    if (!p->from || !p->to || !p->zstd) {
        err = pastset_fail(PASTSET_ENOMEM, "%s: no memory to pack it",
                           p->directory);
    } else {
        archive_read_disk_set_symlink_physical(p->from);
        ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_checksumFlag, 1);
        if (archive_write_set_format_pax_restricted(p->to) < ARCHIVE_WARN ||
            /* Nothing is held back, nor filled up with zeros as for tapes. */
            archive_write_set_bytes_per_block(p->to, 0) < ARCHIVE_WARN ||
            archive_write_open(p->to, p, NULL, on_bytes, NULL) < ARCHIVE_WARN)
            err = fail(p->to, p->file);
        else if (archive_read_disk_open(p->from, p->directory) < ARCHIVE_WARN)
            err = fail(p->from, p->directory);
    }
    if (!err)
        err = entries_pack(p);
    if (!err && archive_write_close(p->to) < ARCHIVE_WARN)
        err = fail(p->to, p->file);
    if (!err)
        err = frame_end(p);
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
              : viewer_pack_stop ? stopped()
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
    char *real = realpath(directory, NULL);
    struct stat status;
    bool there = strcmp(file, "-") == 0 || stat(file, &status) == 0;
    int err;

    if (!real || !p) {
        err = p ? pastset_fail_errno(directory)
                : pastset_fail(PASTSET_ENOMEM, "%s: no memory to pack it",
                               directory);
        free(real);
        free(p);
        return err;
    }
    p->file = file;
    p->skipped = skipped;
    p->directory = real;
    p->base = strrchr(real, '/') + 1;
    if (there && (strcmp(file, "-") == 0 ||
                  (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))))
        err = in_place_pack(p);
    else
        err = regular_pack(p);
    *counts = p->counts;
    free(real);
    free(p);
    return err;
}

/* --- unpacking --- */

typedef struct unpacking {
    const char *file, *directory;
    char *run;      /* PATH_MAX bytes; "" as long as no map was found */
    unsigned depth; /* of the run */
    struct archive *from, *to;
    int fd;
    ZSTD_DCtx *zstd; /* NULL: packed by something else */
    size_t left;     /* of its frame: 0: it has ended */
    char block[1 << 16];
} unpacking;

static int damaged(const unpacking *u)
{
    if (viewer_pack_stop)
        return stopped();
    return pastset_fail(
        PASTSET_EFORMAT, "%s: not a packed run, or damaged: %s", u->file,
        archive_error_string(u->from) ? archive_error_string(u->from)
                                      : "it ends too early");
}

/* --- its bytes --- */

/* Is what was read what was packed? */
static int checksum(unpacking *u, size_t bytes)
{
    static char scratch[1 << 17];
    ZSTD_inBuffer in = {u->block, bytes, 0};

    while (in.pos < in.size) {
        ZSTD_outBuffer out = {scratch, sizeof(scratch), 0};
        u->left = ZSTD_decompressStream(u->zstd, &out, &in);
        if (ZSTD_isError(u->left)) {
            archive_set_error(u->from, EILSEQ, "%s",
                              ZSTD_getErrorName(u->left));
            return -1;
        }
    }
    return 0;
}

static la_ssize_t on_more(struct archive *from, void *context,
                          const void **block)
{
    unpacking *u = context;
    ssize_t got;

    do {
        got = viewer_pack_stop ? -1 : read(u->fd, u->block, sizeof(u->block));
    } while (got < 0 && errno == EINTR && !viewer_pack_stop);
    *block = u->block;
    if (got < 0)
        archive_set_error(from, errno, "%s", strerror(errno));
    else if (u->zstd && checksum(u, (size_t)got) != 0)
        return -1;
    return got;
}

/* What is behind the end of the tar file, up to that of the checksum. */
static int rest_check(unpacking *u)
{
    const void *block;
    la_ssize_t got;

    while ((got = on_more(u->from, u, &block)) > 0)
        continue;
    if (got < 0 || (u->zstd && u->left != 0))
        return damaged(u);
    return 0;
}

/* Only zstd's files, and no pipe, are looked at before they are read. */
static int bytes_open(unpacking *u)
{
    static const unsigned char magic[4] = {0x28, 0xb5, 0x2f, 0xfd};
    unsigned char begin[sizeof(magic)];

    u->fd = open(u->file, O_RDONLY | O_CLOEXEC);
    if (u->fd < 0)
        return pastset_fail_errno(u->file);
    if (pread(u->fd, begin, sizeof(begin), 0) != sizeof(begin) ||
        memcmp(begin, magic, sizeof(magic)) != 0)
        return 0;
    u->zstd = ZSTD_createDCtx();
    return u->zstd ? 0
                   : pastset_fail(PASTSET_ENOMEM, "%s: no memory to unpack it",
                                  u->file);
}

/* --- its files --- */

/* The uppermost directory that has a map is the run. */
static void map_note(unpacking *u, const char *path)
{
    const char *slash = strrchr(path, '/');
    int length = slash ? (int)(slash - path) : (int)strlen(path);
    unsigned depth = 0;

    while (length > 2 && memcmp(path + length - 2, "/.", 2) == 0)
        length -= 2; /* of `tar -C RUN .` */
    for (int i = 0; i < length; i++)
        depth += path[i] == '/';
    if (strcmp(slash ? slash + 1 : path, MAP_NAME) == 0 &&
        (!*u->run || depth < u->depth)) {
        snprintf(u->run, PATH_MAX, "%.*s", length, path);
        u->depth = depth;
    }
}

/* A warning that is not about owners or times is that something was not
 * written. */
static bool is_lost(struct archive *to, int got)
{
    int error = archive_errno(to);

    return got < ARCHIVE_WARN ||
           (got == ARCHIVE_WARN && (is_full(error) || error == EIO));
}

static bool leads_up(const char *name)
{
    size_t length;

    for (; *name; name += length + (name[length] == '/')) {
        length = strcspn(name, "/");
        if (length == 2 && memcmp(name, "..", 2) == 0)
            return true;
    }
    return false;
}

static int entry_place(unpacking *u, struct archive_entry *entry)
{
    const char *name = archive_entry_pathname(entry);
    char path[PATH_MAX];
    int length;

    if (!name || *name == '/' || leads_up(name))
        return pastset_fail(PASTSET_EFORMAT,
                            "%s: not a packed run: it has a file \"%s\"",
                            u->file, name ? name : "");
    length = snprintf(path, sizeof(path), "%s/%s", u->directory, name);
    if (length < 0 || (size_t)length >= sizeof(path))
        return pastset_fail(PASTSET_EFORMAT,
                            "%s: \"%.100s...\": the name is too long", u->file,
                            name);
    archive_entry_copy_pathname(entry, path);
    map_note(u, path);
    return 0;
}

static int data_unpack(unpacking *u)
{
    const void *block;
    size_t bytes;
    int64_t at;
    int got;

    while ((got = archive_read_data_block(u->from, &block, &bytes, &at)) !=
           ARCHIVE_EOF) {
        if (got < ARCHIVE_WARN)
            return damaged(u);
        if (viewer_pack_stop)
            return stopped();
        /* What the disk does not take is but a warning to it. */
        if (archive_write_data_block(u->to, block, bytes, at) < ARCHIVE_OK)
            return fail(u->to, u->directory);
    }
    return 0;
}

static int entry_unpack(unpacking *u, struct archive_entry *entry)
{
    mode_t type = archive_entry_filetype(entry);
    int err;

    if ((type != AE_IFREG && type != AE_IFDIR) || archive_entry_hardlink(entry))
        return 0;
    err = entry_place(u, entry);
    if (err)
        return err;
    archive_entry_set_perm(entry, type == AE_IFDIR ? 0700 : 0600);
    if (is_lost(u->to, archive_write_header(u->to, entry)))
        return fail(u->to, u->directory);
    if (type == AE_IFREG)
        err = data_unpack(u);
    if (!err && is_lost(u->to, archive_write_finish_entry(u->to)))
        err = fail(u->to, u->directory);
    return err;
}

static int entries_unpack(unpacking *u)
{
    struct archive_entry *entry;
    int got, err = 0;

    while (!err &&
           (got = archive_read_next_header(u->from, &entry)) != ARCHIVE_EOF)
        err = got < ARCHIVE_WARN ? damaged(u) : entry_unpack(u, entry);
    if (!err)
        err = rest_check(u);
    if (!err && !*u->run)
        err = pastset_fail(PASTSET_EFORMAT,
                           "%s: not a packed run, as it has no " MAP_NAME,
                           u->file);
    return err;
}

int viewer_unpack(char run[PATH_MAX], const char *file, const char *directory)
{
    char *real = realpath(directory, NULL);
    unpacking u = {.file = file, .directory = real, .run = run, .fd = -1};
    int err;

    *run = 0;
    if (!real)
        return pastset_fail_errno(directory);
    err = bytes_open(&u);
    u.from = archive_read_new();
    u.to = archive_write_disk_new();
    if (!err && (!u.from || !u.to))
        err = pastset_fail(PASTSET_ENOMEM, "%s: no memory to unpack it", file);
    if (!err) {
        archive_read_support_filter_all(u.from);
        archive_read_support_format_tar(u.from);
        /* Below the directory names lead nowhere else: it was empty, and no
         * links are made. */
        archive_write_disk_set_options(u.to, ARCHIVE_EXTRACT_PERM |
                                                 ARCHIVE_EXTRACT_TIME |
                                                 ARCHIVE_EXTRACT_SPARSE);
        if (archive_read_open(u.from, &u, NULL, on_more, NULL) < ARCHIVE_WARN)
            err = damaged(&u);
    }
    if (!err)
        err = entries_unpack(&u);
    archive_read_free(u.from);
    archive_write_free(u.to);
    ZSTD_freeDCtx(u.zstd);
    if (u.fd >= 0)
        close(u.fd);
    free(real);
    return err;
}

/* --- removing --- */

static int one_remove(const char *path, const struct stat *status, int kind,
                      struct FTW *where)
{
    (void)status;
    (void)kind;
    (void)where;
    remove(path);
    return 0;
}

void viewer_remove(const char *directory)
{
    nftw(directory, one_remove, 16, FTW_DEPTH | FTW_PHYS);
}
