/* draw.c - a path map as a picture.
 *
 * The map is copied (folded, if it is large), each thing in the copy is given
 * the attributes it is drawn by, and the copy is written as DOT, which is
 * either the result or what Graphviz lays out and renders. The legend is the
 * label of the graph: there it is in nobody's way. */
#include "viewer/draw/draw.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paths/generate/generate.h"
#include "pastset/status.h"
#include "pastset/text.h"
#include "viewer/draw/draw_internal.h"
#include "viewer/tables/output.h"

#define LABEL_BELOW 40 /* edges that leave threads: with their names */

/* --- what things look like --- */

typedef struct style {
    const char *kind; /* NULL: any other wrapper */
    const char *shape;
    const char *fill;
    const char *line;
    const char *word; /* in the legend; NULL: the kind */
} style;

#define COLLECTIVE "collective" /* stands for all of their kinds */

static const style styles[] = {
    {"thread", "ellipse", "#fff2b3", "#a08000", NULL},
    {"collector", "circle", "#d62728", "#d62728", "event collector"},
    {"proxy", "cds", "#dddddd", "#666666", "proxy (network)"},
    {"delay", "octagon", "#f0e0ff", "#8050a0", NULL},
    {COLLECTIVE, "trapezium", "#c8e6c0", "#2e7d32", NULL},
    {NULL, "hexagon", "#ffdcc2", "#b06020", "wrapper"},
    {"element", "box", "#cfe5f7", "#3070a0", NULL},
};

#define STYLES (sizeof(styles) / sizeof(styles[0]))
#define WRITE_COLOR "#c05000"
#define READ_COLOR "#1060a0"
#define PLAIN_COLOR "#777777"
#define COLLECTIVE_COLOR "#2e7d32"

/* Of edges, in the legend. */
typedef struct arrow {
    const char *color, *text, *word;
} arrow;

static const arrow arrows[] = {
    {WRITE_COLOR, "——▶", "writes"},
    {READ_COLOR, "◀- - -", "reads"},
    {PLAIN_COLOR, "◀—▶", "both"},
    {COLLECTIVE_COLOR, "——▶", "takes part in a collective"},
};

#define ARROWS (sizeof(arrows) / sizeof(arrows[0]))

static bool is_collective(const paths_map_node *node)
{
    return node->kind == PATHS_WRAPPER && paths_is_collective(node->type);
}

static const style *style_of(const paths_map_node *node)
{
    const char *kind = is_collective(node) ? COLLECTIVE : node->type;
    const style *any = NULL;

    for (size_t i = 0; i < STYLES; i++) {
        if (!styles[i].kind)
            any = &styles[i];
        else if (strcmp(styles[i].kind, kind) == 0)
            return &styles[i];
    }
    return any;
}

int viewer__set_all(paths_attributes *attributes, const char *key, ...)
{
    va_list pairs;
    int err = 0;

    va_start(pairs, key);
    while (key && !err) {
        err =
            paths_attributes_set(attributes, key, va_arg(pairs, const char *));
        key = va_arg(pairs, const char *);
    }
    va_end(pairs);
    return err;
}

