/* serve_internal.h - what is done with frames. */
#ifndef PATHS_SERVE_INTERNAL_H
#define PATHS_SERVE_INTERNAL_H

#include "paths/net/connection_internal.h"

/* See connection_handler. */
unsigned char *paths__serve_payload_at(connection *c);
void paths__serve_frame(connection *c);
/* It has closed: the operation whose payload will not come, if there is one. */
void paths__serve_abandon(connection *c);
/* And, of one that was open, those that came over it, or wait for replies. */
void paths__serve_lost(connection *c, const char *why);

#endif
