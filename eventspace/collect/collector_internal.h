/* collector_internal.h - the wrapper type "collector". */
#ifndef EVENTSPACE_COLLECTOR_INTERNAL_H
#define EVENTSPACE_COLLECTOR_INTERNAL_H

#include "paths/wrappers/wrapper.h"

extern const paths_wrapper_type eventspace__collector_type;

#endif
