/* draw_run.c - see draw_run.h. The picture is written as DOT, which is either
 * the result, or what Graphviz renders. Numbers are attributes there, too. */
#include "viewer/draw/draw_run.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "pastset/text.h"
#include "viewer/draw/draw_internal.h"
#include "viewer/draw/draw_run_internal.h"
#include "viewer/tables/facts.h"
#include "viewer/tables/output.h"

/* More than can be seen, and more than make a file of a megabyte or so. */
#define LINES_MAX 2500
#define PLACES_MAX 1024
#define FOLDED_MAX 48 /* places, where lines are too many */
#define WHOLE_NAMES_MAX                                                        \
    16 /* places: with more, only what tells names apart                       \
        */
#define NAME_MAX_SHOWN 12
#define TOOLTIP_NAME_MAX 60

/* --- names --- */

/* Bytes that all names begin with, up to the number by which they end. */
static size_t same_begin(const paths_map *map)
{
    const char *first = map->processes[0].name;
    size_t same = strcspn(first, "0123456789");

    for (uint32_t i = 0; i < map->process_count; i++) {
        const char *name = map->processes[i].name;
        if (strncmp(name, first, same) != 0 ||
            !isdigit((unsigned char)name[same]))
            return 0;
    }
    return same;
}

static bool is_plain(const char *name)
{
    for (const char *at = name; *at; at++)
        if (!isalnum((unsigned char)*at) && *at != '_')
            return false;
    return *name;
}

/* Of a node: the name of its process, if that means nothing else in DOT. A
 * plain name has no blank, so no two are the same. */
static void write_node(FILE *file, const viewer__picture_of_run *p, uint32_t at)
{
    uint32_t process = p->traffic->places[at].first;
    const char *name = p->traffic->map->processes[process].name;

    if (is_plain(name))
        fprintf(file, "\"%s\"", name);
    else
        fprintf(file, "\"process %" PRIu32 "\"", process);
}

static void write_place(FILE *file, const viewer__picture_of_run *p,
                        uint32_t at, size_t skip, size_t most)
{
    const viewer_place *place = &p->traffic->places[at];
    const paths_map *map = p->traffic->map;

    viewer__write_label(file, map->processes[place->first].name + skip, most);
    if (place->last == place->first)
        return;
    fputs(skip ? "–" : " … ", file);
    viewer__write_label(file, map->processes[place->last].name + skip, most);
}

/* --- nodes --- */

static void write_process(FILE *file, const viewer__picture_of_run *p,
                          uint32_t at, size_t skip)
{
    const viewer_place *place = &p->traffic->places[at];
    double share = viewer__place_share(place);
    char color[VIEWER__COLOR], times[2][VIEWER__NUMBER];

    fputs("    ", file);
    write_node(file, p, at);
    fputs(" [label=\"", file);
    write_place(file, p, at, skip, NAME_MAX_SHOWN);
    fputs("\", tooltip=\"", file);
    write_place(file, p, at, 0, TOOLTIP_NAME_MAX);
    fprintf(file,
            ": communicating %s, computing %s\", fillcolor=\"%s\", "
            "fontcolor=\"%s\", communicating_ns=%" PRId64
            ", computing_ns=%" PRId64,
            viewer__time_text(place->communicating_ns, times[0]),
            viewer__time_text(place->computing_ns, times[1]),
            viewer__share_color(share, color),
            viewer__share_is_dark(share) ? "white" : "black",
            place->communicating_ns, place->computing_ns);
    if (p->points)
        fprintf(file, ", pos=\"%.1f,%.1f\"", p->points[at].x, p->points[at].y);
    fputs("];\n", file);
}

/* --- lines --- */

static void write_way(FILE *file, const viewer__picture_of_run *p,
                      const viewer_link *link, int way)
{
    char bytes[VIEWER__NUMBER];

    if (link->ways[way].messages == 0)
        return;
    write_place(file, p, link->ends[way], 0, TOOLTIP_NAME_MAX);
    fputs(" to ", file);
    write_place(file, p, link->ends[!way], 0, TOOLTIP_NAME_MAX);
    fprintf(file, ": %" PRIu64 " messages, %s; ", link->ways[way].messages,
            viewer__bytes_text(link->ways[way].bytes, bytes));
}