int viewer__set_text(paths_attributes *attributes, const char *key,
                     const char *format, ...)
{
    char text[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    return paths_attributes_set(attributes, key, text);
}

/* --- what paths are for --- */

/* The use of the path that an edge is on: that of the thread's edge above, or
 * the kind of the collective. NULL when several paths join above it without
 * one, or none is there. */
static const char *use_above(const paths_map *map, uint32_t edge)
{
    for (int i = 0; i < 8 * PATHS_STAGES_MAX; i++) {
        const paths_map_edge *e = &map->edges[edge];
        const paths_map_node *from = &map->nodes[e->from];
        const char *use = paths_attributes_get(&e->attributes, "use");
        if (from->kind == PATHS_THREAD)
            return use ? use : "both";
        if (is_collective(from))
            return from->type;
        if (from->in_count != 1)
            return NULL;
        edge = from->in[0];
    }
    return NULL;
}

static const char *color_of(const char *use)
{
    if (!use)
        return PLAIN_COLOR;
    if (strcmp(use, "read") == 0)
        return READ_COLOR;
    if (paths_is_collective(use))
        return COLLECTIVE_COLOR;
    return strcmp(use, "both") == 0 ? PLAIN_COLOR : WRITE_COLOR;
}

/* --- nodes --- */

/* "t17 ... t32" and "16 threads", or the name alone. */
static int label_members(paths_attributes *attributes, const char *name,
                         const char *what, const char *more)
{
    const char *members = paths_attributes_get(attributes, VIEWER__MEMBERS);
    const char *last = paths_attributes_get(attributes, VIEWER__LAST);

    if (members && last)
        return viewer__set_text(attributes, "label",
                                "%.120s … %.120s\\n%s %ss%s%s", name, last,
                                members, what, more[0] ? "\\n" : "", more);
    return viewer__set_text(attributes, "label", "%.120s%s%s", name,
                            more[0] ? "\\n" : "", more);
}

/* Do all its paths come through collectives? What it keeps is for nobody then,
 * as each thread gets its own result. */
static bool is_combined(const paths_map *map, const paths_map_node *node)
{
    bool all = node->in_count > 0;

    for (uint32_t i = 0; i < node->in_count && all; i++) {
        const char *use = use_above(map, node->in[i]);
        all = use && paths_is_collective(use);
    }
    return all;
}

static int dress_element(const paths_map *map, paths_map_node *node)
{
    const char *type = paths_node_get(node, "type");
    bool plain = is_combined(map, node);
    const char *policy = plain ? NULL : paths_node_get(node, "policy");
    const char *capacity = plain ? NULL : paths_node_get(node, "capacity");
    char more[200];

    snprintf(more, sizeof(more), "%.60s%s%.20s%s%.20s", type ? type : "",
             capacity ? " × " : "", capacity ? capacity : "",
             policy ? ", " : "", policy ? policy : "");
    return label_members(&node->attributes, node->name, "element", more);
}

/* A dot; or, if that is asked for, with its id in it, or how many it stands
 * for. */
static int dress_collector(paths_map_node *node, bool with_id)
{
    paths_attributes *attributes = &node->attributes;
    const char *members = paths_attributes_get(attributes, VIEWER__MEMBERS);
    const char *id = paths_attributes_get(attributes, "id");
    const char *label = !with_id ? " " : members ? members : id ? id : " ";
    const char *size = !with_id            ? "0.1"
                       : members           ? "0.3"
                       : strlen(label) > 3 ? "0.24"
                                           : "0.18";
    int err = viewer__set_all(attributes, "width", size, "height", size,
                              "fixedsize", "true", "fontsize", "7", "fontcolor",
                              "white", "margin", "0", NULL);

    return err ? err
               : viewer__set_text(attributes, "label", "%s%s",
                                  with_id && members ? "×" : "", label);
}

static int dress_wrapper(paths_map_node *node)
{
    paths_attributes *attributes = &node->attributes;
    const char *members = paths_attributes_get(attributes, VIEWER__MEMBERS);
    const char *latency = paths_node_get(node, "latency");
    const char *kind = node->type[0] ? node->type : node->name;
    int err = viewer__set_all(attributes, "fontsize", "9", "height", "0.25",
                              "margin", "0.06,0.03", NULL);

    /* A funnel in the direction of the way down. */
    if (!err && is_collective(node))
        err = viewer__set_all(attributes, "orientation", "270", "fontsize",
                              "10", "fontname", "Helvetica-Bold", "height",
                              "0.5", NULL);
    if (err)
        return err;
    return viewer__set_text(attributes, "label", "%.100s%s%.40s%s%s", kind,
                            latency ? " " : "", latency ? latency : "",
                            members ? " × " : "", members ? members : "");
}

static int dress_node(const paths_map *map, paths_map_node *node,
                      bool collector_ids)
{
    const style *l = style_of(node);
    int err =
        viewer__set_all(&node->attributes, "shape", l->shape, "style", "filled",
                        "fillcolor", l->fill, "color", l->line, NULL);

    if (err)
        return err;
    err = viewer__set_text(&node->attributes, "tooltip", "%.200s (%.60s)",
                           node->name, node->type);
    if (err)
        return err;
    if (node->kind == PATHS_ELEMENT)
        return dress_element(map, node);
    if (node->kind == PATHS_THREAD)
        return label_members(&node->attributes, node->name, "thread", "");
    if (strcmp(node->type, "collector") == 0)
        return dress_collector(node, collector_ids);
    return dress_wrapper(node);
}

/* --- edges --- */

/* One arrowhead a path, where its tuples arrive. */
static const char *direction(const paths_map *map, const paths_map_edge *edge,
                             const char *use)
{
    const paths_map_node *to = &map->nodes[edge->to];
    bool begins = map->nodes[edge->from].kind == PATHS_THREAD;
    bool arrives = to->kind == PATHS_ELEMENT || is_collective(to);
    bool reads = strcmp(use, "read") == 0, both = strcmp(use, "both") == 0;

    if (both && begins && arrives)
        return "both";
    if ((reads || both) && begins)
        return "back";
    return !reads && arrives ? "forward" : "none";
}

/* Paths to a collective mostly have the element's name, and there are many. */
static bool is_named(const paths_map *map, uint32_t edge, const char *use,
                     const char *as)
{
    uint32_t nodes[PATHS_PATH_NODES];
    size_t count = paths_map_walk(map, edge, nodes, PATHS_PATH_NODES);

    return !use || !paths_is_collective(use) || !count ||
           strcmp(map->nodes[nodes[count - 1]].name, as) != 0;
}

/* Graphviz ends edges some way off a proxy's arrow unless told where. */
static int dress_ends(const paths_map *map, paths_map_edge *edge)
{
    int err = 0;

    if (strcmp(map->nodes[edge->to].type, "proxy") == 0)
        err = paths_attributes_set(&edge->attributes, "headport", "w");
    if (!err && strcmp(map->nodes[edge->from].type, "proxy") == 0)
        err = paths_attributes_set(&edge->attributes, "tailport", "e");
    return err;
}

/* As many edges as there are nodes at its upper end need no number of their
 * own. */
static bool is_counted(const paths_map *map, uint32_t edge)
{
    const paths_attributes *at = &map->edges[edge].attributes;
    const paths_map_node *from = &map->nodes[map->edges[edge].from];
    const char *members = paths_attributes_get(at, VIEWER__MEMBERS);
    const char *above =
        paths_attributes_get(&from->attributes, VIEWER__MEMBERS);

    return members && above && strcmp(members, above) == 0;
}

static int dress_edge(paths_map *map, uint32_t index, bool named)
{
    paths_attributes *attributes = &map->edges[index].attributes;
    const char *members = paths_attributes_get(attributes, VIEWER__MEMBERS);
    const char *as = paths_attributes_get(attributes, "as");
    const char *use = use_above(map, index);
    int err = viewer__set_all(
        attributes, "color", color_of(use), "style",
        use && strcmp(use, "read") == 0 ? "dashed" : "solid", "dir",
        direction(map, &map->edges[index], use ? use : ""), NULL);

    if (err)
        return err;
    err = dress_ends(map, &map->edges[index]);
    if (err)
        return err;
    if (members)
        return is_counted(map, index)
                   ? 0
                   : viewer__set_text(attributes, "label", " ×%s ", members);
    if (as && named && is_named(map, index, use, as))
        return viewer__set_text(attributes, "label", " %.60s ", as);
    return 0;
}

/* --- processes --- */

static int dress_process(paths_map_process *process)
{
    const char *address = paths_attributes_get(&process->attributes, "address");
    const char *members =
        paths_attributes_get(&process->attributes, VIEWER__MEMBERS);
    const char *last = paths_attributes_get(&process->attributes, VIEWER__LAST);
    int err = viewer__set_all(
        &process->attributes, "style", "rounded,filled", "fillcolor", "#f7f7f4",
        "color", "#999988", "fontsize", "14", "fontname", "Helvetica-Bold",
        "labeljust", "l", "labelloc", "t", "margin", "12", NULL);

    if (err)
        return err;
    if (members && last)
        return viewer__set_text(&process->attributes, "label",
                                "processes %.100s … %.100s (%s processes)",
                                process->name, last, members);
    return viewer__set_text(&process->attributes, "label",
                            "process %.100s%s%.60s", process->name,
                            address ? "   " : "", address ? address : "");
}

/* --- the graph, with the legend --- */

static void legend_style(FILE *file, const paths_map *map, const style *l)
{
    for (uint32_t i = 0; i < map->node_count; i++) {
        if (style_of(&map->nodes[i]) != l)
            continue;
        fprintf(file,
                "<td bgcolor=\"%s\" border=\"1\" color=\"%s\" width=\"24\">"
                "</td><td align=\"left\">%s&nbsp;&nbsp;</td>",
                l->fill, l->line, l->word ? l->word : l->kind);
        return;
    }
}

static void legend_arrow(FILE *file, const paths_map *map, const arrow *a)
{
    for (uint32_t i = 0; i < map->edge_count; i++) {
        if (strcmp(color_of(use_above(map, i)), a->color) != 0)
            continue;
        fprintf(file,
                "<td><font color=\"%s\"><b>%s</b></font></td>"
                "<td>%s&nbsp;&nbsp;</td>",
                a->color, a->text, a->word);
        return;
    }
}

static int legend(paths_map *map)
{
    char *text = NULL;
    size_t bytes;
    FILE *file = pastset_text_begin(&text, &bytes);
    int err;

    if (!file)
        return pastset_no_memory("to draw a path map");
    fprintf(file, "<table border=\"0\" cellborder=\"0\" cellspacing=\"4\">"
                  "<tr>");
    for (size_t i = 0; i < STYLES; i++)
        legend_style(file, map, &styles[i]);
    for (size_t i = 0; i < ARROWS; i++)
        legend_arrow(file, map, &arrows[i]);
    fputs("</tr></table>", file);
    if (!pastset_text_end(file)) {
        free(text);
        return pastset_no_memory("to draw a path map");
    }
    err = paths_attributes_set_html(&map->attributes, "label", text);
    free(text);
    return err;
}

static int dress_graph(paths_map *map)
{
    int err = viewer__set_all(&map->attributes, "rankdir", "LR", "labelloc",
                              "b", "fontname", "Helvetica", "fontsize", "11",
                              "nodesep", "0.06", "ranksep", "0.7", NULL);

    if (err)
        return err;
    err = viewer__set_all(&map->node_defaults, "fontname", "Helvetica",
                          "fontsize", "10", "height", "0.3", "margin",
                          "0.08,0.04", NULL);
    if (err)
        return err;
    err = viewer__set_all(&map->edge_defaults, "fontname", "Helvetica",
                          "fontsize", "9", "arrowsize", "0.6", NULL);
    return err ? err : legend(map);
}

/* --- what is not drawn --- */

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);

    return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* A map may be anybody's: nothing in it leads a reader to another place, or
 * Graphviz to a file. */
