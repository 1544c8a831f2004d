/* measured_data.c - the figures of a picture as JSON inside of it:
 * draw_measured.h has their form. */
#include "viewer/draw/measures_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "pastset/text.h"
#include "viewer/tables/table_print.h"

typedef struct writing {
    const viewer__measures *measures;
    const viewer__folded *folded;
    json_t **nodes, **edges; /* by node and edge of the folded map; borrowed */
} writing;

static int no_memory(void)
{
    return pastset_no_memory("for a picture of the run");
}

/* --- one --- */

static json_t *range_json(const viewer__range *range, const char *most)
{
    return json_pack("{sI sI sI so*}", "total", (json_int_t)range->total, "min",
                     (json_int_t)range->min, "max", (json_int_t)range->max,
                     "most", range->known > 1 ? viewer_json_text(most) : NULL);
}

static int ranges_json(json_t *out, const viewer__ranges *ranges,
                       const paths_map *bare, bool are_edges)
{
    int err = 0;

    for (int i = 0; i < VIEWER_MEASURES && !err; i++) {
        const viewer__range *range = &ranges->of[i];
        uint32_t most = !range->known ? 0
                        : are_edges   ? bare->edges[range->most].from
                                      : range->most;
        if (range->known)
            err =
                json_object_set_new(out, viewer_measure_names[i],
                                    range_json(range, bare->nodes[most].name));
    }
    return err;
}

/* "h1", or "h1 … h13". */
static json_t *process_json(const paths_map *map, uint32_t process)
{
    const paths_map_process *p =
        process == PATHS_NONE ? NULL : &map->processes[process];
    const char *last =
        p ? paths_attributes_get(&p->attributes, VIEWER__LAST) : NULL;
    char text[300];

    snprintf(text, sizeof(text), "%.140s%s%.140s", p ? p->name : "",
             last ? " … " : "", last ? last : "");
    return viewer_json_text(text);
}

static json_t *node_json(const paths_map *map, const paths_map_node *node)
{
    json_t *out =
        json_pack("{so so s[]}", "kind", viewer_json_text(node->type),
                  "process", process_json(map, node->process), "names");

    if (out && node->kind == PATHS_THREAD &&
        json_object_set_new(out, "numbers", json_array())) {
        json_decref(out);
        out = NULL;
    }
    return out;
}

static json_t *edge_json(const paths_map *map, const paths_map_edge *edge)
{
    return json_pack("{so so s[]}", "from",
                     viewer_json_text(paths_attributes_get(
                         &map->nodes[edge->from].attributes, "id")),
                     "to",
                     viewer_json_text(paths_attributes_get(
                         &map->nodes[edge->to].attributes, "id")),
                     "collectors");
}

/* Behind those that it stands for. */
static int append(json_t *out, const char *key, json_t *value)
{
    return json_array_append_new(json_object_get(out, key), value);
}

static int node_member(json_t *out, const paths_map_node *node)
{
    const char *number = paths_node_get(node, "number");
    int err = append(out, "names", viewer_json_text(node->name));

    if (!err && node->kind == PATHS_THREAD && number)
        err = append(out, "numbers", json_integer(strtoll(number, NULL, 10)));
    return err;
}

/* --- all --- */

static int nodes_add(writing *w, json_t *all, const viewer__ranges *ranges)
{
    const paths_map *map = w->folded->map, *bare = w->measures->bare.map;
    int err = 0;

    for (uint32_t i = 0; i < map->node_count && !err; i++) {
        const paths_map_node *node = &map->nodes[i];
        w->nodes[i] = node_json(map, node);
        err = !w->nodes[i] ||
              json_object_set_new(all, paths_node_get(node, "id"), w->nodes[i]);
        if (!err)
            err = ranges_json(w->nodes[i], &ranges[i], bare, false);
    }
    for (uint32_t i = 0; i < bare->node_count && !err; i++)
        err = node_member(w->nodes[w->folded->nodes[i]], &bare->nodes[i]);
    return err;
}

static int edges_add(writing *w, json_t *all, const viewer__ranges *ranges)
{
    const viewer__bare *bare = &w->measures->bare;
    const paths_map *map = w->folded->map;
    int err = 0;

    for (uint32_t i = 0; i < map->edge_count && !err; i++) {
        const char *id = paths_attributes_get(&map->edges[i].attributes, "id");
        w->edges[i] = edge_json(map, &map->edges[i]);
        err = !w->edges[i] || json_object_set_new(all, id, w->edges[i]);
        if (!err)
            err = ranges_json(w->edges[i], &ranges[i], bare->map, true);
    }
    for (uint32_t i = 0; i < bare->map->edge_count && !err; i++)
        if (bare->collectors[i] != PATHS_NONE)
            err = append(
                w->edges[w->folded->edges[i]], "collectors",
                viewer_json_text(bare->whole->nodes[bare->collectors[i]].name));
    return err;
}

char *viewer__measured_json(const viewer__measures *measures,
                            const viewer__folded *folded,
                            const viewer__ranges *nodes,
                            const viewer__ranges *edges, viewer_measure by)
{
    const paths_map *map = folded->map;
    writing w = {measures, folded,
                 calloc((size_t)map->node_count + 1, sizeof(*w.nodes)),
                 calloc((size_t)map->edge_count + 1, sizeof(*w.edges))};
    json_t *all = json_pack("{ss s{} s{}}", "by", viewer_measure_names[by],
                            "nodes", "edges");
    char *text = NULL;

    if (w.nodes && w.edges && all &&
        !nodes_add(&w, json_object_get(all, "nodes"), nodes) &&
        !edges_add(&w, json_object_get(all, "edges"), edges))
        text = json_dumps(all, JSON_COMPACT | JSON_ENSURE_ASCII);
    json_decref(all);
    free(w.nodes);
    free(w.edges);
    return text;
}

/* --- into the picture --- */

static void write_escaped(FILE *file, const char *text)
{
    for (; *text; text++) {
        if (*text == '&')
            fputs("&amp;", file);
        else if (*text == '<')
            fputs("&lt;", file);
        else if (*text == '>')
            fputs("&gt;", file);
        else
            putc(*text, file);
    }
}

/* The place behind the tag with which the picture begins; NULL. */
static const char *picture_begin(const char *svg, size_t bytes)
{
    const char *tag = memmem(svg, bytes, "<svg", 4);
    const char *end =
        tag ? memchr(tag, '>', bytes - (size_t)(tag - svg)) : NULL;

    return end ? end + 1 : NULL;
}

int viewer__put_data(char **svg, size_t *bytes, const char *json)
{
    const char *begin = picture_begin(*svg, *bytes);
    char *out = NULL;
    size_t out_bytes = 0;
    FILE *file = begin ? pastset_text_begin(&out, &out_bytes) : NULL;

    if (!file)
        return begin ? no_memory()
                     : pastset_fail(PASTSET_EIO, "Graphviz has drawn no SVG");
    fwrite(*svg, 1, (size_t)(begin - *svg), file);
    fputs("\n<metadata id=\"map-data\">", file);
    write_escaped(file, json);
    fputs("</metadata>", file);
    fwrite(begin, 1, *bytes - (size_t)(begin - *svg), file);
    if (!pastset_text_end(file)) {
        free(out);
        return no_memory();
    }
    free(*svg);
    *svg = out;
    *bytes = out_bytes;
    return 0;
}
