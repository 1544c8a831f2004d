/* draw_measured.c - see draw_measured.h.
 *
 * A map is dressed as any other one (draw.c), and then what it looks like by
 * the measure is put over that: shapes and arrows still tell what is what. */
#include "viewer/draw/draw_measured.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "pastset/text.h"
#include "viewer/draw/measures_internal.h"
#include "viewer/draw/scale_internal.h"
#include "viewer/tables/facts.h"
#include "viewer/tables/output.h"

#define WIDTH_MIN 0.8 /* points, of lines */
#define WIDTH_MAX 6.0
#define NAME_MAX_SHOWN 40
#define TEXT_MAX 600 /* bytes of a tooltip */
#define STEPS 6      /* of colours in the legend */
#define NOT_KNOWN "#b8b8b8"

/* What the legend says of a measure. */
typedef struct meaning {
    const char *title, *nodes, *lines;
} meaning;

#define LINE_BREAK "<br align=\"left\"/>"

static const meaning meanings[VIEWER_MEASURES] = {
    {"time",
     "time in it" LINE_BREAK "(a thread: in which it communicated; a "
     "collective: what it took, without waiting)" LINE_BREAK,
     "time of its operations, from there on"},
    {"waiting",
     "time of waiting" LINE_BREAK
     "(a thread: for others; an element: over it; a collective: from the first "
     "arrival to the last)" LINE_BREAK,
     "time for which its thread waited on this path"},
    {"traffic", "bytes of the operations that came to it (a thread: its own)",
     "bytes of the operations that passed"},
    {"operations", "operations that came to it (a thread: its own)",
     "operations that passed"}};

typedef struct overlay {
    const char *name; /* of the run */
    viewer_measure by;
    viewer__measures measures;
    uint64_t lost;
    viewer__ranges *nodes, *edges; /* of the folded map at hand */
    int64_t node_max, edge_max;
    char *json; /* its figures */
} overlay;

static double share_of(int64_t value, int64_t max)
{
    return max > 0 ? (double)value / (double)max : 0;
}

static const char *value_text(viewer_measure by, int64_t value,
                              char text[VIEWER__NUMBER])
{
    if (value == 0) /* of whatever */
        return strcpy(text, "0");
    if (by == VIEWER_BY_OPERATIONS)
        return viewer__count_text((uint64_t)value, text);
    if (by == VIEWER_BY_TRAFFIC)
        return viewer__bytes_text((uint64_t)value, text);
    return viewer__time_text(value, text);
}

/* --- nodes --- */

static const char *most_name(const overlay *o, const viewer__range *range)
{
    return o->measures.bare.map->nodes[range->most].name;
}

/* "1.2 ms", or "0.3 … 1.2 ms" and "most: t17". */
static int label_measure(const overlay *o, paths_map_node *node,
                         const viewer__range *range)
{
    const char *label = paths_attributes_get(&node->attributes, "label");
    char texts[2][VIEWER__NUMBER];

    value_text(o->by, range->min, texts[0]);
    value_text(o->by, range->max, texts[1]);
    if (range->known < 2)
        return viewer__set_text(&node->attributes, "label", "%.600s\\n%s",
                                label ? label : "", texts[1]);
    return viewer__set_text(
        &node->attributes, "label", "%.600s\\n%s%s%s\\nmost: %.40s",
        label ? label : "", range->min < range->max ? texts[0] : "",
        range->min < range->max ? " … " : "", texts[1], most_name(o, range));
}

static int set_figures(paths_attributes *attributes,
                       const viewer__ranges *ranges)
{
    static const char *const keys[VIEWER_MEASURES] = {"time_ns", "waiting_ns",
                                                      "bytes", "operations"};
    int err = 0;

    for (int i = 0; i < VIEWER_MEASURES && !err; i++)
        if (ranges->of[i].known)
            err = viewer__set_text(attributes, keys[i], "%" PRId64,
                                   ranges->of[i].total);
    return err;
}

/* All measures behind what it is called. */
static int set_tooltip(paths_attributes *attributes, char text[TEXT_MAX],
                       const viewer__ranges *ranges)
{
    size_t used = strlen(text);
    char value[VIEWER__NUMBER];

    for (viewer_measure i = 0; i < VIEWER_MEASURES; i++)
        if (ranges->of[i].known && used < TEXT_MAX)
            used += (size_t)snprintf(text + used, TEXT_MAX - used, ", %s %s",
                                     viewer_measure_names[i],
                                     value_text(i, ranges->of[i].total, value));
    return viewer__set_all(attributes, "tooltip", text, NULL);
}

