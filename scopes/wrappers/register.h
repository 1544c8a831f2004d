/* register.h - makes the wrapper types of this layer known: traces, filter,
 * statistics.
 *
 * Threads: once, from one thread; calling it again does no harm. */
#ifndef SCOPES_REGISTER_H
#define SCOPES_REGISTER_H

/* Also calls eventspace_register. Errors: those of paths_wrapper_register. */
int scopes_register(void);

#endif
