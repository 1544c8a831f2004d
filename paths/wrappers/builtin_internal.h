/* builtin_internal.h - the wrapper types that come with paths. */
#ifndef PATHS_WRAPPERS_BUILTIN_INTERNAL_H
#define PATHS_WRAPPERS_BUILTIN_INTERNAL_H

#include "paths/wrappers/wrapper.h"

extern const paths_wrapper_type paths__proxy_type;
extern const paths_wrapper_type paths__delay_type;

/* collective.c */
extern const paths_wrapper_type paths__sum_type;
extern const paths_wrapper_type paths__min_type;
extern const paths_wrapper_type paths__max_type;
extern const paths_wrapper_type paths__product_type;
extern const paths_wrapper_type paths__and_type;
extern const paths_wrapper_type paths__or_type;
extern const paths_wrapper_type paths__xor_type;
extern const paths_wrapper_type paths__reduce_type;
extern const paths_wrapper_type paths__barrier_type;
extern const paths_wrapper_type paths__broadcast_type;
extern const paths_wrapper_type paths__scatter_type;
extern const paths_wrapper_type paths__gather_type;
extern const paths_wrapper_type paths__alltoall_type;

/* Not in the registry: the last stage of a path, by the node's kind. */
extern const paths_wrapper_type paths__element_type;

#endif
