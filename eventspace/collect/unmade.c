/* unmade.c - events of this process for which no stream could be made. A disk
 * that is full from the start leaves nothing to count them in but the remark of
 * the element of definitions, which is made when the process starts. */
#include <pthread.h>

#include "eventspace/collect/unmade_internal.h"

static struct {
    pthread_mutex_t lock;
    pastset_element *definitions; /* NULL: not made yet */
    uint64_t events;
} unmade = {.lock = PTHREAD_MUTEX_INITIALIZER};

void eventspace__unmade_add(int64_t events)
{
    pthread_mutex_lock(&unmade.lock);
    unmade.events += (uint64_t)events;
    if (unmade.definitions)
        pastset_element_set_remark(unmade.definitions, unmade.events);
    pthread_mutex_unlock(&unmade.lock);
}

void eventspace__unmade_open(pastset_element *definitions)
{
    pthread_mutex_lock(&unmade.lock);
    unmade.definitions = definitions;
    pastset_element_set_remark(definitions, unmade.events);
    pthread_mutex_unlock(&unmade.lock);
}

void eventspace__unmade_close(void)
{
    pthread_mutex_lock(&unmade.lock);
    unmade.definitions = NULL;
    unmade.events = 0;
    pthread_mutex_unlock(&unmade.lock);
}
