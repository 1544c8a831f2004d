/* history_read.c - see history.h.
 *
 * Years of samples are read at once, so numbers are read here and not by
 * strtod, where that gives the same: up to 2^53 as a whole number, times a
 * power of ten up to 10^22, both of which a double has exactly. */
#include "measure/sensors/history_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pastset/status.h"

#define FIELDS 7
#define SHOWN "%.60s"
#define GAP_INTERVALS 3
#define NUMBER_BYTES 64

typedef struct reader {
    measure_history *out;
    const char *name;
    const char *at, *end; /* of the text */
    size_t line;
    size_t room;
} reader;

static int fail(const reader *r, const char *what)
{
    return pastset_fail(PASTSET_EFORMAT,
                        "%s:%zu: %s; take the line out to read the rest",
                        r->name, r->line, what);
}

/* --- numbers --- */

static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
#define POWER_MAX 22
#define EXACT_MAX ((uint64_t)1 << 53)

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* What is rare: many digits, or very small or large. */
static bool number_slow(double *out, const char *begin, const char *end)
{
    char text[NUMBER_BYTES], *stopped;
    size_t bytes = (size_t)(end - begin);

    if (bytes >= sizeof(text))
        return false;
    memcpy(text, begin, bytes);
    text[bytes] = 0;
    *out = strtod(text, &stopped);
    return *stopped == 0 && isfinite(*out);
}

/* "-12.5e-7"; nothing else. `*at` comes behind it. */
static bool number_read(double *out, const char **at, const char *end)
{
    const char *begin = *at, *p = begin;
    uint64_t digits = 0;
    int count = 0, exponent = 0, given = 0;
    bool is_negative = p < end && *p == '-', is_less = false;

    p += is_negative;
    for (; p < end && is_digit(*p); p++, count++)
        digits = count < 18 ? digits * 10 + (uint64_t)(*p - '0') : EXACT_MAX;
    if (p < end && *p == '.')
        for (p++; p < end && is_digit(*p); p++, count++, exponent--)
            digits =
                count < 18 ? digits * 10 + (uint64_t)(*p - '0') : EXACT_MAX;
    if (count == 0)
        return false;
    if (p < end && *p == 'e') {
        p++;
        is_less = p < end && *p == '-';
        if (p < end && (*p == '-' || *p == '+'))
            p++;
        if (p == end || !is_digit(*p))
            return false;
        for (; p < end && is_digit(*p); p++)
            given = given < 10000 ? given * 10 + (*p - '0') : given;
    }
    exponent += is_less ? -given : given;
    *at = p;
    if (digits >= EXACT_MAX || abs(exponent) > POWER_MAX)
        return number_slow(out, begin, p);
    *out = exponent < 0 ? (double)digits / powers[-exponent]
                        : (double)digits * powers[exponent];
    *out = is_negative ? -*out : *out;
    return true;
}

/* --- rows --- */

static int row_check(const reader *r, const measure_history_row *row)
{
    const measure_history *h = r->out;
    const measure_history_row *last = h->count ? &h->rows[h->count - 1] : NULL;

    if (last && row->time_ms < last->time_ms + last->lasts_ms)
        return fail(r, "it is earlier than the end of the line before");
    if (last && row->time_ms == last->time_ms)
        return fail(r, "it is of the same time as the line before");
    if (!row->lasts_ms)
        return 0;
    if (last && !last->lasts_ms)
        return fail(r, "means stand behind samples");
    if (row->count < 1 || row->deviation < 0 || row->least > row->value ||
        row->value > row->most)
        return fail(r, "the mean is not between the least and the most, or it "
                       "is one of nothing");
    return 0;
}

static bool whole(double number, double max)
{
    return number >= 0 && number <= max && number == floor(number);
}

