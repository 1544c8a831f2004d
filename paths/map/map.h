/* map.h - the path map: threads, wrappers, elements, and the ways between.
 *
 * A path map is a directed Graphviz graph. Nodes are threads, wrappers and
 * elements (attribute `kind`), an edge is the way down from one stage to the
 * next, and a process is a `subgraph cluster_<process>`:
 *
 *     digraph windtunnel {
 *         subgraph cluster_h0 {
 *             address="127.0.0.1";
 *             t0 [kind=thread, number=0];
 *             "t0.to_below.proxy" [kind=proxy];
 *         }
 *         subgraph cluster_h1 {
 *             address="127.0.0.1";
 *             down_0 [kind=element, type="u64[14]", capacity=2];
 *         }
 *         t0 -> "t0.to_below.proxy" [as=to_below, use=write];
 *         "t0.to_below.proxy" -> down_0;
 *     }
 *
 * kind      `thread`, `element`, or the name of a wrapper type
 * number    of a thread: 0 ... count-1, each once
 * type      of an element (see pastset/type.h); policy (`block`, `discard`,
 *           `grow`; block when absent), capacity in tuples (1024 when absent).
 *           Also of a source: a wrapper that ends a path and answers itself
 * as, use   of an edge that leaves a thread: the name by which the program
 *           opens this path (the element's name when absent), and what it may
 *           do by it: `read`, `write` or `both`, or the kind of the collective
 *           wrapper (`sum` ...) where threads use the element together
 * address   of a process: `127.0.0.1`, `10.0.0.4:7000`, `[::1]:7000`; loopback
 *           and any free port when absent
 *
 * wrappers  of the graph: names of wrapper types that the program registers
 *           itself, separated by blanks; tools that do not know them accept
 *           them unchecked, the program's processes check them
 *
 * Attributes that are not known here are kept as they are: those of Graphviz
 * for drawing, and those of wrapper types.
 *
 * What DOT can say and a map cannot is refused when it is read: undirected and
 * strict graphs, macros (@), names that begin with %. Nodes of one name are one
 * node. An attribute whose value is empty is not there.
 *
 * Threads:   a map may be read by many threads while nobody changes it.
 * Ownership: whoever gets a map from read/parse/create destroys it; all else
 *            is borrowed from the map. */
#ifndef PATHS_MAP_H
#define PATHS_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "paths/map/path_map.h"

#include "paths/map/units.h"
#include "pastset/element.h"

#define PATHS_NONE UINT32_MAX /* no process, no node, no edge */
#define PATHS_PATH_NODES 256  /* most nodes of one path, over all processes */
#define PATHS_STAGES_MAX 32   /* most stages of one path in one process */

typedef enum paths_kind {
    PATHS_THREAD,
    PATHS_WRAPPER,
    PATHS_ELEMENT,
} paths_kind;

typedef struct paths_attribute {
    char *key;
    char *value;
    bool html; /* stood between < and > in the file rather than in quotes */
} paths_attribute;

typedef struct paths_attributes {
    paths_attribute *items; /* in the order of their keys in the file */
    size_t count;
} paths_attributes;

typedef struct paths_map_process {
    char *name; /* the subgraph's name without "cluster_" */
    unsigned line;
    paths_attributes attributes;
} paths_map_process;

struct paths_map_node {
    char *name;
    paths_kind kind;
    char *type;       /* the `kind` attribute: "thread", "element", "proxy" ...;
                         "" when it has none. Not among the attributes. */
    uint32_t process; /* index into processes; PATHS_NONE when it stands in
                         none */
    uint32_t second_process; /* another process it stands in as well, which is a
                                mistake; PATHS_NONE */
    unsigned line;           /* in the file, from 1; 0 when made by a program */
    paths_attributes attributes;
    uint32_t *out, out_count; /* edges that leave it, in their order */
    uint32_t *in, in_count;   /* edges that come to it */
};

typedef struct paths_map_edge {
    uint32_t from, to; /* nodes */
    unsigned line;
    paths_attributes attributes;
} paths_map_edge;

typedef struct paths_map_index paths_map_index; /* finds them by name */

/* Read it freely; change names and arrays only through the functions below. */
struct paths_map {
    char *name; /* of the graph; "" when it has none */
    char *file; /* where it was read from; "" when made by a program */
    paths_attributes attributes;    /* of the graph */
    paths_attributes node_defaults; /* for drawing: `node [shape=box]` */
    paths_attributes edge_defaults; /* for drawing: `edge [color=gray]` */
    paths_map_process *processes;
    uint32_t process_count;
    paths_map_node *nodes;
    uint32_t node_count;
    paths_map_edge *edges;
    uint32_t edge_count;
    uint32_t references; /* besides the first */
    paths_map_index *index;
};

