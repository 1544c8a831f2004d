/* generate_internal.h - what the files that generate path maps share. */
#ifndef PATHS_GENERATE_INTERNAL_H
#define PATHS_GENERATE_INTERNAL_H

#include "paths/generate/generate.h"
#include "pastset/status.h"
#include "paths/map/map.h"

typedef struct paths__generator {
    const paths_generate_options *options;
    const paths_map *application;
    paths_map *map;
    /* One for each node of the application: */
    uint32_t *processes; /* its process; PATHS_NONE: not yet */
    uint32_t *made;      /* its node of the map */
    uint64_t *numbers;   /* of a thread: its number, else its order */
    const char **uses;   /* of an element: its collective use; NULL: none */
    struct paths__networks
        *networks;      /* of the map; NULL: all reach each other */
    uint32_t *machines; /* of each process: the first one with its address */
} paths__generator;

static inline int paths__generate_no_memory(void)
{
    return pastset_fail(PASTSET_ENOMEM, "no memory to generate a path map");
}

/* --- generate_processes.c --- */

int paths__generate_processes(paths__generator *g);
bool paths__generate_is_switch(const paths_map_node *node);

/* Fills in `machines`: processes of one address, whatever their ports, are on
 * one machine. Of those without, and on loopback, that is not known. */
int paths__generate_machines(paths__generator *g);

/* A process's node of the cluster mapping, which there must be. */
const paths_map_node *paths__generate_machine(const paths__generator *g,
                                              uint32_t process);

/* The link between two processes if it is to be simulated, else NULL. */
const paths_map_edge *paths__generate_link(const paths__generator *g,
                                           uint32_t from, uint32_t to);

/* --- generate_networks.c --- */

/* Says of each process in which networks it is, and fills in `networks`. */
int paths__generate_networks(paths__generator *g);

/* --- generate_way.c --- */

/* Lays the way from a node of the map to the next one: straight, or through
 * a proxy and what belongs to the link, and so on over each process between,
 * where there is no other way. `use` is the edge of the application
 * mapping when the way begins at a thread, else NULL. */
int paths__generate_way(paths__generator *g, uint32_t from,
                        const paths_map_edge *use, uint32_t to);

/* As paths_map_add_node; a name that is taken is refused with a text. */
int paths__generate_node(paths__generator *g, uint32_t process,
                         const char *kind, const char *name, unsigned line,
                         uint32_t *out);

/* Adds a wrapper to the map, with its kind as its label. */
int paths__generate_wrapper(paths__generator *g, uint32_t process,
                            const char *kind, const char *name, unsigned line,
                            uint32_t *out);

/* --- generate_uses.c: what the application mapping says of uses --- */

typedef enum paths__shape {
    PATHS__HIERARCHICAL,
    PATHS__FLAT,
    PATHS__BINOMIAL,
    PATHS__NO_SHAPE, /* another word */
} paths__shape;

paths__shape paths__shape_of(const char *word);

/* The use of an edge if it is a collective one, else NULL. */
const char *paths__collective_use(const paths_map_edge *edge);

/* What an element says about its tree, ended by NULL. Those from COPIED on are
 * attributes of its wrappers. */
#define PATHS__TREE_COPIED 2
extern const char *const paths__tree_attributes[];

/* Refuses shapes and fan-outs that do not exist. */
int paths__generate_check(const paths_generate_options *options);

/* Fills in `uses`. */
int paths__generate_uses(paths__generator *g);

/* The shape of an element's tree, and its fan-out, 0 for any. */
int paths__generate_shape(const paths__generator *g,
                          const paths_map_node *element, paths__shape *shape,
                          uint32_t *fanout);

/* --- generate_tree.c --- */

/* Lays the tree of wrappers from the threads that use the element
 * collectively down to it. */
int paths__generate_tree(paths__generator *g, uint32_t element);

#endif