static void write_tooltip(FILE *file, const viewer__picture_of_run *p,
                          const viewer_link *link)
{
    char time[VIEWER__NUMBER];

    fputs(", tooltip=\"", file);
    for (int way = 0; way < 2; way++)
        write_way(file, p, link, way);
    fprintf(file, "waiting %s\"", viewer__time_text(link->waiting_ns, time));
}

static double waiting_share(const viewer__picture_of_run *p,
                            const viewer_link *link)
{
    return p->waiting_max_ns > 0
               ? (double)link->waiting_ns / (double)p->waiting_max_ns
               : 0;
}

/* From the lower number to the higher, with what went back beside it; so an
 * edge that only goes back has its arrowhead at its begin. */
static void write_link(FILE *file, const viewer__picture_of_run *p,
                       const viewer_link *link)
{
    const viewer_way *ways = link->ways;
    double width = viewer__line_width(p, viewer__link_bytes(link));
    double arrowsize = 0.5 + 0.05 * width;
    bool is_one = !ways[0].messages != !ways[1].messages;
    bool is_back = is_one && ways[1].messages > 0;
    char color[VIEWER__COLOR];

    fputs("    ", file);
    write_node(file, p, link->ends[0]);
    fputs(" -> ", file);
    write_node(file, p, link->ends[1]);
    fprintf(file,
            " [messages=%" PRIu64 ", bytes=%" PRIu64 ", messages_back=%" PRIu64
            ", bytes_back=%" PRIu64 ", waiting_ns=%" PRId64
            ", penwidth=%.2f, color=\"%s\", dir=%s",
            ways[0].messages, ways[0].bytes, ways[1].messages, ways[1].bytes,
            link->waiting_ns, width,
            viewer__waiting_color(waiting_share(p, link), color),
            !is_one   ? "none"
            : is_back ? "back"
                      : "forward");
    if (is_one)
        fprintf(file, ", arrowsize=%.2f", arrowsize);
    write_tooltip(file, p, link);
    if (p->points) {
        fputs(", pos=\"", file);
        viewer__layout_line(file, p, link, is_one ? 10 * arrowsize : 0,
                            is_back);
        fputc('"', file);
    }
    fputs("];\n", file);
}

/* Those that others should not hide come last. */
static int by_waiting(const void *a, const void *b)
{
    const viewer_link *x = *(const viewer_link *const *)a;
    const viewer_link *y = *(const viewer_link *const *)b;

    if (x->waiting_ns != y->waiting_ns)
        return x->waiting_ns < y->waiting_ns ? -1 : 1;
    return x < y ? -1 : x > y;
}

static int write_links(FILE *file, const viewer__picture_of_run *p)
{
    const viewer_traffic *t = p->traffic;
    const viewer_link **links = calloc(t->link_count + 1, sizeof(*links));

    if (!links)
        return pastset_no_memory("for a picture of the run");
    for (size_t i = 0; i < t->link_count; i++)
        links[i] = &t->links[i];
    qsort(links, t->link_count, sizeof(*links), by_waiting);
    for (size_t i = 0; i < t->link_count; i++)
        write_link(file, p, links[i]);
    free(links);
    return 0;
}

/* --- the graph --- */

static const char *engine_of(const viewer__picture_of_run *p)
{
    return p->points                       ? "nop2"
           : p->traffic->place_count > 100 ? "sfdp"
                                           : "neato";
}

/* As large as fits into nodes, for the longest name: a letter is about as wide
 * as 0.6 of it is high. */
static double font_size(const viewer__picture_of_run *p, size_t skip)
{
    size_t most = 1;
    double fits;

    for (uint32_t i = 0; i < p->traffic->place_count; i++) {
        size_t length =
            strlen(
                p->traffic->map->processes[p->traffic->places[i].last].name) -
            skip;
        length = length < NAME_MAX_SHOWN ? length : NAME_MAX_SHOWN;
        most = length > most ? length : most;
    }
    if (p->traffic->folded > 1)
        most = 2 * most + (skip ? 1 : 3);
    fits = 1.55 * p->diameter / (double)most;
    return fits < 0.36 * p->diameter ? fits : 0.36 * p->diameter;
}

