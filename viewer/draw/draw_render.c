/* draw_render.c - graphs as pictures, by Graphviz, in a process that ends soon
 * (draw_child.c); maps as graphs, and the formats that there are. */
#include "viewer/draw/draw_internal.h"

#include <errno.h>
#include <graphviz/gvc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "pastset/status.h"
#include "pastset/text.h"

/* What Graphviz said last. */
static char graphviz_text[200];

const char *viewer__graphviz_said(void)
{
    return graphviz_text;
}

/* It says an error in pieces: "Error", ": ", and its text. */
static int graphviz_error(char *text)
{
    if (strlen(text) > 8)
        snprintf(graphviz_text, sizeof(graphviz_text), "%s", text);
    return 0;
}

/* --- memory of graphs --- */

/* Graphviz knows things by the addresses of their names, and where it has a
 * choice, their order decides. So each name lies behind those before it: one
 * graph is laid out in one way then, whatever else is in memory. Nothing is
 * given back, as the process ends soon. */
#define BLOCK_BYTES ((size_t)64 << 20)

typedef struct arena {
    char *at, *end;
} arena;

static void *arena_open(Agdisc_t *disc)
{
    static arena only;

    (void)disc;
    return &only;
}

static void *arena_alloc(void *state, size_t request)
{
    arena *a = state;
    size_t bytes = (request + 15) & ~(size_t)15;
    void *out;

    if (bytes > (size_t)(a->end - a->at)) {
        size_t block = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        char *begin = mmap(NULL, block, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (begin == MAP_FAILED)
            return NULL;
        a->at = begin;
        a->end = begin + block;
    }
    out = a->at;
    a->at += bytes;
    return out;
}

static void *arena_resize(void *state, void *old, size_t old_bytes,
                          size_t request)
{
    void *out = arena_alloc(state, request);

    if (out && old)
        memcpy(out, old, old_bytes < request ? old_bytes : request);
    return out;
}

static void arena_free(void *state, void *memory)
{
    (void)state;
    (void)memory;
}

static Agraph_t *graph_read(const char *dot)
{
    static Agmemdisc_t memory = {.open = arena_open,
                                 .alloc = arena_alloc,
                                 .resize = arena_resize,
                                 .free = arena_free};
    Agdisc_t disc = {&memory, &AgIdDisc, &AgIoDisc};
    char *text = strdup(dot); /* fmemopen might write into it */
    FILE *file = text ? fmemopen(text, strlen(text), "r") : NULL;

    return file ? agread(file, &disc) : NULL;
}

/* --- the order of the threads --- */

/* cgraph takes no constant texts. */
#define TEXT(text) ((char[]){text})

#define GUIDE_EDGES 20

typedef struct ordered_thread {
    Agnode_t *node;
    unsigned long number;
    int place; /* of its process; 0: it stands in none */
} ordered_thread;

static int by_process_and_number(const void *a, const void *b)
{
    const ordered_thread *x = a, *y = b;

    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static ordered_thread thread_of(Agraph_t *graph, Agnode_t *node)
{
    const char *number = agget(node, TEXT("number"));
    ordered_thread thread = {.node = node,
                             .number = number ? strtoul(number, NULL, 10) : 0};
    int place = 0;

    for (Agraph_t *sub = agfstsubg(graph); sub; sub = agnxtsubg(sub)) {
        place++;
        if (agsubnode(sub, node, FALSE))
            thread.place = place;
    }
    return thread;
}

static void edge_hide(Agedge_t *edge)
{
    agsafeset(edge, TEXT("style"), TEXT("invis"), TEXT(""));
}

static size_t threads_find(ordered_thread *out, Agraph_t *graph)
{
    size_t count = 0;

    for (Agnode_t *n = agfstnode(graph); n; n = agnxtnode(graph, n)) {
        const char *kind = agget(n, TEXT("kind"));
        if (kind && strcmp(kind, "thread") == 0)
            out[count++] = thread_of(graph, n);
    }
    qsort(out, count, sizeof(*out), by_process_and_number);
    return count;
}

/* A node in a column of its own, left of all threads and below the one before,
 * tied to a thread so often that to cross these ties is worse than to cross
 * paths. More of them would need room of their own. */
static Agnode_t *guide_add(Agraph_t *guides, const ordered_thread *thread,
                           Agnode_t *above)
{
    Agraph_t *graph = agroot(guides);
    Agnode_t *guide = agnode(guides, NULL, TRUE); /* cgraph counts them */

    agsafeset(guide, TEXT("shape"), TEXT("point"), TEXT(""));
    agsafeset(guide, TEXT("style"), TEXT("invis"), TEXT(""));
    agsafeset(guide, TEXT("width"), TEXT("0.01"), TEXT(""));
    agsafeset(guide, TEXT("height"), TEXT("0.01"), TEXT(""));
    if (above)
        edge_hide(agedge(graph, above, guide, NULL, TRUE));
    for (int i = 0; i < GUIDE_EDGES; i++)
        edge_hide(agedge(graph, guide, thread->node, NULL, TRUE));
    return guide;
}

/* Puts all threads into one column, process by process and by their numbers.
 * dot heeds columns across processes only with `newrank`, and of itself orders
 * neither processes nor threads when another order has fewer crossings. In
 * some maps processes still change places. */
static const char *threads_order(Agraph_t *graph)
{
    ordered_thread *threads =
        calloc((size_t)agnnodes(graph) + 1, sizeof(*threads));
    size_t count = threads ? threads_find(threads, graph) : 0;
    Agraph_t *column, *guides;
    Agnode_t *guide = NULL;

    if (!threads)
        return "there is no memory to order the threads";
    column = agsubg(graph, TEXT("threads"), TRUE);
    guides = agsubg(graph, TEXT("guides"), TRUE);
    agsafeset(graph, TEXT("newrank"), TEXT("true"), TEXT(""));
    agsafeset(column, TEXT("rank"), TEXT("same"), TEXT(""));
    agsafeset(guides, TEXT("rank"), TEXT("same"), TEXT(""));
    for (size_t i = 0; i < count; i++) {
        agsubnode(column, threads[i].node, TRUE);
        guide = guide_add(guides, &threads[i], guide);
    }
    free(threads);
    return NULL;
}

const char *viewer__graphviz(const char *dot, const char *engine,
                             const char *format, FILE *file)
{
    GVC_t *context;
    const char *problem;
    Agraph_t *graph;

    agseterrf(graphviz_error);
    context = gvContext();
    graph = graph_read(dot);
    if (!context || !graph)
        return *graphviz_text ? "Graphviz cannot read the map"
                              : "no memory to read the map";
    problem = strcmp(engine, "dot") == 0 ? threads_order(graph) : NULL;
    if (problem)
        return problem;
    if (gvLayout(context, graph, engine) != 0)
        return "Graphviz cannot lay the map out";
    if (gvRender(context, graph, format, file) != 0)
        return "Graphviz cannot write the picture";
    if (fflush(file) != 0) {
        snprintf(graphviz_text, sizeof(graphviz_text), "%s", strerror(errno));
        return "the picture cannot be written";
    }
    return NULL;
}

/* --- texts and formats --- */

int viewer__map_text(char **out, size_t *bytes, const paths_map *map)
{
    FILE *text = pastset_text_begin(out, bytes);
    int err;

    if (!text)
        return pastset_no_memory("for a picture");
    err = paths_map_write(map, text);
    if (!pastset_text_end(text) && !err)
        err = pastset_no_memory("for a picture");
    return err;
}

int viewer__picture_format(const char **out, const viewer_draw_options *options)
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
    return pastset_fail(
        PASTSET_EINVAL,
        "%.200s: cannot draw as \"%.20s\": choose svg, png, pdf or dot",
        options->file, name);
}
