/* hello.c - two threads: one writes three greetings, the other reads them.
 *
 *     eventspace map generate --application=hello.dot --processes=2 |
 *         eventspace map instrument - --output=map.dot
 *     eventspace run map.dot --output=RUN -- ./hello
 *     eventspace report RUN --output=report.html
 *
 * The map says where the threads live, and which way a greeting goes: with
 * --processes=1 the same program runs in one process. paths_thread_host gives
 * the name of the thread's process (host is the older word for it). */
#include <stdint.h>
#include <stdio.h>

#include "eventspace/eventspace.h"

#define GREETINGS 3

typedef struct greeting { /* the type of the element: "u32 u8[60]" */
    uint32_t number;
    char text[60];
} greeting;

static int alice(paths_thread *self, void *argument)
{
    paths_path *path;
    int err = paths_open(&path, self, "greetings");

    (void)argument;
    for (uint32_t i = 1; i <= GREETINGS && !err; i++) {
        greeting g = {.number = i};
        snprintf(g.text, sizeof(g.text), "hello from %s on %s",
                 paths_thread_name(self), paths_thread_host(self));
        err = paths_write(path, &g, sizeof(g));
    }
    return err;
}

static int bob(paths_thread *self, void *argument)
{
    paths_path *path;
    int err = paths_open(&path, self, "greetings");

    (void)argument;
    for (int i = 0; i < GREETINGS && !err; i++) {
        greeting g;
        err = paths_observe(path, &g, sizeof(g)); /* takes it out */
        if (!err)
            printf("%u: %s\n", g.number, g.text);
    }
    return err; /* an error ends the run on every process */
}

int main(void)
{
    eventspace *es;
    int err = eventspace_start(&es);

    if (!err)
        err = eventspace_program(es, "alice", alice, NULL);
    if (!err)
        err = eventspace_program(es, "bob", bob, NULL);
    return eventspace_finish(es, err);
}