static int set_range(paths_attributes *attributes, const viewer__range *range,
                     const char *most)
{
    int err = viewer__set_text(attributes, "least", "%" PRId64, range->min);

    if (!err)
        err = viewer__set_text(attributes, "most", "%" PRId64, range->max);
    return err ? err : viewer__set_text(attributes, "most_of", "%s", most);
}

/* Graphviz does not see how little room the arrow of a proxy leaves. */
static int room_make(paths_map_node *node)
{
    return strcmp(node->type, "proxy") == 0
               ? viewer__set_all(&node->attributes, "margin", "0.12,0.08", NULL)
               : 0;
}

static int node_tooltip(paths_map_node *node, const viewer__ranges *ranges)
{
    char text[TEXT_MAX];

    snprintf(text, sizeof(text), "%.200s (%.60s)", node->name, node->type);
    return set_tooltip(&node->attributes, text, ranges);
}

static int node_dress(const overlay *o, paths_map_node *node, uint32_t index)
{
    const viewer__range *range = &o->nodes[index].of[o->by];
    double share = share_of(range->max, o->node_max);
    char color[VIEWER__COLOR];
    int err = set_figures(&node->attributes, &o->nodes[index]);

    if (!err)
        err = viewer__set_all(&node->attributes, "class", node->type, NULL);
    if (!err)
        err = node_tooltip(node, &o->nodes[index]);
    if (err)
        return err;
    if (!range->known)
        return viewer__set_all(&node->attributes, "fillcolor", "white", "style",
                               "filled,dashed", "color", NOT_KNOWN, NULL);
    err = viewer__set_all(
        &node->attributes, "fillcolor", viewer__share_color(share, color),
        "color", "#404040", "fontcolor",
        viewer__share_is_dark(share) ? "white" : "black", NULL);
    if (!err && range->known > 1)
        err = set_range(&node->attributes, range, most_name(o, range));
    if (!err)
        err = room_make(node);
    return err ? err : label_measure(o, node, range);
}

/* --- lines --- */

static double width_of(const overlay *o, int64_t value)
{
    return WIDTH_MIN + (WIDTH_MAX - WIDTH_MIN) *
                           sqrt(fmax(share_of(value, o->edge_max), 0));
}

static int edge_tooltip(const overlay *o, paths_map *map, uint32_t index)
{
    char text[TEXT_MAX];
    paths_map_edge *edge = &map->edges[index];

    snprintf(text, sizeof(text), "%.100s → %.100s", map->nodes[edge->from].name,
             map->nodes[edge->to].name);
    return set_tooltip(&edge->attributes, text, &o->edges[index]);
}

static int edge_dress(const overlay *o, paths_map *map, uint32_t index)
{
    paths_attributes *at = &map->edges[index].attributes;
    const viewer__range *range = &o->edges[index].of[o->by];
    char color[VIEWER__COLOR];
    double width = width_of(o, range->max);
    int err = set_figures(at, &o->edges[index]);

    if (!err)
        err = edge_tooltip(o, map, index);
    if (err)
        return err;
    if (!range->known)
        return viewer__set_all(at, "color", NOT_KNOWN, "penwidth", "0.6", NULL);
    err = viewer__set_text(at, "penwidth", "%.2f", width);
    if (!err)
        err = viewer__set_text(at, "arrowsize", "%.2f", 0.45 + 0.05 * width);
    if (!err && range->known > 1)
        err =
            set_range(at, range,
                      o->measures.bare.map
                          ->nodes[o->measures.bare.map->edges[range->most].from]
                          .name);
    return err ? err
               : viewer__set_all(at, "color",
                                 viewer__waiting_color(
                                     share_of(range->max, o->edge_max), color),
                                 NULL);
}

/* --- the legend --- */

/* Tables that are not of a fixed size spread over the whole legend. */
static void legend_row(FILE *file, const char *what, const char *text,
                       int width)
{
    fprintf(file,
            "<tr><td align=\"left\" balign=\"left\"><b>%s</b> %s</td></tr><tr>"
            "<td align=\"left\"><table border=\"0\" cellborder=\"0\" "
            "cellspacing=\"0\" cellpadding=\"2\" fixedsize=\"true\" "
            "align=\"left\" width=\"%d\" height=\"20\"><tr>",
            what, text, width);
}

