/* registry.c - wrapper types that are not built in. */
#include "paths/wrappers/registry_internal.h"

#include <string.h>

/* Written before processes are started, read afterwards: no lock. */
static const paths_wrapper_type *types[PATHS__TYPES_MAX];
static size_t type_count;

void paths__registry_add(const paths_wrapper_type *type)
{
    types[type_count++] = type;
}

const paths_wrapper_type *paths__registry_find(const char *name)
{
    for (size_t i = 0; i < type_count; i++) {
        if (strcmp(types[i]->name, name) == 0)
            return types[i];
    }
    return NULL;
}

const paths_wrapper_type *paths__registry_at(size_t position)
{
    return position < type_count ? types[position] : NULL;
}
