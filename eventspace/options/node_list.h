/* node_list.h - the nodes of a path map that an option lists.
 *
 * Numbers and ranges as in paths/map/number_list.h, names, and shell patterns
 * of names, separated by commas or blanks: "0,3-5,w*". What begins with a digit
 * and has only digits and '-' is a number or a range, whatever is called so.
 *
 * Threads:   any, each with its own list. */
#ifndef EVENTSPACE_NODE_LIST_H
#define EVENTSPACE_NODE_LIST_H

#include "paths/map/map.h"
#include "paths/map/number_list.h"

/* A kind of node that has numbers. */
typedef struct eventspace_node_kind {
    const char *type;   /* and what people call it: "thread" */
    const char *number; /* the attribute: "number" */
} eventspace_node_kind;

extern const eventspace_node_kind eventspace_kind_threads,
    eventspace_kind_collectors;

/* Adds the numbers of those nodes of `map` that the text lists. Without a map
 * (NULL) numbers are added as they are, and names pass. `run` is what the text
 * of an error calls the run of the map; NULL: "RUN".
 * Errors: PASTSET_EINVAL (a range such as 5-3), PASTSET_ENOENT (the map has no
 * such node; the text says which one was probably meant), PASTSET_ENOMEM; the
 * list is then partly read. */
int eventspace_node_list_read(paths_number_list *list, const char *text,
                              const eventspace_node_kind *kind,
                              const paths_map *map, const char *run);

#endif
