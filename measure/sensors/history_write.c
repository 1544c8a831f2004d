/* history_write.c - see history_internal.h.
 *
 * Who writes a file has it locked. A copy is locked before it takes the file's
 * place; so whoever has locked a file looks whether it is still the one of that
 * name. */
#include "measure/sensors/history_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "eventspace/run/disk.h"
#include "pastset/status.h"

#define COPY_SUFFIX ".new"
#define INTERVAL_LINE "# interval: %lld ms\n"
#define AGAIN_MS 3600000 /* when the last try to thin it has failed */

struct measure__history_writer {
    char *file, *copy;
    int fd;
    off_t bytes; /* of whole lines */
    int64_t last_ms, thin_at_ms;
};

static int fail_write(const char *file, int error)
{
    char disk[256];

    if (error != ENOSPC && error != EDQUOT && error != EFBIG)
        return pastset_fail(PASTSET_EIO, "%s: %s", file, strerror(error));
    eventspace_disk_name(disk, sizeof(disk), file);
    return pastset_fail(PASTSET_ENOSPC, "%s: there is no room on %s", file,
                        *disk ? disk : "its disk");
}

/* 0, or errno. */
static int write_all(int fd, const char *text, size_t bytes)
{
    while (bytes) {
        ssize_t put = write(fd, text, bytes);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return put < 0 ? errno : ENOSPC;
        text += put;
        bytes -= (size_t)put;
    }
    return 0;
}

/* All of it or nothing. */
static int append(measure__history_writer *w, const char *text, size_t bytes)
{
    int error = write_all(w->fd, text, bytes);

    if (!error) {
        w->bytes += (off_t)bytes;
        return 0;
    }
    if (ftruncate(w->fd, w->bytes) != 0) { /* the next one cuts it off */
    }
    return fail_write(w->file, error);
}

/* --- rows as text --- */

int measure__history_row_text(char *out, const measure_history_row *row)
{
    if (!row->lasts_ms)
        return snprintf(out, MEASURE__ROW_BYTES, "%lld,%.9g\n",
                        (long long)row->time_ms, row->value);
    return snprintf(
        out, MEASURE__ROW_BYTES, "%lld,%.9g,%lld,%u,%.6g,%.9g,%.9g\n",
        (long long)row->time_ms, row->value, (long long)row->lasts_ms,
        row->count, row->deviation, row->least, row->most);
}

int measure__history_head_text(char *out, size_t bytes,
                               const measure__history_options *o)
{
    return snprintf(out, bytes,
                    MEASURE_HISTORY_MAGIC
                    "\n# series: %s\n# unit: %s\n# time in ms,value,lasts "
                    "ms,count,deviation,least,most\n# interval: %lld ms\n",
                    o->series, o->unit, (long long)o->interval_ms);
}

/* --- a coarser copy --- */

static int copy_write(FILE *file, const measure_history *h)
{
    measure__history_options o = {h->series, h->unit, h->interval_ms};
    char text[MEASURE__ROW_BYTES + 2 * MEASURE_HISTORY_NAME_BYTES];

    measure__history_head_text(text, sizeof(text), &o);
    fputs(text, file);
    for (size_t i = 0; i < h->count; i++) {
        uint32_t before_ms = i ? h->rows[i - 1].interval_ms : 0;
        if (h->rows[i].interval_ms != before_ms)
            fprintf(file, INTERVAL_LINE, (long long)h->rows[i].interval_ms);
        measure__history_row_text(text, &h->rows[i]);
        fputs(text, file);
    }
    if (h->count && h->rows[h->count - 1].interval_ms != h->interval_ms)
        fprintf(file, INTERVAL_LINE, (long long)h->interval_ms);
    if (ferror(file) == 0 && fflush(file) == 0 && fsync(fileno(file)) == 0)
        return 0;
    return errno ? errno : EIO;
}

/* The copy is the file now, if that is 0. */
static int copy_take(measure__history_writer *w, int fd,
                     const measure_history *h)
{
    FILE *file = fdopen(fd, "w");
    struct stat about;
    int kept, error;

    if (!file) {
        error = errno;
        close(fd);
        return fail_write(w->copy, error);
    }
    error = copy_write(file, h);
    if (!error &&
        (fstat(w->fd, &about) != 0 || fchmod(fd, about.st_mode & 0777) != 0))
        error = errno;
    kept = error ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (!error && (kept < 0 || rename(w->copy, w->file) != 0))
        error = errno;
    fclose(file);
    if (error) {
        if (kept >= 0)
            close(kept);
        return fail_write(w->copy, error);
    }
    close(w->fd);
    w->fd = kept;
    w->bytes = lseek(kept, 0, SEEK_END);
    return 0;
}

