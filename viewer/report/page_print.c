/* page_print.c - see page_internal.h. */
#include "viewer/report/page_internal.h"

#include "pastset/status.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>

#define NONCE_BYTES ((VIEWER__NONCE_TEXT - 1) / 2)

int viewer__page_nonce(char nonce[VIEWER__NONCE_TEXT])
{
    uint8_t random[NONCE_BYTES];

    if (getrandom(random, sizeof(random), 0) != NONCE_BYTES)
        return pastset_fail(PASTSET_EIO, "no random bytes: %s",
                            strerror(errno));
    for (size_t i = 0; i < NONCE_BYTES; i++)
        snprintf(nonce + 2 * i, 3, "%02x", random[i]);
    return 0;
}

void viewer__page_html_text(FILE *file, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '<':
            fputs("&lt;", file);
            break;
        case '>':
            fputs("&gt;", file);
            break;
        case '&':
            fputs("&amp;", file);
            break;
        case '"':
            fputs("&quot;", file);
            break;
        case '\'':
            fputs("&#39;", file);
            break;
        default:
            putc(*text, file);
        }
}

void viewer__page_file_text(FILE *file, viewer_page_file part)
{
    fwrite(part.begin, 1, (size_t)(part.end - part.begin), file);
}

static int write_data(const char *text, size_t bytes, void *context)
{
    FILE *file = context;

    while (bytes > 0) {
        const char *stop = memchr(text, '<', bytes);
        size_t plain = stop ? (size_t)(stop - text) : bytes;
        fwrite(text, 1, plain, file);
        if (!stop)
            break;
        fputs("\\u003c", file);
        text += plain + 1;
        bytes -= plain + 1;
    }
    return ferror(file) ? -1 : 0;
}

int viewer__page_data(FILE *file, const json_t *data, int digits)
{
    if (json_dump_callback(data, write_data, file,
                           JSON_COMPACT | JSON_ENSURE_ASCII |
                               JSON_REAL_PRECISION((size_t)digits)))
        return ferror(file) ? 0 : pastset_no_memory("to write the data");
    return 0;
}

bool viewer__page_is(const char *name, size_t bytes, const char *what)
{
    return bytes == strlen(what) && memcmp(name, what, bytes) == 0;
}

/* Of what all pages have: the file, or NULL. */
static const viewer_page_file *common(const char *name, size_t bytes)
{
    static const struct {
        const char *name;
        const viewer_page_file *file;
    } files[] = {{"head", &viewer__page_head},
                 {"style", &viewer__page_css},
                 {"scheme", &viewer__page_scheme},
                 {"colours", &viewer__page_colours},
                 {"d3", &viewer__page_d3}};

    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
        if (viewer__page_is(name, bytes, files[i].name))
            return files[i].file;
    return NULL;
}

/* The head has parts, too; scripts and styles have none. */
static int put_one(FILE *file, const char *name, size_t bytes,
                   const char *nonce, viewer__page_part *put_part,
                   void *context)
{
    const viewer_page_file *part = common(name, bytes);

    if (viewer__page_is(name, bytes, "nonce"))
        fputs(nonce, file);
    else if (part == &viewer__page_head)
        return viewer__page_put(file, *part, nonce, put_part, context);
    else if (part)
        viewer__page_file_text(file, *part);
    else
        return put_part(context, name, bytes);
    return 0;
}

int viewer__page_put(FILE *file, viewer_page_file html, const char *nonce,
                     viewer__page_part *put_part, void *context)
{
    const char *at = html.begin, *end = html.end;
    int err = 0;

    while (!err) {
        const char *open = memmem(at, (size_t)(end - at), "{{", 2);
        const char *close =
            open ? memmem(open, (size_t)(end - open), "}}", 2) : NULL;
        if (!close)
            break;
        fwrite(at, 1, (size_t)(open - at), file);
        err = put_one(file, open + 2, (size_t)(close - open - 2), nonce,
                      put_part, context);
        at = close + 2;
    }
    fwrite(at, 1, (size_t)(end - at), file);
    return err;
}