/* Another reference to a map that changes no more: who has one gives it back
 * with unref, or with destroy, which is the same. The map goes with the last.
 * Threads: those who refer to one map are one thread at a time. */
const paths_map *paths_map_ref(const paths_map *map);
/* NULL is allowed. */
void paths_map_unref(const paths_map *map);

/* Making and changing maps. Indexes stay valid when things are added. The
 * adders return the new index, or PATHS_NONE when memory is out or (nodes,
 * processes) the name is taken. */
int paths_map_create(paths_map **out, const char *name);
/* Copies all but nodes and edges: where a function from map to map begins. */
int paths_map_copy_processes(paths_map **out, const paths_map *map);
uint32_t paths_map_add_process(paths_map *map, const char *name);
uint32_t paths_map_add_node(paths_map *map, uint32_t process, const char *type,
                            const char *name);
uint32_t paths_map_add_edge(paths_map *map, uint32_t from, uint32_t to);

/* Sets, replaces or (value NULL) removes an attribute.
 * Errors: PASTSET_ENOMEM. */
int paths_attributes_set(paths_attributes *attributes, const char *key,
                         const char *value);
/* Sets an HTML-like label of Graphviz: what stands between < and >. */
int paths_attributes_set_html(paths_attributes *attributes, const char *key,
                              const char *value);
/* Sets all of `attributes` in `out` too. Errors: PASTSET_ENOMEM. */
int paths_attributes_copy(paths_attributes *out,
                          const paths_attributes *attributes);
/* The value, or NULL. */
const char *paths_attributes_get(const paths_attributes *attributes,
                                 const char *key);

/* What paths_map_write writes, in memory that the caller frees; `*out` is NULL
 * after an error. Errors: PASTSET_ENOMEM. */
int paths_map_text(char **out, size_t *bytes, const paths_map *map);

/* PATHS_NONE when there is none of that name. */
uint32_t paths_map_find_process(const paths_map *map, const char *name);
/* When the first process dies, does another take its place? Unless the graph
 * says succession=false. */
bool paths_map_has_succession(const paths_map *map);
/* When a process dies, are all started again? If the graph says restart=true.
 */
bool paths_map_restarts(const paths_map *map);
uint32_t paths_map_find_node(const paths_map *map, const char *name);

/* Orders the nodes, or the processes, by their names. The place of one in this
 * order, its rank, is the same for all who have read the map, whatever the
 * order of their files. `out` has room for all of them. */
void paths_map_rank(const paths_map *map, uint32_t *out);
void paths_map_rank_processes(const paths_map *map, uint32_t *out);

/* Elements that the runtime makes for itself begin with "~". */
static inline bool paths_element_is_internal(const char *name)
{
    return name[0] == '~';
}

/* Where a path can end: an element, or a source, which is a wrapper without a
 * way down that says by `type` what its tuples are. */
bool paths_node_is_end(const paths_map_node *node);
/* Of an element; what says none blocks. */
pastset_policy paths_node_policy(const paths_map_node *node);
/* Of an element: does what its only writer has committed outlive a restart? If
 * it says kept=true. */
bool paths_node_is_kept(const paths_map_node *node);

/* Follows the path that begins with `edge` (which leaves a thread) down to
 * its end, over first out-edges. Stores the nodes passed, without the thread
 * and with the element or source, and returns their number; 0 when it does not
 * end in one within `capacity` nodes. */
size_t paths_map_walk(const paths_map *map, uint32_t edge, uint32_t *nodes,
                      size_t capacity);

/* --- checking --- */

typedef struct paths_diagnostic {
    unsigned line;
    char *node; /* or edge "a -> b", or process; "" for the map as a whole */
    char *text; /* what is wrong, and what to do */
} paths_diagnostic;

struct paths_diagnostics {
    paths_diagnostic *items;
    size_t count;
};

/* As paths_map_check, for what an application mapping says of its threads and
 * elements: where a map that is made of it would be wrong, the diagnostic is
 * about the mapping, and its lines. */
int paths_mapping_check(const paths_map *application, paths_diagnostics *out);
void paths_diagnostics_clear(paths_diagnostics *diagnostics);
/* Adds one; for the check functions of wrapper types. */
int paths_diagnose(paths_diagnostics *diagnostics, unsigned line,
                   const char *node, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
