/* unmade.c - events for which not even a stream could be made, as on a full
 * disk or at the limit of a space.
 *
 * Nothing counts them that readers see, so their number is the remark of the
 * process's definitions, which are made before anything runs. It is as it is
 * after a kill, too. */
#include <pthread.h>

#include "eventspace/collect/collector_internal.h"
#include "pastset/element.h"

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
