/* register_collectors.h - makes the wrapper types and attributes of this layer
 * known.
 *
 * Whoever reads or checks instrumented maps calls it first; eventspace_start
 * does it by itself.
 *
 * Threads: once, from one thread; calling it again does no harm. */
#ifndef EVENTSPACE_REGISTER_COLLECTORS_H
#define EVENTSPACE_REGISTER_COLLECTORS_H

/* Registers the wrapper type `collector`, and of processes counter_offset,
 * counter_rate, affinity and netns; prepares the tick source.
 * Errors: those of paths_wrapper_register and paths_attribute_register. */
int eventspace_register(void);

#endif
