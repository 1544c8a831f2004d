/* export_text.c - text for files that may be long: through a buffer, and the
 * first error is kept. */
#include "viewer/export/export_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "viewer/tables/table_print.h"

static void empty(viewer__text *out)
{
    if (!out->error && out->used > 0 &&
        fwrite(out->bytes, 1, out->used, out->file) != out->used)
        out->error = errno ? errno : EIO;
    out->used = 0;
}

void viewer__put_bytes(viewer__text *out, const void *bytes, size_t count)
{
    const char *from = bytes;

    while (count > 0) {
        size_t room = sizeof(out->bytes) - out->used;
        size_t part = count < room ? count : room;
        memcpy(out->bytes + out->used, from, part);
        out->used += part;
        from += part;
        count -= part;
        if (out->used == sizeof(out->bytes))
            empty(out);
    }
}

void viewer__put(viewer__text *out, const char *text)
{
    viewer__put_bytes(out, text, strlen(text));
}

/* The digits of a number, at the end of `digits`; gives how many. */
static size_t put_digits(char digits[24], uint64_t number, size_t least)
{
    size_t used = 0;

    do {
        digits[23 - used++] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0 || used < least);
    return used;
}

static void put_unsigned(viewer__text *out, uint64_t number, size_t least)
{
    char digits[24];
    size_t used = put_digits(digits, number, least);

    viewer__put_bytes(out, digits + 24 - used, used);
}

static uint64_t magnitude(viewer__text *out, int64_t number)
{
    if (number >= 0)
        return (uint64_t)number;
    viewer__put_bytes(out, "-", 1);
    return -(uint64_t)number;
}

void viewer__put_number(viewer__text *out, int64_t number)
{
    put_unsigned(out, magnitude(out, number), 1);
}

void viewer__put_us(viewer__text *out, int64_t ns)
{
    uint64_t absolute = magnitude(out, ns);

    put_unsigned(out, absolute / 1000, 1);
    viewer__put_bytes(out, ".", 1);
    put_unsigned(out, absolute % 1000, 3);
}

int viewer__put_status(const viewer__text *out)
{
    if (!out->error)
        return 0;
    return pastset_fail(pastset_status_from_errno(out->error), "writing: %s",
                        strerror(out->error));
}

int viewer__put_end(viewer__text *out)
{
    empty(out);
    errno = 0;
    if (!out->error && fflush(out->file) != 0)
        out->error = errno ? errno : EIO;
    return viewer__put_status(out);
}

char *viewer__json_string(const char *text)
{
    json_t *json = viewer_json_text(text);
    char *string = json_dumps(json, JSON_ENCODE_ANY);

    json_decref(json);
    return string;
}

char *viewer__utf8(const char *text)
{
    json_t *json = viewer_json_text(text);
    char *copy = json ? strdup(json_string_value(json)) : NULL;

    json_decref(json);
    return copy;
}
