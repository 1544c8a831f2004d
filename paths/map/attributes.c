/* attributes.c - lists of attributes, and what they say of nodes.
 *
 * A node has a handful of attributes, so a list is searched from its front. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paths/map/map_internal.h"
#include "pastset/status.h"
#include "pastset/array.h"

static paths_attribute *find(const paths_attributes *attributes,
                             const char *key)
{
    for (size_t i = 0; i < attributes->count; i++) {
        if (strcmp(attributes->items[i].key, key) == 0)
            return &attributes->items[i];
    }
    return NULL;
}

static void item_free(paths_attribute *item)
{
    free(item->key);
    free(item->value);
}

static void item_remove(paths_attributes *attributes, paths_attribute *item)
{
    size_t behind = attributes->count - (size_t)(item - attributes->items) - 1;

    item_free(item);
    memmove(item, item + 1, behind * sizeof(*item));
    attributes->count--;
}

static int item_add(paths_attributes *attributes, const char *key,
                    const char *value, bool html)
{
    paths_attribute item = {strdup(key), strdup(value), html};
    paths_attribute *items =
        pastset_array_grow(attributes->items, attributes->count, sizeof(item));

    if (items)
        attributes->items = items;
    if (!items || !item.key || !item.value) {
        item_free(&item);
        return pastset_no_memory("for the attribute %.100s", key);
    }
    items[attributes->count++] = item;
    return 0;
}

static int set(paths_attributes *attributes, const char *key, const char *value,
               bool html)
{
    paths_attribute *item = find(attributes, key);
    char *copy;

    if (!value) {
        if (item)
            item_remove(attributes, item);
        return 0;
    }
    if (!item)
        return item_add(attributes, key, value, html);
    copy = strdup(value);
    if (!copy)
        return pastset_no_memory("for the attribute %.100s", key);
    free(item->value);
    item->value = copy;
    item->html = html;
    return 0;
}

int paths_attributes_set(paths_attributes *attributes, const char *key,
                         const char *value)
{
    return set(attributes, key, value, false);
}

int paths_attributes_set_html(paths_attributes *attributes, const char *key,
                              const char *value)
{
    return set(attributes, key, value, true);
}

const char *paths_attributes_get(const paths_attributes *attributes,
                                 const char *key)
{
    const paths_attribute *item = find(attributes, key);

    return item ? item->value : NULL;
}

int paths_attributes_copy(paths_attributes *out,
                          const paths_attributes *attributes)
{
    int err = 0;

    for (size_t i = 0; i < attributes->count && !err; i++) {
        const paths_attribute *item = &attributes->items[i];
        err = set(out, item->key, item->value, item->html);
    }
    return err;
}

void paths__attributes_clear(paths_attributes *attributes)
{
    for (size_t i = 0; i < attributes->count; i++)
        item_free(&attributes->items[i]);
    free(attributes->items);
    memset(attributes, 0, sizeof(*attributes));
}

/* --- Graphviz's own attributes --- */

/* Sorted, for bsearch. From the list of attributes of Graphviz 2.42. */
/* clang-format off */
static const char *const drawing[] = {
    "Damping",      "K",             "URL",
    "area",         "arrowhead",     "arrowsize",
    "arrowtail",    "aspect",        "bb",
    "bgcolor",      "center",        "charset",
    "class",        "clusterrank",   "color",
    "colorscheme",  "comment",       "compound",
    "concentrate",  "constraint",    "decorate",
    "defaultdist",  "dim",           "dimen",
    "dir",          "diredgeconstraints", "distortion",
    "dpi",          "edgeURL",       "edgehref",
    "edgetarget",   "edgetooltip",   "epsilon",
    "esep",         "fillcolor",     "fixedsize",
    "fontcolor",    "fontname",      "fontnames",
    "fontpath",     "fontsize",      "forcelabels",
    "gradientangle", "group",        "headURL",
    "head_lp",      "headclip",      "headhref",
    "headlabel",    "headport",      "headtarget",
    "headtooltip",  "height",        "href",
    "image",        "imagepath",     "imagepos",
    "imagescale",   "inputscale",    "label",
    "labelURL",     "labelangle",    "labeldistance",
    "labelfloat",   "labelfontcolor", "labelfontname",
    "labelfontsize", "labelhref",    "labeljust",
    "labelloc",     "labeltarget",   "labeltooltip",
    "landscape",    "layer",         "layerlistsep",
    "layers",       "layerselect",   "layersep",
    "layout",       "len",           "levels",
    "levelsgap",    "lhead",         "lheight",
    "lp",           "ltail",         "lwidth",
    "margin",       "maxiter",       "mclimit",
    "mindist",      "minlen",        "mode",
    "model",        "mosek",         "newrank",
    "nodesep",      "nojustify",     "normalize",
    "notranslate",  "nslimit",       "nslimit1",
    "ordering",     "orientation",   "outputorder",
    "overlap",      "overlap_scaling", "overlap_shrink",
    "pack",         "packmode",      "pad",
    "page",         "pagedir",       "pencolor",
    "penwidth",     "peripheries",   "pin",
    "pos",          "quadtree",      "quantum",
    "rank",         "rankdir",       "ranksep",
    "ratio",        "rects",         "regular",
    "remincross",   "repulsiveforce", "resolution",
    "root",         "rotate",        "rotation",
    "samehead",     "sametail",      "samplepoints",
    "scale",        "searchsize",    "sep",
    "shape",        "shapefile",     "showboxes",
    "sides",        "size",          "skew",
    "smoothing",    "sortv",         "splines",
    "start",        "style",         "stylesheet",
    "tailURL",      "tail_lp",       "tailclip",
    "tailhref",     "taillabel",     "tailport",
    "tailtarget",   "tailtooltip",   "target",
    "tooltip",      "truecolor",     "vertices",
    "viewport",     "voro_margin",   "weight",
    "width",        "xdotversion",   "xlabel",
    "xlp",          "z",
};
/* clang-format on */

