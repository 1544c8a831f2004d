/* register_conditions.h - makes the attributes known that this layer reads of a
 * cluster file: load, law, speed, processors, place.
 *
 * Whoever makes path maps of such files calls it first.
 *
 * Threads: once, from one thread; calling it again does no harm. */
#ifndef PREDICT_REGISTER_CONDITIONS_H
#define PREDICT_REGISTER_CONDITIONS_H

/* Also calls eventspace_register. Errors: those of paths_wrapper_register and
 * paths_attribute_register. */
int predict_register(void);

#endif