static int write_graph(FILE *file, const viewer__picture_of_run *p)
{
    const viewer_traffic *t = p->traffic;
    size_t skip = t->place_count > WHOLE_NAMES_MAX || t->folded > 1
                      ? same_begin(t->map)
                      : 0;
    int err;

    fprintf(file,
            "digraph run {\n    graph [layout=%s, pattern=%s, "
            "outputorder=edgesfirst, splines=line, overlap=false, "
            "fontname=\"Helvetica\", fontsize=11, labelloc=b, tooltip=\" \", "
            "pad=0.2,\n    label=<",
            engine_of(p), viewer__pattern_name(p->shape.pattern));
    viewer__legend(file, p);
    fprintf(file,
            ">];\n    node [shape=circle, style=filled, fixedsize=true, "
            "width=%.3f, color=\"#808080\", fontname=\"Helvetica\", "
            "fontsize=%.1f];\n",
            p->diameter / 72, font_size(p, skip));
    for (uint32_t i = 0; i < t->place_count; i++)
        write_process(file, p, i, skip);
    err = write_links(file, p);
    fputs("}\n", file);
    return err;
}

static int graph_text(char **out, size_t *bytes,
                      const viewer__picture_of_run *p)
{
    FILE *file = pastset_text_begin(out, bytes);
    int err;

    if (!file)
        return pastset_no_memory("for a picture of the run");
    err = write_graph(file, p);
    if (!pastset_text_end(file) && !err)
        err = pastset_no_memory("for a picture of the run");
    return err;
}

/* --- all --- */

static void fold(viewer_traffic *t, viewer_fold how)
{
    bool is_full = t->link_count > LINES_MAX || how == VIEWER_FOLD_ALWAYS;
    uint32_t most = is_full ? FOLDED_MAX : PLACES_MAX;

    if (how != VIEWER_FOLD_NEVER && t->place_count > most)
        viewer__traffic_fold(t, (t->place_count + most - 1) / most);
}

static int picture_make(viewer__picture_of_run *p,
                        const scopes_snapshot *snapshot, viewer_fold how)
{
    int err = viewer__traffic_make(&p->traffic, snapshot);

    if (err)
        return err;
    fold(p->traffic, how);
    for (size_t i = 0; i < p->traffic->link_count; i++) {
        const viewer_link *link = &p->traffic->links[i];
        if (viewer__link_bytes(link) > p->bytes_max)
            p->bytes_max = viewer__link_bytes(link);
        if (link->waiting_ns > p->waiting_max_ns)
            p->waiting_max_ns = link->waiting_ns;
    }
    err = viewer__shape_find(&p->shape, p->traffic);
    return err ? err : viewer__layout(p);
}

static int picture_text(char **out, size_t *bytes,
                        const viewer__picture_of_run *p, const char *format)
{
    char *dot = NULL;
    int err = graph_text(&dot, bytes, p);

    if (!err && strcmp(format, "dot") == 0) {
        *out = dot;
        return 0;
    }
    if (!err)
        err = viewer__picture_of(out, bytes, dot, engine_of(p), format);
    free(dot);
    return err;
}

int viewer_draw_run(const scopes_snapshot *snapshot, const char *name,
                    const viewer_draw_options *options)
{
    viewer__picture_of_run p = {.name = name};
    const char *format = NULL;
    char *text = NULL;
    size_t bytes = 0;
    int err = viewer__picture_format(&format, options);

    if (!err)
        err = viewer_require_events(snapshot, name);
    if (!err)
        err = picture_make(&p, snapshot, options->fold);
    if (!err)
        err = picture_text(&text, &bytes, &p, format);
    if (!err)
        err = viewer_output_write(options->file, text, bytes);
    free(text);
    free(p.points);
    viewer__shape_fini(&p.shape);
    viewer__traffic_destroy(p.traffic);
    return err;
}
