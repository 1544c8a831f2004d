/* report_views.c - the tables of all views, for a page.
 *
 * Every view that has rows is there as `eventspace view` prints it. Some of
 * them are there with `--detail`, too: those that a picture is drawn from.
 * These have a row for each round or step, which in a long run are more than a
 * picture can show, and take memory to make; they are left out then, but for
 * those that stay short however long a run is. */
#include "viewer/report/report_views_internal.h"

#include <stdbool.h>
#include <string.h>

#include "pastset/status.h"
#include "viewer/report/view_json_internal.h"
#include "viewer/tables/table_print.h"

#define VIEWS_MAX 64
#define SUM_ROWS 1000      /* of a table at most; the page says so */
#define DETAIL_ROWS 4000   /* the same, in detail */
#define EVENTS_MAX 2000000 /* of a run whose rounds and steps are told */
#define TUPLES_MAX 100000  /* of one whose tuples are */

/* Views that are there in detail, too. */
static const struct {
    const char *name;
    bool is_short;
} detailed[] = {
    {"calls", true},
    {"critical-path", true},
    {"efficiency", true},
    {"last-arriver", false},
    {"performance", false},
    {"signal-arrival", false},
    {"signal-departure", false},
    {"steps", false},
    {"thread-wait", false},
};

/* Views that are made at once. */
typedef struct choice {
    const scopes_view *views[VIEWS_MAX];
    scopes_table *tables[VIEWS_MAX];
    size_t count;
} choice;

scopes_view_input viewer__report_input(const scopes_snapshot *snapshot)
{
    return (scopes_view_input){.map = snapshot->topology->map,
                               .topology = snapshot->topology,
                               .event_table = snapshot->event_table,
                               .clocks = snapshot->clocks,
                               .pending = snapshot->options.to_ns == INT64_MAX
                                              ? snapshot->pending
                                              : NULL,
                               .run = snapshot->run,
                               .scheduling = snapshot->scheduling};
}

/* --- which --- */

static bool is_detailed(const scopes_view *view, uint64_t events)
{
    for (size_t i = 0; i < sizeof(detailed) / sizeof(*detailed); i++)
        if (strcmp(view->name, detailed[i].name) == 0)
            return view->each && (detailed[i].is_short || events <= EVENTS_MAX);
    return false;
}

/* Tuples have a row for each event. */
static bool is_too_long(const scopes_view *view, uint64_t events)
{
    return strcmp(view->name, "tuples") == 0 && events > TUPLES_MAX;
}

static void choose(choice *c, uint64_t events, bool in_detail)
{
    const scopes_view *view;

    for (size_t i = 0; c->count < VIEWS_MAX && (view = scopes_view_at(i)); i++)
        if (in_detail ? is_detailed(view, events) : !is_too_long(view, events))
            c->views[c->count++] = view;
}

static void tables_destroy(choice *c)
{
    for (size_t i = 0; i < c->count; i++)
        scopes_table_destroy(c->tables[i]);
}

static int make(choice *c, const scopes_snapshot *snapshot, bool in_detail)
{
    scopes_view_input input = viewer__report_input(snapshot);

    choose(c, snapshot->event_table->ledger.read, in_detail);
    input.each = in_detail;
    return scopes_views_make(c->tables, c->views, c->count, &input);
}

/* --- as JSON --- */

static json_t *view_of(const scopes_view *view, json_t *sums)
{
    return json_pack("{s:s, s:s, s:s?, s:o}", "name", view->name, "summary",
                     view->summary, "each", view->each, "sums", sums);
}

static json_t *find(json_t *views, const char *name)
{
    size_t i;
    json_t *view;

    json_array_foreach(views, i, view)
    {
        if (strcmp(json_string_value(json_object_get(view, "name")), name) == 0)
            return view;
    }
    return NULL;
}

static json_t *views_of(const choice *sums, const choice *detail)
{
    json_t *views = json_array();

    for (size_t i = 0; i < sums->count; i++)
        if (scopes_table_rows(sums->tables[i]) > 0)
            json_array_append_new(
                views, view_of(sums->views[i],
                               viewer__view_json(sums->tables[i], SUM_ROWS)));
    for (size_t i = 0; i < detail->count; i++) {
        json_t *view = find(views, detail->views[i]->name);
        if (view && scopes_table_rows(detail->tables[i]) > 0)
            json_object_set_new(
                view, "detail",
                viewer__view_json(detail->tables[i], DETAIL_ROWS));
    }
    return views;
}

int viewer__report_views(json_t **out, const scopes_snapshot *snapshot)
{
    choice sums = {.count = 0}, detail = {.count = 0};
    int err = make(&sums, snapshot, false);

    *out = NULL;
    if (err)
        return err;
    err = make(&detail, snapshot, true);
    if (!err) {
        *out = views_of(&sums, &detail);
        tables_destroy(&detail);
    }
    tables_destroy(&sums);
    return !err && !*out ? pastset_no_memory("for the report's data") : err;
}
