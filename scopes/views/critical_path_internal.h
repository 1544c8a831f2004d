/* critical_path_internal.h - what a link of the critical path is: for both
 * views of it. */
#ifndef SCOPES_CRITICAL_PATH_INTERNAL_H
#define SCOPES_CRITICAL_PATH_INTERNAL_H

#include "scopes/causality/chain_internal.h"
#include "scopes/views/view.h"

/* The hop or the element; "" of a thread that computes. */
const char *scopes__link_what(const scopes_topology *topology,
                              const scopes__link_place *place);
/* Is it what `view_input->threads` and `view_input->of` ask for? */
bool scopes__link_is_wanted(const scopes_view_input *view_input,
                            const scopes__link_place *place);

#endif
