/* map_read.c - reading path maps with cgraph.
 *
 * The text is scanned first (map_scan.c), which protects cgraph's parser and
 * gives the lines. The parser then gets it one line a call, so that the line
 * of a syntax error is the number of lines it has taken. Its scanner and its
 * error handling are global: one map is parsed at a time. */
#include <errno.h>
#include <graphviz/cgraph.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paths/generate/generate.h"
#include "paths/map/map_internal.h"
#include "pastset/status.h"
#include "pastset/array.h"

#define CLUSTER "cluster_"

static pthread_mutex_t parser = PTHREAD_MUTEX_INITIALIZER;

/* What the parser said; guarded by `parser`. */
static char parser_text[256];

/* --- feeding the parser --- */

typedef struct feed {
    const char *text;
    size_t bytes, at;
    unsigned lines; /* handed out so far */
} feed;

/* Hands out up to one line. */
static int feed_read(void *channel, char *buffer, int capacity)
{
    feed *f = channel;
    const char *from = f->text + f->at;
    size_t bytes = f->bytes - f->at;
    const char *end;

    if (bytes > (size_t)capacity)
        bytes = (size_t)capacity;
    if (bytes == 0)
        return 0;
    if (f->at == 0 || from[-1] == '\n')
        f->lines++;
    end = memchr(from, '\n', bytes);
    if (end)
        bytes = (size_t)(end - from) + 1;
    memcpy(buffer, from, bytes);
    f->at += bytes;
    return (int)bytes;
}

/* cgraph tells an error in pieces: "Error", ": ", and its text. */
static int parser_error(char *text)
{
    size_t used = strlen(parser_text);

    if (strcmp(text, "Error") != 0 && strcmp(text, "Warning") != 0 &&
        strcmp(text, ": ") != 0)
        snprintf(parser_text + used, sizeof(parser_text) - used, "%s", text);
    return 0;
}

/* Makes "syntax error in line 7 near '}'\n" into "syntax error near '}'": the
 * number is the parser's own, which goes on from file to file. */
static void parser_text_clean(void)
{
    char *line = strstr(parser_text, " in line ");
    char *end = strchr(parser_text, '\n');

    if (end)
        *end = 0;
    if (line) {
        char *behind = line + strlen(" in line ");
        behind += strspn(behind, "0123456789");
        memmove(line, behind, strlen(behind) + 1);
    }
}

/* Leaves the parser at the end of its input also after an error, since what
 * it has buffered would otherwise be the beginning of the next file. */
static void parser_drain(feed *f, Agdisc_t *disc)
{
    feed empty = {"", 0, 0, 0};

    f->at = f->bytes;
    for (;;) {
        Agraph_t *rest = agread(&empty, disc);
        if (!rest)
            break;
        agclose(rest);
    }
}

static int parse(Agraph_t **out, const char *text, size_t bytes,
                 const char *file)
{
    Agiodisc_t io = AgIoDisc;
    Agdisc_t disc = {&AgMemDisc, &AgIdDisc, &io};
    feed f = {text, bytes, 0, 0};
    unsigned line;

    io.afread = feed_read;
    parser_text[0] = 0;
    agseterrf(parser_error);
    agreadline(1);
    *out = agread(&f, &disc);
    line = f.lines;
    parser_drain(&f, &disc);
    agseterrf(NULL);
    if (parser_text[0]) {
        parser_text_clean();
        if (*out)
            agclose(*out);
        *out = NULL;
        return pastset_fail(PASTSET_EMAP, "%.250s:%u: %s%s", file, line,
                            parser_text,
                            strstr(parser_text, "near '->'")
                                ? ": edges -> need a digraph, not a graph"
                                : "");
    }
    if (!*out)
        return pastset_fail(PASTSET_EMAP,
                            "%.250s: there is no graph in it: write "
                            "digraph NAME { ... }",
                            file);
    return 0;
}

/* --- from cgraph's graph to a map --- */

/* The names of attributes in the order in which the file uses them. */
typedef struct symbols {
    Agsym_t **items;
    size_t count;
} symbols;

typedef struct reader {
    paths_map *map;
    const paths__scan *scan;
    Agraph_t *graph;
    symbols of_graph, of_nodes, of_edges;
    Agraph_t **subgraphs; /* in their order */
    size_t subgraph_count;
    Agedge_t **edges; /* in their order */
    size_t edge_count;
} reader;

