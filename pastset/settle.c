/* settle.c - the file of a space that nobody writes any more, without the room
 * that its elements had to grow.
 *
 * In a space that is written each element has the address range for all of its
 * slots, of which it may have used a few; the file is sparse there, and looks
 * as large as the ranges to whatever copies files. Here the used slots are
 * moved together. Nothing of the format changes: an element's slots still
 * reach as far as its capacity says, only that other elements lie where it has
 * none in use. Whoever has the old file open keeps it.
 *
 * Who writes a space holds a shared lock of its file, who settles it the only
 * one. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pastset/element_internal.h"
#include "pastset/space.h"
#include "pastset/unnamed.h"

/* The file is rewritten when that makes it smaller by a fifth; the end alone
 * is cut without copying anything. */
#define WORTH 5

typedef struct settling {
    const char *path; /* through links */
    pastset_space *space;
    pastset_element **elements; /* borrowed from the space; with deleted ones */
    uint32_t count, live;
    int old_fd; /* locked while it is replaced or cut; -1: none */
    int fd;     /* the new file; -1: none */
    char *draft;
    struct stat old;
} settling;

static uint64_t page_up(uint64_t bytes)
{
    return round_up(bytes, SPACE_PAGE);
}

static bool is_live(const pastset_element *element)
{
    return atomic_load(&element->header->state) == ELEMENT_LIVE;
}

/* Of its slots, from the first on, those that may have a tuple in them. */
static uint64_t data_bytes(const pastset_element *element)
{
    ledger_values values;
    uint64_t last;

    pastset__ledger_load(element->header, &values, &last);
    if (last == first_given_last(element, last))
        return 0;
    return (last < element->slots ? last : element->slots) *
           element->stride_bytes;
}

static uint64_t element_bytes(const pastset_element *element)
{
    return pastset__element_header_bytes() + data_bytes(element);
}

static int fail_errno(const settling *s, const char *doing)
{
    int error = errno;
    return pastset_fail(pastset_status_from_errno(error), "%s: cannot %s: %s",
                        s->path, doing, strerror(error));
}

static uint64_t directory_end(const settling *s)
{
    return SPACE_PAGE + page_up((s->live ? s->live : 1u) * sizeof(uint64_t));
}

/* How long the file would be. */
static uint64_t settled_bytes(const settling *s)
{
    uint64_t end = directory_end(s);

    for (uint32_t i = 0; i < s->count; i++) {
        if (is_live(s->elements[i]))
            end = page_up(end) + element_bytes(s->elements[i]);
    }
    return end;
}

/* Where the data of the file ends as it is. */
static uint64_t data_end(const settling *s)
{
    uint64_t end = pastset__space_begin(s->space);

    for (uint32_t i = 0; i < s->count; i++) {
        const pastset_element *element = s->elements[i];
        const element_header *header = element->header;
        uint64_t data = header->data_offset;
        uint64_t own = pastset__space_offset(s->space, header) +
                       pastset__element_header_bytes();
        if (is_live(element))
            data += data_bytes(element);
        if (data > end)
            end = data;
        if (own > end)
            end = own;
    }
    return end;
}