static int row_of(const reader *r, measure_history_row *row, const double *f,
                  unsigned count)
{
    if (!whole(f[0], MEASURE__TIME_MAX_MS))
        return fail(r, "the time is not in whole milliseconds since 1970");
    for (unsigned i = 1; i < count; i++)
        if (fabs(f[i]) > MEASURE_HISTORY_VALUE_MAX)
            return fail(r, "a number is too large");
    *row = (measure_history_row){.time_ms = (int64_t)f[0],
                                 .value = f[1],
                                 .count = 1,
                                 .interval_ms = (uint32_t)r->out->interval_ms,
                                 .least = f[1],
                                 .most = f[1]};
    if (count == 2)
        return 0;
    if (!whole(f[2], MEASURE__TIME_MAX_MS) || f[2] == 0 ||
        !whole(f[3], UINT32_MAX))
        return fail(r, "how long it lasts, and how many samples it stands for, "
                       "must be whole numbers");
    row->lasts_ms = (int64_t)f[2];
    row->count = (uint32_t)f[3];
    row->deviation = f[4];
    row->least = f[5];
    row->most = f[6];
    return 0;
}

static int row_keep(reader *r, const measure_history_row *row)
{
    measure_history *h = r->out;

    if (h->count == r->room) {
        size_t room = r->room ? r->room * 2 : 1024;
        measure_history_row *rows = realloc(h->rows, room * sizeof(*rows));
        if (!rows)
            return pastset_no_memory("for a history");
        h->rows = rows;
        r->room = room;
    }
    if (row->lasts_ms)
        h->first_sample = h->count + 1;
    h->rows[h->count++] = *row;
    return 0;
}

static int row_read(reader *r, const char *at, const char *end)
{
    measure_history_row row;
    double fields[FIELDS];
    unsigned count = 0;
    int err;

    do {
        if (count == FIELDS)
            return fail(r, "there are more than 7 fields");
        if (!number_read(&fields[count++], &at, end))
            return fail(r, "a field is not a number");
    } while (at < end && *at++ == ',');
    if (at != end || (at[-1] == ','))
        return fail(r, "a field is not a number");
    if (count != 2 && count != FIELDS)
        return fail(r, "there are neither 2 fields, as of a sample, nor 7");
    err = row_of(r, &row, fields, count);
    if (!err)
        err = row_check(r, &row);
    return err ? err : row_keep(r, &row);
}

/* --- lines --- */

/* Behind "# KEY: " of this line, or NULL. */
static const char *remark(const char *at, const char *end, const char *key)
{
    size_t bytes = strlen(key);

    if ((size_t)(end - at) < bytes + 4 || memcmp(at, "# ", 2) != 0 ||
        memcmp(at + 2, key, bytes) != 0 || memcmp(at + 2 + bytes, ": ", 2) != 0)
        return NULL;
    return at + bytes + 4;
}

static int text_take(const reader *r, char *out, size_t room, const char *at,
                     const char *end)
{
    size_t bytes = (size_t)(end - at);

    if (bytes == 0 || bytes >= room || memchr(at, 0, bytes))
        return fail(r, "the text is empty or too long");
    memcpy(out, at, bytes);
    out[bytes] = 0;
    return 0;
}

static int interval_take(reader *r, const char *at, const char *end)
{
    double ms;

    if (!number_read(&ms, &at, end) || end - at != 3 ||
        memcmp(at, " ms", 3) != 0 || !whole(ms, MEASURE__TIME_MAX_MS) ||
        ms == 0)
        return fail(r, "the interval is not in whole milliseconds");
    r->out->interval_ms = (int64_t)ms;
    return 0;
}

static int line_read(reader *r, const char *at, const char *end)
{
    measure_history *h = r->out;
    const char *text;

    if (at == end || *at != '#')
        return row_read(r, at, end);
    if ((text = remark(at, end, "series")) && !*h->series)
        return text_take(r, h->series, sizeof(h->series), text, end);
    if ((text = remark(at, end, "unit")) && !*h->unit)
        return text_take(r, h->unit, sizeof(h->unit), text, end);
    if ((text = remark(at, end, "interval")))
        return interval_take(r, text, end);
    return 0;
}