static int no_memory(const char *file)
{
    return pastset_fail(PASTSET_ENOMEM, "%.250s: no memory to read it", file);
}

static int out_of_memory(const reader *r)
{
    return no_memory(r->map->file);
}

static int compare_symbol(const void *a, const void *b)
{
    const Agsym_t *x = *(Agsym_t *const *)a, *y = *(Agsym_t *const *)b;

    return (x->id > y->id) - (x->id < y->id);
}

static int compare_subgraph(const void *a, const void *b)
{
    unsigned x = AGSEQ(*(Agraph_t *const *)a);
    unsigned y = AGSEQ(*(Agraph_t *const *)b);

    return (x > y) - (x < y);
}

static int compare_edge(const void *a, const void *b)
{
    unsigned x = AGSEQ(*(Agedge_t *const *)a);
    unsigned y = AGSEQ(*(Agedge_t *const *)b);

    return (x > y) - (x < y);
}

static int symbols_collect(reader *r, symbols *out, int kind)
{
    Agsym_t *symbol = NULL;

    while ((symbol = agnxtattr(r->graph, kind, symbol))) {
        Agsym_t **items =
            pastset_array_grow(out->items, out->count, sizeof(*items));
        if (!items)
            return out_of_memory(r);
        out->items = items;
        items[out->count++] = symbol;
    }
    if (out->count)
        qsort(out->items, out->count, sizeof(*out->items), compare_symbol);
    return 0;
}

/* Takes one attribute over. What it inherits is not noise to be repeated on
 * every node, if it is for drawing; all else must be seen at the node. */
static int take_attribute(paths_attributes *out, const Agsym_t *symbol,
                          char *value, const char *inherited)
{
    if (strcmp(value, inherited) == 0)
        return 0;
    if (value[0] && aghtmlstr(value))
        return paths_attributes_set_html(out, symbol->name, value);
    return paths_attributes_set(out, symbol->name, value);
}

static int take_attributes(paths_attributes *out, const symbols *list,
                           void *object, const paths_attributes *defaults)
{
    int err = 0;

    for (size_t i = 0; i < list->count && !err; i++) {
        const char *inherited =
            paths_attributes_get(defaults, list->items[i]->name);
        err =
            take_attribute(out, list->items[i], agxget(object, list->items[i]),
                           inherited ? inherited : "");
    }
    return err;
}

/* The defaults of the whole graph, as far as they are for drawing. */
static int take_defaults(paths_attributes *out, const symbols *list)
{
    int err = 0;

    for (size_t i = 0; i < list->count && !err; i++) {
        Agsym_t *symbol = list->items[i];
        if (paths__attribute_draws(symbol->name))
            err = take_attribute(out, symbol, symbol->defval, "");
    }
    return err;
}

static int take_subgraphs(reader *r, Agraph_t *parent)
{
    for (Agraph_t *g = agfstsubg(parent); g; g = agnxtsubg(g)) {
        Agraph_t **list =
            pastset_array_grow(r->subgraphs, r->subgraph_count, sizeof(*list));
        int err;
        if (!list)
            return out_of_memory(r);
        r->subgraphs = list;
        list[r->subgraph_count++] = g;
        err = take_subgraphs(r, g);
        if (err)
            return err;
    }
    return 0;
}

/* The name of the process that a subgraph stands for, or NULL. */
static const char *process_of(Agraph_t *subgraph)
{
    const char *name = agnameof(subgraph);

    if (strncmp(name, CLUSTER, strlen(CLUSTER)) != 0)
        return NULL;
    return name + strlen(CLUSTER);
}

/* A subgraph inherits what the graph says, for drawing or not; of the rest,
 * only an address is meant for each process. */
static int take_process_attributes(reader *r, paths_attributes *out,
                                   Agraph_t *subgraph)
{
    int err = 0;

    for (size_t i = 0; i < r->of_graph.count && !err; i++) {
        Agsym_t *symbol = r->of_graph.items[i];
        const char *inherited = agxget(r->graph, symbol);
        char *value = agxget(subgraph, symbol);
        if (strcmp(symbol->name, "address") == 0 ||
            (!value[0] && !paths__attribute_draws(symbol->name)))
            inherited = "";
        err = take_attribute(out, symbol, value, inherited);
    }
    return err;
}

