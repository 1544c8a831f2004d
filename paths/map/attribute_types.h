/* attribute_types.h - attributes of processes that the layers above this one
 * read.
 *
 * A map keeps every attribute, but to tell a wrong value, or a misspelt name,
 * it must be known what there is. So a layer that reads an attribute of
 * processes registers it, as wrapper types are registered
 * (paths/wrappers/wrapper.h), before maps are checked or generated.
 *
 * Threads: registering, one at a time, before others look. */
#ifndef PATHS_ATTRIBUTE_TYPES_H
#define PATHS_ATTRIBUTE_TYPES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct paths_attribute_type {
    const char *name;

    /* Who may have it: processes of path maps, and the machines of which a
     * cluster mapping tells. What both may have goes from there into the path
     * maps that are made of it. */
    bool of_processes, of_machines;

    /* Of processes of path maps: 0, or an error whose text says what is wrong
     * with the value, which is not "", and what to do. NULL: any value will do.
     * */
    int (*check)(const char *value);
} paths_attribute_type;

/* Registers one for this process; the struct must stay. Again does no harm.
 * Errors: PASTSET_EINVAL (it has no name), PASTSET_EEXIST, PASTSET_ELIMIT (64
 * of them). */
int paths_attribute_register(const paths_attribute_type *type);
/* All of them, in the order in which they were registered: NULL when `position`
 * is past the last. */
const paths_attribute_type *paths_attribute_at(size_t position);

#endif
