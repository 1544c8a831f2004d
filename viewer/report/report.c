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
#include "pastset/text.h"
#include "paths/map/units.h"
#include "scopes/reading/snapshot.h"
#include "scopes/views/view.h"
#include "viewer/draw/draw_measured.h"
#include "viewer/tables/output.h"
#include "viewer/report/page_internal.h"
#include "viewer/report/report_internal.h"
#include "viewer/report/report_panels_internal.h"
#include "viewer/report/report_views_internal.h"
#include "viewer/tables/alone.h"
#include "viewer/tables/lacking.h"
#include "viewer/tables/table_print.h"
#include "viewer/tables/trust.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef struct page {
    eventspace_run *run;
    const char *name; /* of the run */
    const scopes_snapshot_options *window;
    bool full;
    json_t *data;
    char *maps[VIEWER_MEASURES]; /* pictures; the first NULL: */
    size_t map_bytes[VIEWER_MEASURES];
    char map_error[512];
    char nonce[VIEWER__NONCE_TEXT];
    bool in_frame; /* of another page, whose nonce it has */
    FILE *file;
} page;

/* --- the data --- */

static int put_data(page *p)
{
    return viewer__page_data(p->file, p->data, 15);
}

/* --- the path map --- */

/* By each measure, where there are events; else the map alone. After an error
 * the page says why. */
static int draw_map(page *p, const scopes_snapshot *snapshot)
{
    viewer_draw_options options = {.file = "the map", .format = "svg"};

    return viewer_require_events(snapshot, p->name)
               ? viewer_draw_text(&p->maps[0], &p->map_bytes[0],
                                  eventspace_run_map(p->run), &options)
               : viewer_draw_measured_all(p->maps, p->map_bytes, snapshot,
                                          p->name, &options);
}

/* A picture from its <svg> on: what stands before has no place in the middle
 * of a page. */
static void put_picture(page *p, const char *text, size_t bytes)
{
    const char *svg = memmem(text, bytes, "<svg", 4);

    if (svg)
        fwrite(svg, 1, (size_t)(text + bytes - svg), p->file);
}

static void put_map(page *p)
{
    if (p->maps[0]) {
        put_picture(p, p->maps[0], p->map_bytes[0]);
        return;
    }
    fputs("<p>The path map could not be drawn: ", p->file);
    viewer__page_html_text(p->file, p->map_error);
    fputs("</p>\n", p->file);
}

/* For map.js, which shows one of them instead of the first. */
static void put_other_maps(page *p)
{
    for (int i = 1; i < VIEWER_MEASURES && p->maps[i]; i++) {
        fprintf(p->file, "<template id=\"es-map-by-%s\">\n",
                viewer_measure_names[i]);
        put_picture(p, p->maps[i], p->map_bytes[i]);
        fputs("</template>\n", p->file);
    }
}

/* --- the page --- */

#define SECOND_NS 1000000000

static void put_time(page *p, const char *word, int64_t ns)
{
    char text[32];

    if (ns > 0 && ns % SECOND_NS == 0)
        snprintf(text, sizeof(text), "%lld s", (long long)(ns / SECOND_NS));
    else
        paths_exact_duration_text((uint64_t)ns, text, sizeof(text));
    fprintf(p->file, ", %s %s", word, text);
}

static void put_title(page *p)
{
    viewer__page_html_text(p->file, eventspace_run_map(p->run)->name);
    if (p->window->last_ns > 0)
        put_time(p, "the last", p->window->last_ns);
    if (p->window->from_ns != INT64_MIN)
        put_time(p, "from", p->window->from_ns);
    if (p->window->to_ns != INT64_MAX)
        put_time(p, "to", p->window->to_ns);
}

static int put_part(void *context, const char *name, size_t bytes)
{
    page *p = context;

    if (viewer__page_is(name, bytes, "title"))
        put_title(p);
    else if (viewer__page_is(name, bytes, "base"))
        fputs(p->in_frame ? "<base href=\"about:srcdoc\">" : "", p->file);
    else if (viewer__page_is(name, bytes, "script"))
        viewer__page_file_text(p->file, viewer__page_scripts);
    else if (viewer__page_is(name, bytes, "map"))
        put_map(p);
    else if (viewer__page_is(name, bytes, "maps"))
        put_other_maps(p);
    else if (viewer__page_is(name, bytes, "data"))
        return put_data(p);
    return 0;
}

static int put_page(page *p)
{
    return viewer__page_put(p->file, viewer__page_html, p->nonce, put_part, p);
}

static int make_view(scopes_table **out, const scopes_snapshot *snapshot,
                     const char *name, bool each)
{
    scopes_view_input input = viewer__report_input(snapshot);

    input.each = each;
    return scopes_view_make(out, scopes_view_find(name), &input);
}

static json_t *trust_of(const scopes_snapshot *snapshot,
                        const viewer_facts *facts)
{
    viewer_alone alone = viewer_alone_of(snapshot);
    viewer_lacking processors = viewer_lacking_of(snapshot);
    viewer_trust trust;
    char says[512], without[512];

    viewer_trust_take(&trust, snapshot, facts);
    return json_pack(
        "{s:o, s:o, s:o, s:o}", "eventCostNs",
        trust.event_cost_ns > 0 ? json_real(trust.event_cost_ns) : json_null(),
        "observing",
        isfinite(trust.observing) ? json_real(trust.observing) : json_null(),
        "alone",
        viewer_json_text(viewer_alone_says(&alone, says, sizeof(says))),
        "processors",
        viewer_json_text(
            viewer_lacking_says(&processors, without, sizeof(without))));
}