static int take_process(reader *r, Agraph_t *subgraph)
{
    const char *name = process_of(subgraph);
    uint32_t index;

    if (!name)
        return 0;
    index = paths_map_add_process(r->map, name);
    if (index == PATHS_NONE)
        return out_of_memory(r);
    r->map->processes[index].line =
        paths__scan_subgraph_line(r->scan, agnameof(subgraph));
    return take_process_attributes(r, &r->map->processes[index].attributes,
                                   subgraph);
}

static int take_node(reader *r, Agnode_t *node)
{
    char *type = agget(node, (char[]){"kind"});
    uint32_t index = paths_map_add_node(r->map, PATHS_NONE, type ? type : "",
                                        agnameof(node));
    paths_map_node *made;
    int err;

    if (index == PATHS_NONE)
        return out_of_memory(r);
    made = &r->map->nodes[index];
    made->line = paths__scan_node_line(r->scan, made->name);
    err = take_attributes(&made->attributes, &r->of_nodes, node,
                          &r->map->node_defaults);
    if (!err)
        err = paths_attributes_set(&made->attributes, "kind", NULL);
    return err;
}

/* Puts the nodes of a subgraph onto its process. In nested clusters the inner
 * ones come later: a node in both is a mistake that the check tells. */
static void take_places(reader *r, Agraph_t *subgraph)
{
    const char *name = process_of(subgraph);
    uint32_t process = name ? paths_map_find_process(r->map, name) : PATHS_NONE;

    if (process == PATHS_NONE)
        return;
    for (Agnode_t *n = agfstnode(subgraph); n; n = agnxtnode(subgraph, n)) {
        uint32_t index = paths_map_find_node(r->map, agnameof(n));
        paths_map_node *node = &r->map->nodes[index];
        if (node->process == PATHS_NONE)
            node->process = process;
        else if (node->process != process && node->second_process == PATHS_NONE)
            node->second_process = process;
    }
}

static int take_edge(reader *r, Agedge_t *edge, size_t position)
{
    paths_map *map = r->map;
    uint32_t from = paths_map_find_node(map, agnameof(agtail(edge)));
    uint32_t to = paths_map_find_node(map, agnameof(aghead(edge)));
    uint32_t index = paths_map_add_edge(map, from, to);
    unsigned line = paths__scan_edge_line(r->scan, position, r->edge_count);

    if (index == PATHS_NONE)
        return out_of_memory(r);
    map->edges[index].line = line ? line : map->nodes[from].line;
    return take_attributes(&map->edges[index].attributes, &r->of_edges, edge,
                           &map->edge_defaults);
}

/* agnedges would tell their number, but counts by recursion, one level an
 * edge where they come in order. */
static int list_edges(reader *r)
{
    for (Agnode_t *n = agfstnode(r->graph); n; n = agnxtnode(r->graph, n)) {
        for (Agedge_t *e = agfstout(r->graph, n); e;
             e = agnxtout(r->graph, e)) {
            Agedge_t **edges =
                pastset_array_grow(r->edges, r->edge_count, sizeof(*edges));
            if (!edges)
                return out_of_memory(r);
            r->edges = edges;
            edges[r->edge_count++] = e;
        }
    }
    return 0;
}

static int take_edges(reader *r)
{
    int err = list_edges(r);

    if (!err && r->edge_count)
        qsort(r->edges, r->edge_count, sizeof(*r->edges), compare_edge);
    for (size_t i = 0; i < r->edge_count && !err; i++)
        err = take_edge(r, r->edges[i], i);
    return err;
}

static int take_nodes(reader *r)
{
    int err = 0;

    for (Agnode_t *n = agfstnode(r->graph); n && !err;
         n = agnxtnode(r->graph, n))
        err = take_node(r, n);
    for (size_t i = 0; i < r->subgraph_count && !err; i++)
        take_places(r, r->subgraphs[i]);
    return err;
}

