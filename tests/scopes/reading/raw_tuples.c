/* raw_tuples.c - prints the trace tuples of one process as they stand in its
 * space file, and what its meta file says of its counter.
 *
 *     raw_tuples RUN PROCESS [scheduling]
 *
 *     hz START_TICK START_WALL_NS TICK_HZ
 *     collector,thread,sequence,verb,bytes,status,start,end
 *     ...
 *
 * or, with `scheduling`, what is there of its threads' scheduling:
 *
 *     kind,thread,start,end,runnable,sleeping,operations
 *
 * For checks of views by other programs: it uses elements and meta files, and
 * nothing of what reads traces for views. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "eventspace/run/meta.h"
#include "eventspace/collect/scheduling.h"
#include "eventspace/collect/trace.h"
#include "pastset/element.h"
#include "pastset/space.h"
#include "pastset/status.h"

static int fail(void)
{
    fprintf(stderr, "raw_tuples: %s\n", pastset_error());
    return 1;
}

static void print_all(pastset_element *element)
{
    pastset_cursor cursor = {0};
    eventspace_trace t;
    size_t bytes = sizeof(t);

    while (pastset_read_next(element, &cursor, &t, &bytes, PASTSET_NOWAIT) ==
           0) {
        printf("%u,%u,%u,%u,%u,%u,%" PRIu64 ",%" PRIu64 "\n", t.collector,
               t.thread, t.sequence, t.operation, t.bytes, t.status, t.start,
               t.end);
        bytes = sizeof(t);
    }
    if (cursor.lost)
        fprintf(stderr, "raw_tuples: %s: %" PRIu64 " lost\n",
                pastset_element_name(element), cursor.lost);
}

static void print_scheduling(pastset_element *element)
{
    pastset_cursor cursor = {0};
    eventspace_scheduling s;
    size_t bytes = sizeof(s);

    while (pastset_read_next(element, &cursor, &s, &bytes, PASTSET_NOWAIT) ==
           0) {
        printf("%u,%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
               "\n",
               s.kind, s.thread, s.start, s.end, s.runnable, s.sleeping,
               s.operations);
        bytes = sizeof(s);
    }
}

int main(int argc, char **argv)
{
    char file[4096];
    eventspace_meta meta;
    pastset_space *space;
    bool scheduling = argc == 4 && strcmp(argv[3], "scheduling") == 0;
    const char *type =
        scheduling ? EVENTSPACE_SCHEDULING_TYPE : EVENTSPACE_TRACE_TYPE;

    if (argc != 3 && !scheduling)
        return 2;
    snprintf(file, sizeof(file), "%s/%s.meta", argv[1], argv[2]);
    if (eventspace_meta_load(&meta, file))
        return fail();
    if (!scheduling)
        printf("hz %" PRIu64 " %" PRIu64 " %.17g\n", meta.start_tick,
               meta.start_wall_ns, meta.tick_hz);
    snprintf(file, sizeof(file), "%s/%s.space", argv[1], argv[2]);
    if (pastset_space_open(&space, file))
        return fail();
    for (size_t i = 0; i < pastset_space_count(space); i++) {
        pastset_element *element = pastset_space_at(space, i);
        if (!element || strcmp(pastset_element_type(element)->text, type) != 0)
            continue;
        if (scheduling)
            print_scheduling(element);
        else
            print_all(element);
    }
    pastset_space_close(space);
    return 0;
}
