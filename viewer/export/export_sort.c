/* export_sort.c - sorting more records than memory has room for.
 *
 * Records are collected in memory. Whenever that is full they are sorted and
 * appended, as one run, to a file without a name in TMPDIR. In the end the runs
 * are merged: each of them has a part of the same memory as its buffer, and a
 * heap has the first record of each. What fits into memory never comes to the
 * file. Records that compare as equal come in the order in which they were
 * added, as `qsort` need not: compare functions leave none equal that differ.
 */
#include "viewer/export/export_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pastset/array.h"
#include "pastset/status.h"

/* One of the sorted runs in the file. */
typedef struct part {
    off_t at;          /* where the next of its records is in the file */
    uint64_t left;     /* that many are still there */
    char *buffer;      /* of the sorter's memory */
    size_t used, next; /* records in it; the first that was not given */
} part;

struct viewer__sorter {
    size_t bytes; /* of a record */
    viewer__compare *compare;
    size_t capacity;
    char *records;
    size_t count;
    size_t next; /* to be given, if there is no file */
    int file;    /* -1: none yet */
    off_t end;
    part *parts;
    size_t part_count;
    size_t *heap; /* of parts that have records */
    size_t heap_count;
    size_t buffer_records; /* of each part */
    bool is_ended;
    bool has_given; /* the first of the heap is behind the caller */
};

static const char *folder(void)
{
    const char *named = getenv("TMPDIR");

    return named && *named ? named : "/tmp";
}

static int fail(const char *what)
{
    return pastset_fail(pastset_status_from_errno(errno),
                        "sorting events in %s: %s: %s; set TMPDIR to another "
                        "directory",
                        folder(), what, strerror(errno));
}

int viewer__sorter_create(viewer__sorter **out, size_t record_bytes,
                          viewer__compare *compare, size_t capacity)
{
    viewer__sorter *s = calloc(1, sizeof(*s));

    *out = s;
    if (!s)
        return pastset_no_memory("to sort events");
    *s = (viewer__sorter){.bytes = record_bytes,
                          .compare = compare,
                          .capacity = capacity,
                          .file = -1};
    return 0;
}

void viewer__sorter_destroy(viewer__sorter *s)
{
    if (!s)
        return;
    if (s->file >= 0)
        close(s->file);
    free(s->records);
    free(s->parts);
    free(s->heap);
    free(s);
}

/* --- collecting --- */

static int file_open(viewer__sorter *s)
{
    char name[4096];

    if (s->file >= 0)
        return 0;
    s->file = open(folder(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (s->file >= 0)
        return 0;
    if (snprintf(name, sizeof(name), "%s/eventspace-XXXXXX", folder()) >=
        (int)sizeof(name)) {
        errno = ENAMETOOLONG;
        return fail("making a file");
    }
    s->file = mkostemp(name, O_CLOEXEC);
    if (s->file < 0)
        return fail("making a file");
    unlink(name);
    return 0;
}

static int write_all(viewer__sorter *s, const char *from, size_t bytes)
{
    while (bytes > 0) {
        ssize_t n = pwrite(s->file, from, bytes, s->end);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail("writing");
        from += n;
        bytes -= (size_t)n;
        s->end += n;
    }
    return 0;
}

static void sort(viewer__sorter *s)
{
    if (s->count > 1)
        qsort(s->records, s->count, s->bytes, s->compare);
}

static int spill(viewer__sorter *s)
{
    part *more;
    int err = file_open(s);

    if (err)
        return err;
    more = pastset_array_grow(s->parts, s->part_count, sizeof(*more));
    if (!more)
        return pastset_no_memory("to sort events");
    s->parts = more;
    more[s->part_count++] = (part){.at = s->end, .left = s->count};
    sort(s);
    err = write_all(s, s->records, s->count * s->bytes);
    s->count = 0;
    return err;
}

int viewer__sorter_add(viewer__sorter *s, const void *record)
{
    char *more;
    int err;

    if (s->count == s->capacity) {
        err = spill(s);
        if (err)
            return err;
    }
    if (s->part_count == 0) {
        more = pastset_array_grow(s->records, s->count, s->bytes);
        if (!more)
            return pastset_no_memory("to sort events");
        s->records = more;
    }
    memcpy(s->records + s->count++ * s->bytes, record, s->bytes);
    return 0;
}

/* --- merging --- */

static const char *front(const viewer__sorter *s, size_t i)
{
    const part *p = &s->parts[i];

    return p->buffer + p->next * s->bytes;
}

static bool comes_before(const viewer__sorter *s, size_t a, size_t b)
{
    int order = s->compare(front(s, a), front(s, b));

    return order < 0 || (order == 0 && a < b);
}

static void sink(viewer__sorter *s, size_t at)
{
    for (;;) {
        size_t least = at, child = 2 * at + 1, swap;
        for (size_t i = child; i < child + 2 && i < s->heap_count; i++)
            if (comes_before(s, s->heap[i], s->heap[least]))
                least = i;
        if (least == at)
            return;
        swap = s->heap[at];
        s->heap[at] = s->heap[least];
        s->heap[least] = swap;
        at = least;
    }
}

static int fill(viewer__sorter *s, part *p)
{
    size_t wanted =
        p->left < s->buffer_records ? (size_t)p->left : s->buffer_records;
    size_t bytes = wanted * s->bytes, done = 0;

    while (done < bytes) {
        ssize_t n = pread(s->file, p->buffer + done, bytes - done, p->at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            errno = EIO;
        if (n <= 0)
            return fail("reading");
        done += (size_t)n;
        p->at += n;
    }
    p->left -= wanted;
    p->used = wanted;
    p->next = 0;
    return 0;
}

static int merge_begin(viewer__sorter *s)
{
    size_t least = 65536 / s->bytes + 1; /* for the disk */
    int err = s->count > 0 ? spill(s) : 0;

    if (err)
        return err;
    s->buffer_records = s->capacity / s->part_count;
    if (s->buffer_records < least)
        s->buffer_records = least;
    free(s->records);
    s->records = malloc(s->buffer_records * s->part_count * s->bytes);
    s->heap = calloc(s->part_count, sizeof(*s->heap));
    if (!s->records || !s->heap)
        return pastset_no_memory("to sort events");
    for (size_t i = 0; i < s->part_count && !err; i++) {
        s->parts[i].buffer = s->records + i * s->buffer_records * s->bytes;
        err = fill(s, &s->parts[i]);
        s->heap[s->heap_count++] = i;
    }
    for (size_t i = s->heap_count; i-- > 0 && !err;)
        sink(s, i);
    return err;
}

/* Goes on behind the record that was given. */
static int merge_step(viewer__sorter *s)
{
    part *p = &s->parts[s->heap[0]];
    int err = 0;

    if (++p->next == p->used) {
        if (p->left > 0)
            err = fill(s, p);
        else
            s->heap[0] = s->heap[--s->heap_count];
    }
    if (!err)
        sink(s, 0);
    return err;
}

static int end(viewer__sorter *s)
{
    s->is_ended = true;
    if (s->part_count > 0)
        return merge_begin(s);
    sort(s);
    return 0;
}

const void *viewer__sorter_next(viewer__sorter *s, int *err)
{
    *err = s->is_ended ? 0 : end(s);
    if (*err)
        return NULL;
    if (s->part_count == 0)
        return s->next < s->count ? s->records + s->next++ * s->bytes : NULL;
    if (s->has_given)
        *err = merge_step(s);
    s->has_given = true;
    return *err || s->heap_count == 0 ? NULL : front(s, s->heap[0]);
}
