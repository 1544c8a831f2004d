/* report_panels.c - see report_panels_internal.h. */
#include "viewer/report/report_panels_internal.h"

#include "viewer/report/view_json_internal.h"
#include "viewer/tables/table_print.h"

static json_t *chart_columns(const viewer_report_panel *panel)
{
    json_t *names = json_array();

    for (size_t i = 0; i < panel->column_count; i++)
        json_array_append_new(names, viewer_json_text(panel->columns[i]));
    return names;
}

/* A view's table, with a title, and how it is to be drawn. */
static json_t *panel_of(const viewer_report_panel *panel)
{
    json_t *json = viewer__view_json(panel->table, VIEWER__PANEL_ROWS);

    if (!json)
        return NULL;
    json_object_set_new(json, "title", viewer_json_text(panel->title));
    json_object_set_new(json, "chart", json_string(panel->chart));
    json_object_set_new(json, "chartColumns", chart_columns(panel));
    return json;
}

json_t *viewer__report_panels(const viewer_report_panel *panels, size_t count)
{
    json_t *json = json_array();

    for (size_t i = 0; i < count; i++)
        json_array_append_new(json, panel_of(&panels[i]));
    return json;
}
