/* unpack.c - a run out of one file, see pack.h.
 *
 * libarchive does not look behind what ends a tar file, which damage can put
 * anywhere: so a packed run is decompressed twice, once for the files and once
 * for the checksum, up to its end. */
#include "viewer/pack/pack_internal.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "eventspace/run/run_map.h"
#include "pastset/status.h"

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
        return viewer__pack_stopped();
    return pastset_fail(
        PASTSET_EFORMAT, "%s: not a packed run, or damaged: %s", u->file,
        archive_error_string(u->from) ? archive_error_string(u->from)
                                      : "it is cut short");
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

static bool is_map(const char *name)
{
    return strcmp(name, EVENTSPACE_RUN_MAP) == 0 ||
           strcmp(name, EVENTSPACE_RUN_DEFINITIONS) == 0;
}

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
    if (is_map(slash ? slash + 1 : path) && (!*u->run || depth < u->depth)) {
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
           (got == ARCHIVE_WARN &&
            (viewer__pack_is_full(error) || error == EIO));
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
            return viewer__pack_stopped();
        /* What the disk does not take is but a warning to it. */
        if (archive_write_data_block(u->to, block, bytes, at) < ARCHIVE_OK)
            return viewer__pack_fail(u->to, u->directory);
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
        return viewer__pack_fail(u->to, u->directory);
    if (type == AE_IFREG)
        err = data_unpack(u);
    if (!err && is_lost(u->to, archive_write_finish_entry(u->to)))
        err = viewer__pack_fail(u->to, u->directory);
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
        err = pastset_fail(
            PASTSET_EFORMAT,
            "%s: not a packed run, as it has no " EVENTSPACE_RUN_MAP, u->file);
    return err;
}

/* Whether both are there, and what is to be unpacked is open. */
static int begin(unpacking *u)
{
    int err = bytes_open(u);

    if (err)
        return err;
    if (!u->from || !u->to)
        return pastset_fail(PASTSET_ENOMEM, "%s: no memory to unpack it",
                            u->file);
    archive_read_support_filter_all(u->from);
    archive_read_support_format_tar(u->from);
    /* Below the directory names lead nowhere else: it was empty, and no
     * links are made. */
    archive_write_disk_set_options(u->to, ARCHIVE_EXTRACT_PERM |
                                              ARCHIVE_EXTRACT_TIME |
                                              ARCHIVE_EXTRACT_SPARSE);
    return archive_read_open(u->from, u, NULL, on_more, NULL) < ARCHIVE_WARN
               ? damaged(u)
               : 0;
}

int viewer_unpack(char run[PATH_MAX], const char *file, const char *directory)
{
    char *real = realpath(directory, NULL);
    unpacking u = {.file = file, .directory = real, .run = run, .fd = -1};
    int err;

    *run = 0;
    if (!real)
        return pastset_fail_errno(directory);
    u.from = archive_read_new();
    u.to = archive_write_disk_new();
    err = begin(&u);
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
