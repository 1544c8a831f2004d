/* threads_internal.h - what views of threads share. */
#ifndef SCOPES_THREADS_INTERNAL_H
#define SCOPES_THREADS_INTERNAL_H

#include "scopes/causality/communication.h"
#include "scopes/views/view_internal.h"

/* Does the way that begins with this edge of a thread pass the node that
 * `subject->of` names, or begin there? */
bool scopes__way_is_of(const scopes_view_input *view_input, uint32_t edge);
/* Is the thread asked for, and does one of its ways pass what is? */
bool scopes__thread_is_of(const scopes_view_input *view_input, uint32_t thread);

/* The part of communicating of both; 0 when there was neither. */
double scopes__share(int64_t communicating_ns, int64_t computing_ns);

#endif
