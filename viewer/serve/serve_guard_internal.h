/* serve_guard_internal.h - who is let in.
 *
 * Threads: any. */
#ifndef VIEWER_SERVE_GUARD_INTERNAL_H
#define VIEWER_SERVE_GUARD_INTERNAL_H

#include <stdbool.h>

#define VIEWER__TOKEN_TEXT 32 /* 128 bits in hexadecimal digits */

/* A new one, and a zero byte. */
void viewer__token_make(char out[VIEWER__TOKEN_TEXT + 1]);

/* What stands behind "/TOKEN/" at the beginning of a path, as a place in it;
 * NULL when another token stands there, or none. How long that takes does not
 * depend on how much of it is right. */
const char *viewer__token_pass(const char *path, const char *token);

/* May a request have come by this name (of its header Host, with or without a
 * port)? Numbers and "localhost" may, and `own`. A name that somebody made to
 * mean this machine may not: DNS rebinding. */
bool viewer__host_pass(const char *host, const char *own);

#endif