static int compare_key(const void *key, const void *item)
{
    return strcmp(key, *(const char *const *)item);
}

bool paths__attribute_draws(const char *key)
{
    return bsearch(key, drawing, sizeof(drawing) / sizeof(drawing[0]),
                   sizeof(drawing[0]), compare_key) != NULL;
}

/* --- attributes of nodes --- */

const char *paths_node_get(const paths_map_node *node, const char *key)
{
    if (strcmp(key, "kind") == 0)
        return node->type[0] ? node->type : NULL;
    return paths_attributes_get(&node->attributes, key);
}

int paths__fail_at(const paths_map *map, unsigned line, const char *node,
                   const char *format, ...)
{
    char where[512] = "", text[512];
    va_list arguments;
    int used = 0;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (map->file[0] && line)
        used = snprintf(where, sizeof(where), "%.250s:%u: ", map->file, line);
    else if (map->file[0])
        used = snprintf(where, sizeof(where), "%.250s: ", map->file);
    if (node[0])
        snprintf(where + used, sizeof(where) - (size_t)used, "%.200s: ", node);
    return pastset_fail(PASTSET_EMAP, "%s%s", where, text);
}

static int node_value(const paths_map *map, const paths_map_node *node,
                      const char *key, uint64_t fallback, uint64_t *out,
                      int (*read)(const char *text, uint64_t *value))
{
    const char *text = paths_node_get(node, key);
    uint64_t value = fallback;

    if (text && read(text, &value) != 0)
        return paths__fail_at(map, node->line, node->name, "%.60s: %s", key,
                              pastset_error());
    *out = value;
    return 0;
}

pastset_policy paths_node_policy(const paths_map_node *node)
{
    const char *text = paths_node_get(node, "policy");
    pastset_policy policy;

    return text && pastset_policy_parse(&policy, text) == 0 ? policy
                                                            : PASTSET_BLOCK;
}

bool paths_node_is_kept(const paths_map_node *node)
{
    const char *text = paths_node_get(node, "kept");

    return text && strcmp(text, "true") == 0;
}

int paths_node_number(const paths_map *map, const paths_map_node *node,
                      const char *key, uint64_t fallback, uint64_t *out)
{
    return node_value(map, node, key, fallback, out, paths_parse_number);
}

int paths_node_duration(const paths_map *map, const paths_map_node *node,
                        const char *key, uint64_t fallback, uint64_t *out_ns)
{
    return node_value(map, node, key, fallback, out_ns, paths_parse_duration);
}

int paths_node_rate(const paths_map *map, const paths_map_node *node,
                    const char *key, uint64_t fallback, uint64_t *out_bytes_s)
{
    return node_value(map, node, key, fallback, out_bytes_s, paths_parse_rate);
}

int paths__element_type_of(const paths_map *map, uint32_t node,
                           pastset_type *out)
{
    const char *text = paths_node_get(&map->nodes[node], "type");
    int err = pastset_type_parse(out, text ? text : "");

    return err ? pastset_fail_while(err, "element \"%s\"",
                                    map->nodes[node].name)
               : 0;
}
