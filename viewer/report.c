/* report.c - putting the page together.
 *
 * The page is viewer/page/report.html with each {{name}} replaced. Nothing in
 * it comes from the network: the page's policy forbids that, and lets only
 * those scripts run that carry this page's nonce, so that a link or a label
 * in somebody's map cannot become a program. Names are escaped for HTML, and
 * in the data every '<' is written as \u003c, which leaves no "</script" and
 * no "<!--" in it. */
#include "viewer/report.h"

#include "pastset/status.h"
#include "scopes/look.h"
#include "scopes/view.h"
#include "viewer/draw.h"
#include "viewer/page_internal.h"
#include "viewer/report_internal.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define NONCE_BYTES 16

typedef struct page {
    eventspace_run *run;
    json_t *data;
    char nonce[2 * NONCE_BYTES + 1];
    FILE *file;
} page;

static void put_html(FILE *file, const char *text)
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

static void put_file(page *p, viewer_page_file file)
{
    fwrite(file.begin, 1, (size_t)(file.end - file.begin), p->file);
}

static void put_scripts(page *p)
{
    put_file(p, viewer__page_data);
    put_file(p, viewer__page_timeline);
    put_file(p, viewer__page_tables);
    put_file(p, viewer__page_report);
}

/* --- the data --- */

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

static int put_data(page *p)
{
    if (json_dump_callback(p->data, write_data, p->file,
                           JSON_COMPACT | JSON_ENSURE_ASCII))
        return pastset_fail(PASTSET_ENOMEM, "no memory to write the data");
    return 0;
}

/* --- the path map --- */

/* Copies the picture from its <svg> on: what stands before has no place in
 * the middle of a page. */
static int copy_svg(page *p, int fd)
{
    off_t bytes = lseek(fd, 0, SEEK_END);
    if (bytes <= 0)
        return pastset_fail(PASTSET_EIO, "Graphviz has drawn nothing");
    char *text = mmap(NULL, (size_t)bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (text == MAP_FAILED)
        return pastset_fail(pastset_status_from_errno(errno),
                            "the drawn map cannot be read");
    const char *svg = memmem(text, (size_t)bytes, "<svg", 4);
    if (svg)
        fwrite(svg, 1, (size_t)(text + bytes - svg), p->file);
    munmap(text, (size_t)bytes);
    return svg ? 0 : pastset_fail(PASTSET_EIO, "Graphviz has drawn no SVG");
}

static int draw_map(page *p)
{
    int fd = memfd_create("pathmap.svg", MFD_CLOEXEC);
    if (fd < 0)
        return pastset_fail(pastset_status_from_errno(errno),
                            "no memory for a drawing");
    char name[64];
    snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    viewer_draw_options options = {.file = name, .format = "svg"};
    int err = viewer_draw(eventspace_run_map(p->run), &options);
    if (!err)
        err = copy_svg(p, fd);
    close(fd);
    return err;
}

static void put_map(page *p)
{
    if (draw_map(p) == 0)
        return;
    fputs("<p>The path map could not be drawn: ", p->file);
    put_html(p->file, pastset_error());
    fputs("</p>\n", p->file);
}

/* --- the page --- */

static bool is(const char *name, size_t bytes, const char *what)
{
    return bytes == strlen(what) && memcmp(name, what, bytes) == 0;
}

static int put_part(page *p, const char *name, size_t bytes)
{
    if (is(name, bytes, "title"))
        put_html(p->file, eventspace_run_map(p->run)->name);
    else if (is(name, bytes, "nonce"))
        fputs(p->nonce, p->file);
    else if (is(name, bytes, "style"))
        put_file(p, viewer__page_css);
    else if (is(name, bytes, "d3"))
        put_file(p, viewer__page_d3);
    else if (is(name, bytes, "script"))
        put_scripts(p);
    else if (is(name, bytes, "map"))
        put_map(p);
    else if (is(name, bytes, "data"))
        return put_data(p);
    return 0;
}

static int put_page(page *p)
{
    const char *at = viewer__page_html.begin, *end = viewer__page_html.end;
    int err = 0;
    while (!err) {
        const char *open = memmem(at, (size_t)(end - at), "{{", 2);
        const char *close =
            open ? memmem(open, (size_t)(end - open), "}}", 2) : NULL;
        if (!close)
            break;
        fwrite(at, 1, (size_t)(open - at), p->file);
        err = put_part(p, open + 2, (size_t)(close - open - 2));
        at = close + 2;
    }
    fwrite(at, 1, (size_t)(end - at), p->file);
    return err;
}

static int make_nonce(page *p)
{
    uint8_t random[NONCE_BYTES];
    if (getrandom(random, sizeof(random), 0) != NONCE_BYTES)
        return pastset_fail(PASTSET_EIO, "no random bytes: %s",
                            strerror(errno));
    for (size_t i = 0; i < NONCE_BYTES; i++)
        snprintf(p->nonce + 2 * i, 3, "%02x", random[i]);
    return 0;
}

static int make_pending(scopes_table **out, const scopes_look *look)
{
    scopes_subject subject = {.map = look->ways->map,
                              .ways = look->ways,
                              .store = look->store,
                              .clocks = look->clocks,
                              .thread = PATHS_NONE,
                              .pending = look->pending};
    return scopes_view_make(out, scopes_view_find("pending"), &subject);
}

/* Collects the data; the tables behind it are not needed any more then. */
static int collect(page *p)
{
    scopes_look_options options = SCOPES_LOOK_ALL;
    scopes_communication *view = NULL;
    scopes_table *pending = NULL;
    scopes_look *look = NULL;
    viewer_facts facts = {0};
    options.tops_only = true;
    int err = scopes_look_take(&look, p->run, &options);
    if (!err)
        err = make_pending(&pending, look);
    if (!err)
        err = scopes_communication_read(&view, look);
    if (!err)
        err = viewer_facts_take(&facts, p->run);
    if (!err)
        p->data = viewer__report_data(p->run, &facts, view, pending);
    if (!err && !p->data)
        err = pastset_fail(PASTSET_ENOMEM, "no memory for the report's data");
    viewer_facts_drop(&facts);
    scopes_communication_destroy(view);
    scopes_table_destroy(pending);
    scopes_look_free(look);
    return err;
}

static int io_failed(const char *file)
{
    return pastset_fail(pastset_status_from_errno(errno), "%s: %s", file,
                        strerror(errno));
}

/* A device or a pipe is written to; it must not be replaced by a file. */
static bool is_special(const char *file)
{
    struct stat status;
    return stat(file, &status) == 0 && !S_ISREG(status.st_mode);
}

static int write_page(page *p, const char *part, const char *file)
{
    bool special = is_special(file);
    if (special)
        part = file;
    p->file = fopen(part, "w");
    if (!p->file)
        return io_failed(file);
    int err = put_page(p);
    bool bad = ferror(p->file);
    if ((fclose(p->file) || bad) && !err)
        err = io_failed(file);
    if (special)
        return err;
    if (!err && rename(part, file))
        err = io_failed(file);
    if (err)
        unlink(part);
    return err;
}

int viewer_report(eventspace_run *run, const char *file)
{
    page p = {.run = run};
    char *part = NULL;
    int err = make_nonce(&p);
    if (!err)
        err = collect(&p);
    if (!err && asprintf(&part, "%s.part", file) < 0) {
        part = NULL;
        err = pastset_fail(PASTSET_ENOMEM, "no memory for a file's name");
    }
    if (!err)
        err = write_page(&p, part, file);
    json_decref(p.data);
    free(part);
    return err;
}
