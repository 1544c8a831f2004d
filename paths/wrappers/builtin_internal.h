/* builtin_internal.h - the wrapper types that come with paths. */
#ifndef PATHS_WRAPPERS_BUILTIN_INTERNAL_H
#define PATHS_WRAPPERS_BUILTIN_INTERNAL_H

#include "paths/wrapper.h"

extern const paths_wrapper_type paths__proxy_type;
extern const paths_wrapper_type paths__delay_type;

/* Not in the registry: the last stage of a path, by the node's kind. */
extern const paths_wrapper_type paths__element_type;

#endif
