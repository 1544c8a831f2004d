/* request_frame_internal.h - an operation as a request to another process, and
 * what comes of the reply. */
#ifndef PATHS_REQUEST_FRAME_INTERNAL_H
#define PATHS_REQUEST_FRAME_INTERNAL_H

#include "paths/engine/operation_internal.h"
#include "paths/net/wire_internal.h"

/* Fills in the header of a request; gives its payload. */
const void *paths__request_header(wire_header *header, operation *o,
                                  const paths_stage *proxy);
/* Takes what the header of a reply says into the operation. */
void paths__reply_take(operation *o, const wire_reply *reply);
/* Where the tuple of a reply goes (NULL: away). False: more than was asked. */
bool paths__reply_target(const operation *o, size_t bytes, void **out);

#endif
