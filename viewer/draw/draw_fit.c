/* draw_fit.c - folding a map until its picture can be read.
 *
 * It can when it has no more nodes and processes than a person follows, and
 * when the smallest of its texts is large enough on a page. How large a picture
 * becomes is known when Graphviz has laid it out; so it does that for one level
 * of folding after the other, as far as there are not too many nodes anyway,
 * until one fits. */
#include "viewer/draw/draw_internal.h"

#include <stdlib.h>
#include <string.h>

/* Nodes, collectors not counted: more than fit on a page, and more than fit on
 * one with paths folded. */
#define NODES_MAX 60
#define FOLDED_NODES_MAX 200
#define PROCESSES_MAX 12 /* one below the other */

/* A page: a picture 1200 pixels wide, high as a sheet of A4. */
#define PAGE_WIDTH 1200.0
#define PAGE_HEIGHT 1700.0
#define TEXT_SIZE 9.0 /* points, of the smallest text that tells something */
#define TEXT_MIN 7.0  /* pixels */

static uint32_t nodes_of(const paths_map *map)
{
    uint32_t nodes = 0;

    for (uint32_t i = 0; i < map->node_count; i++)
        nodes += strcmp(map->nodes[i].type, "collector") != 0;
    return nodes;
}

static bool is_too_much(const paths_map *map, viewer__level level)
{
    uint32_t nodes = nodes_of(map);

    if (level == VIEWER__AS_IT_IS)
        return nodes > NODES_MAX;
    return nodes > FOLDED_NODES_MAX ||
           (level == VIEWER__PATHS && map->process_count > PROCESSES_MAX);
}

/* A length in points behind a key of SVG, such as width="812pt". */
static double points_of(const char *svg, size_t bytes, const char *key)
{
    const char *found = memmem(svg, bytes, key, strlen(key));

    return found ? strtod(found + strlen(key), NULL) : 0;
}

static bool fits(const char *svg, size_t bytes)
{
    double width = points_of(svg, bytes, " width=\"");
    double height = points_of(svg, bytes, " height=\"");
    double scale = PAGE_WIDTH / width;

    if (PAGE_HEIGHT / height < scale)
        scale = PAGE_HEIGHT / height;
    return TEXT_SIZE * scale >= TEXT_MIN;
}

/* What is drawn, and what it is drawn by at some level. */
typedef struct fitting {
    const paths_map *map;
    const char *format;
    viewer__dresser *dress;
    void *context;
} fitting;

/* The picture of a level in `*out`; NULL: it cannot be read, and may be folded
 * further. */
static int draw_level(char **out, size_t *bytes, const fitting *f,
                      viewer__level level, bool is_last)
{
    viewer__folded folded;
    char *dot = NULL, *svg = NULL;
    size_t dot_bytes = 0, svg_bytes = 0;
    int err = viewer__fold(&folded, f->map, level);

    if (err)
        return err;
    if (is_last || !is_too_much(folded.map, level)) {
        err = f->dress(&folded, f->context);
        if (!err)
            err = viewer__map_text(&dot, &dot_bytes, folded.map);
    }
    viewer__folded_fini(&folded);
    if (!err && dot && !is_last)
        err = viewer__picture_of(&svg, &svg_bytes, dot, "dot", "svg");
    if (err || !dot || (!is_last && !fits(svg, svg_bytes)))
        goto done;
    if (strcmp(f->format, "dot") == 0) {
        *out = dot;
        *bytes = dot_bytes;
        dot = NULL;
    } else if (svg && strcmp(f->format, "svg") == 0) {
        *out = svg;
        *bytes = svg_bytes;
        svg = NULL;
    } else {
        err = viewer__picture_of(out, bytes, dot, "dot", f->format);
    }
done:
    free(dot);
    free(svg);
    return err;
}

int viewer__draw_fitting(char **out, size_t *bytes, const paths_map *map,
                         viewer_fold fold, const char *format,
                         viewer__dresser *dress, void *context)
{
    fitting f = {map, format, dress, context};
    viewer__level level =
        fold == VIEWER_FOLD_ALWAYS ? VIEWER__PATHS : VIEWER__AS_IT_IS;
    viewer__level last =
        fold == VIEWER_FOLD_NEVER ? VIEWER__AS_IT_IS : VIEWER__KINDS;
    int err = 0;

    *out = NULL;
    for (; !*out && !err && level <= last; level++)
        err = draw_level(out, bytes, &f, level, level == last);
    return err;
}