static bool leads_away(const paths_attribute *item)
{
    static const char *const keys[] = {"image",    "imagepath",  "shapefile",
                                       "fontpath", "stylesheet", "_background"};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (strcmp(item->key, keys[i]) == 0)
            return true;
    }
    return ends_with(item->key, "URL") || ends_with(item->key, "href") ||
           (item->html && (strcasestr(item->value, "<img") ||
                           strcasestr(item->value, "href")));
}

static void attributes_clean(paths_attributes *attributes)
{
    for (size_t i = attributes->count; i > 0; i--) {
        if (leads_away(&attributes->items[i - 1]))
            (void)paths_attributes_set(attributes, attributes->items[i - 1].key,
                                       NULL);
    }
}

static void clean(paths_map *map)
{
    attributes_clean(&map->attributes);
    attributes_clean(&map->node_defaults);
    attributes_clean(&map->edge_defaults);
    for (uint32_t i = 0; i < map->process_count; i++)
        attributes_clean(&map->processes[i].attributes);
    for (uint32_t i = 0; i < map->node_count; i++)
        attributes_clean(&map->nodes[i].attributes);
    for (uint32_t i = 0; i < map->edge_count; i++)
        attributes_clean(&map->edges[i].attributes);
}

static uint32_t thread_edges(const paths_map *map)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < map->edge_count; i++)
        count += map->nodes[map->edges[i].from].kind == PATHS_THREAD;
    return count;
}

