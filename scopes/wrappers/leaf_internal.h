/* leaf_internal.h - what the wrappers of a leaf of a gather tree share. */
#ifndef SCOPES_WRAPPERS_LEAF_INTERNAL_H
#define SCOPES_WRAPPERS_LEAF_INTERNAL_H

#include "paths/wrappers/wrapper.h"
#include "scopes/gather/gather_message.h"
#include "scopes/wrappers/register_gather.h"

/* What stages of `traces`, `filter` and `recorder` know of their process. */
typedef struct leaf_home {
    scopes_leaf leaf; /* a copy of their context, or zeros without one */
    paths_process *process;
} leaf_home;

/* Their `process_init`. */
int scopes__leaf_process_init(void *state, paths_process *process,
                              void *context);

/* The largest message of the source to which a stage leads.
 * Errors: PASTSET_EMAP, PASTSET_EINVAL (its type). */
int scopes__leaf_largest(paths_stage *stage, size_t *out);
/* The run directory of that source, for stages of these two types. NULL: nobody
 * has told it. */
const char *scopes__leaf_run(paths_stage *stage);
/* The map of that run, for names; the caller destroys it. NULL: it cannot be
 * read, which the source itself tells. */
paths_map *scopes__leaf_map(paths_stage *stage);

/* True for an operation that is to be answered with a message. */
static inline bool scopes__leaf_is_pull(const paths_operation *op)
{
    return op->verb == PASTSET_READ_FIRST;
}

extern const paths_wrapper_type scopes__traces_type;
extern const paths_wrapper_type scopes__filter_type;
extern const paths_wrapper_type scopes__statistics_type;
extern const paths_wrapper_type scopes__recorder_type;

#endif
