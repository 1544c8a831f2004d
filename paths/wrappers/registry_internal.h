/* registry_internal.h - the wrapper types that the program and the layers above
 * this one have brought, without the built-in ones (wrapper.h has all). */
#ifndef PATHS_WRAPPERS_REGISTRY_INTERNAL_H
#define PATHS_WRAPPERS_REGISTRY_INTERNAL_H

#include "paths/wrappers/wrapper.h"

#define PATHS__TYPES_MAX 64 /* of all types */

/* The caller has seen to it that there is room, and none of this name. */
void paths__registry_add(const paths_wrapper_type *type);
/* NULL when there is none. */
const paths_wrapper_type *paths__registry_find(const char *name);
/* NULL when `position` is past the last. */
const paths_wrapper_type *paths__registry_at(size_t position);

#endif
