/* draw.c - a path map as a picture, by Graphviz.
 *
 * The map is copied (folded, if it is large), each thing in the copy is given
 * the attributes it is drawn by, and the copy is written as DOT, which is
 * either the result or what Graphviz lays out and renders. The legend is the
 * label of the graph: there it is in nobody's way. */
#include "viewer/draw/draw.h"

#include <errno.h>
#include <fcntl.h>
#include <graphviz/gvc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "paths/generate/generate.h"
#include "pastset/status.h"
#include "viewer/draw/draw_internal.h"
#include "viewer/tables/output.h"

#define FOLD_ABOVE 200 /* nodes, collectors not counted */
#define LABEL_BELOW 40 /* edges that leave threads: with their names */

/* --- what things look like --- */

typedef struct snapshot {
    const char *kind; /* NULL: any other wrapper */
    const char *shape;
    const char *fill;
    const char *line;
    const char *word; /* in the legend; NULL: the kind */
} snapshot;

#define COLLECTIVE "collective" /* stands for all of their kinds */

static const snapshot looks[] = {
    {"thread", "ellipse", "#fff2b3", "#a08000", NULL},
    {"collector", "circle", "#d62728", "#d62728", "event collector"},
    {"proxy", "cds", "#dddddd", "#666666", "proxy (network)"},
    {"delay", "octagon", "#f0e0ff", "#8050a0", NULL},
    {COLLECTIVE, "trapezium", "#c8e6c0", "#2e7d32", NULL},
    {NULL, "hexagon", "#ffdcc2", "#b06020", "wrapper"},
    {"element", "box", "#cfe5f7", "#3070a0", NULL},
};

#define LOOKS (sizeof(looks) / sizeof(looks[0]))
#define WRITE_COLOR "#c05000"
#define READ_COLOR "#1060a0"
#define PLAIN_COLOR "#777777"
#define COLLECTIVE_COLOR "#2e7d32"

static bool is_collective(const paths_map_node *node)
{
    return node->kind == PATHS_WRAPPER && paths_is_collective(node->type);
}

static const snapshot *look_of(const paths_map_node *node)
{
    const char *kind = is_collective(node) ? COLLECTIVE : node->type;
    const snapshot *any = NULL;

    for (size_t i = 0; i < LOOKS; i++) {
        if (!looks[i].kind)
            any = &looks[i];
        else if (strcmp(looks[i].kind, kind) == 0)
            return &looks[i];
    }
    return any;
}

/* Pairs of key and value, ended by NULL. */
static int set_all(paths_attributes *attributes, const char *key, ...)
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