static int take_graph(reader *r)
{
    static const paths_attributes none;
    paths_map *map = r->map;
    int err = symbols_collect(r, &r->of_graph, AGRAPH);

    if (err)
        return err;
    err = symbols_collect(r, &r->of_nodes, AGNODE);
    if (err)
        return err;
    err = symbols_collect(r, &r->of_edges, AGEDGE);
    if (err)
        return err;
    err = take_attributes(&map->attributes, &r->of_graph, r->graph, &none);
    if (err)
        return err;
    /* The processes that inherit it keep it. */
    err = paths_attributes_set(&map->attributes, "address", NULL);
    if (err)
        return err;
    err = take_defaults(&map->node_defaults, &r->of_nodes);
    if (err)
        return err;
    err = take_defaults(&map->edge_defaults, &r->of_edges);
    if (err)
        return err;
    err = take_subgraphs(r, r->graph);
    if (err)
        return err;
    if (r->subgraph_count)
        qsort(r->subgraphs, r->subgraph_count, sizeof(*r->subgraphs),
              compare_subgraph);
    for (size_t i = 0; i < r->subgraph_count && !err; i++)
        err = take_process(r, r->subgraphs[i]);
    if (err)
        return err;
    err = take_nodes(r);
    if (err)
        return err;
    return take_edges(r);
}

static void reader_release(reader *r)
{
    free(r->of_graph.items);
    free(r->of_nodes.items);
    free(r->of_edges.items);
    free(r->subgraphs);
    free(r->edges);
}

static int check_form(Agraph_t *graph, const char *file)
{
    if (!agisdirected(graph))
        return pastset_fail(PASTSET_EMAP,
                            "%.250s: the graph is undirected: write digraph "
                            "in place of graph, and -> in place of --",
                            file);
    if (agisstrict(graph))
        return pastset_fail(PASTSET_EMAP,
                            "%.250s: the graph is strict, which merges the "
                            "paths between two nodes: leave the word strict "
                            "out",
                            file);
    return 0;
}

static int convert(paths_map **out, Agraph_t *graph, const paths__scan *scan,
                   const char *file)
{
    const char *name = agnameof(graph); /* begins with % when it has none */
    reader r = {.scan = scan, .graph = graph};
    int err = check_form(graph, file);

    if (err)
        return err;
    err = paths_map_create(&r.map, name[0] == '%' ? "" : name);
    if (err)
        return err;
    free(r.map->file);
    r.map->file = strdup(file);
    err = r.map->file ? take_graph(&r) : no_memory(file);
    reader_release(&r);
    if (err)
        paths_map_destroy(r.map);
    else
        *out = r.map;
    return err;
}

int paths_map_parse(paths_map **out, const char *text, size_t bytes,
                    const char *file)
{
    static const char mark[3] = "\xEF\xBB\xBF"; /* of UTF-8; no part of it */
    paths__scan *scan;
    Agraph_t *graph;
    int err;

    *out = NULL;
    if (bytes >= sizeof(mark) && memcmp(text, mark, sizeof(mark)) == 0) {
        text += sizeof(mark);
        bytes -= sizeof(mark);
    }
    err = paths__scan_create(&scan, text, bytes, file);
    if (err)
        return err;
    pthread_mutex_lock(&parser);
    err = parse(&graph, text, bytes, file);
    if (!err) {
        err = convert(out, graph, scan, file);
        agclose(graph);
    }
    pthread_mutex_unlock(&parser);
    paths__scan_destroy(scan);
    return err;
}

/* --- files --- */

static int load(char **out, size_t *bytes, FILE *stream, const char *file)
{
    size_t capacity = 65536, used = 0;
    char *text = malloc(capacity);

    for (;;) {
        char *more;
        if (!text)
            return no_memory(file);
        used += fread(text + used, 1, capacity - used, stream);
        if (used < capacity || used > PATHS__FILE_BYTES)
            break;
        capacity *= 2;
        more = realloc(text, capacity);
        if (!more)
            free(text);
        text = more;
    }
    if (ferror(stream)) {
        free(text);
        return pastset_fail(PASTSET_EIO, "%.250s: cannot read it: %s", file,
                            strerror(errno));
    }
    *out = text;
    *bytes = used;
    return 0;
}

int paths_map_read(paths_map **out, const char *file)
{
    FILE *stream = fopen(file, "re");
    char *text = NULL;
    size_t bytes = 0;
    int err;

    *out = NULL;
    if (!stream)
        return pastset_fail(PASTSET_EIO, "%.250s: cannot open it: %s", file,
                            strerror(errno));
    err = load(&text, &bytes, stream, file);
    fclose(stream);
    if (err)
        return err;
    err = paths_map_parse(out, text, bytes, file);
    free(text);
    return err;
}

int paths_mapping_read(paths_map **out, const char *file)
{
    return paths_map_read(out, file);
}