int viewer__dress(paths_map *map, bool collector_ids)
{
    bool named = thread_edges(map) < LABEL_BELOW;
    int err;

    clean(map);
    err = dress_graph(map);
    for (uint32_t i = 0; i < map->process_count && !err; i++)
        err = dress_process(&map->processes[i]);
    for (uint32_t i = 0; i < map->node_count && !err; i++)
        err = dress_node(map, &map->nodes[i], collector_ids);
    for (uint32_t i = 0; i < map->edge_count && !err; i++)
        err = dress_edge(map, i, named);
    return err;
}

static int dress(const viewer__folded *folded, void *context)
{
    const viewer_draw_options *options = context;

    return viewer__dress(folded->map, options->collector_ids);
}

int viewer_draw_text(char **out, size_t *bytes, const paths_map *map,
                     const viewer_draw_options *options)
{
    viewer_draw_options how = *options;
    const char *format = NULL;
    int err = viewer__picture_format(&format, options);

    *out = NULL;
    if (err)
        return err;
    err = viewer__draw_fitting(out, bytes, map, options->fold, format, dress,
                               &how);
    if (!err)
        return 0;
    free(*out);
    *out = NULL;
    return pastset_fail_while(err, "%.200s", options->file);
}

int viewer_draw(const paths_map *map, const viewer_draw_options *options)
{
    char *text;
    size_t bytes;
    int err = viewer_draw_text(&text, &bytes, map, options);

    if (!err)
        err = viewer_output_write(options->file, text, bytes);
    free(text);
    return err;
}
