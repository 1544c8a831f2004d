/* tunable.c - tunable.h: the tunables of this process's threads. */
#include "eventspace/tunable.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eventspace/collect/tunable_internal.h"
#include "eventspace/run/tunables.h"
#include "eventspace/regions.h"
#include "pastset/element.h"
#include "pastset/status.h"

#define MARKS_MAX 1000 /* of a thread, that say its value */

typedef struct own_tunable {
    eventspace_tunable shown; /* first: it is what the program has */
    struct own_tunable *next; /* of the same thread */
    paths_thread *self;
    pastset_element *element;
    eventspace_tunable_bounds bounds;
    uint32_t marks;                                /* that it has left */
    void (*changed)(double value, void *argument); /* NULL: nobody is called */
    void *argument;
    char name[];
} own_tunable;

static _Thread_local own_tunable *own;

static struct {
    pthread_mutex_t lock; /* of making one */
    paths_process *process;
} tunables = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- opening --- */

static int check(const paths_thread *self, const char *name,
                 const eventspace_tunable_bounds *b)
{
    if (!self || paths_executor() == 0 || !tunables.process)
        return pastset_fail(PASTSET_EINVAL,
                            "tunables are of threads of the map, and this is "
                            "none of them");
    if (!name || !*name || strlen(name) > EVENTSPACE_TUNABLE_NAME ||
        strchr(name, '='))
        return pastset_fail(PASTSET_EINVAL,
                            "a tunable needs a name of 1 to %d bytes, without "
                            "=",
                            EVENTSPACE_TUNABLE_NAME);
    if (strcmp(name, EVENTSPACE__TUNABLE_DETAIL) == 0)
        return pastset_fail(PASTSET_EINVAL,
                            "tunable %s: the runtime has one of this name",
                            name);
    if (!isfinite(b->initial) || !eventspace_tunable_may_be(b, b->initial))
        return pastset_fail(PASTSET_EINVAL,
                            "tunable %s: %g is not from %g to %g", name,
                            b->initial, b->least, b->most);
    return 0;
}

static int element_make(pastset_element **out, pastset_space *space,
                        const char *element, const eventspace_tunable_bounds *b)
{
    pastset_type type;
    pastset_element_options options = {
        .name = element, .type = &type, .policy = PASTSET_BLOCK, .capacity = 1};
    int err = pastset_type_parse(&type, EVENTSPACE_TUNABLE_TYPE);

    if (!err)
        err = pastset_element_create(out, space, &options);
    if (!err)
        err = pastset_element_tell(*out, eventspace_tunable_bits(b->initial));
    /* Who sees the tuple sees what it is. */
    return err ? err : pastset_write(*out, b, sizeof(*b), PASTSET_NOWAIT, NULL);
}

int eventspace__tunable_make(pastset_element **out, paths_process *process,
                             const char *name,
                             const eventspace_tunable_bounds *b)
{
    pastset_space *space = paths_process_space(process);
    char element[PASTSET_NAME_BYTES];
    eventspace_tunable_bounds there;
    int err = 0;

    snprintf(element, sizeof(element), EVENTSPACE_TUNABLE_PREFIX "%s", name);
    pthread_mutex_lock(&tunables.lock);
    *out = pastset_space_find(space, element);
    if (!*out)
        err = element_make(out, space, element, b);
    pthread_mutex_unlock(&tunables.lock);
    if (err)
        return err;
    if (!eventspace_tunable_bounds_read(&there, *out) ||
        memcmp(&there, b, sizeof(there)) != 0)
        return pastset_fail(PASTSET_EINVAL,
                            "tunable %s: it has been opened with other "
                            "numbers",
                            name);
    return 0;
}

static own_tunable *own_find(const char *name)
{
    own_tunable *t = own;

    while (t && strcmp(t->name, name) != 0)
        t = t->next;
    return t;
}

static int own_add(own_tunable **out, paths_thread *self, const char *name,
                   pastset_element *element, const eventspace_tunable_bounds *b)
{
    size_t length = strlen(name);
    own_tunable *t = calloc(1, sizeof(*t) + length + 1);

    if (!t)
        return pastset_no_memory("for a tunable");
    memcpy(t->name, name, length + 1);
    t->self = self;
    t->element = element;
    t->bounds = *b;
    /* What was told before is seen when it is asked for, and marked. */
    t->shown = (eventspace_tunable){
        b->initial, eventspace_tunable_bits(b->initial),
        (const uint64_t *)(uintptr_t)pastset_element_told(element)};
    t->next = own;
    own = t;
    *out = t;
    return 0;
}

int eventspace_tunable_open(eventspace_tunable **out, paths_thread *self,
                            const char *name, double initial, double least,
                            double most)
{
    eventspace_tunable_bounds bounds = {initial, least, most};
    pastset_element *element;
    own_tunable *t;
    int err = check(self, name, &bounds);

    *out = NULL;
    if (!err)
        err =
            eventspace__tunable_make(&element, tunables.process, name, &bounds);
    if (err)
        return err;
    t = own_find(name);
    if (!t)
        err = own_add(&t, self, name, element, &bounds);
    if (!err)
        *out = &t->shown;
    return err;
}

/* --- use --- */

int eventspace_tunable_set(eventspace_tunable *tunable, double value)
{
    own_tunable *t = (own_tunable *)tunable;

    if (!eventspace_tunable_may_be(&t->bounds, value))
        return pastset_fail(PASTSET_EINVAL,
                            "tunable %s: %g is not from %g to %g", t->name,
                            value, t->bounds.least, t->bounds.most);
    return pastset_element_tell(t->element, eventspace_tunable_bits(value));
}

void eventspace_tunable_call(eventspace_tunable *tunable,
                             void (*changed)(double value, void *argument),
                             void *argument)
{
    own_tunable *t = (own_tunable *)tunable;

    t->changed = changed;
    t->argument = argument;
}

/* The names of a process are for all that it names: of a number that changes
 * again and again, later marks do not say what it is. */
static void mark(own_tunable *t, double value)
{
    char text[EVENTSPACE_TUNABLE_NAME + 40];

    if (t->marks < MARKS_MAX)
        snprintf(text, sizeof(text), "%s = %.10g", t->name, value);
    else
        snprintf(text, sizeof(text), "%s is changed", t->name);
    t->marks += t->marks < MARKS_MAX;
    (void)eventspace_mark(t->self, text); /* no names left: without one */
}

/* What it cannot be stays as it is: anybody may write to the file. */
void eventspace__tunable_look(eventspace_tunable *tunable)
{
    own_tunable *t = (own_tunable *)tunable;
    double value;

    tunable->seen = __atomic_load_n(tunable->told, __ATOMIC_ACQUIRE);
    value = eventspace_tunable_of_bits(tunable->seen);
    if (!eventspace_tunable_may_be(&t->bounds, value))
        return;
    tunable->value = value;
    mark(t, value);
    if (t->changed)
        t->changed(value, t->argument);
}

/* --- life --- */

void eventspace__tunables_open(paths_process *process)
{
    tunables.process = process;
}

void eventspace__tunables_thread_ends(void)
{
    for (own_tunable *next; own; own = next) {
        next = own->next;
        free(own);
    }
}
