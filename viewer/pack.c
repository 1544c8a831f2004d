/* pack.c - see pack.h. */
#include "viewer/pack.h"

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

#include "eventspace/disk.h"
#include "pastset/status.h"

#define MAP_NAME "pathmap.dot"

volatile sig_atomic_t viewer_pack_stop;

static int stopped(void)
{
    return viewer_pack_stop ? pastset_fail(PASTSET_ECANCELED, "interrupted")
                            : 0;
}

/* What libarchive says of itself, as one of our statuses. */
static int fail(struct archive *from, const char *file)
{
    int error = archive_errno(from);
    const char *text = archive_error_string(from);
    char where[2048] = "";
    int status = PASTSET_EIO;

    if (error == ENOSPC || error == EDQUOT) {
        eventspace_disk_name(where, sizeof(where), file);
        status = PASTSET_ENOSPC;
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
    void (*skipped)(const char *name);
    viewer_pack_counts counts;
} packing;

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

static int entry_pack(packing *p, struct archive_entry *entry)
{
    mode_t type = archive_entry_filetype(entry);
    int err;

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

    p->from = archive_read_disk_new();
    p->to = archive_write_new();
    if (!p->from || !p->to) {
        err = pastset_fail(PASTSET_ENOMEM, "%s: no memory to pack it",
                           p->directory);
    } else {
        archive_read_disk_set_symlink_physical(p->from);
        if (archive_write_add_filter_zstd(p->to) < ARCHIVE_WARN ||
            archive_write_set_format_pax_restricted(p->to) < ARCHIVE_WARN ||
            /* Pipes are not filled up with zeros, as tapes were. */
            archive_write_set_bytes_in_last_block(p->to, 1) < ARCHIVE_WARN ||
            archive_write_open_fd(p->to, fd) < ARCHIVE_WARN)
            err = fail(p->to, p->file);
        else if (archive_read_disk_open(p->from, p->directory) < ARCHIVE_WARN)
            err = fail(p->from, p->directory);
    }
    if (!err)
        err = entries_pack(p);
    if (!err && archive_write_close(p->to) < ARCHIVE_WARN)
        err = fail(p->to, p->file);
    archive_read_free(p->from);
    archive_write_free(p->to);
    return err;
}

static int fail_errno(const char *file)
{
    int error = errno;
    return pastset_fail(pastset_status_from_errno(error), "%s: %s", file,
                        strerror(error));
}

/* Beside the file, and then in its place. */
static int draft_pack(packing *p, const char *draft)
{
    struct stat status;
    int err, fd = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    /* For its owner only, as what is in it was. */
    if (fd < 0)
        return fail_errno(draft);
    err = fd_pack(p, fd);
    if (!err && fstat(fd, &status) == 0)
        p->counts.packed_bytes = (uint64_t)status.st_size;
    if (close(fd) != 0 && !err)
        err = fail_errno(draft);
    if (!err && rename(draft, p->file) != 0)
        err = fail_errno(p->file);
    if (err)
        unlink(draft);
    return err;
}

/* To a device or a pipe. */
static int in_place_pack(packing *p)
{
    int fd = strcmp(p->file, "-") == 0 ? dup(STDOUT_FILENO)
                                       : open(p->file, O_WRONLY | O_CLOEXEC);
    int err = fd < 0 ? fail_errno(p->file) : fd_pack(p, fd);

    if (fd >= 0 && close(fd) != 0 && !err)
        err = fail_errno(p->file);
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
    else if (asprintf(&draft, "%s.%ld.part", p->file, (long)getpid()) < 0)
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
    packing p = {.file = file, .skipped = skipped};
    char *real = realpath(directory, NULL);
    struct stat status;
    bool there = strcmp(file, "-") == 0 || stat(file, &status) == 0;
    int err;

    if (!real)
        return fail_errno(directory);
    p.directory = real;
    p.base = strrchr(real, '/') + 1;
    if (there && (strcmp(file, "-") == 0 ||
                  (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))))
        err = in_place_pack(&p);
    else
        err = regular_pack(&p);
    *counts = p.counts;
    free(real);
    return err;
}

/* --- unpacking --- */

typedef struct unpacking {
    const char *file, *directory;
    char *run; /* PATH_MAX bytes; "" as long as no map was found */
    struct archive *from, *to;
} unpacking;

static int damaged(const unpacking *u)
{
    return pastset_fail(
        PASTSET_EFORMAT, "%s: not a packed run, or damaged: %s", u->file,
        archive_error_string(u->from) ? archive_error_string(u->from)
                                      : "it ends too early");
}

/* The uppermost directory that has a map is the run. */
static void map_note(const unpacking *u, const char *path)
{
    const char *slash = strrchr(path, '/');
    int length = slash ? (int)(slash - path) : (int)strlen(path);

    while (length > 2 && memcmp(path + length - 2, "/.", 2) == 0)
        length -= 2; /* of `tar -C RUN .` */
    if (strcmp(slash ? slash + 1 : path, MAP_NAME) == 0 &&
        (!*u->run || (size_t)length < strlen(u->run)))
        snprintf(u->run, PATH_MAX, "%.*s", length, path);
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

static int entry_place(const unpacking *u, struct archive_entry *entry)
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
        if (archive_write_data_block(u->to, block, bytes, at) < ARCHIVE_WARN)
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
    if (archive_write_header(u->to, entry) < ARCHIVE_WARN)
        return fail(u->to, u->directory);
    if (type == AE_IFREG)
        err = data_unpack(u);
    if (!err && archive_write_finish_entry(u->to) < ARCHIVE_WARN)
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
    if (!err && !*u->run)
        err = pastset_fail(PASTSET_EFORMAT,
                           "%s: not a packed run, as it has no " MAP_NAME,
                           u->file);
    return err;
}

int viewer_unpack(char run[PATH_MAX], const char *file, const char *directory)
{
    char *real = realpath(directory, NULL);
    unpacking u = {.file = file, .directory = real, .run = run};
    int err = 0;

    *run = 0;
    if (!real)
        return fail_errno(directory);
    u.from = archive_read_new();
    u.to = archive_write_disk_new();
    if (!u.from || !u.to) {
        err = pastset_fail(PASTSET_ENOMEM, "%s: no memory to unpack it", file);
    } else {
        archive_read_support_filter_all(u.from);
        archive_read_support_format_tar(u.from);
        /* Below the directory names lead nowhere else: it was empty, and no
         * links are made. */
        archive_write_disk_set_options(u.to, ARCHIVE_EXTRACT_PERM |
                                                 ARCHIVE_EXTRACT_TIME |
                                                 ARCHIVE_EXTRACT_SPARSE);
        if (archive_read_open_filename(u.from, file, 1 << 16) < ARCHIVE_WARN)
            err = archive_errno(u.from) == ENOENT ||
                          archive_errno(u.from) == EACCES
                      ? fail(u.from, file)
                      : damaged(&u);
    }
    if (!err)
        err = entries_unpack(&u);
    archive_read_free(u.from);
    archive_write_free(u.to);
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