static int first_line_read(reader *r, const char *at, const char *end)
{
    static const char magic[] = MEASURE_HISTORY_MAGIC;

    if ((size_t)(end - at) == strlen(magic) &&
        memcmp(at, magic, strlen(magic)) == 0)
        return 0;
    return pastset_fail(PASTSET_EFORMAT,
                        "%s is no history: its first line is not \"%s\"",
                        r->name, magic);
}

static int lines_read(reader *r)
{
    int err = 0;

    while (r->at < r->end && !err) {
        const char *end = memchr(r->at, '\n', (size_t)(r->end - r->at));
        if (!end) {
            r->out->torn = true;
            break;
        }
        r->line++;
        err = r->line == 1 ? first_line_read(r, r->at, end)
                           : line_read(r, r->at, end);
        r->at = end + 1;
    }
    if (err)
        return err;
    if (r->line == 0)
        return first_line_read(r, r->at, r->at);
    if (!*r->out->series || !*r->out->unit || r->out->interval_ms == 0)
        return pastset_fail(PASTSET_EFORMAT,
                            "%s does not say what series it is, its unit, or "
                            "its interval",
                            r->name);
    return 0;
}

int measure_history_parse(measure_history **out, const char *text, size_t bytes,
                          const char *name)
{
    reader r = {.name = name, .at = text, .end = text + bytes};
    int err;

    r.out = calloc(1, sizeof(*r.out));
    if (!r.out)
        return pastset_no_memory("for a history");
    err = lines_read(&r);
    if (err) {
        measure_history_destroy(r.out);
        return err;
    }
    *out = r.out;
    return 0;
}

/* --- files --- */

static int file_open(int *fd, size_t *bytes, const char *file)
{
    struct stat about;

    *fd = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (*fd < 0 || fstat(*fd, &about) != 0) {
        int err = pastset_fail(PASTSET_EIO, "%s: %s", file, strerror(errno));
        if (*fd >= 0)
            close(*fd);
        return err;
    }
    *bytes = (size_t)about.st_size;
    if (S_ISREG(about.st_mode))
        return 0;
    close(*fd);
    return pastset_fail(PASTSET_EIO, "%s is not a file", file);
}

/* As much of these as there is; what is appended meanwhile comes the next
 * time. */
static int text_read(int fd, char *out, size_t *bytes, size_t offset,
                     const char *file)
{
    size_t wanted = *bytes;

    *bytes = 0;
    while (*bytes < wanted) {
        ssize_t got =
            pread(fd, out + *bytes, wanted - *bytes, (off_t)(offset + *bytes));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return pastset_fail(PASTSET_EIO, "%s: %s", file, strerror(errno));
        if (got == 0)
            break;
        *bytes += (size_t)got;
    }
    return 0;
}

int measure_history_read(measure_history **out, const char *file)
{
    size_t bytes;
    char *text;
    int fd, err = file_open(&fd, &bytes, file);

    if (err)
        return err;
    text = malloc(bytes + 1);
    err = text ? text_read(fd, text, &bytes, 0, file)
               : pastset_no_memory("for a history");
    if (!err)
        err = measure_history_parse(out, text, bytes, file);
    free(text);
    close(fd);
    return err;
}

#define HEAD_BYTES 1024
#define END_BYTES 65536 /* at first */

/* The whole lines in front of the first row. */
static size_t head_bytes(const char *text, size_t bytes)
{
    const char *at = text, *end = text + bytes;

    while (at < end && *at == '#') {
        const char *line = memchr(at, '\n', (size_t)(end - at));
        if (!line)
            break;
        at = line + 1;
    }
    return (size_t)(at - text);
}

/* Does the first row of a text begin by then? */
static bool reaches(const char *at, const char *end, int64_t from_ms)
{
    double ms;

    at += head_bytes(at, (size_t)(end - at));
    return number_read(&ms, &at, end) && ms <= (double)from_ms;
}

/* The lines in front of the first row, and whole ones of the last `end` bytes.
 * `*text` is for the caller to free, also after an error. */
