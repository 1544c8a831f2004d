/* append.c - the rare parts of append.h. */
#include "pastset/append.h"

#include "pastset/element_internal.h"
#include "pastset/schedule.h"

pastset_appender *pastset_element_appender(pastset_element *element)
{
    if (!element->single_writer || element->type.variable || element->read_only)
        return NULL;
    return &element->appender;
}

void pastset__append_wake(pastset_appender *appender)
{
    pastset_element *element = appender->element;
    request_queue completed = {NULL, NULL};

    PASTSET_POINT("append.wake");
    pthread_mutex_lock(&element->lock);
    pastset__settle(element, &completed);
    pthread_mutex_unlock(&element->lock);
    pastset__announce(&completed);
}