static void legend_nodes(FILE *file, const overlay *o)
{
    char color[VIEWER__COLOR], text[VIEWER__NUMBER];

    legend_row(file, "shade of a node:", meanings[o->by].nodes, 280);
    fprintf(file, "<td>%s</td>", value_text(o->by, 0, text));
    for (int i = 0; i < STEPS; i++)
        fprintf(file,
                "<td width=\"22\" height=\"10\" border=\"1\" "
                "color=\"#808080\" bgcolor=\"%s\"></td>",
                viewer__share_color((double)i / (STEPS - 1), color));
    fprintf(file, "<td>%s</td></tr></table></td></tr>",
            value_text(o->by, o->node_max, text));
}

static void legend_lines(FILE *file, const overlay *o)
{
    static const double shares[] = {0, 0.1, 0.4, 1};
    char color[VIEWER__COLOR], text[VIEWER__NUMBER];

    legend_row(file, "width and colour of a line:", meanings[o->by].lines, 440);
    for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
        int64_t value = (int64_t)(shares[i] * (double)o->edge_max);
        int height = (int)(width_of(o, value) + 0.5);
        fprintf(file,
                "<td><table border=\"0\" cellborder=\"0\" cellspacing=\"0\" "
                "cellpadding=\"0\"><tr><td fixedsize=\"true\" width=\"32\" "
                "height=\"%d\" bgcolor=\"%s\"></td></tr></table></td>"
                "<td>%s&nbsp;&nbsp;</td>",
                height > 0 ? height : 1,
                viewer__waiting_color(shares[i], color),
                value_text(o->by, value, text));
    }
    fputs("</tr></table></td></tr>", file);
}

static void legend_line(FILE *file, const char *text)
{
    fprintf(file, "<tr><td align=\"left\">%s</td></tr>", text);
}

static bool has_unknown(const viewer__ranges *ranges, uint32_t count,
                        viewer_measure by)
{
    for (uint32_t i = 0; i < count; i++)
        if (!ranges[i].of[by].known)
            return true;
    return false;
}

static bool is_folded(const paths_map *map, const overlay *o)
{
    return map->node_count < o->measures.bare.map->node_count;
}

static void legend_write(FILE *file, const overlay *o, const paths_map *map)
{
    fputs("<table border=\"0\" cellborder=\"0\" cellspacing=\"3\"><tr><td "
          "align=\"left\"><b>",
          file);
    viewer__write_html(file, o->name, NAME_MAX_SHOWN);
    fprintf(file,
            "</b>: its path map by <b>%s</b>. Ellipse: thread; box: element; "
            "arrow: proxy (network); funnel: collective</td></tr>",
            meanings[o->by].title);
    legend_nodes(file, o);
    legend_lines(file, o);
    if (is_folded(map, o))
        legend_line(file, "A node or line that stands for several is shown by "
                          "the one of them with the most.");
    if (has_unknown(o->nodes, map->node_count, o->by) ||
        has_unknown(o->edges, map->edge_count, o->by))
        legend_line(file, "White, and thin grey: not measured there.");
    if (o->lost > 0)
        fprintf(file,
                "<tr><td align=\"left\">%" PRIu64
                " events were lost, and are in no number</td></tr>",
                o->lost);
    fputs("</table>", file);
}

static int legend(const overlay *o, paths_map *map)
{
    char *text = NULL;
    size_t bytes;
    FILE *file = pastset_text_begin(&text, &bytes);
    int err = 0;

    if (!file)
        return pastset_no_memory("for a picture of the run");
    legend_write(file, o, map);
    if (!pastset_text_end(file))
        err = pastset_no_memory("for a picture of the run");
    if (!err)
        err = paths_attributes_set_html(&map->attributes, "label", text);
    free(text);
    return err;
}

/* --- all --- */

static int64_t max_of(const viewer__ranges *ranges, uint32_t count,
                      viewer_measure by)
{
    int64_t max = 0;

    for (uint32_t i = 0; i < count; i++)
        if (ranges[i].of[by].known && ranges[i].of[by].max > max)
            max = ranges[i].of[by].max;
    return max;
}