static int copy_make(measure__history_writer *w, const measure_history *h)
{
    int fd =
        open(w->copy, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    int err;

    if (fd < 0)
        return fail_write(w->copy, errno);
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        close(fd);
        return pastset_fail(PASTSET_EAGAIN,
                            "%s is being written by another "
                            "process",
                            w->copy);
    }
    err = copy_take(w, fd, h);
    if (err)
        unlink(w->copy);
    return err;
}

static int thin(measure__history_writer *w, int64_t now_ms)
{
    measure_history *h;
    int err = measure_history_read(&h, w->file);

    if (!err) {
        measure__history_thin(h, now_ms);
        err = copy_make(w, h);
        w->thin_at_ms = measure__history_thin_at(h);
        measure_history_destroy(h);
    }
    if (err || w->thin_at_ms <= now_ms)
        w->thin_at_ms = now_ms + AGAIN_MS;
    return err;
}

/* --- open --- */

static bool is_line(const char *text, size_t room)
{
    return text && *text && strlen(text) < room && !strpbrk(text, "\r\n");
}

static int options_check(const measure__history_options *o)
{
    if (is_line(o->series, MEASURE_HISTORY_NAME_BYTES) &&
        is_line(o->unit, sizeof((measure_history *)0)->unit) &&
        o->interval_ms > 0)
        return 0;
    return pastset_fail(PASTSET_EINVAL,
                        "a history needs a name and a unit of one line, and an "
                        "interval");
}