static int put(const settling *s, uint64_t offset, const void *from,
               uint64_t bytes)
{
    const unsigned char *next = from;

    while (bytes > 0) {
        ssize_t done = pwrite(s->fd, next, bytes, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return fail_errno(s, "write its settled copy");
        next += done;
        offset += (uint64_t)done;
        bytes -= (uint64_t)done;
    }
    return 0;
}

static int element_put(const settling *s, const pastset_element *element,
                       uint64_t offset)
{
    element_header header;
    uint64_t data = offset + pastset__element_header_bytes();
    int err;

    memcpy(&header, element->header, sizeof(header));
    header.data_offset = data;
    err = put(s, offset, &header, sizeof(header));
    return err ? err : put(s, data, element->data, data_bytes(element));
}

static int elements_put(const settling *s)
{
    uint64_t *offsets = calloc(s->live + 1u, sizeof(*offsets));
    uint64_t end = directory_end(s);
    uint32_t put_count = 0;
    int err = 0;

    if (!offsets)
        return pastset_fail_while(pastset_no_memory("to settle it"), "%s",
                                  s->path);
    for (uint32_t i = 0; i < s->count && !err; i++) {
        if (!is_live(s->elements[i]))
            continue;
        end = page_up(end);
        offsets[put_count++] = end;
        err = element_put(s, s->elements[i], end);
        end += element_bytes(s->elements[i]);
    }
    if (!err)
        err = put(s, SPACE_PAGE, offsets, put_count * sizeof(*offsets));
    free(offsets);
    /* Slots that were never written end the file without being in it. */
    if (!err && ftruncate(s->fd, (off_t)end) != 0)
        err = fail_errno(s, "set the length of its settled copy");
    return err;
}

static int header_put(const settling *s)
{
    space_header header;

    memcpy(&header, pastset__space_at(s->space, 0), sizeof(header));
    header.max_elements = s->live ? s->live : 1;
    header.element_count = s->live;
    return put(s, 0, &header, sizeof(header));
}

/* Whose it was, and who may read it, stays. */
static int owner_put(const settling *s)
{
    struct stat now;

    if (fstat(s->fd, &now) != 0)
        return fail_errno(s, "look at its settled copy");
    if ((now.st_uid != s->old.st_uid || now.st_gid != s->old.st_gid) &&
        fchown(s->fd, s->old.st_uid, s->old.st_gid) != 0)
        return fail_errno(s, "give its settled copy to its owner");
    if (fchmod(s->fd, s->old.st_mode & 07777) != 0)
        return fail_errno(s, "give its settled copy its rights");
    return 0;
}

/* Without a name if it can be, as it may take a while to be written. */
static int draft_open(settling *s, bool *is_named)
{
    unlink(s->draft); /* of one who was killed at it */
    s->fd = pastset_unnamed_open(s->path, 0600);
    *is_named = s->fd < 0;
    if (*is_named)
        s->fd = open(s->draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return s->fd < 0 ? fail_errno(s, "make its settled copy") : 0;
}

/* Writes the file anew beside it and puts it in its place. The lock is held:
 * nobody else has a draft of it. */
static int rewrite(settling *s)
{
    bool is_named;
    int err;

    if (asprintf(&s->draft, "%s" PASTSET_SETTLING, s->path) < 0) {
        s->draft = NULL;
        return pastset_fail_while(pastset_no_memory("to settle it"), "%s",
                                  s->path);
    }
    err = draft_open(s, &is_named);
    if (err)
        return err;
    err = owner_put(s);
    if (err)
        goto failed;
    err = elements_put(s);
    if (err)
        goto failed;
    err = header_put(s);
    if (err)
        goto failed;
    if ((is_named || pastset_unnamed_name(s->fd, s->draft)) &&
        rename(s->draft, s->path) == 0)
        return 0;
    err = fail_errno(s, "be replaced by its settled copy");
failed:
    unlink(s->draft);
    return err;
}

/* Were the count of elements damaged, those behind it would be lost for good.
 * Read from the file: to look at a hole in memory takes room on some file
 * systems, and there may be none. */
static int directory_check(const settling *s)
{
    const space_header *header = pastset__space_at(s->space, 0);
    uint32_t count = atomic_load(&header->element_count);
    uint64_t entries[512];
    ssize_t got = 0;

    for (uint64_t i = count; i < header->max_elements;
         i += (uint64_t)got / sizeof(*entries)) {
        uint64_t left = (header->max_elements - i) * sizeof(*entries);
        got = pread(s->old_fd, entries,
                    left < sizeof(entries) ? left : sizeof(entries),
                    (off_t)(SPACE_PAGE + i * sizeof(*entries)));
        if (got < 0)
            return fail_errno(s, "be read");
        if ((size_t)got < sizeof(*entries))
            return 0; /* the file ends: it was settled before */
        for (size_t k = 0; k < (size_t)got / sizeof(*entries); k++) {
            if (entries[k])
                return pastset_fail(PASTSET_EFORMAT,
                                    "%s is damaged: it has more elements than "
                                    "the %u that it counts",
                                    s->path, count);
        }
    }
    return 0;
}

/* What lies outside of the file would be zeros in its settled copy, and look
 * like tuples. */
static int data_check(const settling *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        const pastset_element *element = s->elements[i];
        if (is_live(element) &&
            element->header->data_offset + data_bytes(element) >
                (uint64_t)s->old.st_size)
            return pastset_fail(PASTSET_EFORMAT,
                                "%s is damaged: it ends before the tuples of "
                                "its elements do",
                                s->path);
    }
    return 0;
}

static int settle(settling *s)
{
    uint64_t size = (uint64_t)s->old.st_size, settled = settled_bytes(s);
    uint64_t end = data_end(s);

    if (settled + settled / (WORTH - 1) < size)
        return rewrite(s);
    if (end < size && ftruncate(s->old_fd, (off_t)end) != 0)
        return fail_errno(s, "be cut where its data ends");
    return 0;
}

static int space_settle(settling *s)
{
    int err = pastset_space_open(&s->space, s->path);

    if (err)
        return err;
    /* It tells of damaged elements; what is in them may be mended some day. */
    err = pastset_space_refresh(s->space);
    s->elements = pastset__space_elements(s->space, &s->count);
    for (uint32_t i = 0; i < s->count; i++)
        s->live += is_live(s->elements[i]);
    if (err)
        goto done;
    err = directory_check(s);
    if (err)
        goto done;
    err = data_check(s);
    if (err)
        goto done;
    err = settle(s);
done:
    pastset_space_close(s->space);
    return err;
}

/* Nobody writes it, and nobody settles it but this one, for whom another one
 * is waited. */
static int lock_take(const settling *s)
{
    if (flock(s->old_fd, LOCK_EX | LOCK_NB) == 0)
        return 0;
    if (errno == EWOULDBLOCK && flock(s->old_fd, LOCK_SH | LOCK_NB) == 0)
        return pastset_fail(PASTSET_EAGAIN, "%s is still being written",
                            s->path);
    while (errno == EWOULDBLOCK || errno == EINTR) {
        if (flock(s->old_fd, LOCK_EX) == 0)
            return 0;
    }
    return fail_errno(s, "be locked");
}

/* Opens the file, so that nobody else settles it. 1: somebody has done so just
 * now. */
static int file_lock(settling *s)
{
    struct stat now;
    int err;

    s->old_fd = open(s->path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (s->old_fd < 0 || fstat(s->old_fd, &s->old) != 0)
        return fail_errno(s, "be settled");
    if (!S_ISREG(s->old.st_mode))
        return pastset_fail(PASTSET_EFORMAT, "%s is not a file", s->path);
    err = lock_take(s);
    if (err)
        return err;
    return stat(s->path, &now) != 0 || now.st_ino != s->old.st_ino ||
                   now.st_dev != s->old.st_dev
               ? 1
               : 0;
}

int pastset_space_settle(const char *path)
{
    char *real = realpath(path, NULL);
    settling s = {.path = real ? real : path, .old_fd = -1, .fd = -1};
    int err = real ? file_lock(&s) : fail_errno(&s, "be settled");

    if (!err)
        err = space_settle(&s);
    if (s.fd >= 0)
        close(s.fd);
    if (s.old_fd >= 0)
        close(s.old_fd);
    free(s.draft);
    free(real);
    return err > 0 ? 0 : err;
}