static int ends_read(char **text, size_t *bytes, int fd, size_t size,
                     size_t end, const char *file)
{
    size_t head = HEAD_BYTES;
    char *whole;
    int err;

    *text = malloc(HEAD_BYTES + end);
    if (!*text)
        return pastset_no_memory("for a history");
    err = text_read(fd, *text, &head, 0, file);
    if (err)
        return err;
    *bytes = head = head_bytes(*text, head);
    err = text_read(fd, *text + head, &end, size - end, file);
    whole = err ? NULL : memchr(*text + head, '\n', end);
    if (!whole)
        return err;
    end -= (size_t)(++whole - (*text + head));
    memmove(*text + head, whole, end);
    *bytes += end;
    return 0;
}

int measure_history_read_since(measure_history **out, const char *file,
                               int64_t from_ms)
{
    size_t size, bytes = 0;
    char *text = NULL;
    bool is_enough = false;
    int fd, err = file_open(&fd, &size, file);

    if (err)
        return err;
    for (size_t end = END_BYTES; !err && !is_enough && end < size; end *= 2) {
        free(text);
        err = ends_read(&text, &bytes, fd, size, end, file);
        is_enough = !err && reaches(text, text + bytes, from_ms);
    }
    close(fd);
    if (!err && is_enough)
        err = measure_history_parse(out, text, bytes, file);
    free(text);
    if (!err && is_enough)
        return 0;
    /* Or all of it, which says in which line something is wrong. */
    return err == 0 || err == PASTSET_EFORMAT ? measure_history_read(out, file)
                                              : err;
}

void measure_history_destroy(measure_history *history)
{
    if (!history)
        return;
    free(history->rows);
    free(history);
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

bool measure_history_is_gap(const measure_history *h, size_t i)
{
    const measure_history_row *row = &h->rows[i], *last;
    int64_t usual_ms;

    if (i == 0)
        return false;
    last = row - 1; /* the interval may have changed between them */
    usual_ms =
        larger(row->lasts_ms, larger(row->interval_ms, last->interval_ms));
    return row->time_ms - last->time_ms - last->lasts_ms >
           GAP_INTERVALS * usual_ms;
}

size_t measure_history_alike(const measure_history *h)
{
    size_t first = h->count;

    while (first > 0 &&
           h->rows[first - 1].lasts_ms == h->rows[h->count - 1].lasts_ms)
        first--;
    return first;
}

/* The first row at `ms` or later. */
static size_t first_at(const measure_history *h, int64_t ms)
{
    size_t low = 0, high = h->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (h->rows[middle].time_ms < ms)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t measure_history_between(const measure_history *h, int64_t from_ms,
                               int64_t to_ms, size_t *first)
{
    size_t end = first_at(h, to_ms);

    *first = first_at(h, from_ms);
    return end > *first ? end - *first : 0;
}

#define ROWS_BACK 3

/* How old the last value may be: by how far the last rows are apart, but for
 * gaps, as the interval may have changed since the history says it. */
static int64_t fresh_ms(const measure_history *h, size_t i)
{
    int64_t usual_ms = INT64_MAX;

    for (size_t back = 0; back < ROWS_BACK && back < i; back++) {
        const measure_history_row *row = &h->rows[i - back];
        int64_t apart_ms = row->time_ms - row[-1].time_ms;
        usual_ms = apart_ms < usual_ms ? apart_ms : usual_ms;
    }
    if (i == 0)
        usual_ms = h->rows[i].interval_ms;
    return h->rows[i].lasts_ms +
           GAP_INTERVALS * larger(h->rows[i].lasts_ms, usual_ms);
}

double measure_history_value(const measure_history *h, int64_t from_ms,
                             int64_t to_ms)
{
    size_t first, count = measure_history_between(h, from_ms, to_ms, &first);
    double sum = 0;

    for (size_t i = first; i < first + count; i++)
        sum += h->rows[i].value;
    if (count)
        return sum / (double)count;
    if (first == 0 ||
        from_ms - h->rows[first - 1].time_ms > fresh_ms(h, first - 1))
        return (double)NAN;
    return h->rows[first - 1].value;
}