/* The file of that name, locked. */
static int file_open(measure__history_writer *w)
{
    struct stat mine, named;

    for (;;) {
        w->fd = open(w->file, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        if (w->fd < 0)
            return fail_write(w->file, errno);
        if (flock(w->fd, LOCK_EX | LOCK_NB) != 0 && errno != EWOULDBLOCK)
            return pastset_fail(PASTSET_EIO, "%s cannot be locked: %s", w->file,
                                strerror(errno));
        if (flock(w->fd, LOCK_EX | LOCK_NB) != 0)
            return pastset_fail(PASTSET_EAGAIN,
                                "%s is being written by another process: is "
                                "`eventspace watch` running already?",
                                w->file);
        if (fstat(w->fd, &mine) == 0 && stat(w->file, &named) == 0 &&
            mine.st_dev == named.st_dev && mine.st_ino == named.st_ino)
            break;
        close(w->fd); /* another process has replaced it just now */
    }
    if (!S_ISREG(mine.st_mode))
        return pastset_fail(PASTSET_EIO, "%s is not a file", w->file);
    w->bytes = mine.st_size;
    return 0;
}

/* Where the last whole line ends. */
static off_t whole_bytes(const measure__history_writer *w)
{
    off_t at = w->bytes;
    char block[4096];

    while (at > 0) {
        size_t bytes = at < (off_t)sizeof(block) ? (size_t)at : sizeof(block);
        const char *end;
        if (pread(w->fd, block, bytes, at - (off_t)bytes) != (ssize_t)bytes)
            return -1;
        end = memrchr(block, '\n', bytes);
        if (end)
            return at - (off_t)bytes + (end - block) + 1;
        at -= (off_t)bytes;
    }
    return 0;
}

static int head_put(measure__history_writer *w,
                    const measure__history_options *o)
{
    char text[MEASURE__ROW_BYTES + 2 * MEASURE_HISTORY_NAME_BYTES];
    int bytes = measure__history_head_text(text, sizeof(text), o);

    w->last_ms = -1;
    w->thin_at_ms = INT64_MAX;
    return append(w, text, (size_t)bytes);
}

static int interval_put(measure__history_writer *w, int64_t interval_ms)
{
    char text[64];
    int bytes =
        snprintf(text, sizeof(text), INTERVAL_LINE, (long long)interval_ms);

    return append(w, text, (size_t)bytes);
}

static int go_on(measure__history_writer *w, const measure__history_options *o)
{
    measure_history *h;
    int err = measure_history_read(&h, w->file);

    if (err)
        return err;
    if (strcmp(h->series, o->series) != 0 || strcmp(h->unit, o->unit) != 0)
        err = pastset_fail(PASTSET_EFORMAT,
                           "%s is a history of %s in %s, not of %s in %s",
                           w->file, h->series, h->unit, o->series, o->unit);
    w->last_ms = h->count ? h->rows[h->count - 1].time_ms : -1;
    if (h->count && h->rows[h->count - 1].lasts_ms)
        w->last_ms += h->rows[h->count - 1].lasts_ms - 1;
    w->thin_at_ms = measure__history_thin_at(h);
    if (!err && h->interval_ms != o->interval_ms)
        err = interval_put(w, o->interval_ms);
    measure_history_destroy(h);
    return err;
}

/* A file whose first lines were never whole is a new one. */
static int begin(measure__history_writer *w, const measure__history_options *o)
{
    static const char magic[] = MEASURE_HISTORY_MAGIC "\n";
    char first[sizeof(magic)];
    off_t bytes = whole_bytes(w);
    size_t look = w->bytes < (off_t)sizeof(magic) - 1 ? (size_t)w->bytes
                                                      : sizeof(magic) - 1;

    /* Nothing is cut off a file that is not ours. */
    if (bytes < 0 || pread(w->fd, first, look, 0) != (ssize_t)look ||
        memcmp(first, magic, look) != 0)
        return pastset_fail(PASTSET_EFORMAT,
                            "%s is no history: its first line is not \"%s\"",
                            w->file, MEASURE_HISTORY_MAGIC);
    if (bytes < w->bytes && ftruncate(w->fd, bytes) != 0)
        return fail_write(w->file, errno);
    w->bytes = bytes;
    return bytes == 0 ? head_put(w, o) : go_on(w, o);
}

int measure__history_open(measure__history_writer **out, const char *file,
                          const measure__history_options *options)
{
    measure__history_writer *w;
    int err = options_check(options);

    if (err)
        return err;
    w = calloc(1, sizeof(*w));
    if (!w)
        return pastset_no_memory("for a history");
    w->fd = -1;
    w->file = strdup(file);
    if (asprintf(&w->copy, "%s" COPY_SUFFIX, file) < 0)
        w->copy = NULL;
    err =
        w->file && w->copy ? file_open(w) : pastset_no_memory("for a history");
    if (!err)
        err = begin(w, options);
    if (err) {
        measure__history_close(w);
        return err;
    }
    *out = w;
    return 0;
}

/* --- add --- */

/* Is it still the file of that name, with whole lines only? */
static int file_check(const measure__history_writer *w)
{
    struct stat mine, named;

    if (fstat(w->fd, &mine) != 0 || stat(w->file, &named) != 0 ||
        mine.st_dev != named.st_dev || mine.st_ino != named.st_ino)
        return pastset_fail(
            PASTSET_EIO,
            "%s has been removed or replaced: start `eventspace "
            "watch` again to begin a new one",
            w->file);
    if (mine.st_size != w->bytes && ftruncate(w->fd, w->bytes) != 0)
        return fail_write(w->file, errno);
    return 0;
}

int measure__history_add(measure__history_writer *w, int64_t time_ms,
                         double value)
{
    measure_history_row row = {.time_ms = time_ms, .value = value};
    char text[MEASURE__ROW_BYTES];
    int err;

    if (!(fabs(value) <= MEASURE_HISTORY_VALUE_MAX) || time_ms < 0 ||
        time_ms > MEASURE__TIME_MAX_MS)
        return pastset_fail(PASTSET_EINVAL, "%s: a sample is not a number",
                            w->file);
    if (time_ms <= w->last_ms)
        return pastset_fail(PASTSET_EINVAL,
                            "%s: the clock is %.3f s behind the last sample: "
                            "has it been set back?",
                            w->file, (double)(w->last_ms - time_ms) * 1e-3);
    err = file_check(w);
    if (!err)
        err = append(w, text, (size_t)measure__history_row_text(text, &row));
    if (err)
        return err;
    w->last_ms = time_ms;
    if (w->thin_at_ms == INT64_MAX) {
        measure_history h = {.rows = &row, .count = 1};
        w->thin_at_ms = measure__history_thin_at(&h);
    }
    return time_ms >= w->thin_at_ms ? thin(w, time_ms) : 0;
}

void measure__history_close(measure__history_writer *writer)
{
    if (!writer)
        return;
    if (writer->fd >= 0)
        close(writer->fd);
    free(writer->file);
    free(writer->copy);
    free(writer);
}
