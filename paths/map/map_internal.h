/* map_internal.h - what the files about path maps share. */
#ifndef PATHS_MAP_INTERNAL_H
#define PATHS_MAP_INTERNAL_H

#include <stdarg.h>
#include <stdlib.h>

#include "paths/map/map.h"
#include "pastset/type.h"

#define PATHS__FILE_BYTES (64u << 20) /* longest file of a map: 64 MiB */
#define PATHS__ATTRIBUTE_TYPES_MAX 64

/* --- map.c --- */

/* FNV-1a, 64 bits. Continue with the last result; begin with PATHS__HASH. */
#define PATHS__HASH 0xcbf29ce484222325u
uint64_t paths__hash(uint64_t hash, const void *data, size_t bytes);

/* The name by which a thread opens the path that begins with `edge`: its `as`,
 * else the name of its element, else that of the node it goes to. */
const char *paths__path_name(const paths_map *map, uint32_t edge);

/* --- attributes.c --- */

void paths__attributes_clear(paths_attributes *attributes);

/* True for attributes that Graphviz draws by and nothing else looks at. `id`
 * is not among them, since nodes are numbered by it. */
bool paths__attribute_draws(const char *key);
/* Of a process or the graph, which may have attributes that nobody here knows:
 * the one that was probably meant, if this one is misspelt, else NULL. */
const char *paths__attribute_meant(const char *key);

/* Fails with PASTSET_EMAP and "file:line: node: text". */
int paths__fail_at(const paths_map *map, unsigned line, const char *node,
                   const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The type of the tuples of an element or a source.
 * Errors: PASTSET_EINVAL with its name. */
int paths__element_type_of(const paths_map *map, uint32_t node,
                           pastset_type *out);

/* --- diagnostics.c --- */

/* As paths_diagnose. */
int paths__diagnose_list(paths_diagnostics *diagnostics, unsigned line,
                         const char *node, const char *format,
                         va_list arguments);

/* --- map_scan.c: a look at DOT text before cgraph gets it --- */

typedef struct paths__scan paths__scan;

/* Refuses what cgraph's parser is not made for (see map_scan.c), and notes
 * the lines, which cgraph does not keep. `file` is for texts.
 * Errors: PASTSET_EMAP with file and line; PASTSET_ENOMEM. */
int paths__scan_create(paths__scan **out, const char *text, size_t bytes,
                       const char *file);
void paths__scan_destroy(paths__scan *scan);

/* The line where a node or a subgraph is declared, else first named; 0 when
 * it is nowhere. */
unsigned paths__scan_node_line(const paths__scan *scan, const char *name);
unsigned paths__scan_subgraph_line(const paths__scan *scan, const char *name);

/* The line of the edge that is the one at `position` of `count` edges in the
 * order of the file; 0 when edges between groups make that unknown. */
unsigned paths__scan_edge_line(const paths__scan *scan, size_t position,
                               size_t count);

#endif