static int __attribute__((format(printf, 3, 4)))
set_text(paths_attributes *attributes, const char *key, const char *format, ...)
{
    char text[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    return paths_attributes_set(attributes, key, text);
}

/* --- nodes --- */

/* "t17 ... t32" and "16 threads", or the name alone. */
static int label_members(paths_attributes *attributes, const char *name,
                         const char *what, const char *more)
{
    const char *members = paths_attributes_get(attributes, VIEWER__MEMBERS);
    const char *last = paths_attributes_get(attributes, VIEWER__LAST);

    if (members && last)
        return set_text(attributes, "label", "%.120s … %.120s\\n%s %ss%s%s",
                        name, last, members, what, more[0] ? "\\n" : "", more);
    return set_text(attributes, "label", "%.120s%s%s", name,
                    more[0] ? "\\n" : "", more);
}

static int dress_element(paths_map_node *node)
{
    const char *type = paths_node_get(node, "type");
    const char *policy = paths_node_get(node, "policy");
    const char *capacity = paths_node_get(node, "capacity");
    char more[200];

    snprintf(more, sizeof(more), "%.60s%s%.20s%s%.20s", type ? type : "",
             capacity ? " × " : "", capacity ? capacity : "",
             policy ? ", " : "", policy ? policy : "");
    return label_members(&node->attributes, node->name, "element", more);
}

/* Small, with its number in it, or how many it stands for. */
static int dress_collector(paths_map_node *node)
{
    paths_attributes *attributes = &node->attributes;
    const char *members = paths_attributes_get(attributes, VIEWER__MEMBERS);
    const char *id = paths_attributes_get(attributes, "id");
    int err = set_all(attributes, "width", "0.18", "height", "0.18",
                      "fixedsize", "true", "fontsize", "7", "fontcolor",
                      "white", "margin", "0", NULL);

    if (!err)
        err = set_text(attributes, "label", "%s%s", members ? "×" : "",
                       members ? members
                       : id    ? id
                               : "");
    if (!err && (members || (id && strlen(id) > 3)))
        err = set_all(attributes, "width", members ? "0.3" : "0.24", "height",
                      members ? "0.3" : "0.24", NULL);
    return err;
}

static int dress_wrapper(paths_map_node *node)
{
    paths_attributes *attributes = &node->attributes;
    const char *members = paths_attributes_get(attributes, VIEWER__MEMBERS);
    const char *latency = paths_node_get(node, "latency");
    const char *kind = node->type[0] ? node->type : node->name;
    int err = set_all(attributes, "fontsize", "9", "height", "0.25", "margin",
                      "0.06,0.03", NULL);

    /* A funnel in the direction of the way down. */
    if (!err && is_collective(node))
        err = set_all(attributes, "orientation", "270", "fontsize", "10",
                      "fontname", "Helvetica-Bold", "height", "0.5", NULL);
    if (err)
        return err;
    return set_text(attributes, "label", "%.100s%s%.40s%s%s", kind,
                    latency ? " " : "", latency ? latency : "",
                    members ? " × " : "", members ? members : "");
}

static int dress_node(paths_map_node *node)
{
    const snapshot *l = look_of(node);
    int err = set_all(&node->attributes, "shape", l->shape, "style", "filled",
                      "fillcolor", l->fill, "color", l->line, NULL);

    if (!err)
        err = set_text(&node->attributes, "tooltip", "%.200s (%.60s)",
                       node->name, node->type);
    if (err)
        return err;
    if (node->kind == PATHS_ELEMENT)
        return dress_element(node);
    if (node->kind == PATHS_THREAD)
        return label_members(&node->attributes, node->name, "thread", "");
    if (strcmp(node->type, "collector") == 0)
        return dress_collector(node);
    return dress_wrapper(node);
}

/* --- edges --- */

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

static const char *color_of(const char *use)
{
    if (strcmp(use, "read") == 0)
        return READ_COLOR;
    if (paths_is_collective(use))
        return COLLECTIVE_COLOR;
    return strcmp(use, "both") == 0 ? PLAIN_COLOR : WRITE_COLOR;
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

static int dress_edge(paths_map *map, uint32_t index, bool named)
{
    paths_attributes *attributes = &map->edges[index].attributes;
    const char *members = paths_attributes_get(attributes, VIEWER__MEMBERS);
    const char *as = paths_attributes_get(attributes, "as");
    const char *use = use_above(map, index);
    int err =
        set_all(attributes, "color", use ? color_of(use) : PLAIN_COLOR, "style",
                use && strcmp(use, "read") == 0 ? "dashed" : "solid", "dir",
                direction(map, &map->edges[index], use ? use : ""), NULL);

    if (!err)
        err = dress_ends(map, &map->edges[index]);
    if (!err && members)
        err = set_text(attributes, "label", " ×%s ", members);
    else if (!err && as && named && is_named(map, index, use, as))
        err = set_text(attributes, "label", " %.60s ", as);
    return err;
}

/* --- hosts --- */

static int dress_host(paths_map_host *host)
{
    const char *address = paths_attributes_get(&host->attributes, "address");
    const char *members =
        paths_attributes_get(&host->attributes, VIEWER__MEMBERS);
    const char *last = paths_attributes_get(&host->attributes, VIEWER__LAST);
    int err = set_all(&host->attributes, "style", "rounded,filled", "fillcolor",
                      "#f7f7f4", "color", "#999988", "fontsize", "14",
                      "fontname", "Helvetica-Bold", "labeljust", "l",
                      "labelloc", "t", "margin", "12", NULL);

    if (err)
        return err;
    if (members && last)
        return set_text(&host->attributes, "label",
                        "hosts %.100s … %.100s (%s hosts)", host->name, last,
                        members);
    return set_text(&host->attributes, "label", "host %.100s%s%.60s",
                    host->name, address ? "   " : "", address ? address : "");
}

/* --- the graph, with the legend --- */

static void legend_look(FILE *file, const paths_map *map, const snapshot *l)
{
    for (uint32_t i = 0; i < map->node_count; i++) {
        if (look_of(&map->nodes[i]) != l)
            continue;
        fprintf(file,
                "<td bgcolor=\"%s\" border=\"1\" color=\"%s\" width=\"24\">"
                "</td><td align=\"left\">%s&nbsp;&nbsp;</td>",
                l->fill, l->line, l->word ? l->word : l->kind);
        return;
    }
}

static int legend(paths_map *map)
{
    char *text = NULL;
    size_t bytes;
    FILE *file = open_memstream(&text, &bytes);
    int err;

    if (!file)
        return pastset_fail(PASTSET_ENOMEM, "no memory to draw a path map");
    fprintf(file, "<table border=\"0\" cellborder=\"0\" cellspacing=\"4\">"
                  "<tr>");
    for (size_t i = 0; i < LOOKS; i++)
        legend_look(file, map, &looks[i]);
    fprintf(file, "<td><font color=\"" WRITE_COLOR "\"><b>——▶</b></font></td>"
                  "<td>writes&nbsp;&nbsp;</td>"
                  "<td><font color=\"" READ_COLOR "\"><b>◀- - -</b></font></td>"
                  "<td>reads&nbsp;&nbsp;</td>"
                  "<td><font color=\"" PLAIN_COLOR "\"><b>◀—▶</b></font></td>"
                  "<td>both</td></tr></table>");
    if (fclose(file) != 0) {
        free(text);
        return pastset_fail(PASTSET_ENOMEM, "no memory to draw a path map");
    }
    err = paths_attributes_set_html(&map->attributes, "label", text);
    free(text);
    return err;
}

static int dress_graph(paths_map *map)
{
    bool instrumented = viewer__nodes(map) < map->node_count;
    int err = set_all(&map->attributes, "rankdir", "LR", "labelloc", "b",
                      "fontname", "Helvetica", "fontsize", "11", "nodesep",
                      instrumented ? "0.06" : "0.12", "ranksep", "0.7", NULL);

    if (!err)
        err = set_all(&map->node_defaults, "fontname", "Helvetica", "fontsize",
                      "10", "height", "0.3", "margin", "0.08,0.04", NULL);
    if (!err)
        err = set_all(&map->edge_defaults, "fontname", "Helvetica", "fontsize",
                      "9", "arrowsize", "0.6", NULL);
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
    for (uint32_t i = 0; i < map->host_count; i++)
        attributes_clean(&map->hosts[i].attributes);
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

static int dress(paths_map *map)
{
    bool named = thread_edges(map) < LABEL_BELOW;
    int err;

    clean(map);
    err = dress_graph(map);
    for (uint32_t i = 0; i < map->host_count && !err; i++)
        err = dress_host(&map->hosts[i]);
    for (uint32_t i = 0; i < map->node_count && !err; i++)
        err = dress_node(&map->nodes[i]);
    for (uint32_t i = 0; i < map->edge_count && !err; i++)
        err = dress_edge(map, i, named);
    return err;
}

/* --- rendering ---
 *
 * Graphviz 2.42 leaks, remembers names of fonts that it has freed, and frees
 * twice when it gives back some layouts. So it runs in a child process, which
 * ends without giving anything back, and tells through a pipe how it went:
 * nothing but DONE, or what was wrong. */

#define DONE "done"

/* What Graphviz said last. */
static char graphviz_text[200];

/* It says an error in pieces: "Error", ": ", and its text. */
static int graphviz_error(char *text)
{
    if (strlen(text) > 8)
        snprintf(graphviz_text, sizeof(graphviz_text), "%s", text);
    return 0;
}

/* Gives NULL, or what could not be done. */
static const char *graphviz(const char *dot, const char *format, FILE *file)
{
    GVC_t *context;
    Agraph_t *graph;

    agseterrf(graphviz_error);
    context = gvContext();
    graph = agmemread(dot);
    if (!context || !graph)
        return "Graphviz cannot read the map";
    if (gvLayout(context, graph, "dot") != 0)
        return "Graphviz cannot lay the map out";
    if (gvRender(context, graph, format, file) != 0 || fflush(file) != 0)
        return "Graphviz cannot write the picture";
    return NULL;
}

static void __attribute__((noreturn))
child(const char *dot, const char *format, FILE *file, int pipe_fd)
{
    const char *problem = graphviz(dot, format, file);

    if (problem)
        dprintf(pipe_fd, "%s: %s", problem, graphviz_text);
    else
        dprintf(pipe_fd, "%s", DONE);
    _exit(0);
}

/* Reads what the child says, until it ends. */
static int listen_to(pid_t pid, int pipe_fd)
{
    char text[400];
    size_t used = 0;
    ssize_t got;

    do {
        got = read(pipe_fd, text + used, sizeof(text) - 1 - used);
        used += got > 0 ? (size_t)got : 0;
    } while (got > 0 || (got < 0 && errno == EINTR));
    text[used] = 0;
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    if (strcmp(text, DONE) == 0)
        return 0;
    return pastset_fail(PASTSET_ENOTSUP, "%s",
                        used ? text : "Graphviz broke down");
}

static int render_text(const char *dot, const char *format, FILE *file)
{
    int fds[2], err;
    pid_t pid;

    if (pipe2(fds, O_CLOEXEC) != 0)
        return pastset_fail(pastset_status_from_errno(errno),
                            "cannot make a pipe: %s", strerror(errno));
    pid = fork();
    if (pid == 0)
        child(dot, format, file, fds[1]);
    err = pid < 0 ? pastset_fail(pastset_status_from_errno(errno),
                                 "cannot start a process: %s", strerror(errno))
                  : 0;
    close(fds[1]);
    if (!err)
        err = listen_to(pid, fds[0]);
    close(fds[0]);
    return err;
}

static int render(const paths_map *map, const char *format, FILE *file)
{
    char *dot = NULL;
    size_t bytes;
    FILE *text = open_memstream(&dot, &bytes);
    int err;

    if (!text)
        return pastset_fail(PASTSET_ENOMEM, "no memory to draw a path map");
    err = paths_map_write(map, text);
    if (fclose(text) != 0 && !err)
        err = pastset_fail(PASTSET_ENOMEM, "no memory to draw a path map");
    if (!err)
        err = render_text(dot, format, file);
    free(dot);
    return err;
}

/* The format by its name, or by how the file's name ends. */
static int choose_format(const viewer_draw_options *options, const char **out)
{
    static const char *const formats[] = {"svg", "png", "pdf", "dot"};
    const char *dot = strrchr(options->file, '.');
    const char *name = options->format ? options->format : dot ? dot + 1 : "";

    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        if (strcmp(name, formats[i]) == 0) {
            *out = formats[i];
            return 0;
        }
    }
    return pastset_fail(PASTSET_EINVAL,
                        "%.200s: cannot draw as \"%.20s\": it is svg, png, "
                        "pdf or dot",
                        options->file, name);
}

/* What Graphviz has written into the file of its child. */
static int file_read(char **out, size_t *bytes, FILE *file)
{
    off_t size = lseek(fileno(file), 0, SEEK_END);
    ssize_t got;

    *out = size > 0 ? malloc((size_t)size) : NULL;
    if (size <= 0 || !*out)
        return pastset_fail(size <= 0 ? PASTSET_EIO : PASTSET_ENOMEM,
                            size <= 0 ? "Graphviz has drawn nothing"
                                      : "no memory for the picture");
    got = pread(fileno(file), *out, (size_t)size, 0);
    *bytes = got > 0 ? (size_t)got : 0;
    return got == size ? 0
                       : pastset_fail(PASTSET_EIO, "cannot read the picture");
}

/* The child shares the file, and a file in memory cannot be full. */
static int picture_render(char **out, size_t *bytes, const paths_map *map,
                          const char *format)
{
    int fd = memfd_create("picture", MFD_CLOEXEC);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "wb");
    int err;

    if (!file) {
        if (fd >= 0)
            close(fd);
        return pastset_fail(PASTSET_ENOMEM, "no memory for a picture");
    }
    err = render(map, format, file);
    if (!err)
        err = file_read(out, bytes, file);
    fclose(file);
    return err;
}

static int picture_write(char **out, size_t *bytes, const paths_map *map)
{
    FILE *text = open_memstream(out, bytes);
    int err;

    if (!text)
        return pastset_fail(PASTSET_ENOMEM, "no memory for a picture");
    err = paths_map_write(map, text);
    if (fclose(text) != 0 && !err)
        err = pastset_fail(PASTSET_ENOMEM, "no memory for a picture");
    return err;
}

int viewer_draw_text(char **out, size_t *bytes, const paths_map *map,
                     const viewer_draw_options *options)
{
    const char *format = NULL;
    paths_map *picture;
    int err = choose_format(options, &format);

    *out = NULL;
    if (err)
        return err;
    if (options->fold == VIEWER_FOLD_ALWAYS ||
        (options->fold == VIEWER_FOLD_AUTO && viewer__nodes(map) > FOLD_ABOVE))
        err = viewer__fold(&picture, map, FOLD_ABOVE);
    else
        err = paths_map_copy(&picture, map);
    if (err)
        return err;
    err = dress(picture);
    if (!err)
        err = strcmp(format, "dot") == 0
                  ? picture_write(out, bytes, picture)
                  : picture_render(out, bytes, picture, format);
    paths_map_destroy(picture);
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
