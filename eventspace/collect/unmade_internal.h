/* unmade_internal.h - how many events of this process are lost as no stream
 * could be made for them, told to readers in the remark of its element
 * EVENTSPACE_DEFINITIONS_NAME.
 *
 * Threads: any. */
#ifndef EVENTSPACE_UNMADE_INTERNAL_H
#define EVENTSPACE_UNMADE_INTERNAL_H

#include <stdint.h>

#include "pastset/element.h"

/* Less than 0: they are counted by their stream now. */
void eventspace__unmade_add(int64_t events);

/* The element is there; what was added before is told now. And no more. */
void eventspace__unmade_open(pastset_element *definitions);
void eventspace__unmade_close(void);

#endif