/* Collects the data; the tables behind it are not needed any more then. */
static int collect(page *p)
{
    viewer_timeline *timeline = NULL;
    scopes_table *pending = NULL, *regions = NULL;
    json_t *views = NULL;
    scopes_snapshot *snapshot = NULL;
    viewer_facts facts = {0};
    int err = scopes_snapshot_take(&snapshot, p->run, p->window);
    if (err)
        goto done;
    err = make_view(&pending, snapshot, "pending", false);
    if (err)
        goto done;
    err = make_view(&regions, snapshot, "regions", true);
    if (err)
        goto done;
    err = viewer_timeline_create(&timeline, snapshot);
    if (err)
        goto done;
    err = viewer_facts_take(&facts, p->run);
    if (err)
        goto done;
    err = viewer__report_views(&views, snapshot);
    if (err)
        goto done;
    p->data = viewer__report_data(p->name, snapshot, &facts, timeline, pending,
                                  regions, p->full);
    if (!p->data || json_object_set(p->data, "views", views) ||
        json_object_set_new(p->data, "trust", trust_of(snapshot, &facts)))
        err = pastset_no_memory("for the report's data");
    else if (viewer_require_events(snapshot, p->name))
        json_object_set_new(p->data, "noEvents",
                            viewer_json_text(pastset_error()));
    if (!err && draw_map(p, snapshot))
        snprintf(p->map_error, sizeof(p->map_error), "%s", pastset_error());
done:
    json_decref(views);
    viewer_facts_fini(&facts);
    viewer_timeline_destroy(timeline);
    scopes_table_destroy(pending);
    scopes_table_destroy(regions);
    scopes_snapshot_destroy(snapshot);
    return err;
}

/* In memory first: it is a file only when it is whole. */
static int page_make(page *p, char **text, size_t *bytes)
{
    int err;

    p->file = pastset_text_begin(text, bytes);
    if (!p->file)
        return pastset_no_memory("for the report");
    err = put_page(p);
    if (!pastset_text_end(p->file) && !err)
        err = pastset_no_memory("for the report");
    return err;
}

static bool is_window(const scopes_snapshot_options *o)
{
    return o->from_ns != INT64_MIN || o->to_ns != INT64_MAX || o->last_ns > 0;
}

static int page_begin(page *p, const viewer_report_panel *panels,
                      size_t panel_count)
{
    int err = p->in_frame ? 0 : viewer__page_nonce(p->nonce);

    if (!err)
        err = collect(p);
    if (err)
        return err;
    if (json_object_set_new(p->data, "panels",
                            viewer__report_panels(panels, panel_count)) ||
        json_object_set_new(p->data, "window",
                            json_boolean(is_window(p->window))))
        return pastset_no_memory("for the report's data");
    return 0;
}

static void page_end(page *p)
{
    json_decref(p->data);
    for (int i = 0; i < VIEWER_MEASURES; i++)
        free(p->maps[i]);
}

int viewer_report_print(const viewer_report_run *of,
                        const scopes_snapshot_options *window, bool *has_map,
                        FILE *file)
{
    page p = {.run = of->run, .name = of->name, .window = window, .file = file};
    int err = page_begin(&p, of->panels, of->panel_count);

    *has_map = p.maps[0];
    if (!err)
        err = put_page(&p);
    page_end(&p);
    return err;
}

int viewer_report(eventspace_run *run, const char *name,
                  const scopes_snapshot_options *window,
                  const viewer_report_panel *panels, size_t panel_count,
                  bool full, const char *file)
{
    page p = {.run = run, .name = name, .window = window, .full = full};
    char *text = NULL;
    size_t bytes = 0;
    int err = page_begin(&p, panels, panel_count);

    if (!err)
        err = page_make(&p, &text, &bytes);
    if (!err)
        err = viewer_output_write(file, text, bytes);
    if (!err && json_object_get(p.data, "noEvents"))
        err = pastset_fail(
            PASTSET_ENOENT, "%s",
            json_string_value(json_object_get(p.data, "noEvents")));
    page_end(&p);
    free(text);
    return err;
}

int viewer__report_frame(viewer__report_frame_text *out,
                         const viewer_report_run *of,
                         const scopes_snapshot_options *window, bool full,
                         const char *nonce)
{
    page p = {.run = of->run,
              .name = of->name,
              .window = window,
              .full = full,
              .in_frame = true};
    int err;

    snprintf(p.nonce, sizeof(p.nonce), "%s", nonce);
    err = page_begin(&p, of->panels, of->panel_count);
    if (!err)
        err = page_make(&p, &out->text, &out->bytes);
    if (!err)
        out->lasted_ns = json_integer_value(json_object_get(p.data, "endNs")) -
                         json_integer_value(json_object_get(p.data, "startNs"));
    out->has_events =
        !err && out->lasted_ns > 0 && !json_object_get(p.data, "noEvents");
    page_end(&p);
    return err;
}