static int ranges_find(overlay *o, const viewer__folded *folded)
{
    const viewer__measures *measures = &o->measures;
    const paths_map *bare = measures->bare.map, *map = folded->map;

    free(o->nodes);
    free(o->edges);
    o->nodes = viewer__ranges_of(measures->nodes, bare->node_count,
                                 folded->nodes, map->node_count);
    o->edges = viewer__ranges_of(measures->edges, bare->edge_count,
                                 folded->edges, map->edge_count);
    if (!o->nodes || !o->edges)
        return pastset_no_memory("for a picture of the run");
    o->node_max = max_of(o->nodes, map->node_count, o->by);
    o->edge_max = max_of(o->edges, map->edge_count, o->by);
    return 0;
}

/* Ids are those of the first that a node or edge stands for. */
static int ids_set(const overlay *o, const viewer__folded *folded)
{
    const paths_map *bare = o->measures.bare.map;
    paths_map *map = folded->map;
    int err = 0;

    for (uint32_t i = bare->node_count; i-- > 0 && !err;)
        err = viewer__set_text(&map->nodes[folded->nodes[i]].attributes, "id",
                               "map_n%" PRIu32, o->measures.bare.origins[i]);
    for (uint32_t i = bare->edge_count; i-- > 0 && !err;)
        err = viewer__set_text(&map->edges[folded->edges[i]].attributes, "id",
                               "map_e%" PRIu32, i);
    return err;
}

static int dress(const viewer__folded *folded, void *context)
{
    overlay *o = context;
    paths_map *map = folded->map;
    int err = ranges_find(o, folded);

    if (!err)
        err = viewer__dress(map, false);
    for (uint32_t i = 0; i < map->node_count && !err; i++)
        err = node_dress(o, &map->nodes[i], i);
    for (uint32_t i = 0; i < map->edge_count && !err; i++)
        err = edge_dress(o, map, i);
    if (!err)
        err = ids_set(o, folded);
    if (err)
        return err;
    free(o->json);
    o->json =
        viewer__measured_json(&o->measures, folded, o->nodes, o->edges, o->by);
    return o->json ? legend(o, map)
                   : pastset_no_memory("for a picture of the run");
}

static int draw_by(char **out, size_t *bytes, overlay *o, viewer_measure by,
                   const viewer_draw_options *options)
{
    const char *format = NULL;
    int err = viewer__picture_format(&format, options);

    o->by = by;
    if (!err)
        err = viewer__draw_fitting(out, bytes, o->measures.bare.map,
                                   options->fold, format, dress, o);
    if (!err && strcmp(format, "svg") == 0)
        err = viewer__put_data(out, bytes, o->json);
    return err;
}

/* Those measures from `first` on. */
static int draw_some(char **out, size_t *bytes, const scopes_snapshot *snapshot,
                     const char *name, viewer_measure first, size_t count,
                     const viewer_draw_options *options)
{
    overlay o = {.name = name, .lost = snapshot->event_table->ledger.lost};
    int err = viewer_require_events(snapshot, name);

    for (size_t i = 0; i < count; i++)
        out[i] = NULL;
    if (!err)
        err = viewer__measures_make(&o.measures, snapshot);
    for (size_t i = 0; i < count && !err; i++)
        err =
            draw_by(&out[i], &bytes[i], &o, first + (viewer_measure)i, options);
    free(o.nodes);
    free(o.edges);
    free(o.json);
    viewer__measures_fini(&o.measures);
    if (!err)
        return 0;
    for (size_t i = 0; i < count; i++) {
        free(out[i]);
        out[i] = NULL;
    }
    return pastset_fail_while(err, "%.200s", options->file);
}

int viewer_draw_measured_all(char *out[VIEWER_MEASURES],
                             size_t bytes[VIEWER_MEASURES],
                             const scopes_snapshot *snapshot, const char *name,
                             const viewer_draw_options *options)
{
    return draw_some(out, bytes, snapshot, name, VIEWER_BY_TIME,
                     VIEWER_MEASURES, options);
}

int viewer_draw_measured(const scopes_snapshot *snapshot, const char *name,
                         viewer_measure by, const viewer_draw_options *options)
{
    char *text;
    size_t bytes = 0;
    int err = draw_some(&text, &bytes, snapshot, name, by, 1, options);

    if (!err)
        err = viewer_output_write(options->file, text, bytes);
    free(text);
    return err;
}
