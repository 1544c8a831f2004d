/* report.c - putting the page together.
 *
 * The page is viewer/report/page/report.html with each {{name}} replaced.
 * Nothing in it comes from the network: the page's policy forbids that, and
 * lets only those scripts run that carry this page's nonce, so that a link or a
 * label in somebody's map cannot become a program. Names are escaped for HTML,
 * and in the data every '<' is written as \u003c, which leaves no "</script"
 * and no "<!--" in it. */
#include "viewer/report/report.h"

#include "pastset/status.h"
#include "paths/map/units.h"
#include "scopes/reading/snapshot.h"
#include "scopes/views/view.h"
#include "viewer/draw/draw.h"
#include "viewer/tables/output.h"
#include "viewer/report/page_internal.h"
#include "viewer/report/report_internal.h"
#include "viewer/report/report_panels_internal.h"
#include "viewer/tables/table_print.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define NONCE_BYTES 16

typedef struct page {
    eventspace_run *run;
    const char *name; /* of the run */
    const scopes_snapshot_options *window;
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
    put_file(p, viewer__page_regions);
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
                           JSON_COMPACT | JSON_ENSURE_ASCII |
                               JSON_REAL_PRECISION(9)))
        return pastset_no_memory("to write the data");
    return 0;
}

/* --- the path map --- */

/* The picture from its <svg> on: what stands before has no place in the middle
 * of a page. */
static int draw_map(page *p)
{
    viewer_draw_options options = {.file = "the map", .format = "svg"};
    size_t bytes;
    char *text;
    int err =
        viewer_draw_text(&text, &bytes, eventspace_run_map(p->run), &options);
    const char *svg = err ? NULL : memmem(text, bytes, "<svg", 4);

    if (svg)
        fwrite(svg, 1, (size_t)(text + bytes - svg), p->file);
    else if (!err)
        err = pastset_fail(PASTSET_EIO, "Graphviz has drawn no SVG");
    free(text);
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

static void put_time(page *p, const char *word, int64_t ns)
{
    char text[32];

    fprintf(p->file, ", %s %s", word,
            paths_exact_duration_text((uint64_t)ns, text, sizeof(text)));
}

static void put_title(page *p)
{
    put_html(p->file, eventspace_run_map(p->run)->name);
    if (p->window->last_ns > 0)
        put_time(p, "the last", p->window->last_ns);
    if (p->window->from_ns != INT64_MIN)
        put_time(p, "from", p->window->from_ns);
    if (p->window->to_ns != INT64_MAX)
        put_time(p, "to", p->window->to_ns);
}

static int put_part(page *p, const char *name, size_t bytes)
{
    if (is(name, bytes, "title"))
        put_title(p);
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

static int make_view(scopes_table **out, const scopes_snapshot *snapshot,
                     const char *name, bool each)
{
    scopes_view_input view_input = {
        .map = snapshot->topology->map,
        .topology = snapshot->topology,
        .event_table = snapshot->event_table,
        .clocks = snapshot->clocks,
        .threads = NULL,
        .each = each,
        .pending =
            snapshot->options.to_ns == INT64_MAX ? snapshot->pending : NULL,
        .run = snapshot->run,
        .scheduling = snapshot->scheduling};
    return scopes_view_make(out, scopes_view_find(name), &view_input);
}

static int make_waits(viewer__waits *out, const scopes_snapshot *snapshot,
                      const scopes_communication *view)
{
    scopes_table *table;
    int err = make_view(&table, snapshot, "waits-for", true);

    if (err)
        return err;
    err = viewer__waits_take(out, view, table);
    scopes_table_destroy(table);
    return err;
}

/* Collects the data; the tables behind it are not needed any more then. */
static int collect(page *p)
{
    scopes_communication *view = NULL;
    scopes_table *pending = NULL, *regions = NULL;
    scopes_snapshot *snapshot = NULL;
    viewer_facts facts = {0};
    viewer__waits waits = {0};
    int err = scopes_snapshot_take(&snapshot, p->run, p->window);
    if (err)
        goto done;
    err = make_view(&pending, snapshot, "pending", false);
    if (err)
        goto done;
    err = make_view(&regions, snapshot, "regions", true);
    if (err)
        goto done;
    err = scopes_communication_read(&view, snapshot);
    if (err)
        goto done;
    err = make_waits(&waits, snapshot, view);
    if (err)
        goto done;
    err = viewer_facts_take(&facts, p->run);
    if (err)
        goto done;
    p->data = viewer__report_data(p->name, snapshot, &facts, view, &waits,
                                  pending, regions);
    if (!p->data)
        err = pastset_no_memory("for the report's data");
    else if (viewer_require_events(snapshot, p->name))
        json_object_set_new(p->data, "noEvents",
                            viewer_json_text(pastset_error()));
done:
    viewer_facts_fini(&facts);
    viewer__waits_fini(&waits);
    scopes_communication_destroy(view);
    scopes_table_destroy(pending);
    scopes_table_destroy(regions);
    scopes_snapshot_destroy(snapshot);
    return err;
}

/* In memory first: it is a file only when it is whole. */
static int page_make(page *p, char **text, size_t *bytes)
{
    int err;

    p->file = open_memstream(text, bytes);
    if (!p->file)
        return pastset_no_memory("for the report");
    err = put_page(p);
    if (fclose(p->file) != 0 && !err)
        err = pastset_no_memory("for the report");
    return err;
}

static bool is_window(const scopes_snapshot_options *o)
{
    return o->from_ns != INT64_MIN || o->to_ns != INT64_MAX || o->last_ns > 0;
}

int viewer_report(eventspace_run *run, const char *name,
                  const scopes_snapshot_options *window,
                  const viewer_report_panel *panels, size_t panel_count,
                  const char *file)
{
    page p = {.run = run, .name = name, .window = window};
    char *text = NULL;
    size_t bytes = 0;
    int err = make_nonce(&p);
    if (err)
        return err;
    err = collect(&p);
    if (err)
        return err;
    if (json_object_set_new(p.data, "panels",
                            viewer__report_panels(panels, panel_count)) ||
        json_object_set_new(p.data, "window", json_boolean(is_window(window))))
        err = pastset_no_memory("for the report's data");
    if (!err)
        err = page_make(&p, &text, &bytes);
    if (!err)
        err = viewer_output_write(file, text, bytes);
    if (!err && json_object_get(p.data, "noEvents"))
        err = pastset_fail(
            PASTSET_ENOENT, "%s",
            json_string_value(json_object_get(p.data, "noEvents")));
    json_decref(p.data);
    free(text);
    return err;
}
