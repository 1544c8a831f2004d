/* path_map.h - path maps, for programs that use this library: reading them,
 * handing them to functions from map to map, and what a node says.
 *
 * A map is a DOT file; docs/map.md tells what is in it, and paths/map/map.h
 * how it looks in memory.
 *
 * Threads:   a map may be read by many threads while nobody changes it.
 * Ownership: whoever gets a map from read, parse or copy destroys it; all else
 *            is borrowed from the map. */
#ifndef PATHS_PATH_MAP_H
#define PATHS_PATH_MAP_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct paths_map paths_map;
typedef struct paths_map_node paths_map_node;
typedef struct paths_diagnostics paths_diagnostics;

/* Reads a map from a file, or from a text whose diagnostics are to name
 * `file`. Only what makes it unreadable is an error here: see check for the
 * rest.
 * Errors: PASTSET_EIO, PASTSET_EMAP with "file:line: what is wrong". */
int paths_map_read(paths_map **out, const char *file);
int paths_map_parse(paths_map **out, const char *text, size_t bytes,
                    const char *file);
void paths_map_destroy(paths_map *map);

/* Writes the map as DOT, one statement a line, always the same text for the
 * same map: processes with their nodes first, then nodes in no process, then
 * edges. Save leaves either the old file or the whole new one.
 * Errors: PASTSET_EIO, PASTSET_ENOMEM. */
int paths_map_write(const paths_map *map, FILE *file);
int paths_map_save(const paths_map *map, const char *file);
/* Errors: PASTSET_ENOMEM. */
int paths_map_copy(paths_map **out, const paths_map *map);

/* Checks everything that a run relies on. `out` collects each diagnostic, and
 * is to be cleared; NULL: none is kept but the first, which is the text of the
 * failure, as "file:line: node: text".
 * Errors: PASTSET_EMAP when there is at least one, PASTSET_ENOMEM. */
int paths_map_check(const paths_map *map, paths_diagnostics *out);

/* How many there are. */
uint32_t paths_map_processes(const paths_map *map);
uint32_t paths_map_threads(const paths_map *map);

/* A digest of all that processes must agree on: two processes whose maps differ
 * do not talk to each other. Attributes for drawing, addresses, and the order
 * in which things stand in the file do not count. */
uint64_t paths_map_digest(const paths_map *map);

/* --- nodes --- */

const char *paths_node_name(const paths_map_node *node);
/* Attributes; NULL / `fallback` when absent.
 * Errors: PASTSET_EMAP with file, line and node, for a value that is none. */
const char *paths_node_get(const paths_map_node *node, const char *key);
int paths_node_number(const paths_map *map, const paths_map_node *node,
                      const char *key, uint64_t fallback, uint64_t *out);
int paths_node_duration(const paths_map *map, const paths_map_node *node,
                        const char *key, uint64_t fallback, uint64_t *out_ns);
int paths_node_rate(const paths_map *map, const paths_map_node *node,
                    const char *key, uint64_t fallback, uint64_t *out_bytes_s);

/* Adds a diagnostic about a node; for the check functions of wrapper types.
 * Errors: PASTSET_ENOMEM. */
int paths_node_diagnose(paths_diagnostics *diagnostics,
                        const paths_map_node *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#ifdef __cplusplus
}
#endif

#endif
